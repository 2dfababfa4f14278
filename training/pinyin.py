"""Makes ``retrieve/data/pinyin.tsv``: syllables of the 3,755 commonest characters and of all that the glossary uses.

A character read in several ways stands in the line of each reading that pypinyin (MIT), or one of the glossary's words,
gives it. Run it when the glossary gained a character: ``python -m training.pinyin``; needs ``pip install pypinyin``.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from pypinyin import Style, pinyin

DATA = Path(__file__).parents[1] / "src" / "devmind" / "retrieve" / "data"
# GB 2312 orders its first level, the commonest characters, from row 0xB0 on.
ROWS, CELLS, LAST = range(0xB0, 0xD8), range(0xA1, 0xFF), (0xD7, 0xF9)


def main() -> None:
    common = [bytes(at).decode("gb2312") for at in ((row, cell) for row in ROWS for cell in CELLS) if at <= LAST]
    words = [line.split("\t")[0] for line in (DATA / "glossary.tsv").read_text("utf-8").splitlines()]
    characters: dict[str, set[str]] = defaultdict(set)
    for word in [*common, *words]:
        for character, (syllable,) in zip(word, pinyin(word, style=Style.NORMAL, v_to_u=False), strict=True):
            characters[syllable].add(character)
    lines = [f"{syllable}\t{''.join(sorted(of_it))}\n" for syllable, of_it in sorted(characters.items())]
    (DATA / "pinyin.tsv").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
