"""Does the back end without a model find the right passage, and name what occurs nowhere?

    python -m benchmarks.passages [--set own across everyday ...] [--bioasq FILE] [--limit N] [--misses]

Everything is asked as a user's run asks it: the library is searched with the question, and the passages are
written from what was found.

    own         `own_words*.tsv`: questions in a person's own words over the bundled sample: the right work
                is on the page
    across      `own_words_across*.tsv`: the same in German, Spanish, Chinese and French
    everyday    `everyday*.jsonl`, folders of documents of everyday kinds with a user's questions: the
                sentence with the answer is quoted among the first three passages
    nowhere     `nowhere.tsv`: a thing that the bundled sample does not have, and a question about it: it is
                named, and the report has no answer
    literal     of all these questions: each word that is said to occur nowhere is in no text, letter by
                letter; and how many questions that have an answer are said to have none
    --bioasq    questions of a BioASQ golden file over its snippets, of which those of one document make a
                text: nDCG@10 of the library's search

Files whose name ends in `held_out` or `fresh` were written before the last changes were made and were not
looked into for them. Exits with 1 where a figure is missed.
"""

import argparse
import gzip
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

from activities.contracts.evidence import AbsentWord
from activities.contracts.write import Passage, WriteInput
from activities.extractive.passages import write
from activities.profiles.loader import load_profile
from activities.sources.library.index import Libraries, LibraryIndex
from activities.sources.library.source import SAMPLE
from activities.text.absence import MIN_WITHIN

FOUND = 20
"""Works that a search gives the writer."""
FIRST = 3
_WORD = re.compile(r"[^\W_]+")
HERE = Path(__file__).parent
OWN_WORDS = ("own_words", "own_words_held_out", "own_words_fresh")
ACROSS = ("own_words_across", "own_words_across_fresh")
EVERYDAY = ("everyday", "everyday_fresh", "everyday_held_out")


@dataclass(frozen=True)
class Asked:
    """A question over one library, and what the page shows."""

    question: str
    right: frozenset[str]
    """Evidence ids."""
    said: str
    """Words of the sentence that answers; empty where the work alone is known."""
    passages: tuple[Passage, ...]
    absent: tuple[AbsentWord, ...]

    def among(self, most: int | None = None) -> bool:
        """Tell whether the right passage is among the first ones."""
        return any(
            one.evidence_id in self.right
            and self.said in " ".join(" ".join((one.before, *one.quotes, one.after)).split())
            for one in self.passages[:most]
        )


class Library:
    """A folder that is asked."""

    def __init__(self, index: LibraryIndex, profile: str) -> None:
        self.index, self.profile = index, load_profile(profile)
        self.documents = index.documents
        text = "\n".join(f"{one.title}\n{one.text}" for one in self.documents).casefold()
        self._text, self._words = text, frozenset(_WORD.findall(text))

    def ask(self, question: str, right: frozenset[str] = frozenset(), said: str = "") -> Asked:
        found, _ = self.index.search(question, FOUND)
        step = WriteInput(run_id="benchmark", question=question, profile=self.profile)
        draft = write(step, [item.document for item in found])
        return Asked(question, right, said, draft.passages, self.index.absent_words(question))

    def has(self, word: str) -> bool:
        """Tell whether a text has a word, letter by letter, alone or as an end of a longer one."""
        plain = word.casefold()
        if not plain.isalnum():
            return plain in self._text
        ends = len(plain) >= MIN_WITHIN
        return plain in self._words or (
            ends and any(one.startswith(plain) or one.endswith(plain) for one in self._words)
        )


class Figures:
    """Prints counts, and remembers whether one was missed."""

    def __init__(self, *, misses: bool) -> None:
        self._misses, self.held = misses, True

    def row(self, name: str, results: Sequence[tuple[str, bool]], least: float | None = None) -> None:
        """Print one share. `least`: what it is to be at least."""
        share = sum(right for _, right in results) / max(len(results), 1)
        wanted = f"; wanted {least:.0%}" if least is not None else ""
        print(f"{name:48} {share:6.1%}  (of {len(results)}{wanted})", flush=True)
        self.held = self.held and share >= (least or 0.0)
        for question, right in results if self._misses else ():
            if not right:
                print(f"    {question}")


def rows_of(name: str) -> list[list[str]]:
    """The rows of a file of tab-separated values."""
    return [line.split("\t") for line in (HERE / f"{name}.tsv").read_text(encoding="utf-8").splitlines()]


def over_own_words(
    figures: Figures, sample: Library, limit: int, about: str, names: Sequence[str], least: float
) -> None:
    every = []
    for name in names:
        asked = [sample.ask(question, frozenset({work})) for work, question in rows_of(name)[:limit]]
        figures.row(f"{name}, on the page", [(one.question, one.among()) for one in asked])
        figures.row(f"{name}, first three", [(one.question, one.among(FIRST)) for one in asked])
        every += asked
    figures.row(f"{about}, on the page", [(one.question, one.among()) for one in every], least)
    literal(figures, about, sample, every)


