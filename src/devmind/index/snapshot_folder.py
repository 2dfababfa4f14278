"""Snapshots ↔ a folder for each: raw arrays that are mapped into memory, and what tells whether they are whole.

A snapshot is written beside the others and renamed into place before its generation is published, and never changed
after. It is no truth: one that is missing, damaged or of another knowledge base is made again from the catalog.

``about.json`` holds shapes and checksums of the arrays, ``about.crc`` the checksum of ``about.json``. The arrays have
no header of their own, so nothing unchecked is ever interpreted. Reading checks all of what every search reads anyway
(2 ms for 28,000 chunks) but only a sample of the vectors and of the terms' files, which are read where a search needs
them: a foreign file is noticed, a flipped bit only blurs one score, and ``devmind doctor`` reads them whole.
"""

from __future__ import annotations

import json
import mmap
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np
import numpy.typing as npt

from devmind.embed.types import Embedder
from devmind.errors import StoreError
from devmind.index.catalog import Catalog
from devmind.index.folders import clear
from devmind.index.postings import Postings
from devmind.index.snapshot import CHUNK, File, Snapshot, gather, other_embedder
from devmind.index.uses import Uses

ARRAYS: Final[Mapping[str, np.dtype[Any]]] = {
    "keys": np.dtype("<i8"),
    "chunks": CHUNK,
    "prefix": np.dtype("<f2"),
    "vectors": np.dtype("<f2"),
    "terms": np.dtype("<u4"),
    "ends": np.dtype("<i8"),
    "holders": np.dtype("<i4"),
    "counts": np.dtype("u1"),
    "lengths": np.dtype("<f4"),
    "user_ends": np.dtype("<i8"),
    "used": np.dtype("<i4"),
    "strengths": np.dtype("<f4"),
}
# Read where a search needs them; the others are checked whole, because a search reads all of them.
SAMPLED: Final = ("vectors", "holders", "counts", "used", "strengths")
SAMPLED_ROWS: Final = 16  # of an array: a page fault each, and two files of different text differ in nearly all
_PARTS: Final = {"postings": Postings, "uses": Uses}  # of a snapshot that have arrays of their own
_OF_PART: Final = {one.name: name for name, part in _PARTS.items() for one in fields(part)}
_NAME: Final = re.compile(r"(\d+)-(\d+)(?:\.tmp)?")

Array = npt.NDArray[Any]


class _Damaged(Exception):
    """What lies there is no whole snapshot of this generation."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the snapshot of a generation lies, and whose it is."""

    folder: Path
    kb_id: str
    repo_id: int
    generation: int

    @property
    def path(self) -> Path:
        return self.folder / f"{self.repo_id}-{self.generation}"

    @property
    def owner(self) -> list[str | int]:
        return [self.kb_id, self.repo_id, self.generation]


def write_snapshot(folder: Path, catalog: Catalog, repo_id: int, generation: int, snapshot: Snapshot) -> None:
    """Write a snapshot whole or not at all, in place of what an interrupted ingest left or of a damaged one.

    Raises:
        StoreError: it cannot be written.
    """
    place = _Place(folder, catalog.kb_id, repo_id, generation)
    draft = place.path.with_suffix(".tmp")
    try:
        clear(draft)
        draft.mkdir(parents=True)
        for name, array in _arrays(snapshot).items():
            (draft / f"{name}.bin").write_bytes(_bytes_of(array))
        about = _about(place, snapshot)
        (draft / "about.json").write_bytes(about)
        (draft / "about.crc").write_text(str(crc32(about)), "ascii")
        clear(place.path)
        draft.replace(place.path)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder} is a file and should be a folder: remove it and run this again") from error
        raise StoreError(
            f"cannot write {place.path}: {error.strerror or error}; mend the cause (free disk space, or the rights on "
            "the folder) and run the same command again",
            code="write_failed",
        ) from error


def load_snapshot(folder: Path, catalog: Catalog, repo_id: int, generation: int, embedder: Embedder) -> Snapshot:
    """Read a snapshot, or make it from the catalog when it is missing, damaged or of another generation.

    Raises:
        StoreError: it was made with another embedder (code ``other_embedder``).
    """
    try:
        return _read(_Place(folder, catalog.kb_id, repo_id, generation), embedder)
    except _Damaged:
        return gather(catalog, repo_id, generation, embedder)


def snapshot_fault(
    folder: Path, catalog: Catalog, repo_id: int, generation: int, embedder: Embedder, *, thorough: bool = False
) -> str:
    """Return why the stored snapshot has to be made again, "" if it need not.

    Args:
        thorough: read the large arrays whole, too.

    Raises:
        StoreError: it was made with another embedder (code ``other_embedder``).
    """
    place = _Place(folder, catalog.kb_id, repo_id, generation)
    try:
        snapshot = _read(place, embedder)
        return _fault_of_large(place, snapshot) if thorough else ""
    except _Damaged as fault:
        return str(fault)


