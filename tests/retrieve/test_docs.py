"""The configurations in docs/retrieval.md are read, and their keys are all that there are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from devmind.model_tables import KINDS, REMOTE
from devmind.settings import load

PAGE = (Path(__file__).parents[2] / "docs" / "retrieval.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: " ".join(text.split()[:4]))
def test_an_example_is_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    settings = load(str(tmp_path))
    assert settings.embedder or settings.reranker or settings.expansion


def test_every_kind_has_an_example_and_every_key_is_named() -> None:
    shown = {(name, table.get("kind", REMOTE)) for text in EXAMPLES for name, table in tomllib.loads(text).items()}
    assert shown == {(name, kind) for name, kinds in KINDS.items() for kind in kinds}
    named = {key for kinds in KINDS.values() for keys in kinds.values() for key in keys}
    assert {key for key in named if not re.search(rf"\b{key}\b", PAGE)} <= {"n_retries"}
