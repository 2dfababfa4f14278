"""``python -m bench [STEP...]``: prints the figures of the steps named, of all of them without arguments.

``table`` stands for the steps that docs/benchmarks.md has of retrieval.
"""

from __future__ import annotations

import sys
import time

from bench import (
    ablations,
    chunking,
    chunks,
    evaluation,
    evaluation_report,
    indexing,
    latency,
    memory,
    quality,
    refusals,
    rival,
    scale,
    targets,
)

STEPS = {
    "indexing": (indexing.run, "completeness and speed of indexing; makes the knowledge bases of the other steps"),
    "chunks": (chunks.run, "rules of chunking that are broken"),
    "quality": (quality.run, "what retrieval finds on both suites, beside marks and peers"),
    "refusals": (refusals.run, "traps refused and answerable questions refused, by confidence"),
    "latency": (latency.run, "time of a warm query"),
    "ablations": (ablations.run, "quality without each leg, lexical field and part of the Chinese"),
    "features": (ablations.run_features, "quality without each feature of ranking, cross-validated"),
    "chunking": (chunking.run, "quality of each way of chunking, on a few repositories"),
    "rival": (rival.run, "time to index beside semble; needs BENCH_SEMBLE_PYTHON"),
    "scale": (scale.run, "indexing and cold queries at 100,000 chunks"),
    "memory": (memory.run, "peak memory of indexing"),
    "evaluation": (evaluation.run, "what evaluation itself costs"),
    "targets": (targets.run, "what each kind of target costs"),
    "report": (evaluation_report.run, "size and speed of a report"),
}
TABLE = ("quality", "refusals", "latency", "ablations", "features", "chunking", "rival")


def main() -> None:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__, *(f"  {name:12s} {told}" for name, (_, told) in STEPS.items()), sep="\n")
        return
    wanted = [one for name in sys.argv[1:] or STEPS for one in (TABLE if name == "table" else (name,))]
    for name in wanted:
        if name not in STEPS:
            sys.exit(f"unknown benchmark '{name}': use table or one of {', '.join(STEPS)}")
        started = time.process_time()
        print(f"== {name}", flush=True)
        STEPS[name][0]()
        print(f"({time.process_time() - started:.0f} CPU-s)\n", flush=True)


if __name__ == "__main__":
    main()
