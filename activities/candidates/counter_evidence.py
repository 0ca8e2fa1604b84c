"""What a model offers as speaking against a candidate: a second reader says whether it does. Pure."""

from collections.abc import Collection, Mapping, Sequence

from activities.candidates.types import Candidate
from activities.drafts import CheckedSentence, Verdicts

STATEMENT = "{name} did not help here, or did harm."
"""What a work must say to speak against a candidate."""


def to_read(candidates: Sequence[Candidate]) -> tuple[CheckedSentence, ...]:
    """A sentence for every quote that is offered against a candidate."""
    return tuple(
        CheckedSentence(id=_id(number, place), text=STATEMENT.format(name=candidate.name), support=(quote,))
        for number, candidate in enumerate(candidates)
        for place, quote in enumerate(candidate.against)
    )


def with_verdicts(
    candidates: Sequence[Candidate], verdicts: Verdicts, in_favour: Collection[str]
) -> tuple[list[Candidate], int]:
    """The candidates without the quotes that do not speak against them, and how many those were: the second
    reader denies it, or (`in_favour`: ids of works) its work was judged to answer the question with yes."""
    read: Mapping[str, str] = {one.id: one.supported for one in verdicts.verdicts}
    kept = [
        candidate.model_copy(
            update={
                "against": tuple(
                    quote
                    for place, quote in enumerate(candidate.against)
                    if read.get(_id(number, place)) != "no" and quote.evidence_id not in in_favour
                )
            }
        )
        for number, candidate in enumerate(candidates)
    ]
    before = sum(len(candidate.against) for candidate in candidates)
    return kept, before - sum(len(candidate.against) for candidate in kept)


def _id(number: int, place: int) -> str:
    return f"against{number + 1}.{place + 1}"
