"""What is embedded, and the seam between it and a model.

Must not import numpy at run time: a caller may only want the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
else:
    Vectors = None  # a name for annotations only, so that numpy is not imported here


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk as a model reads it: qualified name (`Class.method`), header (signature, docstring), code."""

    name: str
    header: str
    body: str

    @property
    def passage(self) -> str:
        """The whole as one text, for a model that knows no fields; empty without a word."""
        return "\n".join(part for part in (self.name, self.header, self.body) if part.strip())


class Embedder(Protocol):
    """Texts → vectors that can be compared by dot product.

    Every method returns `(n_texts, dim) float32, unit rows`, in the order given; a text without a word gives a row of
    zeros.
    """

    @property
    def name(self) -> str:
        """Changes whenever the same text would get another vector; stored with an index, to know it is stale."""

    @property
    def dim(self) -> int:
        """Number of dimensions."""

    @property
    def prefix(self) -> int:
        """How many leading dimensions are an embedding by themselves, good enough to find what to rescore."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions."""

    def embed_chunks(self, texts: Sequence[ChunkText]) -> Vectors:
        """Vectors of chunks."""
