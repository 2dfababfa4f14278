"""C: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """#include <stdio.h>
#include "foo.h"
/* Doc */
#define MAX 3
#define ADD(a,b) ((a)+(b))
typedef struct { int x; } P;
typedef struct node { int v; struct node *next; } node_t;
typedef int (*cb)(int);
typedef unsigned int u32;
enum color { RED, GREEN = 2 };
typedef enum { A1 } en;
union u { int a; };
struct fwd;
static int helper(int a);
extern int *gp(void);
int gvar = 1;
static const char *names[] = {"a"};
static int helper(int a) { return foo(a) + p->cb(1); }
char *ptr(void) { return 0; }
API_EXPORT int weird(int x) { return x; }
#ifdef X
int inx(void) { return 1; }
#endif
struct S foo(struct S *s) { }
int *(fnp)(void);
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "c", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("macro", "MAX"),
        ("macro", "ADD"),
        ("struct", "P"),
        ("struct", "node"),
        ("type", "node_t"),
        ("type", "cb"),
        ("enum", "color"),
        ("enum_member", "color::RED"),
        ("function", "helper"),
        ("function", "ptr"),
        ("function", "weird"),
        ("function", "inx"),
        ("variable", "gvar"),
        ("union", "u"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "foo"),
        ("calls", "cb"),
        ("imports", "foo.h"),
        ("imports", "stdio.h"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"helper"} <= private
