"""Serve an embedding model in ONNX form as a reranker: ``python -m bench.reranker MODEL [--port N] [--max-tokens N]``.

For measuring the second stage where no cross-encoder is at hand: a document's score is its cosine with the question.
Vectors of documents are kept, so that a second run of the same questions costs little; the time of a pair is printed
at the end of each request for those that were not known.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from devmind.embed.onnx import OnnxEmbedder, OnnxOptions
from devmind.embed.types import ChunkText


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, model: OnnxEmbedder) -> None:
        super().__init__(("127.0.0.1", port), _Request)
        self.model = model
        self.known: dict[str, np.ndarray] = {}

    def scores(self, query: str, documents: list[str]) -> list[float]:
        """Return the cosine of each document with the question."""
        new = [text for text in dict.fromkeys(documents) if text not in self.known]
        began_s = time.process_time()
        vectors = self.model.embed_chunks([ChunkText("", "", text) for text in new])
        if new:
            took_ms = (time.process_time() - began_s) * 1000 / len(new)
            print(f"{len(new)} of {len(documents)} documents, {took_ms:.1f} ms of CPU each", file=sys.stderr)
        self.known.update(zip(new, vectors, strict=True))
        (asked,) = self.model.embed_queries([query])
        return [float(self.known[text] @ asked) for text in documents]


class _Request(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        scores = self.server.scores(body["query"], body["documents"])
        results = [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]
        data = json.dumps({"results": sorted(results, key=lambda one: -one["relevance_score"])}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=8091)
    parser.add_argument("--max-tokens", type=int, default=256)
    arguments = parser.parse_args()
    server = Server(arguments.port, OnnxEmbedder(OnnxOptions(arguments.model, max_tokens=arguments.max_tokens)))
    print(f"POST http://127.0.0.1:{server.server_address[1]}/rerank", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
