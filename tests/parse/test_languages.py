"""Small sources, and what is expected of them, per language."""

import pytest

from devmind.parse import parse
from devmind.types import Document, ParsedDocument, Symbol


def read(text: str, language: str) -> ParsedDocument:
    return parse(Document("x", text, language, "source", "h", "utf-8", len(text)))


def spans(found: ParsedDocument) -> dict[str, tuple[str, int, int, int]]:
    """Return qualified name → (kind, doc line, start line, end line)."""
    return {s.qualified_name: (s.kind, s.doc_line, s.start_line, s.end_line) for s in found.symbols}


def named(found: ParsedDocument, name: str) -> Symbol:
    return next(s for s in found.symbols if s.qualified_name == name)


def uses(found: ParsedDocument, kind: str) -> list[tuple[str, str]]:
    """Return (name, qualified name of the scope) of the references of ``kind``."""
    return [(r.name, found.symbols[r.scope].qualified_name if r.scope >= 0 else "") for r in found.references
            if r.kind == kind]  # fmt: skip


def imports(found: ParsedDocument) -> set[tuple[str, str, str]]:
    return {(r.name, r.qualifier, r.alias) for r in found.references if r.kind == "imports"}


PYTHON = '''\
#!/usr/bin/env python
# Copyright 2020 Somebody

# What this file is for.

import os.path as osp
from .store import (
    Store as Base,
    open_store,
)

LIMIT: int = 3
cache = {}  # a trailing comment


def plain(): pass


# Leads the handler.
# Second line.
@app.route("/items", methods=["POST"])
@login_required
async def create(item: Item,
                 dry=False) -> int:
    """Create it.

    At length.
    """
    def inner():
        return requests.get("https://host/api/v1?x=1")
    return open_store(item).put(inner())


class Shop(Base, abc.ABC):
    """A shop."""

    open = True

    def _sell(self):
        return plain()


class Colour(enum.Enum):
    RED = 1
'''


def test_python() -> None:
    found = read(PYTHON, "python")
    assert spans(found) == {
        "LIMIT": ("constant", 12, 12, 12),
        "cache": ("variable", 13, 13, 13),
        "plain": ("function", 16, 16, 16),
        "POST /items": ("route", 21, 21, 21),
        "create": ("function", 19, 21, 31),
        "create.inner": ("function", 29, 29, 30),
        "Shop": ("class", 34, 34, 40),
        "Shop.open": ("field", 37, 37, 37),
        "Shop._sell": ("method", 39, 39, 40),
        "Colour": ("enum", 43, 43, 44),
        "Colour.RED": ("enum_member", 44, 44, 44),
    }
    create = named(found, "create")
    assert create.signature == "async def create(item: Item, dry=False) -> int"
    assert create.docstring == "Create it.\n\nAt length."
    assert named(found, "Shop._sell").visibility == "private"
    assert found.lead == "What this file is for."
    assert imports(found) == {("path", "os.path", "osp"), ("Store", ".store", "Base"), ("open_store", ".store", "")}
    assert uses(found, "inherits") == [("Base", "Shop"), ("ABC", "Shop"), ("Enum", "Colour")]
    assert uses(found, "handles") == [("create", "POST /items")]
    assert uses(found, "requests") == [("/api/v1", "create.inner")]
    assert ("plain", "Shop._sell") in uses(found, "calls")
    assert uses(found, "references") == [("Item", "create")]
    assert not found.has_errors


def test_python_comment_becomes_the_docstring_without_marks() -> None:
    found = read("# One.\n#\n# Two.\ndef f():\n    pass\n\n# apart\n\ndef g(): pass\n", "python")
    assert named(found, "f").docstring == "One.\n\nTwo."
    assert spans(found)["f"] == ("function", 1, 4, 5)
    assert spans(found)["g"] == ("function", 9, 9, 9)


