"""Are questions in a lay person's words answered from the bundled sample, and near misses refused?

    python -m benchmarks.lay_questions [--half choosing|held-out|blind|all] [--verbose]

`lay_questions.jsonl` holds questions that a person wrote after reading the titles of works drawn at random,
in everyday words and another sentence; and questions on the same subjects that no work of the sample answers
(`work` is null). All were written before any was asked. Half of them, by a hash of their text, is for
choosing rules and weights; only the other half says how good they are. Those marked `choosing` were written
later, on works of the choosing half of `relevance`. Those marked `blind` were written later too and asked
once, after all was chosen.
"""

import json
from pathlib import Path
from typing import NotRequired, TypedDict

from benchmarks.answered_or_refused import Case, half, main
from benchmarks.relevance import SAMPLE, library, load

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
    return [asked for asked in loaded if name in ("all", part(asked))]


def part(asked: LayQuestion) -> str:
    """Which part of the benchmark a question belongs to."""
    return asked.get("half") or half(asked["question"])


def prepare(name: str, folder: Path) -> list[Case]:
    """Write the library; the questions of a part, or all."""
    library(load(SAMPLE), folder, titles=True)
    return [case(asked) for asked in questions(name)]


def case(asked: LayQuestion) -> Case:
    """The question and which work answers it."""
    work = asked["work"]
    return Case("asked" if work else "absent", asked["question"], lambda found: found.evidence_id == work)


if __name__ == "__main__":
    main(__doc__, prepare)
