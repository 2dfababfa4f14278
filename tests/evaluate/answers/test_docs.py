"""The configurations in the documentation open, and every option and null of the command stands there."""

from __future__ import annotations

import re
from pathlib import Path

from typer.main import get_command

from devmind.cli.run import app
from devmind.evaluate.answers.chat import read_judge
from devmind.evaluate.embedders import open_embedder

PAGE = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text(encoding="utf-8")


def example(kind: str, folder: Path) -> Path:
    found = re.search(rf"```toml\n# {kind}: (\S+)\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    (folder / found[1]).write_text(found[2], encoding="utf-8")
    return folder / found[1]


def test_the_judges_configuration_opens(tmp_path: Path) -> None:
    config, variable = read_judge(example("judge", tmp_path))
    assert (config.repeats, config.extra["temperature"], variable) == (2, 0, "OPENAI_API_KEY")


def test_the_embedders_configuration_opens(tmp_path: Path) -> None:
    embedder = open_embedder(str(example("embedder", tmp_path)), secret=lambda name: f"key-of-{name}")
    assert (embedder.name, embedder.dim) == ("remote:bge-m3:1024", 1024)


def test_every_option_is_documented() -> None:
    command = get_command(app).commands["eval"].commands["answers"]  # type: ignore[attr-defined]
    options = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    assert len(options) > 10
    assert [name for name in options if f"`{name}" not in PAGE] == []
