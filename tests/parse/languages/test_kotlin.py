"""Kotlin: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """package com.acme.app
import a.b.C
import a.b.D as E
import a.z.*
/** Doc */
@Ann
sealed class Foo(val x: Int) : Base(x), Iface {
    companion object { const val MAX = 3 }
    companion object Named { fun make() = 1 }
    private val y: Int = 1
    fun m(a: Int): String { obj.call(a); g() }
}
interface I { fun z() }
enum class Color(val v: Int) { RED(1), GREEN(2); fun f() = 1 }
object Single { }
data class P(val a: Int)
typealias T = List<Int>
fun String.ext(): Int = length
suspend fun top() { Foo(1).m(2) }
val TOP = 1
val (p, q) = foo()
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "kotlin", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("method", "Foo.m"),
        ("method", "String.ext"),
        ("interface", "I"),
        ("enum_member", "Color.RED"),
        ("constant", "Foo.MAX"),
        ("type", "T"),
        ("object", "Foo.Named"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "call"),
        ("imports", "C"),
        ("inherits", "Base"),
        ("implements", "Iface"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"Foo.y"} <= private
