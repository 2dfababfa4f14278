"""Values → text for a person: highlighted snippets, links that editors open, tables, a progress bar.

What comes from a repository is untrusted: control characters in it are shown, never sent to the terminal.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.style import Style
from rich.table import Table
from rich.text import Text

from devmind.render.figures import counted, percent
from devmind.render.plain import safe
from devmind.types import Answer, Hit, SearchResult

SNIPPET_LINES = 8
WINDOW_GAIN = 2.0  # the head of a definition is worth seeing: other lines must share this much more with the query
QUERY_WORD = re.compile(r"[A-Za-z_]\w{2,}|[\u3400-\u9fff]{2}")
PLAIN_WIDTH = 100_000  # a pipe has no width: never wrap, never cut
LEXERS = {"tsx": "tsx", "vue": "html", "csharp": "csharp", "dockerfile": "docker", "restructuredtext": "rst"}
PLAIN_EVERY_S = 5.0


def console(*, stderr: bool = False) -> Console:
    """Return a console on the stream as it is now."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False, soft_wrap=True)


def short_commit(commit: str) -> str:
    """Return twelve digits of a commit, and the mark of a working tree that differs from it."""
    digits, dirty, _ = commit.partition("-dirty")
    return digits[:12] + dirty


class Links:
    """Turns places into links. ``roots`` maps repositories to folders on this machine."""

    def __init__(self, form: str, roots: Mapping[str, str]) -> None:
        self.form = form
        self.roots = roots

    def place(self, repo: str, path: str, *, start_line: int, end_line: int = 0, style: str = "cyan") -> Text:
        """Return ``path:start-end``, linked when the file is on this machine."""
        span = f"{start_line}-{end_line}" if end_line > start_line else str(start_line)
        root = self.roots.get(repo)
        link = (
            self.form.format(path=quote(str(Path(root, path)), errors="surrogateescape"), line=start_line)
            if root and self.form
            else None
        )
        return Text(f"{safe(path)}:{span}", style=Style.parse(style) + Style(link=link))


def show_search(
    out: Console,
    result: SearchResult,
    links: Links,
    *,
    explain: bool,
    full: bool,
    weights: Mapping[str, float] | None = None,
    weights_told: str = "",
    lines_told: Mapping[int, Sequence[int]] | None = None,
) -> None:
    """Print the hits, each with the lines that share most with the query, and say when they share no word with it.

    Args:
        lines_told: by rank of a hit, the lines of its file that the query tells: these are shown then.
        weights: of the features, shown with ``explain``; ``weights_told`` says where they come from.
    """
    for hit in result.hits:
        told = (lines_told or {}).get(hit.rank, ())
        show_hit(out, hit, links, query=result.query, told=told, full=full)
        if explain and hit.why:
            parts = "  ".join(f"{name}={value:.4g}" for name, value in sorted(hit.why.items()))
            out.print(Text(f"   why: {safe(parts)}", style="dim"))
        out.print()
    if result.hits and not any(hit.why.get("lexical", 1.0) for hit in result.hits):
        out.print(Text("No indexed code holds a word of the query; these hits are only near it in meaning.", "yellow"))
    if not result.hits:
        out.print(Text("Nothing found."))
        if result.nearest_names:
            out.print(Text("Nearest names: " + safe(", ".join(result.nearest_names))))
    if explain and weights:
        numbers = "  ".join(f"{name}={value:.4g}" for name, value in sorted(weights.items()))
        out.print(Text(f"weights, {safe(weights_told)}: {numbers}", style="dim"))
    show_warnings(out, result.warnings)
    if explain:
        for rewrite in result.rewrites:
            out.print(Text(f"also searched: {safe(rewrite)}", style="dim"))
        times = "  ".join(f"{name} {value:.1f} ms" for name, value in result.timings_ms.items())
        out.print(Text(f"confidence {result.confidence:.2f}  {times}", style="dim"))


def show_warnings(out: Console, warnings: Sequence[str]) -> None:
    """Say which optional stage failed, so that the result is one without it."""
    for warning in warnings:
        out.print(Text(f"Warning: {safe(warning)}", style="yellow"))


