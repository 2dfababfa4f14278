"""Statements × passages → findings, by a natural-language-inference model in ONNX form on this machine.

DevMind ships no such model. Any folder will do that holds ``model.onnx`` (or another that `OnnxModel` knows),
``tokenizer.json`` and a ``config.json`` whose ``id2label`` names entailment: the form in which such models are
published. Needs the extra ``local-models``.

A passage longer than the model reads is cut into windows that overlap by half. A statement is entailed if some window
entails it (as in SummaC: Laban et al. 2022); contradicted if none does and the most contradicting window says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from devmind.errors import UsageError
from devmind.evaluate.answers.entailment import Claims, Finding, Label
from devmind.evaluate.answers.nulls import Null
from devmind.evaluate.types import OnStep
from devmind.models.onnx import OnnxModel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Encoding

_BATCH: Final = 16


class LocalEntailer:
    """The model in ``folder``.

    Args:
        n_threads: Threads of the runtime; 0 takes one a core.

    Raises:
        UsageError: The extra is not installed, a file is missing, or the model's labels do not name entailment.
    """

    def __init__(self, folder: Path, *, n_threads: int = 0) -> None:
        self._folder = folder
        self._model = OnnxModel(folder, kind="entailment model", n_threads=n_threads)
        self._labels = _labels(self._model.config, folder)
        self._limit = self._model.limit
        self._tokenizer = self._model.tokenizer
        self._tokenizer.enable_truncation(self._limit, stride=self._limit // 4, strategy="only_first")

    @property
    def name(self) -> str:
        return f"local:{self._folder.name}"

    def entail(self, items: Sequence[Claims], progress: OnStep | None = None) -> list[list[Finding | Null]]:
        """See `Entailer`."""
        found = []
        for number, item in enumerate(items, start=1):
            found.append([self._finding(statement, item.passages) for statement in item.statements])
            if progress is not None:
                progress(number, len(items))
        return found

    def probabilities(self, premise: str, statement: str) -> npt.NDArray[np.float64] | Null:
        """Return ``(n_windows, n_labels)``, the labels in the order of the model."""
        import numpy as np

        # Half of what the model reads is for the premise: less, and a window is too short to entail anything.
        if len(self._tokenizer.encode(statement, add_special_tokens=False).ids) > self._limit // 2:
            return Null("too_long", f"the statement is longer than {self._limit // 2} tokens")
        first = self._tokenizer.encode(premise, statement)
        windows = [first, *first.overflowing]
        rows = [self._logits(windows[at : at + _BATCH]) for at in range(0, len(windows), _BATCH)]
        logits = np.concatenate(rows).astype(np.float64)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: npt.NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return shares

    def _finding(self, statement: str, passages: Sequence[str]) -> Finding | Null:
        entailing: list[int] = []
        refuted = 0.0
        by_contradiction = False
        for number, passage in enumerate(passages):
            shares = self.probabilities(passage, statement)
            if isinstance(shares, Null):
                return shares
            for row in shares:
                label = self._labels[int(row.argmax())]
                if label == "entailed":
                    entailing.append(number)
                contradicts = sum(float(p) for p, name in zip(row, self._labels, strict=True) if name == "contradicted")
                if contradicts > refuted:
                    refuted, by_contradiction = contradicts, label == "contradicted"
        if entailing:
            return Finding("entailed", tuple(dict.fromkeys(entailing)))
        return Finding("contradicted" if by_contradiction else "neutral")

    def _logits(self, windows: Sequence[Encoding]) -> npt.NDArray[np.float32]:
        logits = self._model.run(windows)
        if logits.shape != (len(windows), len(self._labels)):
            raise UsageError(
                f"the entailment model in {self._folder} answers {logits.shape[-1]} numbers a text, "
                f"its config.json names {len(self._labels)} labels: correct id2label",
                code="bad_model",
            )
        return logits


def _labels(config: dict[str, Any], folder: Path) -> list[Label]:
    """Return our label for each of the model's, in its order. A model may tell only entailment from the rest."""
    named = config.get("id2label")
    names = [str(named[key]) for key in sorted(named, key=int)] if isinstance(named, dict) else []
    labels: list[Label] = []
    for name in names:
        word = name.lower().replace("-", "_").replace(" ", "_")
        if word.startswith("entail"):
            labels.append("entailed")
        elif word.startswith("contradict"):
            labels.append("contradicted")
        elif word == "neutral" or word.startswith("not_entail"):
            labels.append("neutral")
        else:
            raise UsageError(
                f"{folder / 'config.json'}: id2label has {name!r}; known are entailment, neutral, contradiction and "
                "not_entailment: choose a model for natural-language inference",
                code="bad_model",
            )
    if labels.count("entailed") != 1:
        raise UsageError(f"{folder / 'config.json'}: id2label {names} must name entailment once", code="bad_model")
    return labels
