"""Make `vectors.npy`: a vector for each comparison form of a word of general English.

    python -m activities.text.likeness.build DICT_FOLDER MODEL_FOLDER

DICT_FOLDER holds WordNet's `data.*`, MODEL_FOLDER `vocab.txt` and `model.safetensors` of all-MiniLM-L6-v2.

A vector begins as the mean of what the model has for the pieces of the word, on the directions in which these
differ most, and weighs by how rare the word is (Arora and others 2017). Then the vectors are trained so that
a word comes nearest to its own definition, to its example and to its synonym among those of `BATCH` others
(contrastive loss with in-batch negatives, AdaGrad by rows), once over all of WordNet: further passes fit
WordNet better and questions about other texts no better.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from activities.text.entities.vocabularies import word_counts
from activities.text.likeness import LONGEST, ROW, SIZE
from activities.text.tokens import terms

Matrix = NDArray[np.float32]
Pair = tuple[list[int], list[int]]

FILES = ("data.noun", "data.verb", "data.adj", "data.adv")
KINDS = frozenset({"05", "15", "17", "20"})
"""WordNet's files of animals, places, natural objects and plants, of whose names `SOME` in ten are used."""
SOME = 3
BATCH = 512
SHARPNESS = 20.0
"""By which cosines are multiplied in the loss, as sentence-transformers does."""
RATE = 0.02
RARE = 1e-4
"""Share of print at which a word counts for half."""
MET = 2_000_000
"""Occurrences in print from which a word that WordNet's definitions do not use is kept."""


def synsets(folder: Path) -> Iterator[tuple[str, list[list[str]], list[str], list[str]]]:
    """(file, comparison forms of each word, of the definition, of the first example); no people or places."""
    for name in FILES:
        for line in (folder / name).read_text(encoding="ascii").splitlines():
            left, _, gloss = line.partition(" | ")
            parts = left.split()
            if line.startswith("  ") or "@i" in parts:
                continue
            words = parts[4 : 4 + 2 * int(parts[3], 16) : 2]
            said = [piece.strip() for piece in gloss.strip().split("; ")]
            meaning = "; ".join(piece for piece in said if not piece.startswith('"'))
            example = next((piece.strip('" ') for piece in said if piece.startswith('"')), "")
            named = [terms(word.split("(")[0].replace("_", " ")) for word in words]
            yield parts[1], named, terms(meaning), terms(example)


def pairs(folder: Path, place: dict[str, int], chance: np.random.Generator) -> list[Pair]:
    """What is to be near each other: each word and its definition, the definition and its example, the first
    two words."""
    found: list[Pair] = []

    def known(row: Iterable[str]) -> list[int]:
        return [place[term] for term in row if term in place]

    for file, words, meaning, example in synsets(folder):
        told = known(meaning)
        if len(told) < 2:
            continue
        used = [
            w for word in words if (w := known(word)) and (file not in KINDS or chance.random() < SOME / 10)
        ]
        found += [(word, told) for word in used]
        if len(shown := known(example)) > 2:
            found.append((shown, told))
        if len(used) > 1 and used[0] != used[1]:
            found.append((used[0], used[1]))
    return found


