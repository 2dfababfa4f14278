"""Git history → real questions: what a commit's message asks for, and the definitions that it changed to answer it.

The labels are lines of the parent commit, which the topic names: there the work is still to be done. Commits that ask
nothing (versions, typos, looks, documents, tests) and those that change too much are dropped, and counted by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.generate.changes import Changed, changed_symbols, file_of, same_but_for_looks
from devmind.evaluate.generate.corpus import Corpus, File
from devmind.evaluate.generate.messages import Asked, asked
from devmind.evaluate.generate.sentences import is_chinese
from devmind.evaluate.generate.topics import Lang, make_topic, shuffled, truth_at, with_leak
from devmind.evaluate.types import Topic
from devmind.scan.git import find_repository
from devmind.scan.history import Change, Commit, commits
from devmind.scan.language import language_of
from devmind.scan.role import role_of

MAX_COMMITS: Final = 2_000  # that are looked at: further back, a repository is another one
_MAX_FILES: Final = 10  # changed by a commit in all, tests and documents included
_MAX_SOURCES: Final = 4
_EXAMPLES: Final = frozenset({"example", "examples", "sample", "samples", "demo", "demos"})
_MAX_TRUTHS: Final = 5  # the guideline wants few strong spans; a commit of more did several things


@dataclass(frozen=True, slots=True)
class Candidate:
    commit: Commit
    question: Asked
    sources: tuple[Change, ...]


def history_topics(corpus: Corpus, *, n: int, seed: int, langs: Sequence[Lang]) -> tuple[list[Topic], dict[str, int]]:
    """Return up to ``n`` topics in the languages of their messages, and how many commits were dropped for what reason.

    Cost: each commit that is tried reads the files it changed, at both its ends.

    Raises:
        UpstreamError: git cannot read the history.
    """
    dropped: Counter[str] = Counter()
    ordered = shuffled(_candidates(corpus, langs, dropped), lambda one: one.commit.commit, seed=seed)
    assert corpus.folder is not None
    sources = Sources({corpus.name: corpus.folder})
    topics: list[Topic] = []
    for candidate in ordered:
        if len(topics) >= n:
            break
        found = _topic(corpus, candidate, sources, seed)
        if isinstance(found, Topic):
            topics.append(found)
        else:
            dropped[found] += 1
    return topics, dict(sorted(dropped.items()))


def _candidates(corpus: Corpus, langs: Sequence[Lang], dropped: Counter[str]) -> Iterator[Candidate]:
    assert corpus.folder is not None
    repository = find_repository(corpus.folder)
    assert repository is not None
    folder = corpus.folder if repository.work_tree is not None else None
    for commit in commits(repository, corpus.head, folder, limit=MAX_COMMITS):
        found = _candidate(corpus, commit, langs)
        if isinstance(found, Candidate):
            yield found
        else:
            dropped[found] += 1


def _candidate(corpus: Corpus, commit: Commit, langs: Sequence[Lang]) -> Candidate | str:
    """Return what the message and the names of the files already decide."""
    if not commit.parent:
        return "root"
    question = asked(commit.message)
    if isinstance(question, str):
        return question
    if ("zh" if is_chinese(question.query) else "en") not in langs:
        return "other_language"
    sources = tuple(change for change in commit.changes if change.status == "M" and _is_source(change.path))
    if not sources:
        return "no_source"
    if len(sources) > _MAX_SOURCES or len(commit.changes) > _MAX_FILES:
        return "huge"
    rules = corpus.repository
    if (rules.include or rules.exclude) and not {change.path for change in sources} <= {f.path for f in corpus.files}:
        return "not_indexed"
    return Candidate(commit, question, sources)


def _is_source(path: str) -> bool:
    language = language_of(path, "", "")
    shown = _EXAMPLES & set(path.lower().split("/"))  # these follow a change, and are not where it is made
    return role_of(path, "", language) == "source" and not shown


def _topic(corpus: Corpus, candidate: Candidate, sources: Sources, seed: int) -> Topic | str:
    changed: list[tuple[File, Changed]] = []
    only_looks = True
    for change in candidate.sources:
        old = sources(corpus.name, candidate.commit.parent, change.path)
        new = sources(corpus.name, candidate.commit.commit, change.path)
        if old is None or new is None or same_but_for_looks(old, new):
            continue
        only_looks = False
        before = file_of(change.path, old)
        changed += [(before, one) for one in changed_symbols(before, file_of(change.path, new))]
    if only_looks:
        return "looks_only"
    if not changed:
        return "no_definition"
    if len(changed) > _MAX_TRUTHS:
        return "huge"
    return _made(corpus, candidate, changed, seed)


def _made(corpus: Corpus, candidate: Candidate, changed: Sequence[tuple[File, Changed]], seed: int) -> Topic:
    commit, question = candidate.commit, candidate.question
    topic = make_topic(
        corpus,
        "history",
        commit.commit,
        query=question.query,
        category="bug diagnosis" if question.is_fix else "change location",
        lang="zh" if is_chinese(question.query) else "en",
        seed=seed,
        truths=[truth_at(file, one.symbol, core=_core(one)) for file, one in changed],
        language=changed[0][0].language,
        labels={"text": question.text},
        provenance={"changed_by": commit.commit, "subject": commit.message.split("\n", 1)[0]},
    )
    return with_leak(replace(topic, commit=commit.parent))


def _core(changed: Changed) -> tuple[int, int]:
    first, last = changed.core
    return max(first, changed.symbol.start_line), min(last, changed.symbol.end_line)
