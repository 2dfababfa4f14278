"""`exclude.txt` → a test of names and paths. Must not be bypassed: every text of the training corpus passes
`is_excluded`.

The listed projects are benchmark subjects. A package or a path component is excluded when it *is* a listed name, or
contains one as a whole part between separators (`django-filter`, `node_modules/axios`, `github.com/gin-gonic/gin`,
`requests-2.31`, `libuv1`): too much is dropped rather than too little. Parts that are ordinary words excluded only as
a package name would cost common folder names (`click`, `plug`, `rack`), and that loss is accepted too.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

EXCLUDE_FILE = Path(__file__).with_name("exclude.txt")

# Other names under which a listed project is published: import names, organisations, Debian source names.
_ALIASES = {
    "absl",
    "abseil",
    "sklearn",
    "fmt",
    "nlohmann",
    "pydantic_core",
    "fasterxml",
    "databind",
    "commons-lang3",
    "langx",
    "illuminate",
    "laravel",
    "uvicorn-gunicorn-fastapi",
    "kotlinx",
    "newtonsoft",
    "messagepack",
    "_pytest",
    "hiredis",
    "redisson",
    "gin-gonic",
    "spf13-cobra",
    "go-chi",
    "mpl_toolkits",
    "actionpack",
    "activerecord",
    "activesupport",
    "actionview",
    "activejob",
    "activemodel",
    "actionmailer",
    "actioncable",
    "activestorage",
    "railties",
    "guzzlehttp",
    "telescope-nvim",
    "trpc-openapi",
    "serde_derive",
    "serde_json",
    "tokio-util",
    "pytest_asyncio",
}


@cache
def _names() -> frozenset[str]:
    listed = {
        line.strip().lower() for line in EXCLUDE_FILE.read_text("utf-8").splitlines() if line.strip() and line[0] != "#"
    }
    names = listed | _ALIASES
    return frozenset(names | {n.replace("-", "_") for n in names} | {n.replace(".", "-") for n in names})


@cache
def _component_excluded(component: str) -> bool:
    names = _names()
    if component in names or re.sub(r"[-_.]?v?\d[\w.+~-]*$", "", component) in names:
        return True
    # `libgson-java` is Debian's name of gson.
    parts = re.split(r"[-_.@+]", component.removeprefix("lib"))
    # Whole parts, and neighbouring parts joined again, so that `scikit-learn-extra` and `lazy.nvim` are found.
    return any("-".join(parts[i:j]) in names for i in range(len(parts)) for j in range(i + 1, len(parts) + 1))


def is_excluded(path_or_name: str) -> bool:
    """Whether any component of the path, or the package name, names a listed project."""
    return any(_component_excluded(c) for c in path_or_name.lower().split("/") if c)