def show_hit(
    out: Console, hit: Hit, links: Links, *, query: str = "", told: Sequence[int] = (), full: bool = False
) -> None:
    first, last = hit.focus
    head = Text.assemble((f"{hit.rank}. ", "bold"))
    head.append_text(links.place(hit.repo, hit.path, start_line=first, end_line=last))
    if hit.symbol:
        head.append(f"  {safe(hit.symbol)}", style="bold")
    around = "" if hit.focus == (hit.start_line, hit.end_line) else f"in {hit.start_line}-{hit.end_line}"
    notes = [around, hit.kind, hit.repo, f"{hit.score:.3f}", "" if hit.fresh else "changed since indexed"]
    head.append("  " + "  ".join(safe(note) for note in notes if note), style="dim")
    out.print(head)
    snippet(out, hit if full else hit.focused(), query=query, told=told, n_lines=None if full else SNIPPET_LINES)
    if hit.also_at:
        out.print(Text("   also at " + safe(", ".join(hit.also_at)), style="dim"))


def snippet(out: Console, hit: Hit, *, query: str, told: Sequence[int], n_lines: int | None) -> None:
    """Print the lines of a hit, or ``n_lines`` of them: around the first one ``told``, or the most telling ones."""
    lines = [safe(line.rstrip("\r")) for line in hit.content.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    inside = [line - hit.start_line for line in told if hit.start_line <= line < hit.start_line + len(lines)]
    first = 0
    if n_lines:
        first = window_around(inside[0], len(lines), n_lines) if inside else telling_window(lines, query, n_lines)
    shown = lines[first : first + n_lines] if n_lines else lines
    numbers = [str(hit.start_line + first + at) for at in range(len(shown))]
    coloured = [Text(line) for line in shown]
    if out.is_terminal and shown:
        from rich.syntax import Syntax  # loads pygments, which a pipe does not need

        lexer = LEXERS.get(hit.language, hit.language) or "text"
        text = Syntax("", lexer, theme="ansi_dark", background_color="default").highlight("\n".join(shown))
        coloured = list(text.split("\n", allow_blank=True))
    for number, line in zip(numbers, coloured, strict=False):
        row = Text.assemble((f"   {number:>5} │ ", "dim"))
        row.append_text(line)
        out.print(row)
    n_hidden = len(lines) - len(shown)
    if n_hidden:
        out.print(Text(f"         … {counted(n_hidden, 'more line')} (-v shows all)", style="dim"))


def window_around(at: int, n: int, n_lines: int) -> int:
    """Return where the ``n_lines`` of ``n`` lines begin that have line ``at``, from 0, in their middle."""
    return max(0, min(at - n_lines // 2, n - n_lines))


def telling_window(lines: Sequence[str], query: str, n_lines: int) -> int:
    """Return where the ``n_lines`` lines begin that share most with the query; 0 unless others share much more.

    A word counts once in a window, and less the more lines hold it.
    """
    words = {word.lower() for word in QUERY_WORD.findall(query)}
    held = [{word for word in words if word in line.lower()} for line in lines]
    n_by_word = Counter(word for here in held for word in here)

    def score(first: int) -> float:
        return sum(1 / n_by_word[word] for word in sorted(set[str]().union(*held[first : first + n_lines])))

    def n_leading(first: int) -> int:
        return next(at for at, here in enumerate(held[first:]) if here)

    if len(lines) <= n_lines or not n_by_word:
        return 0
    last = max(at for at, here in enumerate(held) if here)
    starts = range(min(last, len(lines) - n_lines) + 1)
    best = max(starts, key=lambda first: (score(first), -abs(n_leading(first) - 1)))  # one line that leads to the word
    return best if score(best) >= WINDOW_GAIN * score(0) else 0


def show_answer(out: Console, answer: Answer, links: Links, *, full: bool) -> None:
    for line in answer.answer.split("\n"):
        quoted = re.match(r"\s+\d+ \| ", line)
        out.print(Text(safe(line), style="green" if quoted else ""))
    if answer.citations:
        out.print()
    for number, citation in enumerate(answer.citations, start=1):
        row = Text.assemble((f"[{number}] ", "bold"))
        row.append_text(
            links.place(citation.repo, citation.path, start_line=citation.start_line, end_line=citation.end_line)
        )
        commit = f" @ {short_commit(citation.commit)}" if citation.commit else ""
        notes = "  ".join(filter(None, (citation.symbol, citation.repo)))
        row.append(f"  {safe(notes)}{safe(commit)}", style="dim")
        out.print(row)
    show_warnings(out, answer.warnings)
    if full:
        for hit in answer.evidence:
            out.print()
            show_hit(out, hit, links, full=True)


def show_symbols(out: Console, rows: Sequence[Mapping[str, Any]], links: Links) -> None:
    """Print definitions as hits are printed: place and name, then what they say of themselves."""
    for row in rows:
        head = links.place(row["repo"], row["path"], start_line=row["start_line"], end_line=row["end_line"])
        head.append(f"  {safe(row['qualified_name'])}", style="bold")
        head.append(f"  {safe(row['kind'])}  {safe(row['repo'])}", style="dim")
        out.print(head)
        for text in (one_line(row["signature"]), " ".join(row["docstring"].strip().split("\n\n")[0].split())):
            if text:
                out.print(Text(f"    {safe(text)}"))


def one_line(signature: str) -> str:
    """Return a signature that was written over several lines without the blanks and commas that this left in it."""
    return re.sub(r"(?<=[(\[]) +| +(?=[)\]])|,(?= +[)\]])", "", signature)


def show_edges(out: Console, rows: Sequence[Mapping[str, Any]], links: Links) -> None:
    """Print relations as sentences: the place of the use, who uses what, where that is defined, how sure it is."""
    for row in rows:
        text = links.place(row["repo"], row["path"], start_line=row["line"])
        source = "" if row["source"] == row["path"] else f"{row['source']} "
        text.append(f"  {safe(source)}")
        text.append(f"{safe(row['kind'])} ", style="dim")
        text.append(safe(row["target"]))
        elsewhere = f"in {row['target_path']}" if row["target_path"] not in ("", row["path"]) else ""
        sure = "" if row["kind"] == "imports" else row["confidence"]
        notes = "  ".join(filter(None, (elsewhere, sure, row["repo"])))
        out.print(text.append(f"  {safe(notes)}", style="dim"))


def show_status(out: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the state of each repository in two lines."""
    for row in rows:
        commit = f" @ {short_commit(row['commit'])}" if row.get("commit") else ""
        notes = [counted(row["n_indexed"], "file"), counted(row.get("n_chunks", 0), "chunk")]
        if row.get("completeness", 1.0) < 1.0:
            notes.append(f"{percent(row['completeness'], 2)} complete")
        if "published_at" in row:
            notes.append(f"published {clock_time(row['published_at'])}")
        text = Text.assemble((safe(row["repo"]), "bold"))
        if row["generation"]:
            text.append(f"  generation {row['generation']}{safe(commit)}")
            text.append("  " + "  ".join(notes), style="dim")
        else:
            how = f"'devmind sync {safe(row['repo'])}' indexes it" if row["source"] else "import its file again"
            text.append(f"  not indexed yet; {how}", style="yellow")
        out.print(text)
        source = row["source"] or "imported from a file"
        out.print(Text(f"    {safe(source)}{safe(' at ' + row['ref']) if row['ref'] else ''}"))
    ranking = next((str(row["ranking"]) for row in rows if "ranking" in row), "shipped")
    if ranking != "shipped":
        out.print(Text(f"ranking weights: {safe(ranking)}", style="dim"))


def show_files(out: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print each file with what it was taken for, or why it was left out."""
    for row in rows:
        text = Text(safe(row["path"]), style="cyan")
        if row["status"] == "indexed":
            notes = [
                row["language"],
                row["role"],
                counted(row["n_lines"], "line"),
                row["detail"],
            ]
            text.append("  " + "  ".join(safe(note) for note in notes if note), style="default dim")
        else:
            text.append(f"  skipped, {row['reason']}: {safe(row['detail'])}", style="yellow")
        out.print(text)


def clock_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def show_rows(out: Console, rows: Sequence[Mapping[str, Any]], links: Links | None = None) -> None:
    """Print rows as a table; ``path`` and its line become one linked column."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    columns = [name for name in columns if not (name in ("line", "start_line", "end_line") and "path" in columns)]
    columns = [name for name in columns if any(row.get(name) not in (None, "", [], {}) for row in rows)]
    table = Table(box=None, pad_edge=False, header_style="bold dim", padding=(0, 2, 0, 0))
    for name in columns:
        numeric = all(isinstance(row.get(name), int | float) and not isinstance(row.get(name), bool) for row in rows)
        table.add_column(
            name.removeprefix("n_").replace("_", " "), justify="right" if numeric else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(_cell(row, name, links) for name in columns))
    out.print(table)


def _cell(row: Mapping[str, Any], name: str, links: Links | None) -> Text:
    value = row.get(name)
    line = row.get("start_line", row.get("line"))
    if name == "path" and isinstance(line, int):
        end_line = row.get("end_line")
        known = links or Links("", {})
        if not value:
            return Text(f"line {line}", style="dim")
        return known.place(
            str(row.get("repo", "")), str(value), start_line=line, end_line=end_line if isinstance(end_line, int) else 0
        )
    if name.startswith("n_") and isinstance(value, int):
        return Text(f"{value:,}")
    if isinstance(value, bool):
        return Text("yes" if value else "no", style="" if value else "yellow")
    if isinstance(value, float):
        is_time = name.endswith("_at") and value > 1e9
        return Text(clock_time(value) if is_time else f"{value:.4g}")
    if isinstance(value, Mapping):
        return Text(safe(", ".join(f"{key} {item}" for key, item in value.items())))
    if isinstance(value, list | tuple):
        return Text(safe(", ".join(map(str, value))))
    text = "" if value is None else str(value)
    return Text(safe(short_commit(text) if name == "commit" else text))


def show_report(out: Console, report: Mapping[str, Any]) -> None:
    """Print the final report of an ingest (its JSON shape); one line when nothing changed."""
    state = "indexed" if report["changed"] else "unchanged"
    title = Text.assemble((f"{safe(str(report['repo']))}: {state}, generation {report['generation']}", "bold"))
    if report["commit"]:
        title.append(f" @ {safe(short_commit(str(report['commit'])))}", style="dim")
    if not report["changed"]:
        out.print(
            title.append(
                f": {counted(report['n_indexed'], 'file')}, {counted(report['n_chunks'], 'chunk')}", style="dim"
            )
        )
        return
    out.print(title)
    seconds, n_bytes = float(report["seconds"]), int(report["bytes_indexed"])
    rate = f" ({n_bytes / seconds / 1e6:.1f} MB/s)" if seconds > 0 and n_bytes else ""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name, value in (
        ("files", f"{report['n_files']:,}: {report['n_indexed']:,} indexed" + _reused(report["n_reused"])),
        ("by language", _counts(report["files_by_language"])),
        ("skipped", _counts(report["skips_by_reason"])),
        ("completeness", percent(float(report["completeness"]), 2)),
        ("chunks", f"{report['n_chunks']:,}"),
        ("symbols", f"{report['n_symbols']:,}"),
        ("edges", f"{report['n_edges']:,}"),
        ("time", f"{seconds:.1f} s{rate}"),
    ):
        if value:
            table.add_row(Text(name, style="dim"), Text(safe(value)))
    out.print(table)
    if not report["n_indexed"]:
        out.print(Text(f"No file was indexed; 'devmind files {safe(str(report['repo']))}' says why.", style="yellow"))


def _reused(n_reused: int) -> str:
    return f", {n_reused:,} of them from content known already" if n_reused else ""


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ordered)


class ProgressBar:
    """A bar on standard error with rate and time left; in a pipe, a line at each phase and every five seconds."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.out = console(stderr=True)
        self.bar: Progress | None = None
        self.last = ("", 0.0)

    def __enter__(self) -> ProgressBar:
        if not self.quiet and self.out.is_terminal:
            self.bar = Progress(
                TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"),
                console=self.out, transient=True,
            )  # fmt: skip
            self.bar.start()
            self.bar.add_task("starting", total=None, note="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def update(
        self,
        label: str,
        phase: str,
        *,
        done: int,
        total: int,
        elapsed_s: float,
        bytes_done: int = 0,
        bytes_total: int = 0,
        done_before: int = 0,
        note: str = "",
    ) -> None:
        """Show that ``done`` of ``total`` steps are over; bytes, where known, give the rate and the time left.

        ``done_before`` of the steps were over when the clock began: they say nothing of the rate.
        """
        if self.quiet:
            return
        finished, whole = (bytes_done, bytes_total) if bytes_total else (done, total)
        rate = max(0, finished - done_before) / elapsed_s if elapsed_s > 0 else 0.0
        notes = [f"{done:,}/{total:,}" if total else f"{done:,}" if done else ""]
        if rate and bytes_total:
            notes.append(f"{rate / 1e6:.1f} MB/s")
        elif rate:
            notes.append(f"{rate:,.0f}/s")
        if rate and whole > finished:
            notes.append(f"{_duration((whole - finished) / rate)} left")
        note = "  ".join(filter(None, [*notes, safe(note)]))
        if self.bar is not None:
            self.bar.update(
                self.bar.task_ids[0],
                description=f"{safe(label)} {phase}",
                total=whole or None,
                completed=finished,
                note=note,
            )
        elif phase != self.last[0] or elapsed_s - self.last[1] >= PLAIN_EVERY_S:
            self.last = (phase, elapsed_s)
            self.out.print(Text(f"{safe(label)} {phase} {note}".rstrip()))


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
