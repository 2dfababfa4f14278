"""What the index adds to a question before the legs see it: other forms, meant names, wordings of a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from devmind.index.terms import terms
from devmind.retrieve.abbreviations import SPELT_OUT
from devmind.retrieve.agent_nouns import AGENT_NOUN
from devmind.retrieve.corpus import Corpus
from devmind.retrieve.names import MEANT
from devmind.retrieve.query import understand
from devmind.retrieve.rewrites import Rewrites
from devmind.retrieve.understanding import Understood, understood
from devmind.service import Service
from devmind.settings import Settings
from tests.indexed import index_files

FILES = {
    "shop/settings.py": "def read_configuration(path):\n    return parse(path)\n",
    "shop/session.py": "class SessionManager:\n    def send(self, request):\n        return request\n",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return opened(index_files(tmp_path_factory.mktemp("shop"), FILES))


def opened(kb: Path) -> Corpus:
    published = Service(Settings(home=kb)).retriever.published
    chosen = tuple(published.take_up())
    return Corpus(
        view=published.view(chosen),
        allowed=None,
        repo_ids=chosen,
        is_part=False,
        catalog=published.catalog,
        lexical=published.lexical,
        embedder=published.embedder,
        lines_of=published.lines_of,
        names=published.names,
    )


def asked(text: str, corpus: Corpus, *others: str) -> Understood:
    timings: dict[str, float] = {}
    found = understood(text, Rewrites(others), corpus, read=understand, timings=timings)
    assert set(timings) == {"understand", "symbol"}
    assert set(found.idf) == set(found.query.weights)
    return found


def test_a_short_form_is_spelt_out(corpus: Corpus) -> None:
    [full] = terms("configuration")
    assert asked("where is cfg read", corpus).query.weights[full] == SPELT_OUT


def test_the_verb_of_an_agent_noun_joins(corpus: Corpus) -> None:
    assert asked("where is the parser", corpus).query.weights["pars"] == AGENT_NOUN


def test_a_misspelt_name_joins_by_what_it_means_and_rarity_knows_its_terms(corpus: Corpus) -> None:
    found = asked("SesionManager", corpus)
    assert found.named.meant == ("SessionManager",)
    assert found.query.weights["sessionmanager"] == MEANT
    assert "SessionManager" in found.query.english
    assert found.named.rows.tolist()


def test_names_of_other_wordings_are_looked_up_too(corpus: Corpus) -> None:
    assert not asked("who keeps people signed in", corpus).named.rows.tolist()
    found = asked("who keeps people signed in", corpus, "SessionManager.send")
    assert found.named.rows.tolist()
    assert found.query.groups == asked("who keeps people signed in", corpus).query.groups
