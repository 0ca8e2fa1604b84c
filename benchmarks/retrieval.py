"""How well the bundled library is searched: recall@10 and nDCG@10, plain BM25 (`bm25s`) against ours.

    python -m benchmarks.retrieval

Every question has one right answer: the abstract it belongs to. The titles are the questions here, so a title
is never indexed for a question made from it, on either side. The tasks, from easy to hard:

    question            the question, over abstracts without titles
    no conclusion       the same, with the abstract's conclusion (which answers it) removed
    half the words      the same, with half of the question's words dropped at random
    few words           the same, with seven in ten dropped
    conclusion 40 %     40 % of the words of the conclusion, over titles, the rest of the abstract and MeSH
    conclusion 20 %     the same with 20 %

The words are dropped by fixed seeds, three times over. What was tuned last (the pieces of words) was chosen
on the questions about every other document; "held out" are the means over the rest. Hybrid needs the extra
`embeddings` and is left out without it.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from activities.sources.library import SAMPLE
from activities.sources.library.index import Libraries
from activities.sources.library.words import fields
from activities.text.bm25 import Fields, Lexical
from activities.text.embeddings import embedder, passages
from activities.text.fusion import MEANING, fuse
from activities.text.minilm import Vectors
from activities.types import Evidence

Scores = NDArray[np.float64]
Search = Callable[[str], Scores]
DRAWS = 3
CONCLUSIONS = "\n\nCONCLUSIONS: "


@dataclass(frozen=True)
class Task:
    name: str
    documents: list[Fields]
    questions: list[str]


def tasks(library: tuple[Evidence, ...]) -> list[Task]:
    """The tasks over one library of n documents; question i belongs to document i modulo n."""
    everything = [fields(d) for d in library]
    bodies = [d.text.rsplit(CONCLUSIONS, 1)[0] for d in library]
    conclusions = [d.text.rsplit(CONCLUSIONS, 1)[1] for d in library]
    questions = [d.title for d in library]
    whole = [Fields(d.text) for d in everything]
    rest = [Fields(body) for body in bodies]
    titled = [Fields(body, d.title, d.terms) for body, d in zip(bodies, everything, strict=True)]
    return [
        Task("question", whole, questions),
        Task("no conclusion", rest, questions),
        Task("half the words", rest, draws(questions, 0.5)),
        Task("few words", rest, draws(questions, 0.3)),
        Task("conclusion 40 %", titled, draws(conclusions, 0.4)),
        Task("conclusion 20 %", titled, draws(conclusions, 0.2)),
    ]


def draws(texts: list[str], share: float) -> list[str]:
    """`DRAWS` samples of every text, one after the other: a single one is worth half a point either way."""
    return [some(text, 10_000 * draw + i, share) for draw in range(DRAWS) for i, text in enumerate(texts)]


def some(text: str, seed: int, share: float) -> str:
    """A share of the words of a text, chosen by seed."""
    chance = random.Random(seed)
    kept = [word for word in text.replace("?", "").split() if chance.random() < share]
    return " ".join(kept) or text


def plain(documents: list[Fields], *, stem: bool) -> Search:
    """bm25s with its defaults over everything a document has, English stop words out."""
    stemmer = Stemmer.Stemmer("english") if stem else None
    index = bm25s.BM25()
    texts = [" ".join((d.title, d.text, *d.terms)) for d in documents]
    index.index(
        bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False
    )

    def search(question: str) -> Scores:
        tokens = bm25s.tokenize(
            [question], stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
        )[0]
        known = [t for t in tokens if t in index.vocab_dict]
        return np.asarray(index.get_scores(known)) if known else np.zeros(len(documents))

    return search


@cache
def encoded(texts: tuple[str, ...]) -> Vectors:
    """The vectors of texts; tasks share documents and questions."""
    model = embedder()
    assert model is not None
    return model.encode(texts)


def hybrid(task: Task) -> Callable[[float], Search] | None:
    """Ours with embeddings, by the weight of meaning; None without a model."""
    if embedder() is None:
        return None
    lexical = Lexical(task.documents)
    rows = [tuple(passages(d.title, d.text)) for d in task.documents]
    owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    vectors = encoded(tuple(p for row in rows for p in row))
    asked = dict(zip(task.questions, encoded(tuple(task.questions)), strict=True))

    def weighted(meaning: float) -> Search:
        def search(question: str) -> Scores:
            best = np.full(len(rows), -1.0)
            np.maximum.at(best, owner, (vectors @ asked[question]).astype(np.float64))
            return fuse(lexical.scores(question), best, meaning)

        return search

    return weighted


def measure(search: Search, questions: list[str]) -> tuple[float, float, float, float]:
    """Recall@10 and nDCG@10 with one right answer a question, of all and of those about every other document;
    equal scores count against it."""
    ranks, held_out = [], []
    for number, question in enumerate(questions):
        scores = search(question)
        right = number % len(scores)
        ranks.append(int((scores >= scores[right]).sum()) - 1)
        held_out.append(right % 2 == 1)
    place, held = np.array(ranks), np.array(held_out)
    gain = np.where(place < 10, 1 / np.log2(place + 2), 0)
    found = place < 10
    return float(found.mean()), float(gain.mean()), float(found[held].mean()), float(gain[held].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description="Retrieval quality on the bundled library.")
    parser.add_argument("--meaning", type=float, nargs="*", help="weights of meaning to try in the hybrid")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Libraries(Path(folder)).open(SAMPLE).documents
    print(f"{len(library)} abstracts, {len(library)} questions; recall@10 / nDCG@10\n")
    weights = arguments.meaning or [MEANING]
    heads = ["bm25s", "bm25s + stems", "ours, words", *(f"hybrid {weight:g}" for weight in weights)]
    print(" " * 18 + "".join(f"{head:>16}" for head in heads))
    started = time.perf_counter()
    every: list[list[tuple[float, float, float, float]]] = []
    for task in tasks(library):
        mixed = hybrid(task)
        ways: list[Search | None] = [
            plain(task.documents, stem=False),
            plain(task.documents, stem=True),
            Lexical(task.documents).scores,
            *(mixed(weight) if mixed else None for weight in weights),
        ]
        row = [measure(way, task.questions) if way else (np.nan,) * 4 for way in ways]
        every.append(row)
        print(f"{task.name:18}" + "".join(f"{cell(*four[:2]):>16}" for four in row), flush=True)
    means = np.array(every).mean(axis=0)
    print(f"{'mean':18}" + "".join(f"{cell(*four[:2]):>16}" for four in means))
    print(f"{'mean, held out':18}" + "".join(f"{cell(*four[2:]):>16}" for four in means))
    print(f"\n{time.perf_counter() - started:.0f} s")


def cell(recall: float, ndcg: float) -> str:
    return "-" if np.isnan(recall) else f"{recall:.3f} / {ndcg:.3f}"


if __name__ == "__main__":
    main()
