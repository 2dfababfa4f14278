"""What evaluation itself costs: CPU a topic for measures, means with intervals, and a comparison, on made-up runs."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from devmind.embed.tokenizer import count_tokens
from devmind.evaluate.compare import compare
from devmind.evaluate.haystack import Haystack
from devmind.evaluate.measures import HEADLINE
from devmind.evaluate.score import score_run, score_topic
from devmind.evaluate.types import Dataset, Response, Retrieved, Run, Span, Topic, Truth

N_TOPICS = 600
N_REPOS = 30
K = 10
N_CHUNK_LINES = 60
N_FILES = 2_000
LINE = "    value = compute_the_total(self.items, rate=TAX_RATE)  # 计算总价\n"


@dataclass(frozen=True, slots=True)
class Case:
    dataset: Dataset
    run: Run


def run() -> None:
    rng = random.Random(1)
    case, other = _case(rng), _case(rng)
    same = Run("other", "made up", other.run.responses, K)
    scores, compared = score_run(case.dataset, case.run), score_run(case.dataset, same)
    print(
        f"{N_TOPICS} topics over {N_REPOS} repositories, {K} hits of {N_CHUNK_LINES} lines, "
        f"{len(scores.overall)} measures"
    )
    _print("measures of the topics", lambda: _score_topics(case))
    _print("… with intervals, overall and by category, language, repository", lambda: score_run(case.dataset, case.run))
    _print("… and tokens counted, not estimated", lambda: score_run(case.dataset, case.run, count_tokens=count_tokens))
    _print("comparison, headline measures", lambda: compare(scores, compared, measures=HEADLINE))
    _print("comparison, all measures", lambda: compare(scores, compared))
    _alignment(rng)


def _score_topics(case: Case) -> None:
    for topic in case.dataset.topics:
        score_topic(topic, case.run.responses[topic.topic_id])


def _print(what: str, do: Callable[[], Any]) -> None:
    do()
    started = time.process_time()
    do()
    print(f"{what:66s} {(time.process_time() - started) / N_TOPICS * 1000:7.3f} ms CPU a topic")


def _case(rng: random.Random) -> Case:
    topics, responses = [], {}
    for number in range(N_TOPICS):
        name = f"q{number}"
        truths = tuple(Truth(_span(rng, 30), symbol="f") for _ in range(rng.randint(1, 5)))
        categories = ("API location", "bug diagnosis", "code understanding", "multi-hop")
        topics.append(
            Topic(
                name, "what?", rng.choice(categories), truths,
                repo=f"r{number % N_REPOS}", language=rng.choice(("python", "go", "java", "typescript")),
            )
        )  # fmt: skip
        hits = tuple(Retrieved(_span(rng, N_CHUNK_LINES), text=LINE * N_CHUNK_LINES, score=1.0) for _ in range(K))
        responses[name] = Response(name, hits, confidence=rng.random())
    return Case(Dataset("made up", tuple(topics), "h"), Run("ours", "made up", responses, K))


def _span(rng: random.Random, n_lines: int) -> Span:
    start = rng.randint(1, 300)
    return Span(f"src/file{rng.randint(0, 8)}.py", start, start + rng.randint(1, n_lines))


def _alignment(rng: random.Random) -> None:
    """Print what it takes to place a text of one chunk in a repository of 2,000 files."""
    words = [f"word{i}" for i in range(20_000)]

    def lines(n: int) -> list[str]:
        return ["    " + " ".join(rng.choices(words, k=7)) for _ in range(n)]

    texts = {f"f{i}.py": "\n".join(lines(200)) for i in range(N_FILES)}
    pieces = [texts[f"f{rng.randrange(N_FILES)}.py"].split("\n")[50 : 50 + N_CHUNK_LINES] for _ in range(20)]
    edited = [[line.replace("word1", "other") for line in piece] for piece in pieces]
    haystack = Haystack(texts)
    size = sum(map(len, texts.values())) / 1e6
    print(f"placing a text of {N_CHUNK_LINES} lines in {N_FILES} files ({size:.0f} MB)")
    for what, look in (
        ("word for word", lambda: [next(haystack.exact("\n".join(piece))) for piece in pieces]),
        ("but for whitespace", lambda: [next(haystack.packed(" ".join(piece))) for piece in pieces]),
        ("nearly", lambda: [haystack.near("\n".join(piece)) for piece in edited]),
    ):
        started = time.process_time()
        look()
        first = time.process_time() - started
        started = time.process_time()
        look()
        each = (time.process_time() - started) / len(pieces) * 1000
        print(f"  {what:30s} {each:7.1f} ms CPU each, {max(0.0, first - each * len(pieces) / 1000):.1f} s to prepare")