def test_python_properties() -> None:
    found = read(
        "class A:\n    @property\n    def p(self):\n        return 1\n\n    @p.setter\n    def p(self, v): ...\n",
        "python",
    )
    assert [(s.kind, s.start_line, s.end_line) for s in found.symbols] == [
        ("class", 1, 7),
        ("property", 2, 4),
        ("property", 6, 7),
    ]


def test_python_survives_a_syntax_error() -> None:
    found = read("def good():\n    pass\n\ndef bad():\n    x = = 1\n\ndef also():\n    pass\n", "python")
    assert found.has_errors
    assert {"good", "also"} <= set(spans(found))


SCRIPT = """\
/** The file. */

import React, {b as c, d} from "m";
import * as ns from "./z";

/**
 * A thing.
 */
export class A extends B {
  #x = 1;
  foo = () => { this.bar(); };
  get y() { return 1; }
}
// Adds.
export const add = async (a) => {
  await axios.post('/api/items', a);
  return new Q.R(fetch('/api/t', {method: 'PUT'}));
};
const LIMIT = 3;
router.get('/users/:id', auth, ctrl.show);
app.post('/users', (req, res) => { save(req); });
Foo.prototype.run = function (a) { go(); };
exports.helper = function () {};
"""


def test_javascript_and_its_kin() -> None:
    for language in ("javascript", "jsx", "typescript", "tsx"):
        found = read(SCRIPT, language)
        assert spans(found) == {
            "A": ("class", 6, 9, 13),
            "A.#x": ("field", 10, 10, 10),
            "A.foo": ("method", 11, 11, 11),
            "A.y": ("property", 12, 12, 12),
            "add": ("function", 14, 15, 18),
            "LIMIT": ("constant", 19, 19, 19),
            "GET /users/:id": ("route", 20, 20, 20),
            "POST /users": ("route", 21, 21, 21),
            "Foo.run": ("method", 22, 22, 22),
            "helper": ("function", 23, 23, 23),
        }, language
        assert named(found, "A").docstring == "A thing."
        assert found.lead == "The file."
        assert imports(found) == {("b", "m", "c"), ("d", "m", ""), ("m", "m", "React"), ("z", "./z", "ns")}
        assert uses(found, "inherits") == [("B", "A")]
        assert uses(found, "handles") == [("show", "GET /users/:id")]
        assert sorted(uses(found, "requests")) == [("/api/items", "add"), ("/api/t", "add")]
        assert ("save", "POST /users") in uses(found, "calls")
        assert ("bar", "A.foo") in uses(found, "calls")


def test_require_is_an_import() -> None:
    found = read("const fs = require('node:fs');\nconst { a, b: c } = require('./x');\n", "javascript")
    assert imports(found) == {("fs", "node:fs", ""), ("a", "./x", ""), ("b", "./x", "c")}


def test_a_signature_holds_no_notes_to_tools() -> None:
    found = read('def f(  # type: ignore[x]\n    a="# b",\n):  # noqa\n    pass\n', "python")
    assert named(found, "f").signature == 'def f( a="# b", )'
    found = read("class A {\n  int x; // the x\n  @Override public void f() {}\n}\n", "java")
    assert named(found, "A.f").signature == "public void f()"


