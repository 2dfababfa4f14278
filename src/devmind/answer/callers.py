"""A question that asks who uses a name, and the edges that lead to it → an answer that lists the uses, each cited.

A search finds what a name is and what shares words with it, seldom who calls it; the relations know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from devmind.answer.question import CJK
from devmind.answer.verify import Lines, format_citation, verify
from devmind.types import Answer, Citation, SearchResult

MAX_CALLERS = 8  # more is a list for `devmind graph callers`, not an answer
MAX_EVIDENCE = 5
GENERATOR = "callers"
SURENESS = {"exact": 0, "scoped": 1, "guess": 2}


def no_calls(question: str, name: str) -> str:
    """Return what leads an answer about a name that is defined and never called."""
    if CJK.search(question):
        return f"已索引的代码中没有对 `{name}` 的调用。与它有关的内容:"
    return f"No call of `{name}` is indexed. What is known of it:"


def compose_callers(
    question: str,
    name: str,
    edges: Sequence[Mapping[str, Any]],
    *,
    result: SearchResult,
    commits: Mapping[str, str],
    sources: Lines,
) -> Answer | None:
    """Answer with the places that call ``name``; None when no place can be confirmed in the indexed files.

    Args:
        edges: as ``Service.graph`` returns them, each with the ``role`` of its file.
        commits: of each repository, at the generation that ``result`` was found in.
    """
    first_of_caller: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for edge in sorted(edges, key=lambda e: (e["role"] != "source", SURENESS[e["confidence"]])):
        first_of_caller.setdefault((edge["repo"], edge["path"], edge["source"]), edge)
    shown = list(first_of_caller.values())[:MAX_CALLERS]
    drafts = [
        Citation(
            edge["repo"],
            edge["path"],
            "" if edge["source"] == edge["path"] else edge["source"],
            edge["line"],
            edge["line"],
            commits.get(edge["repo"], ""),
            verified=False,
        )
        for edge in shown
    ]
    verdicts = verify(drafts, generations=result.generations, sources=sources)
    confirmed = [(edge, v.resolved) for edge, v in zip(shown, verdicts, strict=True) if v.resolved is not None]
    if not confirmed:
        return None
    chinese = CJK.search(question) is not None
    places = [_place(edge, citation, result, sources, chinese=chinese) for edge, citation in confirmed]
    parts = [f"调用 `{name}` 的位置如下:" if chinese else f"`{name}` is called here:", *places]
    n_more = len(first_of_caller) - len(confirmed)
    if n_more:
        full = f"`devmind graph callers {name}`"
        parts.append(
            f"还有 {n_more} 处调用者;{full} 列出全部。"
            if chinese
            else f"{n_more} more caller{'s' * (n_more > 1)}: {full} lists all."
        )
    return Answer(
        question=question,
        answer="\n\n".join(parts),
        citations=tuple(citation for _, citation in confirmed),
        abstained=False,
        reason="",
        evidence=result.hits[:MAX_EVIDENCE],
        generator=GENERATOR,
        timings_ms=result.timings_ms,
    )


def _place(edge: Mapping[str, Any], citation: Citation, result: SearchResult, sources: Lines, *, chinese: bool) -> str:
    lines = sources.lines(citation.repo, citation.path, result.generations[citation.repo]) or []
    unsure = edge["confidence"] == "guess"
    note = ("(按名称推测)" if chinese else " (by its name only)") if unsure else ""
    return (
        f"`{edge['source']}`{note}\n{'位于' if chinese else 'at'} {format_citation(citation)}\n"
        f"  {edge['line']:>5} | {lines[edge['line'] - 1].rstrip()}"
    )
