"""Topics → what a search variant finds for each, kept on disk by repository: a second run only reads.

A stored result holds for one state of the knowledge base, one embedding model and one state of the code; whatever of
these moves makes it anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np

import devmind
import training.ranking
from bench.corpora import OUT, as_hits
from bench.topics import Asked, by_repo
from bench.variants import BASE, Variant, is_chinese
from devmind.embed.choose import open_embedder
from devmind.evaluate.tune import fit, folds
from devmind.evaluate.tune.examples import Example, Matrix, example_of
from devmind.index.catalog import Catalog
from devmind.retrieve import Request, Retriever
from devmind.retrieve.trace import Trace
from devmind.types import stable_id
from training.ranking import Labelled, learned, same_path, towards

K: Final = 10
# What decides over a stored result besides the index: the steps of a search and of an answer, and how they are kept.
_CODE: Final = ("embed", "index", "retrieve", "answer", "service", "types.py")
Row = dict[str, Any]


def run(asked: Iterable[Asked], variant: Variant) -> dict[str, Row]:
    """Return by topic the hits, and of the base also the rank of each true file among the candidates of ranking."""
    wanted = [topic for topic in asked if not variant.chinese or is_chinese(topic.query)]
    found: dict[str, Row] = {}
    for repo, own in by_repo(wanted).items():
        queries = [topic.query for topic in own]
        rows = kept(repo, variant.key, queries, lambda: _ask(repo, own, variant), kbs=variant.kbs)  # noqa: B023
        found |= {row["id"]: row for row in rows}
    return found


def examples(asked: Iterable[Asked]) -> list[Labelled]:
    """Return what training learns from the topics that have files; `run` of the base makes them."""
    found = []
    for repo, own in by_repo(asked).items():
        run(own, BASE)
        with np.load(_examples(repo, own)) as arrays:
            found += [
                Labelled(
                    topic.suite,
                    Example(
                        group=topic.project,
                        features=arrays[f"{topic.topic_id}/features"],
                        gains=arrays[f"{topic.topic_id}/gains"],
                        ideal=(1.0,) * len(topic.files),
                    ),
                )
                for topic in own
                if topic.files
            ]
    return found


def kept(
    repo: str,
    what: str,
    queries: Sequence[str],
    make: Callable[[], list[Row]],
    *,
    by_code: bool = True,
    kbs: str = BASE.kbs,
) -> list[Row]:
    """Return the rows of ``what``, from disk if they were made of the same queries, index, model and code.

    Args:
        by_code: whether they depend on how a search is made, not on the index alone.
        kbs: folder of the knowledge bases.
    """
    place = _place(repo, what, queries, by_code=by_code, kbs=kbs)
    if not place.exists():
        rows = make()
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_suffix(".part")
        part.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        part.rename(place)
    return [json.loads(line) for line in place.read_text("utf-8").splitlines()]


@contextmanager
def opened(repo: str, variant: Variant = BASE) -> Iterator[Retriever]:
    retriever = Retriever(OUT / variant.kbs / repo, open_embedder(None), cache_seconds=0, steps=variant.steps)
    with closing(retriever):
        yield retriever


def _ask(repo: str, own: Sequence[Asked], variant: Variant) -> list[Row]:
    rows: list[Row] = []
    arrays: dict[str, Any] = {}
    with opened(repo, variant) as retriever:
        for topic in own:
            trace = retriever.trace(Request(topic.query, k=K), legs=False)
            rows.append({"id": topic.topic_id, "hits": as_hits(trace)})
            if variant is BASE and topic.files:
                rows[-1]["candidates"] = candidate_ranks(trace, topic.files)
                example = example_of(trace, dict.fromkeys(topic.files, 1.0), group=topic.project, same=same_path)
                arrays |= {
                    f"{topic.topic_id}/features": example.features,
                    f"{topic.topic_id}/gains": example.gains,
                }
    if variant is BASE:
        place = _examples(repo, own)
        place.parent.mkdir(parents=True, exist_ok=True)
        np.savez(place, **arrays)
    return rows


def candidate_ranks(trace: Trace, files: Iterable[str]) -> list[int]:
    """Return the rank of each of ``files`` among the candidate files in order of first-stage score; 0 for none."""
    ranking, view = trace.ranking, trace.view
    order = np.argsort(-ranking.features["file"], kind="stable")
    ranked = [view.files[file].path for file in dict.fromkeys(view.file[ranking.rows[order]].tolist())]
    return [next((at for at, path in enumerate(ranked, 1) if same_path(path, one)), 0) for one in files]


def _examples(repo: str, own: Sequence[Asked]) -> Path:
    return _place(repo, BASE.key, [topic.query for topic in own]).with_suffix(".npz")


def _place(repo: str, what: str, queries: Sequence[str], *, by_code: bool = True, kbs: str = BASE.kbs) -> Path:
    of = f"{open_embedder(None).name}-{code_version()}" if by_code else "index"
    return OUT / "runs" / of / f"{repo}-{_state(repo, kbs)}" / f"{what}-{stable_id(*queries)}.jsonl"


@cache
def _state(repo: str, kbs: str) -> str:
    """Return the published generation of a knowledge base and when it was made: numbers begin anew in a new one."""
    with closing(Catalog(OUT / kbs / repo / "catalog.sqlite")) as catalog:
        rows = catalog.rows(
            "SELECT g.number, g.created_at FROM generation g JOIN repository r "
            "ON r.repo_id = g.repo_id AND r.active_generation = g.number ORDER BY g.repo_id"
        )
    return "-".join(f"{number}.{int(created)}" for number, created in rows)


@cache
def code_version(folders: tuple[str, ...] = _CODE) -> str:
    """Return a digest of the code and data that searches are made of."""
    root = Path(devmind.__file__).parent
    files = [
        path for one in folders for path in ([root / one] if one.endswith(".py") else sorted((root / one).rglob("*")))
    ]
    digest = blake2b(digest_size=6)
    for path in [*files, *(Path(__file__).with_name(name) for name in ("runs.py", "variants.py", "topics.py"))]:
        if path.is_file() and path.suffix in {".py", ".tsv", ".txt", ".json"}:
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def held_out_ndcg(found: Sequence[Labelled], shares: Matrix, *, without: Iterable[str] = ()) -> list[float]:
    """Return nDCG@10 of the files of each example, ranked by weights of other projects, without some features.

    Kept on disk for the same examples and the same way of training: fitting takes seconds.
    """
    examples = [one.example for one in found]
    digest = blake2b(digest_size=12)
    for part in (repr(learned(without)), *(one.group for one in examples)):
        digest.update(part.encode())
    for arrays in (shares, *(one.features for one in examples), *(one.gains for one in examples)):
        digest.update(arrays.tobytes())
    for module in (training.ranking, fit, folds):
        digest.update(Path(str(module.__file__)).read_bytes())
    place = OUT / "runs" / "held-out" / f"{digest.hexdigest()}.json"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(folds.cross_validated(examples, shares, towards(learned(without))).ndcg.tolist()))
    values: list[float] = json.loads(place.read_text())
    return values


def hits_of(rows: Mapping[str, Row], topic: Asked) -> list[Row]:
    """Return the hits of a topic, none for one that was not asked."""
    return list(rows[topic.topic_id]["hits"]) if topic.topic_id in rows else []
