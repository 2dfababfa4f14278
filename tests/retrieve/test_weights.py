"""Weights of a knowledge base: its own in place of the shipped ones, seen by running processes, never half believed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devmind.errors import StoreError
from devmind.evaluate.targets.devmind import DevMindTarget
from devmind.ingest import Report
from devmind.retrieve.rank import SHIPPED
from devmind.retrieve.weights import FILE, MOST, KbWeights, Weights, read_weights, text_of
from devmind.service import Service
from devmind.settings import Settings

TESTS_FIRST = replace(
    SHIPPED, files={**SHIPPED.files, "test": 9.0}, about={"dataset": "team", "n_topics": 60, "date": "2026-11-30T10:00"}
)
QUERY = "total price of a cart"


@pytest.fixture
def service(shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]) -> Service:
    add(shop)
    return serve()


def first(service: Service) -> str:
    return service.search(QUERY).hits[0].path


def test_a_file_holds_every_number(tmp_path: Path) -> None:
    path = tmp_path / FILE
    tuned = replace(TESTS_FIRST, dense_sentence=0.25, second_of_file=1.5, chunk_share=0.0)
    path.write_text(text_of(tuned))
    assert read_weights(path, SHIPPED) == tuned
    assert read_weights(tmp_path / "absent.json", SHIPPED) is None


def test_a_running_service_takes_up_and_leaves_weights_at_its_next_search(service: Service, kb: Path) -> None:
    assert first(service) == "shop/cart.py"
    assert service.weights.told == "shipped"
    (kb / FILE).write_text(text_of(TESTS_FIRST))
    assert first(service) == "tests/test_cart.py"  # and not what the cache holds
    assert service.weights.told == "tuned on 60 topics of team, 2026-11-30"
    (kb / "next.json").write_text(text_of(replace(TESTS_FIRST, files=SHIPPED.files)))
    (kb / "next.json").replace(kb / FILE)
    assert first(service) == "shop/cart.py"
    (kb / FILE).unlink()
    assert service.weights is SHIPPED


def test_weights_that_are_given_count_whatever_the_file_says(service: Service, kb: Path) -> None:
    (kb / FILE).write_text("damaged")
    with Service(Settings(home=kb), weights=TESTS_FIRST) as own:
        assert first(own) == "tests/test_cart.py"


def test_the_parts_of_a_score_are_those_of_the_weights_in_use(service: Service, kb: Path) -> None:
    (kb / FILE).write_text(text_of(replace(TESTS_FIRST, second_of_file=0.5, chunk_share=0.75)))
    ranking = service.trace(QUERY).ranking
    parts = ranking.parts()
    assert sum(parts.values()) == pytest.approx(ranking.scores, abs=1e-4)
    assert {9.0} == {float(value) for value in parts["test"] if value}


def test_runs_of_other_weights_are_other_runs(service: Service, kb: Path) -> None:
    settings = Settings(home=kb)
    shipped = DevMindTarget(settings).settings()
    assert "ranking" not in shipped
    (kb / FILE).write_text(text_of(TESTS_FIRST))
    tuned = DevMindTarget(settings).settings()
    assert tuned["ranking"].startswith("tuned on 60 topics of team")
    other = replace(TESTS_FIRST, definition=1.0)
    assert DevMindTarget(settings, weights=other).settings()["ranking"] != tuned["ranking"]


def damage(**changes: Any) -> str:
    value = json.loads(text_of(TESTS_FIRST))
    for place, change in changes.items():
        part, _, name = place.partition("__")
        if name:
            value[part][name] = change
        else:
            value[part] = change
    return json.dumps(value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("\udcff", "it is not JSON"),
        ("[]", 'must be an object with "files"'),
        (damage(files=[]), 'must be an object with "files"'),
        (damage(format=2), "format 2"),
        (damage(files__stem=math.nan), "files.stem is nan"),
        (damage(files__stem=-math.inf), "files.stem is -inf"),
        (damage(files__stem=True), "files.stem is True"),
        (damage(files__stem="4"), "files.stem is '4'"),
        (damage(files__stem=2 * MOST), "must lie between"),
        (damage(files__stem=10**400), "must lie between"),
        (damage(files__centrality=1.0), "unknown 'centrality'"),
        (damage(files={"stem": 1.0}), "missing 'bm25_best'"),
        (damage(chunks__dense_sentence=1.5), "between 0 and 1"),
        (damage(chunks__second_of_file=-1), "must not be negative"),
        (damage(chunks={}), "missing 'chunk_share'"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_that_says_what_to_do(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
    weights = KbWeights(tmp_path, SHIPPED)
    for _ in range(2):  # not only the first time
        with pytest.raises(StoreError, match="devmind tune --undo") as caught:
            weights.now()
        assert told in str(caught.value)
        assert caught.value.code == "bad_ranking"
    (tmp_path / FILE).unlink()
    assert weights.now() is SHIPPED


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text_of(TESTS_FIRST))
    (tmp_path / FILE).chmod(0)
    with pytest.raises(StoreError, match="cannot be read"):
        KbWeights(tmp_path, SHIPPED).now()


def test_a_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        KbWeights(tmp_path, SHIPPED).now()


def test_status_and_doctor_tell_which_weights_are_in_use(service: Service, kb: Path) -> None:
    def told() -> tuple[str, dict[str, Any]]:
        return service.status()[0]["ranking"], service.doctor()[-1]

    assert told() == ("shipped", {"check": "ranking weights", "ok": True, "detail": "shipped"})
    (kb / FILE).write_text(text_of(TESTS_FIRST))
    tuned = "tuned on 60 topics of team, 2026-11-30"
    assert told() == (tuned, {"check": "ranking weights", "ok": True, "detail": tuned})
    (kb / FILE).write_text("{")
    ranking, check = told()
    assert ranking.startswith("unusable: ") and not check["ok"] and "devmind tune --undo" in check["detail"]
    with pytest.raises(StoreError, match="is damaged"):
        service.search(QUERY)


def test_all_weights_have_a_name_and_a_key() -> None:
    assert len(SHIPPED.key) == len(SHIPPED.files) + len(SHIPPED.chunks)
    changed = [replace(SHIPPED, **{name: value + 0.125}) for name, value in SHIPPED.chunks.items()]
    assert len({weights.key for weights in [SHIPPED, *changed]}) == 6
    assert isinstance(SHIPPED, Weights)
