"""A judge's reply → the JSON object in it, or the kind of what is wrong with it.

A model may put prose, a code fence or its thinking around the object; those are left out. What the object must hold is
checked strictly. Kinds: ``empty``, ``cut`` (the model stopped at its limit before the object was whole), ``no_json``,
``missing_key``, ``bad_value``, ``out_of_range``, ``ambiguous`` (several objects that differ), ``echoed`` (the verdict
is one that stood in the texts under judgement).

The question names a random fence and asks for it back under ``"id"``. An object with another id, such as one that an
answer under judgement brought along, is not the judge's. Small models forget the id; without one, a verdict counts only
if it does not stand in those texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from devmind.evaluate.answers.ledger import Kept
from devmind.evaluate.answers.nulls import Null

ID: Final = "id"
_THINKING: Final = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
# No verdict is nested deeper or longer; text that opens more braces than this is no verdict.
_MAX_OBJECTS: Final = 200


Object = Mapping[str, Any]


def read_object(reply: Kept, keys: Sequence[str], *, judged: Sequence[str] = ()) -> Object | Null:
    """Return the one object of the reply that holds all of ``keys``.

    Args:
        judged: The texts of others that the judge was shown.
    """
    text = _THINKING.sub("", reply.text).strip()
    if not text:
        return Null("cut" if reply.cut else "empty", "the reply is empty")
    own = [value for value in _objects(text) if _is_own(value, reply.nonce)]
    whole = [value for value in own if all(key in value for key in keys)]
    signed = [value for value in whole if ID in value]
    chosen = signed or [value for value in whole if not _stands_in(value, keys, judged)]
    if not chosen:
        return _no_verdict(reply, text, whole, own, keys)
    if any(value != chosen[0] for value in chosen):
        return Null("ambiguous", f"{len(chosen)} verdicts that differ: {_shown(text)}")
    return chosen[0]


def _no_verdict(reply: Kept, text: str, whole: Sequence[Object], own: Sequence[Object], keys: Sequence[str]) -> Null:
    if whole:
        return Null("echoed", f"the verdict stands in the text that was judged: {_shown(text)}")
    if reply.cut:
        return Null("cut", f"the reply stopped at the model's limit: {_shown(text)}")
    if own:
        lacking = next(key for key in keys if key not in own[-1])
        return Null("missing_key", f"the key {lacking!r} is missing: {_shown(text)}")
    return Null("no_json", f"no JSON object: {_shown(text)}")


def whole_number(value: Any, low: int, high: int) -> int | Null:
    """Return a whole number of ``low`` to ``high``; ``4.0`` and ``"4"`` are 4."""
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,9}\s*", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or value % 1:
        return Null("bad_value", f"{value!r:.60} is no whole number")
    if not low <= value <= high:
        return Null("out_of_range", f"{value!r:.60} is not within {low} to {high}")
    return int(value)


def one_of(value: Any, allowed: Sequence[str]) -> str | Null:
    """Return the word, in any case, if it is one of ``allowed``."""
    word = value.strip().lower() if isinstance(value, str) else value
    if word not in allowed:
        return Null("bad_value", f"{value!r:.60} is none of {', '.join(allowed)}")
    return str(word)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield every JSON object that stands in the text and in no other; where one is broken, those inside it."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refused)
    at = text.find("{")
    for _ in range(_MAX_OBJECTS):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _is_own(value: Object, nonce: str) -> bool:
    return ID not in value or value[ID] == nonce


def _stands_in(value: Object, keys: Sequence[str], texts: Sequence[str]) -> bool:
    said = {key: value[key] for key in keys}
    return any(
        all(key in other for key in keys) and {key: other[key] for key in keys} == said
        for text in texts
        for other in _objects(text)
    )


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _shown(text: str) -> str:
    return repr(text[:80])
