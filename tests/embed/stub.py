"""An embedding endpoint on a loopback socket, for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any, dict[str, str]]
Script = Callable[[int, dict[str, Any]], Answer]


class Stub(ThreadingHTTPServer):
    """Answers by `script(number of the request, its body)` and keeps what it was sent."""

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), StubRequest)
        self.script = script
        self.requests: list[tuple[str, dict[str, Any], str]] = []


class StubRequest(BaseHTTPRequestHandler):
    server: Stub
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((self.path, body, self.headers.get("authorization", "")))
        status, answer, headers = self.server.script(len(self.server.requests), body)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        try:
            self.send_response(status)
            for key, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(script: Script) -> Iterator[Stub]:
    server = Stub(script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
