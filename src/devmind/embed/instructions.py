"""Queries and passages → the same behind the instructions that some models of other makers want in front of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from devmind.embed.types import ChunkText


@dataclass(frozen=True, slots=True)
class Instructions:
    """What stands before a query and before a passage; a text without a word stays empty."""

    query_prefix: str
    text_prefix: str

    @property
    def suffix(self) -> str:
        """What they add to the name of a model: nothing when both are empty."""
        return f":{self.query_prefix}|{self.text_prefix}" if self.query_prefix or self.text_prefix else ""

    def queries(self, texts: Sequence[str]) -> list[str]:
        return [self.query_prefix + text if text.strip() else "" for text in texts]

    def passages(self, texts: Sequence[ChunkText]) -> list[str]:
        passages = (text.passage for text in texts)
        return [self.text_prefix + text if text else "" for text in passages]