def test_javascript_members_that_code_adds_to_objects() -> None:
    source = """\
defineGetter(req, 'fresh', function fresh() { return age(); });
Object.defineProperty(obj, 'name', { value: 1 });

res.set = res.header = function header(field) { return this.get(field); };
app['del'] = function () {};
Foo.prototype = { bar: function () {}, get size() { return 1; } };
Object.assign(Bar.prototype, { baz() {} });
exports.limit = 3;
exports.same = same;
exports.Box = class { open() {} };
module.exports = { a, b: b, c: function () { go(); }, d() {}, e: require('e') };
Object.defineProperty(exports, '__esModule', { value: true });
"""
    found = read(source, "javascript")
    assert {name: (kind, start) for name, (kind, _, start, _) in spans(found).items()} == {
        "req.fresh": ("property", 1), "obj.name": ("property", 2),
        "res.set": ("method", 4), "res.header": ("method", 4), "app.del": ("method", 5), "Foo.bar": ("method", 6),
        "Foo.size": ("property", 6), "Bar.baz": ("method", 7), "limit": ("variable", 8), "Box": ("class", 10),
        "Box.open": ("method", 10), "c": ("function", 11), "d": ("method", 11), "e": ("variable", 11),
    }  # fmt: skip
    assert {("age", "req.fresh"), ("go", "c")} <= set(uses(found, "calls"))


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("defineGetter(req, 'fresh', function () {});", "req.fresh"),
        ("res.set = res.header = function () {};", "res.header"),
        ("  app['del'] = function () {};", "app.del"),
        ("a.b = class { go() {} };", "b.go"),
        ("Foo.prototype = { bar: function () {} };", "Foo.bar"),
        ("Foo.tools = {\n  bar() {},\n};", "Foo.tools.bar"),
        ("Object.assign(Bar.prototype, { baz() {} });", "Bar.baz"),
    ],
)
def test_any_such_member_is_seen_without_the_others(source: str, name: str) -> None:
    assert name in spans(read(f"import './a.js';\n{source}\n", "javascript"))


def test_a_module_that_is_a_function_has_the_name_of_the_function() -> None:
    assert set(spans(read("module.exports = function createApp(a) { go(); };\n", "javascript"))) == {"createApp"}
    assert set(spans(read("module.exports = function (a) { go(); };\n", "javascript"))) == {"exports"}


def test_the_receiver_of_a_call_over_several_lines_is_not_lost() -> None:
    found = read("const a = make(\n  1)\n  .run();\nmake().go();\ngo();\n", "javascript")
    receivers = {(r.name, r.line): r.qualifier for r in found.references if r.kind == "calls"}
    assert receivers["run", 3] == "make(…"
    assert receivers["go", 4] == "make()"
    assert receivers["go", 5] == ""


def test_jsx_components_are_references() -> None:
    found = read("const V = () => <Box a={1}><ui.Leaf/><div/></Box>;\n", "jsx")
    assert uses(found, "references") == [("Box", "V"), ("Leaf", "V")]


def test_typescript_types() -> None:
    source = """\
@Injectable()
export class S extends T<U> implements V {
  private n: number = 1;
  constructor(private http: HttpClient) { super(); }
}
export interface I extends J { m(a: string): void; p: number }
enum E { A = 1, B }
type Alias = string;
namespace N { export function inner(): void {} }
abstract class Z { abstract f(): void }
"""
    found = read(source, "typescript")
    assert {name: kind for name, (kind, *_) in spans(found).items()} == {
        "S": "class", "S.n": "field", "S.constructor": "method", "I": "interface", "I.m": "method", "I.p": "field",
        "E": "enum", "E.A": "enum_member", "E.B": "enum_member", "Alias": "type", "N": "namespace",
        "N.inner": "function", "Z": "class", "Z.f": "method",
    }  # fmt: skip
    assert spans(found)["S"] == ("class", 1, 1, 5)
    assert named(found, "S").signature == "class S extends T<U> implements V"
    assert named(found, "S.n").visibility == "private"
    assert uses(found, "implements") == [("V", "S")]
    assert uses(found, "inherits") == [("T", "S"), ("J", "I")]


def test_vue() -> None:
    source = """\
<!-- Shows it. -->
<template>
  <my-button @click="save" />
  <template v-if="x"><Foo/></template>
</template>

<script setup lang="ts">
import Foo from './Foo.vue'
function save(a: string): void { axios.get('/api/x') }
</script>
<style>
.a { color: red }
</style>
"""
    found = read(source, "vue")
    assert spans(found) == {"save": ("function", 9, 9, 9)}
    assert uses(found, "references") == [("MyButton", ""), ("Foo", "")]
    assert ("save", "") in uses(found, "calls")
    assert uses(found, "requests") == [("/api/x", "save")]
    assert imports(found) == {("Foo", "./Foo.vue", "")}
    assert found.lead == "Shows it."


