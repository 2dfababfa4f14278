"""The numbers that a ranking weighs its features by, as one value; those of a team lie in a file of its knowledge base.

The file is made by ``devmind tune`` and only read here. One that is damaged, or was fitted to other features than this
DevMind has, is an error: a search that silently ranked otherwise than the team had decided would be worse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from devmind.errors import StoreError

FILE: Final = "ranking.json"
PREVIOUS: Final = "ranking.previous.json"  # what `devmind tune --undo` goes back to
FORMAT: Final = 1
MOST: Final = 1000.0  # of a weight: features are of the size of one, so more is a fault, and could overflow the scores
UNDO: Final = "'devmind tune --undo' goes back to the weights before it"


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature counts.

    Attributes:
        files: by feature of a file.
        dense_sentence, dense_symbolic: within a file, the share of the cosine (the rest is BM25), in sentences and in
            bare names (0..1).
        definition: what a defined name adds there.
        chunk_share: of what a chunk is behind the best of its file, the part that it loses against other files.
        second_of_file: what each further chunk of a file loses.
        about: what they were fitted to, as `devmind tune` wrote it; empty for the shipped ones.
    """

    files: Mapping[str, float]
    dense_sentence: float
    dense_symbolic: float
    definition: float
    chunk_share: float
    second_of_file: float
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chunks(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in CHUNK_NAMES}

    @property
    def key(self) -> tuple[tuple[str, float], ...]:
        """All numbers, by name: two weights with the same key rank alike."""
        return (*sorted(self.files.items()), *self.chunks.items())

    @property
    def told(self) -> str:
        """Where the numbers come from, in a few words."""
        if not self.about:
            return "shipped"
        return f"tuned on {self.about.get('n_topics', '?')} topics of {self.about.get('dataset', '?')!s}" + (
            f", {str(self.about['date'])[:10]}" if self.about.get("date") else ""
        )


CHUNK_NAMES: Final = tuple(one.name for one in fields(Weights) if one.name not in ("files", "about"))


class KbWeights:
    """The weights that a knowledge base is searched with; a file that changed is read again when they are asked for.

    Args:
        kb: the folder.
        shipped: the weights when it holds no file, and the features that one must have.
    """

    def __init__(self, kb: Path, shipped: Weights) -> None:
        self._path = kb / FILE
        self._shipped = shipped
        self._stamp: tuple[int, ...] | None = None
        self._weights = shipped

    def now(self) -> Weights:
        """Return the weights as they are now.

        Raises:
            StoreError: the file is damaged (code ``bad_ranking``).

        Cost: one look at the folder while nothing changed.
        """
        stamp = _stamp(self._path)
        if stamp != self._stamp:
            self._weights = read_weights(self._path, self._shipped) or self._shipped
            self._stamp = stamp
        return self._weights


def _stamp(path: Path) -> tuple[int, ...] | None:
    """Return what changes when the file is replaced, None without one."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}; {UNDO}", code="bad_ranking") from error
    return found.st_ino, found.st_size, found.st_mtime_ns


def read_weights(path: Path, shipped: Weights) -> Weights | None:
    """Return the weights in a file, None if there is none.

    Args:
        shipped: those whose features the file must have.

    Raises:
        StoreError: the file cannot be read, is damaged, or was fitted to other features (code ``bad_ranking``).
    """
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}; {UNDO}", code="bad_ranking") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: it is not JSON ({error}); {UNDO}", code="bad_ranking") from error
    problem = _problem(value, shipped)
    if problem:
        raise StoreError(f"{path} {problem}; {UNDO}", code="bad_ranking")
    return Weights(
        files={name: float(value["files"][name]) for name in shipped.files},
        **{name: float(value["chunks"][name]) for name in CHUNK_NAMES},
        about=value["about"],
    )


def text_of(weights: Weights) -> str:
    """Return what `read_weights` reads."""
    value = {"format": FORMAT, "files": dict(weights.files), "chunks": weights.chunks, "about": dict(weights.about)}
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # half a character of a file's name stays an escape


def _problem(value: Any, shipped: Weights) -> str:
    """Return what is wrong with the value of a file, "" if nothing is."""
    if not isinstance(value, dict) or not all(isinstance(value.get(key), dict) for key in ("files", "chunks", "about")):
        return 'is damaged: it must be an object with "files", "chunks" and "about"'
    if value.get("format") != FORMAT:
        return f"has format {value.get('format')!r}, and this DevMind reads {FORMAT}"
    for key, names in (("files", tuple(shipped.files)), ("chunks", CHUNK_NAMES)):
        if value[key].keys() != set(names):
            unknown, missing = sorted(value[key].keys() - set(names)), sorted(set(names) - value[key].keys())
            told = [f"{what} {', '.join(map(repr, some))}" for what, some in _kinds(unknown, missing)]
            return f"was fitted for another DevMind, with other features ({'; '.join(told)})"
        for name, number in value[key].items():
            fault = _number_problem(name, number)
            if fault:
                return f"is damaged: {key}.{name} is {number!r}, and {fault}"
    return ""


def _kinds(unknown: list[str], missing: list[str]) -> list[tuple[str, list[str]]]:
    return [(what, some) for what, some in (("unknown", unknown), ("missing", missing)) if some]


def _number_problem(name: str, number: Any) -> str:
    # An infinity is below, or above, what follows allows; of a whole number of 400 digits `isfinite` cannot be asked.
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        return "must be a finite number"
    if name.startswith("dense_") and not 0 <= number <= 1:
        return "a share must lie between 0 and 1"
    if name in CHUNK_NAMES and number < 0:
        return "must not be negative"
    return "" if -MOST <= number <= MOST else f"must lie between -{MOST:g} and {MOST:g}"
