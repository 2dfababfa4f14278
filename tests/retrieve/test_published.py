"""What searches read of a knowledge base: lines are cut out of a text as splitting all of it would give them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.ingest import Report
from devmind.service import Service

TEXTS = {
    "final newline": "a = 1\n\nb = 2\n",
    "no final newline": "a = 1\nb = 2",
    "one line": "a = 1",
    "blank lines": "\n\n\na = 1\n\n\n",
    "odd ends of line": "a = 1\r\nb = 2\x0c\nc = '\u2028'\n",
    "two and more bytes a character": "名 = '前'\n# ééé 🎉\nb = 2\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_lines_are_cut_as_they_stand(
    text: str, tmp_path: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.py").write_bytes(text.encode())
    add(source)
    with serve() as service, service.catalog.reading():
        published = service.retriever.published
        ((content_id,),) = service.catalog.rows("SELECT content_id FROM content")
        lines = text.removesuffix("\n").split("\n")
        for start in range(1, len(lines) + 1):
            for end in range(start, len(lines) + 1):
                assert published.cut(content_id, start, end) == "\n".join(lines[start - 1 : end])
        assert published.lines_of(content_id) == lines
        assert published.cut(content_id, 1, len(lines)) == "\n".join(lines)  # with all lines known
