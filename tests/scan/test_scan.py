"""Sources, walking and skip reasons, with real folders and real git."""

import os
import socket
from pathlib import Path

import pytest

from devmind.errors import UpstreamError, UsageError
from devmind.scan import ScanRules, open_source, scan
from devmind.scan.source import _without_password
from devmind.scan.walk import read_file
from devmind.types import Document, Skipped

CODE = "def f():\n    return 1\n"


def test_a_plain_folder_gives_documents_in_order(tree, write, scanned):
    write(tree, {"b.py": CODE, "a/z.go": "package a\n", "README.md": "# Hi\n"})
    found = scanned(tree)
    assert found.order == ["README.md", "b.py", "a/z.go"]
    document = found.documents["b.py"]
    assert (document.text, document.language, document.role, document.encoding) == (CODE, "python", "source", "utf-8")
    assert document.size_bytes == len(CODE) and document.last_modified == pytest.approx((tree / "b.py").stat().st_mtime)
    assert len(document.content_hash) == 32 and not found.reasons


def test_an_empty_folder_gives_nothing(tree, scanned):
    assert scanned(tree).order == []


def test_the_hash_depends_on_language_and_masked_text_alone(tree, write, scanned):
    write(tree, {"a.py": CODE, "d/b.py": CODE, "c.rb": CODE})
    hashes = {path: document.content_hash for path, document in scanned(tree).documents.items()}
    assert hashes["a.py"] == hashes["d/b.py"] != hashes["c.rb"]


def test_nested_ignore_files_of_a_plain_folder(tree, write, scanned):
    write(
        tree,
        {
            ".gitignore": b"*.log\nbuild/\n\xff\xfe\n/only_root.py\n",
            "a.log": "x\n",
            "only_root.py": CODE,
            "sub/only_root.py": CODE,
            "build/x.py": CODE,
            "sub/.gitignore": "!keep.log\nlocal.py\r\n",
            "sub/keep.log": "kept\n",
            "sub/local.py": CODE,
            ".devmindignore": "private/\n",
            "private/x.py": CODE,
        },
    )
    found = scanned(tree)
    assert found.reasons == dict.fromkeys(["a.log", "only_root.py", "build/", "sub/local.py", "private/"], "ignored")
    assert {"sub/keep.log", "sub/only_root.py", ".gitignore"} <= set(found.order)


def test_include_and_exclude(tree, write, scanned):
    write(tree, {"src/a.py": CODE, "src/b.js": "let a\n", "gen/c.py": CODE})
    found = scanned(tree, ScanRules(include=("*.py",), exclude=("gen/",)))
    assert list(found.documents) == ["src/a.py"]
    assert found.reasons == {"src/b.js": "excluded", "gen/": "excluded"}


def test_reasons_by_name_and_content(tree, write, scanned):
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "MIIEpAIBAAKCAQEA1234abcdMIIEpAIBAAKCAQEA\n" * 3
        + "-----END RSA PRIVATE KEY-----\n"
    )
    write(
        tree,
        {
            "empty.py": "",
            "blank.py": "\n \n",
            "pic.png": "x",
            "nul.c": b"int a;\0\n",
            "noise.txt": bytes(range(1, 32)) * 20 + b"\xff\xfe\xfd",
            "big.py": "x = 1\n" * 200_000,
            "bundle.js": "var a=1;" * 5_000,
            "lib.min.js": "a()\n",
            "package-lock.json": "{}\n",
            "x.js.map": "{}\n",
            "node_modules/a/i.js": "a\n",
            "pkg/__pycache__/a.py": "a\n",
            "a.dist-info/RECORD": "a\n",
            ".env": "A=1\n",
            ".env.production": "A=1\n",
            ".env.example": "A=\n",
            "id_rsa": "k\n",
            "server.pem": key,
            "ca.pem": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
            "store.p12": b"\1",
            ".npmrc": "//registry.npmjs.org/:_authToken=npm_abcdef0123456789\n",
            "ok/.npmrc": "registry=https://registry.npmjs.org\n_authToken=${NPM_TOKEN}\n",
            "credentials.json": '{"client_secret": "aB3dE5fG7hI9jK1lM3nO5pQ7"}\n',
            "bom.txt": b"\xff\xfea\0\x00\xd8",
            "model.bin2": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n",
            "vendor/lib.go": "package lib\n",
        },
    )
    found = scanned(tree)
    assert found.reasons == {
        "empty.py": "empty",
        "blank.py": "empty",
        "pic.png": "binary",
        "nul.c": "binary",
        "noise.txt": "binary",
        "big.py": "too_large",
        "bundle.js": "minified",
        "lib.min.js": "minified",
        "package-lock.json": "generated",
        "x.js.map": "generated",
        "node_modules/": "vendored",
        "pkg/__pycache__/": "vendored",
        "a.dist-info/": "vendored",
        ".env": "secret",
        ".env.production": "secret",
        "id_rsa": "secret",
        "server.pem": "secret",
        "store.p12": "secret",
        ".npmrc": "secret",
        "credentials.json": "secret",
        "bom.txt": "undecodable",
        "model.bin2": "lfs_pointer",
    }
    assert set(found.documents) == {".env.example", "ca.pem", "ok/.npmrc", "vendor/lib.go"}
    assert found.documents["vendor/lib.go"].role == "vendored"


