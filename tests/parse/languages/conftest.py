"""What holds for the sample of every language."""

from collections.abc import Callable

import pytest

from devmind.types import ParsedDocument


@pytest.fixture
def check_spans() -> Callable[[ParsedDocument, str], None]:
    """Check that a leading comment that begins so is joined to its symbol, and that inner spans lie in outer ones."""

    def check(parsed: ParsedDocument, beginning: str) -> None:
        assert beginning, "an empty beginning fits every symbol"
        documented = [symbol for symbol in parsed.symbols if symbol.docstring.startswith(beginning)]
        assert documented and documented[0].doc_line <= documented[0].start_line <= documented[0].end_line
        for symbol in parsed.symbols:
            assert symbol.signature
            if symbol.parent >= 0:
                outer = parsed.symbols[symbol.parent]
                assert outer.start_line <= symbol.start_line <= symbol.end_line <= outer.end_line

    return check
