"""The report as a Word document, in Word's own styles.

The figures are pictures with their numbers as alternative text; without the `pdf` extra, which draws them,
tables.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING

from activities.messages import in_its_language, language
from activities.report.formats import blocks as page
from activities.report.formats.figures import description, picture
from activities.report.formats.page import document
from activities.report.formats.text import in_quotes, sent_url
from activities.report.schema import Report

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table as WordTable
    from docx.text.paragraph import Paragraph

CODE_FONT = "Courier New"
FIGURE_CM = 9
LETTER_CM = 1
ITEM_CM = 0.63
"""By what Word indents a list."""
LINK_COLOUR = "0B5F59"
TWIP = 635
"""Units of a length in the unit in which a table has its widths."""
TABLE_POINTS, SMALL_POINTS = 9, 8
"""Type size of tables, and of those with so many columns that they fit a page in no other."""
_STYLES = {"question": "Subtitle", "notice": "Intense Quote", "quote": "Quote"}


def docx(report: Report) -> bytes:
    return write(document(report))


@in_its_language
def write(tree: page.Document) -> bytes:
    import docx as library

    word = library.Document()
    _metadata(word, tree)
    word.add_heading(tree.title, 0)
    _write(word, tree.head)
    for chapter in page.on_paper(tree):
        word.add_heading(chapter.title, 1)
        _write(word, chapter.blocks)
    out = BytesIO()
    word.save(out)
    return out.getvalue()


def _write(word: "Document", blocks: Iterable[page.Block]) -> None:
    from docx.shared import Cm

    for block in blocks:
        match block:
            case page.Heading():
                word.add_heading(block.text, 2).paragraph_format.page_break_before = block.new_page
            case page.Text():
                _line(word.add_paragraph(style=_STYLES.get(block.kind)), block.parts)
            case page.Bullets():
                _bullets(word, block)
            case page.Fields():
                for label, lines in block.fields:
                    word.add_paragraph().add_run(label).bold = True
                    _bullets(word, page.Bullets(lines))
            case page.Table():
                _table(word, block)
            case page.Figure():
                if not _figure(word, block) and block.table is not None:
                    _table(word, block.table)
            case page.Code():
                for row in block.rows:
                    word.add_paragraph(row, style="No Spacing")
            case page.References():
                for reference in block.items:
                    paragraph = word.add_paragraph(f"[{reference.number}] ")
                    _line(paragraph, reference.parts)
            case page.Group():
                count = len(word.paragraphs)
                _write(word, block.blocks)
                for paragraph in word.paragraphs[count:] if block.kind == "letter" else ():
                    form = paragraph.paragraph_format
                    form.left_indent = Cm(LETTER_CM) + (form.left_indent or 0)


def _bullets(word: "Document", block: page.Bullets, level: int = 0) -> None:
    from docx.shared import Cm

    for number, parts, below in block.rows:
        # Word numbers a list by itself, without the gap that a missing item leaves
        paragraph = word.add_paragraph(f"{number}. " if number else "", None if number else "List Bullet")
        if level:
            paragraph.paragraph_format.left_indent = Cm(ITEM_CM * (level + (not number)))
        _line(paragraph, parts)
        if below:
            _bullets(word, below, level + 1)


def _line(paragraph: "Paragraph", parts: page.Parts) -> None:
    for place, part in enumerate(parts):
        if place:
            paragraph.add_run(page.space_before(part))
        if isinstance(part, page.Cite):
            paragraph.add_run(part.text)
        elif isinstance(part, page.Sentence):
            for text, styles in part.runs():
                run = paragraph.add_run(text)
                run.bold = part.strong or "strong" in styles or None
                run.italic = "em" in styles or None
                run.font.name = CODE_FONT if "code" in styles else None
            if part.cite.text:
                paragraph.add_run(part.cite.text).font.superscript = True
        elif url := sent_url(part.url):
            _link(paragraph, part.text, url)
        else:
            text = in_quotes(part.text) if part.style == "said" else part.text
            text = f"({text})" if part.style in ("grade", "around", "source") else text
            run = paragraph.add_run(text)
            run.bold = part.style in ("bold", "alert") or None
            run.italic = part.style in ("badge", "grade") or None


def _metadata(word: "Document", tree: page.Document) -> None:
    from docx.oxml.ns import qn

    properties = word.core_properties
    properties.title = tree.title[:255]
    properties.subject = tree.about["question"][:255]
    properties.author = "Determinator"
    properties.comments = " ".join(filter(None, (tree.about.get("made"), tree.run_line)))[:255]
    properties.keywords = tree.about["profile"][:255]
    properties.language = language()
    for default in word.styles.element.xpath("./w:docDefaults//w:lang"):
        for kind in ("val", "eastAsia"):
            default.set(qn(f"w:{kind}"), language())
    try:
        time = datetime.fromisoformat(tree.about["at"]).replace(tzinfo=None)
    except ValueError:
        return
    properties.created = properties.modified = time


def _figure(word: "Document", figure: page.Figure) -> bool:
    """Add a figure as a picture with what it shows in words; False where it cannot be drawn here."""
    from docx.shared import Cm

    png = picture(figure.svg)
    if png is None:
        return False
    if figure.caption:
        word.add_paragraph(figure.caption, style="Caption")
    shape = word.add_picture(BytesIO(png), width=Cm(FIGURE_CM))
    descr = description(figure.svg)
    shape._inline.docPr.set("descr", descr)  # noqa: SLF001 - python-docx sets no alternative text
    return True


def _turn(word: "Document") -> None:
    """Go on on a new sheet that is turned by a quarter."""
    from docx.enum.section import WD_ORIENT

    sheet = word.sections[-1]
    width, height, upright = sheet.page_width, sheet.page_height, sheet.orientation == WD_ORIENT.PORTRAIT
    section = word.add_section()
    section.orientation = WD_ORIENT.LANDSCAPE if upright else WD_ORIENT.PORTRAIT
    section.page_width, section.page_height = height, width


def _table(word: "Document", block: page.Table) -> None:
    """Add a table as wide as the text; a wide one is on a sheet of its own that lies on its side."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Pt

    if block.wide:
        _turn(word)
    table = word.add_table(rows=0, cols=len(block.head), style="Light Grid Accent 1")
    head = [page.Cell((page.Run(name),)) for name in block.head]
    for row in (head, *block.rows):
        for cell, text, kind in zip(table.add_row().cells, row, block.columns, strict=True):
            paragraph = cell.paragraphs[0]
            _line(paragraph, tuple(map(_plain, text.parts)))
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT if kind == "number" else None
            for run in paragraph.runs:
                run.font.size = Pt(SMALL_POINTS if block.small else TABLE_POINTS)
            paragraph.paragraph_format.space_after = Pt(0)
    _fit(word, table, block.shares)
    word.add_paragraph(style="Caption" if block.caption else None).add_run(block.caption).bold = False
    if block.wide:
        _turn(word)