GO = """\
// Copyright 2020 X.

// Package p does it.
package p

import (
\tf "fmt"
\t"net/http"
)

// S is a thing.
type S struct {
\tA int
\t*B
}

type (
\t// I it.
\tI interface{ M(int) error }
)

const X = 1

// M does.
func (s *S[T]) M(q *http.Request) error {
\tr.GET("/x", s.h)
\thttp.Get("http://h/api")
\treturn f.Errorf("no")
}

func New() *S { return &S{} }
"""


def test_go() -> None:
    found = read(GO, "go")
    assert spans(found) == {
        "S": ("struct", 11, 12, 15),
        "S.A": ("field", 13, 13, 13),
        "I": ("interface", 18, 19, 19),
        "I.M": ("method", 19, 19, 19),
        "X": ("constant", 22, 22, 22),
        "S.M": ("method", 24, 25, 29),
        "GET /x": ("route", 26, 26, 26),
        "New": ("function", 31, 31, 31),
    }
    assert named(found, "S").signature == "type S struct"
    assert named(found, "S.M").signature == "func (s *S[T]) M(q *http.Request) error"
    assert named(found, "S.M").docstring == "M does."
    assert found.lead == "Package p does it."
    assert imports(found) == {("fmt", "fmt", "f"), ("http", "net/http", "")}
    assert uses(found, "handles") == [("h", "GET /x")]
    assert uses(found, "requests") == [("/api", "S.M")]
    assert ("B", "S") in uses(found, "inherits")


JAVA = """\
package a.b;
import java.util.List;
import static x.Y.*;
/**
 * Serves things.
 */
@RequestMapping("/api")
public class A extends B<C> implements D {
  private static final int MAX = 1;
  @GetMapping(value = "/x/{id}") @Other
  public <T> int find(T a) throws Q { return new K().go(a); }
  @PostMapping
  void post(List<Foo> x) {}
  A() {}
}
enum Z { P, Q(1); }
interface W extends V { void q(); }
record R(int a) {}
"""


def test_java() -> None:
    found = read(JAVA, "java")
    assert spans(found) == {
        "A": ("class", 4, 7, 15),
        "A.MAX": ("constant", 9, 9, 9),
        "A.find": ("method", 10, 10, 11),
        "GET /api/x/{id}": ("route", 10, 10, 10),
        "A.post": ("method", 12, 12, 13),
        "POST /api": ("route", 12, 12, 12),
        "A.A": ("method", 14, 14, 14),
        "Z": ("enum", 16, 16, 16),
        "Z.P": ("enum_member", 16, 16, 16),
        "Z.Q": ("enum_member", 16, 16, 16),
        "W": ("interface", 17, 17, 17),
        "W.q": ("method", 17, 17, 17),
        "R": ("class", 18, 18, 18),
    }
    assert named(found, "A").signature == "public class A extends B<C> implements D"
    assert named(found, "A.find").signature == "public <T> int find(T a) throws Q"
    assert named(found, "A").docstring == "Serves things."
    assert named(found, "A.MAX").visibility == "private"
    assert imports(found) == {("List", "java.util.List", ""), ("*", "x.Y", "")}
    assert sorted(uses(found, "handles")) == [("find", "GET /api/x/{id}"), ("post", "POST /api")]
    assert uses(found, "inherits") == [("B", "A"), ("V", "W")]
    assert uses(found, "implements") == [("D", "A")]
    assert {("K", "A.find"), ("go", "A.find")} <= set(uses(found, "calls"))


