"""Configurations of the stubs, targets opened on them, and datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from devmind.evaluate.targets import Target, open_target
from devmind.evaluate.types import Dataset, Topic
from devmind.settings import Settings
from tests.evaluate.stubs import KEY, Anything, DevMind, Dify, OpenAI, Stub, System, serving

CONFIGS: dict[str, tuple[System, str]] = {
    "devmind": (DevMind(), 'base_url = "{url}"\n'),
    "devmind-ask": (DevMind(), 'base_url = "{url}"\nmode = "ask"\n'),
    "dify-retrieve": (Dify(), '''
base_url = "{url}/v1/"
mode = "retrieve"
dataset_id = "d1"
api_key_env = "STUB_KEY"
paths.separator = "__"
[retrieval_model]
search_method = "hybrid_search"
'''),
    "dify-chat": (Dify(), '''
base_url = "{url}/v1"
mode = "chat"
api_key_env = "STUB_KEY"
paths.separator = "__"
inputs.lang = "en"
'''),
    "dify-stream": (Dify(), '''
base_url = "{url}/v1"
mode = "chat"
streaming = true
api_key_env = "STUB_KEY"
paths.separator = "__"
'''),
    "openai-store": (OpenAI(), '''
base_url = "{url}/v1"
mode = "vector_store"
vector_store_id = "vs_1"
api_key_env = "STUB_KEY"
metadata = {{ file = "path", start = "first", end = "last" }}
'''),
    "openai-chat": (OpenAI(), '''
base_url = "{url}/v1"
mode = "chat"
model = "some-model"
api_key_env = "STUB_KEY"
body.temperature = 0
'''),
    "generic": (Anything(), '''
name = "anything"
url = "{url}/find"
body = {{ q = "{{{{query}}}}", n = "{{{{k}}}}" }}
headers = {{ Authorization = "Bearer {{{{env:STUB_KEY}}}}" }}
paths.strip_prefix = "/srv/code/"
lines = {{ base = 0, end = "exclusive" }}
[response]
list = "$.results"
file = "$.where.path"
start = "$.where.lines[0]"
end = "$.where.lines[1]"
text = "$.snippet"
score = "$.rank.score"
symbol = "$.name"
answer = "$.summary"
confidence = "$.sure"
abstained = "$.declined"
'''),
}  # fmt: skip
HTTP_TARGETS = tuple(CONFIGS)
KIND = {"devmind": "http", "devmind-ask": "http"}


def secret(name: str) -> str:
    return {"STUB_KEY": KEY}[name]


Opener = Callable[..., tuple[Target, Stub]]


@pytest.fixture
def open_on(tmp_path: Path) -> Iterator[Opener]:
    """Open the target ``name`` on a served stub of its system, with the faults that are asked for."""
    with ExitStack() as stack:

        def run(
            name: str, *, faults: tuple[str, ...] = (), timeout_s: float = 5.0, system: System | None = None
        ) -> tuple[Target, Stub]:
            ready, template = CONFIGS[name]
            stub = stack.enter_context(serving(system or ready, faults=faults))
            target = open_config(tmp_path, name, template.format(url=stub.url), timeout_s=timeout_s)
            stack.callback(target.close)
            return target, stub

        yield run


def open_config(folder: Path, name: str, text: str, *, timeout_s: float = 5.0) -> Target:
    config = folder / f"{name}.toml"
    config.write_text(text, encoding="utf-8")
    spec = f"{KIND.get(name, name.partition('-')[0])}:{config}"
    return open_target(spec, settings=Settings(home=folder / "kb"), timeout_s=timeout_s, secret=secret)


@contextmanager
def closing(target: Target) -> Iterator[Target]:
    try:
        yield target
    finally:
        target.close()


def dataset(*queries: str, name: str = "small", content_hash: str = "") -> Dataset:
    topics = tuple(Topic(f"t{number}", query) for number, query in enumerate(queries, start=1))
    return Dataset(name, topics, content_hash or f"hash-of-{len(topics)}")
