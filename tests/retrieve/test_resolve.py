"""What references mean: small repositories, a language each, and the edges that leave one of their functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from devmind.ingest import Report
from devmind.service import Service

Add = Callable[[Path], Report]
Edges = dict[str, tuple[str, str, str]]  # name called → (target, where it is defined, confidence)
OUT = ("", "guess")  # a target that is not here


@pytest.fixture
def edges_of(tmp_path: Path, add: Add, serve: Callable[[], Service]) -> Callable[[dict[str, str], str], Edges]:
    def index(files: dict[str, str], source: str) -> Edges:
        for path, text in files.items():
            target = tmp_path / "src" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(dedent(text), encoding="utf-8")
        add(tmp_path / "src")
        with serve() as service:
            found = service.graph("callees", source)
        return {f"{e['line']} {e['target'].rpartition('.')[2]}": (e["target"], e["target_path"], e["confidence"])
                for e in found}  # fmt: skip

    return index


GO = {
    "go.mod": "module example.com/mux/v2\n",
    "mux.go": """\
        package mux

        type Mux struct{ handler http.Handler }

        func (mx *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {}
        func (mx *Mux) route(w http.ResponseWriter, r *http.Request) {
        \tctx := r.Context().Value(key)
        \tmx.chain().ServeHTTP(w, r)
        \tmx.handler.ServeHTTP(w, r)
        \tmx.match(r)
        \tinner.Sweep(len(ctx))
        \tsub := inner.NewBroom()
        \tsub.Clean()
        \tserve(func(r *http.Request) {
        \t\tr.match()
        \t})
        }
        func (mx *Mux) chain() http.Handler { return mx }
        func (mx *Mux) match(r *http.Request) bool { return true }
        """,
    "serve.go": "package mux\n\nfunc serve(f func(r *http.Request)) {}\n",
    "inner/broom.go": """\
        package inner

        type Broom struct{}

        func NewBroom() (*Broom, error) { return nil, nil }
        func (b *Broom) Clean() {}
        func Sweep(n int) {}
        """,
    "other/len.go": "package other\n\nfunc Len() int { return 0 }\n\ntype T struct{}\n\nfunc (t T) Clean() {}\n",
    "mux_test.go": "package mux\n\ntype fake struct{ value int }\n"
    "\nfunc (f fake) Value(k any) int { return f.value }\n",
}


def test_go(edges_of: Callable[[dict[str, str], str], Edges]) -> None:
    go = {"mux.go": GO["mux.go"].replace("package mux\n", 'package mux\nimport "example.com/mux/v2/inner"\n', 1)}
    found = edges_of({**GO, **go}, "Mux.route")
    assert found["8 Value"] == ("Value", *OUT)  # of a test, or of the library: in no case of the repository
    assert found["9 chain"] == ("Mux.chain", "mux.go", "scoped")
    assert found["9 ServeHTTP"] == ("ServeHTTP", *OUT)  # what chain() returns is the library's
    assert found["10 ServeHTTP"] == ("ServeHTTP", *OUT)  # so is the field's type
    assert found["11 match"] == ("Mux.match", "mux.go", "scoped")
    assert found["12 Sweep"] == ("Sweep", "inner/broom.go", "exact")
    assert found["12 len"] == ("len", *OUT)  # not other.Len
    assert found["14 Clean"] == ("Broom.Clean", "inner/broom.go", "scoped")
    assert found["15 serve"] == ("serve", "serve.go", "exact")
    assert found["16 match"] == ("match", *OUT)  # r is the closure's parameter here


PYTHON = {
    "app/__init__.py": "from .models import Response as Response\n",
    "app/models.py": """\
        class Base:
            def close(self): ...

            def settle(self): ...


        class Response(Base):
            def close(self): ...

            @property
            def headers(self) -> "Headers": ...


        class Headers(dict):
            def get_all(self): ...
        """,
    "app/session.py": """\
        import os
        from json import loads

        import app
        from app.models import Base as Root
        from .models import Response


        class Session(Root):
            def __init__(self):
                self.last = Response()

            def run(self, items: dict, answer: "Response | None"):
                answer.close()
                self.last.headers.get_all()
                self.settle()
                self.finish()
                items.get("a")
                os.environ.get("b")
                loads("{}")
                with app.Response() as other:
                    other.settle()
                for thing in items:
                    thing.close()
                print(Root(), len(items))

            def get(self, name): ...


        def finish(): ...
        """,
    "tests/test_it.py": "class Fake:\n    def loads(self): ...\n\n\ndef print(): ...\n",
}


def test_python(edges_of: Callable[[dict[str, str], str], Edges]) -> None:
    found = edges_of(PYTHON, "Session.run")
    assert found["14 close"] == ("Response.close", "app/models.py", "scoped")
    assert found["15 get_all"] == ("Headers.get_all", "app/models.py", "scoped")
    assert found["16 settle"] == ("Base.settle", "app/models.py", "scoped")
    assert found["17 finish"] == ("finish", *OUT)  # a function is no method
    assert found["18 get"] == ("get", *OUT)
    assert found["19 get"] == ("get", *OUT)
    assert found["20 loads"] == ("loads", *OUT)
    assert found["21 Response"] == ("Response", "app/models.py", "scoped")  # passed on by the package
    assert found["22 settle"] == ("Base.settle", "app/models.py", "scoped")
    assert found["24 close"][2] == "guess"
    assert found["25 Base"] == ("Base", "app/models.py", "exact")
    assert found["25 print"] == ("print", *OUT)


JAVA = {
    "src/main/java/a/b/Store.java": """\
        package a.b;

        import java.util.ArrayList;
        import java.util.List;

        public class Store extends Shelf {
          private final Codec<String> codec = null;
          private final List<String> all = new ArrayList<>();

          void put(Object raw) {
            all.add("x");
            codec.write("x");
            dust();
            ((Codec) raw).write("y");
            raw.hashCode();
            new Store().put(null);
            Helper.help();
            String.valueOf(1);
          }

          void add(String x) {}
        }
        """,
    "src/main/java/a/b/Shelf.java": "package a.b;\n\nclass Shelf {\n  void dust() {}\n}\n",
    "src/main/java/a/b/Codec.java": "package a.b;\n\ninterface Codec<T> {\n  void write(T value);\n}\n",
    "src/main/java/a/c/Text.java": "package a.c;\n\nclass Text {\n  void write(String s) {}\n  int hashCode() {}\n}\n",
    "src/main/java/a/b/Helper.java": "package a.b;\n\nclass Helper {\n  static void help() {}\n}\n",
}


def test_java(edges_of: Callable[[dict[str, str], str], Edges]) -> None:
    found = edges_of(JAVA, "Store.put")
    assert found["11 add"] == ("add", *OUT)
    assert found["12 write"] == ("Codec.write", "src/main/java/a/b/Codec.java", "scoped")
    assert found["13 dust"] == ("Shelf.dust", "src/main/java/a/b/Shelf.java", "scoped")
    assert found["14 write"] == ("Codec.write", "src/main/java/a/b/Codec.java", "scoped")
    assert found["15 hashCode"] == ("hashCode", *OUT)
    assert found["16 put"] == ("Store.put", "src/main/java/a/b/Store.java", "scoped")
    assert found["17 help"] == ("Helper.help", "src/main/java/a/b/Helper.java", "exact")
    assert found["18 valueOf"] == ("valueOf", *OUT)


def test_javascript(edges_of: Callable[[dict[str, str], str], Edges]) -> None:
    found = edges_of(
        {
            "lib/response.js": """\
                const { join } = require('node:path');
                const { mix } = require('./utils');
                const utils = require('./utils');
                const res = module.exports = {};

                res.set = res.header = function (field) { return this; };
                res.send = function send(body) {
                  this.set('a');
                  join('a', 'b');
                  mix(body);
                  utils.mix(body);
                  body.split(',').forEach((part) => part.set(1));
                  this.missing();
                  const view = new View();
                  view.render();
                };
                function View() {}
                View.prototype.render = function () {};
                """,
            "lib/utils.js": "exports.mix = function (a) {};\nexports.split = function () {};\nfunction join() {}\n",
        },
        "res.send",
    )
    assert found["8 set"] == ("res.set", "lib/response.js", "exact")
    assert found["9 join"][:2] != ("join", "lib/utils.js")
    assert found["10 mix"] == ("mix", "lib/utils.js", "exact")
    assert found["11 mix"] == ("mix", "lib/utils.js", "exact")
    assert found["12 split"] == ("split", *OUT)
    assert found["12 set"] == ("set", *OUT)
    assert found["13 missing"] == ("missing", *OUT)
    assert found["15 render"][0] == "View.render"


def test_typescript(edges_of: Callable[[dict[str, str], str], Edges]) -> None:
    found = edges_of(
        {
            "src/main.ts": """\
                import * as z from "./index.js";
                import { Parser as P } from "./parser";

                export function run(input: string, parser: P): void {
                  z.literal(1);
                  parser.parse(input);
                  input.parse();
                  literal(2);
                }
                """,
            "src/index.ts": 'export * from "./schemas.js";\n',
            "src/schemas.ts": "export function literal(v: number): void {}\n",
            "src/other/schemas.ts": "export function literal(v: number): void {}\n",
            "src/parser.ts": "export class Parser {\n  parse(text: string): void {}\n}\n",
        },
        "run",
    )
    assert found["5 literal"] == ("literal", "src/schemas.ts", "scoped")
    assert found["6 parse"] == ("Parser.parse", "src/parser.ts", "scoped")
    assert found["7 parse"] == ("parse", *OUT)
    assert found["8 literal"] == ("literal", *OUT)  # neither defined nor imported there


def test_rust(edges_of: Callable[[dict[str, str], str], Edges]) -> None:
    found = edges_of(
        {
            "src/lib.rs": """\
                mod router;
                use crate::{router::{*, Kind}, other::Thing};
                use std::sync::Arc;

                fn serve(state: Arc<Router>) -> Option<u8> {
                    let app = Router::new()
                        .route("/");
                    app.route("/b");
                    state.route("/c");
                    Arc::new(1);
                    let items = vec![1].iter().map(|app| app.route("/d"));
                    Some(helper(items))
                }
                """,
            "src/router.rs": """\
                pub struct Router {}
                impl Router {
                    pub fn new() -> Self { Router {} }
                    pub fn route(self, path: &str) -> Self { self }
                }
                pub fn helper() {}
                pub enum Kind { Some }
                """,
            "src/other.rs": "pub struct Thing {}\nimpl Thing {\n    pub fn new() -> Self { Thing {} }\n"
            "    fn iter() {}\n}\n",
        },
        "serve",
    )
    by_name = {(key.split()[0], key.rpartition("::")[2].split()[-1]): value for key, value in found.items()}
    assert by_name["6", "new"] == ("Router::new", "src/router.rs", "exact")
    assert by_name["7", "route"] == ("Router::route", "src/router.rs", "scoped")
    assert by_name["8", "route"] == ("Router::route", "src/router.rs", "scoped")
    assert by_name["9", "route"] == ("Router::route", "src/router.rs", "scoped")
    assert by_name["10", "new"] == ("new", *OUT)
    assert by_name["11", "iter"] == ("iter", *OUT)
    assert by_name["11", "route"][2] == "guess"
    assert by_name["12", "helper"][:2] == ("helper", "src/router.rs")
    assert by_name["12", "Some"][1] == ""


def test_php_ignores_case_of_names_and_knows_the_global_namespace(
    edges_of: Callable[[dict[str, str], str], Edges],
) -> None:
    found = edges_of(
        {
            "src/Jar.php": """\
                <?php
                namespace App;
                class Jar {
                    public function fill(Lid $lid) {
                        $this->CLOSE();
                        $lid->turn();
                        throw new \\LogicException('x');
                    }
                    public function close() {}
                }
                """,
            "src/Lid.php": "<?php\nnamespace App;\nclass Lid {\n    public function turn() {}\n}\n",
            "src/Errors/LogicException.php": "<?php\nnamespace App\\Errors;\nclass LogicException {}\n",
        },
        "Jar.fill",
    )
    where = {key.split()[0]: value[1:] for key, value in found.items()}
    assert where == {"5": ("src/Jar.php", "exact"), "6": ("src/Lid.php", "scoped"), "7": OUT}


def test_callers_follow_aliases_overrides_and_leave_tests_apart(
    tmp_path: Path, add: Add, serve: Callable[[], Service]
) -> None:
    files = {
        "a.py": "class Shape:\n    def area(self): ...\n\n\n"
        "class Disc(Shape):\n    def area(self): ...\n\n\ndef draw(): ...\n",
        "b.py": "from a import Shape, draw as paint\n\n\ndef use(s: Shape):\n    s.area()\n    paint()\n    draw()\n",
        "tests/test_a.py": "def draw(): ...\n\n\ndef test_it():\n    draw()\n",
    }
    for path, text in files.items():
        (tmp_path / "src" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / path).write_text(text)
    add(tmp_path / "src")
    with serve() as service:
        area = service.graph("callers", "Disc.area")
        drawn = service.graph("callers", "draw")
        lower = service.graph("callers", "disc.AREA")
    assert [(e["path"], e["line"], e["confidence"]) for e in area] == [("b.py", 5, "guess")]
    assert [(e["path"], e["line"], e["target_path"], e["confidence"]) for e in drawn] == [
        ("b.py", 6, "a.py", "exact"),
        ("tests/test_a.py", 5, "tests/test_a.py", "exact"),
    ]
    assert lower == area  # a person need not know the case
