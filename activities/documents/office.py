"""Documents of office programs, tables and e-books as quotable text.

Most are zip archives of XML. They are read in the processes of `activities.documents.readers`
only, whose limits on memory and time end an archive that unpacks without end. The libraries are imported when
a file needs them: most runs read none.
"""

import csv
import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, takewhile
from typing import NamedTuple
from urllib.parse import unquote

from lxml import etree

from activities.documents import tables
from activities.documents.blocks import MAX_ROWS, script
from activities.documents.encodings import decode, decode_page
from activities.documents.html_page import html_text, html_tree, visible_blocks
from activities.documents.text import Text, Unreadable, behind_extra, from_pages, new_text
from activities.messages import count_of

SNIFF_CHARS = 20_000
"""Part of a table that is examined to find its separator."""
OF_THE_LIBRARY = frozenset({"python-docx", "Steve Canny", "openpyxl"})
"""Names that the libraries' own templates give as the author."""
_OPF = {"opf": "http://www.idpf.org/2007/opf", "dc": "http://purl.org/dc/elements/1.1/"}
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_WORD_AROUND = (f"{_WORD}fldSimple", f"{_WORD}dir", f"{_WORD}bdo", f"{_MATH}oMathPara")
_WORD_TEXTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_WORD_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='heading 1'] => h1:fresh"
"""Styles of which a paragraph may be the title; matching all those that mammoth knows takes long."""
_WORD_TITLES = re.compile(
    rb'(<w:style [^>]{1,300}>)\s{0,9}(<w:name w:val="(?:title|heading 1)"\s?/>)', re.IGNORECASE
)
_NO_TITLE = re.compile(r"(?i)word document|powerpoint presentation|microsoft .*")
XML = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


def read_docx(data: bytes) -> Text:
    """Read a Word document as Word shows its final text, with notes, formulas and tables in tables."""
    import mammoth

    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as document, zipfile.ZipFile(output, "w") as copy:
        for name in document.namelist():
            if name in _WORD_TEXTS:
                copy.writestr(name, _visible_part(document.read(name)))
            elif name == "word/styles.xml":
                copy.writestr(name, _title_styles(document.read(name)))
            elif name.endswith(".rels") or "/" not in name:  # lists are read as paragraphs: mammoth does
                copy.writestr(name, document.read(name))  # not know where their numbers go on
        properties = _properties(document)
    markup = mammoth.convert_to_html(
        output, style_map=_WORD_STYLES, include_default_style_map=False, convert_image=lambda _: []
    ).value
    page = html_tree(f"<html><body>{markup}</body></html>")
    headings = (heading.text_content().strip() for heading in page.iter("h1"))
    title = properties.title or next(filter(None, headings), "")
    return new_text("\n\n".join(visible_blocks(page)), title, properties.authors, properties.meta)


