"""The report as a Word document: headings, lists, quotes and captions in Word's own styles, links that can be
followed, tables that fit the page, and the report's own metadata.

The figures are pictures with their numbers as alternative text; without the `pdf` extra, which draws them,
tables.
"""

from collections.abc import Iterable
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING

from activities.report.formats import layout as page
from activities.report.formats.figures import described, drawings, picture
from activities.report.formats.model import LONG, ClaimView, ReferenceView, View
from activities.report.formats.render import MissingExtra
from activities.report.formats.text import clean
from activities.report.formats.view import view_of
from activities.report.schema import Report

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table as WordTable
    from docx.text.paragraph import Paragraph

FIGURE_CM = 9
LINK_COLOUR = "0B5F59"
SMALL_POINTS = 8
"""Type size of tables: ten columns have to fit a page."""
_STYLES = {
    "plain": None,
    "question": "Subtitle",
    "subtitle": "Subtitle",
    "notice": "Intense Quote",
    "quote": "Quote",
}


def docx(report: Report) -> bytes:
    """The whole report. Raises MissingExtra without the `docx` extra."""
    try:
        import docx as library
    except ImportError as error:
        raise MissingExtra("docx") from error
    document = library.Document()
    view = view_of(report)
    _metadata(document, report, view)
    _write(document, page.layout(view, report.analysis, drawings(view)))
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def _write(document: "Document", blocks: Iterable[page.Block]) -> None:
    for block in blocks:
        match block:
            case page.Opening():
                _write(document, block.blocks)
            case page.Heading():
                heading = document.add_heading(block.text, block.level)
                heading.paragraph_format.page_break_before = block.new_page
            case page.Text():
                _line(document.add_paragraph(style=_STYLES[block.kind]), block.parts)
            case page.Bullets():
                _bullets(document, block.items)
            case page.Fields():
                for label, lines in block.fields:
                    document.add_paragraph().add_run(label).bold = True
                    _bullets(document, lines)
            case page.Table():
                _table(document, block)
            case page.Figure():
                if not _figure(document, block) and block.table is not None:
                    _table(document, block.table)
            case page.Code():
                for row in block.rows:
                    document.add_paragraph(row, style="No Spacing")
            case page.References():
                for reference in block.items:
                    _reference(document, reference)


def _bullets(document: "Document", items: Iterable[page.Parts]) -> None:
    for parts in items:
        _line(document.add_paragraph(style="List Bullet"), parts)


def _line(paragraph: "Paragraph", parts: page.Parts) -> None:
    for place, part in enumerate(parts):
        if place:
            paragraph.add_run(" ")
        if isinstance(part, ClaimView):
            paragraph.add_run(f"{part.text} {part.mark}".strip())
            paragraph.add_run(f" ({part.basis})" if part.basis else "").italic = True
        elif part.url:
            _link(paragraph, part.text, part.url)
        else:
            text = f"\u201c{part.text}\u201d" if part.style == "said" else part.text
            run = paragraph.add_run(text)
            run.bold, run.italic = part.style == "bold" or None, part.style == "italic" or None


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


def _figure(document: "Document", figure: page.Figure) -> bool:
    """A figure as a picture with what it shows in words; False where it cannot be drawn here."""
    from docx.shared import Cm

    png = picture(figure.svg)
    if png is None:
        return False
    if figure.caption:
        document.add_paragraph(figure.caption, style="Caption")
    shape = document.add_picture(BytesIO(png), width=Cm(FIGURE_CM))
    descr = described(figure.svg)
    shape._inline.docPr.set("descr", descr)  # noqa: SLF001 - python-docx sets no alternative text
    return True


def _table(document: "Document", block: page.Table) -> None:
    """A table as wide as the text; its head is repeated on every page it runs over."""
    from docx.shared import Pt

    if block.caption:
        document.add_paragraph(block.caption, style="Caption")
    table = document.add_table(rows=0, cols=len(block.head), style="Light Grid Accent 1")
    for texts in (block.head, *block.rows):
        for cell, text in zip(table.add_row().cells, texts, strict=True):
            paragraph = cell.paragraphs[0]
            run = paragraph.add_run(text)
            run.font.size = Pt(SMALL_POINTS)
            paragraph.paragraph_format.space_after = Pt(0)
    _fit(document, table, block.head)
    document.add_paragraph()


def _fit(document: "Document", table: "WordTable", head: Iterable[str]) -> None:
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
