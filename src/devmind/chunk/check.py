"""What must hold for the chunks of any document, as a function that tests and benchmarks share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from devmind.chunk.header import name_line
from devmind.chunk.rules import DEFINITION_KINDS, ChunkRules
from devmind.types import Chunk, Document, ParsedDocument, split_lines

Count = Callable[[Sequence[str]], list[int]]


def violations(
    document: Document, parsed: ParsedDocument, chunks: Sequence[Chunk], rules: ChunkRules, count: Count
) -> list[str]:
    """Return one sentence for each rule that a chunk breaks; an empty list means that all hold.

    A definition whose span crosses another's (begins inside it and ends outside, or the reverse) need not be whole.
    """
    lines = split_lines(document.text)
    prefix = [0]
    for n in count(lines) if lines else []:
        prefix.append(prefix[-1] + n)
    found = _shape(lines, prefix, chunks, rules, count)
    if rules.strategy in ("layered", "syntax"):
        if not any(s.kind == "heading" for s in parsed.symbols):
            found += _whole(len(lines), prefix, parsed, chunks, rules, count)
        found += _overlap(prefix, chunks, rules, count)
    return found


def _shape(lines: list[str], prefix: list[int], chunks: Sequence[Chunk], rules: ChunkRules, count: Count) -> list[str]:
    found: list[str] = []
    covered = bytearray(len(lines) + 1)
    last = 0
    for i, chunk in enumerate(chunks):
        where = f"chunk {i} ({chunk.start_line}-{chunk.end_line})"
        if not 1 <= chunk.start_line <= chunk.end_line <= len(lines):
            found.append(f"{where}: outside the document of {len(lines)} lines")
            continue
        if chunk.start_line <= last:
            found.append(f"{where}: does not start after the chunk before")
        last = chunk.start_line
        span = slice(chunk.start_line - 1, chunk.end_line)
        if chunk.content != "\n".join(lines[span]):
            found.append(f"{where}: content differs from the lines")
        covered[chunk.start_line : chunk.end_line + 1] = b"\1" * (chunk.end_line - chunk.start_line + 1)
        size = prefix[chunk.end_line] - prefix[chunk.start_line - 1]
        header = sum(count(chunk.header.split("\n"))) if chunk.header else 0
        if chunk.n_tokens != size + header:
            found.append(f"{where}: n_tokens is {chunk.n_tokens}, counted {size + header}")
        single = chunk.start_line == chunk.end_line and size > rules.budget_tokens
        if size + header > rules.budget_tokens and not single:
            found.append(f"{where}: {size + header} tokens over the budget of {rules.budget_tokens}")
        if single != (chunk.node_type == "long_line"):
            found.append(f"{where}: node_type {chunk.node_type} of a line of {size} tokens")
        if not -1 <= chunk.parent < i:
            found.append(f"{where}: parent {chunk.parent} is not an earlier chunk")
    found += [f"line {i}: in no chunk" for i, line in enumerate(lines, 1) if line.strip() and not covered[i]]
    seen = [symbol for chunk in chunks for symbol in chunk.symbols]
    if len(seen) != len(set(seen)):
        found.append("a symbol is in two chunks")
    return found


def _whole(
    n_lines: int, prefix: list[int], parsed: ParsedDocument, chunks: Sequence[Chunk], rules: ChunkRules, count: Count
) -> list[str]:
    spans = sorted(
        (max(s.start_line, 1), -min(s.end_line, n_lines), i)
        for i, s in enumerate(parsed.symbols)
        if (s.kind in DEFINITION_KINDS or s.kind in ("namespace", "module"))
    )
    spans = [span for span in spans if span[0] <= -span[1]]
    crossing: set[int] = set()
    open_spans: list[tuple[int, int]] = []
    for start, negative_end, index in spans:
        open_spans = [(e, i) for e, i in open_spans if e >= start]
        for end, other in open_spans:
            if end < -negative_end:
                crossing |= {index, other}
        open_spans.append((-negative_end, index))
    found: list[str] = []
    # The chunk that reaches farthest among those that start at or before a line holds any span that some chunk holds.
    reach = [0] * (n_lines + 2)
    for chunk in chunks:
        reach[chunk.start_line] = max(reach[chunk.start_line], chunk.end_line)
    for line in range(1, n_lines + 1):
        reach[line] = max(reach[line], reach[line - 1])
    lines_blank_end = _last_filled(n_lines, parsed, chunks)
    for start, negative_end, index in spans:
        symbol = parsed.symbols[index]
        if index in crossing or symbol.kind not in DEFINITION_KINDS:
            continue
        first, last = lines_blank_end(start, -negative_end)
        if first > last:
            continue
        header = count([name_line(symbol)])[0]
        if header > rules.budget_tokens // 3:
            header = 0
        size = prefix[-negative_end] - prefix[start - 1]
        if size + header <= rules.budget_tokens and reach[first] < last:
            found.append(f"{symbol.kind} {symbol.name} ({start}-{-negative_end}): cut though it has {size} tokens")
    return found


def _last_filled(
    n_lines: int, parsed: ParsedDocument, chunks: Sequence[Chunk]
) -> Callable[[int, int], tuple[int, int]]:
    """Return a function that trims a span to the lines that some chunk holds (blank lines need not be in any)."""
    held = bytearray(n_lines + 2)
    for chunk in chunks:
        held[chunk.start_line : chunk.end_line + 1] = b"\1" * (chunk.end_line - chunk.start_line + 1)

    def trim(start: int, end: int) -> tuple[int, int]:
        while start <= end and not held[start]:
            start += 1
        while end > start and not held[end]:
            end -= 1
        return start, end

    return trim


def _overlap(prefix: list[int], chunks: Sequence[Chunk], rules: ChunkRules, count: Count) -> list[str]:
    found: list[str] = []
    for i in range(1, len(chunks)):
        before, after = chunks[i - 1], chunks[i]
        same = after.parent == i - 1 or (after.parent == before.parent and before.node_type == "part")
        if after.node_type != "part" or not same:
            continue
        shared = prefix[before.end_line] - prefix[min(after.start_line - 1, before.end_line)]
        if shared >= rules.overlap_tokens:
            continue
        start = before.end_line
        while start > before.start_line and prefix[before.end_line] - prefix[start - 1] < rules.overlap_tokens:
            start -= 1
        names = [c.header.split("\n")[0] for c in (chunks[after.parent], before, after) if c.header]
        header = max([sum(count(after.header.split("\n"))) if after.header else 0, *count(names)])
        room = rules.budget_tokens - header
        if start > before.start_line and prefix[after.end_line] - prefix[start - 1] <= room:
            found.append(f"chunk {i} ({after.start_line}-{after.end_line}): shares only {shared} tokens")
    return found
