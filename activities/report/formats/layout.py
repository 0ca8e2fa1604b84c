"""A report as blocks, in the order of the page: what Markdown, Word and PDF show.

A format writes each kind of block in its own way and decides nothing else. The HTML page, which has pop-ups
and anchors, is a template over the same `View`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from activities.analysis.forest import forest_plot
from activities.analysis.types import Analysis
from activities.report.formats import analysis as statistics
from activities.report.formats.model import (
    CHECK_HEAD,
    REFUSED_HEAD,
    REFUSED_NOTE,
    REFUSED_TITLE,
    SEARCH_HEAD,
    Bar,
    CandidateView,
    ClaimView,
    LineView,
    Paragraph,
    PassageView,
    ReferenceView,
    View,
    quotes_once,
)
from activities.report.formats.text import clean


@dataclass(frozen=True, slots=True)
class Run:
    """Words in one style, maybe a link."""

    text: str
    style: Literal["plain", "bold", "italic", "said", "mark", "source"] = "plain"
    """`said`: quoted words; `mark`: `[3]`, a citation; `source`: where a statement is from."""
    url: str | None = None
    number: int = 0
    """Of the reference that a mark cites."""


Parts: TypeAlias = tuple[Run | ClaimView, ...]
"""What stands in one line or paragraph, with spaces between."""


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    """0: the title; 1: a chapter; 2: a part of one."""
    text: str
    new_page: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    parts: Parts
    kind: Literal["plain", "question", "subtitle", "notice", "quote"] = "plain"


@dataclass(frozen=True, slots=True)
class Bullets:
    items: tuple[Parts, ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """Labels, each with its lines."""

    fields: tuple[tuple[str, tuple[Parts, ...]], ...]


@dataclass(frozen=True, slots=True)
class Table:
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    cites: int | None = None
    """Place of the column whose cells cite references, in a row; the others hold text of others."""


@dataclass(frozen=True, slots=True)
class Figure:
    caption: str
    svg: str
    table: Table | None = None
    """The same in numbers, where it cannot be drawn."""
    words: str = ""
    """The same in a sentence, for a format without pictures."""


@dataclass(frozen=True, slots=True)
class Code:
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class References:
    items: tuple[ReferenceView, ...]


@dataclass(frozen=True, slots=True)
class Opening:
    """The answer with all that a reader gets first."""

    blocks: tuple["Block", ...]


Block: TypeAlias = Heading | Text | Bullets | Fields | Table | Figure | Code | References | Opening


def layout(view: View, analysis: Analysis | None, figures: Mapping[str, str]) -> Iterator[Block]:
    """The whole report. `figures`: SVG by name (`figures.drawings`); empty for a format without pictures."""
    yield Heading(0, view.title)
    yield from _text(view.question, "question")
    if view.continues:
        yield Text((Run(view.continues, "italic"),))
    yield from _text("Draft: this report waits for a reviewer's approval." if view.draft else "", "notice")
    yield from _text(view.notice, "notice")
    yield Opening(tuple(_opening(view)))
    if view.mechanism:
        yield Heading(1, "Mechanism")
        yield from _prose(view.mechanism)
    for section in view.sections:
        yield Heading(1, section.title)
        yield from _text(section.question, "subtitle")
        yield from _text(section.lead)
        for paragraph in (section.answer, *section.paragraphs):
            yield from _prose(paragraph)
        for passage in section.passages:
            yield from _passage(passage)
        for related in section.related:
            yield Heading(2, related.title)
            for passage in related.passages:
                yield from _passage(passage)
    if view.candidates:
        yield Heading(1, "Candidates")
        rows = tuple(candidate.cells for candidate in view.candidates)
        yield Table(view.candidate_head, rows, view.candidate_note, cites=len(view.candidate_head) - 1)
        for candidate in view.candidates:
            yield from _candidate_page(candidate)
    if analysis is not None:
        yield from _statistics(analysis, drawn=bool(figures))
    for found in view.tables:
        yield Heading(1, found.title)
        yield Table(found.head, tuple(map(tuple, found.texts)), cites=0)
    if view.contradictions:
        yield Heading(1, "Contradictions")
        yield Bullets(tuple((one, Run("Against it:", "bold"), other) for one, other in view.contradictions))
    for title, texts in (("Gaps", view.gaps), ("Limitations", view.limitations)):
        if texts:
            yield from (Heading(1, title), _bullets(texts))
    yield from _method(view, figures)
    if view.refused:
        yield from (Heading(1, REFUSED_TITLE), Table(REFUSED_HEAD, view.refused, REFUSED_NOTE))
    if view.references:
        yield from (Heading(1, "References"), References(view.references))


def _opening(view: View) -> Iterator[Block]:
    """The answer, what each side has, the summary, reservations and how sure it is."""
    if view.answer or view.balance:
        yield Heading(1, "Answer")
        yield from _prose(view.answer)
        yield from _text(view.balance)
    if view.summary or view.points or view.summary_text:
        yield Heading(1, "Summary")
        yield from _prose(view.summary)
        if view.points:
            yield Bullets(tuple((claim,) for claim in view.points))
        for text in view.summary_text:
            yield from _text(text)
    if view.reservations:
        yield from (Heading(1, "Reservations"), _bullets(view.reservations))
    if view.verified:
        reasons = [Run(reason) for reason in view.confidence_reasons]
        yield Text((Run(f"Confidence: {view.confidence}.", "bold"), *reasons))
        yield from _text(view.verified)


def _text(text: str, kind: Literal["plain", "question", "subtitle", "notice"] = "plain") -> Iterator[Block]:
    if text:
        yield Text((Run(text),), kind)


def _bullets(texts: Iterable[str]) -> Bullets:
    return Bullets(tuple((Run(clean(text)),) for text in texts))


def _prose(claims: Paragraph) -> Iterator[Block]:
    """Claims as a paragraph, then the quotes whose words differ from theirs."""
    if claims:
        yield Text(claims)
    for quote in quotes_once(claims):
        yield Text((Run(quote.text, "said"), _mark(quote.number)), "quote")


def _mark(number: int) -> Run:
    return Run(f"[{number}]", "mark", number=number)


def _passage(passage: PassageView) -> Iterator[Block]:
    """A passage with its work; what stands around it is in brackets."""
    about = (Run(f"({passage.about})"),) if passage.about else ()
    yield Text((_mark(passage.number), Run(passage.title, url=passage.url), *about))
    before, after = ((Run(f"({text})"),) if text else () for text in (passage.before, passage.after))
    yield Text((*before, Run(passage.text, "said"), *after), "quote")
    named = [
        f"mentions {passage.mentions}" if passage.mentions else "",
        f"does not mention {passage.lacks}" if passage.lacks else "",
    ]
    if any(named):
        yield Text((Run("; ".join(filter(None, named)), "italic"),))


def _candidate_page(candidate: CandidateView) -> Iterator[Block]:
    """A candidate's fields, each statement with its source, on a page of their own."""
    if not candidate.fields:
        return
    yield Heading(2, candidate.title, new_page=True)
    fields = [
        (field.label, tuple(map(_statement, field.lines)) or ((Run(field.missing),),))
        for field in candidate.fields
    ]
    if candidate.quality:
        grade, *reasons = candidate.quality
        fields.append(("Quality of the evidence", ((Run(f"{grade}."), *map(Run, reasons)),)))
    yield Fields(tuple(fields))


