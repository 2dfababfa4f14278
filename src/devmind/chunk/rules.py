"""What a caller may set about chunking, and which kinds of symbols count as what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Strategy = Literal["layered", "syntax", "fixed", "semantic"]

# Kinds whose members become units of their own when the whole is over budget.
CLASS_KINDS = frozenset({"class", "interface", "struct", "union", "trait", "protocol", "enum", "object", "service", "message"})  # fmt: skip # noqa: E501
FUNCTION_KINDS = frozenset({"function", "method", "macro", "property", "rpc"})
# Small declarations: while tiny they stay with the code around them.
MINOR_KINDS = frozenset({"constant", "variable", "field", "enum_member"})
# Kinds that are never cut when they fit the budget.
DEFINITION_KINDS = CLASS_KINDS | FUNCTION_KINDS | MINOR_KINDS | {"type", "table", "view", "target", "stage"}
# A namespace is a place, not a unit: its members are units and its own lines are code between them.
TRANSPARENT_KINDS = frozenset({"namespace", "module"})
# Places in data files where a group of lines may begin.
DATA_KINDS = frozenset({"key", "element", "selector"})


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """How to cut a document.

    Args:
        budget_tokens: the most that header and content hold together; only a single line may be larger.
        overlap_tokens: what neighbouring pieces of one split definition share at least, in whole lines.
        min_tokens: below this a unit merges with its siblings (up to half of the budget).
        fixed_tokens: the size of a chunk under ``fixed``.
        semantic_threshold: percentile (0..100) of the similarity of neighbouring windows under which ``semantic`` cuts.
    """

    strategy: Strategy = "layered"
    budget_tokens: int = 600
    overlap_tokens: int = 30
    min_tokens: int = 60
    fixed_tokens: int = 400
    semantic_threshold: float = 20.0
