"""One generation over all legs: nothing half-written, nothing stale, and a way back."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.errors import StoreError, UsageError
from devmind.ingest import IngestOptions, Progress, Report, Writer
from devmind.service import Service
from devmind.types import Filters

Add = Callable[[Path], Report]
Serve = Callable[[], Service]


def paths(serve: Serve, query: str) -> list[str]:
    with serve() as service:
        return [hit.path for hit in service.search(query).hits]


def test_report_counts_files_and_reasons(shop: Path, add: Add) -> None:
    report = add(shop)
    assert report.generation == 1 and report.changed
    assert report.files_by_language["python"] == 3
    assert report.skips_by_reason["ignored"] == 1 and report.skips_by_reason["binary"] == 1
    assert report.completeness == 1.0


def test_unchanged_source_publishes_nothing(shop: Path, add: Add) -> None:
    add(shop)
    again = add(shop)
    assert (again.changed, again.generation, again.n_reused) == (False, 1, again.n_indexed)


def test_changed_file_replaces_its_old_version(shop: Path, add: Add, serve: Serve) -> None:
    add(shop)
    cart = shop / "shop" / "cart.py"
    cart.write_text(cart.read_text().replace("total_price", "grand_sum"))
    assert add(shop).generation == 2
    with serve() as service:
        for hit in service.search("total_price sum of all prices").hits:
            assert "def total_price" not in hit.content
            assert hit.generation == 2
        assert (
            service.search("grand_sum").hits[0].symbol == "Cart.grand_sum"
            or "grand_sum" in service.search("grand_sum").hits[0].content
        )
        assert service.symbols("total_price") == []


def test_deleted_file_is_never_returned(shop: Path, add: Add, serve: Serve) -> None:
    add(shop)
    (shop / "shop" / "login.py").unlink()
    add(shop)
    assert "shop/login.py" not in paths(serve, "verify_password")


def test_rollback_brings_the_old_text_back(shop: Path, add: Add, serve: Serve, kb: Path) -> None:
    add(shop)
    (shop / "shop" / "login.py").unlink()
    add(shop)
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        report = writer.rollback("shop", 1)
    assert report.generation == 3
    assert paths(serve, "verify_password")[0] == "shop/login.py"
    with Writer(kb, IngestOptions()) as writer, pytest.raises(UsageError, match="keeps no generation 9"):
        writer.rollback("shop", 9)


def test_old_generations_are_collected(shop: Path, add: Add, kb: Path) -> None:
    for n in range(8):
        (shop / "shop" / "counter.py").write_text(f"VALUE_{n} = {n}\n")
        add(shop)
    with Writer(kb, IngestOptions()) as writer:
        numbers = [row[0] for row in writer.catalog.rows("SELECT number FROM generation ORDER BY 1")]
        texts = writer.catalog.rows("SELECT count(*) FROM place WHERE path = 'shop/counter.py'")[0][0]
    assert numbers == [4, 5, 6, 7, 8]
    assert texts == 5


def test_same_content_is_stored_once(shop: Path, add: Add, serve: Serve) -> None:
    shutil.copy(shop / "shop" / "login.py", shop / "shop" / "signin.py")
    add(shop)
    with serve() as service:
        assert service.catalog.rows("SELECT count(*) FROM content")[0][0] == 5
        hit = service.search("verify_password").hits[0]
        assert len(hit.also_at) == 1


def test_removed_repository_leaves_nothing(shop: Path, add: Add, kb: Path, serve: Serve) -> None:
    add(shop)
    with Writer(kb, IngestOptions()) as writer:
        writer.remove("shop")
        for table in ("repository", "content", "chunk", "symbol", "reference", "place", "alive"):
            assert writer.catalog.rows(f"SELECT count(*) FROM {table}") == [(0,)]
    assert paths(serve, "verify_password") == []


def test_two_writers_at_once(shop: Path, add: Add, kb: Path) -> None:
    with Writer(kb, IngestOptions()), pytest.raises(StoreError, match="another devmind process"):
        add(shop)


def test_a_name_belongs_to_one_source(shop: Path, add: Add, tmp_path: Path) -> None:
    add(shop)
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("A = 1\n")
    with pytest.raises(UsageError, match="belongs to"):
        add(other)


def test_empty_folder_is_published_empty(tmp_path: Path, add: Add, serve: Serve) -> None:
    (tmp_path / "void").mkdir()
    assert add(tmp_path / "void").n_indexed == 0
    assert paths(serve, "anything") == []


def test_git_ref_is_read_without_checkout(shop: Path, git: Callable[..., str], kb: Path, serve: Serve) -> None:
    git(shop, "init", "-q", "-b", "main")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "first")
    first = git(shop, "rev-parse", "HEAD")
    git(shop, "rm", "-q", "shop/login.py")
    git(shop, "commit", "-qm", "second")
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        report = writer.add(str(shop), name="old", ref=first)
    assert report.commit == first
    assert paths(serve, "verify_password")[0] == "shop/login.py"


def test_export_and_import_are_inverse(shop: Path, add: Add, serve: Serve, tmp_path: Path) -> None:
    add(shop)
    with serve() as service:
        exported = list(service.export())
    with Writer(tmp_path / "kb2", IngestOptions()) as writer:
        writer.import_documents(json.dumps(document) for document in exported)
    from devmind.settings import Settings

    with Service(Settings(home=tmp_path / "kb2")) as second:
        again = list(second.export())
        assert second.search("total_price").hits[0].path == "shop/cart.py"
    for document in (*exported, *again):
        document.pop("content_hash")
        document["edges"].sort(key=lambda edge: json.dumps(edge, sort_keys=True))
    assert again == exported


def exported(shop: Path, add: Add, serve: Serve) -> list[dict[str, Any]]:
    add(shop)
    with serve() as service:
        return list(service.export())


def test_import_of_the_same_text_with_other_chunks_takes_the_new_ones(
    shop: Path, add: Add, serve: Serve, tmp_path: Path
) -> None:
    document = next(d for d in exported(shop, add, serve) if d["chunks"][0]["end_line"] > 2)
    with Writer(tmp_path / "kb2", IngestOptions()) as writer:
        first = writer.import_documents([json.dumps(document)])[0]
        whole = document["chunks"][0]
        document["chunks"] = [{**whole, "end_line": 1, "symbols": []}, {**whole, "start_line": 2}]
        second = writer.import_documents([json.dumps(document)])[0]
    assert (first.n_chunks, second.n_chunks) == (1, 2)
    assert (second.generation, second.changed) == (2, True)


def test_failed_import_names_the_line_and_leaves_nothing(shop: Path, add: Add, serve: Serve, tmp_path: Path) -> None:
    lines = [json.dumps(document) for document in exported(shop, add, serve)]
    with Writer(tmp_path / "kb2", IngestOptions()) as writer:
        with pytest.raises(UsageError, match=f"line {len(lines) + 1} is not a document"):
            writer.import_documents([*lines, "{}"])
        assert writer.catalog.repositories() == []
        assert writer.catalog.rows("SELECT count(*) FROM content") == [(0,)]
        assert writer.import_documents(lines)[0].n_indexed == len(lines)


def test_import_does_not_take_the_name_of_an_indexed_repository(shop: Path, add: Add, serve: Serve, kb: Path) -> None:
    lines = [json.dumps(document) for document in exported(shop, add, serve)]
    with Writer(kb, IngestOptions()) as writer, pytest.raises(UsageError, match="the name 'shop' belongs to"):
        writer.import_documents(lines)


def test_import_tells_its_progress(shop: Path, add: Add, serve: Serve, tmp_path: Path) -> None:
    lines = [json.dumps(document) for document in exported(shop, add, serve)]
    told: list[Progress] = []
    with Writer(tmp_path / "kb2", IngestOptions()) as writer:
        writer.import_documents(lines, told.append)
    assert (told[-1].phase, told[-1].done) == ("import", len(lines))
    assert told[-1].bytes_done > 0


def test_readers_see_whole_generations_while_a_writer_publishes(shop: Path, add: Add, serve: Serve) -> None:
    """Each generation n holds marker_a_n and marker_b_n in two files; a reader must never see different n."""

    def write(n: int) -> None:
        for side in "ab":
            (shop / "shop" / f"{side}.py").write_text(f"def marker_{side}():\n    return 'state {n} of the marker'\n")

    write(0)
    add(shop)
    torn: list[tuple[str, ...]] = []
    seen: set[str] = set()
    stop = threading.Event()

    def read() -> None:
        with serve() as service:
            n = 0
            while not stop.is_set():
                n += 1
                hits = service.search(
                    f"state of the marker {n}", filters=Filters(paths=("shop/a.py", "shop/b.py"))
                ).hits
                states = tuple(hit.content.split("state ")[1].split()[0] for hit in hits)
                seen.update(states)
                if len(hits) != 2 or len(set(states)) != 1:
                    torn.append(states)

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(1, 8):
        write(n)
        add(shop)
    stop.set()
    reader.join()
    assert torn == []
    assert len(seen) > 1


def test_full_disk_leaves_the_published_generation(shop: Path, add: Add, serve: Serve, kb: Path) -> None:
    add(shop)
    body = "\n".join(f"def filler_{i}(value):\n    return value * {i}\n" for i in range(3000))
    (shop / "shop" / "big.py").write_text(body)
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        n_pages = writer.catalog.rows("PRAGMA page_count")[0][0]
        writer.catalog.db.execute(f"PRAGMA max_page_count = {n_pages + 3}")
        with pytest.raises(StoreError, match="disk is full"):
            writer.add(str(shop), name="shop")
    assert paths(serve, "verify_password")[0] == "shop/login.py"
    assert add(shop).generation == 2
    assert paths(serve, "filler_2999")[0] == "shop/big.py"


SCRIPT = """
import sys
from pathlib import Path
from typing import Any
from devmind.ingest import IngestOptions, Writer
with Writer(Path(sys.argv[1]), IngestOptions(n_workers=int(sys.argv[3]))) as writer:
    writer.add(sys.argv[2], name="shop")