def test_a_one_line_bundle_of_5_mb_is_minified_when_allowed(tree, write, scanned):
    write(tree, {"b.js": "f(1);" * 1_000_000})
    assert scanned(tree).reasons == {"b.js": "too_large"}
    assert scanned(tree, ScanRules(max_bytes=10_000_000)).reasons == {"b.js": "minified"}


def test_installed_folders_open_on_request(tree, write, scanned):
    write(tree, {"node_modules/a/i.js": "let a = 1\n"})
    assert scanned(tree, ScanRules(index_vendored=True)).documents["node_modules/a/i.js"].role == "vendored"


def test_a_huge_sparse_file_is_not_read(tree, scanned):
    with (tree / "huge.txt").open("wb") as file:
        file.truncate(200_000_000)
    assert scanned(tree).reasons == {"huge.txt": "too_large"}


def make_links(tree: Path) -> dict[str, str]:
    for name, target in {
        "in": "real/a.py",
        "folder": "real",
        "real/up": "..",
        "self": "self",
        "x": "y",
        "y": "x",
        "gone": "nothing",
        "out": "../../etc",
        "root": "/etc/hostname",
        "chain": "in",
        "real/a2": "../in",
    }.items():
        (tree / name).symlink_to(target)
    return {
        "in": "symlink",
        "folder": "symlink",
        "real/up": "symlink_loop",
        "self": "symlink_loop",
        "x": "symlink_loop",
        "y": "symlink_loop",
        "gone": "symlink_broken",
        "out": "symlink_outside",
        "root": "symlink_outside",
        "chain": "symlink",
        "real/a2": "symlink",
    }


def test_links(tree, write, scanned):
    write(tree, {"real/a.py": CODE})
    expected = make_links(tree)
    assert scanned(tree).reasons == expected


def test_pipes_and_sockets_are_never_opened(tree, write, scanned):
    os.mkfifo(tree / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tree / "s.py"))
        assert scanned(tree).reasons == {"pipe.py": "not_regular", "s.py": "not_regular"}


def test_a_pipe_put_in_a_files_place_does_not_block(tree):
    os.mkfifo(tree / "p")
    assert read_file(os.fsencode(tree / "p"), expected=5, limit=10) == b""


@pytest.mark.parametrize(("expected", "got"), [(9, 9), (0, 9), (20, 9)])
def test_a_file_that_changed_since_it_was_listed_is_read_as_it_is(tree, write, expected, got):
    write(tree, {"a": "123456789"})
    assert len(read_file(os.fsencode(tree / "a"), expected=expected, limit=50)) == got
    assert read_file(os.fsencode(tree / "a"), expected=expected, limit=4) == b"1234"


def test_a_file_that_vanishes_between_listing_and_reading(tree, write):
    write(tree, {"a.py": CODE, "b.py": CODE, "d/c.py": CODE})
    results = scan(open_source(str(tree), mirror_dir=tree), ScanRules())
    assert isinstance(next(results), Document)
    (tree / "b.py").unlink()
    (tree / "d" / "c.py").unlink()
    (tree / "d").rmdir()
    assert [(item.path, item.reason) for item in results if isinstance(item, Skipped)] == [
        ("b.py", "vanished"),
        ("d/", "vanished"),
    ]


