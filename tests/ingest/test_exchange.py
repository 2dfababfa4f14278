"""What ``import`` is given is looked at field by field: a bad one is named with its line, and nothing is stored."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devmind.errors import UsageError
from devmind.index.catalog import MAX_CHUNKS
from devmind.ingest import IngestOptions, Report, Writer
from devmind.ingest.exchange import document_from_json
from devmind.service import Service
from devmind.settings import Settings

Change = Callable[[dict[str, Any]], None]
TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


@pytest.fixture
def exported(shop: Path, add: Callable[[Path], Report], kb: Path) -> dict[str, Any]:
    add(shop)
    with Service(Settings(home=kb)) as service:
        return next(d for d in service.export() if d["source_path"] == "shop/cart.py")


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    with Writer(tmp_path / "copy", IngestOptions(n_workers=1)) as opened:
        yield opened


def top(**values: Any) -> Change:
    return lambda d: d.update(values)


def inside(members: str, /, **values: Any) -> Change:
    return lambda d: d[members][0].update(values)


def meta(**values: Any) -> Change:
    return lambda d: d["metadata"].update(values)


def edge(**values: Any) -> Change:
    return lambda d: d["edges"].append({"target": "x", "kind": "calls", "line": 1, **values})


def without(name: str) -> Change:
    def change(document: dict[str, Any]) -> None:
        del document[name]

    return change


BAD: dict[str, tuple[str, Change]] = {
    "chunk's symbol that is none": ("chunks[0].symbols[0]", inside("chunks", symbols=[9999])),
    "chunk's symbol as text": ("chunks[0].symbols[0]", inside("chunks", symbols=["x"])),
    "chunk's symbol below 0": ("chunks[0].symbols[0]", inside("chunks", symbols=[-5])),
    "chunk's symbols as a number": ("chunks[0].symbols", inside("chunks", symbols=5)),
    "chunk's parent that comes later": ("chunks[0].parent", inside("chunks", parent=1)),
    "chunk's parent as text": ("chunks[0].parent", inside("chunks", parent="0")),
    "chunk's end before its start": ("chunks[0].end_line", inside("chunks", start_line=2, end_line=1)),
    "chunk's line as a fraction": ("chunks[0].start_line", inside("chunks", start_line=1.5)),
    "chunk's line as true": ("chunks[0].start_line", inside("chunks", start_line=True)),
    "chunk's end beyond the text": ("chunks[0].end_line", inside("chunks", end_line=99_999)),
    "chunk's tokens below 0": ("chunks[0].n_tokens", inside("chunks", n_tokens=-1)),
    "header": ("chunks[0].header", inside("chunks", header=5)),
    "node type without end": ("chunks[0].node_type", inside("chunks", node_type="x" * 10_000)),
    "qualified name": ("chunks[0].qualified_name", inside("chunks", qualified_name=[1])),
    "no chunks": ("chunks", without("chunks")),
    "chunks as an object": ("chunks", top(chunks={})),
    "chunk as text": ("chunks[0]", top(chunks=["x"])),
    "too many chunks": ("chunks has 65537", lambda d: d.update(chunks=d["chunks"][:1] * (MAX_CHUNKS + 1))),
    "path as a number": ("source_path", top(source_path=5)),
    "path with half a pair": ("source_path", top(source_path="\ud800")),
    "path with NUL": ("source_path", top(source_path="a\0b")),
    "no path": ("source_path", top(source_path=None)),
    "path left out": ("source_path", without("source_path")),
    "empty path": ("source_path", top(source_path="")),
    "absolute path": ("source_path", top(source_path="/etc/passwd")),
    "path above": ("source_path", top(source_path="../../x")),
    "path above in the middle": ("source_path", top(source_path="a/../../x")),
    "repository as a list": ("repo_id", top(repo_id=[1])),
    "repository with half a pair": ("repo_id", top(repo_id="\ud800")),
    "no repository": ("repo_id", top(repo_id=None)),
    "repository as a number": ("repo_id", top(repo_id=7)),
    "empty repository": ("repo_id", top(repo_id="")),
    "repository of control characters": ("repo_id", top(repo_id="\x1b[31m")),
    "no language": ("language", top(language=None)),
    "language as a number": ("language", top(language=5)),
    "no role": ("metadata.role", meta(role=None)),
    "unknown role": ("metadata.role", meta(role="king")),
    "commit as a number": ("metadata.commit_hash", meta(commit_hash=5)),
    "size as text": ("metadata.size_bytes", meta(size_bytes="big")),
    "size without end": ("metadata.size_bytes", meta(size_bytes=10**30)),
    "time that is none": ("metadata.last_modified", meta(last_modified=float("nan"))),
    "time beyond all numbers": ("metadata.last_modified", meta(last_modified=10**400)),
    "encoding": ("metadata.encoding", meta(encoding=1)),
    "no metadata": ("metadata", without("metadata")),
    "metadata as a list": ("metadata", top(metadata=[])),
    "symbol without a name": ("symbols[0].name", inside("symbols", name=None)),
    "symbol of an unknown kind": ("symbols[0].kind", inside("symbols", kind="weird")),
    "symbol of a kind that is a list": ("symbols[0].kind", inside("symbols", kind=["class"])),
    "symbol's line beyond all numbers": ("symbols[0].start_line", inside("symbols", start_line=10**30)),
    "symbol's end beyond the text": ("symbols[0].end_line", inside("symbols", end_line=99_999)),
    "symbol's line as text": ("symbols[0].end_line", inside("symbols", end_line="abc")),
    "symbol's parent that is none": ("symbols[0].parent", inside("symbols", parent=777)),
    "symbol that is its own parent": ("symbols[0].parent", inside("symbols", parent=0)),
    "symbol's visibility": ("symbols[0].visibility", inside("symbols", visibility="secret")),
    "symbols as text": ("symbols", top(symbols="x")),
    "edge without target": ("target", edge(target=None)),
    "edge's line as text": ("line", edge(line="q")),
    "edge's line beyond the text": ("line", edge(line=99_999)),
    "edge's scope that is none": ("scope", edge(scope=999)),
    "edge of an unknown kind": ("kind", edge(kind="likes")),
    "text as a list": ("text", top(text=["a"])),
    "text with half a pair": ("text", lambda d: d.update(text=d["text"] + "\ud800")),
}  # fmt: skip


@pytest.mark.parametrize("what", list(BAD))
def test_a_bad_field_is_named_with_its_line(what: str, exported: dict[str, Any], writer: Writer) -> None:
    field, change = BAD[what]
    good = json.dumps({**exported, "source_path": "good.py"})
    bad = copy.deepcopy(exported)
    change(bad)
    with pytest.raises(UsageError, match="line 2 is not a document") as caught:
        writer.import_documents([good, json.dumps(bad)])
    assert field in str(caught.value)
    assert writer.catalog.repositories() == []
    assert writer.catalog.rows("SELECT count(*) FROM content") == [(0,)]


@pytest.mark.parametrize("line", ["[" * 100_000, "[]", "5", "null", '"text"', "{", "NaN", "1" * 5000, "\ud800"])
def test_a_line_that_is_no_object(line: str, writer: Writer) -> None:
    with pytest.raises(UsageError, match="line 1 is not a document"):
        writer.import_documents([line])


def test_nesting_without_end_in_a_field_that_is_passed_over(exported: dict[str, Any], writer: Writer) -> None:
    line = json.dumps({**exported, "more": 0}).replace('"more": 0', '"more": ' + "[" * 90_000 + "]" * 90_000)
    with pytest.raises(UsageError, match=r"line 1 is not a document.*nested too deep"):
        writer.import_documents([line])


def test_a_text_made_of_chunks_has_an_end(exported: dict[str, Any], writer: Writer) -> None:
    bare = {key: value for key, value in exported.items() if key not in ("text", "symbols", "edges")}
    chunk = {"start_line": 10**12, "end_line": 10**12, "content": "x"}
    with pytest.raises(UsageError, match=r"chunks\[0\].start_line"):
        writer.import_documents([json.dumps({**bare, "chunks": [chunk]})])
    chunks = [{"start_line": 2, "end_line": 3, "content": "b\nc"}]
    item = document_from_json(json.dumps({**bare, "chunks": chunks}), 1)
    assert (item.document.text, item.chunks[0].content) == ("\nb\nc", "b\nc")


def test_the_most_chunks_that_are_possible(exported: dict[str, Any]) -> None:
    chunk = {"start_line": 1, "end_line": 1}
    item = document_from_json(json.dumps({**exported, "chunks": [chunk] * MAX_CHUNKS}), 1)
    assert len(item.chunks) == MAX_CHUNKS


def test_optional_fields_may_be_left_out(exported: dict[str, Any], writer: Writer) -> None:
    least = {"source_path": "a.py", "repo_id": "r", "language": "python", "metadata": {}, "text": "x = 1\n",
             "chunks": [{"start_line": 1, "end_line": 1}]}  # fmt: skip
    assert writer.import_documents([json.dumps(least)])[0].n_chunks == 1


def test_secrets_are_masked_wherever_they_stand(exported: dict[str, Any], writer: Writer, tmp_path: Path) -> None:
    document = copy.deepcopy(exported)
    document["text"] = document["text"].replace('"""The cart', f'"""{TOKEN} The cart')
    for chunk in document["chunks"]:
        chunk["header"] = f"header {TOKEN}"
        chunk["content"] = f"content {TOKEN}"
    for symbol in document["symbols"]:
        symbol.update(signature=f"f(a='{TOKEN}')", docstring=f"It is {TOKEN}.", name=TOKEN, qualified_name=f"a.{TOKEN}")
    document["edges"].append({"target": TOKEN, "kind": "calls", "line": 1, "qualifier": TOKEN, "alias": TOKEN})
    writer.import_documents([json.dumps(document)])
    with Service(Settings(home=tmp_path / "copy")) as service:
        again = next(iter(service.export()))
        hits = service.search("the cart of one customer").hits
    assert TOKEN not in json.dumps(again) and "***" in again["text"]
    assert TOKEN not in "".join(hit.content + hit.header for hit in hits)
    lines = again["text"].split("\n")
    for chunk in again["chunks"]:
        assert chunk["content"] == "\n".join(lines[chunk["start_line"] - 1 : chunk["end_line"]])
    held = b"".join(path.read_bytes() for path in (tmp_path / "copy").rglob("*") if path.is_file())
    assert TOKEN.encode() not in held and TOKEN.lower().encode() not in held


@pytest.mark.parametrize("path", [".env", "keys/id_rsa", "deploy.pem"])
def test_a_file_of_secrets_is_skipped(path: str, exported: dict[str, Any], writer: Writer, tmp_path: Path) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq4\n" * 9 + "-----END RSA PRIVATE KEY-----\n"
    bad = {**exported, "source_path": path, "text": key, "chunks": [], "symbols": [], "edges": []}
    report = writer.import_documents([json.dumps(exported), json.dumps(bad)])[0]
    assert (report.n_indexed, report.skips_by_reason) == (1, {"secret": 1})
    assert not writer.import_documents([json.dumps(exported), json.dumps(bad)])[0].changed
    with Service(Settings(home=tmp_path / "copy")) as service:
        assert service.files("shop", skipped=True)[0]["path"] == path
