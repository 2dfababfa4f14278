"""Package names → source archives on disk, with version and licence recorded. Must not unpack or run anything.

`packages.toml` lists the packages. A name without a version is resolved to the newest and the version and licence
found in the archive are written back (`--record`), so that the next run fetches the same bytes. Packages whose
licence is not permissive, or that an entry of `exclude.txt` names, are dropped and never reach the corpus.

    python -m training.collect --out DATA [--registry pypi|npm|debian|deb] [--record]
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from functools import lru_cache
from pathlib import Path

from training.exclude import is_excluded

HERE = Path(__file__).parent
PACKAGES_FILE = HERE / "packages.toml"
# `debian` are source packages, `deb` binary ones, which hold the sources of languages that are shipped as such.
REGISTRIES = ("pypi", "npm", "debian", "deb")

# One process for many names saves the client's start-up; a group with a name that fails is halved until it is found.
GROUP = 32

_PERMISSIVE = re.compile(
    r"\b(mit|expat|x11|bsd|0bsd|apache|isc|zlib|psf|python[- ]software|python|unlicen[sc]e|public[- ]domain|cc0|bsl-1|"
    r"boost|"
    r"postgresql|ruby|hpnd|ofl|blueoak|wtfpl|ncsa|curl|openldap|pil)",
    re.IGNORECASE,
)
# A copyleft or source-available name anywhere in the licence field rules the package out, unless it is one side of an
# "or".
_RESTRICTIVE = re.compile(
    r"\b(a?gpl|lgpl|gnu|mpl|mozilla|epl|eclipse|cddl|eupl|sspl|busl|business source|commons clause|proprietary"
    r"|commercial|cc-by-nc|cc-by-sa)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Package:
    """One entry of `packages.toml`; `licence` and `version` are empty until recorded."""

    registry: str
    name: str
    version: str = ""
    licence: str = ""


def is_permissive(licence: str) -> bool:
    """Whether `licence` (a licence field or SPDX expression) lets text be used to train weights that are given away."""
    parts = re.split(r"\s+or\s+", licence, flags=re.IGNORECASE)
    return any(_PERMISSIVE.search(part) and not _RESTRICTIVE.search(part) for part in parts)


def read_packages(path: Path = PACKAGES_FILE) -> list[Package]:
    """The listed packages in file order."""
    data = tomllib.loads(path.read_text("utf-8"))
    return [
        Package(registry=r, name=e["name"], version=e.get("version", ""), licence=e.get("licence", ""))
        for r in REGISTRIES
        for e in data.get(r, [])
    ]


def write_packages(packages: Sequence[Package], path: Path = PACKAGES_FILE) -> None:
    """Write `packages` as `packages.toml`, one line each, sorted by name within a registry."""
    out = [
        "# Training corpus of the static embedder; `training/collect.py --record` writes versions and licences.",
        "",
    ]
    for registry in REGISTRIES:
        out.append(f"{registry} = [")
        for p in sorted({p.name: p for p in packages if p.registry == registry}.values(), key=lambda p: p.name):
            name, version, licence = map(json.dumps, (p.name, p.version, p.licence))
            out.append(f"  {{ name = {name}, version = {version}, licence = {licence} }},")
        out.append("]\n")
    path.write_text("\n".join(out), "utf-8")


def _command(registry: str, packages: Sequence[Package], sources: Path) -> list[str]:
    if registry == "pypi":
        spec = [f"{p.name}=={p.version}" if p.version else p.name for p in packages]
        return [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
            "-d",
            ".",
            *spec,
        ]
    if registry == "npm":
        return [
            "npm",
            "pack",
            "--silent",
            "--ignore-scripts",
            *[f"{p.name}@{p.version}" if p.version else p.name for p in packages],
        ]
    if registry == "deb":
        return ["apt-get", "download", "-qq", *[p.name for p in packages]]
    # A Debian release serves one version of a source package, so the name alone is reproducible within the release.
    spec = [p.name for p in packages]
    options = [
        f"-oDir::Etc::sourcelist={sources}",
        "-oDir::Etc::sourceparts=-",
        f"-oDir::State::lists={sources.parent}/lists",
        "-oAPT::Get::List-Cleanup=0",
        "-oAcquire::Languages=none",
    ]
    return ["apt-get", *options, "source", "-qq", "--download-only", "--only-source", *spec]


def _debian_sources(folder: Path) -> Path:
    """A source list asking the machine's own Debian mirrors for source packages, with its index brought up to date."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "devmind.sources"
    text = Path("/etc/apt/sources.list.d/debian.sources").read_text("utf-8")
    target.write_text(re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.MULTILINE), "utf-8")
    (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    options = [f"-oDir::Etc::sourcelist={target}", "-oDir::Etc::sourceparts=-", f"-oDir::State::lists={folder}/lists"]
    subprocess.run(["apt-get", *options, "update", "-qq"], check=True)
    return target


def fetch(registry: str, packages: Sequence[Package], out: Path) -> None:
    """Download every package not yet in `out/<registry>`; a name that cannot be had is reported and left out."""
    target = out / registry
    target.mkdir(parents=True, exist_ok=True)
    done_file = target / "done.txt"
    done = set(done_file.read_text("utf-8").split("\n")) if done_file.exists() else set()
    todo = [p for p in packages if p.name not in done and not is_excluded(p.name)]
    sources = _debian_sources(out / "apt") if registry == "debian" and todo else Path()

    def run(group: Sequence[Package]) -> bool:
        with tempfile.TemporaryDirectory(dir=out) as work:
            result = subprocess.run(_command(registry, group, sources), cwd=work, capture_output=True, text=True)
            there = {f.name.partition("_")[0] for f in Path(work).iterdir() if ".orig" in f.name or f.suffix == ".deb"}
            # A Debian mirror may lack a file of a source package; apt-get fetches the rest all the same, and the
            # upstream half is all that is needed.
            lacking = [p.name for p in group if p.name not in there]
            if result.returncode and not there:
                if len(group) == 1:
                    print(f"not fetched: {group[0].name}: {result.stderr.strip().splitlines()[-1:]}", flush=True)
                return False
            if result.returncode and lacking:
                print(f"not fetched: {' '.join(lacking)}", flush=True)
            for file in Path(work).iterdir():
                shutil.move(file, target / file.name)
        with done_file.open("a", encoding="utf-8") as handle:
            handle.writelines(p.name + "\n" for p in group)
        return True

    groups = [todo[start : start + GROUP] for start in range(0, len(todo), GROUP)]
    while groups:
        group = groups.pop()
        if not run(group) and len(group) > 1:
            groups += [group[: len(group) // 2], group[len(group) // 2 :]]


def describe(archive: Path, registry: str) -> Package | None:
    """Name, version and licence as the archive itself states them; None when it states none."""
    if registry == "pypi":
        with zipfile.ZipFile(archive) as wheel:
            name = next((n for n in wheel.namelist() if n.endswith(".dist-info/METADATA")), None)
            if name is None:
                return None
            meta = HeaderParser().parsestr(wheel.read(name).decode("utf-8", "replace"))
        classifiers = [c.rsplit("::", 1)[-1].strip() for c in meta.get_all("Classifier", []) if c.startswith("License")]
        field = meta.get("License-Expression") or " / ".join(c for c in classifiers if c != "OSI Approved")
        field = field or next(iter((meta.get("License") or "").strip().splitlines()), "")[:80]
        return Package("pypi", meta["Name"], meta["Version"], field)
    if registry == "npm":
        with tarfile.open(archive) as tar:
            member = next((m for m in tar if m.name.count("/") == 1 and m.name.endswith("/package.json")), None)
            file = tar.extractfile(member) if member else None
            data = json.loads(file.read()) if file else {}
        licence = data.get("license") or data.get("licenses") or ""
        if not isinstance(licence, str):
            licence = " or ".join(str(e.get("type", "")) for e in (licence if isinstance(licence, list) else [licence]))
        return Package("npm", data.get("name", ""), data.get("version", ""), licence) if data else None
    return _describe_deb(archive) if registry == "deb" else _describe_debian(archive)


@lru_cache(maxsize=1)
def _deb_data(archive: Path) -> bytes:
    """The `data.tar` inside a binary package, decompressed; the last one is kept, since licence and files need it."""
    data = archive.read_bytes()
    at = 8
    while at + 60 <= len(data):
        name, size = data[at : at + 16].decode("ascii").strip(" /"), int(data[at + 48 : at + 58])
        at += 60
        if name.startswith("data.tar"):
            packed = data[at : at + size]
            return lzma.decompress(packed) if name.endswith(".xz") else packed
        at += size + size % 2
    raise tarfile.ReadError(f"{archive.name} holds no data.tar; download it again")


def deb_members(archive: Path) -> tarfile.TarFile:
    """The files of a binary package."""
    return tarfile.open(fileobj=io.BytesIO(_deb_data(archive)), mode="r:*")


def _licence_of_all(copyright_text: str) -> str:
    """The licence that a machine-readable copyright file gives for `Files: *`."""
    stanza = next((s for s in re.split(r"\n\s*\n", copyright_text) if re.search(r"^Files:\s*\*", s, re.MULTILINE)), "")
    found = re.search(r"^License:\s*(.+)$", stanza, re.MULTILINE)
    return found.group(1).strip() if found else ""


def _describe_deb(archive: Path) -> Package | None:
    """Licence as the package's own copyright file states it."""
    name, version, _ = archive.name.split("_", 2)
    try:
        with deb_members(archive) as tar:
            member = next((m for m in tar if m.isfile() and m.name.endswith("/copyright")), None)
            file = tar.extractfile(member) if member else None
            text = file.read().decode("utf-8", "replace") if file else ""
    except (tarfile.TarError, lzma.LZMAError, ValueError) as error:
        print(f"unreadable: {archive.name}: {error}", flush=True)
        return None
    return Package("deb", name, version.replace("%3a", ":"), _licence_of_all(text))


# Sentences that only one family of licences has, for archives that state their licence in no field.
_LICENCE_TEXTS = (
    ("Permission is hereby granted, free of charge", "MIT"),
    ("Redistribution and use in source and binary forms", "BSD"),
    ("Apache License", "Apache-2.0"),
    ("Permission to use, copy, modify, and/or distribute", "ISC"),
    ("Boost Software License", "BSL-1.0"),
)
_LICENCE_FILE = re.compile(r"(licen[sc]e|copying|copyright|mit-license)[\w.-]*$", re.IGNORECASE)


def _licence_in(archive: Path) -> str:
    """The licence of an upstream archive by its top-level licence file; empty when it is none we know."""
    with tarfile.open(archive, "r|*") as tar:
        for member in tar:
            path = member.name.removeprefix("./")
            if path.count("/") <= 1 and member.isfile() and _LICENCE_FILE.match(path.rpartition("/")[2]):
                file = tar.extractfile(member)
                text = " ".join(file.read().decode("utf-8", "replace").split()) if file else ""
                if "GENERAL PUBLIC LICENSE" not in text:
                    return next((name for sentence, name in _LICENCE_TEXTS if sentence in text), "")
    return ""


def _describe_debian(archive: Path) -> Package | None:
    """Licence of `Files: *` in the copyright file beside the upstream archive, else the upstream's own text."""
    name, _, version = archive.name.partition("_")
    version = re.sub(r"\.orig\.tar\.\w+$", "", version)
    packaging = next(iter(sorted(archive.parent.glob(f"{name}_*.debian.tar.*"))), None)
    if packaging is None:
        return Package("debian", name, version, _licence_in(archive))
    with tarfile.open(packaging) as tar:
        member = next((m for m in tar if m.name.endswith("debian/copyright")), None)
        file = tar.extractfile(member) if member else None
        text = file.read().decode("utf-8", "replace") if file else ""
    return Package("debian", name, version, _licence_of_all(text) or _licence_in(archive))


def archives(out: Path, registry: str) -> Iterator[tuple[Path, Package]]:
    """Every downloaded archive with what it states about itself, in name order."""
    pattern = {"pypi": "*.whl", "npm": "*.tgz", "debian": "*.orig.tar.*", "deb": "*.deb"}[registry]
    for archive in sorted((out / registry).glob(pattern)):
        if archive.suffix != ".asc" and (package := describe(archive, registry)) is not None:
            yield archive, package


def source_archives(out: Path, registries: Sequence[str] = REGISTRIES) -> Iterator[tuple[Path, Package]]:
    """The archives of the corpus proper: permissive and not excluded."""
    for registry in registries:
        for archive, package in archives(out, registry):
            if not is_excluded(package.name) and is_permissive(package.licence):
                yield archive, package


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--registry", choices=REGISTRIES, action="append")
    parser.add_argument(
        "--record", action="store_true", help="write the versions and licences found back to packages.toml"
    )
    args = parser.parse_args()
    packages = read_packages()
    for registry in args.registry or REGISTRIES:
        fetch(registry, [p for p in packages if p.registry == registry], args.out)
    if args.record:
        found: dict[tuple[str, str], Package] = {}
        for _, package in source_archives(args.out):
            found[package.registry, package.name] = package
        write_packages(list(found.values()))
        print(f"recorded {len(found)} packages", flush=True)


if __name__ == "__main__":
    main()
