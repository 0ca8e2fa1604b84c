"""The answer of a report as data: bottom line, first claims, what was searched; replies about a report."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel

from activities.contracts.evidence import ANSWERED, MODEL_REFUSED, Claim, Frozen, SearchRecord
from activities.contracts.publish import Dispute
from activities.messages import in_its_language
from activities.report.formats import limitations, words
from activities.report.formats.blocks import Cite, Mark
from activities.report.formats.prose import (
    absent,
    general_mark,
    notice,
    numbers_of,
    plain_text,
    summary_of,
    unanswered,
)
from activities.report.formats.statements import sentence
from activities.report.formats.text import clean, marker, with_citation, with_full_stop
from activities.report.instructions import SentenceChange, differences
from activities.report.parts import parts_of
from activities.report.schema import Reference, Report
from activities.text.normal_form import normalise

if TYPE_CHECKING:
    from client.runs.revising import Reply

SAMPLE_ONLY = "sample_only"
"""Code of the statement that only the bundled sample library was searched."""
UNREADABLE = "records_unreadable"
"""Code of the statement that counts what could not be read."""


RESERVATIONS = 2
SHOWN_APART = limitations.SAID_ELSEWHERE | {
    *(SAMPLE_ONLY, UNREADABLE, MODEL_REFUSED, "unanswered", "stopped_early", "searches_failed"),
}
"""Codes of statements that the terminal shows in a line of their own."""
OF_CITED = frozenset({"abstract_only", "standing_unknown", "preprints", "authority_silent"})
"""Codes of statements on the items that an answer cites."""


class AnswerClaim(Frozen):
    id: str
    text: str
    references: tuple[int, ...]
    evidence_ids: tuple[str, ...]
    under: str = ""
    """The heading or the columns that a quoted passage stands under."""


class Answer(Frozen):
    """What a person reads first."""

    bottom_line: str
    """The direct answer, else the first claim, else that no model has read this and the nearest passage, else
    why there is no answer."""
    is_written: bool = False
    """Whether the bottom line is a written answer."""
    conclusions: tuple[str, ...] = ()
    """What follows by outcome, each with its figure and its certainty."""
    sample_only: str = ""
    """A sentence when only the bundled sample library was searched; empty otherwise."""
    absent: str = ""
    """Which words of the question occur nowhere, in one sentence."""
    reservations: tuple[str, ...] = ()
    """The first two: what the writer says that the evidence cannot show, what was left open, limitations."""
    confidence: float | None
    confidence_reasons: tuple[str, ...] = ()
    searched: str
    """Each source with its number of answered searches, on one line."""
    not_reached: str = ""
    """Each source that did not answer, with the reason; empty when all did."""
    unreadable: int = 0
    """Files and records of the library that could not be read, and records of other sources."""

    @property
    def first(self) -> tuple[str, ...]:
        """Give the first lines: the written answer, else the conclusions and the nearest there is to one."""
        return (self.bottom_line,) if self.is_written else (*self.conclusions, self.bottom_line)


@in_its_language
def answer_of(report: Report) -> Answer:
    sample = next((s for s in report.statements if s.code == SAMPLE_ONLY), None)
    unreadable = next((s for s in report.statements if s.code == UNREADABLE), None)
    return Answer(
        bottom_line=_bottom_line(report),
        is_written=bool(report.answer) and not unanswered(report),
        sample_only=sentence(sample) if sample else "",
        conclusions=tuple(line for part in parts_of(report) for line in part.lines(report)),
        reservations=_reservations(report),
        absent=absent(report),
        confidence=report.confidence,
        confidence_reasons=words.grounds(report),
        searched=_search_counts(report.methodology.searches),
        not_reached=_outages(report),
        unreadable=int(str(unreadable.values["records"])) if unreadable else 0,
    )


@in_its_language
def claims_of(report: Report) -> tuple[AnswerClaim, ...]:
    """List the claims of a report, its answer and summary first; what is said twice once."""
    numbers, heads = numbers_of(report.references), _heads(report)
    rows: dict[tuple[str, tuple[int, ...]], AnswerClaim] = {}
    for claim in (*report.answer, *summary_of(report), *report.claims()):
        row = _claim(claim, numbers, heads.get(claim.text, ""))
        rows.setdefault((normalise(row.text).casefold(), row.references), row)
    return tuple(rows.values())


def _heads(report: Report) -> dict[str, str]:
    """Map a passage to the heading or the columns over it; a sentence before it is none."""
    passages = [
        passage
        for section in report.sections
        for passage in section.passages
        if passage.before and passage.quotes
    ]
    return {
        passage.quotes[0]: clean(passage.before)
        for passage in passages
        if with_full_stop(passage.before) != passage.before
    }


def _item_mark(claim: Claim) -> str:
    return f"{marker(claim.number)} " if claim.item and claim.begins else ""


def _claim(claim: Claim, numbers: Mapping[str, int], under: str = "") -> AnswerClaim:
    ids = tuple(dict.fromkeys(support.evidence_id for support in claim.support))
    marks = tuple(sorted({numbers[name] for name in ids if name in numbers}))
    text = clean(claim.text)
    if claim.kind == "background":
        text = with_citation(text, general_mark(claim))
    return AnswerClaim(id=claim.id, text=text, references=marks, evidence_ids=ids, under=under)


def _bottom_line(report: Report) -> str:
    if reason := unanswered(report):
        return f"{reason} {notice(report)}" if any(report.claims()) else reason
    if report.answer:
        numbers = numbers_of(report.references)
        parts = (
            ("\n" if claim.begins or claim.is_row else " ") + _item_mark(claim) + plain_text(claim, numbers)
            for claim in report.answer
        )
        return "".join(parts).strip()
    if report.written_by == "extractive":
        return notice(report)
    claims = claims_of(report)
    return with_references(claims[0]) if claims else clean(report.executive_summary)


def _reservations(report: Report) -> tuple[str, ...]:
    cites = any(claim.support for claim in report.answer or report.claims())
    return limitations.not_shown(report, SHOWN_APART if cites else SHOWN_APART | OF_CITED)[:RESERVATIONS]


def with_references(claim: AnswerClaim) -> str:
    """Word `A claim. [1, 3]`, of a row `Month, kWh: May, 412 [1]`."""
    mark = Cite(tuple(map(Mark, claim.references))).text
    under = f"{claim.under.rstrip(':')}: " if claim.under else ""
    return " ".join(filter(None, (f"{under}{claim.text}", mark)))


def _search_counts(searches: Iterable[SearchRecord]) -> str:
    counts = Counter(clean(s.source) for s in searches if s.status in ANSWERED)
    return ", ".join(f"{name} {count}x" for name, count in counts.items()) or "nothing"


def _outages(report: Report) -> str:
    faults: dict[str, list[str]] = {}
    for search in report.methodology.searches:
        if search.status not in ANSWERED:
            reasons = faults.setdefault(clean(search.source), [])
            if (reason := search.status.replace("_", " ")) not in reasons:
                reasons.append(reason)
    outages = [f"{name} ({', '.join(reasons)})" for name, reasons in faults.items()]
    sources = ", ".join(clean(statement.text("source")) for statement in limitations.unreached(report))
    return ", ".join([*outages, *([f"{sources} (no connection)"] if sources else [])])


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
    def of(cls, reply: "Reply") -> "Told":
        report = reply.report
        claims = claims_of(report)
        return cls(
            run_id=report.run_id,
            question=report.question,
            answered=bool(claims) if report.written_by == "model" else None,
            answer=answer_of(report),
            claims=[*claims],
            references=[*report.references],
            calls=reply.outcome.calls,
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
    def of(cls, reply: "Reply") -> "Changed":
        outcome = reply.outcome
        return cls(
            run_id=outcome.run_id,
            version=outcome.version,
            made=outcome.made,
            calls=outcome.calls,
            differences=differences(reply.before, reply.report),
            disputes=[*reply.report.disputes],
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
