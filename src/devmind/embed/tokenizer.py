"""Text → token counts and token ids, over one vocabulary of 32,000 pieces.

Must not depend on the order in which texts are seen.

A text is cut by one regular expression into words (`\\w+`) and runs of punctuation. A word is normalised (NFKC),
split where an identifier is (`getHTTPStatus2` → get, http, status, 2), lower-cased, and each part is encoded by the
longest match in the vocabulary, left to right. The vocabulary is trained as BPE (`training/tokenizer.py`), but
encoded greedily: that needs no merge table, loads in milliseconds, and the vectors are trained on the same greedy
encoding.

A character that no piece covers (rare CJK, other scripts) falls into one of `N_BUCKETS` hashed pieces, so nothing is
lost and any two texts that share a character share a piece.

Words repeat, so the pieces of a word are kept in a bounded cache: a second sight costs one dictionary look-up. A line
is looked at three times (to budget its chunk, for the chunk's vector, for its lexical terms), and half of all lines
repeat another, so what is known of a line is kept for a while too.
"""

from __future__ import annotations

import re
import string
import unicodedata
from array import array
from collections.abc import Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Final

N_PIECES: Final = 32_000
N_BUCKETS: Final = 256
_ID_BYTES: Final = 2

_VOCABULARY_FILE: Final = Path(__file__).with_name("data") / "vocabulary.txt"

# Beyond this length a "word" is base64, a digest or minified text: its ids say nothing and its pieces are estimated.
MAX_WORD_CHARS: Final = 128
# Mean characters a piece on such strings (measured on base64 and hexadecimal: 1.9 to 2.3).
_LONG_WORD_CHARS_PER_PIECE: Final = 2

# Distinct words kept; a repository of 1 M lines holds about 300,000. At most about 60 MB.
_CACHE_WORDS: Final = 400_000

# Lines kept: those of a few documents, about 20 MB; a longer line than this seldom comes twice.
_CACHE_LINES: Final = 20_000
_CACHE_LINE_CHARS: Final = 1_000

