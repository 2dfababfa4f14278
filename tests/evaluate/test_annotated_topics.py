"""What one annotator said is not scored, so its code need not stand where a run looks for labels."""

import pytest

from devmind.errors import UsageError
from devmind.evaluate.checked import checked_topic
from devmind.evaluate.types import Annotation, Span, Topic, Truth


def topic(span: Span) -> Topic:
    return Topic("q", "what?", truths=(Truth(Span("f", 1, 3)),), annotations=(Annotation("ann", (Truth(span),)),))


@pytest.mark.parametrize("span", [Span("gone.py", 1, 2), Span("f", 8, 9)])
def test_the_code_of_an_annotation_is_not_looked_for(span: Span) -> None:
    assert checked_topic(topic(span), n_lines={"f": 5})


def test_an_impossible_span_of_an_annotation_is_refused() -> None:
    with pytest.raises(UsageError, match=r"annotations\[ann\].truths\[0\]"):
        checked_topic(topic(Span("f", 9, 8)), n_lines={"f": 5})
