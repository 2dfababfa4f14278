"""What a target is: any system that can be asked a topic, and how it says that it could not respond."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol

from devmind.evaluate.types import Response, Topic

MISSING: Final = "missing"  # the code of the error for a topic that a target has no response to and never will

# Notes: what a reader of the figures must know about a response.
REPO_NOT_INDEXED: Final = "repo_not_indexed"  # the system lacks the topic's repository: all were searched
QUERY_TRUNCATED: Final = "query_truncated"  # the system takes no question of this length: its end was left off
K_LIMITED: Final = "k_limited"  # the system gives fewer hits than were wanted
MORE_THAN_K: Final = "more_than_k"  # it gave more, and the surplus was left off
OTHER_COMMIT: Final = "other_commit"  # the topic is labelled at another commit than the one that was searched
STAGE_FAILED: Final = "stage_failed"  # an optional stage failed: the response is what the system says without it
ANSWER_CUT: Final = "answer_cut"  # the model stopped at its length limit


Mode = Literal["search", "ask"]  # of DevMind's own targets


class Target(Protocol):
    """A system under measurement. Safe to share between threads."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def respond(self, topic: Topic, *, k: int) -> Response:
        """Return up to ``k`` hits, best first, and the answer if the system gives one.

        Raises:
            DevMindError: It could not. The error's ``code`` is the kind under which the failure is counted; a retryable
                ``UpstreamError`` is worth another try; ``MISSING`` as code says that there is no response at all.
        """
        ...

    def close(self) -> None:
        """Let go of connections and files."""
        ...

    def settings(self) -> Mapping[str, str]:
        """Return what must be the same for two runs to be runs of one system; never a secret."""
        ...
