"""``devmind dataset``: import, export, split, check, agreement, conflicts and resolve of evaluation datasets."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from devmind.cli.app import Session, app, emit, session_of
from devmind.cli.evaluation.options import At, Format, Reason, Root, Source, Split, sources_of, topics_of
from devmind.errors import UsageError
from devmind.render.figures import counted

if TYPE_CHECKING:
    from devmind.evaluate.datasets.annotation import Conflict
    from devmind.evaluate.types import Dataset, Topic, Truth

dataset = typer.Typer(
    name="dataset",
    help="Evaluation datasets: topics with the spans that answer them.",
    rich_markup_mode=None,
)
app.add_typer(dataset)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A dataset in a file or folder of any known format.")]
Kept = Annotated[Path, typer.Argument(metavar="FILE", help="A dataset in our own JSON Lines, JSON or CSV.")]


@dataset.command(name="import")
def import_(
    ctx: typer.Context,
    file: File,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Our own form: .jsonl, .json or .csv.")],
    format_: Format = "auto",
    name: Annotated[str | None, typer.Option(help="Name of the dataset (kept by .json only).")] = None,
    merge: Annotated[bool, typer.Option("--merge", help="Add the annotations to those of OUT.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over OUT.")] = False,
    annotator: Annotated[
        list[str] | None, typer.Option(metavar="ID=NAME", help="Name an annotator whom FILE calls ID.")
    ] = None,
) -> None:
    """Read a dataset of any known format and keep it in our own."""
    from devmind.evaluate import datasets
    from devmind.evaluate.datasets.annotation import merged, renamed

    session = session_of(ctx)
    read = datasets.read(file, format_)
    topics = renamed(read.topics, _pairs(annotator or (), "--annotator", "ID=NAME"))
    n_changed = sum(len(topic.annotations) for topic in topics)
    label = name or read.name
    if merge:
        known = kept(out)
        topics, n_changed = merged(known.topics, topics)
        label = name or known.name
    elif out.exists() and not force:
        raise UsageError(f"{out} exists; use --merge to add annotations to it, or --force to write over it")
    written = datasets.dataset_of(label, topics)
    datasets.write(written, out)
    summary = {**_summary(written, out), "n_annotations": n_changed}
    note = f", {counted(n_changed, 'annotation')} new" if merge else ""
    _say(session, summary, f"{out}: {_contents(written)}{note}")


@dataset.command()
def export(
    ctx: typer.Context,
    file: File,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A file, or a folder for trec, beir and semble.")],
    to: Annotated[str, typer.Option("--to", help="json, jsonl, csv, plain, realrepos, semble, trec, beir, ragas, …")],
    format_: Format = "auto",
    split: Split = "development",
    reason: Reason = "",
    source: Source = None,
    root: Root = None,
    pool: Annotated[
        list[Path] | None, typer.Option("--pool", metavar="RUN", help="Show annotators the hits of this run, too.")
    ] = None,
    with_labels: Annotated[
        bool, typer.Option("--with-labels", help="Show annotators the labels that are there.")
    ] = False,
    accepted: Annotated[
        bool, typer.Option("--accepted-only", help="Leave out topics that a person rejected or has not decided on.")
    ] = False,
) -> None:
    """Write a dataset in another tool's format."""
    from devmind.evaluate import datasets
    from devmind.evaluate.datasets.pool import read_pool
    from devmind.evaluate.generate.review import accepted_only

    session = session_of(ctx)
    chosen = topics_of(file, form=format_, split=split, reason=reason, command=f"dataset export --to {to}")
    n_left = len(datasets.read(file, format_).topics) - len(chosen.topics) if split == "development" else 0
    if accepted:
        chosen = accepted_only(chosen)
    around = datasets.Surroundings(
        sources_of(source, root, ""), candidates=read_pool(pool or ()), blind=not with_labels
    )
    datasets.write(chosen, out, to, around=around)
    summary = {**_summary(chosen, out), "format": to, "split": split, "n_left_out": n_left}
    note = f"; {counted(n_left, 'topic')} of the test half left out (--split all exports them)" if n_left else ""
    _say(session, summary, f"{out}: {_contents(chosen)} as {to}{note}")


@dataset.command(name="split")
def split_(
    ctx: typer.Context,
    file: Kept,
    share: Annotated[float, typer.Option("--share", help="Share of the test half.")] = 0.2,
) -> None:
    """Give each topic its half, development or test; those that have one keep it."""
    from devmind.evaluate.datasets.split import assigned, counts, logged_uses

    session = session_of(ctx)
    known = kept(file)
    topics = assigned(known.topics, test_share=share)
    n_new = sum(one is not other for one, other in zip(topics, known.topics, strict=True))
    written = rewrite(file, known, topics)
    found = counts(topics)
    uses = [use.date for use in logged_uses(file)]
    if session.json:
        emit({**_summary(written, file), "n_new": n_new, "counts": found, "test_uses": uses})
        return
    if not session.quiet:
        from devmind.render.dataset import show_halves
        from devmind.render.terminal import console

        show_halves(console(), found)
        print(f"{counted(n_new, 'topic')} drawn now; the test half was read {counted(len(uses), 'time')} so far")


