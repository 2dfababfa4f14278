"""The lexical index: readers make nothing, and damage of any kind is a StoreError that says what to do."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from devmind.errors import StoreError
from devmind.index.fields import ChunkFields
from devmind.index.lexical import LexicalReader, LexicalWriter, create_lexical


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "lexical"
    create_lexical(made)
    writer = LexicalWriter(made)
    for place in range(1, 40):
        fields = [ChunkFields(f"name{place}", "q", "doc", f"total price {n}") for n in range(20)]
        writer.add(place, 1, "shop cart", fields)
    writer.commit()
    writer.close()
    return made


def read(folder: Path) -> list[tuple[int, float]]:
    reader = LexicalReader(folder)
    reader.df("total")
    return reader.search({"total": 1.0, "name7": 2.0}, k=30)


@pytest.mark.parametrize("lost", ["folder", "meta.json"])
def test_a_reader_makes_no_index(folder: Path, lost: str) -> None:
    if lost == "folder":
        shutil.rmtree(folder)
    else:
        (folder / lost).unlink()
    with pytest.raises(StoreError, match=rf"{folder} is missing or not whole: run 'devmind sync'"):
        LexicalReader(folder)
    assert not (folder / "meta.json").exists()


def test_a_writer_makes_no_index_either(folder: Path) -> None:
    shutil.rmtree(folder)
    with pytest.raises(StoreError, match="is missing"):
        LexicalWriter(folder)
    assert not folder.exists()


def test_a_file_in_the_place_of_the_folder(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")
    with pytest.raises(StoreError, match="is a file"):
        LexicalReader(folder)
    create_lexical(folder)
    assert LexicalReader(folder).n_chunks == 0


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_a_store_error_or_harmless(folder: Path, seed: int) -> None:
    """tantivy panics on some of it, which is no Exception in Python."""
    chance = random.Random(seed)
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    at = files[seed % len(files)]
    data = bytearray(at.read_bytes())
    for _ in range(chance.choice([1, 3, 20])):
        data[chance.randrange(len(data))] = chance.randrange(256)
    at.write_bytes(data[: chance.choice([len(data), len(data) // 2])])
    try:
        read(folder)
    except StoreError as error:
        assert str(folder) in str(error) and "devmind sync" in str(error)


def test_an_index_of_other_fields_is_refused(tmp_path: Path) -> None:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("title")
    (tmp_path / "lexical").mkdir()
    tantivy.Index(builder.build(), path=str(tmp_path / "lexical"))
    with pytest.raises(StoreError, match="has other fields"):
        LexicalReader(tmp_path / "lexical")


def test_a_reader_outlives_an_index_that_takes_the_place_of_its_own(folder: Path) -> None:
    reader = LexicalReader(folder)
    before = reader.search({"total": 1.0}, k=5)
    create_lexical(folder)
    assert reader.search({"total": 1.0}, k=5) == before
    reader.refresh()
    assert reader.n_chunks == 0


def test_a_deleted_place_is_gone_and_others_stay(folder: Path) -> None:
    before = LexicalReader(folder).n_chunks
    writer = LexicalWriter(folder)
    for place in (7, 8):
        writer.delete_place(place)
    writer.add(8, 1, "shop cart", [ChunkFields("renamed8", "q", "doc", "total")])
    writer.commit()
    writer.close()
    reader = LexicalReader(folder)
    assert reader.n_chunks == before - 2 * 20 + 1
    assert reader.search({"name7": 1.0, "name8": 1.0}, k=9) == []
    assert [key for key, _ in reader.search({"renamed8": 1.0}, k=9)] == [8 << 16]
    assert len(reader.search({"name9": 1.0}, k=30)) == 20


def test_others_may_read_what_they_may_list(folder: Path) -> None:
    folder.chmod(0o755)
    writer = LexicalWriter(folder)
    writer.delete_place(1)
    writer.commit()
    writer.close()
    assert (folder / "meta.json").stat().st_mode & 0o777 == 0o644
