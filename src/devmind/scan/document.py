"""One file's bytes → a ``Document``, or a ``Skipped`` with the reason. Does no I/O."""

from __future__ import annotations

import hashlib
import re

from devmind.scan.decode import BinaryContent, UndecodableContent, decode
from devmind.scan.language import language_of
from devmind.scan.role import role_of
from devmind.scan.secrets import has_secret_assignment, mask_secrets
from devmind.types import Document, Skipped

_BINARY = frozenset(
    {
        "png", "jpg", "jpeg", "gif", "bmp", "ico", "webp", "tif", "tiff", "psd", "avif", "heic", "mp3", "mp4",
        "m4a", "wav", "ogg", "flac", "avi", "mov", "mkv", "webm", "woff", "woff2", "ttf", "otf", "eot", "zip", "gz",
        "tgz", "bz2", "xz", "zst", "7z", "rar", "tar", "jar", "war", "ear", "whl", "egg", "exe", "dll", "so",
        "dylib", "a", "o", "obj", "lib", "pdb", "class", "pyc", "pyo", "pyd", "wasm", "bin", "dat", "pdf", "doc",
        "docx", "xls", "xlsx", "ppt", "pptx", "odt", "sqlite", "sqlite3", "db", "mdb", "parquet", "arrow",
        "feather", "npy", "npz", "pkl", "pickle", "pt", "pth", "onnx", "safetensors", "h5", "hdf5", "model", "deb",
        "rpm", "dmg", "iso", "apk", "ipa", "swf", "blend", "fbx", "glb", "mo", "gmo", "nib"
    }
)  # fmt: skip
_LOCKS = frozenset(
    {
        "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
        "poetry.lock", "pipfile.lock", "uv.lock", "pdm.lock", "cargo.lock", "composer.lock", "gemfile.lock",
        "podfile.lock", "mix.lock", "go.sum", "go.work.sum", "pubspec.lock", "flake.lock", "packages.lock.json",
        "gradle.lockfile", "deno.lock", "package.resolved", "conan.lock"
    }
)  # fmt: skip
_SOURCE_MAP = re.compile(r"\.(?:[cm]?js|css|ts)\.map$")
_MINIFIED_NAME = re.compile(r"[.-]min\.(?:[cm]?js|css|html)$")
_KEY_NAMES = frozenset(
    {
        "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", ".netrc", "_netrc", ".pgpass",
        ".htpasswd", ".git-credentials", ".env", ".vault_pass", ".vault-token", ".boto", ".s3cfg"
    }
)  # fmt: skip
_KEY_EXTENSIONS = frozenset(
    {
        "p12", "pfx", "jks", "keystore", "kdbx", "ppk"
    }
)  # fmt: skip
_ENV_EXAMPLES = ("example", "sample", "template", "dist", "defaults", "tmpl", "schema")
_KEY_PATH_NAMES = frozenset({"credentials", "config.json", "config"})
_KEY_PATH = re.compile(r"(?:^|/)(?:\.aws/credentials|\.docker/config\.json|\.kube/config|\.gem/credentials)$")
_TOKEN_FILES = frozenset({".npmrc", ".pypirc", ".yarnrc.yml", ".dockercfg", "pip.conf", "nuget.config"})
_AUTH_LINE = re.compile(
    r"(?:_auth(?:token)?|npmauthtoken|cleartextpassword|password|\"auth\")[\"']?\s*[=:]\s*[\"']?(?!\$|<|%|\{)\S{6,}",
    re.IGNORECASE,
)
_CREDENTIAL_NAME = re.compile(
    r"(?:^|[._-])(?:credentials?|secrets?|service[_-]?account)(?:[._-][\w.-]*)?\.(?:json|ya?ml|ini|csv)$"
)
_PRIVATE_KEY = re.compile(r"(?:[^\n]*\n){0,30}?-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_LFS = "version https://git-lfs.github.com/spec/v1\n"
# Mean line length above which a file was written by a tool. Hand-written code means 25 to 60; prose that puts a
# paragraph on one line reaches 800, so it gets more room.
_DENSE_LANGUAGES = frozenset({"javascript", "typescript", "tsx", "css", "scss", "html", "vue", "svelte", "json", "xml"})
_MAX_MEAN_LINE = {True: 500, False: 2000}
_MIN_MINIFIED_SIZE = 4_000
_HEAD = 4_000


def skip_by_name(path: str, size_bytes: int, max_bytes: int) -> Skipped | None:
    """Return a skip for what name and size alone decide, so that it need not be read."""
    name = path.rpartition("/")[2].lower()
    extension = name.rpartition(".")[2] if "." in name else ""
    if _is_key_name(path, name, extension):
        return Skipped(path, "secret", "a file of this name holds keys or passwords", size_bytes)
    if name in _LOCKS:
        return Skipped(path, "generated", "a lock file", size_bytes)
    if extension == "map" and _SOURCE_MAP.search(name):
        return Skipped(path, "generated", "a source map", size_bytes)
    if extension in _BINARY:
        return Skipped(path, "binary", f"a .{extension} file", size_bytes)
    if size_bytes == 0:
        return Skipped(path, "empty", "it has no content")
    if size_bytes > max_bytes:
        return Skipped(path, "too_large", f"{size_bytes} bytes, the limit is {max_bytes}", size_bytes)
    if _MINIFIED_NAME.search(name):
        return Skipped(path, "minified", "its name says so", size_bytes)
    return None


def skip_secret(path: str, text: str, size_bytes: int) -> Skipped | None:
    """Return a skip for a file that by its name or content exists to hold keys or passwords."""
    name = path.rpartition("/")[2].lower()
    if _is_key_name(path, name, name.rpartition(".")[2] if "." in name else ""):
        return Skipped(path, "secret", "a file of this name holds keys or passwords", size_bytes)
    if _is_secret_content(path, text):
        return Skipped(path, "secret", "it holds a private key or access tokens", size_bytes)
    return None


def read_document(path: str, data: bytes, *, last_modified: float | None = None) -> Document | Skipped:
    """Turn the whole content of one file into a document, or say why it is none."""
    size_bytes = len(data)
    try:
        text, encoding = decode(data)
    except BinaryContent as error:
        return Skipped(path, "binary", str(error), size_bytes)
    except UndecodableContent as error:
        return Skipped(path, "undecodable", str(error), size_bytes)
    if not text or text.isspace():
        return Skipped(path, "empty", "it has no content but white space", size_bytes)
    if text.startswith(_LFS):
        return Skipped(path, "lfs_pointer", "the content is in Git LFS: run `git lfs pull`", size_bytes)
    if _is_secret_content(path, text):
        return Skipped(path, "secret", "it holds a private key or access tokens", size_bytes)
    head = text[:_HEAD]
    language = language_of(path, head.partition("\n")[0].rstrip("\r"), head)
    n_lines = text.count("\n") + 1
    if size_bytes > _MIN_MINIFIED_SIZE and len(text) > n_lines * _MAX_MEAN_LINE[language in _DENSE_LANGUAGES]:
        return Skipped(path, "minified", f"{len(text) // n_lines} characters a line on average", size_bytes)
    role = role_of(path, head, language)
    masked = mask_secrets(text)
    digest = hashlib.blake2b(language.encode() + b"\0", digest_size=16)
    digest.update(masked.encode())
    return Document(path, masked, language, role, digest.hexdigest(), encoding, size_bytes, last_modified)


def _is_key_name(path: str, name: str, extension: str) -> bool:
    if name in _KEY_NAMES or extension in _KEY_EXTENSIONS or (name in _KEY_PATH_NAMES and _KEY_PATH.search(path)):
        return True
    return name.startswith(".env.") and not name.endswith(_ENV_EXAMPLES)


def _is_secret_content(path: str, text: str) -> bool:
    name = path.rpartition("/")[2].lower()
    if name.endswith((".pem", ".key", ".asc", ".gpg")) or "." not in name:
        return "PRIVATE KEY" in text and _PRIVATE_KEY.match(text.lstrip()) is not None
    if name in _TOKEN_FILES:
        return _AUTH_LINE.search(text) is not None
    if "cred" in name or "secret" in name or "service" in name:
        return _CREDENTIAL_NAME.search(name) is not None and has_secret_assignment(text)
    return False
