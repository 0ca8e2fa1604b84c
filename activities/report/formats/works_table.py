"""The table of works: what each found, in which direction, by which design, and how far it was read."""

from collections.abc import Iterator
from dataclasses import replace

from activities.contracts.evidence import Support
from activities.contracts.judge import MIN_ANSWERS
from activities.contracts.judge import PART as TABLE
from activities.report.formats import references as refs
from activities.report.formats import words
from activities.report.formats.blocks import Cell, Run, Table, cell, filled
from activities.report.formats.quotes import Quotes
from activities.report.formats.text import clean
from activities.report.schema import DescribedWork, JudgedWork, Reference, Report

_RANKS = {"strong": "1", "moderate": "2", "weak": "3"}
WIDE = 7
"""Columns that a sheet of paper holds upright."""


def works_table(report: Report, quotes: Quotes) -> Iterator[Table]:
    """Every cited work, then those that were judged to answer and are not cited. Without a model, and columns
    that were asked for, the works stand with what is known of them at their passages."""
    columns = TABLE.shown(report).columns
    if report.written_by == "extractive" and not columns:
        return
    head = (
        *(report.words.one.capitalize(), report.words.found, "Direction"),
        *(report.words.design, "Participants", "Compared with"),
        *(*map(clean, columns), "Strength", "Date", "Standing", "Read"),
    )
    judged = {work.evidence_id: work for work in report.judgements}
    cited = {reference.evidence_id for reference in report.references}
    table = [_row(report, one, judged.get(one.evidence_id), quotes) for one in report.references]
    table += [
        _row(report, None, work, quotes)
        for work in report.judgements
        if work.answers >= MIN_ANSWERS and work.evidence_id not in cited and work.title
    ]
    # what all cited works share, no fault among it, limitations and method say
    shared = []
    for place in (head.index("Standing"), head.index("Read")):
        texts = {row[place].text for row in table[: len(report.references)]}
        if len(texts) == 1 < len(report.references) and not any(text.isupper() for text in texts):
            shared.append(place)
    unasked = [] if words.asks_yes_or_no(report.question) else [2]
    table = [
        tuple(
            Cell() if place in unasked or (place in shared and at < len(report.references)) else one
            for place, one in enumerate(row)
        )
        for at, row in enumerate(table)
    ]
    if table:
        used, rows = filled(head, table)
        yield Table(used, rows, sortable=True, wide=len(used) > WIDE)


def _row(
    report: Report, reference: Reference | None, work: JudgedWork | None, quotes: Quotes
) -> tuple[Cell, ...]:
    """A work that is cited, or was judged and is not."""
    name = reference.evidence_id if reference else work.evidence_id if work else ""
    entry = next((w for w in report.works if w.evidence_id == name), DescribedWork(evidence_id=name))
    row = next((r.cells for r in TABLE.shown(report).rows if r.evidence_id == name), {})
    fields = map(row.get, TABLE.shown(report).columns)
    own = (_quoted(one.text, one.support, quotes) if one and one.support else Cell() for one in fields)
    title, date, standing, read = Cell(), "", "", "not cited"
    if reference is not None:
        linked = Run(clean(reference.title), anchor=f"ref-{reference.number}")
        title = Cell((quotes.mark(reference.number), linked), rank=str(reference.number))
        date = refs.date_of(reference)
        standing = refs.STANDINGS[reference.standing] if report.words.standing else ""
        read = "" if not report.words.graded else "in full" if reference.full_text else "abstract"
    elif work is not None:
        title, date = cell(work.title), str(work.year or "")
    grade = entry.strength or ""
    people = entry.n or (work.participants if work else None) or 0
    return (
        *(title, *_judgement(work, quotes), cell(entry.design or (work.design if work else ""))),
        *(cell(f"{people:,}" if people else "", rank=str(people)), cell(work.comparator if work else "")),
        *(*own, cell(grade, "grade", rank=_RANKS.get(grade, "")), cell(date)),
        *(cell(standing, "alert" if standing.isupper() else "plain"), cell(read)),
    )


def _judgement(work: JudgedWork | None, quotes: Quotes) -> tuple[Cell, Cell]:
    if work is None:
        return Cell(), Cell()
    finding = _quoted(work.finding, work.support[0], quotes) if work.support else Cell()
    return finding, cell(words.DIRECTIONS[work.direction] if work.answers >= MIN_ANSWERS else "")


def _quoted(text: str, support: Support, quotes: Quotes) -> Cell:
    return cell(text, quote=replace(quotes.quote(text, support), number=0))
