"""Every reason for which a file can be left out is known to be a rule or trouble: never both, never a new one."""

import ast
from pathlib import Path
from typing import get_args

import devmind
from devmind.types import SkipByRule, SkipByTrouble

SRC = Path(devmind.__file__).parent
RULES, TROUBLE = set(get_args(SkipByRule)), set(get_args(SkipByTrouble))


def reasons_given() -> set[str]:
    """Return each literal that stands where a reason is made: in ``Skipped(…)``, ``_link(…)`` and ``_code``."""
    found: set[str] = set()
    for path in (SRC / "scan").glob("*.py"), (SRC / "ingest").glob("*.py"):
        for file in path:
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    if node.func.id in ("Skipped", "_link") and len(node.args) > 1:
                        found |= literals(node.args[1])
                elif isinstance(node, ast.FunctionDef) and node.name == "_code":
                    found |= {
                        word for part in ast.walk(node) if isinstance(part, ast.Return) for word in literals(part)
                    }
    return found


def literals(node: ast.AST) -> set[str]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def test_each_reason_is_by_rule_or_by_trouble() -> None:
    given = reasons_given()
    assert given == RULES | TROUBLE
    assert not RULES & TROUBLE
    assert {"symlink_broken", "unreadable", "vanished"} <= given
