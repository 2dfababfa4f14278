"""What an ingest is told, tells while it runs, and says at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from devmind.embed.choose import EmbedderOptions


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """``n_workers`` processes parse and embed; 1 does it in this process. ``embedder`` None is the built-in model."""

    strategy: Literal["layered", "syntax", "fixed", "semantic"] = "layered"
    n_workers: int = 2
    embedder: EmbedderOptions | None = None
    keep_generations: int = 5


@dataclass(frozen=True, slots=True)
class Progress:
    phase: str
    done: int
    total: int
    bytes_done: int
    bytes_total: int
    elapsed_s: float


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Report:
    """``completeness`` is indexed / (indexed + skipped by trouble, not by rule), in 0..1."""

    repo: str
    generation: int
    commit: str
    changed: bool
    n_files: int = 0
    n_indexed: int = 0
    n_reused: int = 0
    n_chunks: int = 0
    n_symbols: int = 0
    n_edges: int = 0
    files_by_language: dict[str, int] = field(default_factory=dict)
    skips_by_reason: dict[str, int] = field(default_factory=dict)
    completeness: float = 1.0
    bytes_indexed: int = 0
    seconds: float = 0.0