def over_everyday(figures: Figures, folder: Path) -> None:
    for name in EVERYDAY:
        rows = [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()]
        own = folder / name / "papers"
        own.mkdir(parents=True)
        for row in rows:
            (own / row["file"]).write_text(row["text"], encoding="utf-8")
        library = Library(Libraries(folder / name / "cache").open(own), "general")
        asked = []
        for row in rows:
            for one in row["asked"]:
                said = one["said"]
                works = (w.evidence_id for w in library.documents if said in " ".join(w.text.split()))
                asked.append(library.ask(one["question"], frozenset(works), said))
        least = 0.85 if name.endswith("held_out") else None
        figures.row(f"{name}, first three", [(one.question, one.among(FIRST)) for one in asked], least)
        literal(figures, name, library, asked)


def literal(figures: Figures, name: str, library: Library, asked: Sequence[Asked]) -> None:
    """Count words that are said to occur nowhere, and questions that are said to have no answer."""
    words = [(f"{word.word}: {one.question}", word.word) for one in asked for word in one.absent]
    if words:
        right = [(about, not library.has(word)) for about, word in words]
        figures.row(f"{name}, absent words right", right, 1.0)
    decided = [(one.question, not any(word.decides for word in one.absent)) for one in asked]
    figures.row(f"{name}, answered", decided)


def over_nowhere(figures: Figures, sample: Library) -> None:
    asked = [(thing, sample.ask(question)) for thing, question in rows_of("nowhere") if not sample.has(thing)]
    named = [
        (one.question, any(thing.casefold() in word.word.casefold() for word in one.absent))
        for thing, one in asked
    ]
    figures.row("nowhere, named", named, 0.8)
    decided = [(one.question, any(word.decides for word in one.absent)) for _, one in asked]
    figures.row("nowhere, without an answer", decided)
    literal(figures, "nowhere", sample, [one for _, one in asked])


def ndcg(ranked: Sequence[str], right: frozenset[str], depth: int = 10) -> float:
    """Normalised discounted cumulative gain of ids (K. Jarvelin and J. Kekalainen, ACM TOIS 2002)."""
    gained = sum(1 / log2(place + 2) for place, name in enumerate(ranked[:depth]) if name in right)
    return gained / sum(1 / log2(place + 2) for place in range(min(depth, len(right))))


def over_bioasq(figures: Figures, folder: Path, file: Path, limit: int) -> None:
    """Questions of a BioASQ file over its snippets."""
    with gzip.open(file) as stream:
        questions: list[dict[str, Any]] = json.load(stream)["questions"]
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for question in questions:
        for snippet in question["snippets"]:
            texts[snippet["document"]][snippet["text"]] = None
    whole = {name: " ".join(parts) for name, parts in texts.items()}
    own = folder / "bioasq"
    own.mkdir()
    rows = [{"id": name, "title": "", "abstract": text} for name, text in whole.items()]
    (own / "records.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    index = Libraries(folder / "cache").open(own)
    ids = {" ".join(work.text.split()): work.evidence_id for work in index.documents}
    gains = []
    for question in questions[:limit]:
        parts = (" ".join(whole[one["document"]].split()) for one in question["snippets"])
        right = frozenset(ids[text] for text in parts if text in ids)
        found = [item.document.evidence_id for item in index.search(question["body"], FOUND)[0]]
        gains.append(ndcg(found, right))
    gained = sum(gains) / len(gains)
    print(f"bioasq, nDCG@10 {gained:.3f} (of {len(index.documents)} documents; wanted 0.87)")
    figures.held = figures.held and gained >= 0.87


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = ("own", "across", "everyday", "nowhere")
    parser.add_argument("--set", nargs="*", choices=names, default=list(names))
    parser.add_argument("--bioasq", type=Path)
    parser.add_argument("--limit", type=int, default=1_000)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    figures, started = Figures(misses=options.misses), time.process_time()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sample = Library(Libraries(folder / "sample").open(SAMPLE), "biomedical")
        if "own" in options.set:
            over_own_words(figures, sample, options.limit, "own words", OWN_WORDS, 0.95)
        if "across" in options.set:
            over_own_words(figures, sample, options.limit, "across languages", ACROSS, 0.85)
        if "nowhere" in options.set:
            over_nowhere(figures, sample)
        if "everyday" in options.set:
            over_everyday(figures, folder)
        if options.bioasq:
            over_bioasq(figures, folder, options.bioasq, options.limit)
    print(f"{time.process_time() - started:.0f} s of processor time")
    return 0 if figures.held else 1


if __name__ == "__main__":
    sys.exit(main())
