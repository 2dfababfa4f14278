"""Views: the rough scan, the rescoring and the choice of the nearest against plain numpy, at sizes that do not fit the
blocks in which they work."""

from __future__ import annotations

import numpy as np
import pytest

from devmind.index.groups import group_starts, grouped, opens
from devmind.index.postings import gathered
from devmind.index.snapshot import CHUNK, File, Floats, Halves, Snapshot
from devmind.index.uses import linked
from devmind.index.view import SAMPLED, SCAN_DIMS, SCAN_ROWS, WIDENED_ROWS, View

ROWS_A_FILE = 3


def units(n: int, dim: int, seed: int) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((n, dim), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def snapshot(prefix: Halves, vectors: Halves, *, first_key: int = 1) -> Snapshot:
    n = len(vectors)
    chunks = np.zeros(n, CHUNK)
    chunks["file"] = np.arange(n) // ROWS_A_FILE
    files = tuple(File(1, f"{at}.py", "source", "python", at) for at in range(-(-n // ROWS_A_FILE)))
    postings = gathered([b""] * len(files))
    return Snapshot(
        "model",
        np.arange(first_key, first_key + n),
        chunks,
        prefix,
        vectors,
        files,
        (),
        postings,
        linked([(b"", b"")] * len(files)),
    )


def random(n: int, *, dims: int, dim: int, seed: int, first_key: int = 1) -> Snapshot:
    vectors = units(n, dim, seed)
    head = vectors[:, :dims] / np.linalg.norm(vectors[:, :dims], axis=1, keepdims=True)
    return snapshot(head.astype(np.float16), vectors.astype(np.float16), first_key=first_key)


@pytest.mark.parametrize("dims", [1, 5, SCAN_DIMS, SCAN_DIMS + 1, 3 * SCAN_DIMS + 7])
def test_a_scan_gives_the_cosine_of_the_leading_dimensions_of_every_row(dims: int) -> None:
    sizes = (1, SCAN_ROWS - 1, WIDENED_ROWS + SCAN_ROWS + 3)
    parts = [random(n, dims=dims, dim=256, seed=n, first_key=n << 20) for n in sizes]
    query = units(1, 256, 0)[0]
    wanted = np.concatenate([part.prefix.astype(np.float32) for part in parts]) @ (
        query[:dims] / np.linalg.norm(query[:dims])
    )
    found = View(parts).scan(query)
    assert found.shape == (sum(sizes),)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_cosines_are_those_of_all_dimensions_in_every_snapshot() -> None:
    parts = [random(n, dims=8, dim=48, seed=n, first_key=n << 20) for n in (7, 1, 130)]
    query = units(1, 48, 0)[0]
    rows = np.array([0, 6, 7, 8, 137])
    wanted = np.concatenate([part.vectors.astype(np.float32) for part in parts])[rows] @ query
    np.testing.assert_allclose(View(parts).cosines(query, rows), wanted, atol=1e-6)
    assert View(parts).cosines(query, rows[:0]).shape == (0,)


def test_every_half_is_read_as_the_number_that_it_is() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    small = every[np.abs(every) <= 1][:, None]  # what a coordinate can be
    cosines = View([snapshot(small, small)]).cosines(np.ones(1, np.float32), np.arange(len(small)))
    assert np.array_equal(cosines, small[:, 0].astype(np.float32))


@pytest.mark.parametrize("n", [SAMPLED, 40 * SAMPLED, 700 * SAMPLED + 5])
def test_the_nearest_are_those_of_a_whole_sort(n: int) -> None:
    view = View([random(n, dims=32, dim=32, seed=1)])
    for seed in range(2, 6):
        query = units(1, 32, seed)[0]
        exact = view.cosines(query, np.arange(n))
        assert view.nearest(query, 10).tolist() == np.lexsort((view.keys, -exact))[:10].tolist()


def test_of_equals_the_first_are_nearest_however_many_there_are() -> None:
    same = np.tile(units(1, 32, 1), (2000, 1)).astype(np.float16)
    view = View([snapshot(same, same)])
    assert view.nearest(units(1, 32, 2)[0], 10).tolist() == list(range(10))
    allowed = np.arange(2000) >= 1500
    assert view.nearest(units(1, 32, 2)[0], 10, allowed).tolist() == list(range(1500, 1510))


def test_the_rows_of_files_are_all_of_theirs_in_order() -> None:
    view = View([random(n, dims=4, dim=4, seed=n, first_key=n << 20) for n in (7, 1, 12)])
    files = np.array([0, 2, 3, 4, 7])
    assert view.rows_of_files(files).tolist() == np.flatnonzero(np.isin(view.file, files)).tolist()
    assert view.rows_of_files(files[:0]).tolist() == []


@pytest.mark.parametrize("values", [[], [7], [3, 3], [1, 2, 2, 5, 5, 5], [0, 0, 4, 9, 9]])
def test_groups_are_those_of_numpy(values: list[int]) -> None:
    held = np.array(values, np.int64)
    distinct, first, place = np.unique(held, return_index=True, return_inverse=True)
    assert [part.tolist() for part in grouped(held)] == [distinct.tolist(), place.tolist()]
    assert np.flatnonzero(opens(held)).tolist() == first.tolist()
    assert group_starts(held).tolist() == first[place].tolist()


def test_groups_need_not_ascend_to_have_starts() -> None:
    assert group_starts(np.array([5, 5, 1, 9, 9])).tolist() == [0, 0, 2, 3, 3]