NAMES = [
    b"with space.py",
    "中文.py".encode(),
    "😀.py".encode(),
    b"new\nline.py",
    b"bad\xff\xe9.py",
    b"sub\xff/x.py",
    b"-dash.py",
]
SHOWN = ["with space.py", "中文.py", "😀.py", "new\nline.py", "bad\\xff\\xe9.py", "sub\\xff/x.py", "-dash.py"]


def test_odd_names_on_disk_and_in_git(repo, git, scanned, tmp_path):
    for name in NAMES:
        path = os.path.join(os.fsencode(repo), name)  # noqa: PTH118
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(CODE.encode())
    untracked = scanned(repo)
    assert set(untracked.documents) == set(SHOWN)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "names")
    assert set(scanned(repo).documents) == set(scanned(repo, ref="HEAD").documents) == set(SHOWN)
    for path in SHOWN:
        path.encode("utf-8")


def test_a_working_tree(repo, git, write, scanned, tmp_path):
    write(
        repo,
        {
            ".gitignore": "*.log\nout/\nkept/\n",
            "a.py": CODE,
            "tracked.log": "log\n",
            "other.log": "log\n",
            "out/deep/x.py": CODE,
            "kept/in.py": CODE,
            "kept/loose.py": CODE,
            "new.py": CODE,
            "node_modules/m/i.js": "a\n",
            "private.txt": "p\n",
            "mine.py": CODE,
        },
    )
    git(repo, "add", "-f", "a.py", "tracked.log", "kept/in.py", ".gitignore", "mine.py")
    git(repo, "commit", "-qm", "one")
    write(repo, {".git/info/exclude": "private.txt\n", ".devmindignore": "mine.py\n"})
    found = scanned(repo)
    assert found.reasons == {
        "other.log": "ignored",
        "out/": "ignored",
        "kept/loose.py": "ignored",
        "node_modules/": "vendored",
        "private.txt": "ignored",
        "mine.py": "ignored",
    }
    assert set(found.documents) == {".gitignore", ".devmindignore", "a.py", "kept/in.py", "new.py", "tracked.log"}
    source = open_source(str(repo), mirror_dir=tmp_path)
    assert (source.kind, source.name, source.ref) == ("git", "project", "")
    assert source.commit == git(repo, "rev-parse", "HEAD") + "-dirty" and source.location == str(repo)


def test_a_folder_of_a_repository_keeps_the_rules_above_it(repo, git, write, scanned, tmp_path):
    write(repo, {".gitignore": "sub/gen/\n", ".devmindignore": "/sub/no.py\n", "sub/a.py": CODE, "sub/no.py": CODE})
    write(repo, {"sub/gen/x.py": CODE, "top.py": CODE})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    for ref in (None, "main"):
        found = scanned(repo / "sub", ref=ref)
        assert list(found.documents) == ["a.py"]
        assert found.reasons["no.py"] == "ignored"
    assert scanned(repo / "sub").reasons["gen/"] == "ignored"
    assert open_source(str(repo / "sub"), mirror_dir=tmp_path).commit == git(repo, "rev-parse", "HEAD")


def test_an_ignored_folder_added_by_name_is_read(repo, git, write, scanned):
    write(repo, {".gitignore": "data/\n", "data/a.py": CODE})
    assert set(scanned(repo / "data").documents) == {"a.py"}


def test_ref_and_working_tree_are_equal(repo, git, write, scanned):
    write(
        repo, {"a.py": CODE, "real/a.py": CODE, "gbk.c": "// 这是一个测试\n".encode("gbk"), ".env": "A=1\n", "e.py": ""}
    )
    write(repo, {"vendor/x.go": "package x\n", "node_modules/i.js": "a\n", "p.py": 'password = "aB3$dE5fG7hI9jK"\n'})
    links = make_links(repo)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    disk, tree = scanned(repo), scanned(repo, ref="main")
    assert disk.reasons == tree.reasons and links.items() <= tree.reasons.items()
    fields = ("path", "text", "language", "role", "content_hash", "encoding", "size_bytes")
    for path, document in disk.documents.items():
        assert [getattr(document, name) for name in fields] == [getattr(tree.documents[path], name) for name in fields]
    assert disk.documents["p.py"].text == 'password = "***"\n'


