"""What names a target, and every mistake in a configuration that is told before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.evaluate.targets import open_target
from devmind.settings import Settings, secret
from tests.evaluate.opened import CONFIGS, closing, open_config

GENERIC = """
url = "http://localhost:9/find"
body = '{"q": "{{query}}", "n": {{k}}}'
response.list = "$.hits"
response.file = "$.path"
"""
DIFY = """
base_url = "http://localhost:9/v1"
mode = "retrieve"
dataset_id = "d"
api_key_env = "STUB_KEY"
retrieval_model.search_method = "hybrid_search"
"""


@pytest.mark.parametrize(("spec", "named"), [
    ("elastic", "elastic"),
    ("devmind:chat", "chat"),
    ("dify", "dify"),
    ("dify:", "dify:"),
    ("dify:none.toml", "none.toml"),
    ("run:none.jsonl", "none.jsonl"),
    ("http://", "http://"),
    ("http://user:pass@host", "host"),
    ("http://host:port", "host:port"),
    ("http://host#chat", "chat"),
])  # fmt: skip
def test_a_target_that_is_none_is_named(spec: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=named) as caught:
        open_target(spec, settings=Settings(home=tmp_path))
    assert "user:pass" not in str(caught.value)


def test_a_server_is_named_by_its_address(tmp_path: Path) -> None:
    for spec, name in [("http://localhost:8000/", "http://localhost:8000#search"), ("https://h#ask", "https://h#ask")]:
        with closing(open_target(spec, settings=Settings(home=tmp_path))) as target:
            assert target.name == name


@pytest.mark.parametrize("name", CONFIGS)
def test_settings_tell_the_configuration(name: str, tmp_path: Path) -> None:
    with closing(open_config(tmp_path, name, CONFIGS[name][1].format(url="http://localhost:9"))) as target:
        assert "http://localhost:9" in " ".join(target.settings().values())
        assert target.name == ("anything" if name == "generic" else name)  # the file's, unless it is given


def test_json_configures_as_well(tmp_path: Path) -> None:
    config = tmp_path / "x.json"
    config.write_text('{"url": "http://h/?q={{query}}", "method": "GET", "response": {"list": "$", "text": "$"}}')
    with closing(open_target(f"generic:{config}", settings=Settings(home=tmp_path))) as target:
        assert target.name == "x"
    config.write_text("[1]")
    with pytest.raises(UsageError, match="holds a list"):
        open_target(f"generic:{config}", settings=Settings(home=tmp_path))


@pytest.mark.parametrize(("name", "text", "named"), [
    ("generic", GENERIC + "colour = 1", "unknown key colour"),
    ("generic", GENERIC + "lines.base = 2", r"lines\.base = 2"),
    ("generic", GENERIC + 'lines.end = "open"', "lines.end"),
    ("generic", GENERIC + 'api_key = "k"', "holds no secrets"),
    ("generic", GENERIC + 'headers.Authorization = "Bearer abc"', "headers.Authorization: a configuration holds no"),
    ("generic", GENERIC + 'headers.X-Q = "{{query}}"', "headers.X-Q"),
    ("generic", GENERIC + "headers.X-N = 1", "must be a string"),
    ("generic", GENERIC + 'headers.X-N = "{{user}}"', "unknown placeholder {{user}}"),
    ("generic", GENERIC.replace('"{{query}}"', "{{query}}"), "inside quotes"),
    ("generic", GENERIC.replace("{{query}}", "fixed"), "sent nowhere"),
    ("generic", GENERIC.replace("$.hits", "hits"), "no JSONPath"),
    ("generic", GENERIC.replace("$.hits", "$.hits["), "response.list"),
    ("generic", GENERIC.replace("response.list", "response.lists"), "response.list is missing"),
    ("generic", GENERIC.replace("response.file", "response.symbol"), "response.file is missing"),
    ("generic", GENERIC.replace("http://localhost:9/find", "ftp://h/{{query}}"), "no http"),
    ("generic", GENERIC.replace("/find", "/find?api_key=abc"), "parameter api_key"),
    ("generic", GENERIC + 'method = "GET"', "a GET request has none"),
    ("generic", GENERIC + 'method = "PATCH"', "GET, POST, PUT"),
    ("generic", "url = ", "cannot be read as TOML"),
    ("dify", DIFY.replace('"retrieve"', '"search"'), "retrieve, chat"),
    ("dify", DIFY.replace("dataset_id", "dataset"), "dataset_id is missing"),
    ("dify", DIFY.replace("hybrid_search", "magic"), "retrieval_model.search_method"),
    ("dify", DIFY.replace("localhost:9", "localhost:nine"), "no address"),
    ("dify", DIFY.replace("api_key_env", "api_key"), "api_key_env"),
    ("openai", 'base_url = "http://h/v1"\nmode = "chat"\nmodel = ""', "model"),
    ("openai", 'base_url = "http://h/v1"\nmode = "chat"\nmodel = "m"\nrefusals = "no"', "refusals"),
    ("devmind", 'base_url = "http://h"\nmode = "chat"', "search, ask"),
])  # fmt: skip
def test_what_is_wrong_in_a_configuration_is_named(name: str, text: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=named) as caught:
        open_config(tmp_path, name, text)
    assert f"{name}.toml" in str(caught.value)
    assert "abc" not in str(caught.value)


def test_secrets_are_read_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", " abc \n")
    assert secret("SOME_KEY") == "abc"
    monkeypatch.setenv("SOME_KEY", "a\nb")
    with pytest.raises(UsageError, match="SOME_KEY"):
        secret("SOME_KEY")
    monkeypatch.delenv("SOME_KEY")
    with pytest.raises(UsageError, match="SOME_KEY"):
        secret("SOME_KEY")
