"""The dimension that a foreign model has × the one that is configured."""

from __future__ import annotations

from devmind.errors import UsageError


def check_dim(model: str, found: int, *, configured: int) -> None:
    """Check what ``model``, a name for people, returns; 0 is configured for whatever it does.

    Raises:
        UsageError: another dimension is configured.
    """
    if configured not in (0, found):
        raise UsageError(
            f"the embedding model {model} returns {found} dimensions, {configured} are configured: "
            "correct dim, or leave it out",
            code="bad_model",
        )
