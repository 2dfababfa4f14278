"""Words that programmers use for one another in names: what somebody remembers who has forgotten the real one."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """Map each word to the others of its group, in the group's order."""
    text = files("devmind.evaluate.generate").joinpath("data", "synonyms.txt").read_text("utf-8")
    groups = [line.split() for line in text.splitlines()]
    return {word: tuple(other for other in group if other != word) for group in groups for word in group}
