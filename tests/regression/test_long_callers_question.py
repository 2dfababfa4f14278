"""One word of a megabyte kept the patterns of "who calls X?" busy for minutes, and no time-out could reach them."""

import subprocess
import sys

CODE = """
from devmind.retrieve.intent import asked_name
assert asked_name("a" * 1_000_000) == ""
assert asked_name("谁调用了 " + "a" * 1_000_000) == ""
assert asked_name("谁调用了 price_of?") == "price_of"
"""


def test_a_long_word_is_no_question_about_callers() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=60)
