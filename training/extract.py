"""Source files → documentation–code pairs, one JSON object a line, one file a package.

Must keep the text of a pair's query out of its code.

A pair is a definition and the first sentence of the comment that documents it. The sentence is the query; the rest of
the comment, the signature and the body are the document, so that at use, when the whole comment is in the header,
nothing is met that training has not seen. Python goes through `ast`; the other languages through tree-sitter for the
definitions and, the same way for all of them, the comment lines that stand directly above.

    python -m training.extract --data DATA --out PAIRS
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from training.collect import Package, source_archives
from training.corpus import SourceFile, files_of

# A bag of words longer than this is nothing a chunk at use would hold (chunks are budgeted at 600 tokens).
BODY_CHARS = 2_500
HEADER_CHARS = 800
# No package rules the corpus.
MAX_PAIRS_PER_PACKAGE = 12_000


@dataclass(frozen=True, slots=True)
class Pair:
    """`query` finds the definition `name`; `header` and `body` do not contain the query's sentence."""

    package: str
    path: str
    language: str
    name: str
    query: str
    header: str
    body: str


# ---------------------------------------------------------------------------------------------- comments → sentences

_MARKUP = (
    (re.compile(r":[a-z:]+:`~?\.?([^`<]*?)(?:\s*<[^>]*>)?`"), r"\1"),
    (re.compile(r"\{@(?:link|code|linkplain|literal|value)\s*([^}]*)\}"), r"\1"),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"<see cref=\"(?:\w:)?([^\"]+)\"\s*/>"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>]{0,80}>"), " "),
    (re.compile(r"[\\@](?:brief|short|summary|description|desc|c|p|a|ref)\b\s*"), ""),
    (re.compile(r"`+|\*\*|\[(?=\w)|(?<=\w)\]"), ""),
)
_COMMENT_EDGE = re.compile(r"^\s*(?:/\*+!?<?|\*+/|\*+(?!\*)|///?[/!]?<?|#+!?|--+)?\s?|\s*\*+/\s*$", re.MULTILINE)
# Where prose ends and a list of parameters, an example or a machine's note begins.
_END_OF_PROSE = re.compile(
    r"^\s*(?:[@\\](?!brief|short|summary|desc|c\b|p\b|a\b|link|code)\w+|:\w+.*:|Args?:|Arguments:|Parameters?:?$|Returns?:|Raises:|"
    r"Examples?:|Usage:|>>>|```|#\s|={3,}|-{3,}|<param|<returns|<remarks)",
    re.MULTILINE,
)
_SENTENCE = re.compile(r"(.{12,}?[.!?。；])(?=\s|$|[\u3400-\u9fff])", re.DOTALL)
_NOT_A_DESCRIPTION = re.compile(
    r"copyright|licen[sc]ed? |all rights reserved|spdx-|@generated|auto-?generated|do not edit|eslint-|tslint:|"
    r"istanbul |noqa|"
    r"type: ignore|clang-format|^todo|^fixme|^xxx|inheritdoc|deprecated$|see above|^region|^endregion|https?://\S+$|"
    r"^={2,}|^-{3,}|"
    r"@ts-|pylint:|^\W+$|^n/a",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"[\u3400-\u9fff]")


def clean_comment(comment: str) -> str:
    """The words of a comment without comment signs and mark-up."""
    text = _COMMENT_EDGE.sub("", comment)
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return text.strip()


def split_description(comment: str) -> tuple[str, str]:
    """(first sentence, the rest) of a cleaned comment; ("", comment) when it describes nothing."""
    end = _END_OF_PROSE.search(comment)
    prose = comment[: end.start()] if end else comment
    paragraph = re.split(r"\n\s*\n", prose.strip(), maxsplit=1)[0]
    match = _SENTENCE.match(paragraph)
    raw = match[1] if match else paragraph
    sentence = " ".join(raw.split())
    n_words = len(re.findall(r"[^\W\d_]{2,}", sentence)) + len(_CHINESE.findall(sentence)) // 2
    letters = sum(c.isascii() or bool(_CHINESE.match(c)) for c in sentence)
    if (
        not 3 <= n_words <= 60
        or len(sentence) > 400
        or letters < 0.9 * len(sentence)
        or _NOT_A_DESCRIPTION.search(sentence)
    ):
        return "", comment
    return sentence, comment.replace(raw, " ", 1)


