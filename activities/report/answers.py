"""What the claims' quotes name in answer to a question for a fact or for a list."""

from collections.abc import Mapping, Sequence

from activities.report.schema import Answer
from activities.text.answer_reader import Passage
from activities.text.answers import ASKS_NAMES, answers, leading
from activities.text.question import asked
from activities.types import Claim, Evidence

READ = 20_000
"""Characters of a work that are read for its abbreviations."""


def answers_of(
    question: str, claims: Sequence[Claim], documents: Mapping[str, Evidence]
) -> tuple[tuple[Answer, ...], tuple[str, ...]]:
    """The answers, the best first, each with the claims whose quotes contain it; and the ids of the claims
    to read first. Both are empty where the question asks for no fact and no list, or no quote gives one.
    `documents`: the cited works by evidence id, which may define the abbreviations of their quotes."""
    if asked(question).form not in ASKS_NAMES:
        return (), ()
    quoted = [(claim.id, support) for claim in claims for support in claim.support]
    cited = dict.fromkeys(support.evidence_id for _, support in quoted)
    works = [documents[name].text[:READ] for name in cited if name in documents]
    found = answers(question, [Passage(support.evidence_id, support.quote) for _, support in quoted], works)
    made = tuple(
        Answer(
            text=answer.name,
            claims=tuple(dict.fromkeys(quoted[place][0] for place in answer.passages)),
            works=answer.works,
        )
        for answer in found
    )
    return made, tuple(dict.fromkeys(quoted[place][0] for place in leading(question, found)))