def test_a_ref_shows_its_own_state_and_its_own_rules(repo, git, write, scanned, tmp_path):
    write(repo, {"a.py": "old = 1\n", ".devmindignore": "no.py\n", "no.py": CODE})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    git(repo, "tag", "v1")
    write(repo, {"a.py": "new = 1\n", ".devmindignore": "\n", "b.py": CODE})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "two")
    old = scanned(repo, ref="v1")
    assert old.documents["a.py"].text == "old = 1\n" and old.reasons == {"no.py": "ignored"}
    source = open_source(str(repo), ref="v1", mirror_dir=tmp_path)
    assert (source.ref, source.commit) == ("v1", git(repo, "rev-parse", "v1"))
    assert scanned(repo).documents["no.py"].text == CODE


def test_detached_head_and_no_commits(repo, git, write, scanned, tmp_path):
    write(repo, {"a.py": CODE})
    source = open_source(str(repo), mirror_dir=tmp_path)
    assert source.commit == "" and set(scanned(source).documents) == {"a.py"}
    with pytest.raises(UsageError, match="no commits"):
        open_source(str(repo), ref="HEAD", mirror_dir=tmp_path)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    git(repo, "checkout", "-q", "--detach")
    assert open_source(str(repo), mirror_dir=tmp_path).commit == git(repo, "rev-parse", "HEAD")


