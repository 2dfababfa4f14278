"""Every configuration in the documentation opens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from devmind.evaluate.targets import open_target
from devmind.settings import Settings
from tests.evaluate.opened import closing

PAGE = Path(__file__).parents[2] / "docs" / "evaluation-targets.md"
EXAMPLES = re.findall(r"```toml\n# (\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_every_configured_target_has_an_example() -> None:
    assert {spec.partition(":")[0] for spec, _ in EXAMPLES} == {"http", "dify", "openai", "generic"}


@pytest.mark.parametrize(("spec", "text"), EXAMPLES, ids=[spec for spec, _ in EXAMPLES])
def test_an_example_opens(spec: str, text: str, tmp_path: Path) -> None:
    kind, _, name = spec.partition(":")
    (tmp_path / name).write_text(text, encoding="utf-8")
    with closing(
        open_target(f"{kind}:{tmp_path / name}", settings=Settings(home=tmp_path), secret=lambda name: f"key-of-{name}")
    ) as target:
        assert target.name
        assert not any("key-of-" in value for value in target.settings().values())
