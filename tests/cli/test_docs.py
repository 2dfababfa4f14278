"""Every command of evaluation, and each of its options, is documented."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.main import get_command

from devmind.cli.app import app
from devmind.cli.run import COMMANDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
EVAL = get_command(app).commands["eval"].commands if COMMANDS else {}  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["run", "compare", "gate", "report", "export"])
def test_a_command_and_its_options_are_documented(name: str) -> None:
    assert f"`eval {name} " in PAGE
    assert f"`eval {name} " in (ROOT / "README.md").read_text(encoding="utf-8")
    options = [option for parameter in EVAL[name].params for option in parameter.opts if option.startswith("-")]
    assert len(options) > 5
    assert [option for option in options if option != "--help" and f"{option}" not in PAGE] == []
