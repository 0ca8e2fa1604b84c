"""The report as a Word document: headings, lists, quotes and captions in Word's own styles, links that can be
followed, tables that fit the page, and the report's own metadata.

The figures are pictures with their numbers as alternative text; without the `pdf` extra, which draws them,
tables.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING

from activities.analysis.forest import forest_plot
from activities.analysis.types import Analysis
from activities.report.formats.analysis import (
    HEAD,
    LISTED_TITLE,
    PROGRAM_TITLE,
    TITLE,
    listed,
    pool_rows,
    pool_title,
    program_lines,
    program_rows,
    verdict_line,
)
from activities.report.formats.figures import described, drawings, picture
from activities.report.formats.libraries import MissingExtra
from activities.report.formats.model import (
    CHECK_HEAD,
    LONG,
    REFUSED_HEAD,
    REFUSED_NOTE,
    REFUSED_TITLE,
    SEARCH_HEAD,
    CandidateView,
    ClaimView,
    PassageView,
    ReferenceView,
    SectionView,
    View,
    quotes_once,
)
from activities.report.formats.model import Paragraph as Claims
from activities.report.formats.text import clean
from activities.report.formats.view import view_of
from activities.report.schema import Report

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table
    from docx.text.paragraph import Paragraph

FIGURE_CM = 9
LINK_COLOUR = "0B5F59"
SMALL_POINTS = 8
"""Type size of tables: ten columns have to fit a page."""


def docx(report: Report) -> bytes:
    """The whole report, in the order of `View`. Raises MissingExtra without the `docx` extra."""
    try:
        import docx as library
    except ImportError as error:
        raise MissingExtra("docx") from error
    document = library.Document()
    view = view_of(report)
    _metadata(document, report, view)
    document.add_heading(view.title, 0)
    if view.question:
        document.add_paragraph(view.question, style="Subtitle")
    if view.continues:
        document.add_paragraph().add_run(view.continues).italic = True
    if view.draft:
        document.add_paragraph("Draft: this report waits for a reviewer's approval.", style="Intense Quote")
    _opening(document, view)
    if view.mechanism:
        document.add_heading("Mechanism", 1)
        _prose(document, view.mechanism)
    for section in view.sections:
        _section(document, section)
    if view.candidates:
        document.add_heading("Candidates", 1)
        _table(document, view.candidate_note, view.candidate_head, [c.cells for c in view.candidates])
        for candidate in view.candidates:
            _candidate_page(document, candidate)
    if report.analysis is not None:
        _analysis(document, report.analysis)
    for found in view.tables:
        document.add_heading(found.title, 1)
        _table(document, found.note, found.head, found.texts)
    if view.contradictions:
        document.add_heading("Contradictions", 1)
        for one, other in view.contradictions:
            paragraph = document.add_paragraph(style="List Bullet")
            _claim(paragraph, one)
            paragraph.add_run(" Against it: ").bold = True
            _claim(paragraph, other)
    _bullets(document, "Gaps", view.gaps)
    _bullets(document, "Limitations", view.limitations)
    _method(document, view)
    if view.refused:
        document.add_heading(REFUSED_TITLE, 1)
        _table(document, REFUSED_NOTE, REFUSED_HEAD, view.refused)
    if view.references:
        document.add_heading("References", 1)
        for reference in view.references:
            _reference(document, reference)
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def _analysis(document: "Document", analysis: Analysis) -> None:
    """The statistics: verdict, findings, a forest plot with its numbers, what was not pooled, the program."""
    document.add_heading(TITLE, 1)
    document.add_paragraph().add_run(verdict_line(analysis)).bold = True
    for text in analysis.key_findings:
        document.add_paragraph(clean(text), style="List Bullet")
    for pool in analysis.pools:
        title = clean(pool_title(pool))
        _figure(document, title, forest_plot(pool))
        _table(document, title, HEAD, [[clean(cell) for cell in row] for row in pool_rows(pool)])
    for title, texts in (
        (LISTED_TITLE, listed(analysis)),
        (PROGRAM_TITLE, program_lines(analysis)),
        ("Limitations of the statistics", analysis.limitations),
    ):
        if texts:
            document.add_heading(title, 2)
        for text in texts:
            document.add_paragraph(clean(text), style="List Bullet")
        if title == PROGRAM_TITLE and analysis.generated is not None:
            for row in program_rows(analysis.generated.code):
                document.add_paragraph(row, style="No Spacing")


def _metadata(document: "Document", report: Report, view: View) -> None:
    properties = document.core_properties
    properties.title = view.title[:255]
    properties.subject = clean(report.question)[:255]
    properties.author = "Determinator"
    properties.comments = view.run_line[:255]
    properties.keywords = clean(report.profile)[:255]
    properties.language = "en"
    try:
        made = datetime.fromisoformat(report.generated_at).replace(tzinfo=None)
    except ValueError:
        return
    properties.created = properties.modified = made


def _opening(document: "Document", view: View) -> None:
    """The answer, what each side has, the summary, reservations and how sure it is."""
    if view.notice:
        document.add_paragraph(view.notice, style="Intense Quote")
    if view.answer or view.balance:
        document.add_heading("Answer", 1)
        _prose(document, view.answer)
        if view.balance:
            document.add_paragraph(view.balance)
    if view.summary or view.points or view.summary_text:
        document.add_heading("Summary", 1)
        _prose(document, view.summary)
        for claim in view.points:
            _claim(document.add_paragraph(style="List Bullet"), claim)
        for text in view.summary_text:
            document.add_paragraph(text)
    _bullets(document, "Reservations", view.reservations)
    if view.verified:
        paragraph = document.add_paragraph()
        paragraph.add_run(f"Confidence: {view.confidence}. ").bold = True
        paragraph.add_run(" ".join((*view.confidence_reasons, view.verified)))


def _section(document: "Document", section: SectionView) -> None:
    document.add_heading(section.title, 1)
    if section.question:
        document.add_paragraph(section.question, style="Subtitle")
    if section.lead:
        document.add_paragraph(section.lead)
    for paragraph in (section.answer, *section.paragraphs):
        _prose(document, paragraph)
    for passage in section.passages:
        _passage(document, passage)
    for related in section.related:
        document.add_heading(related.title, 2)
        for passage in related.passages:
            _passage(document, passage)


def _prose(document: "Document", claims: Claims) -> None:
    """Claims as a paragraph, then the quotes whose words differ from theirs."""
    if not claims:
        return
    written = document.add_paragraph()
    for claim in claims:
        if written.runs:
            written.add_run(" ")
        _claim(written, claim)
    for quote in quotes_once(claims):
        document.add_paragraph(f"\u201c{quote.text}\u201d [{quote.number}]", style="Quote")


def _passage(document: "Document", passage: PassageView) -> None:
    written = document.add_paragraph()
    written.add_run(f"[{passage.number}] ").bold = True
    _link(written, passage.title, passage.url)
    written.add_run(f" ({passage.about})" if passage.about else "")
    said = document.add_paragraph(style="Quote")
    for text, around in ((passage.before, True), (passage.text, False), (passage.after, True)):
        if text:
            said.add_run(f"({text}) " if around else f"{text} ").italic = not around
    named = [
        f"mentions {passage.mentions}" if passage.mentions else "",
        f"does not mention {passage.lacks}" if passage.lacks else "",
    ]
    if any(named):
        document.add_paragraph().add_run("; ".join(filter(None, named))).italic = True


def _claim(paragraph: "Paragraph", claim: ClaimView) -> None:
    """A claim with its citation and its support."""
    paragraph.add_run(f"{claim.text} {claim.mark}".strip())
    if claim.basis:
        basis = paragraph.add_run(f" ({claim.basis})")
        basis.italic = True


def _candidate_page(document: "Document", candidate: CandidateView) -> None:
    """A candidate's fields on a page of their own."""
    if not candidate.fields:
        return
    heading = document.add_heading(candidate.title, 2)
    heading.paragraph_format.page_break_before = True
    for field in candidate.fields:
        document.add_paragraph().add_run(field.label).bold = True
        if field.missing:
            document.add_paragraph(field.missing, style="List Bullet")
        for line in field.lines:
            written = document.add_paragraph(style="List Bullet")
            written.add_run(f"{line.text} ")
            if line.quote:
                written.add_run(f"\u201c{line.quote}\u201d ").italic = True
            _link(written, line.where, line.url)
    if candidate.quality:
        grade, *reasons = candidate.quality
        document.add_paragraph().add_run("Quality of the evidence").bold = True
        document.add_paragraph(" ".join((f"{grade}.", *reasons)), style="List Bullet")


