"""The lexical leg's index: BM25 over weighted fields, one tantivy index for the whole knowledge base.

Document frequencies are shared, so that scores of several repositories compare. The index holds what was ever placed;
which of it a reader may see is the catalog's word. tantivy allows one writer and any number of readers. The index can
be made again from the catalog (`ingest/mend.py`); opening never makes one, or a lost index would pass for an empty one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log
from pathlib import Path

import tantivy

from devmind.errors import StoreError
from devmind.index.catalog import ORDINAL_BITS
from devmind.index.fields import ChunkFields
from devmind.index.folders import clear

# In the order of how telling a match is. In English questions a name of 2 instead of 3 is .004 of nDCG@10 better on
# the semble suite (21 topics gain, 4 lose), and finds .011 more of the right lines. Long texts, which name many things
# in passing, lose .009 by it, and Chinese questions, which are asked by names, as much. Qualified .5 and 2, path 1.5
# and 3, and a name of 4 gain on one suite and lose on another.
WEIGHTS = {"name": 2.0, "qualified": 1.0, "path": 2.0, "doc": 1.5, "body": 1.0}
BY_NAME_WEIGHTS = {**WEIGHTS, "name": 3.0}
# English documentation holds the many names that Chinese words stand for by chance. Files of Chinese commit subjects,
# R@10: .530 at 1.5, .538 at .75, .549 at .5, .557 at 0, but spans .300, .305, .313 and .291.
CHINESE_WEIGHTS = {**BY_NAME_WEIGHTS, "doc": 0.5}


REMAKE = "run 'devmind sync', which makes it again from the catalog"
_NO_LOCK = "Failed to acquire Lockfile"  # tantivy's word when a folder cannot be written


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", fast=True)
    builder.add_unsigned_field("place", indexed=True)
    builder.add_unsigned_field("repo", indexed=True, fast=True)
    for field in (*ChunkFields._fields, "path"):
        builder.add_text_field(field, tokenizer_name="terms", index_option="freq")
    return builder.build()


def create_lexical(folder: Path) -> None:
    """Make an empty index in place of whatever lies at ``folder``.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        clear(folder)
        folder.mkdir(parents=True)
        tantivy.Index(_schema(), path=str(folder), reuse=False)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"cannot make the lexical index {folder}: {error}; free disk space or mend the rights on the folder, and "
            "run the same command again",
            code="write_failed",
        ) from error


