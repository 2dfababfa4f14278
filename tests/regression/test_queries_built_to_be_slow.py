"""Queries of one megabyte, or of 20 kB of the wrong kind, kept ``search`` busy for 7 to 18 seconds.

The time limit ends a hang; it measures nothing.
"""

import subprocess
import sys

import pytest

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
