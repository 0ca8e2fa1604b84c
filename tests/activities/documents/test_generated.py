"""What goes into a document as text comes out of its reader: words in their order, signs and numbers."""

import csv
import io
import re
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from html import escape
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from activities.documents.html_page import read_own_html
from activities.documents.office import read_docx, read_epub, read_pptx, read_table, read_xlsx
from activities.documents.open_document import read_odt, read_rtf
from activities.documents.plain import read_mail
from activities.documents.text import Text
from activities.sources.library.reading import SetAside, read_file
from tests.activities.sources.library.test_own_documents import CONTAINER, OPF

WORDS = (
    "not fell by 8 % 12.5 -3 <LLN >ULN p<0.05 5\u20139 \u00b12 \u00b5g/ml Z\u00fcrich 10,000 (n=30) A&B IL-6"
)
WORD = st.sampled_from([*WORDS.split(), "\u5341\u4e8c", "\u201cno\u201d", "\u20ac5"])
LINE = st.lists(WORD, min_size=3, max_size=9).map(" ".join)
LINES = st.lists(LINE, min_size=1, max_size=5)
CELLS = st.lists(st.tuples(LINE, LINE, LINE), min_size=2, max_size=4)
generated = settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)


def in_word(lines: list[str]) -> Text:
    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    return read_docx(saved(document.save))


def in_slides(lines: list[str]) -> Text:
    document = pptx.Presentation()
    for line in lines:
        slide = document.slides.add_slide(document.slide_layouts[5])
        slide.shapes.title.text = line
    return read_pptx(saved(document.save))


def in_html(lines: list[str]) -> Text:
    tags = ("p", "li", "h2", "blockquote", "dd")
    blocks = (f"<{tags[n % 5]}>{escape(line)}</{tags[n % 5]}>" for n, line in enumerate(lines))
    return read_own_html(f"<html><body>{''.join(blocks)}</body></html>")


def in_mail(lines: list[str]) -> Text:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ann <ann@a.example>", "Doses"
    message.set_content("".join(f"<p>{escape(line)}</p>" for line in lines), subtype="html")
    return read_mail(message.as_bytes())


def in_book(lines: list[str]) -> Text:
    page = "".join(f"<p>{escape(line)}</p>" for line in lines)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as book:
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("text/book.opf", OPF)
        book.writestr("text/b c.xhtml", f"<html><body>{page}</body></html>")
    return read_epub(data.getvalue())


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    data = io.BytesIO()
    save(data)
    return data.getvalue()


