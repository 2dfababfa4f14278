"""A document of more chunks than keys can tell apart is a skip with its reason, and disturbs no other."""

from __future__ import annotations

from pathlib import Path

from devmind.index.catalog import MAX_CHUNKS
from devmind.ingest import IngestOptions, Writer
from devmind.service import Service
from devmind.settings import Settings


def test_it_is_skipped_and_the_rest_indexed(tmp_path: Path, kb: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for name in ("many.py", "same.py"):
        (source / name).write_text("def a():0\n" * (MAX_CHUNKS + 1))
    (source / "few.py").write_text("def few():\n    return 'zeppelin'\n")
    with Writer(kb, IngestOptions(n_workers=1, strategy="syntax")) as writer:
        report = writer.add(str(source), name="src")
        assert (report.n_indexed, report.skips_by_reason) == (1, {"too_many_chunks": 2})
        assert report.completeness == 1.0
        assert not writer.sync("src").changed
    with Service(Settings(home=kb)) as service:
        skips = service.files("src", skipped=True)
        assert [row["path"] for row in skips] == ["many.py", "same.py"]
        assert skips[0]["detail"] == f"{MAX_CHUNKS + 1} chunks, the limit is {MAX_CHUNKS}"
        assert service.search("zeppelin").hits[0].path == "few.py"
