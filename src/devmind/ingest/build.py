"""Document → everything the index stores of it. Pure work for one core; must not touch the store."""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from devmind.chunk import ChunkRules, chunk_document
from devmind.embed.static import built_in
from devmind.embed.tokenizer import count_tokens_by_line
from devmind.embed.types import ChunkText, Embedder
from devmind.errors import UsageError
from devmind.index.fields import ChunkFields, chunk_fields
from devmind.index.stored import Rows, rows_of
from devmind.parse import parse
from devmind.types import Chunk, Document, ParsedDocument, split_lines

# Part of a content's key: raise it when parsing, chunking or headers change, so that old content is built anew.
PIPELINE = "3"
BATCH_BYTES = 256_000


@dataclass(frozen=True, slots=True)
class Built:
    """One document ready to be stored. ``rows`` holds (`Rows`, fields of the chunks) by ``marshal``: a fifth of the
    time that ``pickle`` takes for as many small strings, and only processes of one interpreter read it.
    """

    document: Document  # without its text
    text: bytes
    n_lines: int
    lead: str
    has_errors: bool
    vectors: bytes
    rows: bytes

    def unpacked(self) -> tuple[Rows, list[ChunkFields]]:
        rows, fields = marshal.loads(self.rows)
        return rows, [ChunkFields(*row) for row in fields]


@cache
def load_embedder(name: str) -> Embedder:
    if name != "builtin":
        raise UsageError(f"unknown embedder '{name}': use builtin")
    return built_in()


def fingerprint(rules: ChunkRules, embedder: Embedder) -> str:
    """Return what, besides its text, decides how a document is stored."""
    return f"{PIPELINE}/{rules.strategy}/{rules.budget_tokens}/{embedder.name}"


def embed_chunks(embedder: Embedder, chunks: Sequence[Chunk]) -> bytes:
    texts = [ChunkText(name=c.qualified_name, header=c.header, body=c.content) for c in chunks]
    if not texts:
        return b""
    return np.asarray(embedder.embed_chunks(texts), np.float16).tobytes()


def build(document: Document, rules: ChunkRules, embedder: Embedder) -> Built:
    parsed = parse(document)
    embed_lines = None
    if rules.strategy == "semantic":

        def embed_lines(lines: Sequence[str]) -> np.ndarray:
            return np.asarray(embedder.embed_chunks([ChunkText(name="", header="", body=line) for line in lines]))

    chunks = chunk_document(document, parsed, rules, count_tokens_by_line=count_tokens_by_line, embed_lines=embed_lines)
    return finish(document, parsed, chunks, embedder)


def finish(document: Document, parsed: ParsedDocument, chunks: tuple[Chunk, ...], embedder: Embedder) -> Built:
    """Add to a chunked document what the recall index needs."""
    fields = [chunk_fields(chunk, parsed.symbols) for chunk in chunks]
    return Built(
        document=replace(document, text=""),
        text=zlib.compress(document.text.encode("utf-8", "surrogatepass"), 1),
        n_lines=len(split_lines(document.text)),
        lead=parsed.lead,
        has_errors=parsed.has_errors,
        vectors=embed_chunks(embedder, chunks),
        rows=marshal.dumps((rows_of(chunks, parsed, fields), [tuple(row) for row in fields])),
    )


def build_batch(documents: list[Document], rules: ChunkRules, embedder: str) -> list[Built]:
    return [build(document, rules, load_embedder(embedder)) for document in documents]


def batches(documents: Sequence[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document.text)
        if size >= BATCH_BYTES or len(batch) >= 200:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
