"""The optional stages from the command line: configured in config.toml, asked over real sockets or on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.embed.stub import Answer, Stub, serving
from tests.models.tiny import save_cross_encoder, save_embedder

REWRITES = ["sum of all prices with tax"]


def devmind(kb: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "devmind", "--kb", str(kb), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def both(number: int, body: dict[str, Any]) -> Answer:
    """Reword the question, or prefer whatever verifies passwords."""
    if "messages" in body:
        return 200, {"choices": [{"message": {"content": json.dumps(REWRITES)}}], "usage": {"total_tokens": 30}}, {}
    scores = [float("verify_password" in text) for text in body["documents"]]
    return 200, {"results": [{"index": i, "relevance_score": score} for i, score in enumerate(scores)]}, {}


def configure(path: Path, server: Stub) -> None:
    path.parent.mkdir(exist_ok=True)
    base_url = f"http://127.0.0.1:{server.server_address[1]}"
    path.write_text(
        f'[reranker]\nbase_url = "{base_url}"\nweight = 1.0\n[expansion]\nbase_url = "{base_url}"\nmodel = "m"\n',
        encoding="utf-8",
    )


def test_stages_are_asked_shown_and_left_out_on_demand(shop: Path, kb: Path) -> None:
    with serving(both) as server:
        configure(kb / "config.toml", server)
        assert devmind(kb, "add", str(shop), "--name", "shop").returncode == 0
        assert not server.requests  # indexing needs neither
        found = json.loads(devmind(kb, "search", "--json", "cart price").stdout)
        explained = devmind(kb, "search", "--explain", "cart price").stdout
        plain = json.loads(devmind(kb, "--json", "search", "--no-expand", "--no-rerank", "cart price").stdout)
        n_asked = len(server.requests)
        answer = json.loads(devmind(kb, "ask", "--json", "--no-expand", "cart price").stdout)
    assert found["hits"][0]["symbol"] == "verify_password"
    assert (found["rewrites"], found["warnings"]) == (REWRITES, [])
    assert found["spent"] == {"calls": 2, "tokens": 30}
    assert "reranker=1" in explained and "also searched: sum of all prices with tax" in explained
    assert plain["hits"][0]["path"] == "shop/cart.py" and plain["spent"] == {}
    assert n_asked == 4 and len(server.requests) == 5
    assert answer["warnings"] == []


def test_an_endpoint_that_is_down_costs_no_answer(shop: Path, kb: Path) -> None:
    with serving(both) as server:
        configure(kb / "config.toml", server)
    assert devmind(kb, "add", str(shop), "--name", "shop").returncode == 0
    found = devmind(kb, "search", "--json", "cart price")
    assert found.returncode == 0
    result = json.loads(found.stdout)
    assert result["hits"][0]["path"] == "shop/cart.py"
    assert ["reworded" in result["warnings"][0], "reranker" in result["warnings"][1]] == [True, True]
    assert devmind(kb, "search", "cart price").stdout.count("Warning: ") == 2
    assert devmind(kb, "ask", "what is the total price of the cart").stdout.count("Warning: ") == 2
    batch = kb / "batch.jsonl"
    batch.write_text('{"id": "1", "query": "cart price"}\n', encoding="utf-8")
    [line] = devmind(kb, "search", "--batch", str(batch)).stdout.splitlines()
    assert len(json.loads(line)["warnings"]) == 2


def test_models_on_this_machine_index_and_rerank(shop: Path, kb: Path, tmp_path: Path) -> None:
    save_embedder(kb / "words")
    save_cross_encoder(tmp_path / "cross")
    (kb / "config.toml").write_text('[embedder]\nkind = "onnx"\npath = "words"\n', encoding="utf-8")
    assert devmind(kb, "add", str(shop), "--name", "shop").returncode == 0
    other = tmp_path / "rerank.toml"
    other.write_text((kb / "config.toml").read_text("utf-8").replace('"words"', f'"{kb / "words"}"'), "utf-8")
    with other.open("a", encoding="utf-8") as file:
        file.write('[reranker]\nkind = "onnx"\npath = "cross"\n')
    first = json.loads(devmind(kb, "search", "--json", "total price of the cart").stdout)
    second = json.loads(devmind(kb, "search", "total price of the cart", "--json", "--config", str(other)).stdout)
    assert first["hits"][0]["path"] == second["hits"][0]["path"] == "shop/cart.py"
    assert first["hits"][0]["why"]["dense"] > 0.3 and "reranker" not in first["hits"][0]["why"]
    assert second["hits"][0]["why"]["reranker"] == 2  # price and cart
    save_embedder(kb / "words", scale=3)  # other weights: the index no longer fits
    refused = devmind(kb, "search", "--json", "cart")
    assert json.loads(refused.stderr)["error"]["code"] == "other_embedder"
    assert devmind(kb, "sync").returncode == 0
    assert devmind(kb, "search", "cart").returncode == 0


def test_a_model_that_is_not_there_is_an_error_that_names_it(shop: Path, kb: Path) -> None:
    assert devmind(kb, "add", str(shop), "--name", "shop").returncode == 0
    (kb / "config.toml").write_text('[reranker]\nkind = "onnx"\npath = "nowhere"\n', encoding="utf-8")
    refused = devmind(kb, "search", "cart")
    assert refused.returncode == 2
    assert f"the reranker {kb / 'nowhere'} is not there" in refused.stderr
    (kb / "config.toml").write_text('[expansion]\nbase_url = "x"\nmodel = "m"\n', encoding="utf-8")
    assert "[expansion] base_url 'x' is no http(s) address" in devmind(kb, "search", "cart").stderr


def test_without_stages_no_model_runtime_is_loaded(shop: Path, kb: Path) -> None:
    assert devmind(kb, "add", str(shop), "--name", "shop").returncode == 0
    code = (
        "import sys\nfrom devmind.cli import main\n"
        "sys.argv[1:] = ['--kb', sys.argv[1], 'search', 'cart']\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    code = stop.code\n"
        "heavy = ('onnxruntime', 'tokenizers', 'sentence_transformers', 'httpx', 'devmind.models.wire')\n"
        "print([name for name in heavy if name in sys.modules], code)"
    )
    said = subprocess.run([sys.executable, "-c", code, str(kb)], capture_output=True, text=True, timeout=60)
    assert said.stdout.splitlines()[-1] == "[] 0", said.stderr


def test_runs_with_and_without_a_stage_are_compared_with_their_costs(shop: Path, kb: Path, tmp_path: Path) -> None:
    assert devmind(kb, "add", str(shop), "--name", "shop").returncode == 0
    topics = tmp_path / "topics.jsonl"
    truth = {"file": "shop/login.py", "start_line": 4, "end_line": 8}
    topic = {"topic_id": "q1", "query": "cart price", "category": "code understanding", "repo": "shop"}
    topics.write_text(json.dumps({**topic, "truths": [truth]}) + "\n", encoding="utf-8")
    down = tmp_path / "down.toml"
    with serving(both) as server:
        configure(tmp_path / "with.toml", server)
        runs = {"plain": (), "with": ("--config", str(tmp_path / "with.toml"))}
        for name, options in runs.items():
            out = str(tmp_path / f"run-{name}")
            assert devmind(kb, "eval", "run", str(topics), "--out", out, *options).returncode == 0
        configure(down, server)
    failing = devmind(kb, "eval", "run", str(topics), "--out", str(tmp_path / "f"), "--config", str(down), "--json")
    record = json.loads(failing.stdout)
    assert record["notes"] == {"stage_failed": 1} and record["cost"]["model_calls"] == 2
    folders = [str(tmp_path / f"run-{name}") for name in runs]
    compare = ["eval", "compare", *folders, "--dataset", str(topics), "-k", "1"]
    said = json.loads(devmind(kb, *compare, "--json").stdout)
    assert said["costs"]["baseline"]["model_calls"] == 0
    assert said["costs"]["candidate"] == {**said["costs"]["candidate"], "model_calls": 2, "model_tokens": 30}
    assert said["costs"]["candidate"]["ms"] > 0
    table = devmind(kb, *compare).stdout
    assert ["ms a topic" in table, "model calls a topic" in table, "model tokens a topic" in table] == [True] * 3
