"""Questions worded anew by a chat endpoint, over a real socket: what it spoils gives null and is counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.evaluate.generate.dedupe import without_duplicates
from devmind.evaluate.generate.paraphrase import open_paraphraser, paraphrased
from devmind.evaluate.runner import Clocks, RunOptions
from devmind.evaluate.targets.types import Target
from devmind.evaluate.types import Span, Topic, Truth
from tests.evaluate.stubs import KEY, Asked, Reply, as_json, serving

TOTAL = Truth(Span("shop/orders.py", 11, 16), symbol="order_total")
TOPICS = [
    Topic("docs-1", "Which function returns what all items cost together?", "API location", (TOTAL,), "shop",
          labels={"query_lang": "en", "leak": "none"}, provenance={"generator": "docs"}),
    Topic("symbol-1", "Where is `order_total` defined?", "symbol lookup", (TOTAL,), "shop",
          labels={"query_lang": "en", "leak": "symbol"}, provenance={"generator": "symbol"}),
    Topic("trap-1", "Where is two-factor authentication implemented?", "trap", repo="shop",
          labels={"query_lang": "en"}, provenance={"generator": "trap", "what": "two-factor authentication"}),
]  # fmt: skip


class Model:
    """Answers each question with what ``said`` holds for it."""

    def __init__(self, said: dict[str, str]) -> None:
        self.said = said

    def reply(self, asked: Asked) -> Reply:
        system, user = asked.body["messages"]
        assert "Keep the meaning exactly" in system["content"]
        question = user["content"].partition("\n")[2]
        content = self.said[question]
        return as_json({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]})


def said(question: str) -> str:
    return json.dumps({"question": question}, ensure_ascii=False)


@contextmanager
def model(answers: list[str], tmp_path: Path, *faults: str) -> Iterator[Target]:
    replies = {topic.query: answer for topic, answer in zip(TOPICS, answers, strict=False)}
    with serving(Model(replies), faults=faults) as stub:
        config = tmp_path / "chat.toml"
        config.write_text(
            f'base_url = "{stub.url}/v1"\nmodel = "some-model"\napi_key_env = "K"\nbody.temperature = 0\n'
        )
        target = open_paraphraser(config, secret=lambda name: KEY)
        try:
            yield target
        finally:
            target.close()
        assert all(asked.body["temperature"] == 0 for asked in stub.asked)


def test_other_words_for_the_same_question(tmp_path: Path) -> None:
    answers = [
        said("What adds up the prices of everything in a cart?"),
        "```json\n" + said("In which file does `order_total` stand?") + "\n```",
        said("How does this project do 2FA at login?"),
    ]
    with model(answers, tmp_path) as chat:
        found = paraphrased(TOPICS, chat, langs=["en"])
    assert (len(found.topics), found.n_null) == (3, {})
    first = found.topics[0]
    assert (first.topic_id, first.truths, first.status) == ("docs-1-p-en", (TOTAL,), "pending")
    assert first.provenance["paraphrase_of"] == "docs-1"
    assert first.provenance["model"] == "some-model"
    assert found.topics[1].query == "In which file does `order_total` stand?"
    assert not [topic for topic in found.topics if topic.is_trap and "leak" in topic.labels]


def test_into_the_other_language(tmp_path: Path) -> None:
    answers = [said("哪个函数把所有商品的价格加起来？"), said("`order_total` 在哪里？"), said("双因素认证在哪里实现？")]
    with model(answers, tmp_path) as chat:
        found = paraphrased(TOPICS, chat, langs=["zh"])
    assert [topic.labels["query_lang"] for topic in found.topics] == ["zh", "zh", "zh"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Sure! Here it is.", "not_json"),
        ("{broken", "not_json"),
        ('{"question": 7}', "not_json"),
        (said(TOPICS[0].query), "changed_meaning"),  # nothing was reworded
        (said("哪个函数把所有商品的价格加起来？"), "changed_meaning"),  # English was asked for
        (said("Where does `order_total` add up prices?"), "changed_meaning"),  # names what the question hid
    ],
)
def test_a_spoilt_question_is_null(answer: str, reason: str, tmp_path: Path) -> None:
    with model([answer], tmp_path) as chat:
        found = paraphrased(TOPICS[:1], chat, langs=["en"])
    assert (found.topics, found.n_null) == ((), {reason: 1})


def test_a_name_that_was_lost_is_null(tmp_path: Path) -> None:
    with model(["", said("Where is `order_sum` defined?"), said("Where do users log in?")], tmp_path) as chat:
        found = paraphrased(TOPICS[1:], chat, langs=["en"])
    assert (found.topics, found.n_null) == ((), {"changed_meaning": 2})


def test_an_endpoint_that_fails_costs_its_question_only(tmp_path: Path) -> None:
    waits: list[float] = []
    clocks = Clocks(sleep=waits.append)
    good = said("What adds up the prices of everything in a cart?")
    with model([good, said("x"), said("x")], tmp_path, "html", "500", "-") as chat:
        found = paraphrased(
            [TOPICS[1], TOPICS[0]], chat, langs=["en"], n_at_once=1, options=RunOptions(n_tries=2), clocks=clocks
        )
    assert [topic.topic_id for topic in found.topics] == ["docs-1-p-en"]  # the 500 was tried again
    assert found.n_null == {"html": 1}
    assert len(waits) == 1


def test_a_wrong_configuration_is_named(tmp_path: Path) -> None:
    config = tmp_path / "chat.toml"
    config.write_text('base_url = "http://localhost:1"\n')
    with pytest.raises(UsageError, match="key model is missing"):
        open_paraphraser(config, secret=lambda name: KEY)


def test_near_duplicates_are_left_out() -> None:
    again = Topic("x", "Which function returns what all the items cost together?", "API location", (TOTAL,), "shop")
    other = Topic("y", "Which class keeps the open orders?", "API location", (Truth(Span("a.py", 1, 2)),), "shop")
    kept, n_left_out = without_duplicates([*TOPICS, again, other])
    assert ([topic.topic_id for topic in kept], n_left_out) == (["docs-1", "symbol-1", "trap-1", "y"], 1)
    kept, n_left_out = without_duplicates([again, other], known=TOPICS)
    assert ([topic.topic_id for topic in kept], n_left_out) == (["y"], 1)