def read_pptx(data: bytes) -> Text:
    """Read a presentation: each slide a page, with its notes."""
    with behind_extra("a presentation", "office"):
        import pptx

    document = pptx.Presentation(io.BytesIO(data))
    slides: list[str] = []
    title = ""
    for slide in document.slides:
        for run in slide.element.iter(f"{_DRAWING}r"):
            baseline = int(getattr(run.find(f"{_DRAWING}rPr"), "attrib", {}).get("baseline", 0))
            if baseline:
                run.text = script(run.text, "sup" if baseline > 0 else "sub")
        texts = [text for shape in slide.shapes for text in _shape(shape)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            texts.append(slide.notes_slide.notes_text_frame.text.strip())
        slides.append("\n\n".join(filter(None, texts)))
        heading = slide.shapes.title
        if not title and heading is not None:
            title = heading.text_frame.text.strip()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        properties = _properties(archive)
    return from_pages(slides, properties.title or title, properties.authors, properties.meta)


def read_xlsx(data: bytes) -> Text:
    """Read a workbook: each sheet under its name, its rows as lines, values as its program shows them."""
    with behind_extra("a workbook", "office"):
        from python_calamine import CalamineWorkbook, SheetVisibleEnum

    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(output, "w") as copy:
        for name in archive.namelist():
            part = archive.read(name)
            copy.writestr(name, _with_scripts(part) if b"vertAlign" in part else part)
        properties = _properties(archive)
    output.seek(0)
    book = CalamineWorkbook.from_filelike(output)
    blocks: list[str] = []
    notes: list[str] = []
    for sheet in book.sheets_metadata:
        if sheet.visible != SheetVisibleEnum.Visible:
            notes.append(f"the sheet {sheet.name} is hidden and was left out")
            continue
        grid, count, _, has_dropped = book.get_sheet_grid_streaming(sheet.name)
        grid.apply_formatting_rust()
        layout = book.get_sheet_layout(sheet.name)
        hidden_rows = {row for row, _, is_hidden in layout["row_heights"] if is_hidden}
        hidden_columns = {column for column, _, is_hidden in layout["column_widths"] if is_hidden}
        values = grid["value"][:MAX_ROWS].tolist()
        for top, left, bottom, right in book.get_sheet_merged_ranges(sheet.name):
            for row in values[top + 1 : bottom + 1] if left == right else ():
                row[left] = values[top][left]
        rows = [
            [_cell_text(value) for column, value in enumerate(row) if column not in hidden_columns]
            for number, row in enumerate(values)
            if number not in hidden_rows
        ]
        if has_dropped or count > MAX_ROWS:
            notes.append(f"only the first {len(rows):,} rows of the sheet {sheet.name} were read")
        formulas = grid.uncached_formula_count or 0
        for number, unit in ((len(hidden_rows), "hidden row"), (len(hidden_columns), "hidden column")):
            notes += [f"{count_of(number, unit)} of the sheet {sheet.name} left out"] if number else []
        if formulas:
            notes.append(f"no value is stored of {count_of(formulas, 'formula')} of the sheet {sheet.name}")
        if text := "\n\n".join(_tables(rows)):
            blocks += [sheet.name, text]
    return new_text("\n\n".join(blocks), properties.title, properties.authors, cut="; ".join(notes))


def _tables(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the tables of a sheet, parted by empty rows; each has its own headings or those above it."""
    headings: tuple[str, ...] = ()
    for is_filled, group in groupby(rows, key=any):
        if is_filled:
            table = tables.from_rows(group)
            if not table.headings and all(len(list(filter(None, row))) > 1 for row in table.rows):
                table = tables.Table(table.rows, headings)
            headings = table.headings or headings
            yield "\n".join(table.lines())


def read_table(data: bytes) -> Text:
    """Read a CSV or TSV file, each row a line. Raises Unreadable for one that is no table."""
    text = decode(data)
    remarks = list(takewhile(lambda line: line.startswith("# "), text.splitlines()))
    rows = table_rows("\n".join(text.splitlines()[len(remarks) :])) if remarks else table_rows(text)
    lines = [line.lstrip("# ") for line in remarks]
    return new_text("\n".join([*lines, *tables.from_rows(rows).lines()]))


def table_rows(text: str) -> Iterator[list[str]]:
    """Yield the rows of a CSV or TSV file (RFC 4180) by its likeliest separator. Raises Unreadable."""
    csv.field_size_limit(10_000_000)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text[:SNIFF_CHARS]))
    try:
        for number, row in enumerate(rows):
            if number >= MAX_ROWS:
                return
            yield row
    except csv.Error as error:
        raise Unreadable(f"it cannot be read as a table: {error}") from error


def _separator(sample: str) -> str:
    def likeness(separator: str) -> tuple[float, int]:
        try:
            rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=separator) if row]
        except csv.Error:
            return 0.0, 0
        widths = Counter(len(row) for row in rows[: max(1, len(rows) - 1)])  # the last row may be cut
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        return (count / widths.total(), width) if width > 1 else (0.0, 0)

    return max(",;\t|", key=likeness)


def read_epub(data: bytes) -> Text:
    """Return an e-book (https://www.w3.org/TR/epub-33): its chapters in reading order, each a block."""
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        names = set(book.namelist())
        container = _xml(book, "META-INF/container.xml", names)
        package_path = next((file.get("full-path") or "" for file in container.iter(_CONTAINER)), "")
        package = _xml(book, package_path, names)
        folder = posixpath.dirname(package_path)
        paths = {
            item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
            for item in package.iterfind("opf:manifest/opf:item", _OPF)
            if "html" in (item.get("media-type") or "")
        }
        order = [ref.get("idref") for ref in package.iterfind("opf:spine/opf:itemref", _OPF)]
        spine = (paths[name] for name in order if name in paths)
        chapters = [html_text(decode_page(book.read(path)).text) for path in spine if path in names]

    def texts_of(name: str) -> list[str]:
        elements = package.iterfind(f"opf:metadata/dc:{name}", _OPF)
        return [" ".join((element.text or "").split()) for element in elements]

    return new_text(
        "\n\n".join(filter(None, chapters)),
        title=next(filter(None, texts_of("title")), ""),
        authors=texts_of("creator"),
        meta={
            "date": next(iter(texts_of("date")), ""),
            "venue": next(iter(texts_of("publisher")), ""),
            "doi": next((i for i in texts_of("identifier") if "10." in i and "/" in i), ""),
        },
    )


def _xml(book: zipfile.ZipFile, path: str, names: "set[str]") -> etree._Element:
    if path not in names:
        raise Unreadable(f"it is no e-book: {path or 'the package file'} is missing in it")
    return etree.fromstring(book.read(path), XML)


def _shape(shape: object) -> Iterator[str]:
    """Yield the texts of a shape of a slide, of a group with those of its members."""
    if getattr(shape, "has_table", False):
        rows = [[cell.text for cell in row.cells] for row in shape.table.rows]  # type: ignore[attr-defined]
        yield "\n".join(tables.from_rows(rows).lines())
    elif getattr(shape, "has_text_frame", False):
        yield shape.text_frame.text.replace("\v", "\n").strip()  # type: ignore[attr-defined]
    for member in getattr(shape, "shapes", ()):
        yield from _shape(member)


def _title_styles(part: bytes) -> bytes:
    """Return the styles of the titles of a Word document: reading the looks of all takes long."""
    styles = b"".join(b"%s%s</w:style>" % match for match in _WORD_TITLES.findall(part))
    return b'<w:styles xmlns:w="%s">%s</w:styles>' % (_WORD.strip("{}").encode(), styles)


def _visible_part(part: bytes) -> bytes:
    """Return a part of a Word document in elements that mammoth reads, without what is hidden."""
    root = etree.fromstring(part, XML)
    for formula in list(root.iter(f"{_MATH}oMath")):
        run = etree.Element(f"{_WORD}r")
        text = etree.SubElement(run, f"{_WORD}t")
        text.text = _formula(formula)
        run.tail = formula.tail
        if (parent := formula.getparent()) is not None:
            parent.replace(formula, run)
    for wrapper in root.iter(*_WORD_AROUND):
        wrapper.tag = f"{_WORD}smartTag"
    for line_break in root.iter(f"{_WORD}cr"):
        line_break.tag = f"{_WORD}br"
    for mark in list(root.iter(f"{_WORD}vanish")):
        for run in islice(mark.iterancestors(f"{_WORD}r"), 1):
            if mark.get(f"{_WORD}val") not in ("0", "false"):
                run.tag = f"{_WORD}del"
    return etree.tostring(root)


def _formula(element: etree._Element) -> str:
    """Return a formula of Word on one line."""
    name = etree.QName(element).localname
    if name == "t":
        return element.text or ""
    parts = {etree.QName(child).localname: _formula(child) for child in element}
    base = parts.get("e", "")
    match name:
        case "sSup" | "sSub" | "sSubSup":
            return base + script(parts.get("sub", ""), "sub") + script(parts.get("sup", ""), "sup")
        case "f":
            sides = (parts.get("num", ""), parts.get("den", ""))
            return "/".join(side if side.isalnum() else f"({side})" for side in sides)
        case "rad":
            return f"\u221a({base})"
        case "d":
            return f"({''.join(map(_formula, element.iterfind(f'{_MATH}e')))})"
        case "nary":
            return f"\u2211({parts.get('sub', '')}..{parts.get('sup', '')}) {base}"
    return "".join(map(_formula, element))


def _with_scripts(part: bytes) -> bytes:
    """Return a part of a workbook with raised and lowered characters of its texts as such."""
    root = etree.fromstring(part, XML)
    for mark in root.iter("{*}vertAlign"):
        run = next(mark.iterancestors("{*}r"), None)
        text = run.find("{*}t") if run is not None else None
        kind = {"superscript": "sup", "subscript": "sub"}.get(mark.get("val", ""))
        if text is not None and kind:
            text.text = script(text.text or "", kind)
    return etree.tostring(root)


def _cell_text(value: str | None) -> str:
    """Return a cell of a workbook: a day without the time of midnight, whatever the format says."""
    return re.sub(r"(?<=\d{4}-\d\d-\d\d) 0?0:00:00$", "", value or "")


class _Properties(NamedTuple):
    """The properties of a document of an office program."""

    title: str
    authors: tuple[str, ...]
    meta: dict[str, str]


def _properties(archive: zipfile.ZipFile) -> _Properties:
    if "docProps/core.xml" not in archive.namelist():
        return _Properties("", (), {})
    root = etree.fromstring(archive.read("docProps/core.xml"), XML)

    def field(name: str) -> str:
        return " ".join((root.findtext(f"{{*}}{name}") or "").split())

    title, creator = field("title"), field("creator")
    if _NO_TITLE.fullmatch(title):
        title = ""
    authors = tuple(name for name in re.split(r"[;,] ?", creator) if name not in OF_THE_LIBRARY)
    date = field("created")[:10] if creator not in OF_THE_LIBRARY else ""
    return _Properties(title, authors, {"date": date})
