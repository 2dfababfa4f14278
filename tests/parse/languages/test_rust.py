"""Rust: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """use std::collections::{HashMap, HashSet as HS};
use a::b::c;
use x::*;
use q::r as s;
/// Doc
#[derive(Debug)]
pub struct Foo<T> { pub x: T }
pub enum E { A, B(i32), C { x: i32 } }
pub trait Tr: Super { fn z(&self); const K: i32; type Out; fn d(&self) {} }
impl<T> Tr for Foo<T> { fn z(&self) { self.x.call(); g(); A::b(1); } }
impl Foo<i32> { pub const M: i32 = 1; pub fn new() -> Self { Self { x: 1 } } }
impl fmt::Display for a::Bar { fn f(){ vec![1]; println!("a"); x.y::<T>(); z::<T>(); } }
const MAX: usize = 3;
static S: i32 = 1;
type Al = Vec<i32>;
macro_rules! mac { () => {}; }
mod m { pub fn inner() {} }
mod ext;
union U { a: i32 }
fn route() { Router::new().route("/x", get(handler)); }
#[get("/a")]
async fn h() {}
extern "C" { fn cf(a: i32); }
cfg_rt! {
    pub fn inside() {}
}
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "rust", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("struct", "Foo"),
        ("enum_member", "E::B"),
        ("trait", "Tr"),
        ("method", "Tr::z"),
        ("method", "Foo::z"),
        ("method", "Foo::new"),
        ("method", "Bar::f"),
        ("constant", "MAX"),
        ("macro", "mac"),
        ("module", "m"),
        ("function", "m::inner"),
        ("type", "Al"),
        ("union", "U"),
        ("function", "inside"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "call"),
        ("calls", "b"),
        ("imports", "HashMap"),
        ("imports", "c"),
        ("imports", "r"),
        ("inherits", "Super"),
        ("implements", "Tr"),
        ("implements", "Display"),
        ("handles", "handler"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"MAX"} <= private


def test_wildcards_of_a_use_tree() -> None:
    source = "use crate::{a::*, b::{*, C}};\nuse super::*;\n"
    found = parse(Document("x", source, "rust", "source", "", "utf-8", len(source)))
    assert {(r.name, r.qualifier) for r in found.references if r.kind == "imports"} == {
        ("*", "a"), ("*", "b"), ("C", "b"), ("*", "super"),
    }  # fmt: skip