def _statement(line: LineView) -> Parts:
    quote = (Run(line.quote, "said"),) if line.quote else ()
    return (
        Run(line.text),
        *quote,
        _mark(line.number) if line.number else Run(line.source, "source", line.url),
    )


def _statistics(analysis: Analysis, *, drawn: bool) -> Iterator[Block]:
    """Verdict, findings, a forest plot with its numbers, what was not pooled, the program."""
    yield Heading(1, statistics.TITLE)
    yield Text((Run(statistics.verdict_line(analysis), "bold"),))
    yield _bullets(analysis.key_findings)
    for pool in analysis.pools:
        yield Heading(2, statistics.pool_title(pool))
        yield Figure("", forest_plot(pool) if drawn else "")
        yield Table(statistics.HEAD, tuple(statistics.pool_rows(pool)))
    if analysis.not_pooled:
        yield from (Heading(2, statistics.LISTED_TITLE), _bullets(statistics.listed(analysis)))
    if analysis.generated is not None:
        yield Heading(2, statistics.PROGRAM_TITLE)
        for text in statistics.program_lines(analysis):
            yield from _text(text)
        yield Code(tuple(statistics.program_rows(analysis.generated.code)))
    if analysis.limitations:
        yield _bullets(analysis.limitations)


def _method(view: View, figures: Mapping[str, str]) -> Iterator[Block]:
    yield Heading(1, "Method")
    yield from _text(view.flow_text)
    caption = "Flow of records (PRISMA 2020)"
    yield Figure(caption, figures.get("flow", ""), _flow(view, caption))
    yield from _text(view.spent)
    for name, title, head, bars in (
        ("strengths", "Claims by strength of evidence", ("Strength", "Claims"), view.strengths),
        ("years", "Cited works by year of publication", ("Year", "Works"), view.years),
    ):
        if bars:
            words = f"{title}: {', '.join(f'{bar.count} {bar.label}' for bar in bars)}."
            numbers = Table(head, _rows(bar for bar in bars if bar.count or name == "strengths"), title)
            yield Figure(title, figures.get(name, ""), numbers, words if name == "strengths" else "")
    if view.searches:
        yield from (Heading(2, "Searches"), Table(SEARCH_HEAD, view.searches))
    if view.verified:
        yield Heading(2, "Verification")
        yield from _text(view.verified)
        yield Table(CHECK_HEAD, view.checks)
    if view.decisions:
        yield from (Heading(2, "Decisions"), _bullets(view.decisions))
    yield from _text(view.run_line)


def _rows(bars: Iterable[Bar]) -> tuple[tuple[str, str], ...]:
    return tuple((bar.label, str(bar.count)) for bar in bars)


def _flow(view: View, caption: str) -> Table:
    flow = view.flow
    bars = (
        Bar("Identified", flow.identified),
        *(Bar(f"  of these kept from {bar.label}", bar.count) for bar in flow.sources),
        Bar("Duplicates removed", flow.duplicates),
        Bar("Screened", flow.screened),
        Bar("Not cited", flow.excluded),
        Bar("Included (cited)", flow.included),
        Bar("Studies reported", flow.studies),
    )
    return Table(("Step", "Records"), _rows(bars), caption)