_TOKEN = re.compile(r"\w+|[^\w\s]+")
# Byte by byte, what leaves the words of ASCII text, or its runs of punctuation, between blanks: a quarter of the time.
_WORD_BYTES = (string.ascii_letters + string.digits + "_").encode()
_TO_WORDS: Final = bytes(i if i in _WORD_BYTES else 32 for i in range(256))
_TO_PUNCTUATION: Final = bytes(32 if i in _WORD_BYTES or chr(i).isspace() else i for i in range(256))
_WORD = re.compile(r"\w")
# Each ideograph is a part of its own; numbers go by groups of three, so that a constant is not one piece.
_PART = re.compile(r"[a-z]+|[0-9]{1,3}|[\u3400-\u9fff]|[^\W\d_a-z\u3400-\u9fff]+|[^\W_]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class _Vocabulary:
    """Pieces by text. A piece that starts a word and one that continues it differ, as in WordPiece: `in` is a word by
    itself, a continuing `in` seldom means much. The longest piece bounds the search for a match."""

    __slots__ = ("continuing", "longest", "starting")

    def __init__(self, starting: Sequence[str], continuing: Sequence[str]) -> None:
        self.starting = dict(zip(starting, range(N_BUCKETS, N_PIECES), strict=False))
        self.continuing = dict(zip(continuing, range(N_BUCKETS + len(starting), N_PIECES), strict=False))
        self.longest = max(map(len, continuing), default=1)

    def encode_part(self, part: str) -> list[int]:
        """Ids of one lower-cased part by the longest match; a character that no piece covers goes to its bucket."""
        whole = self.starting.get(part)
        if whole is not None:
            return [whole]
        ids: list[int] = []
        start, n_chars = 0, len(part)
        while start < n_chars:
            table = self.continuing if start else self.starting
            for end in range(min(n_chars, start + self.longest), start, -1):
                piece = table.get(part[start:end])
                if piece is not None:
                    ids.append(piece)
                    start = end
                    break
            else:
                ids.append(ord(part[start]) % N_BUCKETS)
                start += 1
        return ids


@cache
def _vocabulary() -> _Vocabulary:
    starting, _, continuing = _VOCABULARY_FILE.read_text("utf-8").partition("\n\n")
    return _Vocabulary(starting.split("\n"), continuing.split("\n"))


def pieces() -> list[str]:
    """The text of every piece by id; empty for the hashed buckets."""
    vocabulary = _vocabulary()
    return [""] * N_BUCKETS + [*vocabulary.starting, *vocabulary.continuing]


def split_word(word: str) -> list[str]:
    """The lower-cased parts of an identifier: camel case, underscores, digits and scripts apart."""
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
    return _PART.findall(_CAMEL.sub(" ", word).lower())


def _encode_word(word: str) -> bytes:
    """The ids of a word as 16-bit numbers, none for a run of punctuation."""
    if not _WORD.match(word):
        return b""
    vocabulary = _vocabulary()
    parts = split_word(word[:MAX_WORD_CHARS])
    return array("H", [i for part in parts for i in vocabulary.encode_part(part)]).tobytes()


class _IdsByToken(dict[str, bytes]):
    """Word → its ids (none for punctuation), filled on a miss, emptied when full (the next texts fill it again).

    Strings of bytes, for they are joined twice as fast as tuples.
    """

    def __missing__(self, token: str) -> bytes:
        ids = _encode_word(token)
        if len(token) <= MAX_WORD_CHARS:
            if len(self) >= _CACHE_WORDS:
                self.clear()
            self[token] = ids
        return ids


# Of a line: the number of tokens, the ids of its words, and the words themselves, which in a line that is not all ASCII
# come with the runs of punctuation between them.
_Line = tuple[int, bytes, list[str]]


class _FactsByLine(dict[str, _Line]):
    """Line → what is known of it, filled like `_IdsByToken`."""

    def __missing__(self, line: str) -> _Line:
        if line.isascii():
            data = line.encode()
            words = data.translate(_TO_WORDS).decode().split()
            n_others = len(data.translate(_TO_PUNCTUATION).split())
        else:
            words, n_others = _TOKEN.findall(line), 0
        ids = list(map(_ids_by_token.__getitem__, words))
        # A word counts by its pieces, and one without any (a run of punctuation, underscores) as one.
        n_tokens = n_others + sum(map(len, ids)) // _ID_BYTES + ids.count(b"")
        if len(line) > MAX_WORD_CHARS:
            n_tokens += sum(map(_uncounted, words, ids))
        facts = n_tokens, b"".join(ids), words
        if len(line) <= _CACHE_LINE_CHARS:
            if len(self) >= _CACHE_LINES:
                self.clear()
            self[line] = facts
        return facts


def _uncounted(word: str, ids: bytes) -> int:
    """How many more tokens a word has than pieces, of which only those of its beginning were found."""
    if len(word) <= MAX_WORD_CHARS or not _WORD.match(word):
        return 0
    return -(-len(word) // _LONG_WORD_CHARS_PER_PIECE) - max(1, len(ids) // _ID_BYTES)


_ids_by_token = _IdsByToken()
_facts_by_line = _FactsByLine()
_n_tokens = itemgetter(0)
_ids = itemgetter(1)


def words_of(line: str) -> Sequence[str]:
    """The words of `line` in order; runs of punctuation may stand between them."""
    return _facts_by_line[line][2]


def count_tokens_by_line(lines: Sequence[str]) -> list[int]:
    """The number of tokens of each line.

    Returns:
        One count for each line: the pieces of its words, and 1 for each run of punctuation.

    Cost:
        Linear; about 0.1 µs a character once the words have been seen.
    """
    return list(map(_n_tokens, map(_facts_by_line.__getitem__, lines)))


def count_tokens(text: str) -> int:
    """The number of tokens of `text`: the sum of `count_tokens_by_line` over its lines."""
    return sum(count_tokens_by_line(text.split("\n")))


def token_ids(text: str, limit: int) -> list[int]:
    """Ids of the pieces of the words of `text`, in order, punctuation left out, at most `limit`."""
    ids = b"".join(map(_ids, map(_facts_by_line.__getitem__, text.split("\n"))))
    return memoryview(ids).cast("H")[:limit].tolist()
