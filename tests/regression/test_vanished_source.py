"""A folder that vanished was reported as "git is not installed"; a pipe closed by git could end a run in silence."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.errors import UpstreamError
from devmind.scan import ScanRules, open_source, scan
from devmind.scan.git import Repository, read_blobs


def test_gone_between_opening_and_reading(repo: Path, tmp_path: Path) -> None:
    source = open_source(str(repo), ref=None, mirror_dir=tmp_path)
    shutil.rmtree(repo)
    with pytest.raises(UpstreamError, match="gone") as caught:
        list(scan(source, ScanRules()))
    assert (caught.value.code, caught.value.retryable) == ("source_vanished", True)


def test_git_that_stops_at_once_is_told(tmp_path: Path) -> None:
    with pytest.raises(UpstreamError, match="stopped early"):
        list(read_blobs(Repository(tmp_path / "none.git", None), ["0" * 40] * 1000))


def test_a_folder_that_may_be_listed_and_not_entered(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    folder.chmod(0o444)
    code = (
        "import sys; from pathlib import Path; from devmind.scan import open_source\n"
        "try: open_source(sys.argv[1], ref=None, mirror_dir=Path(sys.argv[1]))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    command = [sys.executable, "-c", code, str(folder)]
    if os.geteuid() == 0:  # root may enter everything, unless it gives that up
        if shutil.which("setpriv") is None:
            pytest.skip("run as root, and setpriv is not there to drop the rights")
        dropped = "-dac_override,-dac_read_search"
        command = ["setpriv", f"--inh-caps={dropped}", f"--bounding-set={dropped}", *command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        folder.chmod(0o755)
    assert done.stdout.startswith("UsageError")
    assert "check path and rights" in done.stdout


def test_a_sparse_checkout_has_not_lost_its_files(
    repo: Path, git: Callable[..., str], scanned: Callable[..., dict[str, str]]
) -> None:
    git(repo, "sparse-checkout", "set", "--no-cone", "a.py")
    assert scanned(repo) == {"a.py": "", "b.py": "excluded"}