def _open(folder: Path) -> tantivy.Index:
    """Open an index that exists.

    Raises:
        StoreError: there is none, it is damaged, or it holds other fields.
    """
    if not (folder / "meta.json").exists():
        if folder.exists() and not folder.is_dir():
            raise StoreError(
                f"{folder} is a file and should be the folder of the lexical index: {REMAKE}", code="lexical"
            )
        raise StoreError(f"the lexical index {folder} is missing or not whole: {REMAKE}", code="lexical")
    with _reading(folder):
        index = tantivy.Index.open(str(folder))
    if index.schema != _schema():
        raise StoreError(f"the lexical index {folder} has other fields: remove it and {REMAKE}", code="lexical")
    index.register_tokenizer("terms", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return index


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Turn what tantivy says of damaged files, panics included, into a ``StoreError``."""
    try:
        yield
    except BaseException as error:
        # A panic of tantivy's is no `Exception`, and its class cannot be imported.
        if not isinstance(error, OSError | ValueError) and type(error).__name__ != "PanicException":
            raise
        raise StoreError(
            f"the lexical index {folder} cannot be read: {error}; remove it and {REMAKE}", code="lexical"
        ) from error


def idf(df: int, n_chunks: int) -> float:
    """Return BM25's inverse document frequency of a term in ``df`` of ``n_chunks`` chunks; 1 in an empty index."""
    return log(1 + (n_chunks - df + 0.5) / (df + 0.5)) if n_chunks else 1.0


class LexicalWriter:
    """Adds and deletes chunks; nothing is seen before ``commit``, and all of it after."""

    def __init__(self, folder: Path, *, memory_mb: int = 128) -> None:
        self._folder, self._schema = folder, _schema()
        try:
            self._writer = _open(folder).writer(heap_size=memory_mb * 1_000_000, num_threads=1)
        except (ValueError, OSError) as error:
            raise StoreError(
                f"the lexical index {folder} cannot be written: {error}; mend the rights on the folder and run the "
                "same command again",
                code="write_failed",
            ) from error

    def add(self, place_id: int, repo_id: int, path: str, chunks: Iterable[ChunkFields]) -> None:
        """Add the chunks of a place, in order; ``path`` is the path's own terms."""
        for key, fields in enumerate(chunks, place_id << ORDINAL_BITS):
            document = tantivy.Document()
            document.add_unsigned("key", key)
            document.add_unsigned("place", place_id)
            document.add_unsigned("repo", repo_id)
            document.add_text("path", path)
            for field, text in zip(ChunkFields._fields, fields, strict=True):
                if text:
                    document.add_text(field, text)
            self._writer.add_document(document)

    def delete_place(self, place_id: int) -> None:
        # By query: tantivy's deletion by term takes every number for a signed one, which an unsigned field never holds,
        # and deletes nothing without a word.
        self._writer.delete_documents_by_query(tantivy.Query.term_query(self._schema, "place", place_id))

    def commit(self) -> None:
        try:
            self._writer.commit()
            # tantivy makes these two for their owner alone; whoever may read the folder may read them.
            mode = self._folder.stat().st_mode & 0o666
            for name in ("meta.json", ".managed.json"):
                (self._folder / name).chmod(mode)
        except (ValueError, OSError) as error:
            raise StoreError(f"the lexical index cannot be written: {error}; free disk space and run again") from error

    def close(self) -> None:
        self._writer.wait_merging_threads()


class LexicalReader:
    """Searches the committed state; ``refresh`` takes up later commits. Writes nothing but tantivy's lock file.

    Raises:
        StoreError: there is no index, or it is damaged (code ``lexical``); so do the methods.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._schema = _schema()
        self.refresh()

    def refresh(self) -> None:
        try:
            index = _open(self._folder)
        except StoreError as error:
            if _NO_LOCK not in str(error):
                raise
            index = _open_read_only(self._folder)
        with _reading(self._folder):
            self._searcher = index.searcher()

    @property
    def n_chunks(self) -> int:
        with _reading(self._folder):
            return int(self._searcher.num_docs)

    def df(self, term: str, field: str = "body") -> int:
        """Return in how many chunks ``term`` occurs in ``field``."""
        with _reading(self._folder):
            return int(self._searcher.doc_freq(field, term))

    def search(
        self,
        weights: Mapping[str, float],
        *,
        k: int,
        repo_ids: Sequence[int] = (),
        fields: Mapping[str, float] = WEIGHTS,
    ) -> list[tuple[int, float]]:
        """Return (key, BM25 score) of the best chunks, best first; ties by key.

        Args:
            weights: query terms and their weights.
            k: how many at most.
            repo_ids: only chunks of these repositories; empty for all.
            fields: weights by field.
        """
        should = [
            (
                tantivy.Occur.Should,
                tantivy.Query.boost_query(tantivy.Query.term_query(self._schema, f, term), w * boost),
            )
            for term, w in weights.items()
            for f, boost in fields.items()
        ]
        if not should or not self.n_chunks:
            return []
        query = tantivy.Query.boolean_query(should)
        return self._best(query, k, repo_ids)

    def holding(self, wanted: Sequence[str], *, k: int, repo_ids: Sequence[int] = (), field: str = "body") -> list[int]:
        """Return the keys of the ``k`` best chunks by BM25 that hold all of ``wanted`` in ``field``, best first."""
        if not wanted or not self.n_chunks:
            return []
        must = [(tantivy.Occur.Must, tantivy.Query.term_query(self._schema, field, term)) for term in wanted]
        return [key for key, _ in self._best(tantivy.Query.boolean_query(must), k, repo_ids)]

    def df_of_both(self, one: str, other: str, field: str = "body") -> int:
        """Return in how many chunks both terms occur."""
        beside = tantivy.Query.term_query(self._schema, field, one)
        with _reading(self._folder):
            return dict(self._searcher.terms_with_prefix(field, other, filter_query=beside)).get(other, 0)

    def beginning(self, term: str, *, k: int, field: str = "body") -> list[tuple[str, int]]:
        """Return the ``k`` terms that begin like ``term`` and stand in most of its chunks, and in how many of them."""
        beside = tantivy.Query.term_query(self._schema, field, term)
        with _reading(self._folder):
            return list(self._searcher.terms_with_prefix(field, term, filter_query=beside, limit=k))

    def like(self, term: str, *, distance: int, k: int, field: str = "name") -> list[int]:
        """Return the keys of ``k`` chunks with a term in ``field`` that is at most ``distance`` letters from ``term``.

        Letters are put in, left out, replaced or swapped.
        """
        if not self.n_chunks:
            return []
        query = tantivy.Query.fuzzy_term_query(
            self._schema, field, term, distance=distance, transposition_cost_one=True
        )
        return [key for key, _ in self._best(query, k, ())]

    def _best(self, query: tantivy.Query, k: int, repo_ids: Sequence[int]) -> list[tuple[int, float]]:
        if repo_ids:
            of_repo = [
                (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, "repo", repo_id)) for repo_id in repo_ids
            ]
            within = tantivy.Query.const_score_query(tantivy.Query.boolean_query(of_repo), 0.0)
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, within)])
        with _reading(self._folder):
            found = self._searcher.search(query, limit=k, count=False).hits
            keys = self._searcher.fast_field_values("key", [address for _, address in found])
        best = sorted(zip([-float(score) for score, _ in found], [int(key or 0) for key in keys], strict=True))
        return [(key, -lower) for lower, key in best]


def _open_read_only(folder: Path) -> tantivy.Index:
    """Open an index in a folder where tantivy cannot make its lock file: links to its files lie where it can.

    The links may go at once: what the index reads is mapped into memory when it is opened.
    """
    import tempfile  # which loads more than all of this module, for a rare case

    try:
        # tantivy may make its lock file once more while the folder is emptied: then it is emptied again.
        with tempfile.TemporaryDirectory(prefix="devmind-", ignore_cleanup_errors=True) as links:
            for path in folder.absolute().iterdir():
                if not path.name.endswith(".lock"):
                    (Path(links) / path.name).symlink_to(path)
            index = _open(Path(links))
        shutil.rmtree(links, ignore_errors=True)
        return index
    except OSError as error:
        raise StoreError(
            f"the lexical index {folder} lies in a read-only folder and no temporary folder can be made: {error}; set "
            "TMPDIR to a folder that can be written",
            code="lexical",
        ) from error
