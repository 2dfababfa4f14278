"""A recall index that lost something is whole after the next write of any kind, also when no file changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.errors import StoreError, UsageError
from devmind.index.lexical import LexicalReader, create_lexical
from devmind.ingest import IngestOptions, Report, Writer
from devmind.service import Service

Add = Callable[[Path], Report]
Serve = Callable[[], Service]


@pytest.fixture
def writer_of(kb: Path) -> Callable[[], Writer]:
    return lambda: Writer(kb, IngestOptions(n_workers=1))


def is_whole(serve: Serve) -> bool:
    with serve() as service:
        return all(row["ok"] for row in service.doctor())


def lose(kb: Path, how: str) -> None:
    lexical = kb / "lexical"
    if how == "emptied":
        create_lexical(lexical)
    elif how == "cut":
        for path in lexical.glob("*.term"):
            path.write_bytes(path.read_bytes()[:20])
    elif how == "no meta":
        (lexical / "meta.json").unlink()
    else:
        shutil.rmtree(lexical)
        if how == "a file":
            lexical.write_text("")


LOSSES = ("gone", "emptied", "cut", "no meta", "a file")


@pytest.mark.parametrize("how", LOSSES)
@pytest.mark.parametrize("command", ["add", "sync", "rollback"])
def test_a_lost_lexical_index_is_made_again(
    how: str, command: str, shop: Path, kb: Path, add: Add, serve: Serve, writer_of: Callable[[], Writer]
) -> None:
    add(shop)
    with serve() as service:
        before = [(hit.path, hit.start_line, hit.score) for hit in service.search("total price").hits]
    lose(kb, how)
    assert not is_whole(serve)
    with writer_of() as writer:
        if command == "add":
            assert not writer.add(str(shop), name="shop").changed
        elif command == "sync":
            assert not writer.sync("shop").changed
        else:
            writer.rollback("shop", 1)
    assert is_whole(serve)
    with serve() as service:
        assert [(hit.path, hit.start_line, hit.score) for hit in service.search("total price").hits] == before


@pytest.mark.parametrize("how", LOSSES)
def test_a_search_says_what_to_do_and_all_else_goes_on(how: str, shop: Path, kb: Path, add: Add, serve: Serve) -> None:
    add(shop)
    lose(kb, how)
    with serve() as service:
        assert service.status()[0]["n_indexed"] > 3
        assert service.symbols("total_price")
        if how != "emptied":
            with pytest.raises(StoreError, match=rf"{kb / 'lexical'}.*devmind sync"):
                service.search("total price")
        assert (kb / "lexical" / "meta.json").exists() == (how in ("emptied", "cut"))


def test_an_open_reader_searches_again_after_the_mending(
    shop: Path, kb: Path, add: Add, serve: Serve, writer_of: Callable[[], Writer]
) -> None:
    add(shop)
    lose(kb, "gone")
    with serve() as service:
        with pytest.raises(StoreError):
            service.search("total price")
        with writer_of() as writer:
            writer.sync("shop")
        assert service.search("total price").hits


def test_all_repositories_and_kept_generations_are_mended_at_once(
    shop: Path, kb: Path, add: Add, serve: Serve, writer_of: Callable[[], Writer], tmp_path: Path
) -> None:
    add(shop)
    (shop / "shop" / "login.py").unlink()
    add(shop)
    other = tmp_path / "other"
    other.mkdir()
    (other / "zeppelin.py").write_text("def zeppelin():\n    return 1\n")
    with writer_of() as writer:
        writer.add(str(other))
    lose(kb, "gone")
    with writer_of() as writer:
        writer.sync("other")
    with serve() as service:
        assert service.search("total_price").hits[0].path == "shop/cart.py"
        assert service.search("zeppelin").hits[0].path == "zeppelin.py"
    with writer_of() as writer:
        writer.rollback("shop", 1)
    with serve() as service:
        lexical = service.search("verify_password").hits[0]
    assert lexical.path == "shop/login.py" and lexical.why["lexical"] > 0


def test_a_mending_that_was_killed_is_begun_again(
    shop: Path, kb: Path, add: Add, serve: Serve, writer_of: Callable[[], Writer]
) -> None:
    add(shop)
    lose(kb, "gone")
    create_lexical(kb / "lexical.tmp")  # what it had begun
    with writer_of() as writer:
        writer.sync("shop")
    assert is_whole(serve)
    assert not (kb / "lexical.tmp").exists()


@pytest.mark.parametrize("how", ["gone", "cut", "all gone"])
def test_a_lost_snapshot_is_written_again(
    how: str, shop: Path, kb: Path, add: Add, serve: Serve, writer_of: Callable[[], Writer]
) -> None:
    add(shop)
    at = kb / "vectors" / "1-1"
    if how == "cut":
        (at / "keys.bin").write_bytes(b"")
    else:
        shutil.rmtree(at if how == "gone" else kb / "vectors")
    with serve() as service:
        assert service.search("total price").hits
    assert not is_whole(serve)
    with writer_of() as writer:
        assert not writer.sync("shop").changed
    assert is_whole(serve)


def test_imports_are_mended_by_the_next_import(shop: Path, add: Add, serve: Serve, tmp_path: Path) -> None:
    add(shop)
    with serve() as service:
        lines = [json.dumps(document) for document in service.export()]
    kb = tmp_path / "copy"
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        writer.import_documents(lines)
    n_chunks = LexicalReader(kb / "lexical").n_chunks
    lose(kb, "gone")
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        assert not writer.import_documents(lines)[0].changed
    assert LexicalReader(kb / "lexical").n_chunks == n_chunks
    lose(kb, "gone")
    with Writer(kb, IngestOptions(n_workers=1)) as writer, pytest.raises(UsageError, match="has no source to sync"):
        writer.sync("shop")
    assert LexicalReader(kb / "lexical").n_chunks == n_chunks


def test_a_remove_that_was_killed_leaves_nothing_to_the_next_repository(
    shop: Path, kb: Path, add: Add, serve: Serve, writer_of: Callable[[], Writer], tmp_path: Path
) -> None:
    """Place ids were used again, while the lexical index held the dead repository's chunks under the same keys."""
    add(shop)
    with writer_of() as writer:  # what a remove does first; then the process is killed
        writer.catalog.drop_repository(writer.catalog.repository("shop").repo_id)
    other = tmp_path / "other"
    other.mkdir()
    for n in range(6):
        (other / f"z{n}.py").write_text(f"def zeppelin_{n}():\n    return {n}\n")
    with writer_of() as writer:
        writer.add(str(other))
    assert LexicalReader(kb / "lexical").search({"checkout": 1.0}, k=10) == []
    with serve() as service:
        assert {row["repo"] for row in service.status()} == {"other"}
        for table in ("place", "content"):
            assert service.catalog.rows(f"SELECT count(*) FROM {table}") == [(6,)]
    assert sorted(path.name for path in (kb / "vectors").iterdir()) == ["2-1"]


