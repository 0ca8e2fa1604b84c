"""What the claims' quotes name in answer to a question for a fact or for a list."""

from collections.abc import Sequence

from activities.report.schema import Answer
from activities.text.answers import ASKS_NAMES, Passage, answers, leading
from activities.text.question import asked
from activities.types import Claim


def answers_of(question: str, claims: Sequence[Claim]) -> tuple[tuple[Answer, ...], tuple[str, ...]]:
    """The answers, the best first, each with the claims whose quotes contain it; and the ids of the claims
    to read first. Both are empty where the question asks for no fact and no list, or no quote gives one."""
    if asked(question).form not in ASKS_NAMES:
        return (), ()
    quoted = [(claim.id, support) for claim in claims for support in claim.support]
    found = answers(question, [Passage(support.evidence_id, support.quote) for _, support in quoted])
    made = tuple(
        Answer(
            text=answer.name,
            claims=tuple(dict.fromkeys(quoted[place][0] for place in answer.passages)),
            works=answer.works,
        )
        for answer in found
    )
    return made, tuple(dict.fromkeys(quoted[place][0] for place in leading(question, found)))
