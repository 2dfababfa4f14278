from __future__ import annotations

from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.settings import Settings, load


def test_the_argument_wins_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVMIND_HOME", str(tmp_path / "env"))
    assert load(str(tmp_path / "arg")).home == tmp_path / "arg"
    assert load().home == tmp_path / "env"
    monkeypatch.delenv("DEVMIND_HOME")
    assert load().home.name == "devmind"


def test_nothing_is_created(tmp_path: Path) -> None:
    assert load(str(tmp_path / "kb")) == Settings(tmp_path / "kb")
    assert not (tmp_path / "kb").exists()


def test_the_file_overrides_defaults(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('strategy = "fixed"\nn_workers = 4\n', encoding="utf-8")
    assert load(str(tmp_path)) == Settings(tmp_path, strategy="fixed", n_workers=4)


@pytest.mark.parametrize(("text", "named"), [
    ("colour = 1", "colour"),
    ("home = '/x'", "home"),
    ("strategy = 'magic'", "strategy"),
    ("n_workers = 0", "n_workers"),
    ("n_workers = true", "n_workers"),
    ("n_workers = '2'", "n_workers"),
    ("embedder = 'other'", "embedder"),
    ("[embedder]\nmodel = 'm'", "base_url and dim"),
    ("[embedder]\nbase_url = 'http://x'\nmodel = 'm'\ndim = 0", "dim must be at least 1"),
    ("[embedder]\nbase_url = 'http://x'\nmodel = 'm'\ndim = '3'", "dim must be of type int"),
    ("[embedder]\nkey = 'k'", "unknown key 'key'"),
    ("links = '{where}'", "links"),
    ("links = '{path.__class__}'", "links"),
    ("links = '{path.nope}'", "links"),
    ("links = '{line:>9999999999}'", "links"),
    ("links = '{path!r}'", "links"),
    ("links = '{'", "links"),
    ("strategy =", "config.toml"),
])  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=named):
        load(str(tmp_path))
