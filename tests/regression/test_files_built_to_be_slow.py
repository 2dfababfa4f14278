"""Files that a person would never write took minutes or hours. The time limit ends a hang; it measures nothing."""

import subprocess
import sys

import pytest

READ = """
import sys
from devmind.parse import parse
from devmind.scan.document import read_document
text = eval(sys.argv[2])
document = read_document(sys.argv[1], text.encode())
symbols = parse(document).symbols
print(len(symbols), max((len(s.qualified_name) for s in symbols), default=0))
"""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("half_a_token.py", "'a = 1\\n' * 900 + 'AIza A1b2C3d4E5f6G7h8I9j0K1 ' + 'sk-' * 200_000"),
        ("half_a_token.py", "'a = 1\\n' * 900 + 'eyJ A1b2C3d4E5f6G7h8I9j0K1 ' + '-eyJ' * 180_000"),
        ("key", "'\\n'.join([' ' * 1900] * 500) + '\\nPRIVATE KEY\\n'"),
        ("deep.zig", "'const a=struct{\\n' * 40_000 + '};\\n' * 40_000"),
        ("deep.scala", "'object A{\\n' * 40_000 + '}\\n' * 40_000"),
        ("deep.ex", "'defmodule A do\\n' * 40_000 + 'end\\n' * 40_000"),
    ],
)
def test_they_are_read(path: str, text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ, path, text], capture_output=True, text=True, timeout=120, check=True
    )
    n_symbols, longest = map(int, done.stdout.split())
    assert n_symbols <= 1000
    assert longest <= 1000


def test_ordinary_depth_keeps_every_definition() -> None:
    text = "'class A:\\n' + ''.join('    ' * n + 'class A%d:\\n' % n for n in range(1, 80)) + '    ' * 80 + 'x = 1\\n'"
    done = subprocess.run([sys.executable, "-c", READ, "a.py", text], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[0]) >= 80


@pytest.mark.parametrize("line", ["/* a\n", '"a\\\n'])
def test_comments_and_strings_without_an_end_are_blanked(line: str) -> None:
    code = "import sys; from devmind.parse.cpreprocess import _split_braces as split; print(split(eval(sys.argv[1])))"
    lines = f"'#if A\\nint a;\\n#endif\\n{{'.split() + ({line!r} * 100_000).split(chr(10))"
    done = subprocess.run([sys.executable, "-c", code, lines], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "set()\n"
