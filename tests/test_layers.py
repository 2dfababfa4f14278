"""Arrows run one way: a module imports types, errors and the stages to its left, never to its right."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "devmind"
LEAVES = {"types", "errors", "retry", "__init__"}
ALLOWED = {
    "model_tables": set(),
    "settings": LEAVES | {"model_tables"},
    "render": LEAVES,
    "scan": LEAVES,
    "parse": LEAVES,
    "chunk": LEAVES,
    "models": LEAVES,
    "embed": LEAVES | {"models"},
    "index": LEAVES | {"embed"},
    "ingest": LEAVES | {"scan", "parse", "chunk", "embed", "index"},
    "retrieve": LEAVES | {"models", "embed", "index"},
    "answer": LEAVES | {"embed", "index", "retrieve"},
    "service": LEAVES | {"settings", "model_tables", "models", "embed", "index", "retrieve", "answer"},
    "evaluate": LEAVES
    | {"settings", "render", "scan", "parse", "chunk", "models", "embed", "index", "ingest", "retrieve", "answer"}
    | {"service", "model_tables"},
    "cli": LEAVES | {"settings", "render", "service", "ingest", "evaluate"},
    "__main__": {"cli"},
    "types": set(),
    "errors": set(),
    "retry": {"errors"},
    "__init__": set(),
}


def unit_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def is_unit(name: str) -> bool:
    return (SRC / name).exists() or (SRC / f"{name}.py").exists()


def imported_units(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: use absolute imports"
            if node.module == "devmind":
                found |= {alias.name if is_unit(alias.name) else "__init__" for alias in node.names}
            elif node.module and node.module.startswith("devmind."):
                found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("devmind.")}
    return found


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_imports_only_to_its_left(path: Path) -> None:
    unit = unit_of(path)
    assert imported_units(path) - {unit} <= ALLOWED[unit]


def test_only_settings_reads_the_environment() -> None:
    readers = {unit_of(p) for p in SRC.rglob("*.py") if "os.environ" in p.read_text(encoding="utf-8")}
    assert readers <= {"settings"}
