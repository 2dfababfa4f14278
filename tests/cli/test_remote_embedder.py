"""A knowledge base made with a remote embedder: named in config.toml, asked over a real socket, never mixed up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.embed.stub import Answer, Stub, serving

DIM = 8


def by_letters(number: int, body: dict[str, Any]) -> Answer:
    """Vectors of the counts of a few letters: near for texts that share words."""
    data = [
        {"index": i, "embedding": [1.0 + text.lower().count(letter) for letter in "aeioprst"]}
        for i, text in enumerate(body["input"])
    ]
    return 200, {"data": data}, {}


def configure(kb: Path, server: Stub) -> None:
    kb.mkdir(exist_ok=True)
    (kb / "config.toml").write_text(
        f'[embedder]\nbase_url = "http://127.0.0.1:{server.server_address[1]}/v1"\nmodel = "m"\ndim = {DIM}\n'
        'api_key_env = "TEST_EMBEDDER_KEY"\n',
        encoding="utf-8",
    )


def devmind(kb: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "devmind", "--kb", str(kb), "--json", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_remote_embedder_indexes_and_searches(shop: Path, kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_EMBEDDER_KEY", "secret-key")
    with serving(by_letters) as server:
        configure(kb, server)
        assert devmind(kb, "add", str(shop), "--name", "shop").returncode == 0
        indexed = len(server.requests)
        found = devmind(kb, "search", "total price of the cart")
        assert len(server.requests) == indexed + 1
    assert {authorization for _, _, authorization in server.requests} == {"Bearer secret-key"}
    assert json.loads(found.stdout)["hits"][0]["path"] == "shop/cart.py"
    assert "secret-key" not in "".join(path.read_text("utf-8", "replace") for path in kb.rglob("*") if path.is_file())


def test_another_embedder_asks_for_a_sync(shop: Path, kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_EMBEDDER_KEY", "secret-key")
    with serving(by_letters) as server:
        configure(kb, server)
        devmind(kb, "add", str(shop), "--name", "shop")
    (kb / "config.toml").unlink()
    refused = devmind(kb, "search", "price")
    assert refused.returncode == 2
    assert json.loads(refused.stderr)["error"]["code"] == "other_embedder"
    assert devmind(kb, "sync").returncode == 0
    assert devmind(kb, "search", "price").returncode == 0
    back = devmind(kb, "rollback", "shop", "1")
    assert json.loads(back.stderr)["error"]["code"] == "other_embedder"
    assert devmind(kb, "search", "price").returncode == 0


def test_an_endpoint_that_is_down_publishes_nothing(shop: Path, kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_EMBEDDER_KEY", "secret-key")

    def down(number: int, body: dict[str, Any]) -> Answer:
        return 401, {"error": "no"}, {}

    with serving(down) as server:
        configure(kb, server)
        failed = devmind(kb, "add", str(shop), "--name", "shop")
    assert failed.returncode == 2
    assert "HTTP 401" in failed.stderr
    assert json.loads(devmind(kb, "status").stdout)[0]["generation"] == 0


def test_a_missing_key_is_named(shop: Path, kb: Path) -> None:
    with serving(by_letters) as server:
        configure(kb, server)
        assert "TEST_EMBEDDER_KEY" in devmind(kb, "add", str(shop)).stderr