@dataset.command()
def check(
    ctx: typer.Context,
    file: File,
    format_: Format = "auto",
    source: Source = None,
    root: Root = None,
    at: At = "",
    fix: Annotated[bool, typer.Option("--fix", help="Write spans of moved code, and the leak labels.")] = False,
    changed: Annotated[
        bool, typer.Option("--changed", help="With --fix: follow changed code to the lines most like it, too.")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Write the labelled lines, to find them in moved code.")
    ] = False,
) -> None:
    """Compare a dataset with itself and with the code that it labels; exit 1 if there is a problem."""
    from devmind.evaluate import datasets
    from devmind.evaluate.datasets.check import check as find_problems
    from devmind.evaluate.datasets.check import fixed, followed, recorded

    session = session_of(ctx)
    name, placed = datasets.read_placed(file, format_)
    if not placed:
        raise UsageError(f"{file}: holds no topics; a dataset needs at least one", code="bad_dataset")
    topics: Sequence[Topic] = [item.topic for item in placed]
    code = sources_of(source, root, at)
    files = code.files if code else None
    old = sources_of(source, root, "") if at else None
    problems = find_problems(topics, code, files=files, old_texts=old)
    n_fixed = 0
    if changed and not fix:
        raise UsageError("--changed says which labels --fix follows; give both")
    if fix or record:
        kept(file)  # refuses what cannot be written back without loss
        if fix:
            if code is not None and at:
                topics, n_fixed = followed(topics, problems, code.commit, with_changed=changed)
            else:
                topics, n_fixed = fixed(topics, problems, with_changed=changed)
        if record:
            if code is None:
                raise UsageError("--record writes lines of the code: name its folder with --source")
            topics = recorded(topics, code)
        datasets.write(datasets.dataset_of(name, topics), file)
        problems = find_problems(topics, code, files=files, old_texts=old)
    _show_check(session, placed, problems, n_fixed=n_fixed, with_code=code is not None)
    if any(not problem.waived for problem in problems):
        raise typer.Exit(1)


def _show_check(
    session: Session, placed: Sequence[Any], problems: Sequence[Any], *, n_fixed: int, with_code: bool
) -> None:
    from devmind.render.plain import to_json

    rows = [{**to_json(problem), "line": placed[problem.at].place.line} for problem in problems]
    open_ = [row for row in rows if not row.pop("waived")]
    if session.json:
        emit(
            {"n_topics": len(placed), "n_waived": len(rows) - len(open_), "n_fixed": n_fixed,
             "compared_with_code": with_code, "problems": open_}
        )  # fmt: skip
        return
    if session.quiet:
        return
    from devmind.render.dataset import show_problems
    from devmind.render.terminal import console

    show_problems(console(), open_, full=session.verbose)
    notes = [counted(len(placed), "topic"), counted(len(open_), "problem")]
    notes += [f"{n_fixed} fixed"] if n_fixed else []
    notes += [f"{len(rows) - len(open_)} waived"] if len(rows) > len(open_) else []
    print(", ".join(notes) + ("" if with_code else "; not compared with the code (--source FOLDER)"))


@dataset.command()
def agreement(
    ctx: typer.Context,
    file: File,
    format_: Format = "auto",
    source: Source = None,
    root: Root = None,
) -> None:
    """Say how far annotators agree: raw, Cohen's κ, Krippendorff's α, span F1, common lines; exit 1 if none can."""
    from devmind.evaluate import datasets
    from devmind.evaluate.datasets.ratings import agreement_report
    from devmind.render.plain import to_json

    session = session_of(ctx)
    topics = datasets.read(file, format_).topics
    found = to_json(agreement_report(topics, sources_of(source, root, "")))
    if session.json:
        emit(found)
    elif not session.quiet:
        from devmind.render.dataset import show_agreement
        from devmind.render.terminal import console

        show_agreement(console(), found)
    if not found["n_topics"]:
        raise typer.Exit(1)


@dataset.command()
def conflicts(
    ctx: typer.Context,
    file: File,
    format_: Format = "auto",
    topic: Annotated[str | None, typer.Option("--topic", help="Only this topic.")] = None,
) -> None:
    """List where annotators differ and nobody has settled it, with both spans; exit 1 if there is such a place."""
    from devmind.evaluate import datasets
    from devmind.evaluate.datasets.annotation import conflicts as differences
    from devmind.evaluate.datasets.annotation import progress
    from devmind.render.plain import to_json

    session = session_of(ctx)
    topics = datasets.read(file, format_).topics
    wanted = [item for item in topics if topic is None or item.topic_id == topic]
    if not wanted:
        raise UsageError(f"{file} has no topic {topic!r}; see its ids with 'devmind dataset export --to plain'")
    rows = [
        {**_conflict(difference), "query": item.query}
        for item in wanted
        if not item.resolution
        for difference in differences(item)
    ]
    summary = to_json(progress(topics))
    if session.json:
        emit({"progress": summary, "conflicts": rows})
    elif not session.quiet:
        from devmind.render.dataset import show_conflicts, show_progress
        from devmind.render.terminal import console

        show_conflicts(console(), rows)
        show_progress(console(), summary)
    if rows:
        raise typer.Exit(1)


