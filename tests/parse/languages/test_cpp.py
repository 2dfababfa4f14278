"""Cpp: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """#include <vector>
using std::string;
using namespace std;
using Alias = std::vector<int>;
namespace a::b {
namespace { int hid() { return 1; } }
template <typename T> class Foo : public Base<T>, private ns::Other {
 public:
  Foo(int x);
  ~Foo();
  virtual void m(int a) const = 0;
  static T get() { return x.y(1); }
  bool operator==(const Foo& o) const { return true; }
  operator bool() const { return 1; }
  int field_;
  enum class K { A, B };
 private:
  int priv();
  T *pp(int);
  T &rr();
};
template <typename T> Foo<T>::Foo(int x) : field_(x) {}
template <typename T> T Foo<T>::get2() { return std::move(x); }
void A::B::run() { obj->go(); ns::f(1); new Thing(2); f<int>(3); }
int& A::ref() { }
bool A::operator<(int b) { }
A::~A() { }
A::operator bool() { return 1; }
}
extern "C" { int cfun(int); }
extern "C" int c2() { return 1; }
// Doc of S
struct S { int a; };
constexpr int kMax = 1;
template <class T> concept C = true;
template <> struct Spec<int> { };
template <typename T> using Vec = std::vector<T>;
class FMT_API Exported : public X { void q(); };
FMT_BEGIN_NAMESPACE
class EE { int zz() { return 1; } };
FMT_END_NAMESPACE
friend int ff();
auto trail(int a) -> int { return 1; }
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "cpp", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("namespace", "a::b"),
        ("class", "a::b::Foo"),
        ("method", "a::b::Foo::m"),
        ("method", "a::b::Foo::operator=="),
        ("method", "a::b::A::B::run"),
        ("method", "a::b::A::ref"),
        ("method", "a::b::A::~A"),
        ("method", "a::b::Foo::get2"),
        ("function", "cfun"),
        ("function", "c2"),
        ("class", "Exported"),
        ("method", "Exported::q"),
        ("class", "EE"),
        ("method", "EE::zz"),
        ("function", "trail"),
        ("type", "Vec"),
        ("constant", "kMax"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "go"),
        ("calls", "f"),
        ("calls", "Thing"),
        ("calls", "move"),
        ("imports", "vector"),
        ("inherits", "Base"),
        ("inherits", "Other"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_macros_and_split_braces() -> None:
    parsed = read(
        '#ifdef __cplusplus\nextern "C" {\n#endif\nint one(void) {\n#ifdef A\n  if (a) {\n#else\n  if (b) {\n#endif\n'
        "  }\n  return 1;\n}\n#ifdef __cplusplus\n}\n#endif\nAPI_EXPORT(x) int two(void) { return 2; }\n"
        "class Q_EXPORT W : public V {\n  Q_OBJECT\n public:\n  int m() API_NOEXCEPT;\n};\n"
        "TEST(Suite, Case) { two(); }\n"
    )
    found = {symbol.qualified_name: symbol for symbol in parsed.symbols}
    assert {"one", "two", "W", "W::m", "Suite::Case"} <= set(found)
    assert (found["one"].start_line, found["one"].end_line) == (4, 12)


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"a::b::Foo::priv"} <= private
