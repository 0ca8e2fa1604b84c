"""From a report to what every format shows (`activities.report.formats.model`)."""

from collections.abc import Iterable, Sequence

from activities.report.formats import candidate_words as candidates
from activities.report.formats import figures, words
from activities.report.formats import references as refs
from activities.report.formats.model import (
    JUDGEMENT_HEAD,
    JUDGEMENTS_NOTE,
    WORKS_NOTE,
    Badge,
    Cell,
    ClaimView,
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
    paragraphs_of,
    summary_of,
    unanswered_lead,
)
from activities.report.formats.quotes import Quotes, anchor_of
from activities.report.formats.statements import sentence, sentences
from activities.report.formats.text import authors_line, clean, ended, identifier_links, listed
from activities.report.schema import JudgedWork, QuotedPassage, Report, ReportSection
from activities.report.works import grade_of
from activities.types import Grade, Support

_RANKS: dict[str, str] = {"strong": "1", "moderate": "2", "weak": "3"}


def view_of(report: Report) -> View:
    """Everything a format shows."""
    shown = Quotes(report)
    extractive = report.written_by == "extractive"
    first = tuple(map(shown.claim, summary_of(report)))
    head, rows = candidates.views(report, shown)
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
        candidates=rows,
        candidate_note=candidates.note(report),
        works=_works(report, shown),
        judgements=_judgements(report, shown),
        contradictions=tuple(_contradictions(report, shown)),
        gaps=words.gaps(report),
        limitations=words.limitations(report),
        flow=figures.flow(report),
        flow_text=words.flow_text(report),
        years=figures.years(report.references),
        strengths=figures.strengths(report),
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


def _section(report: Report, section: ReportSection, shown: Quotes) -> SectionView:
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


def _passage(passage: QuotedPassage, anchor: str, shown: Quotes, design: str) -> PassageView:
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


def _works(report: Report, shown: Quotes) -> WorksTable:
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
    if len(standings) == 1 and not any(standing.isupper() for standing in standings):
        columns, table = columns[:-1], [cells[:-1] for cells in table]
    return _used_columns("Works", WORKS_NOTE, columns, table, places)


def _used_columns(
    title: str, note: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], places: Sequence[Quote]
) -> WorksTable:
    """A table without columns that are empty in every row."""
    used = [place for place in range(len(head)) if any(cells[place].text for cells in rows)]
    return WorksTable(
        title,
        note,
        tuple(head[place] for place in used),
        tuple(tuple(cells[place] for place in used) for cells in rows),
        tuple(places),
    )


def _judgements(report: Report, shown: Quotes) -> WorksTable:
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
    return _used_columns("Judgements of works", JUDGEMENTS_NOTE, JUDGEMENT_HEAD, table, places)


def _judged_name(work: JudgedWork, shown: Quotes) -> Cell:
    reference = shown.references.get(work.evidence_id)
    if reference is not None:
        return Cell(f"[{reference.number}] {refs.label_of(reference)}", f"ref-{reference.number}")
    title = refs.shortened(clean(work.title)) or work.evidence_id
    return Cell(f"{title}, {work.year}" if work.year else title)


def _question(report: Report) -> str:
    asked = clean(report.question)
    return "" if asked.casefold() == clean(report.title).casefold() else asked


def _contradictions(report: Report, shown: Quotes) -> Iterable[tuple[ClaimView, ClaimView]]:
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
