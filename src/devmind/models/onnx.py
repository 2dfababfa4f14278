"""A folder with an ONNX model and its tokenizer → the model's numbers for texts or pairs.

The one place that opens ONNX models: embedders, cross-encoders and entailment models stand on it. Downloads nothing,
and imports the runtime, which comes with the extra ``local-models``, only when a model is opened.

A folder is what such models are published as: one of `MODEL_FILES`, ``tokenizer.json``, and mostly a ``config.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from devmind.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Encoding, Tokenizer

    Numbers = npt.NDArray[np.float32]

MODEL_FILES: Final = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
# What models of this kind were trained on; longer inputs are read, and misread.
MAX_TOKENS: Final = 512
LEAST_TOKENS: Final = 16
_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_UNBOUNDED: Final = 1 << 30


class OnnxModel:
    """The model at ``path``, a folder or the file itself. Safe to share between threads.

    Args:
        kind: What messages call it, such as ``embedding model``.
        max_tokens: Read of one input at most; 0 for what the model's configuration says, `MAX_TOKENS` at most.
        n_threads: Threads of the runtime; 0 takes one a core.

    Raises:
        UsageError: The extra is not installed, a file is missing or no model, or the model wants other inputs than
            token ids, mask and types.
    """

    def __init__(self, path: Path, *, kind: str, max_tokens: int = 0, n_threads: int = 0) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise UsageError(
                f"a local {kind} needs the extra: pip install 'devmind-kb[local-models]'", code="no_extra"
            ) from error
        self.kind = kind
        self.file = _model_file(path, kind)
        self.tokenizer_file = _beside(self.file, "tokenizer.json")
        if self.tokenizer_file is None:
            raise UsageError(
                f"the {kind} {self.file} has no tokenizer.json in its folder: put it there", code="bad_model"
            )
        self.config = _config(_beside(self.file, "config.json"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = n_threads
        options.log_severity_level = 4  # what fails raises; standard error is for our own words
        try:
            from tokenizers import Tokenizer

            self._session = onnxruntime.InferenceSession(str(self.file), options, providers=["CPUExecutionProvider"])
            self.tokenizer: Tokenizer = Tokenizer.from_file(str(self.tokenizer_file))
        except Exception as error:  # both libraries raise plain exceptions of their own
            raise UsageError(f"cannot load the {kind} {self.file}: {error}", code="bad_model") from error
        inputs = self._session.get_inputs()
        self._inputs = {item.name for item in inputs}
        if "input_ids" not in self._inputs or not self._inputs <= set(_INPUTS):
            raise UsageError(
                f"the {kind} {self.file} wants the inputs {', '.join(sorted(self._inputs))}; known are "
                f"{', '.join(_INPUTS)}: choose a model of the encoder form",
                code="bad_model",
            )
        ids = next(item for item in inputs if item.name == "input_ids")
        fixed = ids.shape[1] if len(ids.shape) == 2 else None
        self._fixed = fixed if isinstance(fixed, int) else None
        self.limit = min(self._fixed or _UNBOUNDED, _positions(self.config), max_tokens or MAX_TOKENS)
        self.tokenizer.no_padding()

    @property
    def outputs(self) -> dict[str, int]:
        """Return the number of dimensions of each output by name; 0 where the model does not tell."""
        return {item.name: len(item.shape or ()) for item in self._session.get_outputs()}

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with the model's weights or its tokenizer.

        Cost: reads the model's files, about a second for each gigabyte.
        """
        told = hashlib.blake2b(digest_size=6)
        weights = sorted(path for path in self.file.parent.iterdir() if path.name.startswith(self.file.name))
        assert self.tokenizer_file is not None
        for path in (*weights, self.tokenizer_file):  # large models keep their weights in a file of their own
            with path.open("rb") as file:
                hashlib.file_digest(file, lambda: told)
        return told.hexdigest()

    def run(self, inputs: Sequence[Encoding], *, output: str | None = None) -> Numbers:
        """Return what the model says to ``inputs``, which are padded to the longest of them.

        Args:
            output: The name of the output; the first without it.

        Raises:
            UsageError: The model cannot be run on them.
        """
        import numpy as np

        width = self._fixed or max(len(one.ids) for one in inputs)
        columns = {name: np.zeros((len(inputs), width), np.int64) for name in _INPUTS}
        for row, one in enumerate(inputs):
            n = len(one.ids)
            columns["input_ids"][row, :n] = one.ids
            columns["attention_mask"][row, :n] = 1
            columns["token_type_ids"][row, :n] = one.type_ids
        given = {name: values for name, values in columns.items() if name in self._inputs}
        try:
            found = self._session.run(None if output is None else [output], given)[0]
        except Exception as error:  # the runtime raises plain exceptions of its own
            raise UsageError(f"the {self.kind} {self.file} fails: {error}", code="bad_model") from error
        numbers: Numbers = np.asarray(found, np.float32)
        return numbers


def _model_file(path: Path, kind: str) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise UsageError(f"the {kind} {path} is not there: correct its path", code="bad_model")
    found = next((path / name for name in MODEL_FILES if (path / name).is_file()), None)
    if found is None:
        raise UsageError(f"the folder {path} holds none of {', '.join(MODEL_FILES)}", code="bad_model")
    return found


def _beside(file: Path, name: str) -> Path | None:
    """Return the file ``name`` of a model, which lies beside it, or above the folder ``onnx``."""
    places = [file.parent, file.parent.parent] if file.parent.name == "onnx" else [file.parent]
    return next((place / name for place in places if (place / name).is_file()), None)


def _config(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path} as JSON: {error}", code="bad_model") from error
    return values if isinstance(values, dict) else {}


def _positions(config: dict[str, Any]) -> int:
    value = config.get("max_position_embeddings")
    return value if type(value) is int and value >= LEAST_TOKENS else _UNBOUNDED
