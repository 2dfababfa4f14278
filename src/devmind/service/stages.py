"""Settings → the optional stages that they name: a reranker, and a model that rewords questions.

Nothing of them is imported unless the settings name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from devmind.model_tables import REMOTE
from devmind.settings import Settings, secret

if TYPE_CHECKING:
    from devmind.models.rerank import Reranker
    from devmind.models.wire import Wire
    from devmind.retrieve.reword import Reworder
    from devmind.retrieve.second import SecondStage

# Someone waits for the hits. No hosted service was measured: long enough for a few lines of a chat model, short enough
# to be waited for.
RERANK_TIMEOUT_S: Final = 5.0
EXPAND_TIMEOUT_S: Final = 10.0


def open_second(settings: Settings) -> SecondStage | None:
    """Return the second stage that the settings name; None without one.

    Raises:
        UsageError: its address is none, its key is not set, or its model cannot be opened.
    """
    if not settings.reranker:
        return None
    from devmind.retrieve.second import TOP, WEIGHT, SecondStage

    table = dict(settings.reranker)
    top, weight = table.pop("top", TOP), table.pop("weight", WEIGHT)
    return SecondStage(_reranker(table), top=top, weight=float(weight))


def _reranker(table: dict[str, Any]) -> Reranker:
    if table.pop("kind", REMOTE) == "onnx":
        from devmind.models.rerank_onnx import OnnxReranker, OnnxRerankerOptions

        return OnnxReranker(OnnxRerankerOptions(**table))
    from devmind.models.rerank_remote import RemoteReranker, RemoteRerankerOptions

    wire = _wire(table, RERANK_TIMEOUT_S)
    base_url, extra = _address(table, "reranker"), table.pop("body", {})
    return RemoteReranker(RemoteRerankerOptions(base_url, **table, extra=extra), wire)


def open_reworder(settings: Settings, *, keeps: bool) -> Reworder | None:
    """Return the model that rewords questions; None without one.

    Args:
        keeps: whether it keeps what it said to a question.

    Raises:
        UsageError: its address is none, or its key is not set.
    """
    if not settings.expansion:
        return None
    from devmind.models.chat import ChatClient, ChatOptions
    from devmind.retrieve.reword import N_REWRITES, Reworder
    from devmind.retrieve.rewrites import WEIGHT

    table = dict(settings.expansion)
    wire = _wire(table, EXPAND_TIMEOUT_S)
    options = ChatOptions(_address(table, "expansion"), table["model"], extra=table.get("body", {}))
    weight = float(table.get("weight", WEIGHT))
    return Reworder(ChatClient(options, wire), n=table.get("n", N_REWRITES), weight=weight, keeps=keeps)


def _address(table: dict[str, Any], name: str) -> str:
    from devmind.models.wire import checked_url

    return checked_url(table.pop("base_url"), where=f"[{name}] base_url")


def _wire(table: dict[str, Any], timeout_s: float) -> Wire:
    from devmind.models.wire import Wire, key_options

    variable = table.pop("api_key_env", "")
    return Wire(key_options(variable, secret=secret, timeout_s=table.pop("timeout_s", timeout_s)))


def identity(second: SecondStage | None, reworder: Reworder | None) -> Mapping[str, str]:
    """Return the names of the stages that there are: what must be the same for two searches to be the same."""
    found = {"reranker": second, "expansion": reworder}
    return {name: stage.name for name, stage in found.items() if stage is not None}
