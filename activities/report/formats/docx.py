"""The report as a Word document."""

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from activities.report.formats import words
from activities.report.formats.extras import MissingExtra
from activities.report.formats.text import (
    authors_line,
    badges,
    best_url,
    citation,
    cited,
    clean,
    ended,
    identifier_links,
)
from activities.report.schema import Reference, Report

if TYPE_CHECKING:
    from docx.document import Document


def docx(report: Report) -> bytes:
    """Headings, lists, tables and quotes in Word's own styles. Raises MissingExtra without the `docx`
    extra."""
    try:
        import docx as library
    except ImportError as error:
        raise MissingExtra("docx") from error
    document = library.Document()
    numbers = words.numbers_by_id(report)
    document.core_properties.title = clean(report.title)[:255]
    document.add_heading(clean(report.title), 0)
    for asked in words.questions(report):
        document.add_paragraph(asked, style="Subtitle")

    document.add_heading("Summary", 1)
    points = words.points(report)
    for claim in points:
        text = cited(clean(claim.text), citation(claim.support, numbers))
        document.add_paragraph(text, style="List Bullet")
    if not points:
        document.add_paragraph(clean(report.executive_summary))
    for note in (words.balance(report), words.verified(report)):
        if note:
            document.add_paragraph(note)

    claims = {c.id: c for section in report.sections for c in section.claims}
    for section in words.told(report):
        document.add_heading(words.heading(section), 1)
        if words.key_question(report, section):
            document.add_paragraph(words.key_question(report, section), style="Subtitle")
        for claim in section.claims:
            document.add_paragraph(cited(clean(claim.text), citation(claim.support, numbers)))
            for other in claim.contradicts:
                if other in claims:
                    against = clean(claims[other].text)
                    document.add_paragraph(f"The sources disagree; against it: {against}")
            for support in claim.support:
                if support.quote:
                    number = numbers.get(support.evidence_id, 0)
                    document.add_paragraph(f'"{clean(support.quote)}" [{number}]', style="Quote")
    _bullets(document, words.EMPTY, words.untold(report))

    if report.candidates:
        document.add_heading("Candidates", 1)
        rows = [[*words.candidate_row(c), citation(c.support, numbers)] for c in report.candidates]
        _table(document, [*words.CANDIDATE_HEAD, "Sources"], rows)
        document.add_paragraph(words.UNCHECKED)
    _bullets(document, "Limitations", report.limitations)
    if report.references:
        document.add_heading("References", 1)
        for reference in report.references:
            document.add_paragraph(_reference(reference))
    document.add_heading("Method", 1)
    method = report.methodology
    for line in (words.flow(report), words.spent(method), *map(words.decision, method.approvals)):
        document.add_paragraph(line)
    document.add_paragraph(words.run_line(report))
    if method.searches:
        _table(document, words.SEARCH_HEAD, words.search_rows(method.searches))
    _bullets(document, "Left out", words.left_out(report))
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def _bullets(document: "Document", title: str, texts: Sequence[str]) -> None:
    if texts:
        document.add_heading(title, 1)
        for text in texts:
            document.add_paragraph(clean(text), style="List Bullet")


def _table(document: "Document", head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = document.add_table(rows=0, cols=len(head), style="Table Grid")
    for texts in (head, *rows):
        for cell, text in zip(table.add_row().cells, texts, strict=True):
            cell.text = text


def _reference(reference: Reference) -> str:
    place = ", ".join(x for x in (clean(reference.venue or ""), str(reference.year or "")) if x)
    parts = [
        f"[{reference.number}]",
        ended(authors_line(reference.authors)),
        ended(clean(reference.title)),
        f"{place}." if place else "",
        *(f"{label} {clean(value)}." for label, value, _ in identifier_links(reference.identifiers)),
        best_url(reference) or "",
        f"({'; '.join(badges(reference))})",
    ]
    return " ".join(part for part in parts if part)
