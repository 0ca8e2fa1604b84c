"""Are questions in a lay person's words answered from the bundled sample, and near misses refused?

    python -m benchmarks.lay_questions [--half choosing|held-out|blind|all] [--verbose]

`lay_questions.jsonl` holds questions that a person wrote after reading the titles of works drawn at random,
in everyday words and another sentence; and questions on the same subjects that no work of the sample answers
(`work` is null). All were written before any was asked. Half of them, by a hash of their text, is for
choosing rules and weights; only the other half says how good they are. Those marked `blind` were written
later and asked once, after all was chosen.
"""

import argparse
import asyncio
import json
import tempfile
from pathlib import Path
from typing import NotRequired, TypedDict

import httpx

from activities.extractive.nearest import nearest
from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.library import build
from benchmarks.own_documents import show
from benchmarks.pipeline import ask
from benchmarks.relevance import SAMPLE, Result, library, load, result
from benchmarks.variants import number

QUESTIONS = Path(__file__).with_suffix(".jsonl")


class LayQuestion(TypedDict):
    """A question and the id of the work that answers it, if one does."""

    question: str
    work: str | None
    half: NotRequired[str]


def questions(name: str) -> list[LayQuestion]:
    """The questions of a part, or all."""
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    loaded: list[LayQuestion] = [json.loads(line) for line in lines]
    return [asked for asked in loaded if name in ("all", half(asked))]


def half(asked: LayQuestion) -> str:
    """Which part of the benchmark a question belongs to."""
    return asked.get("half") or ("choosing", "held-out")[number("half " + asked["question"]) % 2]


async def run(options: argparse.Namespace, home: Path) -> tuple[list[Result], list[bool]]:
    """What became of each question; and of each that was refused although a work answers it, whether the
    report names that work among those that come nearest."""
    folder = library(load(SAMPLE), home / "library", titles=True)
    found: list[Result] = []
    named: list[bool] = []
    async with httpx.AsyncClient() as client:
        source = build(Settings(home=home, library=folder), Http(client))
        for asked in questions(options.half):
            question, work = asked["question"], asked["work"]
            answer = await ask(question, source)
            row = result("asked" if work else "absent", "", question, answer, (work,) if work else ())
            found.append(row)
            if work and not row.answered:
                near = nearest(question, tuple(answer.found.values()))
                named.append(any(item.evidence_id == work for item in near))
            if options.verbose and (row.answered if work is None else not row.right):
                said = [c.text for s in answer.report.sections for c in s.claims]
                print(f"{row.kind:7}{row.confidence:.2f} {question}")
                print(f"        {(said or answer.report.limitations)[:1]}")
    return found, named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=("choosing", "held-out", "blind", "all"), default="held-out")
    parser.add_argument("--verbose", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        show(*asyncio.run(run(options, Path(home))))


if __name__ == "__main__":
    main()
