"""What a model offers as speaking against a candidate: a second reader says whether it does. Pure."""

from collections.abc import Collection, Sequence

from activities.contracts.candidates import Candidate
from activities.contracts.write import DraftClaim, Verdicts

STATEMENT = "{name} did not help here, or did harm."
"""What a work must say to speak against a candidate."""


def to_read(candidates: Sequence[Candidate]) -> tuple[DraftClaim, ...]:
    """A sentence for every quote that is offered against a candidate."""
    return tuple(
        DraftClaim(
            id=_id(number, place),
            text=STATEMENT.format(name=candidate.name),
            support=(quote,),
            state="ask",
        )
        for number, candidate in enumerate(candidates)
        for place, quote in enumerate(candidate.against)
    )


def with_verdicts(
    candidates: Sequence[Candidate], verdicts: Verdicts, in_favour: Collection[str]
) -> tuple[list[Candidate], int]:
    """The candidates without the quotes that do not speak against them, and how many those were: the second
    reader denies it, or (`in_favour`: ids of works) its work was judged to answer the question with yes."""
    denied = {one.id for one in verdicts.verdicts if one.problem and one.problem.text("verdict") == "no"}
    kept = [
        candidate.replace(
            against=tuple(
                quote
                for place, quote in enumerate(candidate.against)
                if _id(number, place) not in denied and quote.evidence_id not in in_favour
            )
        )
        for number, candidate in enumerate(candidates)
    ]
    before = sum(len(candidate.against) for candidate in candidates)
    return kept, before - sum(len(candidate.against) for candidate in kept)


def _id(number: int, place: int) -> str:
    return f"against{number + 1}.{place + 1}"
