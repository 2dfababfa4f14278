"""All text of an index → proof that a name or a feature is not in it: word for word, split and stemmed, in any order.

Paths count as text, those of skipped files too. A thing is absent only if every search for it finds nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from devmind.evaluate.generate.corpus import Corpus
from devmind.evaluate.generate.names import IDENTIFIER, parts_of, stem
from devmind.index.terms import CJK, WORD

# A shorter word (``sms``, ``s3``) stands inside too many others to be searched as a mere piece of text.
_MIN_SUBSTRING = 5


@dataclass(frozen=True, slots=True)
class Absence:
    """What was searched, and in how much text, without any find."""

    exact: tuple[str, ...]
    stemmed: tuple[str, ...]
    in_names: tuple[str, ...]
    n_files: int
    n_chars: int

    def provenance(self) -> dict[str, str]:
        found = {
            "absent_exact": " | ".join(self.exact),
            "absent_stemmed": " | ".join(self.stemmed),
            "absent_in_names": " | ".join(self.in_names),
        }
        searched = {"searched_files": str(self.n_files), "searched_chars": str(self.n_chars)}
        return {key: value for key, value in found.items() if value} | searched


class IndexText:
    """The text of all files, ready to be searched in three ways.

    Cost: linear in the text, once; a search is one pass over a string.
    """

    def __init__(self, text_by_path: Mapping[str, str]) -> None:
        texts = [f"{path}\n{text}" for path, text in sorted(text_by_path.items())]
        self.n_files = len(texts)
        self.n_chars = sum(map(len, texts))
        self._plain = "\0".join(texts).casefold()
        self._stems = "\n".join(f" {' '.join(_stems(text))} " for text in texts)
        self._names_by_stem: dict[str, set[str]] = defaultdict(set)
        for name in sorted({name for text in texts for name in IDENTIFIER.findall(text)}):
            for part in set(parts_of(name)):
                self._names_by_stem[stem(part)].add(name)

    def holds_exact(self, text: str) -> bool:
        return text.casefold() in self._plain

    def holds_stems(self, words: Sequence[str]) -> bool:
        """Return whether the words' stems stand one after the other, in any spelling: ``user_name``, "user names"."""
        return f" {' '.join(map(stem, words))} " in self._stems

    def holds_in_a_name(self, words: Sequence[str]) -> bool:
        """Return whether one identifier has all the words' stems among its parts, in any order."""
        sets = [self._names_by_stem.get(stem(word), set()) for word in words]
        return bool(set.intersection(*sets)) if sets else False

    def absent_name(self, name: str) -> Absence | None:
        """Return the proof that no such name is there, nor the words that it is made of; None if something is."""
        words = parts_of(name)
        if not words or self.holds_exact(name) or self.holds_stems(words) or self.holds_in_a_name(words):
            return None
        return self._proof(exact=[name], stemmed=[words], in_names=[words])

    def absent_thing(self, phrases: Iterable[str]) -> Absence | None:
        """Return the proof that none of the phrases, the names of one thing, is there; None if one is."""
        exact, stemmed = [], []
        for phrase in phrases:
            words = parts_of(phrase)
            squashed = "".join(phrase.split())
            if CJK.search(phrase) or len(squashed) >= _MIN_SUBSTRING:
                exact += list(dict.fromkeys([phrase, squashed]))
            if words and not CJK.search(phrase):
                stemmed.append(words)
        if any(map(self.holds_exact, exact)) or any(map(self.holds_stems, stemmed)):
            return None
        return self._proof(exact=exact, stemmed=stemmed, in_names=[])

    def _proof(
        self, *, exact: Sequence[str], stemmed: Sequence[Sequence[str]], in_names: Sequence[Sequence[str]]
    ) -> Absence:
        def shown(phrases: Sequence[Sequence[str]]) -> tuple[str, ...]:
            return tuple(" ".join(map(stem, words)) for words in phrases)

        return Absence(tuple(exact), shown(stemmed), shown(in_names), self.n_files, self.n_chars)


def index_text(corpus: Corpus) -> IndexText:
    """Return all that the index knows of a repository: its files, and the names of those it skipped."""
    return IndexText(dict.fromkeys(corpus.skipped, "") | {file.path: file.text for file in corpus.files})


def _stems(text: str) -> list[str]:
    return [stem(part) for word in WORD.findall(text) for part in parts_of(word)]