def test_markdown() -> None:
    source = (
        "---\nx: 1\n---\n# T\n\nIntro to `foo.bar()` in [x](src/a.py).\n\n```\n# no\n```\n\n## U\n\nV\n---\nq\n# W\n"
    )
    found = read(source, "markdown")
    assert spans(found) == {
        "T": ("heading", 4, 4, 16),
        "T > U": ("heading", 12, 12, 13),
        "T > V": ("heading", 14, 14, 16),
        "W": ("heading", 17, 17, 17),
    }
    assert uses(found, "documents") == [("bar", "T"), ("a.py", "T")]
    assert found.lead.startswith("Intro to")


def test_markdown_headings_are_named_by_what_a_reader_sees() -> None:
    source = (
        '# <img alt="chi" src="https://x/y.svg" width="220" />\n\n## <a name="use"></a>Use [it](u) ![now](n.png)\n\n'
        "## `<Router>` and Vec<T>, a < b\n\n## <br/>\n\n## [![Build](b.svg)](https://ci) state\n"
    )
    found = read(source, "markdown")
    assert list(spans(found)) == ["chi", "chi > Use it now", "chi > `<Router>` and Vec<T>, a < b", "chi > Build state"]


def test_rst() -> None:
    source = "=====\nTitle\n=====\n\nHello ``a.b``::\n\n  code\n  ----\n\nSub\n---\nx\n\nOther\n-----\n"
    found = read(source, "rst")
    assert spans(found) == {
        "Title": ("heading", 1, 1, 15),
        "Title > Sub": ("heading", 10, 10, 13),
        "Title > Other": ("heading", 14, 14, 15),
    }


def test_keys_of_two_levels() -> None:
    assert list(spans(read('{"a": {"b": {"z": 1}}, "c": [{"d": 1}]}', "json"))) == ["a", "a.b", "c"]
    found = read("# top\n\na:\n  b: 1\n  c:\n    d: 2\n'e': [1]\n", "yaml")
    assert spans(found) == {
        "a": ("key", 3, 3, 6),
        "a.b": ("key", 4, 4, 4),
        "a.c": ("key", 5, 5, 6),
        "e": ("key", 7, 7, 7),
    }
    assert found.lead == "top"
    assert list(spans(read("q = 1\n[a.b]\nc = 2\n\n[[d]]\ne.f = 2\n", "toml"))) == ["q", "a.b", "a.b.c", "d", "d.e.f"]


def test_html() -> None:
    source = """\
<link href="q.css"><div id="x">q</div>
<script src="a.js"></script>
<script>
function f(){ return g() }
</script>
"""
    found = read(source, "html")
    assert spans(found) == {"x": ("element", 1, 1, 1), "f": ("function", 4, 4, 4)}
    assert imports(found) == {("q", "q.css", ""), ("a", "a.js", "")}
    assert ("g", "f") in uses(found, "calls")


def test_style_sheets() -> None:
    source = """\
// The lead.

@import "x/y";
$gap: 1;
/* card */
.card, #b > p {
  color: #{$gap};
  &:hover { top: 1px; @include foo(1); }
}
@media x { .q { background: url(data:a;b) } }
@mixin foo($x) { a: b }
"""
    found = read(source, "scss")
    assert spans(found) == {
        "$gap": ("variable", 4, 4, 4),
        ".card, #b > p": ("selector", 5, 6, 9),
        ".card, #b > p &:hover": ("selector", 8, 8, 8),
        ".q": ("selector", 10, 10, 10),
        "foo": ("function", 11, 11, 11),
    }
    assert found.lead == "The lead."
    assert imports(found) == {("y", "x/y", "")}
    assert uses(found, "calls") == [("foo", ".card, #b > p &:hover")]


def test_a_declaration_with_an_interpolation_is_read_once() -> None:
    found = read("$gap: #{$unit} 1px;\n@import 'a#{$b}/c';\n.x { $y: #{$gap}; }\n", "scss")
    assert [symbol.name for symbol in found.symbols] == ["$gap", ".x", "$y"]
    assert [reference.name for reference in found.references] == ["c"]
