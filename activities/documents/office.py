"""Documents of office programs, tables, e-books and LaTeX source as quotable text.

Most are zip archives of XML. They are read in the processes of `activities.documents.readers`
only, whose limits on memory and time end an archive that unpacks without end. The libraries are imported when
a file needs them: most runs read none.
"""

import csv
import io
import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from urllib.parse import unquote

from lxml import etree

from activities.documents import tables
from activities.documents.encodings import decode, decoded_page
from activities.documents.html_page import blocks_of
from activities.documents.text import Text, Unreadable, behind_extra, from_pages

SNIFF_CHARS = 20_000
"""Part of a table that is examined to find its separator."""
MAX_ROWS = 200_000
"""Rows of one table that are read."""
OF_THE_LIBRARY = frozenset({"python-docx", "Steve Canny", "openpyxl"})
"""Names that the libraries' own templates give as the author."""
_TEX_MARKS = re.compile(r"(?:(?<!\s)\s+)?<(?:cit\.|ref)>")
"""What stands for citations and references of LaTeX source."""
_OPF = {"opf": "http://www.idpf.org/2007/opf", "dc": "http://purl.org/dc/elements/1.1/"}
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_XML = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


def read_docx(data: bytes) -> Text:
    """A Word document: paragraphs and tables in their order."""
    import docx
    from docx.table import Table

    document = docx.Document(io.BytesIO(data))
    blocks: list[str] = []
    titles: list[str] = []
    for item in document.iter_inner_content():
        if isinstance(item, Table):
            blocks.append(tables.side_by_side(list(_once(row.cells)) for row in item.rows))
        else:
            blocks.append(item.text.strip())
            style = item.style.name if item.style is not None else ""
            if style in ("Title", "Heading 1"):
                titles.append(blocks[-1])
    properties = document.core_properties
    return from_pages(
        ["\n\n".join(block for block in blocks if block)],
        title=_title(properties.title) or next(filter(None, titles), ""),
        authors=_people(properties.author),
        meta=_dated(properties.created if properties.author not in OF_THE_LIBRARY else None),
        paged=False,
    )


def read_pptx(data: bytes) -> Text:
    """A presentation: each slide a page, with its notes."""
    with behind_extra("a presentation", "office"):
        import pptx

    document = pptx.Presentation(io.BytesIO(data))
    slides: list[str] = []
    title = ""
    for slide in document.slides:
        words = [text for shape in slide.shapes for text in _shape(shape)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            words.append(slide.notes_slide.notes_text_frame.text.strip())
        slides.append("\n\n".join(filter(None, words)))
        heading = slide.shapes.title
        if not title and heading is not None:
            title = " ".join(heading.text_frame.text.split())
    properties = document.core_properties
    return from_pages(
        slides,
        title=_title(properties.title if properties.title != "PowerPoint Presentation" else "") or title,
        authors=_people(properties.author),
        meta=_dated(properties.created if properties.author not in OF_THE_LIBRARY else None),
    )


def read_xlsx(data: bytes) -> Text:
    """A workbook: each sheet under its name, its rows as lines, values as they were shown last."""
    with behind_extra("a workbook", "office"):
        import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    blocks: list[str] = []
    cut = ""
    for sheet in book.worksheets:
        rows: list[list[str]] = []
        for number, row in enumerate(sheet.iter_rows(values_only=True)):
            if number >= MAX_ROWS:
                cut = f"only the first {MAX_ROWS:,} rows of the sheet {sheet.title} were read"
                break
            rows.append([_shown(value) for value in row])
        if text := tables.side_by_side(rows):
            blocks += [sheet.title, text]
    properties = book.properties
    return from_pages(
        ["\n\n".join(blocks)],
        title=_title(properties.title),
        authors=_people(properties.creator),
        meta={},
        paged=False,
        cut=cut,
    )


def read_table(data: bytes) -> Text:
    """A CSV or TSV file, its lines as they stand. Raises Unreadable for one that is no table."""
    text = decode(data)
    for _ in table_rows(text):
        pass
    return from_pages([text], paged=False)


def table_rows(text: str) -> Iterator[list[str]]:
    """The rows of a CSV or TSV file; the separator is found in its beginning. Raises Unreadable."""
    sample = text[:SNIFF_CHARS]
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(sample, delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel_tab if sample.count("\t") > sample.count(",") else csv.excel
    csv.field_size_limit(10_000_000)
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text, newline=""), dialect)):
            if number >= MAX_ROWS:
                return
            yield row
    except csv.Error as error:
        raise Unreadable(f"it cannot be read as a table: {error}") from error


