"""Bags → a trained checkpoint of the static model. Must compute exactly what `devmind.embed.static` computes, before
rounding.

InfoNCE with in-batch negatives in both directions; half of each batch are runs of neighbours from one package, which
are hard negatives; the first 64 dimensions are also trained to rank alone (Matryoshka); tokens and whole fields are
dropped at random; the similarities among queries imitate a sentence model's. Vectors start from that model's vectors
of the pieces.

    python -m training.train --bags DIR --out CHECKPOINT.npz
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from devmind.embed.tokenizer import N_PIECES, token_ids
from training.bags import CODE, LIMITS, QUERIES
from training.evaluate import measures, ranks_dense, sampled

# Phrases that people put in front of what they look for; docstrings have none.
_OPENINGS = (
    "where is", "how does", "how do we", "which function", "which code", "where do we", "code that", "how to",
    "what does", "function to", "where is the code that", "find the place where we", "what handles", "class for",
    "implementation of",
)  # fmt: skip
# Of all queries, besides those that are questions already.
_OPENED = 0.15
_RUN = 64
# A stopped run is not lost.
_SAVED_EVERY = 50
# Code costs more than queries to encode, and a sample of it is enough to imitate.
_CODE_IMITATED = 256
_SMALL_DIM = 64
# Chance that a document loses a whole field, so that code without comments and files without symbols are no strangers.
_FIELD_DROP = {"name": 0.1, "header": 0.3, "body": 0.1}


@dataclass(frozen=True, slots=True)
class Options:
    """What an experiment varies; how the shipped numbers came about: `docs/embedding.md`."""

    epochs: int = 2
    batch: int = 2048
    learning_rate: float = 0.01
    hard_share: float = 0.5
    token_drop: float = 0.3
    distill: float = 1.0
    distill_code: float = 0.2
    translate: float = 0.3
    question: float = 0.15
    chinese: float = 0.05
    temperature: float = 0.05


class Bags:
    """One side of the data, sliced by row."""

    def __init__(self, path: Path, fields: Sequence[str] = tuple(LIMITS)) -> None:
        data = np.load(path)
        self._of = {f: (data[f"{f}_ids"], data[f"{f}_factors"], data[f"{f}_offsets"]) for f in fields}
        self.n = len(data[f"{fields[0]}_offsets"]) - 1

    def document_frequency(self, field: str) -> npt.NDArray[np.int64]:
        """In how many texts of a field each piece occurs."""
        return np.bincount(self._of[field][0], minlength=N_PIECES)

    def ways(self, rows: npt.NDArray[np.int64], options: Options, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """In which of the ways of `QUERIES` to ask for each of `rows`."""
        offsets = self._of["chinese"][2]
        chance = rng.random(len(rows))
        in_chinese = (chance < options.chinese) & (offsets[rows + 1] > offsets[rows])
        return np.where(in_chinese, 2, np.where(chance > 1 - options.question, 1, 0))

    def take(self, field: str, rows: npt.NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor]:
        """(ids, factors, row of each id) of `rows` of a field."""
        ids, factors, offsets = self._of[field]
        start, length = offsets[rows], offsets[rows + 1] - offsets[rows]
        first = np.cumsum(length) - length
        at = np.repeat(start - first, length) + np.arange(length.sum())
        segment = np.repeat(np.arange(len(rows)), length)
        return torch.from_numpy(ids[at].astype(np.int64)), torch.from_numpy(factors[at]), torch.from_numpy(segment)


class Model(nn.Module):
    """The parameters of the static model; weights and field weights pass through softplus, so they stay positive."""

    def __init__(self, start: npt.NDArray[np.float32], idf: npt.NDArray[np.float64], temperature: float) -> None:
        super().__init__()
        weight = torch.from_numpy(np.log1p(0.3 * idf).astype(np.float32))
        self.vectors = nn.Parameter(torch.from_numpy(start.copy()))
        self.query_weight = nn.Parameter(weight.clone())
        self.code_weight = nn.Parameter(weight.clone())
        self.field_weight = nn.Parameter(torch.tensor([1.0, 1.0, 1.0]))
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / temperature)))

    def sums(self, ids: Tensor, weights: Tensor, segments: Tensor, n: int) -> Tensor:
        """Σ weight · vector of each segment, at unit length."""
        order = torch.argsort(segments, stable=True)
        counts = torch.bincount(segments, minlength=n)
        offsets = torch.cumsum(counts, 0) - counts
        summed = functional.embedding_bag(
            ids[order], self.vectors, offsets, mode="sum", per_sample_weights=weights[order]
        )
        return functional.normalize(summed, dim=-1)

    def scale(self) -> Tensor:
        return self.log_scale.exp().clamp(max=50)


def _keep(n: int, drop: float) -> Tensor:
    return (torch.rand(n) > drop).float() + 1e-6


def _queries(bags: Bags, rows: npt.NDArray[np.int64], asked: npt.NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor]:
    """(ids, factors, row of each id) of the queries of `rows`, each in the way of `QUERIES` that `asked` gives."""
    parts = []
    for way, field in enumerate(QUERIES):
        chosen = np.flatnonzero(asked == way)
        if len(chosen):
            ids, factors, segment = bags.take(field, rows[chosen])
            parts.append((ids, factors, torch.from_numpy(chosen)[segment]))
    ids, factors, segment = (torch.cat(column) for column in zip(*parts, strict=True))
    return ids, factors, segment


def _opened(
    opening: list[list[int]], ids: Tensor, factors: Tensor, segment: Tensor, n: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The same with a phrase in front of some of the queries."""
    chosen = torch.nonzero(torch.rand(n) < _OPENED).flatten().tolist()
    phrases = [opening[i] for i in torch.randint(len(opening), (len(chosen),)).tolist()]
    lengths = torch.bincount(segment, minlength=n).clamp(min=1).float()
    added = [(p, lengths[r].item() ** -0.5, r) for r, phrase in zip(chosen, phrases, strict=True) for p in phrase]
    return (
        torch.cat([ids, torch.tensor([a[0] for a in added], dtype=torch.long)]),
        torch.cat([factors, torch.tensor([a[1] for a in added])]),
        torch.cat([segment, torch.tensor([a[2] for a in added], dtype=torch.long)]),
    )


