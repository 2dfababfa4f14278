"""Snapshots: read back equal, made again when damaged, refused to another embedder; views over them."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from devmind.embed.static import StaticEmbedder, built_in
from devmind.errors import StoreError
from devmind.index.catalog import Catalog
from devmind.index.snapshot import Snapshot, gather
from devmind.index.snapshot_folder import (
    ARRAYS,
    SAMPLED,
    SAMPLED_ROWS,
    drop_snapshots,
    load_snapshot,
    snapshot_fault,
    write_snapshot,
)  # fmt: skip
from devmind.index.view import View
from devmind.ingest import IngestOptions, Report, Writer


@dataclass(frozen=True, slots=True)
class Stored:
    catalog: Catalog
    folder: Path
    embedder: StaticEmbedder


@pytest.fixture
def stored(shop: Path, add: Callable[[Path], Report], kb: Path) -> Stored:
    add(shop)
    return Stored(Catalog(kb / "catalog.sqlite"), kb / "vectors", built_in())


def test_a_snapshot_reads_back_equal(stored: Stored) -> None:
    made = gather(stored.catalog, 1, 1, stored.embedder)
    read = load_snapshot(stored.folder, stored.catalog, 1, 1, stored.embedder)
    assert len(made.keys) > 3
    assert (read.model, read.files, read.kinds) == (made.model, made.files, made.kinds)
    for name in ARRAYS:
        assert np.array_equal(array(read, name), array(made, name)), name


def array(snapshot: Snapshot, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    parts = (snapshot, snapshot.postings, snapshot.uses)
    [found] = [getattr(part, name) for part in parts if hasattr(part, name)]
    return found


def forget(stored: Stored, *told: tuple[str, str]) -> None:
    """Take what is told of some arrays out of ``about.json``, whose checksum stays right."""
    at = stored.folder / "1-1"
    about = json.loads((at / "about.json").read_bytes())
    for what, name in told:
        about[what].pop(name)
    data = json.dumps(about).encode()
    (at / "about.json").write_bytes(data)
    (at / "about.crc").write_text(str(crc32(data)), "ascii")


def test_a_snapshot_of_another_version_is_made_again(stored: Stored) -> None:
    forget(stored, *((told, "strengths") for told in ("shape", "crc", "sample")))
    (stored.folder / "1-1" / "strengths.bin").unlink()
    assert is_equal(read(stored), made(stored))
    assert "another version" in snapshot_fault(stored.folder, stored.catalog, 1, 1, stored.embedder)


@pytest.mark.parametrize(("told", "name"), [("sample", "strengths"), ("crc", "strengths"), ("crc", "ends")])
def test_a_version_that_checks_other_arrays_is_another_version(stored: Stored, told: str, name: str) -> None:
    forget(stored, (told, name))
    assert is_equal(read(stored), made(stored))
    fault = snapshot_fault(stored.folder, stored.catalog, 1, 1, stored.embedder, thorough=True)
    assert "another version" in fault


def read(stored: Stored) -> Snapshot:
    return load_snapshot(stored.folder, stored.catalog, 1, 1, stored.embedder)


def made(stored: Stored) -> Snapshot:
    return gather(stored.catalog, 1, 1, stored.embedder)


def is_equal(one: Snapshot, other: Snapshot) -> bool:
    return one.files == other.files and all(np.array_equal(array(one, n), array(other, n)) for n in ARRAYS)


def flipped(data: bytes) -> bytes:
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "longer": lambda data: data + b"\0",
    "other": lambda data: bytes(255 - byte for byte in data),
}
FILES = ("about.json", "about.crc", *(f"{name}.bin" for name in ARRAYS))


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", [*DAMAGES, "missing", "a folder"])
def test_a_damaged_snapshot_is_made_again(stored: Stored, file: str, damage: str) -> None:
    at = stored.folder / "1-1" / file
    data = at.read_bytes()
    at.unlink()
    if damage == "a folder":
        at.mkdir()
    elif damage in DAMAGES:
        at.write_bytes(DAMAGES[damage](data))
    assert is_equal(read(stored), made(stored))
    assert snapshot_fault(stored.folder, stored.catalog, 1, 1, stored.embedder) != ""


@pytest.mark.parametrize("file", [file for file in FILES if file.removesuffix(".bin") not in SAMPLED])
def test_one_flipped_bit_is_noticed_in_all_that_is_read_whole(stored: Stored, file: str) -> None:
    at = stored.folder / "1-1" / file
    at.write_bytes(flipped(at.read_bytes()))
    assert is_equal(read(stored), made(stored))
    assert snapshot_fault(stored.folder, stored.catalog, 1, 1, stored.embedder) != ""


def damaged_vectors(stored: Stored) -> None:
    """Turn into NaN and infinity all vectors that the sample does not hold."""
    at = stored.folder / "1-1" / "vectors.bin"
    vectors = np.fromfile(at, np.float16).reshape(-1, stored.embedder.dim)
    step = max(1, len(vectors) // SAMPLED_ROWS)
    for row in set(range(len(vectors))) - set(range(0, len(vectors), step)):
        vectors[row] = (np.nan, np.inf, -np.inf)[row % 3]
    vectors.tofile(at)


def test_damaged_vectors_upset_no_search_and_a_thorough_look_finds_them(stored: Stored) -> None:
    many = repeated(made(stored), 10)
    write_snapshot(stored.folder, stored.catalog, 1, 1, many)
    damaged_vectors(stored)
    view = View([read(stored)])
    query = stored.embedder.embed_queries(["the price of what is in the cart"])[0]
    cosines = view.cosines(query, np.arange(view.n))
    assert view.n == len(many.keys) > 2 * SAMPLED_ROWS
    assert np.isfinite(cosines).all() and np.abs(cosines).max() <= 1.0
    assert len(view.nearest(query, 5)) == 5
    at = (stored.folder, stored.catalog, 1, 1, stored.embedder)
    assert snapshot_fault(*at) == ""
    assert "vectors.bin" in snapshot_fault(*at, thorough=True)


def repeated(snapshot: Snapshot, times: int) -> Snapshot:
    """Return a snapshot with so many more rows of new keys."""
    keys = np.concatenate([snapshot.keys + (n << 40) for n in range(times)])
    arrays = {name: np.concatenate([getattr(snapshot, name)] * times) for name in ("chunks", "prefix", "vectors")}
    return replace(snapshot, keys=keys, **arrays)


def test_the_snapshot_of_another_knowledge_base_is_made_again(stored: Stored, shop: Path, tmp_path: Path) -> None:
    (shop / "shop" / "cart.py").write_text("def other():\n    return 1\n")
    with Writer(tmp_path / "other", IngestOptions(n_workers=1)) as writer:
        writer.add(str(shop), name="shop")
    shutil.rmtree(stored.folder / "1-1")
    shutil.copytree(tmp_path / "other" / "vectors" / "1-1", stored.folder / "1-1")
    assert is_equal(read(stored), made(stored))


def test_the_snapshot_of_another_generation_is_made_again(
    stored: Stored, shop: Path, add: Callable[[Path], Report]
) -> None:
    (shop / "shop" / "cart.py").write_text("def other():\n    return 1\n")
    add(shop)
    shutil.rmtree(stored.folder / "1-1")
    shutil.copytree(stored.folder / "1-2", stored.folder / "1-1")
    assert is_equal(read(stored), made(stored))


def test_readers_and_a_writer_that_replaces_and_drops_the_folder(stored: Stored) -> None:
    """Whatever a reader meets of a folder that is being replaced, it gets the whole snapshot."""
    wanted, stop = made(stored), threading.Event()

    def replace_and_drop() -> None:
        while not stop.is_set():
            write_snapshot(stored.folder, stored.catalog, 1, 1, wanted)
            drop_snapshots(stored.folder, 1)

    writer = threading.Thread(target=replace_and_drop)
    writer.start()
    try:
        for _ in range(150):
            assert is_equal(read(stored), wanted)
    finally:
        stop.set()
        writer.join()


def test_strangers_in_the_folder_are_left_alone(stored: Stored) -> None:
    for name in ("1-x", "notes", "1-1-old"):
        (stored.folder / name).mkdir()
    drop_snapshots(stored.folder, 1)
    assert sorted(path.name for path in stored.folder.iterdir()) == ["1-1-old", "1-x", "notes"]


def test_a_file_in_the_place_of_the_folder(stored: Stored) -> None:
    wanted = made(stored)
    shutil.rmtree(stored.folder)
    stored.folder.write_text("")
    assert is_equal(read(stored), wanted)
    with pytest.raises(StoreError, match="is a file and should be a folder"):
        write_snapshot(stored.folder, stored.catalog, 1, 1, wanted)


def test_another_embedder_is_refused(stored: Stored) -> None:
    other = StaticEmbedder(
        name="other", vectors=np.zeros((4, 256), np.int8), weights=np.zeros((2, 4), np.float32), fields=(1.0, 1.0, 1.0)
    )
    with pytest.raises(StoreError, match=r"indexed with the embedder 'static-.*run 'devmind sync'"):
        load_snapshot(stored.folder, stored.catalog, 1, 1, other)


def test_what_a_killed_ingest_left_is_written_over(stored: Stored) -> None:
    made = gather(stored.catalog, 1, 1, stored.embedder)
    (stored.folder / "1-2").mkdir()
    (stored.folder / "1-2" / "keys.bin").write_bytes(b"half")
    (stored.folder / "1-2.tmp").mkdir()
    write_snapshot(stored.folder, stored.catalog, 1, 2, made)
    assert np.array_equal(load_snapshot(stored.folder, stored.catalog, 1, 2, stored.embedder).keys, made.keys)
    drop_snapshots(stored.folder, 1, before=2)
    assert sorted(path.name for path in stored.folder.iterdir()) == ["1-2"]


def test_view_finds_rows_by_key_and_neighbours_as_a_whole_scan_does(stored: Stored) -> None:
    snapshot = gather(stored.catalog, 1, 1, stored.embedder)
    view = View([snapshot])
    assert view.rows_of(snapshot.keys).tolist() == list(range(view.n))
    assert view.rows_of(np.array([1, int(snapshot.keys[-1]) + 1])).tolist() == [-1, -1]
    query = stored.embedder.embed_queries(["the price of what is in the cart"])[0]
    exact = snapshot.vectors.astype(np.float32) @ query
    best = view.nearest(query, 3)
    assert np.allclose(view.cosines(query, np.sort(best)), exact[np.sort(best)], atol=1e-5)
    assert best[0] == np.argmax(exact)


def test_view_returns_only_what_is_allowed(stored: Stored) -> None:
    view = View([gather(stored.catalog, 1, 1, stored.embedder)])
    query = stored.embedder.embed_queries(["price"])[0]
    allowed = np.zeros(view.n, bool)
    assert view.nearest(query, 5, allowed).tolist() == []
    allowed[2] = True
    assert view.nearest(query, 5, allowed).tolist() == [2]


def test_view_knows_the_kinds_of_all_symbols_of_a_chunk(stored: Stored) -> None:
    snapshot = gather(stored.catalog, 1, 1, stored.embedder)
    # The same chunks as another repository's, whose kinds came by in another order.
    turned = tuple(reversed(snapshot.kinds))
    masks = [sum(1 << turned.index(k) for i, k in enumerate(snapshot.kinds) if m >> i & 1)
             for m in snapshot.chunks["kinds"].tolist()]  # fmt: skip
    chunks = np.array(snapshot.chunks)
    chunks["kinds"] = masks
    view = View([snapshot, replace(snapshot, chunks=chunks, kinds=turned)])
    stored_kinds = stored.catalog.rows(
        """SELECT c.node_type, (SELECT json_group_array(s.kind) FROM symbol s WHERE s.content_id = c.content_id
          AND s.ordinal IN (SELECT value FROM json_each(c.symbols)))
        FROM place p JOIN chunk c ON c.content_id = p.content_id ORDER BY p.place_id, c.ordinal"""
    )
    of_chunk = [{node_type, *json.loads(kinds)} for node_type, kinds in stored_kinds] * 2
    assert max(map(len, of_chunk)) > 2
    for wanted in ({"function"}, {"class", "heading"}, {"method"}, {"no such kind"}):
        assert view.of_kinds(wanted).tolist() == [bool(kinds & wanted) for kinds in of_chunk]


def test_view_of_nothing() -> None:
    view = View([])
    assert view.n == 0
    assert view.nearest(np.ones(256, np.float32), 5).tolist() == []
    assert view.rows_of(np.array([3])).tolist() == [-1]
