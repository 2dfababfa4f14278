"""Source files → pairs of what people say and the code it is about, one JSON object a line, one file a package.

Must keep the text of a pair's query out of its code.

| kind | query | code |
| --- | --- | --- |
| doc | first sentence of the comment of a definition | rest of the comment, signature, body |
| name | words of the name of a definition without a comment | the definition without that name |
| test | words of a test's name, or what it says it checks | body of the test |
| file | first sentence of the head comment of a file | first lines of its definitions |
| block | comment inside a function | the lines below it |
| mention | sentence of a changelog, readme or guide that gives one name | the definition of that name |

    python -m training.extract --data ARCHIVES --out PAIRS [--registry NAME]
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from devmind.embed.tokenizer import split_word
from training.blocks import blocks
from training.collect import REGISTRIES, Package, source_archives
from training.comments import clean_comment, split_description
from training.content import BODY_CHARS, digest
from training.corpus import PROSE, SourceFile, files_of
from training.definitions import Definition, definitions
from training.mentions import mentions
from training.outline import outline

# A bag of words longer than this, or than `BODY_CHARS`, is nothing a chunk at use would hold (chunks are budgeted at
# 600 tokens).
HEADER_CHARS = 800

# No package rules the corpus; kinds that any file yields many of get less room than written documentation.
MAX_PAIRS_PER_PACKAGE = {"doc": 12_000, "name": 1_500, "test": 1_000, "file": 1_000, "block": 1_500, "mention": 1_500}

# A name of fewer words says too little; a body of less says nothing more than its name did.
_MIN_NAME_WORDS = 3
_MIN_NAMED_BODY = 120
_MIN_BODY = 20

# Definitions of one package that a document may speak of: more need memory and are generated.
_MAX_DEFINITIONS = 40_000


@dataclass(frozen=True, slots=True)
class Pair:
    """`query` finds the code `name`, `header`, `body`; `code` is the digest of the whole body."""

    package: str
    path: str
    language: str
    kind: str
    name: str
    query: str
    header: str
    body: str
    code: int


def _header(signature: str, rest: str) -> str:
    return f"{' '.join(signature.split())[:300]}\n{' '.join(rest.split())}"[:HEADER_CHARS]


def _without(name: str, text: str) -> str:
    return re.sub(rf"\b{re.escape(name)}\b", " ", text)


_TEST_PATH = re.compile(r"(?:^|[/_.-])(?:tests?|specs?|testing)(?:[/_.-]|$)", re.IGNORECASE)
_TEST_NAME = re.compile(r"^(?:test|should|it)(?=[_A-Z])_*|(?<=[a-z])Test$")
_DESCRIBED_TEST = re.compile(
    r"^(?P<indent>[ \t]*)(?:it|test|specify|scenario)[ (]+(?P<quote>['\"`])(?P<what>[^\n]{12,160}?)(?P=quote)[^\n]*\n",
    re.MULTILINE,
)


def _described_tests(file: SourceFile) -> Iterator[tuple[str, str]]:
    """(what it checks, body) of tests that say so in a string: `it("rejects a token without a date", …)`."""
    for match in _DESCRIBED_TEST.finditer(file.text):
        end = re.compile(rf"^{match['indent']}(?:end|\}}\)?;?)", re.MULTILINE).search(file.text, match.end())
        if end:
            yield match["what"], file.text[match.end() : end.start()]


def _pair(file: SourceFile, kind: str, *, name: str, query: str, header: str, body: str, whole: str) -> Pair:
    return Pair(
        file.package, file.path, file.language, kind, name, query, header, body[:BODY_CHARS], digest(whole) or 0
    )


def _of_definition(file: SourceFile, found: Definition) -> Pair | None:
    """The doc, test or name pair of one definition."""
    if len(found.body) < _MIN_BODY:
        return None
    query, rest = split_description(clean_comment(found.comment)) if found.comment else ("", "")
    if query:
        header = _header(found.signature, rest)
        return _pair(file, "doc", name=found.name, query=query, header=header, body=found.body, whole=found.body)
    is_test = bool(_TEST_PATH.search(file.path)) and bool(_TEST_NAME.search(found.own))
    words = split_word(_TEST_NAME.sub("", found.own))
    if len(words) < _MIN_NAME_WORDS or len(found.body) < _MIN_NAMED_BODY or sum(map(len, words)) < 12:
        return None
    outer = found.name.removesuffix(found.own).rstrip(".")
    body = _without(found.own, found.body)
    header = _header(_without(found.own, found.signature), "")
    kind = "test" if is_test else "name"
    return _pair(file, kind, name=outer, query=" ".join(words), header=header, body=body, whole=found.body)


def pairs(file: SourceFile, found: list[Definition]) -> Iterator[Pair]:
    """The pairs of one source file whose definitions are `found`; mentions need the whole package."""
    for definition in found:
        pair = _of_definition(file, definition)
        if pair:
            yield pair
    if _TEST_PATH.search(file.path):
        for what, body in _described_tests(file):
            if len(body) >= _MIN_BODY and len(what.split()) >= _MIN_NAME_WORDS:
                yield _pair(file, "test", name="", query=what, header="", body=body, whole=body)
    whole = outline(file, found)
    if whole:
        query, rest = split_description(whole.comment)
        header = _header("", rest)
        yield _pair(file, "file", name=whole.name, query=query, header=header, body=whole.lines, whole=file.text)
    for block in blocks(file):
        yield _pair(file, "block", name="", query=block.comment, header="", body=block.code, whole=block.code)


def _mentions(documents: list[SourceFile], by_name: dict[str, list[tuple[SourceFile, Definition]]]) -> Iterator[Pair]:
    single = {name: [entry[1] for entry in entries] for name, entries in by_name.items()}
    for i, (sentence, hidden, found) in enumerate(mentions([d.text for d in documents], single)):
        file = by_name[found.own][0][0]
        # Half of the questions do not know the name.
        query = hidden if i % 2 else sentence
        comment = clean_comment(found.comment) if found.comment else ""
        header = _header(found.signature, comment)
        yield _pair(file, "mention", name=found.name, query=query, header=header, body=found.body, whole=found.body)


def pairs_of(archive: Path, package: Package) -> Iterator[Pair]:
    """All pairs of one archive, each query once a name and kind."""
    seen: set[tuple[str, str, str]] = set()
    room = Counter(MAX_PAIRS_PER_PACKAGE)
    documents: list[SourceFile] = []
    by_name: dict[str, list[tuple[SourceFile, Definition]]] = defaultdict(list)
    n_definitions = 0

    def new(found: Iterator[Pair]) -> Iterator[Pair]:
        for pair in found:
            key = (pair.kind, pair.query, pair.name or pair.body)
            if key not in seen and room[pair.kind] > 0:
                seen.add(key)
                room[pair.kind] -= 1
                yield pair

    for file in files_of(archive, package):
        if file.language == PROSE:
            documents.append(file)
            continue
        found = list(definitions(file))
        if n_definitions < _MAX_DEFINITIONS and not _TEST_PATH.search(file.path):
            n_definitions += len(found)
            for definition in found:
                if len(definition.body) >= _MIN_BODY and len(definition.own) > 3:
                    by_name[definition.own].append((file, definition))
        yield from new(pairs(file, found))
    yield from new(_mentions(documents, by_name))


def write_pairs(archive: Path, package: Package, out: Path) -> int:
    """Write the pairs of one archive to `out` (whole or not at all) and return their number."""
    part = out.with_suffix(".part")
    n_pairs = 0
    with part.open("w", encoding="utf-8") as handle:
        for pair in pairs_of(archive, package):
            n_pairs += 1
            handle.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
    part.rename(out)
    return n_pairs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="archives")
    parser.add_argument("--registry", choices=REGISTRIES, action="append", help="all when left out")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder of one pairs file a package; what is there is kept"
    )
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    n_pairs = 0
    for archive, package in source_archives(args.data, args.registry or REGISTRIES):
        out = args.out / f"{package.registry}--{package.name.replace('/', '--')}.jsonl"
        if not out.exists():
            n_pairs += write_pairs(archive, package, out)
    print(n_pairs, "new pairs", flush=True)


if __name__ == "__main__":
    main()
