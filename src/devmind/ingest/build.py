"""Document → everything the index stores of it. Pure work for one core; must not touch the store."""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from devmind.chunk import ChunkRules, chunk_document
from devmind.embed.tokenizer import count_tokens_by_line
from devmind.embed.types import ChunkText, Embedder
from devmind.index.catalog import MAX_CHUNKS
from devmind.index.fields import ChunkFields, chunk_fields
from devmind.index.postings import packed
from devmind.index.stored import Rows, rows_of
from devmind.index.uses import names_of
from devmind.parse import parse
from devmind.types import Chunk, Document, ParsedDocument, Skipped, split_lines

# Part of a content's key: raise it when parsing, chunking or headers change, so that old content is built anew.
PIPELINE = "5"
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
    terms: bytes  # of the whole file (`postings.packed`)
    defines: bytes  # names (`uses.names_of`)
    uses: bytes
    rows: bytes

    def unpacked(self) -> tuple[Rows, list[ChunkFields]]:
        rows, fields = marshal.loads(self.rows)
        return rows, [ChunkFields(*row) for row in fields]


def fingerprint(rules: ChunkRules, embedder: Embedder) -> str:
    """Return what, besides its text, decides how a document is stored."""
    return f"{PIPELINE}/{rules.strategy}/{rules.budget_tokens}/{embedder.name}"


def build_batch(documents: Sequence[Document], rules: ChunkRules, embedder: Embedder) -> list[Built | Skipped]:
    """Parse, chunk and embed; the chunks of all documents go to the model together, which a remote one is glad of.

    A document of more chunks than can be told apart comes back as a skip.
    """
    skips: list[Built | Skipped] = []
    whole: list[tuple[Document, ParsedDocument, Sequence[Chunk]]] = []
    for document in documents:
        parsed = parse(document)
        chunks = cut(document, parsed, rules, embedder)
        if len(chunks) > MAX_CHUNKS:
            detail = f"{len(chunks)} chunks, the limit is {MAX_CHUNKS}"
            skips.append(Skipped(document.path, "too_many_chunks", detail, document.size_bytes))
        else:
            whole.append((document, parsed, chunks))
    return [*finish(whole, embedder), *skips]


def cut(document: Document, parsed: ParsedDocument, rules: ChunkRules, embedder: Embedder) -> tuple[Chunk, ...]:
    embed_lines = None
    if rules.strategy == "semantic":

        def embed_lines(lines: Sequence[str]) -> np.ndarray:
            return np.asarray(embedder.embed_chunks([ChunkText(name="", header="", body=line) for line in lines]))

    return chunk_document(document, parsed, rules, count_tokens_by_line=count_tokens_by_line, embed_lines=embed_lines)


def finish(documents: Sequence[tuple[Document, ParsedDocument, Sequence[Chunk]]], embedder: Embedder) -> list[Built]:
    """Add to documents, each with its structure and chunks, what the recall index needs."""
    texts = [ChunkText(c.qualified_name, c.header, c.content) for _, _, chunks in documents for c in chunks]
    vectors = np.asarray(embedder.embed_chunks(texts), np.float16)
    ends = accumulate(len(chunks) for _, _, chunks in documents)
    return [
        _built(document, structure, chunks, vectors[end - len(chunks) : end].tobytes())
        for (document, structure, chunks), end in zip(documents, ends, strict=True)
    ]


def _built(document: Document, parsed: ParsedDocument, chunks: Sequence[Chunk], vectors: bytes) -> Built:
    fields = [chunk_fields(chunk, parsed.symbols) for chunk in chunks]
    defines, uses = names_of(parsed)
    return Built(
        document=replace(document, text=""),
        text=zlib.compress(document.text.encode("utf-8", "surrogatepass"), 1),
        n_lines=len(split_lines(document.text)),
        lead=parsed.lead,
        has_errors=parsed.has_errors,
        vectors=vectors,
        terms=packed(row.body for row in fields),
        defines=defines,
        uses=uses,
        rows=marshal.dumps((rows_of(chunks, parsed, fields), [tuple(row) for row in fields])),
    )


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
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
