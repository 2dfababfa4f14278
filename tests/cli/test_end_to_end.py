"""The whole line on a small repository, through the command as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run

CACHE = '''\
class Cache:
    """Keep recently used web pages in memory."""

    def evict_oldest(self, limit: int) -> None:
        """Drop the oldest cache entries until at most ``limit`` remain."""
        while len(self.entries) > limit:
            self.entries.pop(find_oldest(self.entries))


def find_oldest(entries: dict[str, float]) -> str:
    """Return the key of the cache entry that was read longest ago."""
    return min(entries, key=entries.__getitem__)
'''
INVOICE = '''\
def add_tax(amount: float, rate: float) -> float:
    """Return the invoice amount with the tax added."""
    return amount * (1 + rate)
'''


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("sources") / "shop"
    source.mkdir()
    (source / "cache.py").write_text(CACHE, encoding="utf-8")
    (source / "invoice.py").write_text(INVOICE, encoding="utf-8")
    (source / "empty.py").write_text("", encoding="utf-8")
    home = tmp_path_factory.mktemp("kb")
    # a source that fails does not keep the other from being indexed
    assert run(["--kb", str(home), "add", "/nonexistent", str(source), "--json"]) == 2
    return home


def call(kb: Path, capfd: pytest.CaptureFixture[str], *argv: str) -> tuple[int, Any]:
    capfd.readouterr()
    code = run([*argv, "--json", "--kb", str(kb)])
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    return code, lines[0] if len(lines) == 1 else lines


def test_search_and_ask_find_and_cite(kb: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, result = call(kb, capfd, "search", "drop oldest cache entries", "-k", "3")
    assert (code, result["hits"][0]["path"], result["hits"][0]["rank"]) == (0, "cache.py", 1)
    code, answer = call(kb, capfd, "ask", "How are the oldest cache entries dropped?")
    assert (code, answer["abstained"]) == (0, False)
    lines = CACHE.split("\n")
    for citation in answer["citations"]:
        assert citation["verified"]
        assert 1 <= citation["start_line"] <= citation["end_line"] <= len(lines)


def test_what_is_not_there_is_refused_with_exit_1(kb: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, answer = call(kb, capfd, "ask", "How does `KubernetesScheduler` place websocket pods?")
    assert (code, answer["abstained"], answer["citations"]) == (1, True, [])
    assert call(kb, capfd, "symbol", "NoSuchName") == (1, [])


def test_batches_answer_line_by_line(kb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text(
        '{"id": 7, "query": "invoice tax"}\n\n{"id": "b", "query": "oldest entry", "repo": "shop"}\n', encoding="utf-8"
    )
    code, lines = call(kb, capfd, "search", "--batch", str(topics), "-k", "1")
    assert (code, [line["id"] for line in lines]) == (0, [7, "b"])
    assert [line["hits"][0]["file"] for line in lines] == ["invoice.py", "cache.py"]
    code, lines = call(kb, capfd, "ask", "--batch", str(topics))
    assert all({"id", "answer", "citations", "confidence", "abstain", "hits"} <= set(line) for line in lines)


def test_the_state_is_shown(kb: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, rows = call(kb, capfd, "symbol", "find_oldest")
    assert (code, rows[0]["path"], rows[0]["start_line"]) == (0, "cache.py", 10)
    code, rows = call(kb, capfd, "graph", "callers", "find_oldest")
    assert (code, [row["line"] for row in rows]) == (0, [7])
    code, rows = call(kb, capfd, "files", "shop", "--skipped")
    assert (code, [(row["path"], row["reason"]) for row in rows]) == (0, [("empty.py", "empty")])
    for command in (["status"], ["generations", "shop"], ["doctor"]):
        assert call(kb, capfd, *command)[0] == 0


@pytest.mark.parametrize("argv", [
    ["status"], ["files", "shop"], ["symbol", "Cache"], ["graph", "callees", "Cache.evict_oldest"], ["doctor"],
    ["generations", "shop"], ["search", "cache", "--explain", "-v"], ["ask", "Where is the invoice tax added?", "-v"],
])  # fmt: skip
def test_people_get_text(argv: list[str], kb: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*argv, "--kb", str(kb)]) in (0, 1)
    out, err = capfd.readouterr()
    assert out.strip()
    assert err == ""


def test_export_is_what_import_reads(kb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "dump.jsonl"
    assert run(["--kb", str(kb), "export", "-o", str(dump)]) == 0
    code, _ = call(tmp_path / "copy", capfd, "import", str(dump))
    assert code == 0
    code, result = call(tmp_path / "copy", capfd, "search", "invoice tax", "-k", "1")
    assert (code, result["hits"][0]["path"]) == (0, "invoice.py")


def test_no_knowledge_base_is_an_error_that_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "x", "--json", "--kb", str(tmp_path / "none")]) == 2
    assert json.loads(capfd.readouterr().err)["error"]["message"]
    assert not (tmp_path / "none").exists()


def test_a_closed_pipe_is_no_error(kb: Path) -> None:
    command = [sys.executable, "-m", "devmind", "--kb", str(kb), "export"]
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_says_what_to_do_and_the_next_run_finishes(tmp_path: Path) -> None:
    source = tmp_path / "big"
    source.mkdir()
    for number in range(400):
        (source / f"m{number}.py").write_text(
            "".join(f"def f{number}_{i}(x):\n    return x + {i}\n\n\n" for i in range(60)), encoding="utf-8"
        )
    command = [sys.executable, "-m", "devmind", "--kb", str(tmp_path / "kb"), "add", str(source)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        process.stderr.readline()  # work has begun
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        message = process.stderr.read()
    assert process.returncode == 130
    assert "published generation is unchanged" in message
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["reports"][0]["n_indexed"] == 400


@pytest.mark.parametrize(("argv", "said"), [
    (["symbol", "NoSuchName"], "No definition of NoSuchName is indexed"),
    (["graph", "callers", "NoSuchName"], "No definition of NoSuchName is indexed"),
    (["graph", "callers", "evict_oldest"], "No call of evict_oldest is indexed"),
    (["graph", "path", "find_oldest", "add_tax"], "No chain of calls leads from find_oldest to add_tax"),
    (["graph", "imports", "nothing"], "Nothing indexed imports nothing"),
    (["search", "cache", "--path", "web/*"], "No indexed code passes the filters --path web/*"),
])  # fmt: skip
def test_a_person_is_told_why_there_is_nothing(
    argv: list[str], said: str, kb: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([*argv, "--kb", str(kb)]) == 1
    assert said in capfd.readouterr().out


def test_words_need_no_quotes(kb: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, result = call(kb, capfd, "search", "invoice", "tax", "-k", "1")
    assert (code, result["query"], result["hits"][0]["path"]) == (0, "invoice tax", "invoice.py")


def test_a_failed_export_leaves_no_file(kb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "dump.jsonl"
    assert run(["--kb", str(kb), "export", "nosuch", "-o", str(dump)]) == 2
    assert "no repository named 'nosuch'" in capfd.readouterr().err
    assert not dump.exists()


def test_sync_of_everything_passes_over_what_was_imported(
    kb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dump, copy, source = tmp_path / "dump.jsonl", tmp_path / "copy", tmp_path / "other"
    source.mkdir()
    (source / "a.py").write_text("A = 1\n", encoding="utf-8")
    assert run(["--kb", str(kb), "export", "-o", str(dump)]) == 0
    assert run(["--kb", str(copy), "import", str(dump)]) == 0
    assert run(["--kb", str(copy), "sync"]) == 2
    assert "imported from files" in capfd.readouterr().err
    assert run(["--kb", str(copy), "add", str(source)]) == 0
    code, result = call(copy, capfd, "sync")
    assert (code, [report["repo"] for report in result["reports"]], result["errors"]) == (0, ["other"], [])


def test_a_source_is_named_once_in_its_error_and_by_its_name_in_the_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "shelf"
    source.mkdir()
    (source / "a.py").write_text("A = 1\n", encoding="utf-8")
    monkeypatch.chdir(source)
    assert run(["--kb", str(tmp_path / "kb"), "add", "."]) == 0
    assert "shelf publish" in capfd.readouterr().err
    assert run(["--kb", str(tmp_path / "kb"), "add", "/nonexistent"]) == 2
    assert capfd.readouterr().err.startswith("devmind: /nonexistent does not exist")
