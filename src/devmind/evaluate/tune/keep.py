"""Weights ↔ their file in a knowledge base: written whole or not at all, and taken back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from devmind.errors import StoreError
from devmind.retrieve.rank import SHIPPED
from devmind.retrieve.weights import FILE, PREVIOUS, Weights, read_weights, text_of

MEND: Final = "mend the cause (rights on the folder, free disk space) and run the command again"


def refuse_unwritable(kb: Path) -> None:
    """Say before any work that its result could not be kept.

    Raises:
        StoreError: the folder may not be written to.
    """
    if not os.access(kb, os.W_OK):
        raise StoreError(
            f"cannot write {kb / FILE}: the knowledge base is read-only; tune a copy of it, or see with --dry-run what "
            "would be gained",
            code="write_failed",
        )


def keep(kb: Path, weights: Weights) -> Path:
    """Make ``weights`` those of the knowledge base; `undo` goes back to those that were in use.

    Returns:
        the file.

    Raises:
        StoreError: it cannot be written; the weights in use are unchanged.
    """
    if read_weights(kb / FILE, SHIPPED) is None:
        _drop(kb / PREVIOUS)
    else:
        _write(kb / PREVIOUS, (kb / FILE).read_bytes())
    _write(kb / FILE, text_of(weights).encode())
    return kb / FILE


def undo(kb: Path) -> Weights | None:
    """Go back to the weights before those in use, else to the shipped ones, and return them; None if they are in use.

    Whatever stands in the files may go: this mends a file that is damaged, too.

    Raises:
        StoreError: the folder cannot be written.
    """
    if not os.path.lexists(kb / FILE):
        _drop(kb / PREVIOUS)
        return None
    try:
        before = read_weights(kb / PREVIOUS, SHIPPED)
    except StoreError:
        before = None
    if before is None:
        _drop(kb / FILE)
        _drop(kb / PREVIOUS)
        return SHIPPED
    _write(kb / FILE, (kb / PREVIOUS).read_bytes())
    _drop(kb / PREVIOUS)
    return before


def _write(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            with draft.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            _clear_folder(path)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; {MEND}", code="write_failed") from error


def _drop(path: Path) -> None:
    try:
        _clear_folder(path)
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot remove {path}: {error.strerror or error}; {MEND}", code="write_failed") from error


def _clear_folder(path: Path) -> None:
    """Remove an empty folder that stands in the place of the file; one that holds something is not ours."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