"""


@pytest.mark.parametrize("seed", range(6))
def test_killed_anywhere_the_published_generation_stands_and_a_rerun_finishes(
    shop: Path, add: Add, serve: Serve, kb: Path, seed: int
) -> None:
    add(shop)
    with serve() as service:
        before = [(h.path, h.start_line, h.content) for h in service.search("total price of the cart").hits]
    for n in range(150):
        body = "\n".join(f"def step_{n}_{i}(value):\n    return value * {i}\n" for i in range(60))
        (shop / "shop" / f"many_{n}.py").write_text(body)
    (shop / "shop" / "cart.py").write_text("def total_price_of_cart():\n    return 'new text'\n")
    delay = random.Random(seed).uniform(0.3, 4.0)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(kb), str(shop), str(1 + seed % 2)], stderr=subprocess.DEVNULL
    )
    time.sleep(delay)
    killed = process.poll() is None
    if killed:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with serve() as service:
        hits = service.search("total price of the cart").hits
        if hits[0].generation == 1:
            # the same hits; document frequencies may already count what no reader sees, so their order may differ
            assert sorted((h.path, h.start_line, h.content) for h in hits) == sorted(before)
        assert all(check["ok"] for check in service.doctor())
    report = add(shop)
    assert report.generation == 2
    with serve() as service:
        assert "new text" in service.search("total_price_of_cart").hits[0].content
        assert service.search("step_149_59").hits[0].path == "shop/many_149.py"
        assert all(check["ok"] for check in service.doctor())
        n_chunks = service.status("shop")[0]["n_chunks"]
        assert service.retriever.published.lexical.n_chunks >= n_chunks
        keys = service.retriever.published.snapshot(1, 2).keys
        assert len(set(keys.tolist())) == len(keys) == n_chunks
