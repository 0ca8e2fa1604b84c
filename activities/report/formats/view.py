"""From a report to what every format shows (`activities.report.formats.model`).

Reports of before summary and limitations were data are shown by their text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from activities.candidates.types import Candidate, CandidateFieldName, FieldEntry
from activities.report.formats import candidate_words, words
from activities.report.formats import references as refs
from activities.report.formats.citations import Citations
from activities.report.formats.model import (
    CANDIDATE_HEAD,
    CANDIDATE_NOTE,
    OLD_CANDIDATE_NOTE,
    Badge,
    Bar,
    BriefView,
    CandidateView,
    Cite,
    ClaimView,
    FieldView,
    Flow,
    LineView,
    Link,
    NearView,
    Quote,
    ReferenceView,
    SectionView,
    View,
    WorkClaims,
    WorkView,
)
from activities.report.formats.names import STANDINGS
from activities.report.formats.prose import paragraphs_of, summary_of
from activities.report.formats.statements import sentences
from activities.report.formats.text import authors_line, clean, ended, identifier_links, safe_url
from activities.report.formats.works import grouped, work_views
from activities.report.schema import NearPassage, Reference, Report, ReportSection
from activities.types import ANSWERED, Claim, Grade, Support

_NAMES = ("brief_named", "brief_candidates", "brief_in_use")
"""Codes of the sentences that name answers."""
_BARS = 12
"""Bars of a figure over years at most: more cannot be distinguished on a telephone."""
_SPANS = (1, 2, 5, 10, 20, 50, 100)


def view_of(report: Report) -> View:
    """Everything a format shows."""
    shown = _Claims(report)
    answer = _answer(report, shown)
    quoted = {said.claim.anchor for said in answer if said.claim is not None}
    points = tuple(shown.view(claim) for claim in summary_of(report))
    works = work_views(report)
    brief = set(report.methodology.models) == {"extractive"}
    # In a brief each claim is printed once, and the summary comes first.
    before = frozenset({*(claim.anchor for claim in points), *quoted}) if brief else frozenset()
    labels = {work.number: work for work in works}
    sections = tuple(
        _section(report, section, shown, before, labels if brief else None)
        for section in report.sections
        if section.claims
    )
    if brief and len(report.sections) == 1:
        # the only section has a heading only where it says more than the summary
        sections = tuple(section for section in sections if section.paragraphs)
    reasons = sentences(report.confidence_reasons)
    head, candidates = _used_cells(
        [_candidate(c, n, shown) for n, c in enumerate(report.candidates, start=1)]
    )
    return View(
        title=clean(report.title),
        kicker=words.kicker(report),
        question=_question(report),
        draft=report.draft,
        answer=answer,
        summary=tuple(claim for claim in points if claim.anchor not in quoted),
        summary_text=() if points else _summary_text(report),
        near=tuple(_near(passage, n, shown) for n, passage in enumerate(report.near, start=1)),
        balance="" if answer else words.balance(report),
        confidence=words.sureness(report),
        confidence_reasons=reasons,
        verified=words.verified(report),
        sections=sections,
        candidate_head=head,
        candidates=candidates,
        candidate_note=_candidate_note(report),
        contradictions=tuple(_contradictions(report, shown)),
        gaps=words.gaps(report),
        limitations=words.limitations(report),
        read_as=words.read_as(report.methodology.question_parts),
        flow=_flow(report),
        flow_text=words.flow_text(report),
        years=_years(report.references),
        strengths=_strengths(report),
        works=works,
        work_groups=grouped(works, report.question),
        certainty=words.certainty_rows(report),
        brief=brief,
        checks=words.checks(report.verification.dropped),
        left_out=words.left_out(report),
        spent=words.spent(report.methodology),
        searches=words.search_rows(report.methodology.searches),
        decisions=tuple(words.decision(made) for made in report.methodology.approvals),
        run_line=words.run_line(report),
        references=tuple(_references(report)),
    )


def _answer(report: Report, shown: "_Claims") -> tuple[BriefView, ...]:
    """The short answer; a sentence that quotes a claim has it with its citations."""
    by_id = {claim.id: claim for section in report.sections for claim in section.claims}
    made = []
    for said in report.brief:
        quote = said.statement.text("quote").strip().rstrip(".")
        claim = by_id.get(said.claims[0]) if quote and said.claims else None
        lead = said.text.partition(f"\u201c{quote}")[0] if claim is not None else ""
        made.append(
            BriefView(
                text=clean(said.text),
                lead=clean(lead),
                said=clean(quote) if claim is not None else "",
                claim=shown.view(claim) if claim is not None else None,
                alone=said.statement.code.startswith(_NAMES),
            )
        )
    return tuple(made)


class _Claims:
    """Views of claims and quotes. A claim in the summary and in its section shares one view."""

    def __init__(self, report: Report) -> None:
        self._citations = Citations.of(report.references)
        self._titles = {r.evidence_id: clean(r.title) for r in report.references}
        self._references = {r.evidence_id: r for r in report.quoted_works}
        self._contexts = {(c.evidence_id, c.quote): c for c in report.contexts}
        self._views: dict[str, ClaimView] = {}

    def view(self, claim: Claim) -> ClaimView:
        if claim.id not in self._views:
            quotes = self.quotes(anchor_of(claim.id), claim.text, claim.support)
            self._views[claim.id] = ClaimView(
                anchor=anchor_of(claim.id),
                text=ended(clean(claim.text)),
                mark=self._citations.mark(claim.support),
                cites=self.cites(claim.support, quotes),
                quotes=quotes,
                strength=claim.strength,
                studies=claim.independent_works,
                disputed=bool(claim.contradicts),
                added_by_code=claim.added_by_code,
            )
        return self._views[claim.id]

    def quotes(self, owner: str, said: str, supports: Iterable[Support]) -> tuple[Quote, ...]:
        made = []
        for place, support in enumerate((s for s in supports if s.quote), start=1):
            context = self._contexts.get((support.evidence_id, support.quote))
            reference = self._references.get(support.evidence_id)
            page = context.page if context else 0
            made.append(
                Quote(
                    anchor=f"{owner}-q{place}",
                    number=self._citations.numbers.get(support.evidence_id, 0),
                    title=self._titles.get(support.evidence_id, ""),
                    text=clean(support.quote),
                    before=context.before if context else "",
                    after=context.after if context else "",
                    page=page,
                    url=refs.quote_url(reference, support.quote, page) if reference else None,
                    same=words.same_words(said, support.quote),
                )
            )
        return tuple(made)

    def cites(self, supports: Iterable[Support], quotes: Sequence[Quote]) -> tuple[Cite, ...]:
        first = {quote.number: quote.anchor for quote in reversed(quotes)}
        return tuple(
            Cite(number, pmid if pmid.isdigit() else "", first.get(number, f"ref-{number}"))
            for number, pmid in self._citations.cited(supports)
        )

    def number(self, evidence_id: str) -> int:
        """The number of a reference; 0 for what is none."""
        return self._citations.numbers.get(evidence_id, 0)

    def mark(self, supports: Iterable[Support]) -> str:
        return self._citations.mark(supports)


def _near(passage: NearPassage, number: int, shown: _Claims) -> NearView:
    work = passage.work
    support = Support(evidence_id=work.evidence_id, quote=passage.quote)
    (quote,) = shown.quotes(f"near-{number}", "", [support])
    missing = ", ".join(map(clean, passage.missing))
    label, title = clean(refs.label_of(work)), clean(work.title)
    parts = (
        "" if label.rstrip(" \u2026") in title else label,
        f"p. {quote.page}" if quote.page else "",
        STANDINGS[work.standing] if work.standing in refs.WARNING_STANDINGS else "",
        f"does not mention {missing}" if missing else "",
    )
    return NearView(
        title=title,
        about="; ".join(filter(None, parts)),
        url=refs.quote_url(work, passage.quote, quote.page) or refs.best_url(work),
        quote=quote,
    )


def anchor_of(name: str) -> str:
    """A name as an HTML id."""
    return re.sub(r"[^\w-]+", "-", clean(name)).strip("-") or "x"


def _section(
    report: Report,
    section: ReportSection,
    shown: _Claims,
    before: frozenset[str],
    works: Mapping[int, WorkView] | None,
) -> SectionView:
    """A section without the claims that were printed before it; by work where `works` are given."""
    asked = clean(section.key_question)
    known = {clean(text).casefold() for text in (report.question, report.title, section.title)}
    viewed = (tuple(map(shown.view, paragraph)) for paragraph in paragraphs_of(section))
    left = (tuple(claim for claim in paragraph if claim.anchor not in before) for paragraph in viewed)
    paragraphs = tuple(filter(None, left))
    elsewhere = len(section.claims) - sum(map(len, paragraphs))
    return SectionView(
        anchor=f"section-{anchor_of(section.id)}",
        title=words.heading(section),
        question="" if asked.casefold() in known else asked,
        paragraphs=paragraphs,
        by_work=_by_work(paragraphs, works) if works is not None else (),
        note=words.in_summary(elsewhere, bool(paragraphs)) if elsewhere else "",
    )


def _by_work(
    paragraphs: Iterable[Sequence[ClaimView]], works: Mapping[int, WorkView]
) -> tuple[WorkClaims, ...]:
    """Claims under the first work they quote, in order of appearance."""
    found: dict[int, list[ClaimView]] = {}
    for claim in (claim for paragraph in paragraphs for claim in paragraph):
        found.setdefault(next((cite.number for cite in claim.cites), 0), []).append(claim)
    return tuple(
        WorkClaims(
            title=works[number].title,
            about=words.about_work(works[number]),
            strength=works[number].strength,
            number=number,
            claims=tuple(claims),
        )
        for number, claims in found.items()
        if number in works
    )


def _question(report: Report) -> str:
    asked = clean(report.question)
    return "" if asked.casefold() == clean(report.title).casefold() else asked


def _summary_text(report: Report) -> tuple[str, ...]:
    """Why there is no answer; of a report without summary claims, its text without Markdown's escapes."""
    lines = [re.sub(r"\\([^\w\s])", r"\1", line) for line in report.executive_summary.splitlines()]
    return tuple(filter(None, (clean(line.removeprefix("- ")) for line in lines)))


