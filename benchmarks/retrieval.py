"""How well the bundled library is searched: recall@10 and nDCG@10, plain BM25 (`bm25s`) against ours.

    python -m benchmarks.retrieval

Every question has one right answer: the abstract it belongs to. The titles are the questions here, so a title
is never indexed for a question made from it, on either side. The tasks, from easy to hard:

    question            the question, over abstracts without titles
    no conclusion       the same, with the abstract's conclusion (which answers it) taken out
    half the words      the same, with half of the question's words dropped at random
    few words           the same, with seven in ten dropped
    conclusion 40 %     40 % of the words of the conclusion, over titles, the rest of the abstract and MeSH
    conclusion 20 %     the same with 20 %

The words are dropped by a fixed seed. Hybrid needs the extra `embeddings` and is left out without it.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from activities.embeddings import embedder, passages
from activities.fusion import fuse
from activities.lexical import Fields, Lexical
from activities.sources.library import SAMPLE
from activities.sources.library.index import Libraries, fields
from activities.types import Evidence

Scores = NDArray[np.float64]
Search = Callable[[str], Scores]
CONCLUSIONS = "\n\nCONCLUSIONS: "


@dataclass(frozen=True)
class Task:
    name: str
    documents: list[Fields]
    questions: list[str]


def tasks(library: tuple[Evidence, ...]) -> list[Task]:
    """The tasks over one library; question i belongs to document i."""
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
        Task("half the words", rest, [some(q, i, 0.5) for i, q in enumerate(questions)]),
        Task("few words", rest, [some(q, i + 1000, 0.3) for i, q in enumerate(questions)]),
        Task("conclusion 40 %", titled, [some(c, i, 0.4) for i, c in enumerate(conclusions)]),
        Task("conclusion 20 %", titled, [some(c, i, 0.2) for i, c in enumerate(conclusions)]),
    ]


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


def hybrid(documents: list[Fields], meaning: float) -> Search | None:
    """Ours with embeddings; None without a model."""
    model = embedder()
    if model is None:
        return None
    lexical = Lexical(documents)
    rows = [passages(d.title, d.text) for d in documents]
    owner = np.repeat(np.arange(len(documents)), [len(row) for row in rows])
    vectors = model.encode([p for row in rows for p in row])

    def search(question: str) -> Scores:
        best = np.full(len(documents), -1.0)
        np.maximum.at(best, owner, (vectors @ model.encode([question])[0]).astype(np.float64))
        return fuse(lexical.scores(question), best, meaning)

    return search


def measure(search: Search, questions: list[str]) -> tuple[float, float]:
    """Recall@10 and nDCG@10 with one right answer a question; equal scores count against it."""
    ranks = []
    for right, question in enumerate(questions):
        scores = search(question)
        ranks.append(int((scores >= scores[right]).sum()) - 1)
    place = np.array(ranks)
    return float((place < 10).mean()), float(np.where(place < 10, 1 / np.log2(place + 2), 0).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description="Retrieval quality on the bundled library.")
    parser.add_argument("--meaning", type=float, nargs="*", help="weights of meaning to try in the hybrid")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Libraries(Path(folder)).open(SAMPLE).documents
    print(f"{len(library)} abstracts, {len(library)} questions; recall@10 / nDCG@10\n")
    print(f"{'':18}{'bm25s':>16}{'bm25s + stems':>16}{'ours, words':>16}{'ours, hybrid':>16}")
    started = time.perf_counter()
    from activities.fusion import MEANING

    for task in tasks(library):
        ways: list[Search | None] = [
            plain(task.documents, stem=False),
            plain(task.documents, stem=True),
            Lexical(task.documents).scores,
            *(hybrid(task.documents, meaning) for meaning in arguments.meaning or [MEANING]),
        ]
        cells = ["{:.3f} / {:.3f}".format(*measure(way, task.questions)) if way else "-" for way in ways]
        print(f"{task.name:18}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
