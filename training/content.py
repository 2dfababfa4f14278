"""Folders of code that must not be trained on → digests of everything in them that could become a pair's code.

The names of `exclude.txt` find a project in its packages and vendored copies; a function that was copied without a name
is found here: a pair whose code has the digest of a body in those folders is left out.

    python -m training.content --folders FOLDER... --out FILE.npy
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training.blocks import blocks
from training.corpus import LANGUAGE_BY_SUFFIX, MAX_BYTES, SourceFile
from training.definitions import definitions

# The beginning of a body tells it apart; a pair holds no more of it.
BODY_CHARS = 2_500
# Shorter bodies (`return self._value`) stand everywhere and identify no project.
MIN_WORDS = 8

_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"^\s*(?://|/\*|\*|#|--).*$", re.MULTILINE)


def digest(body: str) -> int | None:
    """A number for the words of `body`, whatever its layout, case and full-line comments; None when too short."""
    words = _WORD.findall(_COMMENT.sub("", body[:BODY_CHARS]).lower())
    if len(words) < MIN_WORDS:
        return None
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest(), "big")


def bodies(file: SourceFile) -> Iterator[str]:
    """Every text of a file that could be the code of a pair."""
    yield from (d.body for d in definitions(file))
    yield from (b.code for b in blocks(file))


def digests_of(folders: list[Path]) -> set[int]:
    """Digests of all bodies in the source files below `folders`."""
    found: set[int] = set()
    # Versions of one project share most of their files.
    seen: set[bytes] = set()
    for folder in folders:
        if not folder.is_dir():
            raise SystemExit(f"--folders: no such folder: {folder}; name folders of checked-out benchmark repositories")
        for path in sorted(folder.rglob("*")):
            language = LANGUAGE_BY_SUFFIX.get(path.suffix.lower())
            if language and path.is_file() and path.stat().st_size <= MAX_BYTES:
                data = path.read_bytes()
                whole = hashlib.blake2b(data, digest_size=12).digest()
                if whole in seen:
                    continue
                seen.add(whole)
                file = SourceFile(folder.name, str(path), language, data.decode("utf-8", "replace"))
                found.update(d for body in bodies(file) if (d := digest(body)) is not None)
    return found


def load(path: Path) -> frozenset[int]:
    """The digests that `main` wrote."""
    return frozenset(np.load(path).tolist())


def without_copies(pairs: Sequence[dict[str, Any]], excluded: frozenset[int]) -> list[dict[str, Any]]:
    """`pairs` of one package without those whose code is excluded, and without files half of whose code is: the outline
    of such a file has no body of its own to be known by."""
    n_by_path = Counter(p["path"] for p in pairs)
    n_copied = Counter(p["path"] for p in pairs if p["code"] in excluded)
    return [p for p in pairs if p["code"] not in excluded and 2 * n_copied[p["path"]] < n_by_path[p["path"]]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folders", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    found = digests_of(args.folders)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.save(args.out, np.array(sorted(found), np.uint64))
    print(f"{len(found)} bodies of {len(args.folders)} folders", flush=True)


if __name__ == "__main__":
    main()
