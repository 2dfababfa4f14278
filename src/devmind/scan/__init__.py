"""Repository → documents: what is in it, what of that is text worth indexing, and why the rest is not.

``open_source`` fixes which state is read; ``scan`` yields every file of it, as a document or as a skip with a reason.
Must not write to the source, run code from it, or let one bad file stop the rest.
"""

# ruff: noqa: PTH118 (paths are bytes here, which pathlib has not)
from __future__ import annotations

import os
from collections.abc import Iterator

from devmind.scan.document import read_document, skip_by_name, skip_secret
from devmind.scan.git import read_blobs
from devmind.scan.rules import ScanRules, shown
from devmind.scan.secrets import mask_secrets
from devmind.scan.source import Source, open_source
from devmind.scan.walk import Entry, read_file, unreadable, walk_folder, walk_tree, walk_work_tree
from devmind.types import Document, Skipped

__all__ = ["ScanRules", "Source", "mask_secrets", "open_source", "scan", "skip_secret"]


def scan(source: Source, rules: ScanRules) -> Iterator[Document | Skipped]:
    """Yield each file of ``source``, as a document or a skip; a closed folder is one skip whose path ends in "/".

    Returns:
        Skips of what needs no reading, and documents, in an order that is the same for the same state.

    Raises:
        UpstreamError: git failed on the repository as a whole.
    """
    if source.tree:
        return _scan_tree(source, rules)
    return _scan_disk(source, rules)


def _scan_disk(source: Source, rules: ScanRules) -> Iterator[Document | Skipped]:
    assert source.folder is not None
    root = os.fsencode(source.folder)
    if source.repository is None:
        walked = walk_folder(source.folder, rules)
    else:
        walked = walk_work_tree(source.folder, source.repository, source.prefix, rules)
    for entry in walked:
        if isinstance(entry, Skipped):
            yield entry
            continue
        path = shown(entry.raw)
        if skipped := skip_by_name(path, entry.size_bytes, rules.max_bytes):
            yield skipped
            continue
        try:
            data = read_file(os.path.join(root, entry.raw), expected=entry.size_bytes, limit=rules.max_bytes + 1)
        except OSError as error:
            yield unreadable(entry.raw, error, entry.size_bytes)
            continue
        if len(data) != entry.size_bytes and (skipped := skip_by_name(path, len(data), rules.max_bytes)):
            yield skipped  # it grew or shrank since it was listed
            continue
        yield read_document(path, data, last_modified=entry.last_modified)


def _scan_tree(source: Source, rules: ScanRules) -> Iterator[Document | Skipped]:
    assert source.repository is not None
    wanted: list[Entry] = []
    for entry in walk_tree(source.repository, source.tree, source.prefix, rules):
        if isinstance(entry, Skipped):
            yield entry
        elif skipped := skip_by_name(shown(entry.raw), entry.size_bytes, rules.max_bytes):
            yield skipped
        else:
            wanted.append(entry)
    blobs = read_blobs(source.repository, [entry.oid for entry in wanted])
    for entry, data in zip(wanted, blobs, strict=True):
        path = shown(entry.raw)
        if data is None:
            yield Skipped(path, "unreadable", "git has no content for it: fetch again", entry.size_bytes)
        else:
            yield read_document(path, data)
