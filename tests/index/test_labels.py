"""What names files: which labels each has, and how a question meets them, over one part or several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.index.labels import FOLDERS, OWN_NAME, Met, labelled, labels_of, met_by
from devmind.index.terms import distinct_terms

WORDS = ["cart", "session_store", "HttpClient", "retry", "main"]
FILES = st.lists(st.lists(st.sampled_from(WORDS), min_size=2, max_size=5), min_size=1, max_size=6)
WORTH = {"cart": 0.5, "session": 0.3, "client": 0.2}


def by_hand(labels: list[str]) -> list[tuple[int, int, float]]:
    found = []
    for label in labels:
        words = distinct_terms(label)
        met = words & WORTH.keys()
        found.append((len(words), len(met), sum(WORTH[word] for word in met)))
    return found


def told(met: Met, file: int) -> list[tuple[int, int, float]]:
    own = met.file_of == file
    return list(zip(met.n_words[own].tolist(), met.n_met[own].tolist(), met.told[own].tolist(), strict=True))


@given(files=FILES, data=st.data())
def test_a_question_meets_the_words_of_each_label(files: list[list[str]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(files)))
    parts = [labelled(files[:cut]), labelled(files[cut:])]
    wanted = sorted(data.draw(st.sets(st.integers(0, len(files) - 1))))
    met = met_by(WORTH, np.array(wanted, np.int64), parts)
    for place, file in enumerate(wanted):
        assert told(met, place) == [pytest.approx(label) for label in by_hand(files[file])]
        assert met.nth[met.file_of == place].tolist() == list(range(len(files[file])))


def test_labels_are_the_name_the_folders_and_each_type_once() -> None:
    labels = labels_of("src/web/session_store.py", ["Session", "Store", "Session"])
    assert labels == ["session_store", "src/web", "Session", "Store"]
    assert labels[OWN_NAME] == "session_store" and labels[FOLDERS] == "src/web"


@pytest.mark.parametrize("path", ["web/extract/mod.rs", "web/extract/__init__.py", "extract/Index.ts"])
def test_a_file_of_a_generic_name_is_named_after_its_folder(path: str) -> None:
    assert labels_of(path, ())[OWN_NAME].split()[0] == "extract"


def test_without_a_question_without_files_and_without_parts() -> None:
    part = labelled([["cart", "shop"]])
    assert met_by({}, np.array([0]), [part]).n_met.tolist() == [0, 0]
    assert len(met_by(WORTH, np.empty(0, np.int64), [part]).n_met) == 0
    assert len(met_by(WORTH, np.empty(0, np.int64), []).n_met) == 0
    assert len(labelled([]).words) == 0


def test_a_label_of_many_files_is_read_once() -> None:
    class Label(str):
        n_read = 0

        def isascii(self) -> bool:
            Label.n_read += 1
            return super().isascii()

    folder = Label("shop/cart")
    held = labelled([[f"file{i}", folder, "Cart"] for i in range(100)])
    assert Label.n_read == 1
    assert len(held.word_ends) == 300 and held.word_ends[-1] == len(held.words)
