"""Snapshots: read back equal, made again when damaged, refused to another embedder; views over them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from devmind.embed.static import StaticEmbedder, built_in
from devmind.errors import StoreError
from devmind.index.catalog import Catalog
from devmind.index.snapshot import gather
from devmind.index.snapshot_folder import drop_snapshots, load_snapshot, write_snapshot
from devmind.index.view import View
from devmind.ingest import Report

ARRAYS = ("keys", "chunks", "prefix", "vectors")


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
        assert np.array_equal(getattr(read, name), getattr(made, name))


@pytest.mark.parametrize("file", ["about.json", *(f"{name}.bin" for name in ARRAYS)])
@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_damaged_snapshot_is_made_again(stored: Stored, file: str, damage: str) -> None:
    at = stored.folder / "1-1" / file
    if damage == "missing":
        at.unlink()
    else:
        at.write_bytes(at.read_bytes()[: at.stat().st_size // 2])
    read = load_snapshot(stored.folder, stored.catalog, 1, 1, stored.embedder)
    made = gather(stored.catalog, 1, 1, stored.embedder)
    assert np.array_equal(read.keys, made.keys)
    assert np.array_equal(read.vectors, made.vectors)


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
