"""Time to index, beside semble in the same run: the same folders, in turn, each in a process of its own.

``BENCH_SEMBLE_PYTHON`` is a Python that has the package (``pip install semble==0.7.0`` in an environment outside this
one). Times are of the call that indexes and writes to disk, without the imports before it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Final

from bench.corpora import OUT, REPOS
from bench.figures import head, row

PYTHON: Final = os.environ.get("BENCH_SEMBLE_PYTHON", "")
# Small to middling, in seven languages; the larger ones of the suites are only longer.
FOLDERS: Final = os.environ.get(
    "BENCH_RIVAL_REPOS", "flask-3.1.2 semble-axum semble-gson semble-redis semble-zod semble-chi semble-http4s"
).split()
N_ROUNDS: Final = 3
MARK: Final = 1.5
MODEL: Final = OUT / "semble-model"
SCRIPT: Final = Path(__file__).with_name("rival_semble.py")
OURS: Final = """
import json, os, sys, tempfile, time
from pathlib import Path
from devmind.ingest import IngestOptions, Writer
with tempfile.TemporaryDirectory() as out:
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    with Writer(Path(out) / "kb", IngestOptions()) as writer:
        report = writer.add(sys.argv[1], name="it")
    wall, cpu = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
print(json.dumps({"wall_s": wall, "cpu_s": cpu, "n_files": report.n_indexed, "n_chunks": report.n_chunks}))
"""
SYSTEMS: Final = ("devmind", "semble", "semble, all content")

Took = dict[str, float]


def run() -> None:
    missing = _missing()
    if missing:
        print(f"Not measured: {missing}")
        return
    if not (MODEL / "config.json").exists():
        _python([PYTHON, str(SCRIPT), "model", str(MODEL), *map(str, _folders())])
    print(f"Medians of {N_ROUNDS} rounds in turn, load {os.getloadavg()[0]:.1f}; mark {MARK} times semble's CPU.\n")
    head("folder", *(f"{system}: files, CPU-s, wall s" for system in SYSTEMS), "CPU ratio", "… to all content")
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for folder in _folders():
        took: dict[str, list[Took]] = {system: [] for system in SYSTEMS}
        for _ in range(N_ROUNDS):
            for system in SYSTEMS:
                took[system].append(_index(system, folder))
        middle = {(s, what): median(one[what] for one in took[s]) for s in SYSTEMS for what in ("cpu_s", "wall_s")}
        for key, value in middle.items():
            sums[key] += value
        cells = [f"{took[s][0]['n_files']:.0f}, {middle[s, 'cpu_s']:.2f}, {middle[s, 'wall_s']:.2f}" for s in SYSTEMS]
        row(folder.name, *cells, *_ratios(middle, "cpu_s"))
    row("together", *(f"{sums[s, 'cpu_s']:.2f}, {sums[s, 'wall_s']:.2f}" for s in SYSTEMS), *_ratios(sums, "cpu_s"))
    row("… ratio of wall", "", "", "", *_ratios(sums, "wall_s"))


def _ratios(times: Mapping[tuple[str, str], float], what: str) -> list[str]:
    """Return our time as a multiple of each other system's."""
    ours, *others = SYSTEMS
    return [f"{times[ours, what] / times[other, what]:.2f}" for other in others]


def _missing() -> str:
    """Return what this step needs and does not have, with what to do about it."""
    if not PYTHON:
        return (
            "BENCH_SEMBLE_PYTHON is not set. Make an environment outside this one ('python -m venv DIR', "
            "'DIR/bin/pip install semble==0.7.0') and set it to DIR/bin/python."
        )
    found = (
        subprocess.run([PYTHON, "-c", "import semble"], capture_output=True, text=True)
        if Path(PYTHON).exists()
        else None
    )
    if found is None:
        return f"BENCH_SEMBLE_PYTHON is {PYTHON}, which does not exist."
    if found.returncode:
        return f"{PYTHON} has no package semble: run '{PYTHON} -m pip install semble==0.7.0'."
    if not _folders():
        return f"none of {', '.join(FOLDERS)} is in {REPOS}: set BENCH_REPOS, or BENCH_RIVAL_REPOS to others."
    return ""


def _folders() -> list[Path]:
    return [REPOS / name for name in FOLDERS if (REPOS / name).is_dir()]


def _index(system: str, folder: Path) -> Took:
    if system == "devmind":
        return _python([sys.executable, "-c", OURS, str(folder)])
    everything = ["--all"] if system != "semble" else []
    return _python([PYTHON, str(SCRIPT), "index", str(MODEL), str(folder), *everything])


def _python(command: list[str]) -> Took:
    said = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"HF_HUB_OFFLINE": "1"})
    if said.returncode:
        sys.exit(f"{' '.join(command[:3])} failed: {said.stderr.strip().splitlines()[-1:]}")
    last: Took = json.loads(said.stdout.splitlines()[-1])
    return last