def read_epub(data: bytes) -> Text:
    """An e-book (https://www.w3.org/TR/epub-33): its chapters in reading order, each a block."""
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        names = set(book.namelist())
        container = _xml(book, "META-INF/container.xml", names)
        package_path = next((one.get("full-path") or "" for one in container.iter(_CONTAINER)), "")
        package = _xml(book, package_path, names)
        folder = posixpath.dirname(package_path)
        paths = {
            item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
            for item in package.iterfind("opf:manifest/opf:item", _OPF)
            if "html" in (item.get("media-type") or "")
        }
        order = [ref.get("idref") for ref in package.iterfind("opf:spine/opf:itemref", _OPF)]
        spine = (paths[name] for name in order if name in paths)
        chapters = [_chapter(book.read(path)) for path in spine if path in names]

    def said(name: str) -> list[str]:
        elements = package.iterfind(f"opf:metadata/dc:{name}", _OPF)
        return [" ".join((element.text or "").split()) for element in elements]

    meta = {
        "date": next(iter(said("date")), ""),
        "venue": next(iter(said("publisher")), ""),
        "doi": next((i for i in said("identifier") if "10." in i and "/" in i), ""),
    }
    return from_pages(
        ["\n\n".join(filter(None, chapters))],
        title=next(filter(None, said("title")), ""),
        authors=tuple(filter(None, said("creator"))),
        meta={key: value for key, value in meta.items() if value},
        paged=False,
    )


def read_tex(data: bytes) -> Text:
    """The body of a LaTeX document, or the whole of a part of one; formulas as far as text can show them."""
    with behind_extra("LaTeX source", "office"):
        from pylatexenc.latex2text import LatexNodes2Text
        from pylatexenc.latexwalker import LatexEnvironmentNode, LatexMacroNode, LatexWalker

    nodes, _, _ = LatexWalker(decode(data)).get_latex_nodes()
    words = LatexNodes2Text(keep_comments=False)
    environments = (n for n in nodes if isinstance(n, LatexEnvironmentNode))
    body = next((n.nodelist for n in environments if n.environmentname == "document"), nodes)
    fields: dict[str, str] = {}
    authors: list[str] = []
    for node in (*nodes, *body):
        if isinstance(node, LatexMacroNode) and node.macroname in ("title", "author", "date"):
            arguments = [a for a in (node.nodeargd.argnlist if node.nodeargd else ()) if a is not None]
            if arguments and node.macroname == "author":
                whole = arguments[-1].latex_verbatim().removeprefix("{").removesuffix("}")
                authors += [words.latex_to_text(name) for name in re.split(r"\\and\b|,|;", whole)]
            elif arguments:
                fields.setdefault(node.macroname, " ".join(words.nodelist_to_text(arguments[-1:]).split()))
    heads = ("title", "author", "maketitle")
    plain = [n for n in body if not (isinstance(n, LatexMacroNode) and n.macroname in heads)]
    text = _TEX_MARKS.sub("", words.nodelist_to_text(plain))
    return from_pages(
        [re.sub(r"[ \t]+", " ", text)],
        title=fields.get("title", ""),
        authors=tuple(folded for name in authors if (folded := " ".join(name.split()))),
        meta={"date": fields["date"]} if fields.get("date") else {},
        paged=False,
    )


def _chapter(data: bytes) -> str:
    """The words of a chapter, a blank line between its blocks. Empty for a chapter without any."""
    try:
        return "\n\n".join(blocks_of(decoded_page(data).text, ("script", "style", "head", "nav")))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return ""


def _xml(book: zipfile.ZipFile, path: str, names: "set[str]") -> etree._Element:
    if path not in names:
        raise Unreadable(f"it is no e-book: {path or 'the package file'} is missing in it")
    return etree.fromstring(book.read(path), _XML)


def _shape(shape: object) -> Iterator[str]:
    """The texts of a shape of a slide, of a group with those of its members."""
    if getattr(shape, "has_table", False):
        rows = ([cell.text for cell in row.cells] for row in shape.table.rows)  # type: ignore[attr-defined]
        yield tables.side_by_side(rows)
    elif getattr(shape, "has_text_frame", False):
        yield shape.text_frame.text.strip()  # type: ignore[attr-defined]
    for member in getattr(shape, "shapes", ()):
        yield from _shape(member)


def _once(cells: Iterable[object]) -> Iterator[str]:
    """The texts of the cells of a row; a merged cell is listed once for each column it covers."""
    before: object = None
    for cell in cells:
        inner = getattr(cell, "_tc", cell)
        if inner is not before:
            yield str(getattr(cell, "text", ""))
        before = inner


def _shown(value: object) -> str:
    """A cell of a workbook: a day without the time of midnight."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return "" if value is None else str(value)


def _title(text: "str | None") -> str:
    title = " ".join((text or "").split())
    return "" if re.fullmatch(r"(?i)(word document|document\d*|untitled|microsoft .*)", title) else title


def _people(text: "str | None") -> tuple[str, ...]:
    names = (name.strip() for name in re.split(r"[;,]", text or ""))
    return tuple(name for name in names if name and name not in OF_THE_LIBRARY)


def _dated(when: object) -> dict[str, str]:
    return {"date": str(when)[:10]} if when else {}
