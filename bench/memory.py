"""Peak memory of indexing one large repository: several benchmark repositories copied into one folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

from bench.corpora import OUT, repositories

WANTED_BYTES = 60_000_000
CHILD = """
import json, resource, sys
from pathlib import Path
from devmind.ingest import IngestOptions, Writer
with Writer(Path(sys.argv[1]), IngestOptions()) as writer:
    report = writer.add(sys.argv[2], name="large")
peak = [resource.getrusage(who).ru_maxrss * 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([report.n_indexed, report.n_chunks, report.bytes_indexed, report.seconds, *peak]))
"""


def run() -> None:
    folder, kb = OUT / "large", OUT / "kb-large"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(kb, ignore_errors=True)
    n_bytes = 0
    for repo in sorted(repositories(), key=lambda path: path.name, reverse=True):
        if n_bytes >= WANTED_BYTES:
            break
        shutil.copytree(repo, folder / repo.name, symlinks=True)
        n_bytes += sum(path.stat().st_size for path in repo.rglob("*") if path.is_file() and not path.is_symlink())
    said = subprocess.run(
        [sys.executable, "-c", CHILD, str(kb), str(folder)], check=True, capture_output=True, text=True
    )
    n_files, n_chunks, indexed, seconds, own, child = json.loads(said.stdout)
    print(
        f"one repository of {n_files} files, {n_chunks} chunks, {indexed / 1e6:.1f} MB in {seconds:.1f} s "
        f"({indexed / 1e6 / seconds:.2f} MB/s); peak memory: this process {own / 1e9:.2f} GB, the larger worker "
        f"{child / 1e9:.2f} GB, at most {(own + 2 * child) / 1e9:.2f} GB together"
    )
