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
    ("[embedder]\nkind = 'magic'", "kind must be one of remote, onnx, sentence-transformers"),
    ("[embedder]\nkind = 'onnx'", "needs path"),
    ("[embedder]\nkind = 'onnx'\npath = 'm'\npooling = 'max'", "pooling must be one of mean, cls, last, model"),
    ("[embedder]\nkind = 'onnx'\npath = 'm'\nbase_url = 'x'", "unknown key 'base_url'.*belongs to kind remote"),
    ("[embedder]\nkind = 'onnx'\npath = 'm'\nmax_tokens = 3", "max_tokens must be at least 16"),
    ("[embedder]\nkind = 'sentence-transformers'", "needs model"),
    ("reranker = 1", "must be a table"),
    ("[reranker]\nmodel = 'm'", "needs base_url"),
    ("[reranker]\nbase_url = 'http://x'\ntop = 1000", "top must be at most 200"),
    ("[reranker]\nbase_url = 'http://x'\nweight = 1.5", "weight must be at most 1"),
    ("[reranker]\nbase_url = 'http://x'\nform = 'tei'", "form must be one of documents, texts"),
    ("[reranker]\nkind = 'onnx'", "needs path"),
    ("[expansion]\nbase_url = 'http://x'", "needs model"),
    ("[expansion]\nbase_url = 'http://x'\nmodel = 'm'\nn = 0", "n must be at least 1"),
    ("[expansion]\nbase_url = 'http://x'\nmodel = 'm'\nbody = 1", "body must be of type dict"),
    ("[expansion]\nbase_url = 'http://x'\nmodel = 'm'\nbody = {since = 2026-01-01}", "body must hold what JSON can"),
    ("[reranker]\nbase_url = 'http://x'\nbody = {heat = [nan]}", "body must hold what JSON can"),
    ("[embedder]\nmodel = 'm'", "base_url and dim"),
    ("[embedder]\nbase_url = 'http://x'\nmodel = 'm'\ndim = 0", "dim must be at least 1"),
    ("[embedder]\nbase_url = 'http://x'\nmodel = 'm'\ndim = '3'", "dim must be of type int"),
    ("[embedder]\nkey = 'k'", "unknown key 'key'.*name that in api_key_env"),
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


def test_a_relative_path_of_a_model_starts_at_the_file_that_names_it(tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "rerank.toml"
    other.parent.mkdir()
    other.write_text(
        "[reranker]\nkind = 'onnx'\npath = '../models/x'\n[embedder]\nkind = 'onnx'\npath = '/m'\n", "utf-8"
    )
    found = load(str(tmp_path / "kb"), str(other))
    assert Path(found.reranker["path"]).resolve() == tmp_path / "models" / "x"
    assert found.embedder["path"] == "/m" and found.home == tmp_path / "kb"


def test_a_named_model_is_no_path(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        "[embedder]\nkind = 'sentence-transformers'\nmodel = 'BAAI/bge-m3'\n", "utf-8"
    )
    assert load(str(tmp_path)).embedder["model"] == "BAAI/bge-m3"
    (tmp_path / "config.toml").write_text("[embedder]\nkind = 'sentence-transformers'\nmodel = './bge'\n", "utf-8")
    assert load(str(tmp_path)).embedder["model"] == str(tmp_path / "bge")


def test_a_configuration_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file"):
        load(str(tmp_path), str(tmp_path / "nothing.toml"))


def test_a_key_that_stands_in_the_file_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[embedder]\nbase_url = 'http://u:s3cret@x'\napi_key = 's3cret'\n")
    with pytest.raises(UsageError) as caught:
        load(str(tmp_path))
    assert "s3cret" not in str(caught.value)


def test_the_home_of_a_user_that_there_is_none_of_is_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~nobody-here").mkdir()
    (tmp_path / "~nobody-here" / "c.toml").write_text("[reranker]\nkind = 'onnx'\npath = '~nobody-here/m'\n")
    found = load("~nobody-here/kb", "~nobody-here/c.toml")
    assert found.home == tmp_path / "~nobody-here" / "kb"
    assert found.reranker["path"] == str(tmp_path / "~nobody-here" / "~nobody-here" / "m")
