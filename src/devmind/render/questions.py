"""What ``devmind eval review`` shows of a topic, so that a person can decide: question, answer, where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from devmind.render.plain import safe

_SHOWN_LINES = 12  # of each answer, with ``full``
_SHOWN_KEYS = (
    "symbol",
    "chain",
    "subject",
    "sentence",
    "what",
    "near",
    "absent_exact",
    "absent_stemmed",
    "paraphrase_of",
)


def show_question(out: Console, topic: Mapping[str, Any], *, full: bool) -> None:
    """Print a topic; ``full`` adds the first lines of each answer and what the question was made of."""
    labels = topic.get("labels", {})
    tags = [topic.get("category", ""), *(str(labels[key]) for key in ("difficulty", "leak") if labels.get(key))]
    out.print(
        Text.assemble((safe(topic["topic_id"]), "bold cyan"), ("  " + safe(", ".join(filter(None, tags))), "dim"))
    )
    out.print(Text("  " + safe(topic["query"]), style="bold"))
    for truth in topic.get("truths", ()):
        lines = f":{truth['start_line']}-{truth['end_line']}" if truth.get("start_line") else ""
        role = f"  {truth['role']}" if truth.get("role") else ""
        out.print(Text(safe(f"  {truth['file']}{lines}  {truth.get('symbol', '')}{role}"), style="cyan"))
        if full:
            _show_lines(out, str(truth.get("text", "")))
    if not topic.get("truths"):
        out.print(Text("  nothing answers it", style="yellow"))
    if full:
        provenance = topic.get("provenance", {})
        for key in _SHOWN_KEYS:
            if provenance.get(key):
                out.print(Text(safe(f"  {key.replace('_', ' ')}: {provenance[key]}"), style="dim"))


def _show_lines(out: Console, text: str) -> None:
    lines = text.split("\n")
    for line in lines[:_SHOWN_LINES]:
        out.print(Text("    " + safe(line)), soft_wrap=True)
    if len(lines) > _SHOWN_LINES:
        out.print(Text(f"    … {len(lines) - _SHOWN_LINES} more lines", style="dim"))
