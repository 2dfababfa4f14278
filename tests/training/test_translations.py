"""Which messages of an archive become pairs, whatever its catalogues hold."""

from pathlib import Path

import pytest

from tests.training.tarballs import write_tarball
from training.translations import cleaned, messages, usable


def _archive(folder: Path, files: dict[str, str]) -> Path:
    return write_tarball(folder / "messages-1.0.0.tgz", files)


def _catalogues(folder: Path, english: str, chinese: str) -> Path:
    return _archive(folder, {"p/en.json": english, "p/zh-CN.json": chinese})


def _editor(folder: Path, chinese: str) -> Path:
    source = 'localize(0, "Close the file"); localize(1, "Open the file"); localize(7, "Save the file");'
    return _archive(folder, {"p/esm/vs/nls/lang/zh-cn.js": chinese, "p/esm/a.js": source})


def test_a_message_by_its_key_in_both_languages(tmp_path: Path) -> None:
    path = _catalogues(tmp_path, '{"file": {"open": "Open the file"}}', '{"file": {"open": "打开文件", "no": "不"}}')
    assert list(messages(path)) == [("Open the file", "打开文件")]


def test_messages_of_an_editor_may_hold_what_ends_their_array(tmp_path: Path) -> None:
    path = _editor(tmp_path, 'globalThis._VSCODE_NLS_MESSAGES = ["关闭 [文件]; 好", "打开文件"];')
    assert list(messages(path)) == [("Close the file", "关闭 [文件]; 好"), ("Open the file", "打开文件")]


@pytest.mark.parametrize("chinese", ["_VSCODE_NLS_MESSAGES=[broken];", "_VSCODE_NLS_MESSAGES=" + "[" * 100_000, "none"])
def test_an_editor_whose_messages_cannot_be_read_has_none(tmp_path: Path, chinese: str) -> None:
    assert list(messages(_editor(tmp_path, chinese))) == []


def test_what_is_no_text_is_no_message_of_an_editor(tmp_path: Path) -> None:
    path = _editor(tmp_path, '_VSCODE_NLS_MESSAGES=[12, "打开文件"];')
    assert list(messages(path)) == [("Open the file", "打开文件")]


def test_a_catalogue_that_nests_too_deep_has_no_messages(tmp_path: Path) -> None:
    path = _catalogues(tmp_path, '{"a": "Open the file"}', '{"a":' * 100_000)
    assert list(messages(path)) == []


def test_a_message_with_half_a_character_is_of_no_use(tmp_path: Path) -> None:
    path = _catalogues(tmp_path, '{"a": "Open \\ud83d the file"}', '{"a": "打开文件"}')
    ((english, chinese),) = messages(path)
    assert usable("Open the file", cleaned(chinese))
    assert not usable(cleaned(english), cleaned(chinese))


@pytest.mark.parametrize("part", ["[%", "<a", "[](", "["])
def test_a_message_as_long_as_a_book_is_dropped_at_once(part: str) -> None:
    assert cleaned(part * 500_000) == ""
    assert cleaned("Open [the file](x) of {name}") == "Open of"
