"""The rules of chunking on every benchmark repository: the sentences of ``chunk/check.py`` about what is broken."""

from __future__ import annotations

from collections import Counter

from bench.corpora import repositories
from devmind.chunk import ChunkRules, chunk_document
from devmind.chunk.check import violations
from devmind.embed.tokenizer import count_tokens_by_line
from devmind.parse import parse
from devmind.scan import ScanRules, open_source, scan
from devmind.types import Document

SHOWN = 20


def run() -> None:
    rules = ChunkRules()
    found: list[str] = []
    n_files = n_chunks = n_definitions = 0
    languages: Counter[str] = Counter()
    for folder in repositories():
        source = open_source(str(folder), ref=None, mirror_dir=folder)
        for document in scan(source, ScanRules(exclude=(".bench-ok",))):
            if not isinstance(document, Document):
                continue
            parsed = parse(document)
            chunks = chunk_document(document, parsed, rules, count_tokens_by_line=count_tokens_by_line)
            broken = violations(document, parsed, chunks, rules, count_tokens_by_line)
            found += [f"{folder.name}/{document.path}: {sentence}" for sentence in broken]
            languages[document.language] += bool(broken)
            n_files, n_chunks = n_files + 1, n_chunks + len(chunks)
            n_definitions += len(parsed.symbols)
    print(f"{n_files} files, {n_chunks} chunks, {n_definitions} symbols: {len(found)} rules broken")
    for sentence in found[:SHOWN]:
        print(f"  {sentence}")