def _conflict(found: Conflict) -> dict[str, Any]:
    from devmind.evaluate.datasets.record import truth_record

    def record(truth: Truth | None) -> dict[str, Any] | None:
        return truth_record(truth) if truth is not None else None

    return {
        "topic_id": found.topic_id,
        "kind": found.kind,
        "annotator_a": found.annotator_a,
        "a": record(found.a),
        "annotator_b": found.annotator_b,
        "b": record(found.b),
    }


@dataset.command()
def resolve(
    ctx: typer.Context,
    file: Kept,
    topic: Annotated[str | None, typer.Argument(metavar="[TOPIC]", help="Id of the topic to settle.")] = None,
    take: Annotated[str, typer.Option("--take", metavar="ANNOTATOR", help="Take this annotator's spans.")] = "",
    span: Annotated[
        list[str] | None, typer.Option("--span", metavar="PATH:A-B[:weak]", help="Or these spans (may be repeated).")
    ] = None,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who settles it.")] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; recorded.")] = "",
    agreed: Annotated[bool, typer.Option("--agreed", help="Settle every topic whose annotators agree.")] = False,
) -> None:
    """Settle a topic that annotators see differently, and record how."""
    from devmind.evaluate.datasets.annotation import resolved, settled

    session = session_of(ctx)
    known = kept(file)
    if agreed == (topic is not None):
        raise UsageError("give either TOPIC, to settle one topic, or --agreed, to settle all that are agreed on")
    if agreed:
        topics, n_settled = settled(known.topics)
    else:
        if bool(take) == bool(span):
            raise UsageError(f"settle {topic!r} by --take ANNOTATOR or by --span PATH:A-B, one of the two")
        if all(item.topic_id != topic for item in known.topics):
            raise UsageError(f"{file} has no topic {topic!r}; 'devmind dataset conflicts {file}' lists the open ones")
        truths = [_span(text) for text in span] if span else None
        topics = [
            resolved(item, by=by, reason=reason, take=take, truths=truths) if item.topic_id == topic else item
            for item in known.topics
        ]
        n_settled = 1
    written = rewrite(file, known, topics)
    _say(session, {**_summary(written, file), "n_settled": n_settled}, f"{file}: {counted(n_settled, 'topic')} settled")
    if not n_settled:
        raise typer.Exit(1)


def _span(text: str) -> Truth:
    """Read ``path:10-20`` or ``path``, either with ``:weak``."""
    from devmind.evaluate.types import Span, Truth

    rest, grade = (text.removesuffix(":weak"), "weak") if text.endswith(":weak") else (text, "strong")
    path, colon, lines = rest.rpartition(":")
    first, _, last = lines.partition("-")
    if colon and first.isdecimal() and (last or first).isdecimal():
        return Truth(Span(path, int(first), int(last or first)), cast(Any, grade))
    if colon and not path:
        raise UsageError(f"--span {text!r} is no span; write PATH:10-20, or PATH for a whole file")
    return Truth(Span(rest), cast(Any, grade))


def kept(file: Path) -> Dataset:
    """Read a dataset that may be written back: one in a form that loses nothing."""
    from devmind.evaluate import datasets
    from devmind.evaluate.datasets.formats import detect

    found = detect(file)
    if found not in datasets.LOSSLESS or file.is_dir():
        raise UsageError(
            f"{file} is in the format {found!r}, which cannot hold all of it; "
            f"keep it in our own first: devmind dataset import {file} OUT.jsonl"
        )
    return datasets.read(file, found)


def rewrite(file: Path, known: Dataset, topics: Sequence[Topic]) -> Dataset:
    """Write the topics back into their file; they are validated as if they had been read."""
    from devmind.evaluate import datasets
    from devmind.evaluate.datasets.faults import validated
    from devmind.evaluate.datasets.formats import detect

    placed = [datasets.Placed(topic, datasets.Place(str(file))) for topic in topics]
    changed = validated(known.name, placed, file=str(file))
    datasets.write(changed, file, detect(file))
    return changed


def _pairs(items: Sequence[str], option: str, form: str) -> Mapping[str, str]:
    found = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals or not key or not value:
            raise UsageError(f"{option} {item!r} must have the form {form}")
        found[key] = value
    return found


def _summary(written: Dataset, out: Path) -> dict[str, Any]:
    return {"file": str(out), "name": written.name, "n_topics": len(written.topics), "hash": written.content_hash}


def _contents(written: Dataset) -> str:
    n_truths = sum(len(topic.truths) for topic in written.topics)
    return f"{counted(len(written.topics), 'topic')}, {counted(n_truths, 'span')}, hash {written.content_hash[:12]}"


def _say(session: Session, summary: Mapping[str, Any], text: str) -> None:
    if session.json:
        emit(summary)
    elif not session.quiet:
        print(text, file=sys.stdout)
