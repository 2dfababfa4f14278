"""SIGTERM ended a command on the spot: no word, and half a clone left in the knowledge base."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from devmind.scan import open_source


def test_what_a_killed_clone_left_is_swept_by_the_next(tmp_path: Path, repo: Path) -> None:
    """Nothing can be done at SIGKILL itself; the half clone stayed for ever."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    mirrors = tmp_path / "mirrors"
    dead, alive = mirrors / f".cloning-{ended.pid}-x", mirrors / f".cloning-{os.getpid()}-x"
    for folder in (dead, alive):
        (folder / "clone").mkdir(parents=True)
    open_source(repo.as_uri(), ref=None, mirror_dir=mirrors)
    assert (dead.exists(), alive.exists()) == (False, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_clone_that_is_terminated_leaves_nothing(number: signal.Signals, kb: Path, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    command = [sys.executable, "-m", "devmind", "--kb", str(kb), "add", "ssh://host.invalid/project"]
    slow_ssh = {"GIT_SSH_COMMAND": f"touch {begun}; exec sleep 5; :", "GIT_SSH_VARIANT": "ssh"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **slow_ssh}) as process:
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == 128 + number
    assert "run the same command again" in err
    assert list((kb / "mirrors").iterdir()) == []