def writer(body: str, styles: str = "", formula: str = "") -> Text:
    """Read an OpenDocument text with this body and one formula."""
    names = ("office", "text", "table", "style", "fo", "draw")
    declared = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    declared += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    source = (
        f"<office:document-content {declared}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("content.xml", source)
        archive.writestr("Object 1/content.xml", formula)
    return read_odt(made.getvalue())


def test_a_formula_of_writer_stands_in_its_sentence() -> None:
    matrix = "".join(f"<mtr><mtd><mi>{a}</mi></mtd><mtd><mn>{b}</mn></mtd></mtr>" for a, b in ("x1", "y2"))
    formula = f"""<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><msub><mi>k</mi><mn>3</mn>
      </msub><mo>=</mo><mtable>{matrix}</mtable></mrow><annotation>k_3 = x</annotation></semantics></math>"""
    frame = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    body = f"<text:p>The depth is {frame} at night.</text:p>"
    assert " ".join(writer(body, formula=formula).text.split()) == "The depth is k₃= x 1 y 2 at night."


def in_writer(lines: list[str]) -> Text:
    return writer("".join(f"<text:p>{escape(line)}</text:p>" for line in lines))


def rich_text(source: str) -> Text:
    plain = "".join(f"\\u{ord(letter)}?" if letter > "~" else letter for letter in source)
    return read_rtf(f"{{\\rtf1\\ansi\\deff0{{\\fonttbl{{\\f0 Arial;}}}}\\f0 {plain}\\par}}".encode())


def in_rich_text(lines: list[str]) -> Text:
    return rich_text("\\par\n".join(lines))


@pytest.mark.parametrize("write", [in_word, in_slides, in_html, in_mail, in_book, in_writer, in_rich_text])
@generated
@given(lines=LINES)
def test_lines_come_out_as_they_went_in(write: Callable[[list[str]], Text], lines: list[str]) -> None:
    words = write(lines).text.split()
    assert words[len(words) - len(" ".join(lines).split()) :] == " ".join(lines).split()


def table_in_word(rows: list[tuple[str, str, str]]) -> Text:
    document = docx.Document()
    table = document.add_table(len(rows), 3)
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    return read_docx(saved(document.save))


def table_in_workbook(rows: list[tuple[str, str, str]]) -> Text:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    return read_xlsx(saved(book.save))


def table_in_html(rows: list[tuple[str, str, str]]) -> Text:
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return read_own_html(f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>")


def table_in_writer(rows: list[tuple[str, str, str]]) -> Text:
    def cell(words: str) -> str:
        return f"<table:table-cell><text:p>{escape(words)}</text:p></table:table-cell>"

    lines = (f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    return writer(f"<table:table>{''.join(lines)}</table:table>")


def table_in_rich_text(rows: list[tuple[str, str, str]]) -> Text:
    return rich_text("".join("\\trowd " + "".join(c + "\\cell " for c in row) + "\\row\n" for row in rows))


def table_in_csv(rows: list[tuple[str, str, str]]) -> Text:
    data = io.StringIO()
    csv.writer(data).writerows(rows)
    return read_table(data.getvalue().encode())


TABLES = [
    *(table_in_word, table_in_workbook, table_in_html, table_in_csv),
    *(table_in_writer, table_in_rich_text),
]


@pytest.mark.parametrize("write", TABLES)
@generated
@given(rows=CELLS)
def test_a_row_comes_out_with_its_headings(
    write: Callable[[list[tuple[str, str, str]]], Text], rows: list[tuple[str, str, str]]
) -> None:
    head = ("Arm", "Dose", "What became of it")
    lines = write([head, *rows]).text.splitlines()[-len(rows) :]
    assert lines == [
        "; ".join(f"{name}: {cell}" for name, cell in zip(head, row, strict=True)) for row in rows
    ]


def test_word_shows_the_final_text() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Farvexil did ")
    around(paragraph, "w:ins", "not ")
    paragraph.add_run("lower pain in ")
    around(paragraph, "w:smartTag", "cooks")
    around(paragraph, "w:del", "lost", text="w:delText")
    paragraph.add_run(", from 10")
    paragraph.add_run("6").font.superscript = True
    paragraph.add_run(" to ")
    around(paragraph, "w:fldSimple", "5")
    paragraph.add_run("unseen").font.hidden = True
    math = OxmlElement("m:oMath")
    power = OxmlElement("m:sSup")
    for name, text in (("m:e", " + x"), ("m:sup", "2")):
        part, run, letters = OxmlElement(name), OxmlElement("m:r"), OxmlElement("m:t")
        letters.text = text
        run.append(letters)
        part.append(run)
        power.append(part)
    math.append(power)
    paragraph._p.append(math)
    outer = document.add_table(1, 1)
    inner = outer.cell(0, 0).add_table(3, 2)
    for row, cells in zip(inner.rows, (("Boat", "m"), ("Alma", "9"), ("Eva", "12")), strict=True):
        row.cells[0].text, row.cells[1].text = cells
    text = read_docx(saved(document.save)).text
    assert text.startswith("Farvexil did not lower pain in cooks, from 10\u2076 to 5 + x\u00b2")
    assert "Boat: Alma; m: 9\nBoat: Eva; m: 12" in text
    assert "unseen" not in text


def test_the_title_of_a_word_document_is_told_by_the_name_of_its_style() -> None:
    """The key of a style is in the language of the program that made it."""
    document = docx.Document()
    document.styles["Title"].element.set(qn("w:styleId"), "Titel")
    document.add_heading("Ein Versuch mit Farvexil", 0)
    document.add_paragraph("Der Schmerz sank.")
    assert read_docx(saved(document.save)).title == "Ein Versuch mit Farvexil"


def around(paragraph: Paragraph, name: str, words: str, text: str = "w:t") -> None:
    """Add a run within an element that Word knows and python-docx does not make."""
    element, run, letters = OxmlElement(name), OxmlElement("w:r"), OxmlElement(text)
    letters.text = words
    letters.set(qn("xml:space"), "preserve")
    run.append(letters)
    element.append(run)
    paragraph._p.append(element)


@pytest.mark.parametrize(
    ("value", "shown_as", "text"),
    [
        (0.125, "0.0%", "12.5%"),
        (1234.5, '"EUR "#,##0.00', "EUR 1,234.50"),
        (-5, "0.00;(0.00)", "(5.00)"),
        (1.25, "[hh]:mm", "30:00"),
        (0.1 + 0.2, "General", "0.3"),
        (45000.5, "d mmm yyyy", "15 Mar 2023"),
        ("007", "@", "007"),
    ],
)
def test_a_value_of_a_workbook_is_read_as_it_is_shown(value: float | str, shown_as: str, text: str) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Boat", "value", "note"])
    sheet.append(["Alma", value, "x"])
    sheet["B2"].number_format = shown_as
    sheet.append(["unseen", 1, "y"])
    sheet.row_dimensions[3].hidden = True
    sheet["D9"] = "=1+1"
    read = read_xlsx(saved(book.save))
    assert read.text == f"Sheet\n\nBoat: Alma; value: {text}; note: x"
    assert "1 hidden row" in read.cut
    assert "1 formula" in read.cut


def test_raised_digits_of_slides_and_workbooks_are_kept_apart() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    paragraph = slide.shapes.title.text_frame.paragraphs[0]
    paragraph.add_run().text = "from 10"
    power = paragraph.add_run()
    power.text = "6"
    power._r.get_or_add_rPr().set("baseline", "30000")
    assert read_pptx(saved(deck.save)).text == "from 10\u2076"
    data = io.BytesIO()
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["10POWER per ml"])
    book.save(data)
    raised = b"""<r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r>
    <r><t xml:space="preserve"> per ml</t></r>"""
    changed = io.BytesIO()
    with zipfile.ZipFile(data) as before, zipfile.ZipFile(changed, "w") as after:
        for name in before.namelist():
            part = before.read(name)
            after.writestr(name, re.sub(rb"<t>10POWER per ml</t>", raised, part))
    assert read_xlsx(changed.getvalue()).text == "Sheet\n\n10\u2076 per ml"


def test_writer_shows_the_final_text() -> None:
    raised = (
        '<style:style style:name="T1"><style:text-properties style:text-position="33% 80%"/></style:style>'
    )
    text = writer(
        "<text:tracked-changes><text:p>It was not dredged.</text:p></text:tracked-changes>"
        "<text:p>The depth<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>By echo.</text:p></text:note-body></text:note>"
        ' is 10<text:span text:style-name="T1">3</text:span> m,'
        '<text:s text:c="2"/>not <text:span>less</text:span>.</text:p><text:p>It lasts.</text:p>',
        raised,
    ).text
    assert text == "The depth is 10\u00b3 m, not less.\n\nIt lasts.\n\nBy echo."


def test_the_title_of_writer_is_a_paragraph_of_that_style() -> None:
    style = '<style:style style:name="P1" style:parent-style-name="Title"/>'
    text = writer('<text:p text:style-name="P1">The harbour</text:p><text:p>It is deep.</text:p>', style)
    assert text.title == "The harbour"


def test_rich_text_is_read_without_what_is_deleted_or_hidden() -> None:
    source = (
        rb"{\rtf1\ansi\ansicpg1252{\info{\title The d\'f6ck}{\author Ann Lee}}"
        rb"The b\'f6at is {\super 3} m{\deleted  not}{\v  never} long{\footnote{\super 1} By {\b echo}.}"
        rb" and wide.\par}"
    )
    read = read_rtf(source)
    assert read.text == "The b\u00f6at is \u00b3 m long and wide.\n\n\u00b9 By echo."
    assert (read.title, read.authors) == ("The d\u00f6ck", ("Ann Lee",))
    raised = (
        rb"{\rtf1\ansi {\rtlch \ltrch\up8\fs14 3}10{\rtlch \ltrch\up8\fs14 6} cells, CO{\dn6 2}, "
        rb"\up6 2\up0 1{\v0  left}{\rtlch\v  never {\b said\u8217?}}}"
    )
    assert read_rtf(raised).text == "\u00b310\u2076 cells, CO\u2082, \u00b21 left"


def test_a_kind_that_is_not_read_says_as_what_to_save_it(tmp_path: Path) -> None:
    for name in ("old.doc", "mail.msg", "sheet.numbers"):
        (tmp_path / name).write_bytes(b"\xd0\xcf")
        (aside,) = read_file(b"", str(tmp_path / name), name)
        assert isinstance(aside, SetAside)
        assert "save it as ." in aside.reason


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        *((f"empty{kind}", b"", "it is empty") for kind in (".txt", ".pdf", ".docx", ".jsonl", ".png")),
        ("paper.txt", b"%PDF-1.7", "it is a PDF under another ending; name it .pdf"),
        ("page.pdf", b"<p>Hi</p>", "it is no .pdf file; open it in its program and save it as .pdf"),
        ("page.docx", b"PK\x03\x04<p>Hi</p>", "it is damaged or was cut off; get or save it again"),
        ("page.pdf", b"%PDF-1.7 and no more", "it is damaged or was cut off; get or save it again"),
        (
            "locked.xlsx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "it is locked with a password or of an old kind; save it as .xlsx without a password",
        ),
        ("page.docx", b"<p>Hi</p>", "it is no .docx file; open it in its program and save it as .docx"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_set_aside_with_a_way_out(
    tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(data)
    (aside,) = read_file(b"", str(tmp_path / name), name)
    assert isinstance(aside, SetAside)
    assert aside.reason == reason


def test_a_remark_above_a_table_is_a_line_of_its_own_and_no_heading() -> None:
    """`#` right before a name is a heading, as tables of genomes have it."""
    rows = (
        "# Account 1, selected rows; exported 2025-06-30\ndate,party,amount\n2024-04-29,Nordvik,-30460.68\n"
    )
    text = read_table(rows.encode()).text
    assert text.splitlines() == [
        "Account 1, selected rows; exported 2025-06-30",
        "date: 2024-04-29; party: Nordvik; amount: -30460.68",
    ]
    assert "#chrom: 1" in read_table(b"#chrom,pos\n1,20\n2,30\n").text