def model_vectors(folder: Path) -> Matrix:
    """The model's own vectors of word pieces, on the `SIZE` directions in which they differ most."""
    raw = (folder / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    name = next(name for name in header if name.endswith("word_embeddings.weight"))
    first, last = header[name]["data_offsets"]
    table = np.frombuffer(raw[start + first : start + last], np.float32).reshape(header[name]["shape"])
    table = table - table.mean(0)
    _, directions = np.linalg.eigh(np.cov(table.T))
    projected: Matrix = (table @ directions[:, ::-1][:, :SIZE]).astype(np.float32)
    return projected


def pieces(word: str, place: dict[str, int]) -> list[int]:
    """A word as the model divides it: the longest piece that it knows, again and again."""
    found, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if not start else f"##{word[start:end]}"
            if piece in place:
                found.append(place[piece])
                start = end
                break
        else:
            return []
    return found


def beginning(folder: Path, vocabulary: Sequence[str], forms: dict[str, Counter[str]]) -> Matrix:
    """The vectors before training."""
    table = model_vectors(folder)
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    place = {piece: number for number, piece in enumerate(lines)}
    counts = word_counts()
    total = sum(counts.values())
    found = np.zeros((len(vocabulary), SIZE), np.float32)
    for number, term in enumerate(vocabulary):
        weight = 0.0
        met = sum(counts.get(form, 0) for form in forms.get(term, ()))
        for form, often in forms.get(term, Counter({term: 1})).most_common(3):
            if known := pieces(form, place):
                found[number] += often * table[known].mean(0)
                weight += often
        found[number] *= RARE / (RARE + met / total) / max(weight, 1.0)
    scaled: Matrix = found / np.sqrt((found**2).sum(1)).mean()
    return scaled


def sums(rows: Sequence[Sequence[int]], vectors: Matrix) -> Matrix:
    """The mean vector of each row of words."""
    lengths = np.array([len(row) for row in rows])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    total: Matrix = np.add.reduceat(vectors[np.concatenate([np.array(row) for row in rows])], starts)
    total /= lengths[:, None].astype(np.float32)
    return total


def descend(vectors: Matrix, squares: Matrix, rows: Sequence[Sequence[int]], slopes: Matrix) -> None:
    """One step of AdaGrad for the words of the rows, of which `slopes` are the gradients by their means."""
    lengths = np.array([len(row) for row in rows])
    places = np.concatenate([np.array(row) for row in rows])
    order = np.argsort(places, kind="stable")
    used, starts = np.unique(places[order], return_index=True)
    each = np.repeat(slopes / lengths[:, None].astype(np.float32), lengths, axis=0)
    step: Matrix = BATCH * np.add.reduceat(each[order], starts)
    squares[used] += (step**2).mean(1)
    vectors[used] -= RATE * step / np.sqrt(squares[used])[:, None]


def train(vectors: Matrix, near: Sequence[Pair], chance: np.random.Generator) -> None:
    """One pass over the pairs; changes `vectors`."""
    squares = np.full(len(vectors), 1e-3, np.float32)
    order = chance.permutation(len(near))
    for start in range(0, len(order) - BATCH + 1, BATCH):
        sides = [[near[n][side] for n in order[start : start + BATCH]] for side in (0, 1)]
        means = [sums(side, vectors) for side in sides]
        lengths = [np.linalg.norm(mean, axis=1, keepdims=True) + 1e-8 for mean in means]
        units = [mean / length for mean, length in zip(means, lengths, strict=True)]
        chances = np.exp(SHARPNESS * (units[0] @ units[1].T - 1))
        wrong = (chances / chances.sum(1, keepdims=True) + chances / chances.sum(0, keepdims=True)) / 2
        wrong = (wrong - np.eye(BATCH, dtype=np.float32)) * (SHARPNESS / BATCH)
        for side, slope in enumerate((wrong @ units[1], wrong.T @ units[0])):
            along = (slope * units[side]).sum(1, keepdims=True)
            descend(vectors, squares, sides[side], (slope - units[side] * along) / lengths[side])


def main() -> None:
    folder, model = Path(sys.argv[1]), Path(sys.argv[2])
    counts = word_counts()
    forms: dict[str, Counter[str]] = {}
    for word, often in counts.items():
        for term in terms(word):
            forms.setdefault(term, Counter())[word] += often
    used: Counter[str] = Counter()
    for _, words, meaning, example in synsets(folder):
        used.update(term for row in (*words, meaning, example) for term in row)
    common = {term for term, met in forms.items() if met.total() > MET or term in used}
    kept = common | {term for term, often in used.items() if often > 1}
    vocabulary = sorted(term for term in kept if term.isascii() and len(term) <= LONGEST)
    chance = np.random.default_rng(0)
    vectors = beginning(model, vocabulary, forms)
    near = pairs(folder, {term: number for number, term in enumerate(vocabulary)}, chance)
    train(vectors, near, chance)
    table = np.zeros(len(vocabulary), ROW)
    largest = np.abs(vectors).max(1) + 1e-6
    table["term"] = vocabulary
    table["scale"] = largest / 127
    table["vector"] = np.rint(vectors / largest[:, None] * 127)
    target = Path(__file__).parent / "vectors.npy"
    np.save(target, table)
    size = math.ceil(target.stat().st_size / 1e6)
    sys.stdout.write(f"{len(near)} pairs, {len(vocabulary)} vectors, {size} MB\n")


if __name__ == "__main__":
    main()
