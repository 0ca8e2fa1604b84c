"""The answer of a report as a terminal shows it: the bottom line, the first claims, what was searched."""

from collections import Counter
from collections.abc import Iterable, Mapping

from activities.contracts.evidence import ANSWERED, MODEL_REFUSED, Claim, Frozen, SearchRecord
from activities.report.formats import words
from activities.report.formats.blocks import Cite, Mark
from activities.report.formats.prose import absent, notice, numbers_of, summary_of, unanswered
from activities.report.formats.statements import sentence
from activities.report.formats.text import clean, ended
from activities.report.parts import parts_of
from activities.report.schema import Report
from activities.text.normal_form import normalise

SAMPLE_ONLY = "sample_only"
"""Code of the statement that only the bundled sample library was searched."""
UNREADABLE = "records_unreadable"
"""Code of the statement that counts what could not be read."""


RESERVATIONS = 2
SHOWN_APART = words.SAID_ELSEWHERE | {
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


def answer_of(report: Report) -> Answer:
    sample = next((s for s in report.statements if s.code == SAMPLE_ONLY), None)
    unread = next((s for s in report.statements if s.code == UNREADABLE), None)
    return Answer(
        bottom_line=_bottom_line(report),
        is_written=bool(report.answer) and not unanswered(report),
        sample_only=sentence(sample) if sample else "",
        conclusions=tuple(line for part in parts_of(report) for line in part.lines(report)),
        reservations=_reservations(report),
        absent=absent(report),
        confidence=report.confidence,
        confidence_reasons=words.grounds(report),
        searched=_searched(report.methodology.searches),
        not_reached=_not_reached(report),
        unreadable=int(str(unread.values["records"])) if unread else 0,
    )


def claims_of(report: Report) -> tuple[AnswerClaim, ...]:
    """List the claims of a report, its answer and summary first; what is said twice once."""
    numbers, heads = numbers_of(report.references), _heads(report)
    once: dict[tuple[str, tuple[int, ...]], AnswerClaim] = {}
    for claim in (*report.answer, *summary_of(report), *report.claims()):
        row = _claim(claim, numbers, heads.get(claim.text, ""))
        once.setdefault((normalise(row.text).casefold(), row.references), row)
    return tuple(once.values())


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
        if ended(passage.before) != passage.before
    }


def _claim(claim: Claim, numbers: Mapping[str, int], under: str = "") -> AnswerClaim:
    ids = tuple(dict.fromkeys(support.evidence_id for support in claim.support))
    marks = tuple(sorted({numbers[name] for name in ids if name in numbers}))
    return AnswerClaim(id=claim.id, text=clean(claim.text), references=marks, evidence_ids=ids, under=under)


def _bottom_line(report: Report) -> str:
    if why := unanswered(report):
        return f"{why} {notice(report)}" if any(report.claims()) else why
    if report.answer:
        numbers = numbers_of(report.references)
        return " ".join(with_references(_claim(claim, numbers)) for claim in report.answer)
    if report.written_by == "extractive":
        return notice(report)
    claims = claims_of(report)
    return with_references(claims[0]) if claims else clean(report.executive_summary)


def _reservations(report: Report) -> tuple[str, ...]:
    cites = any(claim.support for claim in report.answer or report.claims())
    return words.not_shown(report, SHOWN_APART if cites else SHOWN_APART | OF_CITED)[:RESERVATIONS]


def with_references(claim: AnswerClaim) -> str:
    """Word `A claim. [1, 3]`, of a row `Month, kWh: May, 412 [1]`."""
    mark = Cite(tuple(map(Mark, claim.references))).text
    under = f"{claim.under.rstrip(':')}: " if claim.under else ""
    return " ".join(filter(None, (f"{under}{claim.text}", mark)))


def _searched(searches: Iterable[SearchRecord]) -> str:
    answered = Counter(clean(s.source) for s in searches if s.status in ANSWERED)
    return ", ".join(f"{name} {count}x" for name, count in answered.items()) or "nothing"


def _not_reached(report: Report) -> str:
    failed: dict[str, list[str]] = {}
    for search in report.methodology.searches:
        if search.status not in ANSWERED:
            reasons = failed.setdefault(clean(search.source), [])
            if (reason := search.status.replace("_", " ")) not in reasons:
                reasons.append(reason)
    outages = [f"{name} ({', '.join(reasons)})" for name, reasons in failed.items()]
    silent = ", ".join(clean(statement.text("source")) for statement in words.unreached(report))
    return ", ".join([*outages, *([f"{silent} (no connection)"] if silent else [])])