def _pair(file: SourceFile, *, name: str, comment: str, signature: str, body: str) -> Pair | None:
    query, rest = split_description(clean_comment(comment))
    if not query or not name or len(body) < 20:
        return None
    header = f"{' '.join(signature.split())[:300]}\n{' '.join(rest.split())}"[:HEADER_CHARS]
    return Pair(file.package, file.path, file.language, name, query, header, body[:BODY_CHARS])


# ------------------------------------------------------------------------------------------------------------ Python


def _python(file: SourceFile) -> Iterator[Pair]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(file.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    lines = file.text.split("\n")

    def visit(node: ast.AST, prefix: str) -> Iterator[Pair]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}{child.name}"
                comment = ast.get_docstring(child)
                if comment and child.body[1:] and child.body[0].end_lineno and child.end_lineno:
                    first = child.body[0]
                    signature = "\n".join(lines[child.lineno - 1 : first.lineno - 1])
                    rest = lines[child.body[0].end_lineno : child.end_lineno]
                    body = _members(child, lines) if isinstance(child, ast.ClassDef) else "\n".join(rest)
                    pair = _pair(file, name=name, comment=comment, signature=signature, body=body)
                    if pair:
                        yield pair
                yield from visit(child, f"{name}.")
            elif not isinstance(child, ast.expr):
                yield from visit(child, prefix)

    try:
        yield from visit(tree, "")
    except RecursionError:
        return


def _members(node: ast.ClassDef, lines: list[str]) -> str:
    """A class as its chunk shows it: fields and first lines of its methods, without their bodies."""
    out: list[str] = []
    for child in node.body[1:]:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            out += lines[child.lineno - 1 : min(child.body[0].lineno - 1, child.lineno + 3)]
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            out += lines[child.lineno - 1 : child.lineno + 1]
    return "\n".join(out[:80])


# --------------------------------------------------------------------------------------------------- other languages

_GRAMMARS = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
}

_ECMASCRIPT = (
    "function_declaration generator_function_declaration class_declaration method_definition "
    "lexical_declaration variable_declaration pair"
)
_DEFINITIONS = {
    "javascript": _ECMASCRIPT + " expression_statement field_definition",
    "typescript": _ECMASCRIPT
    + " interface_declaration abstract_class_declaration public_field_definition type_alias_declaration "
    "enum_declaration",
    "tsx": _ECMASCRIPT + " interface_declaration public_field_definition type_alias_declaration enum_declaration",
    "go": "function_declaration method_declaration type_declaration",
    "java": "method_declaration constructor_declaration class_declaration interface_declaration enum_declaration",
    "rust": "function_item struct_item enum_item trait_item macro_definition",
    "ruby": "method singleton_method class module",
    "php": "function_definition method_declaration class_declaration interface_declaration trait_declaration",
    "c": "function_definition struct_specifier",
    "cpp": "function_definition class_specifier struct_specifier",
    "csharp": "method_declaration constructor_declaration class_declaration interface_declaration struct_declaration "
    "property_declaration enum_declaration",
}
_FUNCTIONS = ("function", "arrow", "method", "class", "generator")
_COMMENT_LINE = re.compile(r"^\s*(?://|/\*|\*|#(?!\[|include|define|if|endif|else|pragma))")
_BETWEEN = re.compile(r"^\s*(?:#\[|template\s*<|@\w|\[\w|export\s*$)")


@cache
def _grammar(language: str) -> tuple[Parser, Query]:
    module, function = _GRAMMARS[language]
    grammar = Language(getattr(import_module(module), function)())
    return Parser(grammar), Query(grammar, "\n".join(f"({kind}) @d" for kind in _DEFINITIONS[language].split()))


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def _own_name(node: Node) -> str:
    """The name a definition gives, or "" when the node defines nothing that has a body."""
    kind = node.type
    if kind in ("lexical_declaration", "variable_declaration"):
        declarator = next((c for c in node.named_children if c.type == "variable_declarator"), None)
        value = declarator.child_by_field_name("value") if declarator else None
        functional = value is not None and value.type.startswith(_FUNCTIONS)
        return _text(declarator.child_by_field_name("name")) if declarator and functional else ""
    if kind == "expression_statement":
        assignment = node.named_children[0] if node.named_children else None
        value = (
            assignment.child_by_field_name("right")
            if assignment and assignment.type == "assignment_expression"
            else None
        )
        left = assignment.child_by_field_name("left") if assignment else None
        return _text(left).replace(".prototype", "") if value is not None and value.type.startswith(_FUNCTIONS) else ""
    if kind in ("pair", "field_definition", "public_field_definition"):
        value = node.child_by_field_name("value")
        key = (
            node.child_by_field_name("key") or node.child_by_field_name("name") or node.child_by_field_name("property")
        )
        return _text(key) if value is not None and value.type.startswith(_FUNCTIONS) else ""
    if kind == "type_declaration":
        spec = next((c for c in node.named_children if c.type == "type_spec"), None)
        return _text(spec.child_by_field_name("name")) if spec else ""
    if kind == "function_definition" and node.child_by_field_name("name") is None:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.child_by_field_name("declarator") is not None:
            declarator = declarator.child_by_field_name("declarator")
        return _text(declarator).partition("(")[0].replace("::", ".")
    return _text(node.child_by_field_name("name"))