def _method(document: "Document", view: View) -> None:
    document.add_heading("Method", 1)
    document.add_paragraph(view.flow_text)
    drawn = drawings(view)
    if not _figure(document, "Flow of records (PRISMA 2020)", drawn["flow"]):
        _flow_table(document, view)
    if view.strengths and not _figure(document, "Claims by strength of evidence", drawn["strengths"]):
        rows = [(bar.label, str(bar.count)) for bar in view.strengths]
        _table(document, "Claims by strength of evidence", ("Strength", "Claims"), rows)
    if view.years and not _figure(document, "Cited works by year of publication", drawn["years"]):
        rows = [(bar.label, str(bar.count)) for bar in view.years if bar.count]
        _table(document, "Cited works by year of publication", ("Year", "Works"), rows)
    document.add_paragraph(view.spent)
    if view.searches:
        _table(document, "Every search, as it was sent and as it ended", SEARCH_HEAD, view.searches)
    if view.verified:
        _table(document, view.verified, CHECK_HEAD, view.checks)
    for text in view.decisions:
        document.add_paragraph(text, style="List Bullet")
    document.add_paragraph(view.run_line)


def _figure(document: "Document", caption: str, svg: str) -> bool:
    """A figure as a picture with what it shows in words; False where it cannot be drawn here."""
    from docx.shared import Cm

    png = picture(svg)
    if png is None:
        return False
    document.add_paragraph(caption, style="Caption")
    shape = document.add_picture(BytesIO(png), width=Cm(FIGURE_CM))
    shape._inline.docPr.set("descr", described(svg))  # noqa: SLF001 - python-docx sets no alternative text
    return True


