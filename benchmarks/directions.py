"""Is the direction that a report gives a work right?

    python -m benchmarks.directions --corpus FILE [--half choosing|held-out|all] [--whole-runs [--limit 60]]
                                    [--verbose]

From PubMedQA's file: the conclusions of each abstract against its question and label (yes, no, maybe; a
mixed direction says maybe). From a BioASQ golden file: the snippets of each document against each yes-or-no
question and its exact answer; they are background as often as findings. Rules are chosen on the choosing
halves of both and on made-up examples (the tests). Only `activities.text.verdict` is measured, on every
question of the half.

With `--whole-runs` each question of PubMedQA's file is asked end to end of a library of all its abstracts,
and what counts is the direction that the report gives the abstract that the question was made of; printed
beside it: how many questions were refused, had a report without that abstract, or with it and no direction.
"""

import argparse
import asyncio
import gzip
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx

from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.library import build
from activities.text.sentences import sentences
from activities.text.verdict import Verdict, weigh
from activities.types import Evidence
from benchmarks import bioasq
from benchmarks.pipeline import ask
from benchmarks.relevance import direction_shown, half, library, load, share


def cases(path: Path, name: str) -> Iterator[tuple[str, Sequence[str], str, str]]:
    """Question, stated findings, label, the text they conclude."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = file.read()
    if '"ideal_answer"' in text[:100_000]:
        yield from _of_bioasq(json.loads(text)["questions"], name)
        return
    for item in half(load(path), name):
        work = Evidence(
            evidence_id=item.identity,
            source="library",
            title=item.question,
            text=item.abstract,
            evidence_type="article",
        )
        stated = [s.quote for s in sentences(work) if s.part == "conclusion"]
        if stated and item.label:
            yield item.question, list(dict.fromkeys(stated)), item.label, item.abstract


def _of_bioasq(
    questions: Sequence[dict[str, object]], name: str
) -> Iterator[tuple[str, Sequence[str], str, str]]:
    for question in questions:
        snippets, exact = question["snippets"], question.get("exact_answer")
        body = " ".join(str(question["body"]).split())
        if question["type"] != "yesno" or not isinstance(snippets, list):
            continue
        if name not in ("all", bioasq.half(body)):
            continue
        by_document: dict[str, list[str]] = defaultdict(list)
        for snippet in snippets:
            by_document[snippet["document"]].append(snippet["text"])
        label = exact[0] if isinstance(exact, list) else exact
        for stated in by_document.values():
            yield body, stated, str(label).casefold(), ""


def measure(options: argparse.Namespace) -> None:
    """The rules alone, on the stated findings of every work."""
    shown: list[tuple[str, str]] = []
    works = 0
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for question, stated, label, work in cases(options.corpus, options.half):
        works += 1
        found = weigh(question, stated, work)
        if not isinstance(found, Verdict):
            reasons[found][label] += 1
            continue
        way = "maybe" if found.way == "mixed" else found.way
        shown.append((label, way))
        if options.verbose and way != label:
            print(f"  shown {way}, label {label}: {question}\n    {found.sentence}")
    print(f"{options.corpus.name}, half: {options.half}; {works} works")
    _print(shown, works)
    print("without a direction, by reason and label:")
    for reason, labels in sorted(reasons.items(), key=lambda r: -r[1].total()):
        each = ", ".join(f"{label} {count}" for label, count in labels.most_common())
        print(f"    {reason:32} {labels.total():4}  {each}")


async def measure_runs(options: argparse.Namespace, home: Path) -> None:
    """What whole runs show of the work that each question was made of."""
    items = load(options.corpus)
    asked = [item for item in half(items, options.half) if item.label][: options.limit or None]
    ends: Counter[str] = Counter()
    shown: list[tuple[str, str]] = []
    async with httpx.AsyncClient() as client:
        documents = library(items, home / "documents", titles=True)
        source = build(Settings(home=home / "home", library=documents), Http(client))
        for item in asked:
            answer = await ask(item.question, source)
            way = direction_shown(answer, item.identity)
            if way:
                shown.append((item.label, way))
                if options.verbose and way != item.label:
                    print(f"  shown {way}, label {item.label}: {item.question}")
            elif not answer.answered:
                ends["refused"] += 1
            elif item.identity not in answer.cited:
                ends["another work is quoted"] += 1
            else:
                ends["quoted without a direction"] += 1
    print(f"{options.corpus.name}, whole runs, half: {options.half}; {len(asked)} questions")
    _print(shown, len(asked))
    print("without a direction:", ", ".join(f"{end} {count}" for end, count in ends.most_common()) or "none")


def _print(shown: Sequence[tuple[str, str]], works: int) -> None:
    """How many directions are shown and right, and each label with what was shown for it."""
    print(f"direction shown: {share([True] * len(shown) + [False] * (works - len(shown)))}")
    print(f"right of those shown: {share(label == way for label, way in shown)}")
    for (label, way), count in sorted(Counter(shown).items()):
        print(f"    label {label:6} shown {way:5} {count:4}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--half", choices=("choosing", "held-out", "all"), default="held-out")
    parser.add_argument("--whole-runs", action="store_true", help="ask PubMedQA's questions end to end")
    parser.add_argument("--limit", type=int, default=0, help="whole runs; 0 for all of the half")
    parser.add_argument("--verbose", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    if not options.whole_runs:
        measure(options)
        return
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(measure_runs(options, Path(home)))


if __name__ == "__main__":
    main()
