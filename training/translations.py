"""Message catalogues inside the packages → pairs of one message in English and in Chinese.

Must not use a dictionary or a corpus of its own: what programs say to their users, in both languages, is enough to
bring Chinese words near the English ones that code is written in.

    python -m training.translations --data ARCHIVES --out BAGS
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from devmind.embed.static import QUERY_PIECES
from training.bags import bag
from training.collect import source_archives
from training.exclude import is_excluded

# Wheels and npm's tarballs hold catalogues; Debian's binary packages are no archives that `_archive` reads.
_REGISTRIES = ("pypi", "npm")
# One message in 16 is held out, by a hash of its English text.
_HELD_OUT_OF = 16
# A message of more teaches little about one word.
_MAX_CHARS = 300
# Before its placeholders are taken out, which is quadratic in what a hostile one holds: ten times that leaves no less.
_MAX_RAW_CHARS = 3000
# Devices of a home and compiler messages must not be all of it.
_MAX_PER_PACKAGE = 12_000

_CHINESE_FILE = re.compile(r"(?<![a-z])zh[-_](?:cn|hans)(?![a-z])", re.IGNORECASE)
_ENGLISH_NAMES = ("en", "en-US", "en_US", "en-us", "en-GB")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}|\[%[^\]]*%\]|%\(?\w*\)?[sd]|&&|</?\w[^>]*>|\[[^\]]*\]\([^)]*\)")
_LOCALIZE = re.compile(r'\blocalize2?\((\d+),\s*("(?:[^"\\\n]|\\["\\n])*")')
_NLS_CHINESE = re.compile(r"_VSCODE_NLS_MESSAGES\s*=\s*(?=\[)")
_HALF_A_CHARACTER = re.compile(r"[\ud800-\udfff]")


def _flat(value: object, prefix: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}/{key}")
    elif isinstance(value, str):
        yield prefix, value


def _catalogue(text: str) -> dict[str, str]:
    try:
        return dict(_flat(json.loads(text)))
    except (ValueError, RecursionError):
        return {}


def _editor_messages(text: str) -> list[object]:
    """The messages of an editor by number, some of which may be null."""
    start = _NLS_CHINESE.search(text)
    try:
        return list(json.JSONDecoder().raw_decode(text, start.end())[0]) if start else []
    except (ValueError, RecursionError):
        return []


def _archive(path: Path) -> tuple[list[str], Callable[[str], str]]:
    """The names in an archive and a function that reads one of them."""
    if path.suffix == ".whl":
        wheel = zipfile.ZipFile(path)
        return wheel.namelist(), lambda name: wheel.read(name).decode("utf-8", "replace")
    tar = tarfile.open(path)  # noqa: SIM115  read through the closure; the process ends soon after
    members = {m.name: m for m in tar.getmembers() if m.isfile()}

    def read(name: str) -> str:
        file = tar.extractfile(members[name])
        return file.read().decode("utf-8", "replace") if file else ""

    return list(members), read


def messages(path: Path) -> Iterator[tuple[str, str]]:
    """(English, Chinese) of every message that an archive holds in both languages."""
    names, read = _archive(path)
    there = set(names)
    for name in names:
        if not _CHINESE_FILE.search(name) or is_excluded(name):
            continue
        if name.endswith("diagnosticMessages.generated.json"):
            # A compiler's messages by a key that spells the English one: `A_0_modifier_cannot_be_used_1079`.
            for key, chinese in _catalogue(read(name)).items():
                yield re.sub(r"_\d+$", "", key.lstrip("/")).replace("_", " "), chinese
        elif name.endswith(".json"):
            candidates = (_CHINESE_FILE.sub(english, name) for english in _ENGLISH_NAMES)
            english_name = next((c for c in candidates if c in there), None)
            if english_name:
                english = _catalogue(read(english_name))
                for key, chinese in _catalogue(read(name)).items():
                    if key in english:
                        yield english[key], chinese
        elif name.endswith("esm/vs/nls/lang/zh-cn.js"):
            # An editor's messages by number; the English ones stand in its source beside the number.
            by_number = _editor_messages(read(name))
            for source in names:
                if "/esm/" in source and source.endswith(".js"):
                    for number, quoted in _LOCALIZE.findall(read(source)):
                        told = by_number[int(number)] if int(number) < len(by_number) else None
                        if isinstance(told, str) and told:
                            yield json.loads(quoted, strict=False), told


def cleaned(text: str) -> str:
    """A message without its placeholders; "" for one that is far too long or is no whole text."""
    if len(text) > _MAX_RAW_CHARS or _HALF_A_CHARACTER.search(text):
        return ""
    return " ".join(_PLACEHOLDER.sub(" ", text).split())


def usable(english: str, chinese: str) -> bool:
    """Whether both sides say something: words on the one, ideographs on the other."""
    n_ideographs = len(re.findall(r"[\u3400-\u9fff]", chinese))
    words = re.findall(r"[A-Za-z]{2,}", english)
    return n_ideographs >= 2 and bool(words) and len(english) <= _MAX_CHARS and len(chinese) <= _MAX_CHARS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="archives")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    sides: dict[str, dict[tuple[str, str], str]] = {"train": {}, "test": {}}
    for path, package in source_archives(args.data, _REGISTRIES):
        n = 0
        for raw_english, raw_chinese in messages(path):
            english, chinese = cleaned(raw_english), cleaned(raw_chinese)
            if n < _MAX_PER_PACKAGE and usable(english, chinese):
                digest = hashlib.blake2b(english.lower().encode(), digest_size=4).digest()[0]
                side = sides["test" if digest % _HELD_OUT_OF == 0 else "train"]
                n += (english.lower(), chinese) not in side
                side.setdefault((english.lower(), chinese), english)
        if n:
            print(package.name, n, flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, side in sides.items():
        arrays = {}
        for language, texts in (("english", side.values()), ("chinese", (c for _, c in side))):
            arrays |= {f"{language}_{k}": v for k, v in bag(texts, QUERY_PIECES).items()}
        np.savez(args.out / f"translations_{name}.npz", **arrays)  # type: ignore[arg-type]
        print(name, len(side), flush=True)


if __name__ == "__main__":
    main()
