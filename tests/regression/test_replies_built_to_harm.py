"""A model's reply of 200 kB of blanks in a fence, or of open braces, kept the search busy for minutes.

The time limit ends a hang; it measures nothing.
"""

import subprocess
import sys

import pytest

READ = """
import sys
from devmind.evaluate.generate.paraphrase import _question
from devmind.retrieve.reword import read_rewrites
reply = eval(sys.argv[1])
assert read_rewrites(reply, question="q", n=3) == ()
assert _question(reply) == ""
"""


@pytest.mark.parametrize("reply", [
    "'```json' + ' ' * 200_000", "'```' + ' ' * 200_000 + '```'", "'{' * 200_000", "'{' * 100_000 + '}' * 100_000",
    "'<think>' * 30_000", "'[' * 200_000", "'```'", "''",
])  # fmt: skip
def test_it_is_read_at_once(reply: str) -> None:
    subprocess.run([sys.executable, "-c", READ, reply], timeout=60, check=True)
