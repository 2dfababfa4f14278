"""Php: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = r"""<?php
namespace A\B;
use X\Y;
use X\Z as W;
use function a\f;
use G\{H, I as J};
/** Doc */
#[Attr]
abstract class Foo extends Base implements I1, I2 {
    use Tr;
    const MAX = 1;
    private int $y = 1;
    public function __construct(private int $p) { parent::x(); }
    protected static function m(int $a): string { $this->call($a); g(); Foo::s(); new Bar(1); return \q\w(); }
}
interface I { function z(); }
trait Tr { function t() {} }
enum Color: string { case Red = 'r'; const D = 1; }
function top() { }
const TOP = 1;
define('DEF', 2);
Route::get('/x', [C::class, 'm']);
require_once 'a.php';
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "php", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("class", "A\\B\\Foo"),
        ("method", "A\\B\\Foo\\m"),
        ("interface", "A\\B\\I"),
        ("trait", "A\\B\\Tr"),
        ("enum_member", "A\\B\\Color\\Red"),
        ("function", "A\\B\\top"),
        ("constant", "A\\B\\TOP"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "call"),
        ("calls", "s"),
        ("imports", "Y"),
        ("imports", "H"),
        ("inherits", "Base"),
        ("implements", "I1"),
        ("implements", "Tr"),
        ("handles", "m"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"A\\B\\Foo\\y"} <= private


def test_the_namespace_of_a_new_object_is_kept() -> None:
    source = "<?php\nnamespace A;\nfunction f() { new \\X(); new B\\Y(); new Z(); }\n"
    found = parse(Document("x", source, "php", "source", "", "utf-8", len(source)))
    calls = [(r.qualifier, r.name) for r in found.references if r.kind == "calls"]
    assert calls == [("\\", "X"), ("B", "Y"), ("", "Z")]
