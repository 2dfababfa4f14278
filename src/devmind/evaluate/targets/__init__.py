"""The systems that can be measured: DevMind in process or over HTTP, Dify, OpenAI-compatible ones, any JSON, run files.

`open_target` is the composition root: a target's own module loads when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from devmind.errors import UsageError
from devmind.evaluate.targets.types import Mode, Target
from devmind.settings import Settings, secret

FORMS: Final = (
    "devmind, devmind:ask, http://HOST:PORT, http://HOST:PORT#ask, http:CONFIG, dify:CONFIG, openai:CONFIG, "
    "generic:CONFIG or run:FILE"
)


def open_target(
    spec: str, *, settings: Settings, timeout_s: float = 60.0, secret: Callable[[str], str] = secret
) -> Target:
    """Return the target that ``spec`` names; close it when it is no longer asked.

    Args:
        spec: ``devmind`` or ``devmind:ask`` (the knowledge base of ``settings``); the address of a DevMind server, with
            ``#ask`` for its answers; ``http:``, ``dify:``, ``openai:`` or ``generic:`` and a configuration file;
            ``run:`` and a file of responses.
        timeout_s: How long an endpoint may take for a whole answer.
        secret: The value of the environment variable that a configuration names.

    Raises:
        UsageError: There is no such target, or its configuration is wrong.
    """
    kind, _, rest = spec.partition(":")
    if kind == "devmind":
        from devmind.evaluate.targets.devmind import DevMindTarget

        return DevMindTarget(settings, mode=_mode(rest, spec))
    if kind in ("http", "https") and rest.startswith("//"):
        return _server(spec, timeout_s)
    if not rest:
        raise UsageError(f"unknown target {spec!r}: use {FORMS}", code="bad_target")
    path = Path(rest)
    if kind == "http":
        from devmind.evaluate.targets.http import open_http

        return open_http(path, secret=secret, timeout_s=timeout_s)
    if kind == "dify":
        from devmind.evaluate.targets.dify import open_dify

        return open_dify(path, secret=secret, timeout_s=timeout_s)
    if kind == "openai":
        from devmind.evaluate.targets.openai import open_openai

        return open_openai(path, secret=secret, timeout_s=timeout_s)
    if kind == "generic":
        from devmind.evaluate.targets.generic import open_generic

        return open_generic(path, secret=secret, timeout_s=timeout_s)
    if kind == "run":
        from devmind.evaluate.targets.runfile import RunFile

        return RunFile(path)
    raise UsageError(f"unknown target {spec!r}: use {FORMS}", code="bad_target")


def _server(spec: str, timeout_s: float) -> Target:
    from devmind.evaluate.targets.http import HttpTarget
    from devmind.models.wire import Wire, WireOptions, checked_url

    address, _, mode = spec.partition("#")
    base = checked_url(address, where="the target")
    return HttpTarget(base, Wire(WireOptions(timeout_s=timeout_s)), mode=_mode(mode, spec), provenance={})


def _mode(text: str, spec: str) -> Mode:
    if text in ("", "search"):
        return "search"
    if text == "ask":
        return "ask"
    raise UsageError(f"unknown mode {text!r} in the target {spec!r}: use search or ask", code="bad_target")


__all__ = ["Target", "open_target"]