def _code(
    model: Model, bags: Bags, rows: npt.NDArray[np.int64], drop: float
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Ids, weights and rows of the code of `rows`, a tensor a field."""
    code_weight = functional.softplus(model.code_weight)
    field_weight = functional.softplus(model.field_weight)
    columns: tuple[list[Tensor], list[Tensor], list[Tensor]] = ([], [], [])
    for index, field in enumerate(CODE):
        ids, factors, segment = bags.take(field, rows)
        weights = code_weight[ids] * factors * field_weight[index]
        if drop:
            weights = weights * _keep(len(ids), drop) * _keep(len(rows), _FIELD_DROP[field])[segment]
        for column, tensor in zip(columns, (ids, weights, segment), strict=True):
            column.append(tensor)
    return columns


def encode(
    model: Model,
    bags: Bags,
    rows: npt.NDArray[np.int64],
    *,
    drop: float,
    opening: list[list[int]] | None,
    asked: npt.NDArray[np.int64] | None = None,
) -> tuple[Tensor, Tensor]:
    """Unit vectors of the queries and of the code of `rows`; `drop` and `opening` are for training only."""
    n = len(rows)
    ids, factors, segment = _queries(bags, rows, np.zeros(n, np.int64) if asked is None else asked)
    if opening:
        ids, factors, segment = _opened(opening, ids, factors, segment, n)
    query_weights = functional.softplus(model.query_weight)[ids] * factors
    if drop:
        query_weights = query_weights * _keep(len(ids), drop / 2)
    code_ids, code_weights, code_segments = _code(model, bags, rows, drop)
    both = model.sums(
        torch.cat([ids, *code_ids]),
        torch.cat([query_weights, *code_weights]),
        torch.cat([segment, *(s + n for s in code_segments)]),
        2 * n,
    )
    return both[:n], both[n:]


def _contrast(queries: Tensor, code: Tensor, scale: Tensor) -> Tensor:
    scores = scale * (queries @ code.T)
    own = torch.arange(len(queries))
    return 0.5 * (functional.cross_entropy(scores, own) + functional.cross_entropy(scores.T, own))


class Imitation:
    """The teacher's similarities among a sample of queries, as a loss on queries and on the code they are about."""

    def __init__(self, path: Path, bags: Bags) -> None:
        data = np.load(path)
        self._rows, self._vectors, self._bags = (
            data["index"],
            torch.from_numpy(data["vectors"].astype(np.float32)),
            bags,
        )

    def loss(self, model: Model, options: Options, rng: np.random.Generator, n: int = 512) -> Tensor:
        """Divergence of our similarities from the teacher's, weighted as `options` says."""
        chosen = rng.choice(len(self._rows), min(n, len(self._rows)), replace=False)
        ids, factors, segment = self._bags.take("query", self._rows[chosen])
        ours = model.sums(ids, functional.softplus(model.query_weight)[ids] * factors, segment, len(chosen))
        theirs = self._vectors[torch.from_numpy(chosen)]
        own = torch.eye(len(chosen), dtype=torch.bool)
        target = functional.softmax((theirs @ theirs.T / 0.05).masked_fill(own, -1e4), 1)

        def divergence(other: Tensor) -> Tensor:
            scores = (ours[: len(other)] @ other.T * model.scale().detach())[:, : len(other)]
            m = len(other)
            wanted = target[:m, :m] / target[:m, :m].sum(1, keepdim=True).clamp(min=1e-6)
            return functional.kl_div(
                functional.log_softmax(scores.masked_fill(own[:m, :m], -1e4), 1), wanted, reduction="batchmean"
            )

        loss = options.distill * divergence(ours)
        if options.distill_code:
            few = self._rows[chosen[:_CODE_IMITATED]]
            code = model.sums(*map(torch.cat, _code(model, self._bags, few, options.token_drop)), len(few))
            loss = loss + options.distill_code * divergence(code)
        return loss


class Translation:
    """Messages in two languages, both read as queries, as a loss; and how well the held-out ones find each other."""

    _LANGUAGES = ("chinese", "english")

    def __init__(self, folder: Path) -> None:
        self._train, self._test = (Bags(folder / f"translations_{s}.npz", self._LANGUAGES) for s in ("train", "test"))

    def _sides(self, model: Model, bags: Bags, rows: npt.NDArray[np.int64], drop: float) -> list[Tensor]:
        sides = []
        for language in self._LANGUAGES:
            ids, factors, segment = bags.take(language, rows)
            weights = functional.softplus(model.query_weight)[ids] * factors
            sides.append(model.sums(ids, weights * _keep(len(ids), drop), segment, len(rows)))
        return sides

    def loss(self, model: Model, rng: np.random.Generator, n: int = 512) -> Tensor:
        rows = rng.choice(self._train.n, min(n, self._train.n), replace=False)
        chinese, english = self._sides(model, self._train, rows, 0.15)
        return _contrast(chinese, english, model.scale())

    @torch.no_grad()
    def evaluate(self, model: Model) -> str:
        rows = np.arange(self._test.n)
        chinese, english = (s.numpy() for s in self._sides(model, self._test, rows, 0.0))
        return f"translations of {len(rows)}: nDCG@10 %.3f R@5 %.3f" % measures(ranks_dense(chinese, english, rows))


def batches(n: int, options: Options, rng: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    """One epoch: rows in runs of neighbours for the hard share, shuffled for the rest."""
    shift = rng.integers(_RUN)
    runs = np.array_split((np.arange(n) + shift) % n, n // _RUN)
    order = rng.permutation(len(runs))
    n_hard = int(len(runs) * options.hard_share)
    loose = rng.permutation(np.concatenate([runs[i] for i in order[n_hard:]]))
    mixed = [runs[i] for i in order[:n_hard]] + np.array_split(loose, max(1, len(loose) // _RUN))
    per_batch = options.batch // _RUN
    shuffled = [mixed[i] for i in rng.permutation(len(mixed))]
    return [np.concatenate(shuffled[i : i + per_batch]) for i in range(0, len(shuffled) - per_batch + 1, per_batch)]


@torch.no_grad()
def evaluate(model: Model, bags: Bags) -> str:
    """nDCG@10 and R@5 on the held-out side, with all and with the first dimensions."""
    blocks = [np.arange(i, min(i + 4096, bags.n)) for i in range(0, bags.n, 4096)]
    encoded = [encode(model, bags, rows, drop=0, opening=None) for rows in blocks]
    queries, code = (torch.cat([e[side] for e in encoded]).numpy() for side in (0, 1))
    target = sampled(bags.n)
    cells = []
    for dim in (queries.shape[1], _SMALL_DIM):
        q, c = (
            x[:, :dim] / np.maximum(np.linalg.norm(x[:, :dim], axis=1, keepdims=True), 1e-9) for x in (queries, code)
        )
        cells.append(f"dim {dim}: nDCG@10 %.4f R@5 %.4f" % measures(ranks_dense(q[target], c, target)))
    return " | ".join(cells)


@torch.no_grad()
def save(model: Model, out: Path) -> None:
    """Write the checkpoint that `export` reads."""
    np.savez(
        out,
        vectors=model.vectors.detach().numpy(),
        query_weight=functional.softplus(model.query_weight).numpy(),
        code_weight=functional.softplus(model.code_weight).numpy(),
        fields=functional.softplus(model.field_weight).numpy(),
    )


def train(folder: Path, out: Path, options: Options) -> None:
    """Train on `folder/train.npz` and write the checkpoint."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    bags, held_out = Bags(folder / "train.npz"), Bags(folder / "test.npz")
    idf = np.log(1 + bags.n / (1 + bags.document_frequency("body")))
    model = Model(np.load(folder / "pieces.npy"), idf, options.temperature)
    imitation = Imitation(folder / "teacher.npz", bags) if options.distill else None
    translation = Translation(folder) if options.translate else None
    opening = [token_ids(phrase, 16) for phrase in _OPENINGS]
    optimizer = torch.optim.Adam(model.parameters(), lr=options.learning_rate, betas=(0.9, 0.99), fused=True)
    n_steps = options.epochs * len(batches(bags.n, options, np.random.default_rng(0)))
    print(f"{bags.n} pairs, {n_steps} steps", flush=True)
    step, started = 0, time.time()
    for epoch in range(options.epochs):
        total = 0.0
        for i, rows in enumerate(batches(bags.n, options, rng)):
            rate = options.learning_rate * min(1, (step + 1) / 50) * max(0.02, 1 - step / n_steps)
            for group in optimizer.param_groups:
                group["lr"] = rate
            asked = bags.ways(rows, options, rng)
            queries, code = encode(model, bags, rows, drop=options.token_drop, opening=opening, asked=asked)
            scale = model.scale()
            small = [functional.normalize(x[:, :_SMALL_DIM], dim=-1) for x in (queries, code)]
            loss = _contrast(queries, code, scale) + 0.3 * _contrast(small[0], small[1], scale)
            if imitation:
                loss = loss + imitation.loss(model, options, rng)
            if translation:
                loss = loss + options.translate * translation.loss(model, rng)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            total += loss.item()
            if step % _SAVED_EVERY == 0:
                save(model, out)
            if step % 10 == 0:
                print(f"  step {step} loss {total / (i + 1):.3f} {time.time() - started:.0f} s", flush=True)
        fields = functional.softplus(model.field_weight).tolist()
        print(f"epoch {epoch + 1}: {evaluate(model, held_out)}; fields {fields}, scale {model.scale():.1f}", flush=True)
        if translation:
            print(translation.evaluate(model), flush=True)
        save(model, out)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bags", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    for field in fields(Options):
        name = f"--{field.name.replace('_', '-')}"
        parser.add_argument(name, type=type(field.default), default=field.default)
    args = parser.parse_args()
    options = Options(**{field.name: getattr(args, field.name) for field in fields(Options)})
    print(options, flush=True)
    train(args.bags, args.out, options)


if __name__ == "__main__":
    main()
