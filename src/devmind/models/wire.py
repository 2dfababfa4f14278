"""Requests → decoded JSON, or an `UpstreamError` whose code is the kind of the failure.

The kinds: ``timeout``, ``dns``, ``refused``, ``tls``, ``unreachable``, ``disconnected`` (before an answer began),
``truncated`` (the answer began and broke off), ``http_<status>``, ``html``, ``not_json``, ``too_large``,
``stream_error``, ``bad_url``. What an answer *means* is not known here. Messages never hold a secret.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from devmind.errors import UpstreamError, UsageError
from devmind.retry import RETRIED_STATUS, retry_after_s

if TYPE_CHECKING:
    import httpx

# An answer to one question; more than this is a fault of the endpoint, and would fill the memory.
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
_MAX_REFUSAL_BYTES: Final = 64 * 1024
_SHOWN_CHARS: Final = 200
_BRIEF_CHARS: Final = 60
_HINTS: Final = {
    401: "; check the key",
    403: "; check the key and what it may do",
    404: "; check the address and the names in the configuration",
}


@dataclass(frozen=True, slots=True)
class WireOptions:
    """How requests are made. ``secrets`` are strings that no message may show; ``timeout_s`` bounds a whole answer."""

    timeout_s: float = 60.0
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()


class Refusal(UpstreamError):
    """The endpoint answered with a status that is no success. ``body`` is what it said."""

    def __init__(self, message: str, *, status: int, body: str, retry_after_s: float | None) -> None:
        super().__init__(
            message, retryable=status in RETRIED_STATUS, code=f"http_{status}", retry_after_s=retry_after_s
        )
        self.status = status
        self.body = body


class Wire:
    """A client of one endpoint. Holds connections until ``close``; safe to share between threads.

    Args:
        clock: Seconds, for the deadline of a whole answer.
        now: The time, for a ``Retry-After`` that names a date.
    """

    def __init__(
        self,
        options: WireOptions,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._options = options
        self._clock = clock
        self._now = now
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def ask(self, url: str, body: Any = None, *, method: str = "POST") -> Any:
        """Return the decoded JSON answer to ``body``, which is sent as JSON, or as it is when it is text.

        Raises:
            UpstreamError: See the module.
        """
        deadline = self._clock() + self._options.timeout_s
        with self._answering(method, url, body, accept="application/json") as response:
            data = self._read(response, url, deadline)
        return self._decoded(data, response.headers.get("content-type", ""), url)

    def events(self, url: str, body: Any) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects of a stream of server-sent events until the server ends it.

        Raises:
            UpstreamError: See the module. Whether the stream was complete is for the caller to know.

        Source: WHATWG HTML, "Server-sent events".
        """
        from httpx_sse import EventSource  # splits at the three line ends of the standard, and nowhere else

        deadline = self._clock() + self._options.timeout_s
        with self._answering("POST", url, body, accept="text/event-stream") as response:
            kind = response.headers.get("content-type", "")
            if "text/event-stream" not in kind:
                data = self._read(response, url, deadline)
                self._decoded(data, kind, url)  # names HTML and what is no JSON
                raise self._failure(
                    "stream_error", f"answered with {kind or 'no content type'}, not with a stream", url
                )
            for event in EventSource(response).iter_sse():
                self._check_deadline(deadline, url)
                if not event.data:
                    continue  # a ping
                value = self._decoded(event.data.encode(), kind, url)
                if not isinstance(value, dict):
                    raise self._failure(
                        "stream_error", f"sent an event that is no object: {self.shown(event.data)}", url
                    )
                yield value

    def shown(self, value: Any) -> str:
        """Return the beginning of what an endpoint said, as a message may show it: no secret, nor a part of one."""
        if isinstance(value, str):
            return repr(self.masked(value)[:_BRIEF_CHARS])
        return self.masked(repr(value))[:_BRIEF_CHARS]

    def masked(self, text: str) -> str:
        """Return ``text`` with stars for each secret. Cut what comes back, not what goes in: half a secret is none."""
        for secret in self._options.secrets:
            for form in (secret, repr(secret)[1:-1]):  # as it is, and as `repr` writes it
                text = text.replace(form, "***")
        return text

    def failure(self, kind: str, problem: str, url: str) -> UpstreamError:
        """Return the error, not retryable, for an answer that arrived whole and cannot be used."""
        return self._failure(kind, problem, url)

    def truncated(self, problem: str, url: str) -> UpstreamError:
        """Return the retryable error for an answer that ended too early, though the connection did not break."""
        return self._failure("truncated", problem, url, retryable=True)

    # ---------------------------------------------------------------------------------------------------------------

    def _open(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                import httpx

                self._client = httpx.Client(
                    timeout=self._options.timeout_s,
                    headers={"User-Agent": "devmind", **self._options.headers},
                    limits=httpx.Limits(max_connections=None),  # the runner decides how many questions are in flight
                )
            return self._client

    @contextmanager
    def _answering(self, method: str, url: str, body: Any, *, accept: str) -> Iterator[httpx.Response]:
        """Send the request; the block reads the answer."""
        client = self._open()
        headers = {"Accept": accept}
        content: str | None = None
        if body is not None:
            content = body if isinstance(body, str) else _json(body)
            headers["Content-Type"] = "application/json"
        with self._naming(url, broken="disconnected"):
            request = client.build_request(
                method, url, content=None if content is None else content.encode("utf-8", "replace"), headers=headers
            )
            response = client.send(request, stream=True)
        try:
            with self._naming(url, broken="truncated"):
                if not response.is_success:
                    raise self._refusal(response, url)
                yield response
        finally:
            response.close()

    @contextmanager
    def _naming(self, url: str, *, broken: str) -> Iterator[None]:
        """Turn the transport's errors into ours; ``broken`` is the kind of a connection that was lost in the block."""
        import httpx

        try:
            yield
        except httpx.TimeoutException as error:
            raise self._late(url) from error
        except httpx.InvalidURL as error:  # a long question in the address, above all
            raise self._failure("bad_url", f"with this question is no address: {error}", url) from error
        except httpx.HTTPError as error:
            kind, problem = _transport_kind(error, broken=broken)
            raise self._failure(kind, problem, url, retryable=True) from error

    def _read(self, response: httpx.Response, url: str, deadline: float) -> bytes:
        pieces = []
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > MAX_ANSWER_BYTES:
                raise self._failure("too_large", f"answered more than {MAX_ANSWER_BYTES} bytes", url)
            pieces.append(piece)
            self._check_deadline(deadline, url)
        return b"".join(pieces)

    def _check_deadline(self, deadline: float, url: str) -> None:
        if self._clock() > deadline:  # a server that sends a byte now and then never times out by itself
            raise self._late(url)

    def _decoded(self, data: bytes, content_type: str, url: str) -> Any:
        start = self.masked(data[:_MAX_REFUSAL_BYTES].decode("utf-8", "replace").lstrip())[:_SHOWN_CHARS]
        if "text/html" in content_type or start[:15].lower().startswith(("<!doctype html", "<html")):
            raise self._failure("html", f"answered with a web page ({start[:_BRIEF_CHARS]!r}); check the address", url)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._failure("not_json", f"answered {start!r}, which is not JSON", url) from error

    def _refusal(self, response: httpx.Response, url: str) -> Refusal:
        status = response.status_code
        body = self.masked(_start_of(response).decode("utf-8", "replace"))
        message = f"{_place(url)} answered HTTP {status}: {body[:_SHOWN_CHARS]!r}{_HINTS.get(status, '')}"
        asked_s = retry_after_s(response.headers.get("retry-after", ""), now=self._now())
        return Refusal(message, status=status, body=body, retry_after_s=asked_s)

    def _late(self, url: str) -> UpstreamError:
        return self._failure("timeout", f"did not answer within {self._options.timeout_s:g} s", url, retryable=True)

    def _failure(self, kind: str, problem: str, url: str, *, retryable: bool = False) -> UpstreamError:
        return UpstreamError(f"{_place(url)} {self.masked(problem)}", retryable=retryable, code=kind)


def key_options(variable: str, *, secret: Callable[[str], str], timeout_s: float) -> WireOptions:
    """Return options that send the key in the environment variable ``variable`` as a bearer; no key if it is empty."""
    return bearer(secret(variable) if variable else "", timeout_s=timeout_s)


def bearer(key: str, *, timeout_s: float) -> WireOptions:
    """Return options that send ``key`` as a bearer; none if it is empty."""
    if not key:
        return WireOptions(timeout_s=timeout_s)
    return WireOptions(timeout_s=timeout_s, headers={"Authorization": f"Bearer {key}"}, secrets=(key,))


def _json(body: Any) -> str:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:  # a date or NaN from a configuration's table [body]
        raise UsageError(
            f"a request cannot be written as JSON: {error}; correct [body] in the configuration"
        ) from error


def _start_of(response: httpx.Response) -> bytes:
    """Return the first bytes of a refusal; the status is what counts, so a body that breaks off is no further error."""
    import httpx

    data = b""
    try:
        for piece in response.iter_bytes():
            data += piece
            if len(data) >= _MAX_REFUSAL_BYTES:
                break
    except httpx.HTTPError:
        pass
    return data[:_MAX_REFUSAL_BYTES]


def checked_url(url: str, *, where: str) -> str:
    """Return ``url`` without a slash at its end.

    Args:
        where: What to name in the error: the file and the key, or the argument.

    Raises:
        UsageError: It is no http(s) address, or holds a user name or password.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{where} {url!r} is no address: {error}", code="bad_url") from error
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"{where} {url!r} is no http(s) address, such as http://localhost:8000", code="bad_url")
    if "@" in parts.netloc:
        raise UsageError(
            f"{where} for host {host!r} holds a user name or password: name an environment variable for a key instead",
            code="bad_url",
        )
    return url.rstrip("/")


def _place(url: str) -> str:
    """Return the address without its query, which may hold a key."""
    return url.partition("?")[0]


def _transport_kind(error: Exception, *, broken: str) -> tuple[str, str]:
    import httpx

    causes = list(_causes(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return "dns", "has a host name that cannot be found; check the address"
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return "refused", "refused the connection; check that it runs"
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return "tls", f"cannot be reached safely: {error}"
    if isinstance(error, httpx.ConnectError):
        return "unreachable", f"cannot be reached: {error}"
    if isinstance(error, httpx.DecodingError):
        return "not_json", f"sent what cannot be decompressed: {error}"
    how = (
        "broke off in the middle of its answer" if broken == "truncated" else "closed the connection without an answer"
    )
    return broken, f"{how} ({str(error) or type(error).__name__})"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