def _candidate_note(report: Report) -> str:
    """What is checked of candidates, and once for all of them that registers were not asked."""
    if not report.structured:
        return OLD_CANDIDATE_NOTE
    silent = any(field.status == "not_looked_up" for c in report.candidates for field in c.fields)
    return f"{CANDIDATE_NOTE} {candidate_words.NOT_ASKED}" if silent else CANDIDATE_NOTE


def _candidate(candidate: Candidate, number: int, shown: _Claims) -> CandidateView:
    generic = clean(candidate.generic_name)
    other = generic and generic.casefold() != clean(candidate.name).casefold()
    title = f"{clean(candidate.name)} ({generic})" if other else clean(candidate.name)
    anchor = f"candidate-{number}"
    quotes = shown.quotes(anchor, "", candidate.quotes)
    reasons = sentences(candidate.quality_reasons)
    return CandidateView(
        anchor=anchor,
        title=title,
        cells=(title, *candidate_words.cells(candidate), shown.mark(candidate.quotes)),
        cites=shown.cites(candidate.quotes, quotes),
        quotes=quotes,
        fields=(*_found(candidate, shown), *_missing(candidate), *_tests(candidate)),
        quality=(candidate.evidence_quality, *reasons) if candidate.fields else (),
    )


def _found(candidate: Candidate, shown: _Claims) -> Iterable[FieldView]:
    return (
        FieldView(
            label=candidate_words.LABELS[field.name],
            lines=tuple(_line(field.name, entry, shown) for entry in field.entries),
            missing="",
        )
        for field in candidate.fields
        if field.entries
    )


