"""Queries of one megabyte, or of 20 kB of the wrong kind, kept ``search`` busy for 7 seconds to minutes.

The time limit ends a hang; it measures nothing.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.ingest import Report
from devmind.retrieve.confidence import proper_names
from devmind.retrieve.query import understand

READ = """
import sys
from devmind.retrieve.query import understand
for _ in range(20):
    understand(eval(sys.argv[1]), df=lambda term: 0, n_chunks=1000)
"""


@pytest.mark.parametrize("text", [
    "'a' * 1_000_000", "'$a' * 10_000", "'a_' * 500_000", "'数据' * 500_000", "'a.' * 500_000", "'Aa' * 500_000",
    "'é' * 1_000_000", "'A' * 19_999 + '.'", "'a/' * 10_000", "'-a' * 10_000", "'`' * 20_000", "'a->' * 7_000",
    "' '.join(f'w{n}' for n in range(60)) + chr(10) + ' ' * 19_000 + 'x'",
    "('-' * 400 + ' .a 1' + chr(10)) * 40", "('/' * 250 + 'a' * 150 + ' .a 1' + chr(10)) * 40",
    "(' ' * 100 + '-' * 350 + ' .a 1' + chr(10)) * 40", "('-' * 200 + '.a' * 120 + ' .a 1' + chr(10)) * 40",
    "('#1 ' + ':a' * 100 + ' ' + 'b' * 200 + ' .a 1' + chr(10)) * 40",
])  # fmt: skip
def test_it_is_read(text: str) -> None:
    subprocess.run([sys.executable, "-c", READ, text], timeout=60, check=True)


def test_names_and_paths_are_found_as_before() -> None:
    query = understand(
        "How does `Cart.total` call get_user and getUser in shop/cart.py, std::vector->push $user->name, main.py?",
        df=lambda term: 1,
        n_chunks=1000,
    )
    assert set(query.identifiers) == {
        "Cart.total", "get_user", "getUser", "cart.py", "std::vector->push", "user->name", "main.py"
    }  # fmt: skip
    assert query.paths == ("shop/cart.py", "main.py")


@pytest.mark.parametrize("query", ["lorem ipsum dolor " * 60_000, "1." * 500_000, " " * 30_000 + "add " * 200_000])
def test_it_is_searched(
    query: str,
    shop: Path,
    add: Callable[[Path], Report],
    devmind: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    add(shop)
    batch = tmp_path / "batch.jsonl"
    batch.write_text("".join(f'{{"id": "{n}", "query": "{query}{n}"}}\n' for n in range(10)))  # none is kept
    found = devmind("search", "--batch", str(batch), timeout=60)
    assert (found.returncode, found.stdout.count("\n")) == (0, 10), found.stderr


def test_a_capital_after_blanks_begins_no_sentence_unless_one_ended() -> None:
    assert proper_names("Where is  Redis used? Django, Flask.  Celery: Kafka x", set()) == [
        frozenset({"redi"}), frozenset({"flask"})
    ]  # fmt: skip
