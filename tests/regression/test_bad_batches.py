"""Batch and import files that ended in "internal error", in half an output, or in JSON that is none."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., tuple[int, list[Any], str]]


@pytest.mark.parametrize("line", [
    "[" * 100_000, '{"id": NaN, "query": "x"}', '{"id": [1e999], "query": "x"}',
    '{"id": ' + "[" * 900 + "]" * 900 + "}",
])  # fmt: skip
@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_bad_line_is_named(
    command: str, line: str, shop: Path, tmp_path: Path, add: Callable[[Path], object], call: Call
) -> None:
    add(shop)
    topics = tmp_path / "topics.jsonl"
    topics.write_text('{"id": 1, "query": "price"}\n' + line + "\n")
    code, lines, err = call(command, "--batch", str(topics))
    assert (code, lines) == (2, [])
    assert f"{topics}:2" in err


def test_an_unknown_repository_is_told_before_the_first_answer(
    shop: Path, tmp_path: Path, add: Callable[[Path], object], call: Call
) -> None:
    add(shop)
    topics = tmp_path / "topics.jsonl"
    topics.write_text('{"id": 1, "query": "price"}\n{"id": 2, "query": "price", "repo": "nope"}\n')
    code, lines, err = call("search", "--batch", str(topics))
    assert (code, lines) == (2, [])
    assert "nope" in err


def test_a_query_may_hold_anything(shop: Path, tmp_path: Path, add: Callable[[Path], object], call: Call) -> None:
    add(shop)
    queries = ["price\\u0000", "\\ud800", "price_\\ud800x", "AND OR (", "'; DROP TABLE content; --", "🙂"]
    topics = tmp_path / "topics.jsonl"
    topics.write_text("".join(f'{{"id": {n}, "query": "{query}"}}\n' for n, query in enumerate(queries)))
    code, lines, err = call("search", "--batch", str(topics))
    assert (code, [line["id"] for line in lines], err) == (0, list(range(len(queries))), "")


def test_an_import_that_is_not_utf8_names_the_line(
    shop: Path, tmp_path: Path, add: Callable[[Path], object], call: Call
) -> None:
    add(shop)
    dump = tmp_path / "dump.jsonl"
    assert call("export", "-o", str(dump))[0] == 0
    document = json.loads(dump.read_bytes().split(b"\n")[0])
    good = json.dumps({**document, "repo_id": "shop-copy"}).encode()
    dump.write_bytes(good + b"\n\xff\xfe\n")
    code, _, err = call("import", str(dump))
    assert code == 2
    assert f"{dump}:2" in err
    dump.write_bytes(b"\xef\xbb\xbf" + good)  # a byte order mark does no harm
    assert call("import", str(dump))[0] == 0
