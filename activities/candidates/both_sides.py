"""Quotes that a model offers for or against a candidate, as a second reader finds them. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from activities.contracts.candidates import Candidate
from activities.contracts.evidence import Support
from activities.contracts.write import DraftClaim, Verdicts

Side = Literal["support", "against"]
STATEMENTS: Mapping[Side, str] = {
    "support": "{name} helped here, or there is a reason why it may help.",
    "against": "{name} did not help here, or did harm.",
}
"""The sentence that a work must bear out to stand on a side."""


def to_read(candidates: Sequence[Candidate]) -> tuple[DraftClaim, ...]:
    """Return a sentence for every quote that is offered for or against a candidate."""
    return tuple(
        DraftClaim(id=name, text=STATEMENTS[side].format(name=candidate.name), support=(quote,), state="ask")
        for name, candidate, side, quote in _offers(candidates)
    )


def with_verdicts(
    candidates: Sequence[Candidate], verdicts: Verdicts, in_favour: Collection[str]
) -> tuple[list[Candidate], dict[Side, int]]:
    """Return the candidates without quotes on the wrong side, and how many those were.

    The second reader denies such a quote, or its work was judged to answer the question with yes
    (`in_favour`: ids of works) and stands against.
    """
    denied_ids = {
        verdict.id
        for verdict in verdicts.verdicts
        if verdict.problem and verdict.problem.text("verdict") == "no"
    }
    removals: dict[Side, int] = {"support": 0, "against": 0}
    sides: dict[tuple[str, Side], list[Support]] = {}
    for name, candidate, side, quote in _offers(candidates):
        if name in denied_ids or (side == "against" and quote.evidence_id in in_favour):
            removals[side] += 1
        else:
            sides.setdefault((candidate.name, side), []).append(quote)
    return [
        candidate.replace(**{side: tuple(sides.get((candidate.name, side), ())) for side in STATEMENTS})
        for candidate in candidates
    ], removals


def _offers(candidates: Sequence[Candidate]) -> Iterator[tuple[str, Candidate, Side, Support]]:
    for number, candidate in enumerate(candidates, start=1):
        for side in STATEMENTS:
            quotes: tuple[Support, ...] = getattr(candidate, side)
            for place, quote in enumerate(quotes, start=1):
                yield f"{side}{number}.{place}", candidate, side, quote