def test_ids_are_never_used_again(
    shop: Path, kb: Path, add: Add, serve: Serve, writer_of: Callable[[], Writer]
) -> None:
    """A reader that stays open knows repositories, places and contents by their ids."""
    add(shop)
    with serve() as service:
        assert "def total_price" in service.search("total_price").hits[0].content
        with writer_of() as writer:
            writer.remove("shop")
        (shop / "shop" / "cart.py").write_text("def total_price():\n    return 'the other shop'\n")
        add(shop)
        hit = service.search("total_price").hits[0]
        assert "the other shop" in hit.content
        ids = service.catalog.rows("SELECT min(p.repo_id), min(place_id), min(content_id) FROM place p")[0]
    assert ids[0] == 2 and min(ids[1:]) > 4


def test_remove_works_on_a_lost_lexical_index(
    shop: Path, kb: Path, add: Add, serve: Serve, writer_of: Callable[[], Writer]
) -> None:
    add(shop)
    lose(kb, "gone")
    with writer_of() as writer:
        writer.remove("shop")
    with serve() as service:
        assert (service.status(), service.search("total price").hits) == ([], ())


def test_a_lost_catalog_takes_the_lexical_index_with_it(shop: Path, kb: Path, add: Add, serve: Serve) -> None:
    """Its keys would mean other chunks in a new catalog."""
    add(shop)
    for path in kb.glob("catalog.sqlite*"):
        path.unlink()
    (shop / "shop" / "cart.py").unlink()
    add(shop)
    assert is_whole(serve)
    assert LexicalReader(kb / "lexical").search({"tax": 1.0}, k=5) == []
