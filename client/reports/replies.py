"""Replies to messages about a finished report, as data for the command line (`--json`), HTTP and MCP."""

from dataclasses import dataclass

from pydantic import BaseModel

from activities.contracts.publish import Dispute
from activities.report.instructions import SentenceChange, differences
from activities.report.schema import Reference, Report
from client.reports.answer import Answer, AnswerClaim, answer_of, claims_of
from client.runs.revising import Answered


@dataclass(frozen=True, slots=True)
class Cited:
    """A work that an answer cites: under the report's own number, or a letter for one that it has not."""

    mark: str
    title: str
    evidence_id: str
    quote: str


class Told(BaseModel):
    run_id: str
    question: str
    answered: bool | None
    """None where no model has read it."""
    answer: Answer
    claims: list[AnswerClaim]
    references: list[Reference]
    calls: int

    @classmethod
    def of(cls, answered: Answered) -> "Told":
        report = answered.report
        claims = claims_of(report)
        return cls(
            run_id=report.run_id,
            question=report.question,
            answered=bool(claims) if report.written_by == "model" else None,
            answer=answer_of(report),
            claims=[*claims],
            references=[*report.references],
            calls=answered.outcome.calls,
        )


class Changed(BaseModel):
    """What became of a report that was changed or disputed."""

    run_id: str
    version: int
    made: bool
    """Whether a version was made; else nothing changed, and `notes` say why."""
    calls: int
    differences: list[SentenceChange]
    disputes: list[Dispute]
    notes: list[str]

    @classmethod
    def of(cls, answered: Answered) -> "Changed":
        outcome = answered.outcome
        return cls(
            run_id=outcome.run_id,
            version=outcome.version,
            made=outcome.made,
            calls=outcome.calls,
            differences=differences(answered.before, answered.report),
            disputes=[*answered.report.disputes],
            notes=[*outcome.notes],
        )


def cited_of(answer: Report, report: Report) -> list[Cited]:
    """List the works that an answer cites, in order, under the numbers that the report gives them."""
    numbers = {reference.evidence_id: str(reference.number) for reference in report.references}
    quotes: dict[str, str] = {}
    for claim in answer.sentences():
        for support in claim.support:
            quotes.setdefault(support.evidence_id, support.quote)
    letters = iter("abcdefghijklmnopqrstuvwxyz" * 4)
    return [
        Cited(
            numbers.get(reference.evidence_id) or next(letters),
            reference.title,
            reference.evidence_id,
            quotes.get(reference.evidence_id, ""),
        )
        for reference in answer.references
    ]
