"""A long question kept ``ask`` busy for minutes, and a refusal repeated it in full."""

from collections.abc import Callable
from pathlib import Path

from devmind.answer.question import read_question
from devmind.ingest import Report
from devmind.service import Service


def test_only_its_beginning_is_read() -> None:
    asked = read_question("where is `needle`? " + "a." * 500_000 + " `late`")
    assert asked.code_names == ("needle",)


def test_a_refusal_is_short(shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]) -> None:
    add(shop)
    question = "How does `QuantumFluxRouter` work? " + " ".join(f"`Absent{n}Name`" for n in range(3000))
    with serve() as service:
        answer = service.ask(question)
    assert answer.abstained
    assert answer.question == question
    assert len(answer.answer) < 2000
