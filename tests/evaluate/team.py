"""A team whose questions are answered by its documentation, which the shipped weights put behind sources.

Of each subject there are a source file, its test and a page of documentation, all with the same words.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

SUBJECTS = (
    "invoice", "parcel", "coupon", "ledger", "refund", "voucher", "shipment", "basket", "warehouse", "supplier",
    "courier", "customs", "tariff", "pallet", "barcode", "receipt", "payroll", "overtime", "holiday", "badge",
    "locker", "canteen", "forklift", "conveyor", "scanner", "printer", "envelope", "stamp", "postcode", "depot",
    "ferry", "harbour", "railway", "tunnel", "bridge", "lantern", "anchor", "compass", "sextant", "telescope",
)  # fmt: skip
VERBS = ("rounded", "archived", "validated", "merged", "cancelled")


def team_files() -> dict[str, str]:
    """Return the repository, texts by path."""
    files: dict[str, str] = {}
    for at, subject in enumerate(SUBJECTS):
        verb = VERBS[at % len(VERBS)]
        files[f"app/{subject}.py"] = _source(subject, verb)
        files[f"tests/test_{subject}.py"] = _test(subject, verb)
        files[f"docs/{subject}.md"] = _page(subject, verb)
    return files


def team_topics(*, where: str = "docs", lines: bool = False, repo: str = "team") -> list[dict[str, Any]]:
    """Return a question about each subject, answered by its file in the folder ``where``."""
    return [
        {
            "topic_id": f"t{at}",
            "query": f"when is a {subject} {VERBS[at % len(VERBS)]}?",
            "category": "API location",
            "repo": repo,
            "truths": [{"file": _file(where, subject), **({"start_line": 1, "end_line": 3} if lines else {})}],
        }
        for at, subject in enumerate(SUBJECTS)
    ]


def random_topics(seed: int) -> list[dict[str, Any]]:
    """Return the same questions, each answered by a file drawn from all of them."""
    chance = random.Random(seed)
    files = [_file(where, subject) for where in ("app", "docs", "tests") for subject in SUBJECTS]
    return [row | {"truths": [{"file": chance.choice(files)}]} for row in team_topics()]


def _file(where: str, subject: str) -> str:
    return {"app": f"app/{subject}.py", "docs": f"docs/{subject}.md", "tests": f"tests/test_{subject}.py"}[where]


def write_topics(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _source(subject: str, verb: str) -> str:
    return f'''"""Every {subject} of the company."""


def is_{verb}({subject}, today):
    """Return whether the {subject} is {verb} today."""
    return {subject}.state == "{verb}" and {subject}.day <= today


def next_{subject}(all_of_them):
    """Return the {subject} that is due next."""
    return min(all_of_them, key=lambda one: one.day)
'''


def _test(subject: str, verb: str) -> str:
    return f"""from app.{subject} import is_{verb}


def test_a_{subject}_is_{verb}():
    assert is_{verb}({subject}_of_today(), today=3)
"""


def _page(subject: str, verb: str) -> str:
    return f"# The {subject}\n\nA {subject} is {verb} when its day has come.\n\n## Who may do it\n\nAnybody on duty.\n"
