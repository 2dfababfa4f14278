"""Short forms in queries and code, put to an indexed repository whose own ones are learned."""

from __future__ import annotations

from importlib.resources import files

import pytest

from devmind.index.terms import terms
from devmind.retrieve.abbreviations import SHORTENED, SPELT_OUT, known, learned, other_forms
from devmind.service import Service
from devmind.settings import Settings
from tests.indexed import index_files

LINES = files("devmind.retrieve").joinpath("data/abbreviations.tsv").read_text("utf-8").splitlines()
FILES = {
    "shop/settings.py": "def read_cfg(path):\n    return parse(path)\n",
    "shop/loader.py": "class ConfigurationStore:\n    def refresh(self):\n        return 1\n",
    "shop/alpha.py": "def apply(zor):\n    return zor\n",
} | {
    f"shop/module_{n}.py": f"def handle_{n}(fulf, data):\n    fulf = Fulfillment(data)\n    return fulf + {n}\n"
    for n in range(6)
} | {f"lib/module_{n}.py": f"def process_{n}(data):\n    return data + {n}\n" for n in range(20)}  # fmt: skip


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    service = Service(Settings(home=index_files(tmp_path_factory.mktemp("shop"), FILES)))
    service.search("anything")
    return service


def test_the_file_is_sorted_and_each_line_names_other_words() -> None:
    assert sorted(LINES) == LINES
    for line in LINES:
        short, told = line.split("\t")
        assert short.isalnum(), line
        assert all(word.isalpha() and word != short and len(word) > len(short) for word in told.split()), line


@pytest.mark.parametrize(
    ("short", "full"),
    [("cfg", "configuration"), ("ctx", "context"), ("auth", "authentication"), ("repo", "repository")],
)
def test_known_both_ways(short: str, full: str) -> None:
    assert known()[short][terms(full)[0]] == SPELT_OUT
    assert known()[terms(full)[0]][short] == SHORTENED


@pytest.mark.parametrize(
    ("query", "path"), [("configuration reading", "shop/settings.py"), ("cfg", "shop/settings.py")]
)
def test_a_query_finds_the_other_form(service: Service, query: str, path: str) -> None:
    hits = service.search(query).hits
    assert path in [hit.path for hit in hits[:2]]
    assert {"shop/settings.py", "shop/loader.py"} <= {hit.path for hit in hits if hit.why["lexical"] > 0}


def test_what_a_project_shortens_is_learned_both_ways(service: Service) -> None:
    lexical = service.retriever.published.lexical
    [full] = terms("fulfillment")
    assert learned("fulf", lexical) == {full: SPELT_OUT}
    assert learned(full, lexical) == {"fulf": SHORTENED}
    assert other_forms({full: 1.0}, lexical) == {"fulf": SHORTENED}


@pytest.mark.parametrize("term", ["data", "zor", "process", "nothing", "数据", "x"])
def test_nothing_is_learned_of_words_that_stand_alone(service: Service, term: str) -> None:
    assert learned(term, service.retriever.published.lexical) == {}


def test_forms_that_the_index_lacks_and_long_texts_are_left_alone(service: Service) -> None:
    lexical = service.retriever.published.lexical
    assert other_forms({"ctx": 1.0}, lexical) == {}
    assert other_forms({f"word{n}": 1.0 for n in range(30)} | {"cfg": 1.0}, lexical) == {}
    assert other_forms({"cfg": 1.0, "configur": 1.0}, lexical) == {}