def _missing(candidate: Candidate) -> Iterable[FieldView]:
    """The fields without an entry, one line for those that are missing for the same reason."""
    alike: dict[str, list[str]] = {}
    for field in candidate.fields:
        if not field.entries:
            alike.setdefault(candidate_words.missing(field), []).append(candidate_words.LABELS[field.name])
    return (
        FieldView(label=", ".join([names[0], *map(str.lower, names[1:])]), lines=(), missing=why)
        for why, names in alike.items()
    )


_NOTHING = (candidate_words.NOT_FOUND, candidate_words.NOT_STATED)


def _used_cells(candidates: Sequence[CandidateView]) -> tuple[tuple[str, ...], tuple[CandidateView, ...]]:
    """The head and the rows of the table of candidates without columns in which nothing was found of any."""
    used = [
        place
        for place, _ in enumerate(CANDIDATE_HEAD)
        if not all(c.cells[place].startswith(_NOTHING) for c in candidates)
    ]
    rows = tuple(replace(c, cells=tuple(c.cells[place] for place in used)) for c in candidates)
    return tuple(CANDIDATE_HEAD[place] for place in used), rows


def _tests(candidate: Candidate) -> tuple[FieldView, ...]:
    """The searches that would test a candidate, on its page."""
    texts = candidate.search_suggestions if candidate.fields else ()
    lines = tuple(
        LineView(text=clean(text), quote="", source=candidate_words.BY_THE_RUN, url=None, number=0)
        for text in texts
    )
    return (FieldView(label=candidate_words.TESTS, lines=lines, missing=""),) if lines else ()


