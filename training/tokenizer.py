"""Source files → `vocabulary.txt` of the shipped tokenizer. Must not be run without retraining the vectors after it.

The pieces are learned as BPE with a continuation mark, over parts cut exactly as `devmind.embed.tokenizer.split_word`
cuts them, and are written one a line: those that start a part, an empty line, those that continue one. Ids count from
`N_BUCKETS` in that order. Common Chinese characters (GB 2312 level 1, which is ordered by pinyin and covers 99.7 % of
running text) are pieces by decree.

    python -m training.tokenizer --data DATA --out src/devmind/embed/data/vocabulary.txt
"""

from __future__ import annotations

import argparse
import random
import re
import string
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from devmind.embed.tokenizer import N_BUCKETS, N_PIECES, split_word
from training.corpus import files

_WORD = re.compile(r"\w+")
_CONTINUATION = "##"
# Characters read from one file: a few large files must not rule the vocabulary.
_CHARS_PER_FILE = 12_000


def common_chinese() -> list[str]:
    """The 3,755 characters of GB 2312 level 1 (rows 16 to 55)."""
    pairs = (bytes((0xA0 + row, 0xA0 + cell)) for row in range(16, 56) for cell in range(1, 95))
    return [pair.decode("gb2312") for pair in pairs if not (pair[0] == 0xA0 + 55 and pair[1] > 0xA0 + 89)]


def part_counts(data: Path, *, n_files: int, seed: int = 0) -> Counter[str]:
    """How often each part occurs in a sample of the corpus: `n_files` files, spread evenly over packages."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    words: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for file in files(data):
        taken[file.package] += 1
        # Ever fewer files of one package: the square root of its size, roughly.
        if rng.random() > 4 / taken[file.package] ** 0.5:
            continue
        words.update(_WORD.findall(file.text[:_CHARS_PER_FILE]))
        n_files -= 1
        if n_files <= 0:
            break
    for word, n in words.items():
        if len(word) <= 60:
            for part in split_word(word):
                counts[part] += n
    return counts


def train(counts: Counter[str], *, n_pieces: int) -> list[str]:
    """The `n_pieces` pieces, frequent first; damped counts, so that a licence header is not a thousand sights."""
    chinese = common_chinese()
    tokenizer = Tokenizer(models.BPE(continuing_subword_prefix=_CONTINUATION))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(
        vocab_size=n_pieces - len(chinese),
        min_frequency=2,
        show_progress=False,
        initial_alphabet=list(string.ascii_lowercase + string.digits),
        limit_alphabet=36,
        continuing_subword_prefix=_CONTINUATION,
        max_token_length=24,
    )

    def repeated() -> Iterator[str]:
        for part, n in sorted(counts.items()):
            if part.isascii():
                times = int(n**0.75)
                for _ in range(times // 500):
                    yield " ".join([part] * 500)
                yield " ".join([part] * (times % 500))

    tokenizer.train_from_iterator(repeated(), trainer)
    learned = [p for p, _ in sorted(tokenizer.get_vocab().items(), key=lambda e: e[1])]
    single = {*string.ascii_lowercase, *string.digits}
    fixed = sorted(single | {_CONTINUATION + c for c in single})
    rest = [p for p in learned if p not in set(fixed)]
    return [*fixed, *chinese, *rest][:n_pieces]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--files", type=int, default=1_000_000)
    args = parser.parse_args()
    counts = part_counts(args.data, n_files=args.files)
    pieces = train(counts, n_pieces=N_PIECES - N_BUCKETS)
    starting = [p for p in pieces if not p.startswith(_CONTINUATION)]
    continuing = [p.removeprefix(_CONTINUATION) for p in pieces if p.startswith(_CONTINUATION)]
    args.out.write_text("\n".join(starting) + "\n\n" + "\n".join(continuing), "utf-8")
    print(f"{len(counts)} distinct parts, {len(pieces)} pieces")


if __name__ == "__main__":
    main()