def test_submodules_and_nested_repositories(repo, git, write, scanned, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    write(other, {"o.py": CODE})
    git(other, "add", "-A")
    git(other, "commit", "-qm", "o")
    git(repo, "submodule", "add", "-q", f"file://{other}", "mod")
    git(repo, "commit", "-qm", "s")
    git(tmp_path, "clone", "-q", str(other), str(repo / "nested"))
    assert scanned(repo).reasons == {"mod": "submodule", "nested": "submodule"}
    assert scanned(repo, ref="HEAD").reasons == {"mod": "submodule"}


def test_deleted_and_replaced_tracked_files(repo, git, write, scanned, tmp_path):
    write(repo, {"gone.py": CODE, "d/a.py": CODE, "f": CODE})
    write(tmp_path, {"elsewhere/a.py": "secret = 1\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    (repo / "gone.py").unlink()
    (repo / "d" / "a.py").unlink()
    (repo / "d").rmdir()
    (repo / "d").symlink_to("../elsewhere")
    reasons = scanned(repo).reasons
    assert reasons["gone.py"] == "vanished"
    assert "d/a.py" not in scanned(repo).documents


def test_a_linked_work_tree_and_a_foreign_git_dir(repo, git, write, scanned, tmp_path, monkeypatch):
    write(repo, {"a.py": CODE})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    write(tmp_path / "linked", {"b.py": CODE})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert set(scanned(tmp_path / "linked").documents) == {"a.py", "b.py"}


def test_a_broken_git_folder_counts_as_none(tree, write, scanned):
    write(tree, {".git/HEAD": "nonsense\n", "a.py": CODE})
    assert list(scanned(tree).documents) == ["a.py"]


def test_a_mirror_is_cloned_once_and_fetched_again(repo, git, write, scanned, tmp_path):
    write(repo, {"a.py": CODE})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    mirrors = tmp_path / "mirrors"
    url = f"file://{repo}"
    first = open_source(url, mirror_dir=mirrors)
    assert (first.kind, first.name, first.location) == ("url", "project", url)
    assert first.commit == git(repo, "rev-parse", "HEAD") and set(scanned(first).documents) == {"a.py"}
    write(repo, {"b.py": CODE})
    git(repo, "checkout", "-qb", "trunk")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "two")
    git(repo, "branch", "-D", "main")
    second = open_source(url, mirror_dir=mirrors)
    assert second.commit == git(repo, "rev-parse", "trunk") and set(scanned(second).documents) == {"a.py", "b.py"}
    assert len(list(mirrors.iterdir())) == 1
    with pytest.raises(UsageError, match="no ref 'main'"):
        open_source(url, ref="main", mirror_dir=mirrors)
    assert set(scanned(next(mirrors.iterdir())).documents) == {"a.py", "b.py"}  # a bare repository by its path


def test_a_clone_that_fails_leaves_nothing_and_no_password(tmp_path):
    mirrors = tmp_path / "mirrors"
    with pytest.raises(UpstreamError, match="could not read") as caught:
        open_source(f"file://{tmp_path}/none.git", mirror_dir=mirrors)
    assert caught.value.retryable is False and list(mirrors.iterdir()) == []
    with pytest.raises(UpstreamError) as caught:
        open_source("http://ann:hunter22@127.0.0.1:9/x.git", mirror_dir=mirrors)
    assert caught.value.retryable and "hunter22" not in str(caught.value)


def test_an_empty_remote(repo, tmp_path):
    with pytest.raises(UsageError, match="no commits"):
        open_source(f"file://{repo}", mirror_dir=tmp_path / "m")


@pytest.mark.parametrize(
    ("source", "ref", "words"),
    [
        ("none", None, "does not exist"),
        ("file.txt", None, "not a directory"),
        (".", "v9", "not in a git"),
        ("", None, "empty"),
        ("a\0b", None, "cannot be opened"),
        ("gone.git", None, "does not exist"),
        ("r", "v9", "no ref 'v9'"),
        ("r", "--all", "no ref"),
    ],
)
def test_wrong_sources(source, ref, words, tmp_path, git, write, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"file.txt": "x", "r/a.py": CODE})
    git(tmp_path / "r", "init", "-q")
    git(tmp_path / "r", "add", "-A")
    git(tmp_path / "r", "commit", "-qm", "one")
    with pytest.raises(UsageError, match=words):
        open_source(source, ref=ref, mirror_dir=tmp_path / "m")


def test_git_missing(repo, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UpstreamError, match="install git") as caught:
        open_source(str(repo), mirror_dir=tmp_path)
    assert caught.value.code == "git_missing"


def test_a_blob_that_is_missing_is_one_skip(repo, git, write, scanned):
    write(repo, {"a.py": CODE, "b.py": CODE + "\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    oid = git(repo, "rev-parse", "HEAD:b.py")
    (repo / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    found = scanned(repo, ref="HEAD")
    assert set(found.documents) == {"a.py"} and found.reasons == {"b.py": "unreadable"}


def test_a_file_that_grows_past_the_limit_after_listing(tree, write):
    write(tree, {"a.py": CODE, "b.py": CODE, "c.py": CODE})
    results = scan(open_source(str(tree), mirror_dir=tree), ScanRules(max_bytes=100))
    next(results)
    write(tree, {"b.py": CODE * 50})
    grown = next(results)
    assert isinstance(grown, Skipped) and (grown.path, grown.reason) == ("b.py", "too_large")


def test_results_are_the_same_twice(repo, git, write, scanned):
    write(repo, {f"d{i % 3}/f{i}.py": CODE * (i + 1) for i in range(600)})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    assert scanned(repo).order == scanned(repo).order
    first, second = scanned(repo, ref="HEAD"), scanned(repo, ref="HEAD")
    assert first.order == second.order and first.documents == second.documents and len(first.documents) == 600


def test_stopping_early_leaves_no_process_behind(repo, git, write, tmp_path):
    write(repo, {f"f{i}.py": CODE * (i + 1) for i in range(400)})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    results = scan(open_source(str(repo), ref="HEAD", mirror_dir=tmp_path), ScanRules())
    assert isinstance(next(results), Document)
    results.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("https://ann:tok@h.org/a/b.git", "https://h.org/a/b.git"),
        ("https://tok@h.org/a", "https://h.org/a"),
        ("ssh://git@h.org/a.git", "ssh://git@h.org/a.git"),
        ("ssh://git:pw@h.org/a.git", "ssh://git@h.org/a.git"),
        ("git@h.org:a/b.git", "git@h.org:a/b.git"),
        ("https://h.org/a@b", "https://h.org/a@b"),
    ],
)
def test_a_location_holds_no_password(url, location):
    assert _without_password(url) == location
