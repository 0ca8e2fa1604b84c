"""From a report to what every format shows (`activities.report.formats.model`)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from activities.candidates.types import Candidate, CandidateFieldName, FieldEntry
from activities.report.formats import candidate_words, words
from activities.report.formats import references as refs
from activities.report.formats.model import (
    CANDIDATE_HEAD,
    CANDIDATE_NOTE,
    JUDGEMENT_HEAD,
    JUDGEMENTS_NOTE,
    NAMED_NOTE,
    WORKS_NOTE,
    Badge,
    Bar,
    CandidateView,
    Cell,
    Cite,
    ClaimView,
    FieldView,
    Flow,
    LineView,
    Link,
    PassageView,
    Quote,
    ReferenceView,
    RelatedView,
    SectionView,
    View,
    WorksTable,
)
from activities.report.formats.prose import (
    NOT_READ,
    Citations,
    paragraphs_of,
    summary_of,
    unanswered_lead,
)
from activities.report.formats.statements import sentence, sentences
from activities.report.formats.text import authors_line, clean, ended, identifier_links, listed, safe_url
from activities.report.schema import JudgedWork, QuotedPassage, Reference, Report, ReportSection
from activities.report.works import grade_of
from activities.types import ANSWERED, Claim, Grade, Support

_BARS = 12
"""Bars of a figure over years at most: more cannot be distinguished on a telephone."""
_SPANS = (1, 2, 5, 10, 20, 50, 100)
_RANKS: dict[str, str] = {"strong": "1", "moderate": "2", "weak": "3"}
_EXTRACTIVE_COLUMNS = ("Literature", "Evidence")
"""Columns of the table of candidates that judge: not shown without a model."""


def view_of(report: Report) -> View:
    """Everything a format shows."""
    shown = _Quotes(report)
    extractive = report.written_by == "extractive"
    first = tuple(map(shown.claim, summary_of(report)))
    head, candidates = _used_cells(
        [_candidate(c, n, shown, judged=not extractive) for n, c in enumerate(report.candidates, start=1)],
        () if not extractive else _EXTRACTIVE_COLUMNS,
    )
    return View(
        title=clean(report.title),
        kicker=words.kicker(report),
        question=_question(report),
        continues=words.continues(report),
        draft=report.draft,
        notice=NOT_READ if extractive else "",
        answer=tuple(map(shown.claim, report.answer)),
        balance=words.balance(report),
        summary=first if report.summary else (),
        points=() if report.summary or extractive else first,
        summary_text=_unanswered(report),
        reservations=tuple(map(clean, report.reservations)),
        confidence=words.sureness(report),
        confidence_reasons=sentences(report.confidence_reasons),
        verified=words.verified(report),
        mechanism=tuple(map(shown.claim, report.mechanism)),
        sections=tuple(
            _section(report, section, shown)
            for section in report.sections
            if section.claims or section.related or section.answer
        ),
        candidate_head=head,
        candidates=candidates,
        candidate_note=_candidate_note(report),
        works=_works(report, shown),
        judgements=_judgements(report, shown),
        contradictions=tuple(_contradictions(report, shown)),
        gaps=words.gaps(report),
        limitations=words.limitations(report),
        flow=_flow(report),
        flow_text=words.flow_text(report),
        years=_years(report.references),
        strengths=_strengths(report),
        checks=words.checks(report.verification.dropped),
        spent=words.spent(report),
        searches=words.search_rows(report.methodology.searches),
        decisions=tuple(words.decision(made) for made in report.methodology.approvals),
        run_line=words.run_line(report),
        refused=words.refused_rows(report),
        references=tuple(_references(report)),
    )


def _unanswered(report: Report) -> tuple[str, ...]:
    if report.unanswered is None:
        return ()
    lead = unanswered_lead(report)
    return (f"{lead}: {sentence(report.unanswered).rstrip('.')}.",)


class _Quotes:
    """Views of claims and quotes."""

    def __init__(self, report: Report) -> None:
        self._citations = Citations.of(report.references)
        self.references = {r.evidence_id: r for r in report.references}
        self._titles = {work.evidence_id: clean(work.title) for work in report.judgements}
        self._titles |= {r.evidence_id: clean(r.title) for r in report.references}
        self._contexts = {(c.evidence_id, c.quote): c for c in report.contexts}

    def claim(self, claim: Claim) -> ClaimView:
        anchor = anchor_of(claim.id)
        quotes = self.quotes(anchor, claim.text, claim.support)
        return ClaimView(
            anchor=anchor,
            text=ended(clean(claim.text)),
            mark=self._citations.mark(claim.support),
            cites=self.cites(claim.support, quotes),
            quotes=quotes,
            strength=claim.strength,
            studies=claim.independent_works,
            disputed=bool(claim.contradicts),
            quoted=claim.quoted,
        )

    def quotes(self, owner: str, said: str, supports: Iterable[Support]) -> tuple[Quote, ...]:
        made = []
        for place, support in enumerate((s for s in supports if s.quote), start=1):
            context = self._contexts.get((support.evidence_id, support.quote))
            reference = self.references.get(support.evidence_id)
            page = context.page if context else 0
            made.append(
                Quote(
                    anchor=f"{owner}-q{place}",
                    number=self.number(support.evidence_id),
                    title=self._titles.get(support.evidence_id, ""),
                    text=clean(support.quote),
                    before=context.before if context else "",
                    after=context.after if context else "",
                    place=refs.place_in(reference, page) if reference else "",
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


def anchor_of(name: str) -> str:
    """A name as an HTML id."""
    return re.sub(r"[^\w-]+", "-", clean(name)).strip("-") or "x"


def _section(report: Report, section: ReportSection, shown: _Quotes) -> SectionView:
    asked = clean(section.key_question)
    known = {clean(text).casefold() for text in (report.question, report.title, section.title)}
    designs = {work.evidence_id: work.design for work in report.works}

    def passage(one: QuotedPassage, anchor: str) -> PassageView:
        return _passage(one, anchor, shown, designs.get(one.evidence_id, ""))

    passages = tuple(
        passage(one, f"{section.id}-p{place}") for place, one in enumerate(section.passages, start=1)
    )
    by_lack: dict[tuple[str, ...], list[PassageView]] = {}
    for place, one in enumerate(section.related, start=1):
        by_lack.setdefault(one.lacks, []).append(passage(one, f"{section.id}-r{place}"))
    return SectionView(
        anchor=f"section-{anchor_of(section.id)}",
        title=words.heading(section),
        question="" if asked.casefold() in known else asked,
        lead=clean(section.lead),
        answer=tuple(map(shown.claim, section.answer)),
        paragraphs=()
        if passages
        else tuple(tuple(map(shown.claim, paragraph)) for paragraph in paragraphs_of(section)),
        passages=passages,
        related=tuple(
            RelatedView(
                f"Related, without mention of {listed(map(clean, lacks))}" if lacks else "Related",
                tuple(found),
            )
            for lacks, found in by_lack.items()
        ),
    )


def _passage(passage: QuotedPassage, anchor: str, shown: _Quotes, design: str) -> PassageView:
    reference = shown.references[passage.evidence_id]
    supports = [Support(evidence_id=passage.evidence_id, quote=quote) for quote in passage.quotes]
    quotes = shown.quotes(anchor_of(anchor), "", supports)
    label = clean(refs.label_of(reference))
    about = words.about_work(reference, label, design)
    standing = refs.STANDINGS[reference.standing] if reference.standing in refs.WARNING_STANDINGS else ""
    page = quotes[0].place if quotes else ""
    return PassageView(
        anchor=anchor_of(anchor),
        number=passage.number,
        title=clean(reference.title),
        about=", ".join(filter(None, (about, page, standing))),
        url=next((quote.url for quote in quotes if quote.url), None) or refs.best_url(reference),
        before=clean(passage.before),
        quotes=quotes,
        after=clean(passage.after),
        mentions=", ".join(map(clean, passage.mentions)),
        lacks=", ".join(map(clean, passage.lacks)),
    )


def _works(report: Report, shown: _Quotes) -> WorksTable:
    """Every cited work with what records say of it and the reader's columns. Columns that are empty in every
    row, and a standing that all share, are left out: the limitations say that."""
    rows = {row.evidence_id: row for row in report.table.rows}
    described = {work.evidence_id: work for work in report.works}
    places: list[Quote] = []
    columns = ("Work", "Kind", "Year", "n", *map(clean, report.table.columns), "Strength", "Standing")
    table: list[list[Cell]] = []
    for reference in report.references:
        row, known = rows.get(reference.evidence_id), described.get(reference.evidence_id)
        cells = [Cell(f"[{reference.number}] {refs.label_of(reference)}", f"ref-{reference.number}")]
        cells.append(Cell(known.design if known else ""))
        cells.append(Cell(str(reference.year or "")))
        cells.append(Cell(f"{known.n:,}", rank=str(known.n)) if known and known.n else Cell())
        for place, column in enumerate(report.table.columns, start=1):
            cell = row.cells.get(column) if row else None
            if cell is None or cell.support is None:
                cells.append(Cell())
                continue
            quote = shown.quotes(f"work-{reference.number}-{place}", "", [cell.support])[0]
            places.append(quote)
            cells.append(Cell(clean(cell.text), quote.anchor))
        warned = reference.standing in refs.WARNING_STANDINGS
        strength: Grade = "weak" if warned else grade_of(reference.evidence_type)
        graded = report.written_by == "model"
        cells.append(Cell(strength, rank=_RANKS[strength]) if graded else Cell())
        cells.append(Cell(refs.STANDINGS[reference.standing]))
        table.append(cells)
    standings = {cells[-1].text for cells in table}
    shared = len(standings) == 1 and not any(standing.isupper() for standing in standings)
    used = [place for place in range(len(columns)) if any(cells[place].text for cells in table)]
    used = used[:-1] if shared and used and used[-1] == len(columns) - 1 else used
    return WorksTable(
        "Works",
        WORKS_NOTE,
        tuple(columns[place] for place in used),
        tuple(tuple(cells[place] for place in used) for cells in table),
        tuple(places),
    )


def _judgements(report: Report, shown: _Quotes) -> WorksTable:
    """What was judged of each work, without columns that are empty in every row."""
    places: list[Quote] = []
    table: list[list[Cell]] = []
    for place, work in enumerate(report.judgements, start=1):
        quotes = shown.quotes(f"judged-{place}", "", work.support)
        places += quotes
        texts = words.judgement_cells(work)
        finding = JUDGEMENT_HEAD.index("Finding") - 1
        cells = [Cell(text, rank=str(work.answers) if not n else "") for n, text in enumerate(texts)]
        if quotes:
            cells[finding] = Cell(texts[finding] or f"\u201c{quotes[0].text}\u201d", quotes[0].anchor)
        table.append([_judged_name(work, shown), *cells])
    used = [place for place in range(len(JUDGEMENT_HEAD)) if any(cells[place].text for cells in table)]
    return WorksTable(
        "Judgements of works",
        JUDGEMENTS_NOTE,
        tuple(JUDGEMENT_HEAD[place] for place in used),
        tuple(tuple(cells[place] for place in used) for cells in table),
        tuple(places),
    )


def _judged_name(work: JudgedWork, shown: _Quotes) -> Cell:
    reference = shown.references.get(work.evidence_id)
    if reference is not None:
        return Cell(f"[{reference.number}] {refs.label_of(reference)}", f"ref-{reference.number}")
    title = refs.shortened(clean(work.title)) or work.evidence_id
    return Cell(f"{title}, {work.year}" if work.year else title)


def _question(report: Report) -> str:
    asked = clean(report.question)
    return "" if asked.casefold() == clean(report.title).casefold() else asked


def _candidate_note(report: Report) -> str:
    """What is checked of candidates, and once for all of them that registers were not asked."""
    note = NAMED_NOTE if report.written_by == "extractive" else CANDIDATE_NOTE
    silent = any(field.status == "not_looked_up" for c in report.candidates for field in c.fields)
    return f"{note} {candidate_words.NOT_ASKED}" if silent else note


def _candidate(candidate: Candidate, number: int, shown: _Quotes, *, judged: bool) -> CandidateView:
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
        fields=(*_found(candidate, shown, judged=judged), *_missing(candidate), *_tests(candidate)),
        quality=(candidate.evidence_quality, *reasons) if candidate.fields and judged else (),
    )


def _found(candidate: Candidate, shown: _Quotes, *, judged: bool) -> Iterable[FieldView]:
    labels = candidate_words.LABELS if judged else candidate_words.LABELS_UNJUDGED
    return (
        FieldView(
            label=labels[field.name],
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


def _used_cells(
    candidates: Sequence[CandidateView], hidden: Sequence[str]
) -> tuple[tuple[str, ...], tuple[CandidateView, ...]]:
    """The head and the rows of the table of candidates without hidden columns and those in which nothing was
    found of any."""
    used = [
        place
        for place, name in enumerate(CANDIDATE_HEAD)
        if name not in hidden and not all(c.cells[place].startswith(_NOTHING) for c in candidates)
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


def _line(field: CandidateFieldName, entry: FieldEntry, shown: _Quotes) -> LineView:
    text, quote = candidate_words.entry_text(field, entry), clean(entry.quote)
    number = shown.number(entry.evidence_id)
    return LineView(
        text=text,
        quote="" if quote in text or words.same_words(clean(entry.text), quote) else quote,
        source="" if number else candidate_words.source_title(entry.source),
        url=None if number else safe_url(entry.url),
        number=number,
    )


def _contradictions(report: Report, shown: _Quotes) -> Iterable[tuple[ClaimView, ClaimView]]:
    """Each pair of claims that contradict each other, once."""
    claims = {claim.id: claim for claim in report.claims()}
    done: set[frozenset[str]] = set()
    for claim in claims.values():
        for other in claim.contradicts:
            pair = frozenset({claim.id, other})
            if other in claims and pair not in done:
                done.add(pair)
                yield shown.claim(claim), shown.claim(claims[other])


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
    """Claims by strength of evidence; empty without a model."""
    grades = [claim.strength for claim in report.claims() if claim.strength]
    order: tuple[Grade, ...] = ("strong", "moderate", "weak")
    return tuple(Bar(grade, grades.count(grade)) for grade in order) if grades else ()