def _plain(part: page.Part) -> page.Part:
    """Return a grade as the only word of a field, without brackets."""
    return replace(part, style="plain") if isinstance(part, page.Run) and part.style == "grade" else part


def _fit(word: "Document", table: "WordTable", shares: Sequence[int]) -> None:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import Emu

    section = word.sections[-1]
    width = (section.page_width or 0) - (section.left_margin or 0) - (section.right_margin or 0)
    table.autofit = False
    look = table._tbl.tblPr.find(qn("w:tblLook"))  # noqa: SLF001 - python-docx sets no part of a style
    if look is not None:
        look.set(qn("w:firstColumn"), "0")  # in bold print is what its writer has so
        look.set(qn("w:val"), "0420")
    widths = [Emu(width * share // sum(shares) // TWIP * TWIP) for share in shares]
    for parts in (*(row.cells for row in table.rows), table.columns):
        for part, wide in zip(parts, widths, strict=True):
            part.width = wide
    properties = table.rows[0]._tr.get_or_add_trPr()  # noqa: SLF001 - python-docx cannot repeat a head row
    properties.append(OxmlElement("w:tblHeader"))


def _link(paragraph: "Paragraph", text: str, url: str) -> None:
    """Add a hyperlink; python-docx reads them and writes none, so that the elements are made here."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import RGBColor

    run = paragraph.add_run(text)
    run.font.underline = True
    run.font.color.rgb = RGBColor.from_string(LINK_COLOUR)
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run._r.addprevious(link)  # noqa: SLF001 - as above
    link.append(run._r)  # noqa: SLF001
