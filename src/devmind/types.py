"""The values that every stage speaks: documents, symbols, references, chunks, hits, answers.

Nothing here does I/O. Lines are 1-based and inclusive everywhere; a line ends at ``\\n`` and nowhere else, so a
carriage return, a form feed or U+2028 stays inside its line and never shifts a number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Role = Literal["source", "test", "docs", "config", "generated", "vendored"]
EdgeKind = Literal[
    "contains", "calls", "imports", "inherits", "implements", "references", "requests", "handles", "documents", "tests"
]
Confidence = Literal["exact", "scoped", "guess"]
SymbolKind = Literal[
    "class", "method", "function", "constant", "variable", "field", "property", "enum", "enum_member", "interface",
    "struct", "union", "trait", "protocol", "type", "macro", "module", "namespace", "object", "route", "heading", "key",
    "element", "selector", "table", "view", "target", "message", "service", "rpc", "stage",
]  # fmt: skip
Visibility = Literal["public", "private"]
# Why a file is not indexed: a rule leaves it out, or trouble kept it out and the index is less complete for it.
SkipByRule = Literal[
    "ignored", "excluded", "binary", "too_large", "too_many_chunks", "minified", "generated", "vendored", "secret",
    "symlink", "symlink_outside", "symlink_loop", "symlink_broken", "empty", "not_regular", "submodule",
]  # fmt: skip
SkipByTrouble = Literal["unreadable", "undecodable", "vanished", "lfs_pointer"]
SkipReason = SkipByRule | SkipByTrouble


CUT = "…"  # ends the ``qualifier`` of a reference of which the rest is not kept


def split_lines(text: str) -> list[str]:
    """Return the lines of ``text`` without their ``\\n``; a final ``\\n`` opens no further line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def stable_id(*parts: str | int) -> str:
    """Return 16 hexadecimal digits that depend on ``parts`` alone (BLAKE2b)."""
    joined = "\0".join(map(str, parts))
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Document:
    """One file at one version, decoded, with secrets masked. ``text`` is what is stored, indexed and cited."""

    path: str
    text: str
    language: str
    role: Role
    content_hash: str
    encoding: str
    size_bytes: int
    last_modified: float | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not indexed, and why. ``reason`` is a stable code, ``detail`` a sentence for a person."""

    path: str
    reason: SkipReason
    detail: str = ""
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition. ``start_line`` includes decorators; ``doc_line`` is the leading comment's, or the same."""

    name: str
    qualified_name: str
    kind: SymbolKind
    start_line: int
    end_line: int
    doc_line: int
    signature: str = ""
    docstring: str = ""
    visibility: Visibility = "public"
    parent: int = -1  # index of the enclosing symbol in the same document, or -1


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name. ``scope`` is the index of the enclosing symbol or -1; ``qualifier`` stands before the dot;
    one of several lines, or a long one, is cut after its first and ends in ``CUT``.

    For ``imports``: ``name`` is the imported name (``*`` or the module's last part for a whole module), ``qualifier``
    the module or path as written, ``alias`` the local name if it differs.
    """

    name: str
    kind: EdgeKind
    line: int
    scope: int = -1
    qualifier: str = ""
    alias: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The structure of one document. ``cuts``: (line, depth) where a logical block begins."""

    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    cuts: tuple[tuple[int, int], ...] = ()
    lead: str = ""  # the file's first comment or docstring, without comment marks
    has_errors: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """The retrieved unit: exactly the lines ``start_line..end_line``, and a header that gives them context.

    ``header`` holds qualified name, signature, docstring or leading comment, and called names (not the path, which
    depends on where the content lies). ``symbols`` are the indexes of the symbols defined here.
    """

    start_line: int
    end_line: int
    content: str
    header: str
    n_tokens: int
    symbols: tuple[int, ...] = ()
    function_name: str = ""
    class_name: str = ""
    qualified_name: str = ""
    node_type: str = ""
    parent: int = -1  # index of the parent chunk (enclosing class, or first piece of a split function), or -1


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search may return; empty means no restriction. ``paths`` are globs."""

    repos: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Hit:
    """Lines with their rank. ``why`` maps the names of legs, features and boosts to numbers.

    ``focus`` are the first and last line of the definition that the hit was found by; ``symbol``, ``kind``, ``header``
    and ``chunk_id`` tell of it. ``content`` are the lines ``start_line..end_line``: the focus, and what stands around.
    """

    rank: int
    score: float
    repo: str
    path: str
    start_line: int
    end_line: int
    language: str
    symbol: str
    kind: str
    role: str
    content: str
    header: str
    commit: str
    generation: int
    chunk_id: str
    focus: tuple[int, int]
    fresh: bool = True
    also_at: tuple[str, ...] = ()
    why: Mapping[str, float] = field(default_factory=dict)

    def focused(self) -> Hit:
        """Return the hit with the lines of its focus alone."""
        first, last = self.focus
        if (first, last) == (self.start_line, self.end_line):
            return self
        own = self.content.split("\n")[first - self.start_line : last - self.start_line + 1]
        return replace(self, start_line=first, end_line=last, content="\n".join(own))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits in rank order; ``confidence`` in 0..1 is the evidence that the first hits answer the query.

    ``warnings`` say which optional stage failed, so that the hits are those of a search without it; ``rewrites`` are
    the other wordings that were searched, too; ``spent`` counts the calls of models and the tokens that they told.
    """

    query: str
    hits: tuple[Hit, ...]
    confidence: float
    generations: Mapping[str, int]
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    nearest_names: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    rewrites: tuple[str, ...] = ()
    spent: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Citation:
    """A span at a commit that a reader can open. ``verified`` means: path, symbol and lines resolve in the index."""

    repo: str
    path: str
    symbol: str
    start_line: int
    end_line: int
    commit: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Answer:
    question: str
    answer: str
    citations: tuple[Citation, ...]
    abstained: bool
    reason: str
    evidence: Sequence[Hit]
    generator: str
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # of the search for the evidence
