"""Downloaded archives → source files as text. Must not write to disk, and must not yield a file of an excluded project.

A file counts once however many packages vendor it (same bytes), so that no pair can be on both sides of the held-out
split.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.collect import Package, deb_members, source_archives
from training.exclude import is_excluded

LANGUAGE_BY_SUFFIX = {
    ".py": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".java": "java",
    ".rs": "rust",
    ".rb": "ruby",
    ".php": "php",
    ".c": "c",
    ".h": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".hxx": "cpp",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".cs": "csharp",
    ".kt": "kotlin",
    ".scala": "scala",
    ".swift": "swift",
    ".lua": "lua",
    ".hs": "haskell",
    ".ex": "elixir",
    ".exs": "elixir",
    ".sh": "bash",
    ".bash": "bash",
    ".zsh": "bash",
}
# Documents about the code: readmes, changelogs and guides, in a wheel its METADATA too.
PROSE = "prose"
_PROSE = re.compile(
    r"(?:^|/)(?:[^/]+\.(?:md|rst|markdown)|(?:changelog|changes|history|news|readme)(?:\.txt)?|metadata)(?:\.gz)?$",
    re.IGNORECASE,
)
# The documentation of a Haskell library in Debian holds its modules as coloured pages.
_HASKELL_PAGE = re.compile(r"/html/src/([^/]+)\.html$")
_TAG = re.compile(r"<[^>]*>")

# Larger files are generated tables or bundles; smaller ones hold nothing.
MAX_BYTES = 300_000
MIN_BYTES = 200
# Minified or generated text: the average line of code a person wrote is shorter than this.
MAX_MEAN_LINE = 120
# One giant package must not be the corpus.
MAX_FILES_PER_PACKAGE = 8_000

_SKIPPED_PARTS = frozenset(
    {
        "node_modules",
        "_vendor",
        "vendored",
        "third_party",
        "thirdparty",
        "3rdparty",
        "external",
        "umd",
        "esm5",
        "fesm5",
        "fesm2015",
        "cjs",
        "min",
        "bundles",
        "bundle",
    }
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of one package; `path` is inside the package, its top folder removed for sdists and npm packages."""

    package: str
    path: str
    language: str
    text: str


def language_of(path: str) -> str:
    """The language of a file by its path; empty for what is of no use here."""
    if _HASKELL_PAGE.search(path):
        return "haskell"
    return LANGUAGE_BY_SUFFIX.get(Path(path).suffix.lower()) or (PROSE if _PROSE.search(path) else "")


def _wanted(path: str, size: int) -> bool:
    if not language_of(path) or not 0 < size <= MAX_BYTES:
        return False
    if path.endswith((".d.ts", ".min.js", ".pb.go", "_pb2.py", ".pb.h", ".pb.cc")):
        return False
    return not any(part in _SKIPPED_PARTS for part in path.lower().split("/")) and not is_excluded(path)


def _tar_members(tar: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in tar:
        path = member.name.removeprefix("./").partition("/")[2]
        if member.isfile() and _wanted(path, member.size):
            file = tar.extractfile(member)
            if file:
                yield path, file.read()


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for info in wheel.infolist():
                if _wanted(info.filename, info.file_size):
                    yield info.filename, wheel.read(info)
    elif archive.suffix == ".deb":
        with deb_members(archive) as tar:
            yield from _tar_members(tar)
    else:
        with tarfile.open(archive, "r|*") as tar:
            yield from _tar_members(tar)


def _text(path: str, data: bytes) -> str:
    text = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8", "replace")
    return html.unescape(_TAG.sub("", text)) if _HASKELL_PAGE.search(path) else text


def _written_by_people(text: str, language: str) -> bool:
    mean_line = len(text) / (text.count("\n") + 1)
    return len(text) >= MIN_BYTES and (mean_line <= MAX_MEAN_LINE or language == PROSE)


def files_of(archive: Path, package: Package) -> Iterator[SourceFile]:
    """Every usable source file of one archive, in its order, identical contents once; documents as language `PROSE`."""
    seen: set[bytes] = set()
    try:
        for path, data in _members(archive):
            digest = hashlib.blake2b(data, digest_size=12).digest()
            text, language = _text(path, data), language_of(path)
            if digest in seen or not _written_by_people(text, language):
                continue
            seen.add(digest)
            yield SourceFile(f"{package.registry}:{package.name}", path, language, text)
            if len(seen) >= MAX_FILES_PER_PACKAGE:
                return
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        print(f"unreadable: {archive.name}: {error}", flush=True)


def files(out: Path) -> Iterator[SourceFile]:
    """Every usable source file of the corpus, package by package, without documents."""
    for archive, package in source_archives(out):
        yield from (file for file in files_of(archive, package) if file.language != PROSE)
