"""The commands that read published generations: search, ask, symbol, graph, status, files and the like."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from devmind.cli.app import Session, app, emit, session_of
from devmind.errors import UsageError
from devmind.render.plain import batch_hit, to_json
from devmind.types import Filters

if TYPE_CHECKING:
    from devmind.render.terminal import Links
    from devmind.service import Service

Repos = Annotated[list[str] | None, typer.Option("--repo", help="Only this repository (may be repeated).")]
Paths = Annotated[list[str] | None, typer.Option("--path", metavar="GLOB", help="Only paths that match.")]
Langs = Annotated[list[str] | None, typer.Option("--lang", help="Only this language.")]
Kinds = Annotated[list[str] | None, typer.Option("--kind", help="Only this kind of symbol (function, class, …).")]
Roles = Annotated[
    list[str] | None, typer.Option("--role", help="Only this role: source, test, docs, config, generated, vendored.")
]
Batch = Annotated[
    str | None, typer.Option("--batch", metavar="FILE", help='Lines {"id","query","repo"?}; "-" reads standard input.')
]
OneRepo = Annotated[str | None, typer.Option("--repo", help="Only this repository.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="At most this many rows.")]
STATUS_COLUMNS = (
    "repo",
    "source",
    "ref",
    "generation",
    "commit",
    "n_indexed",
    "n_chunks",
    "completeness",
    "published_at",
)
DIRECTIONS = ("callers", "callees", "imports", "inherits", "path")


@contextmanager
def _service(session: Session) -> Iterator[Service]:
    settings = session.settings()  # first: a bad setting is told without loading anything
    from devmind.service import Service  # the engines behind it load only when a command needs them

    with Service(settings) as service:
        yield service


def _links(session: Session, service: Service) -> Links:
    """Return the linker; folders are looked up only when a terminal can show links."""
    from devmind.render.terminal import Links

    roots: dict[str, str] = {}
    if sys.stdout.isatty():
        for row in service.status():
            source = str(row.get("source", ""))
            if source and Path(source).is_dir():
                roots[str(row.get("repo", row.get("name", "")))] = source
    return Links(session.settings().links, roots)


def _finish(found: bool) -> None:
    if not found:
        raise typer.Exit(1)


@app.command()
def search(
    ctx: typer.Context,
    query: Annotated[str | None, typer.Argument(help="Words, names or a question, in English or Chinese.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many hits.")] = 10,
    repo: Repos = None,
    path: Paths = None,
    lang: Langs = None,
    kind: Kinds = None,
    role: Roles = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show why each hit has its rank.")] = False,
    batch: Batch = None,
) -> None:
    """Find code: the best chunks for QUERY."""
    session = session_of(ctx)
    filters = _filters(repo, path, lang, kind, role)
    if batch is not None:
        _refuse_both(query)

        def answer_line(service: Service, topic: Mapping[str, Any], chosen: Filters) -> tuple[dict[str, Any], bool]:
            result = service.search(topic["query"], k=k, filters=chosen)
            hits = [batch_hit(hit) for hit in result.hits]
            return {"id": topic["id"], "hits": hits, "confidence": result.confidence}, bool(hits)

        _run_batch(session, batch, filters, answer_line)
        return
    text = _required(query, "QUERY")
    with _service(session) as service:
        result = service.search(text, k=k, filters=filters)
        if session.json:
            emit(result)
        else:
            from devmind.render.terminal import console, show_search

            show_search(console(), result, _links(session, service), explain=explain, full=session.verbose)
    _finish(bool(result.hits))


@app.command()
def ask(
    ctx: typer.Context,
    question: Annotated[str | None, typer.Argument(help="A question, in English or Chinese.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many pieces of evidence to look at.")] = 5,
    repo: Repos = None,
    path: Paths = None,
    lang: Langs = None,
    kind: Kinds = None,
    role: Roles = None,
    batch: Batch = None,
) -> None:
    """Answer QUESTION from the indexed code, with citations that were checked."""
    session = session_of(ctx)
    filters = _filters(repo, path, lang, kind, role)
    if batch is not None:
        _refuse_both(question)

        def answer_line(service: Service, topic: Mapping[str, Any], chosen: Filters) -> tuple[dict[str, Any], bool]:
            reply = service.ask(topic["query"], k=k, filters=chosen)
            confidence = service.search(topic["query"], k=k, filters=chosen).confidence  # cached by the call above
            line = {
                "id": topic["id"],
                **to_json(reply),
                "confidence": confidence,
                "abstain": reply.abstained,
                "hits": [batch_hit(hit) for hit in reply.evidence],
            }
            return line, not reply.abstained

        _run_batch(session, batch, filters, answer_line)
        return
    text = _required(question, "QUESTION")
    with _service(session) as service:
        reply = service.ask(text, k=k, filters=filters)
        if session.json:
            emit(reply)
        else:
            from devmind.render.terminal import console, show_answer

            show_answer(console(), reply, _links(session, service), full=session.verbose)
    _finish(not reply.abstained)


@app.command()
def symbol(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Name or qualified name.")],
    repo: OneRepo = None,
    limit: Limit = 50,
) -> None:
    """List the definitions of NAME."""
    _rows(session_of(ctx), lambda service: service.symbols(name, repo=repo, limit=limit))


@app.command()
def graph(
    ctx: typer.Context,
    direction: Annotated[str, typer.Argument(help="callers, callees, imports, inherits or path.")],
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="One name; two for path.")],
    repo: OneRepo = None,
    limit: Limit = 100,
) -> None:
    """Follow the relations of NAME, or the path from one name to another."""
    if direction not in DIRECTIONS:
        raise UsageError(f"unknown direction {direction!r}; choose one of {', '.join(DIRECTIONS)}")
    wanted = 2 if direction == "path" else 1
    if len(names) != wanted:
        raise UsageError(f"graph {direction} takes {wanted} name{'s' * (wanted - 1)}, got {len(names)}")
    if direction == "path":
        _rows(session_of(ctx), lambda service: service.graph_path(names[0], names[1], repo=repo))
    else:
        _rows(session_of(ctx), lambda service: service.graph(direction, names[0], repo=repo, limit=limit))


@app.command()
def status(
    ctx: typer.Context, repo: Annotated[str | None, typer.Argument(help="Only this repository.")] = None
) -> None:
    """Show the repositories and their published generations."""
    _rows(session_of(ctx), lambda service: service.status(repo), only=STATUS_COLUMNS)


@app.command()
def files(
    ctx: typer.Context,
    repo: Annotated[str, typer.Argument(help="Name of the repository.")],
    skipped: Annotated[bool, typer.Option("--skipped", help="Only the files that are not indexed.")] = False,
) -> None:
    """List each file of REPO and why it is, or is not, indexed."""
    _rows(session_of(ctx), lambda service: service.files(repo, skipped=skipped))


@app.command()
def generations(ctx: typer.Context, repo: Annotated[str, typer.Argument(help="Name of the repository.")]) -> None:
    """List the kept generations of REPO."""
    _rows(session_of(ctx), lambda service: service.generations(repo))


@app.command()
def doctor(ctx: typer.Context) -> None:
    """Check the knowledge base and this installation."""
    session = session_of(ctx)
    rows = _rows(session, lambda service: service.doctor())
    _finish(all(row.get("ok") for row in rows))


@app.command()
def export(
    ctx: typer.Context,
    repo: Annotated[str | None, typer.Argument(help="Only this repository.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.")] = None,
) -> None:
    """Write the documents with chunks, symbols and edges as JSON Lines."""
    n_documents = 0
    with _service(session_of(ctx)) as service:
        if output is None:
            for document in service.export(repo):
                emit(document)
                n_documents += 1
        else:
            try:
                with output.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                    for document in service.export(repo):
                        file.write(json.dumps(document, ensure_ascii=False) + "\n")
                        n_documents += 1
            except OSError as error:
                raise UsageError(f"cannot write {output}: {error.strerror}; choose another --output") from error
    _finish(n_documents > 0)


def _rows(
    session: Session, query: Callable[[Service], list[dict[str, Any]]], *, only: Sequence[str] = ()
) -> list[dict[str, Any]]:
    with _service(session) as service:
        rows = query(service)
        if session.json:
            emit(rows)
        else:
            from devmind.render.terminal import console, show_rows

            if rows:
                show_rows(console(), rows, _links(session, service), only=only)
            else:
                print("Nothing found.")
    _finish(bool(rows))
    return rows


def _filters(
    repo: Sequence[str] | None,
    path: Sequence[str] | None,
    lang: Sequence[str] | None,
    kind: Sequence[str] | None,
    role: Sequence[str] | None,
) -> Filters:
    globs = tuple(glob.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for glob in path or ())
    return Filters(tuple(repo or ()), globs, tuple(lang or ()), tuple(kind or ()), tuple(role or ()))


def _required(text: str | None, name: str) -> str:
    if text is None or not text.strip():
        raise UsageError(f"{name} is missing or empty; give it as one quoted argument, or use --batch FILE")
    return text


def _refuse_both(text: str | None) -> None:
    if text is not None:
        raise UsageError("give either one query or --batch FILE, not both")


def _run_batch(
    session: Session,
    source: str,
    filters: Filters,
    answer_line: Callable[[Service, Mapping[str, Any], Filters], tuple[dict[str, Any], bool]],
) -> None:
    """Answer each line of a file with one line; the whole file is checked before the first answer."""
    topics = _read_topics(source)
    found = False
    with _service(session) as service:
        for name in {topic["repo"]: None for topic in topics if topic.get("repo")}:
            service.require(name)
        for topic in topics:
            repos = (topic["repo"],) if topic.get("repo") else filters.repos
            chosen = Filters(repos, filters.paths, filters.languages, filters.kinds, filters.roles)
            line, has_result = answer_line(service, topic, chosen)
            emit(line)
            found = found or has_result
    _finish(found)


def _is_exact(value: Any) -> bool:
    """Return whether ``value`` can be written as exact JSON: no NaN, no infinity."""
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return True


def _read_topics(source: str) -> list[dict[str, Any]]:
    try:
        text = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        lines = text.decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the batch file {source}: {error}", code="bad_batch") from error
    topics = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            topic = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{source}:{number}: not a JSON object: {error}", code="bad_batch") from error
        query = (topic.get("query") or topic.get("question")) if isinstance(topic, dict) else None
        if not isinstance(query, str) or not query.strip() or "id" not in topic:
            raise UsageError(f'{source}:{number}: needs "id" and a non-empty "query"', code="bad_batch")
        if not isinstance(topic.get("repo") or "", str):
            raise UsageError(f'{source}:{number}: "repo" must be a string', code="bad_batch")
        if not _is_exact(topic["id"]):
            raise UsageError(f'{source}:{number}: "id" holds a number that JSON has not', code="bad_batch")
        topics.append({"id": topic["id"], "query": query, "repo": topic.get("repo")})
    return topics