def _line(field: CandidateFieldName, entry: FieldEntry, shown: _Claims) -> LineView:
    text, quote = candidate_words.entry_text(field, entry), clean(entry.quote)
    number = shown.number(entry.evidence_id)
    return LineView(
        text=text,
        quote="" if quote in text or words.same_words(clean(entry.text), quote) else quote,
        source="" if number else candidate_words.source_title(entry.source),
        url=None if number else safe_url(entry.url),
        number=number,
    )


def _contradictions(report: Report, shown: _Claims) -> Iterable[tuple[ClaimView, ClaimView]]:
    """Each pair of claims that contradict each other, once."""
    claims = {claim.id: claim for section in report.sections for claim in section.claims}
    done: set[frozenset[str]] = set()
    for claim in claims.values():
        for other in claim.contradicts:
            pair = frozenset({claim.id, other})
            if other in claims and pair not in done:
                done.add(pair)
                yield shown.view(claim), shown.view(claims[other])


def _references(report: Report) -> Iterable[ReferenceView]:
    for reference in report.references:
        twins = tuple(
            other.number
            for other in report.references
            if reference.study and other.study == reference.study and other.number != reference.number
        )
        badges = [Badge(text, text.isupper()) for text in refs.badges(reference)]
        yield ReferenceView(
            number=reference.number,
            anchor=f"ref-{reference.number}",
            authors=ended(authors_line(reference.authors)),
            title=ended(clean(reference.title)),
            url=refs.best_url(reference),
            place=place if (place := refs.place(reference)) == "" else f"{place}.",
            links=(
                *(
                    Link(f"{label} {clean(value)}", url)
                    for label, value, url in identifier_links(reference.identifiers)
                ),
                *(Link(text, url) for text, url in refs.page_links(reference)),
            ),
            badges=(*badges, Badge(f"found in {clean(reference.source)}", alarming=False)),
            same_study=twins,
        )


def _flow(report: Report) -> Flow:
    counts = report.methodology.counts
    kept: dict[str, int] = {}
    for record in report.methodology.searches:
        kept[clean(record.source)] = kept.get(clean(record.source), 0) + record.kept
    known = {r.study for r in report.references if r.study}
    unknown = sum(not r.study for r in report.references)
    return Flow(
        identified=counts.identified,
        sources=tuple(Bar(name, count) for name, count in kept.items()),
        duplicates=counts.duplicates,
        screened=counts.screened,
        excluded=max(counts.screened - counts.included, 0),
        included=counts.included,
        studies=len(known) + unknown,
        failed=sum(s.status not in ANSWERED for s in report.methodology.searches),
    )


def _years(references: Sequence[Reference]) -> tuple[Bar, ...]:
    """Cited works by year of publication, in at most `_BARS` spans of equal length."""
    years = sorted(r.year for r in references if r.year)
    if not years:
        return ()
    first, last = years[0], years[-1]
    span = next((n for n in _SPANS if (last // n - first // n) < _BARS), _SPANS[-1])
    starts = range(first // span * span, last + 1, span)
    return tuple(
        Bar(
            str(start) if span == 1 else f"{start}\u2013{(start + span - 1) % 100:02}",
            sum(start <= year < start + span for year in years),
        )
        for start in starts
    )


def _strengths(report: Report) -> tuple[Bar, ...]:
    """Claims by strength of evidence; empty in reports without grades."""
    grades = [claim.strength for section in report.sections for claim in section.claims if claim.strength]
    order: tuple[Grade, ...] = ("strong", "moderate", "weak")
    return tuple(Bar(grade, grades.count(grade)) for grade in order) if grades else ()
