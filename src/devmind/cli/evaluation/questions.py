"""``devmind eval generate`` and ``review``: questions about a repository, and a person's decision on each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from devmind.cli.app import Session, emit, session_of
from devmind.cli.evaluation import evaluation
from devmind.errors import UsageError
from devmind.render.figures import counted

if TYPE_CHECKING:
    from devmind.evaluate.generate.compose import Generated
    from devmind.evaluate.generate.corpus import Corpus
    from devmind.evaluate.generate.paraphrase import Paraphrased
    from devmind.evaluate.types import Dataset, Topic


@evaluation.command()
def generate(
    ctx: typer.Context,
    repo: Annotated[str, typer.Argument(metavar="REPO", help="A repository that is indexed.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write: .jsonl, .json or .csv.")],
    kinds: Annotated[str, typer.Option("--kinds", help="Any of symbol, trap, history, docs, hops, with commas.")] = (
        "symbol,trap,history,docs,hops"
    ),
    n: Annotated[int, typer.Option("-n", help="Topics of each kind, at most.")] = 50,
    seed: Annotated[int, typer.Option("--seed", help="The same seed chooses the same topics.")] = 1,
    lang: Annotated[str, typer.Option("--lang", help="Languages of the questions: en, zh, or both.")] = "en,zh",
    paraphrase: Annotated[
        Path | None,
        typer.Option("--paraphrase", metavar="CONFIG", help="A chat model that words each question anew, too."),
    ] = None,
    hidden: Annotated[
        Path | None,
        typer.Option("--hidden", metavar="DIR", help="Write the files without the comments that docs topics are of."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over FILE.")] = False,
) -> None:
    """Make evaluation questions about an indexed repository; exit 1 if it gives none."""
    from devmind.evaluate import datasets
    from devmind.evaluate.generate.compose import Wanted
    from devmind.evaluate.generate.docs import write_hidden

    session = session_of(ctx)
    wanted = Wanted(cast(Any, _listed(kinds)), n, seed, cast(Any, _listed(lang)))
    _check_out(out, force=force)
    corpus, made = _made(session, repo, wanted)
    topics, reworded = list(made.topics), None
    if paraphrase is not None and topics:
        reworded = _paraphrased(paraphrase, topics, wanted.langs)
        topics += reworded.topics
    if topics:
        datasets.write(datasets.dataset_of(out.stem, topics), out)
    n_hidden = write_hidden(topics, corpus, hidden) if hidden is not None else 0
    _show_made(session, out, topics, made, reworded, n_hidden=n_hidden)
    if not topics:
        raise typer.Exit(1)


def _made(session: Session, repo: str, wanted: Any) -> tuple[Corpus, Generated]:
    from devmind.evaluate.generate.compose import generate as generated
    from devmind.evaluate.generate.corpus import open_catalog, read_corpus

    settings = session.settings()
    with open_catalog(settings.home) as catalog:
        corpus = read_corpus(catalog, repo, home=settings.home)
        return corpus, generated(corpus, catalog, wanted)


def _paraphrased(config: Path, topics: Sequence[Topic], langs: Any) -> Paraphrased:
    from devmind.evaluate.generate.paraphrase import open_paraphraser, paraphrased
    from devmind.settings import secret

    model = open_paraphraser(config, secret=secret)
    try:
        return paraphrased(topics, model, langs=langs)
    finally:
        model.close()


def _show_made(
    session: Session,
    out: Path,
    topics: Sequence[Topic],
    made: Generated,
    reworded: Paraphrased | None,
    *,
    n_hidden: int,
) -> None:
    from devmind.evaluate.datasets import content_hash

    n_null = sum(reworded.n_null.values()) if reworded else 0
    if session.json:
        emit(
            {"file": str(out) if topics else "", "n_topics": len(topics), "hash": content_hash(topics),
             "n_by_kind": made.n_by_kind, "n_duplicates": made.n_duplicates, "n_hidden": n_hidden,
             "paraphrases": {"n": len(reworded.topics), "null": reworded.n_null} if reworded else None,
             "dropped_commits": made.dropped, "notes": made.notes}
        )  # fmt: skip
        return
    if session.quiet:
        return
    by_kind = ", ".join(f"{kind} {count}" for kind, count in made.n_by_kind.items())
    left_out = counted(made.n_duplicates, "near-duplicate")
    print(f"{out}: {counted(len(topics), 'topic')}, all pending: {by_kind}; {left_out} left out")
    if reworded:
        reasons = ", ".join(f"{kind} {count}" for kind, count in reworded.n_null.items())
        print(counted(len(reworded.topics), "paraphrase") + (f"; {n_null} gave none ({reasons})" if n_null else ""))
    if n_hidden:
        print(f"{counted(n_hidden, 'comment')} blanked in the copy: index that, and ask the docs topics there")
    if made.dropped and session.verbose:
        print("commits dropped: " + ", ".join(f"{reason} {count}" for reason, count in made.dropped.items()))
    for note in made.notes:
        print(f"note: {note}", file=sys.stderr)


@evaluation.command()
def review(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="DATASET", help="A dataset in our own JSON Lines, JSON or CSV.")],
    accept: Annotated[list[str] | None, typer.Option("--accept", metavar="ID", help="Accept this topic.")] = None,
    reject: Annotated[list[str] | None, typer.Option("--reject", metavar="ID", help="Reject this topic.")] = None,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Show each open topic and ask.")] = False,
) -> None:
    """Accept or reject generated topics; without a decision, list the open ones, and exit 1 if there are any."""
    from devmind.cli.dataset import kept, rewrite
    from devmind.evaluate.generate.review import counts, decided

    session = session_of(ctx)
    known = kept(file)
    if interactive and (accept or reject or session.json):
        raise UsageError("--interactive asks for each topic: leave --accept, --reject and --json out")
    if interactive:
        topics = _asked(file, known)
    else:
        topics = decided(known.topics, accept=_ids(accept), reject=_ids(reject))
        if accept or reject:
            rewrite(file, known, topics)
    found = counts(topics)
    open_ = [topic for topic in topics if topic.status == "pending"] if not (accept or reject or interactive) else []
    if session.json:
        emit({"file": str(file), **found, "open": [_row(topic) for topic in open_]})
    elif not session.quiet:
        from devmind.render.questions import show_question
        from devmind.render.terminal import console

        for topic in open_:
            show_question(console(), _row(topic), full=session.verbose)
        print(", ".join(f"{count} {status}" for status, count in found.items()))
    if open_:
        raise typer.Exit(1)


def _asked(file: Path, known: Dataset) -> Sequence[Topic]:
    """Ask for each open topic; each decision is on disk before the next question."""
    from devmind.cli.dataset import rewrite
    from devmind.evaluate.generate.review import decided
    from devmind.render.questions import show_question
    from devmind.render.terminal import console

    topics: Sequence[Topic] = known.topics
    open_ = [topic for topic in topics if topic.status == "pending"]
    for number, topic in enumerate(open_, start=1):
        show_question(console(), _row(topic), full=True)
        key = _key(f"{number}/{len(open_)}  accept, reject, skip or quit [a/r/s/q]")
        if key == "q":
            break
        if key != "s":
            ids = [topic.topic_id]
            topics = decided(topics, accept=ids if key == "a" else [], reject=ids if key == "r" else [])
            rewrite(file, known, topics)
    return topics


def _key(prompt: str) -> str:
    while True:
        said = str(typer.prompt(prompt, default="s", show_default=False)).strip().lower()[:1]
        if said in ("a", "r", "s", "q"):
            return said


def _row(topic: Topic) -> dict[str, Any]:
    from devmind.evaluate.datasets.record import record_of

    return record_of(topic)


def _ids(given: Sequence[str] | None) -> list[str]:
    return list(_split(given or ()))


def _split(given: Sequence[str]) -> Iterator[str]:
    for text in given:
        yield from (part.strip() for part in text.split(",") if part.strip())


def _listed(text: str) -> tuple[str, ...]:
    return tuple(_split([text]))


def _check_out(out: Path, *, force: bool) -> None:
    if out.suffix.lower() not in (".jsonl", ".ndjson", ".json", ".csv"):
        raise UsageError(f"--out {out}: the suffix names no format; use .jsonl, .json or .csv")
    if out.exists() and not force:
        raise UsageError(f"{out} exists; name another file, or --force to write over it (decisions in it are lost)")