def _qualified_name(node: Node, own: str) -> str:
    """`own` with the names of the classes, traits or implementations around it."""
    names = [own]
    receiver = node.child_by_field_name("receiver") if node.type == "method_declaration" else None
    if receiver is not None:
        names.append(re.sub(r"[^\w ]", "", _text(receiver)).split(" ")[-1])
    parent = node.parent
    while parent is not None:
        if parent.type == "impl_item":
            names.append(_text(parent.child_by_field_name("type")))
        elif (
            parent.type.startswith(("class", "interface", "trait", "module", "abstract_class", "struct"))
            and parent.parent
        ):
            name = parent.child_by_field_name("name")
            if name is not None:
                names.append(_text(name))
        parent = parent.parent
    return ".".join(n for n in reversed(names) if n)[-120:]


def _comment_above(lines: list[str], row: int) -> str:
    """The comment that ends directly above line `row` (0-based), attributes and template heads skipped."""
    end = row - 1
    while end >= 0 and _BETWEEN.match(lines[end]):
        end -= 1
    start = end
    if start >= 0 and lines[start].rstrip().endswith("*/"):
        while start >= 0 and "/*" not in lines[start] and end - start < 80:
            start -= 1
        return "\n".join(lines[max(start, 0) : end + 1])
    while start >= 0 and _COMMENT_LINE.match(lines[start]) and end - start < 60:
        start -= 1
    return "\n".join(lines[start + 1 : end + 1])


def _tree_sitter(file: SourceFile) -> Iterator[Pair]:
    parser, query = _grammar(file.language)
    data = file.text.encode("utf-8", "replace")
    lines = data.decode("utf-8", "replace").split("\n")
    nodes = QueryCursor(query).captures(parser.parse(data).root_node).get("d", [])
    for node in nodes:
        comment = _comment_above(lines, node.start_point.row)
        own = _own_name(node) if comment else ""
        if not own:
            continue
        text = _text(node)
        body = node.child_by_field_name("body")
        cut = (
            len(data[node.start_byte : body.start_byte].decode("utf-8", "replace"))
            if body is not None
            else text.find("\n")
        )
        signature = text[: max(cut, 0)]
        pair = _pair(
            file, name=_qualified_name(node, own), comment=comment, signature=signature, body=text[max(cut, 0) :]
        )
        if pair:
            yield pair


def pairs(file: SourceFile) -> Iterator[Pair]:
    """The pairs of one file in source order (tree-sitter languages: in the order of the query)."""
    if file.language == "python":
        yield from _python(file)
    elif file.language in _GRAMMARS:
        yield from _tree_sitter(file)


def write_pairs(archive: Path, package: Package, out: Path) -> int:
    """Write the pairs of one archive to `out` (whole or not at all) and return their number."""
    seen: set[tuple[str, str]] = set()
    part = out.with_suffix(".part")
    with part.open("w", encoding="utf-8") as handle:
        for file in files_of(archive, package):
            for pair in pairs(file):
                key = (pair.query, pair.name)
                if key not in seen:
                    seen.add(key)
                    handle.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
            if len(seen) >= MAX_PAIRS_PER_PACKAGE:
                break
    part.rename(out)
    return len(seen)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="archives")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder of one pairs file a package; what is there is kept"
    )
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    n_pairs = 0
    for archive, package in source_archives(args.data):
        out = args.out / f"{package.registry}--{package.name.replace('/', '--')}.jsonl"
        if not out.exists():
            n_pairs += write_pairs(archive, package, out)
    print(n_pairs, "new pairs", flush=True)


if __name__ == "__main__":
    main()