def _flow_table(document: "Document", view: View) -> None:
    flow = view.flow
    rows = [
        ("Identified", str(flow.identified)),
        *((f"  of these kept from {bar.label}", str(bar.count)) for bar in flow.sources),
        ("Duplicates removed", str(flow.duplicates)),
        ("Screened", str(flow.screened)),
        ("Not cited", str(flow.excluded)),
        ("Included (cited)", str(flow.included)),
        ("Studies reported", str(flow.studies)),
    ]
    _table(document, "Flow of records (PRISMA 2020)", ("Step", "Records"), rows)


def _bullets(document: "Document", title: str, texts: Sequence[str]) -> None:
    if texts:
        document.add_heading(title, 1)
        for text in texts:
            document.add_paragraph(text, style="List Bullet")


def _table(document: "Document", caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table as wide as the text; its head is repeated on every page it runs over."""
    from docx.shared import Pt

    document.add_paragraph(caption, style="Caption")
    table = document.add_table(rows=0, cols=len(head), style="Light Grid Accent 1")
    for texts in (head, *rows):
        for cell, text in zip(table.add_row().cells, texts, strict=True):
            paragraph = cell.paragraphs[0]
            run = paragraph.add_run(text)
            run.font.size = Pt(SMALL_POINTS)
            paragraph.paragraph_format.space_after = Pt(0)
    _fit(document, table, head)
    document.add_paragraph()


def _fit(document: "Document", table: "Table", head: Sequence[str]) -> None:
    from docx.oxml import OxmlElement
    from docx.shared import Emu

    section = document.sections[0]
    width = (section.page_width or 0) - (section.left_margin or 0) - (section.right_margin or 0)
    shares = [3 if name in LONG else 1 for name in head]
    table.autofit = False
    for row in table.rows:
        for cell, share in zip(row.cells, shares, strict=True):
            cell.width = Emu(width * share // sum(shares))
    for column, share in zip(table.columns, shares, strict=True):
        column.width = Emu(width * share // sum(shares))
    properties = table.rows[0]._tr.get_or_add_trPr()  # noqa: SLF001 - python-docx cannot repeat a head row
    properties.append(OxmlElement("w:tblHeader"))


def _reference(document: "Document", reference: ReferenceView) -> None:
    paragraph = document.add_paragraph()
    paragraph.add_run(f"[{reference.number}] {reference.authors} ".replace("  ", " "))
    _link(paragraph, reference.title, reference.url)
    paragraph.add_run(f" {reference.place} ".replace("  ", " "))
    for link in reference.links:
        _link(paragraph, link.text, link.url)
        paragraph.add_run(" ")
    if reference.same_study:
        paragraph.add_run(f"Also published as {', '.join(f'[{n}]' for n in reference.same_study)}. ")
    paragraph.add_run(f"({reference.notes})").italic = True


def _link(paragraph: "Paragraph", text: str, url: str | None) -> None:
    """A hyperlink; python-docx reads them and writes none, so that the elements are made here."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import RGBColor

    run = paragraph.add_run(text)
    if url is None:
        return
    run.font.underline = True
    run.font.color.rgb = RGBColor.from_string(LINK_COLOUR)
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run._r.addprevious(link)  # noqa: SLF001 - as above
    link.append(run._r)  # noqa: SLF001
