"""Environment, home folder and ``config.toml`` → :class:`Settings`. The only module that reads any of them.

Plain dataclasses and ``tomllib``: a settings library costs more start-up time than the search it configures.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from string import Formatter
from typing import Any, Literal, get_args

from devmind.errors import UsageError
from devmind.model_tables import KINDS, table_problem, with_places
from devmind.model_tables import expanded as expanded  # for the command line, too

Strategy = Literal["layered", "syntax", "fixed", "semantic"]
MAX_WORKERS = 64
_TABLES = tuple(KINDS)
_GIT_PLACE = (  # `git rev-parse --local-env-vars`, without those that carry configuration
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
    "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the knowledge base is, and how it is built and shown. All but ``home`` may stand in ``config.toml``.

    Attributes:
        strategy: how documents are cut: fixed, semantic, syntax or layered.
        n_workers: processes that parse and embed while indexing, 1..64.
        embedder: the table ``[embedder]`` of a model other than the built-in one; empty for that.
        reranker: the table ``[reranker]`` of a second stage; empty for none.
        expansion: the table ``[expansion]`` of a chat model that rewords questions; empty for none. The keys of the
            three are those of `devmind.model_tables`.
        links: form of the links in a terminal, with ``{path}`` and ``{line}``; empty for no links.
    """

    home: Path
    strategy: Strategy = "layered"
    n_workers: int = 2
    embedder: Mapping[str, Any] = field(default_factory=dict)
    reranker: Mapping[str, Any] = field(default_factory=dict)
    expansion: Mapping[str, Any] = field(default_factory=dict)
    links: str = "file://{path}#L{line}"


def forget_git_place() -> None:
    """Drop the variables by which git tells a hook where it is: they would lead our git to another repository."""
    for name in _GIT_PLACE:
        os.environ.pop(name, None)


def load(kb: str | None = None, config: str | None = None) -> Settings:
    """Return the settings of the knowledge base ``kb``, else of ``$DEVMIND_HOME``, else of the user data folder.

    Args:
        config: the file to read instead of the knowledge base's own ``config.toml``.

    Raises:
        UsageError: the file is not TOML, a key or value in it is not known, or ``config`` is not there.
    """
    if kb == "":
        raise UsageError("--kb is empty: give the folder of the knowledge base, or leave the option out")
    chosen = kb or os.environ.get("DEVMIND_HOME")
    if chosen:
        home = expanded(chosen).absolute()
    else:
        from platformdirs import user_data_path  # costs start-up time that an explicit folder need not pay

        home = user_data_path("devmind", appauthor=False)
    if config is None:
        return _with_file(Settings(home), home / "config.toml")
    path = expanded(config).absolute()
    if not path.is_file():
        raise UsageError(f"--config {config!r} is no file: correct it, or leave the option out", code="bad_config")
    return _with_file(Settings(home), path)


def _with_file(settings: Settings, path: Path) -> Settings:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return settings
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as TOML: {error}", code="bad_config") from error
    known = [known.name for known in fields(Settings) if known.name != "home"]
    for key, value in values.items():
        if key not in known:
            raise UsageError(f"{path}: unknown key {key!r}; known keys: {', '.join(known)}", code="bad_config")
        problem = _problem(key, value)
        if problem:  # a table may hold a key by mistake, so it is not shown as a whole
            shown = f"[{key}]" if isinstance(value, dict) else f"{key} = {value!r}"
            raise UsageError(f"{path}: {shown}: {problem}", code="bad_config")
    tables = {key: with_places(value, path.parent) for key, value in values.items() if key in _TABLES}
    return replace(settings, **{**values, **tables})


def _problem(key: str, value: Any) -> str:
    if key == "n_workers":
        valid = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_WORKERS
        return "" if valid else f"must be a whole number from 1 to {MAX_WORKERS}"
    if key in _TABLES:
        return table_problem(key, value)
    if not isinstance(value, str):
        return "must be a string"
    if key == "strategy" and value not in get_args(Strategy):
        return f"must be one of {', '.join(get_args(Strategy))}"
    if key == "links" and value:
        try:  # a format specification could ask for a gigabyte of blanks, an attribute for anything
            fields_used = {(name, spec, conversion) for _, name, spec, conversion in Formatter().parse(value)}
        except ValueError:
            return "may hold {path} and {line} only"
        if not fields_used <= {(None, None, None), ("path", "", None), ("line", "", None)}:
            return "may hold {path} and {line} only"
    return ""


def secret(name: str) -> str:
    """Return the value of the environment variable ``name``: configurations name their secrets, never hold them.

    Raises:
        UsageError: the variable is not set, empty, or holds what no HTTP header can carry.
    """
    value = os.environ.get(name, "").strip()
    if not value:
        raise UsageError(
            f"the environment variable {name!r} is not set: set it, or correct its name in the configuration",
            code="no_secret",
        )
    if not (value.isascii() and value.isprintable()):
        raise UsageError(
            f"the environment variable {name!r} holds characters that no key has: set it again", code="no_secret"
        )
    return value
