"""What becomes a pair: from an archive as a registry serves it to queries and code."""

import json
from pathlib import Path

import pytest

from tests.training.tarballs import write_tarball
from training.collect import Package
from training.comments import split_description
from training.corpus import SourceFile
from training.definitions import definitions
from training.extract import Pair, pairs_of
from training.outline import outline

_READER = """
/** Reads settings of the printer from a file. */
export function readSettings(path) {
  const text = open(path);
  // Lines that start with a sign are comments of people
  const lines = text.split("\\n").filter((line) => line[0] !== "#");
  const kept = lines.map((line) => line.trim()).filter(Boolean);
  return kept;
}

function countPaperTrays(printer) {
  let found = 0;
  for (const part of printer.parts) {
    if (part.kind === "tray" && part.mounted) found += 1;
  }
  return Math.max(found, printer.minimum);
}
"""
_TEST = """
it("refuses a file without any settings", () => {
  const path = write("");
  expect(() => readSettings(path)).toThrow();
});
const padding = "so that the file is long enough to be read: shorter ones hold nothing of use to anybody at all";
const more = "so that the file is long enough to be read: shorter ones hold nothing of use to anybody at all";
"""
_CHANGES = """
# 1.2.0

- `readSettings` no longer fails when the file ends without a line break
- Faster start of everything, and of what was slow before that as well, by and large and all in all
- `noSuchFunction` was removed because nobody had asked for it in the last ten years
"""


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    files = {
        "package/package.json": json.dumps({"name": "printing", "version": "1.2.0", "license": "MIT"}),
        "package/src/settings.js": _READER,
        "package/test/settings.test.js": _TEST,
        "package/CHANGELOG.md": _CHANGES,
        "package/node_modules/axios/index.js": _READER.replace("Settings", "Options"),
    }
    return write_tarball(tmp_path / "printing-1.2.0.tgz", files)


def _found(archive: Path) -> dict[str, list[Pair]]:
    by_kind: dict[str, list[Pair]] = {}
    for pair in pairs_of(archive, Package("npm", "printing", "1.2.0", "MIT")):
        by_kind.setdefault(pair.kind, []).append(pair)
    return by_kind


def test_each_kind_says_what_its_code_does(archive: Path) -> None:
    queries = {kind: [p.query for p in pairs] for kind, pairs in _found(archive).items()}
    assert queries == {
        "doc": ["Reads settings of the printer from a file."],
        "name": ["count paper trays"],
        "test": ["refuses a file without any settings"],
        "block": ["Lines that start with a sign are comments of people"],
        "mention": ["readSettings no longer fails when the file ends without a line break"],
    }


def test_the_code_of_a_pair_lacks_its_query(archive: Path) -> None:
    found = _found(archive)
    assert "Reads settings" not in found["doc"][0].header + found["doc"][0].body
    name = found["name"][0]
    assert "countPaperTrays" not in name.name + name.header + name.body
    assert "mounted" in name.body
    assert "people" not in found["block"][0].body


def test_vendored_and_excluded_folders_give_nothing(archive: Path) -> None:
    assert not [p for pairs in _found(archive).values() for p in pairs if "axios" in p.path]


_SOURCES = {
    "haskell": (
        "-- | Splits a header into words.\nsplitHeader :: Text -> [Text]\n"
        "splitHeader text = go text\n  where\n    go = words\n",
        ("splitHeader", "Splits a header", "go text"),
    ),
    "elixir": (
        'defmodule Shop.Cart do\n  @doc """\n  Adds an item to the cart.\n  """\n  def add(cart, item) do\n'
        "    [item | cart]\n  end\nend\n",
        ("Shop.Cart.add", "Adds an item", "[item | cart]"),
    ),
    "lua": (
        "--- Reads a table from a file.\n-- @param path where\nfunction M.read(path)\n  return parse(path)\nend\n",
        ("M.read", "Reads a table", "parse(path)"),
    ),
    "bash": (
        "# Prints how to use the tool.\nusage() {\n  echo 'usage: tool FILE'\n}\n",
        ("usage", "Prints how", "echo"),
    ),
    "kotlin": (
        "class Camera {\n  /** Opens the shutter of the camera. */\n  fun open(): Int { return shutter.open() }\n}\n",
        ("Camera.open", "Opens the shutter", "shutter.open"),
    ),
    "scala": (
        "object Tax {\n  /** The tax on an amount of money. */\n  def on(amount: Int): Int = {\n"
        "    amount * rate\n  }\n}\n",
        ("Tax.on", "The tax on", "amount * rate"),
    ),
    "swift": (
        "struct Map {\n  /// Moves the map to a place.\n  func move(to place: Place) {\n    center = place\n  }\n}\n",
        ("Map.move", "Moves the map", "center = place"),
    ),
    "csharp": (
        "class Queue {\n  /// <summary>Takes the next job.</summary>\n"
        "  public Job Take() {\n    return jobs.Pop();\n  }\n}\n",
        ("Queue.Take", "Takes the next job", "jobs.Pop"),
    ),
    "rust": (
        "impl Ring {\n    /// Turns the ring by one.\n    pub fn turn(&mut self) {\n        self.at += 1;\n    }\n}\n",
        ("Ring.turn", "Turns the ring", "self.at += 1"),
    ),
    "python": (
        'class Oven:\n    def heat(self, degrees):\n        """Heats the oven."""\n        self.degrees = degrees\n',
        ("Oven.heat", "Heats the oven", "self.degrees = degrees"),
    ),
}


@pytest.mark.parametrize("language", sorted(_SOURCES))
def test_a_definition_has_its_name_comment_and_body(language: str) -> None:
    source, (name, comment, body) = _SOURCES[language]
    found = {d.name: d for d in definitions(SourceFile("npm:x", "x", language, source))}
    assert name in found
    assert comment in found[name].comment
    assert body in found[name].body
    assert comment not in found[name].body


@pytest.mark.parametrize("head", [" " * 200_000, "<?php" + "\n" * 200_000, "<?php" + " \n" * 100_000])
def test_a_head_of_nothing_but_blanks_is_read_at_once(head: str) -> None:
    file = SourceFile("p", "lib/app.php", "php", head + "x = 1\n" + _READER)
    assert outline(file, list(definitions(SourceFile("p", "lib/app.js", "javascript", _READER)))) is None


def test_a_comment_or_a_line_of_blanks_without_end_is_read_at_once() -> None:
    comment = "Reads the settings of it." + "\n" * 200_000 + "Returns: all of them\n:" + "a" * 200_000
    assert split_description(comment)[0] == "Reads the settings of it."
    text = "name," + " " * 20_000 + "x\ndata" + " " * 100_000 + "x\n" + _SOURCES["haskell"][0]
    assert [d.name for d in definitions(SourceFile("p", "lib/a.hs", "haskell", text))] == ["splitHeader"]
