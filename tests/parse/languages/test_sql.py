"""Sql: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """-- Doc
CREATE TABLE IF NOT EXISTS app.users (id INT PRIMARY KEY, name TEXT NOT NULL, FOREIGN KEY (id) REFERENCES o(id));
CREATE OR REPLACE VIEW v AS SELECT * FROM users;
CREATE MATERIALIZED VIEW mv AS SELECT 1;
CREATE INDEX idx ON users (name);
CREATE FUNCTION add(a INT, b INT) RETURNS INT AS $$ SELECT a+b; $$ LANGUAGE sql;
CREATE TYPE mood AS ENUM ('a','b');
CREATE TRIGGER trg BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION f();
CREATE SCHEMA s;
CREATE SEQUENCE sq;
CREATE PROCEDURE pr(a INT) BEGIN SELECT 1; END;
ALTER TABLE users ADD COLUMN x INT;
SELECT count(*) FROM a.b JOIN c ON 1=1;
CREATE TABLE `bt` (`id` int(11) NOT NULL AUTO_INCREMENT, KEY `k` (`id`)) ENGINE=InnoDB;
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "sql", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("table", "users"),
        ("field", "users.name"),
        ("view", "v"),
        ("view", "mv"),
        ("function", "add"),
        ("type", "mood"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "count"),
        ("references", "b"),
        ("references", "users"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")
