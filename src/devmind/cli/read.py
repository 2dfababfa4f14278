"""The commands that read published generations: search, ask, symbol, graph, status, files and the like."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from devmind.cli.app import Session, app, emit, session_of
from devmind.errors import UsageError
from devmind.render.figures import counted
from devmind.render.plain import batch_hit, to_json
from devmind.types import Filters

if TYPE_CHECKING:
    from rich.console import Console

    from devmind.render.terminal import Links
    from devmind.service import Service

Repos = Annotated[
    list[str] | None, typer.Option("--repo", metavar="REPO", help="Only this repository (may be repeated).")
]
Paths = Annotated[
    list[str] | None, typer.Option("--path", metavar="GLOB", help="Only paths that match, or lie in this folder.")
]
Langs = Annotated[list[str] | None, typer.Option("--lang", metavar="NAME", help="Only this language (python, go, …).")]
Kinds = Annotated[
    list[str] | None, typer.Option("--kind", metavar="KIND", help="Only this kind of symbol (function, class, …).")
]
Roles = Annotated[
    list[str] | None,
    typer.Option("--role", metavar="ROLE", help="Only this role: source, test, docs, config, generated, vendored."),
]
Batch = Annotated[
    str | None, typer.Option("--batch", metavar="FILE", help='Lines {"id","query","repo"?}; "-" reads standard input.')
]
NoExpand = Annotated[bool, typer.Option("--no-expand", help="Search the question alone, without [expansion].")]
NoRerank = Annotated[bool, typer.Option("--no-rerank", help="Keep the first stage's order, without [reranker].")]
OneRepo = Annotated[str | None, typer.Option("--repo", metavar="REPO", help="Only this repository.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most this many rows.")]
EMPTY = "The knowledge base holds no repository; add one with 'devmind add SOURCE'."
NO_RELATION = {
    "callers": "No call of {0} is indexed.",
    "callees": "{0} calls nothing.",
    "inherits": "{0} inherits from nothing, and nothing inherits from it.",
    "path": "No chain of calls leads from {0} to {1}.",
}
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
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="[QUERY...]", help="Words, names or a question, in English or Chinese."),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=1000, help="How many hits.")] = 10,
    repo: Repos = None,
    path: Paths = None,
    lang: Langs = None,
    kind: Kinds = None,
    role: Roles = None,
    narrow: Annotated[
        bool, typer.Option("--narrow", help="Give of each hit the definition alone, not what stands around it.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show why each hit has its rank.")] = False,
    batch: Batch = None,
    no_expand: NoExpand = False,
    no_rerank: NoRerank = False,
) -> None:
    """Find code: the best chunks for QUERY."""
    session = session_of(ctx)
    filters = _filters(repo, path, lang, kind, role)
    if batch is not None:
        _refuse_both(query)

        def answer_line(service: Service, topic: Mapping[str, Any], chosen: Filters) -> tuple[dict[str, Any], bool]:
            result = service.search(
                topic["query"], k=k, filters=chosen, narrow=narrow, expand=not no_expand, rerank=not no_rerank
            )
            hits = [batch_hit(hit) for hit in result.hits]
            warnings = {"warnings": list(result.warnings)} if result.warnings else {}
            return {"id": topic["id"], "hits": hits, "confidence": result.confidence, **warnings}, bool(hits)

        _run_batch(session, batch, filters, answer_line)
        return
    text = _required(query, "QUERY")
    with _service(session) as service:
        result = service.search(text, k=k, filters=filters, narrow=narrow, expand=not no_expand, rerank=not no_rerank)
        if session.json:
            emit(result)
        else:
            from devmind.render.terminal import console, show_search

            weights = service.weights if explain else None
            show_search(
                console(), result, _links(session, service), explain=explain, full=session.verbose,
                weights={**weights.files, **weights.chunks} if weights else None,
                weights_told=weights.told if weights else "",
                lines_told=service.lines_told(result),
            )  # fmt: skip
            if not result.hits:
                print(_why_none(service, filters))
    _finish(bool(result.hits))


@app.command()
def ask(
    ctx: typer.Context,
    question: Annotated[
        list[str] | None, typer.Argument(metavar="[QUESTION...]", help="A question, in English or Chinese.")
    ] = None,
    k: Annotated[
        int, typer.Option("-k", metavar="N", min=1, max=100, help="How many pieces of evidence to look at.")
    ] = 5,
    repo: Repos = None,
    path: Paths = None,
    lang: Langs = None,
    kind: Kinds = None,
    role: Roles = None,
    batch: Batch = None,
    no_expand: NoExpand = False,
    no_rerank: NoRerank = False,
) -> None:
    """Answer QUESTION, with citations that were checked."""
    session = session_of(ctx)
    filters = _filters(repo, path, lang, kind, role)
    if batch is not None:
        _refuse_both(question)

        def answer_line(service: Service, topic: Mapping[str, Any], chosen: Filters) -> tuple[dict[str, Any], bool]:
            found, reply = service.ask_and_search(
                topic["query"], k=k, filters=chosen, expand=not no_expand, rerank=not no_rerank
            )
            line = {
                "id": topic["id"],
                **to_json(reply),
                "confidence": found.confidence,
                "abstain": reply.abstained,
                "hits": [batch_hit(hit) for hit in reply.evidence],
            }
            return line, not reply.abstained

        _run_batch(session, batch, filters, answer_line)
        return
    text = _required(question, "QUESTION")
    with _service(session) as service:
        reply = service.ask(text, k=k, filters=filters, expand=not no_expand, rerank=not no_rerank)
        if session.json:
            emit(reply)
        else:
            from devmind.render.terminal import console, show_answer

            show_answer(console(), reply, _links(session, service), full=session.verbose)
    _finish(not reply.abstained)


@app.command()
def symbol(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name or qualified name.")],
    repo: OneRepo = None,
    limit: Limit = 50,
) -> None:
    """List the definitions of NAME."""
    _rows(
        session_of(ctx),
        lambda service: service.symbols(name, repo=repo, limit=limit),
        none=lambda service: _no_definition(service, name, repo),
        show=_as_symbols,
    )


@app.command()
def graph(
    ctx: typer.Context,
    direction: Annotated[str, typer.Argument(metavar="RELATION", help="callers, callees, imports, inherits or path.")],
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="One name; two for path.")],
    repo: OneRepo = None,
    limit: Limit = 100,
) -> None:
    """Follow the calls, imports or inheritance of NAME."""
    if direction not in DIRECTIONS:
        raise UsageError(f"unknown relation {direction!r}; choose one of {', '.join(DIRECTIONS)}")
    wanted = 2 if direction == "path" else 1
    if len(names) != wanted:
        raise UsageError(f"graph {direction} takes {counted(wanted, 'name')}, got {len(names)}")
    session = session_of(ctx)
    if direction == "path":
        _rows(
            session,
            lambda service: service.graph_path(*names, repo=repo),
            none=_no_relation(direction, names, repo),
            show=_as_edges,
        )
    else:
        _rows(
            session,
            lambda service: service.graph(direction, names[0], repo=repo, limit=limit),
            none=_no_relation(direction, names, repo),
            show=_as_edges,
        )


def _no_relation(direction: str, names: Sequence[str], repo: str | None) -> Callable[[Service], str]:
    """Return what explains an empty result: a name that is not defined, or a relation that is not there."""

    def why(service: Service) -> str:
        if direction == "imports":
            return f"Nothing indexed imports {names[0]}, and no indexed file of that path imports anything."
        unknown = [name for name in names if not service.symbols(name, repo=repo, limit=1)]
        if unknown:
            return _no_definition(service, unknown[0], repo)
        return NO_RELATION[direction].format(*names)

    return why


def _no_definition(service: Service, name: str, repo: str | None) -> str:
    near = service.near_names(name, repo=repo)
    told = f"; nearest: {', '.join(near)}" if near else ""
    return f"No definition of {name} is indexed{told}; 'devmind search {name}' looks for uses and meaning."


@app.command()
def status(
    ctx: typer.Context,
    repo: Annotated[str | None, typer.Argument(metavar="[REPO]", help="Only this repository.")] = None,
) -> None:
    """Show the repositories and their published generations."""
    _rows(
        session_of(ctx),
        lambda service: service.status(repo),
        none=lambda _: EMPTY,
        show=_as_status,
    )


@app.command()
def files(
    ctx: typer.Context,
    repo: Annotated[str, typer.Argument(metavar="REPO", help="Name of the repository.")],
    skipped: Annotated[bool, typer.Option("--skipped", help="Only the files that are not indexed.")] = False,
) -> None:
    """List each file of REPO and why it is, or is not, indexed."""
    none = f"No file of {repo} was skipped." if skipped else f"{repo} holds no file."
    _rows(session_of(ctx), lambda service: service.files(repo, skipped=skipped), none=lambda _: none, show=_as_files)


@app.command()
def generations(
    ctx: typer.Context, repo: Annotated[str, typer.Argument(metavar="REPO", help="Name of the repository.")]
) -> None:
    """List the kept generations of REPO."""
    _rows(session_of(ctx), lambda service: service.generations(repo), none=lambda _: f"{repo} has no generation yet.")


@app.command()
def doctor(ctx: typer.Context) -> None:
    """Check the knowledge base and this installation."""
    session = session_of(ctx)
    rows = _rows(session, lambda service: service.doctor(), none=lambda _: EMPTY)
    _finish(all(row.get("ok") for row in rows))


@app.command()
def export(
    ctx: typer.Context,
    repo: Annotated[str | None, typer.Argument(metavar="[REPO]", help="Only this repository.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")] = None,
) -> None:
    """Write documents, chunks, symbols and edges as JSON Lines."""
    session = session_of(ctx)
    with _service(session) as service:
        documents = service.export(repo)
        first = next(documents, None)  # a repository that is not there is told before any file is touched
        n_documents = 0
        found = chain([first], documents) if first is not None else iter(())
        if output is None:
            for document in found:
                emit(document)
                n_documents += 1
        else:
            n_documents = _write_documents(found, output)
            if not (session.quiet or session.json):
                print(f"{counted(n_documents, 'document')} written to {output}", file=sys.stderr)
    _finish(n_documents > 0)


def _write_documents(documents: Iterable[dict[str, Any]], output: Path) -> int:
    n_documents = 0
    try:
        with output.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            for document in documents:
                file.write(json.dumps(document, ensure_ascii=False) + "\n")
                n_documents += 1
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}; choose another --output") from error
    return n_documents


def _rows(
    session: Session,
    query: Callable[[Service], list[dict[str, Any]]],
    *,
    none: Callable[[Service], str],
    show: Callable[[Console, list[dict[str, Any]], Links], None] | None = None,
) -> list[dict[str, Any]]:
    """Show rows as JSON, or with ``show`` (a table without it); ``none`` says to a person why there are none."""
    with _service(session) as service:
        rows = query(service)
        if session.json:
            emit(rows)
        elif rows:
            from devmind.render.terminal import console, show_rows

            (show or show_rows)(console(), rows, _links(session, service))
        else:
            print(none(service))
    _finish(bool(rows))
    return rows


def _as_symbols(out: Console, rows: list[dict[str, Any]], links: Links) -> None:
    from devmind.render.terminal import show_symbols  # here and below: JSON need not pay for a terminal

    show_symbols(out, rows, links)


def _as_edges(out: Console, rows: list[dict[str, Any]], links: Links) -> None:
    from devmind.render.terminal import show_edges

    show_edges(out, rows, links)


def _as_files(out: Console, rows: list[dict[str, Any]], _: Links) -> None:
    from devmind.render.terminal import show_files

    show_files(out, rows)


def _as_status(out: Console, rows: list[dict[str, Any]], _: Links) -> None:
    from devmind.render.terminal import show_status

    show_status(out, rows)


def _filters(
    repo: Sequence[str] | None,
    path: Sequence[str] | None,
    lang: Sequence[str] | None,
    kind: Sequence[str] | None,
    role: Sequence[str] | None,
) -> Filters:
    globs = tuple(glob.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for glob in path or ())
    return Filters(tuple(repo or ()), globs, tuple(lang or ()), tuple(kind or ()), tuple(role or ()))


def _why_none(service: Service, filters: Filters) -> str:
    """Return what to do about a search without hits: an empty knowledge base and filters are the likely reasons."""
    if not service.status():
        return EMPTY
    names = ("repo", "path", "lang", "kind", "role")
    values = (filters.repos, filters.paths, filters.languages, filters.kinds, filters.roles)
    given = [f"--{name} {value}" for name, chosen in zip(names, values, strict=True) for value in chosen]
    return (
        f"No indexed code passes the filters {' '.join(given)}" if given else "Nothing is indexed; see 'devmind status'"
    )


def _required(words: Sequence[str] | None, name: str) -> str:
    text = " ".join(words or ())
    if not text.strip():
        raise UsageError(f"{name} is missing or empty; give it as an argument, or use --batch FILE")
    return text


def _refuse_both(words: Sequence[str] | None) -> None:
    if words:
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
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read the batch file {source}: {reason}", code="bad_batch") from error
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