def _fault_of_large(place: _Place, snapshot: Snapshot) -> str:
    """Return which of the arrays that `_read` only samples differs from its checksum, "" for none."""
    arrays, expected = _arrays(snapshot), _checked_about(place)["crc"]
    differing = (name for name in SAMPLED if crc32(_bytes_of(arrays[name])) != expected[name])
    return next((f"{name}.bin differs from its checksum" for name in differing), "")


def drop_snapshots(folder: Path, repo_id: int, *, before: int | None = None) -> None:
    """Delete the snapshots of a repository, or those of generations ``before`` a number."""
    for path, owner, generation in _listed(folder):
        if owner == repo_id and (before is None or generation < before):
            shutil.rmtree(path, ignore_errors=True)


def drop_foreign_snapshots(folder: Path, repo_ids: set[int]) -> None:
    """Delete the snapshots of repositories that are none of ``repo_ids``."""
    for path, owner, _ in _listed(folder):
        if owner not in repo_ids:
            shutil.rmtree(path, ignore_errors=True)


def _listed(folder: Path) -> Iterator[tuple[Path, int, int]]:
    for path in folder.iterdir() if folder.is_dir() else ():
        if found := _NAME.fullmatch(path.name):
            yield path, int(found[1]), int(found[2])


def _about(place: _Place, snapshot: Snapshot) -> bytes:
    arrays = _arrays(snapshot)
    told = {
        "of": place.owner,
        "model": snapshot.model,
        "shape": {name: array.shape for name, array in arrays.items()},
        "crc": {name: crc32(_bytes_of(array)) for name, array in arrays.items()},
        "sample": {name: _sample(arrays[name]) for name in SAMPLED},
        "kinds": snapshot.kinds,
        "files": [[file.path, file.role, file.language, file.content_id] for file in snapshot.files],
    }
    return json.dumps(told).encode("ascii")


def _read(place: _Place, embedder: Embedder) -> Snapshot:
    """Return the snapshot at ``place``.

    Raises:
        _Damaged: it is missing, damaged or of another generation.
        StoreError: it was made with another embedder.
    """
    about = _checked_about(place)
    if about["model"] != embedder.name:
        raise other_embedder(about["model"], embedder)
    if not set(about["shape"]) == set(about["crc"]) == set(ARRAYS) or set(about["sample"]) != set(SAMPLED):
        raise _Damaged("another version of DevMind wrote it")
    arrays = {name: _mapped(place, name, about["shape"][name]) for name in ARRAYS}
    for name, array in arrays.items():
        if name in SAMPLED and _sample(array) != about["sample"][name]:
            raise _Damaged(f"{name}.bin holds other {name}")
        if name not in SAMPLED and crc32(_bytes_of(array)) != about["crc"][name]:
            raise _Damaged(f"{name}.bin differs from its checksum")
    return Snapshot(
        model=about["model"],
        files=tuple(File(place.repo_id, *row) for row in about["files"]),
        kinds=tuple(about["kinds"]),
        postings=Postings(**_of_part(arrays, "postings")),
        uses=Uses(**_of_part(arrays, "uses")),
        **{name: array for name, array in arrays.items() if name not in _OF_PART},
    )


def _arrays(snapshot: Snapshot) -> dict[str, Array]:
    holders = {name: getattr(snapshot, _OF_PART[name]) if name in _OF_PART else snapshot for name in ARRAYS}
    return {name: getattr(holder, name) for name, holder in holders.items()}


def _of_part(arrays: Mapping[str, Array], part: str) -> dict[str, Array]:
    return {name: arrays[name] for name, of in _OF_PART.items() if of == part}


def _checked_about(place: _Place) -> dict[str, Any]:
    try:
        data = (place.path / "about.json").read_bytes()
        told = (place.path / "about.crc").read_bytes()
    except OSError as error:
        raise _Damaged(f"{error.filename or place.path}: {error.strerror}") from error
    if str(crc32(data)).encode() != told:
        raise _Damaged("about.json differs from its checksum")
    about: dict[str, Any] = json.loads(data)
    if about["of"] != place.owner:
        raise _Damaged("it belongs to another generation or knowledge base")
    return about


def _mapped(place: _Place, name: str, shape: list[int]) -> Array:
    """Return the array, mapped into memory, once its size was seen to be right."""
    path, dtype = place.path / f"{name}.bin", ARRAYS[name]
    size_bytes = int(np.prod(shape)) * dtype.itemsize
    try:
        found = path.stat().st_size
        if found != size_bytes:
            raise _Damaged(f"{path.name} has {found} bytes and should have {size_bytes}")
        if not size_bytes:
            return np.empty(shape, dtype)
        with path.open("rb") as file:  # `np.memmap` does the same in ten times the time
            held = mmap.mmap(file.fileno(), size_bytes, access=mmap.ACCESS_READ)
        return np.frombuffer(held, dtype).reshape(shape)
    except (OSError, ValueError) as error:  # ValueError: it shrank in the meantime
        raise _Damaged(f"{path.name}: {error}") from error


def _bytes_of(array: Array) -> memoryview | bytes:
    return np.ascontiguousarray(array).view(np.uint8).data if array.size else b""


def _sample(vectors: Array) -> int:
    return crc32(_bytes_of(vectors[:: max(1, len(vectors) // SAMPLED_ROWS)]))
