"""The text that may be quoted, from the bytes of a file or a page: HTML, PDF, Markdown and plain text.

What comes out is what a reader sees, in reading order; nothing is summarised or rewritten. Each reader raises
`Unreadable` with the reason when there is nothing to quote.
"""

import codecs
import io
import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from lxml import etree, html
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from activities.documents import pdf_tables, tables
from activities.extras import install

if TYPE_CHECKING:
    from markdown_it.token import Token

MAX_PAGES = 2_000
MAX_CHARS = 4_000_000
"""Characters of one document that are kept: about ten thick books."""
PDF_SECONDS = 12.0
"""Seconds after which no further page of a PDF is read; the pages read are kept."""
TITLE_CHARS = 300
TITLE_LETTERS, WORD_LETTERS = 10, 4
"""Letters that a printed title, and that any text in large letters, has at least; a page number has fewer."""
EDGE_LINES, SHARE_OF_PAGES = 2, 1 / 3
"""Lines at the top and the foot of a page that may be a running one, and on how many of the pages it stands:
left and right pages may have different ones."""
LARGER = 1.15
"""How much larger than the rest of its page a title is printed at least."""


class Unreadable(Exception):
    """A document that cannot be read, and why."""


class Lacking(Unreadable):
    """A document that could be read with a library or a model that is not installed; how to install it."""


@contextmanager
def behind_extra(what: str, extra: str) -> Iterator[None]:
    """Around the import of a library that an extra brings. Raises Lacking where it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise Lacking(f"it is {what}; to read it: {install(extra)}") from error


class NoText(Unreadable):
    """A PDF without text: a scan, which may be recognised (`activities.documents.ocr`)."""


@dataclass(frozen=True, slots=True)
class Text:
    """What was read. `meta` holds the document's own metadata, lower-case keys: `doi`, `pmid`, `date`, `url`,
    `venue`."""

    text: str
    title: str = ""
    authors: tuple[str, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)
    cut: str = ""
    """What was left out, where a limit was reached: `the first 12 of 2,000 pages`."""
    pages: tuple[int, ...] = ()
    """Where in `text` each page begins, the first one first; empty where there are no pages."""
    times: tuple[float, ...] = ()
    """Seconds at which each part of `pages` of a recording begins; empty for every other document."""


_Lines = str | list[str]


class _Output(BaseModel):
    text: _Lines = ""
    data: dict[str, JsonValue] = {}


class _Cell(BaseModel):
    source: _Lines = ""
    outputs: list[_Output] = []


class _Notebook(BaseModel):
    cells: list[_Cell]


def _shown(cell: _Cell) -> str:
    """A cell and the plain text of what it printed."""
    plain = TypeAdapter(_Lines)
    parts = [cell.source]
    for output in cell.outputs:
        parts += [output.text, plain.validate_python(output.data.get("text/plain", ""))]
    return "\n\n".join(filter(None, ("".join(part).strip() for part in parts)))


PLAIN_TYPES = ("text/plain", "text/markdown")
PDF_TYPES = ("application/pdf", "application/x-pdf")


def read_page(body: bytes, kind: str, url: str) -> Text:
    """A page by its media type. Raises Unreadable."""
    if kind in PDF_TYPES or body.startswith(b"%PDF-"):
        return read_pdf(body)
    return read_plain(body) if kind in PLAIN_TYPES else read_html(body, url)


def decode(data: bytes) -> str:
    """Bytes of a text as a string: by its byte order mark, else UTF-8, else Windows-1252.

    Raises Unreadable for binary data.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    if b"\0" in data[:65_536]:
        raise Unreadable("it is binary, not text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


NOTE_CHARS = 600
"""Text below the first line up to which a file is a note: its first line may be its first sentence."""
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|shall|should|must|may|might|do|does|did)\b"
)
_ROWS = re.compile(r"(?<= \| )(?<!\n)([^\n|]*)\n\n(?=[^\n]* \| )")
"""Between two rows of a table (`documents.tables.side_by_side`)."""
_MAIL_HEADERS = ("From", "To", "Cc", "Date", "Subject")
MAX_HEADERS = 4_000
"""Characters of a text that may be headers of a message."""
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "section", "table", "td", "th"),
        *("tr", "ul"),
    }
)
"""Elements of HTML that stand on lines of their own."""
_DRAWN_LINE = re.compile(r"^[ \t]*([=\-~*_#])\1{2,}[ \t]*$", re.MULTILINE)


def read_plain(data: bytes) -> Text:
    """A text file. Its first line is the title when it stands alone, or is underlined, is short enough and is
    no sentence of a note. Lines that are drawn become empty ones: what they part is no sentence together."""
    text, cut = _tidy(_DRAWN_LINE.sub("", decode(data)))
    first, _, rest = text.partition("\n")
    stands_alone = bool(rest) and (rest.startswith("\n") or not rest.strip())
    title = first.strip() if stands_alone and len(first.strip()) <= TITLE_CHARS else ""
    if title.endswith((".", "!")) and (len(rest) < NOTE_CHARS or _AUXILIARY.search(title)):
        title = ""  # it says something; titles of articles may end with a stop too
    sent = _letter(text)
    return Text(_something(text), sent.title or title, sent.authors, sent.meta, cut)


def read_mail(data: bytes) -> Text:
    """A message as mail programs save it (RFC 5322): its headers for people, and its plain text, else its
    page."""
    from email import policy
    from email.message import EmailMessage
    from email.parser import BytesParser

    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    body = message.get_body(("plain", "html"))
    content = str(body.get_content()) if body is not None else ""
    if body is not None and body.get_content_subtype() == "html":
        content = _all_text(content)
    headers = [f"{name}: {message[name]}" for name in _MAIL_HEADERS if message[name]]
    text, cut = _tidy("\n".join(headers) + f"\n\n{content}")
    sent = _letter(text)
    return Text(_something(content.strip() and text), sent.title, sent.authors, sent.meta, cut)


def mailbox_messages(data: bytes) -> Iterator[bytes]:
    """The messages of a mailbox as mail programs export it (RFC 4155). Raises Unreadable for another file."""
    starts = [*re.finditer(rb"(?:\A|(?<=\n))From [^\n]*\n(?=[!-9;-~]+:)", data)]
    if not starts:
        raise Unreadable("it is no mailbox")
    ends = [*(match.start() for match in starts[1:]), len(data)]
    for match, end in zip(starts, ends, strict=True):
        yield re.sub(rb"(?m)^>(>*From )", rb"\1", data[match.end() : end])


def _letter(text: str) -> Text:
    """Subject, sender and date of a message, by the headers that it begins with; nothing for other texts."""
    from email.parser import HeaderParser
    from email.utils import getaddresses

    headers = HeaderParser().parsestr(text[:MAX_HEADERS])
    if not (headers["From"] and (headers["To"] or headers["Subject"])):
        return Text("")
    sender = " ".join(headers["From"].split())
    # without an address it is no address of a message but a name: `From: Jane Doe`
    senders = [name or address for name, address in getaddresses([sender])] if "@" in sender else [sender]
    date = {"date": _day(headers["Date"])} if headers["Date"] else {}
    subject = " ".join((headers["Subject"] or "").split())[:TITLE_CHARS]
    return Text("", subject, tuple(filter(None, senders)), date)


def _day(sent: str) -> str:
    """The day of a message (`2024-05-13`), which a letter has without a time; as it stands where that is no
    date of a message."""
    from email.utils import parsedate_to_datetime

    for text in (sent, f"{sent} 00:00"):
        with suppress(ValueError):
            return parsedate_to_datetime(text).date().isoformat()
    return " ".join(sent.split())


def read_markdown(data: bytes) -> Text:
    """A Markdown file as it stands, so that a quote of it is what the file says. The title is that of the
    front matter, else the first heading."""
    meta, source = _front_matter(decode(data))
    from markdown_it import MarkdownIt

    title = meta.get("title", "")
    if not title:
        tokens = MarkdownIt("commonmark").parse(source)
        after = (other for token, other in pairwise(tokens) if token.type == "heading_open")
        title = next(map(_inline, after), "")
    authors = tuple(a.strip() for a in re.split(r"[;,]", meta.get("authors", meta.get("author", ""))))
    text, cut = _tidy(source)
    return Text(_something(text), title[:TITLE_CHARS], tuple(a for a in authors if a), meta, cut)


def read_notebook(data: bytes) -> Text:
    """A Jupyter notebook (nbformat 4): its text, its code and what the code printed, in order."""
    try:
        cells = _Notebook.model_validate_json(decode(data)).cells
        shown = [*filter(None, map(_shown, cells))]
    except ValidationError as error:
        raise Unreadable("it is no notebook of the format 4") from error
    return read_markdown("\n\n".join(shown).encode())


def read_html(data: bytes | str, url: str | None = None) -> Text:
    """The main text of a page, without its navigation, with what its `citation_*` tags say."""
    import trafilatura  # slow to import; most runs never read a page
    from trafilatura.settings import set_date_params

    source = data if isinstance(data, str) else _decode_html(data)
    if not source.strip():
        raise Unreadable("there is no text in it")
    try:
        tree = html_tree(source)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(f"it cannot be read as HTML: {error}") from error
    meta = _html_meta(tree)
    tables.as_paragraphs(tree)
    # no date is guessed from years in the text, which takes as long as the text itself and names any of them
    dates = set_date_params(extensive=False)
    page = trafilatura.bare_extraction(
        tree, url=url, include_comments=False, with_metadata=True, date_extraction_params=dates
    )
    text = str(getattr(page, "text", None) or "").replace("\n", "\n\n")  # a line is a paragraph
    text = _ROWS.sub(r"\1\n", text)
    title = meta.get("title") or str(getattr(page, "title", None) or "") or (tree.findtext(".//title") or "")
    date = str(getattr(page, "date", None) or "")
    author = str(getattr(page, "author", None) or "")
    site = str(getattr(page, "sitename", None) or "")
    authors = (
        tuple(meta["authors"].split("; "))
        if meta.get("authors")
        else tuple(a.strip() for a in author.split(";") if a.strip())
    )
    if not text.strip():
        text = _all_text(source)
    extra = {"date": date, "venue": site}
    text, cut = _tidy(text)
    return Text(
        _something(text),
        " ".join(title.split())[:TITLE_CHARS],
        authors,
        {**{k: v for k, v in extra.items() if v}, **meta},
        cut,
    )


def read_pdf(data: bytes, seconds: float = PDF_SECONDS) -> Text:
    """The text of a PDF, a blank line between pages, as far as it can be read in `seconds`. A scan without a
    text layer is Unreadable."""
    # these readers work in processes of their own, which import what they need
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("it is locked with a password")  # noqa: TRY301 - passed on below
        pages: list[str] = []
        chars = 0
        began = time.monotonic()
        count = len(reader.pages)
        printed = _Sizes()
        for page in reader.pages[:MAX_PAGES]:
            words = page.extract_text(visitor_text=None if pages else printed.add)
            pages.append(words)
            chars += len(words)
            if chars > MAX_CHARS or time.monotonic() - began > seconds:
                break
        pdf_tables.read_rows(reader.pages, pages, began + seconds * pdf_tables.SHARE_OF_TIME)
        pages = [_join_hyphens(page) for page in _without_repeated_edges(pages)]
        info = {str(k): str(v) for k, v in (reader.metadata or {}).items() if v is not None}
    except Unreadable:
        raise
    except (PyPdfError, *pdf_tables.BROKEN) as error:
        raise Unreadable(f"it cannot be read as a PDF: {type(error).__name__} {error}") from error
    cut = f"only the first {len(pages):,} of {count:,} pages were read" if len(pages) < count else ""
    if not any(page.strip() for page in pages):
        raise NoText("there is no text in it")
    title = info.get("/Title", "").strip()
    if re.search(r"\.(docx?|tex|indd|pdf|qxd)\b|^untitled|^microsoft word", title, re.IGNORECASE):
        title = ""
    title = title or printed.title()
    authors = tuple(a.strip() for a in re.split(r"[;,]| and ", info.get("/Author", "")) if a.strip())
    # Publishers put the article's own DOI here; one in the body may be that of a cited work.
    doi = next((v for k, v in info.items() if "doi" in k.lower()), "") or info.get("/Subject", "")
    meta = {"doi": doi} if "10." in doi else {}
    return from_pages(pages, title=title, authors=authors, meta=meta, cut=cut)


def _without_repeated_edges(pages: Sequence[str]) -> Iterator[str]:
    """Pages without the running heads and feet that repeat those of an earlier page, but for the number of
    the page: they would stand in the midst of sentences, or over them as their heading. A row of a table
    stays."""
    edges = [_edges(page.split("\n")) for page in pages]
    forms = [
        {form for line in lines.values() for form in _but_for_number(line, number)}
        for number, lines in enumerate(edges)
    ]
    shown = Counter(form for page in forms for form in page)
    least = max(2, math.ceil(len(pages) * SHARE_OF_PAGES))
    before = set[str]()
    for number, (page, lines) in enumerate(zip(pages, edges, strict=True)):
        running = {
            place: again
            for place, line in lines.items()
            if (again := {form for form in _but_for_number(line, number) if shown[form] >= least})
        }
        dropped = {place for place, again in running.items() if again & before}
        yield "\n".join(line for place, line in enumerate(page.split("\n")) if place not in dropped)
        before.update(*running.values())


def _edges(lines: Sequence[str]) -> dict[int, str]:
    """The first and the last lines of a page by their places."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    places = {*filled[:EDGE_LINES], *filled[-EDGE_LINES:]}
    return {place: " ".join(lines[place].split()) for place in sorted(places) if " | " not in lines[place]}


def _but_for_number(line: str, page: int) -> Iterator[str]:
    """A line as it stands, and with each number in it as its distance from the number of the page."""
    if any(map(str.isalpha, line)):
        yield line
    for match in re.finditer(r"\d{1,5}", line):
        yield f"{line[: match.start()]}#{int(match.group()) - page}{line[match.end() :]}"


class _Sizes:
    """The text of a page by the size of its letters, as pypdf visits it: a PDF that does not name its title
    prints it larger than the rest of its first page."""

    def __init__(self) -> None:
        self._runs: list[tuple[float, str]] = []

    def add(
        self, text: str, page: Sequence[float], line: Sequence[float], font: object, size: float | None
    ) -> None:
        """A piece of text with pypdf's transformations of the page and the line."""
        height = round((size or 0.0) * math.hypot(line[2], line[3]) * math.hypot(page[2], page[3]), 1)
        if self._runs and (self._runs[-1][0] == height or not text.strip()):
            self._runs[-1] = (self._runs[-1][0], self._runs[-1][1] + text)
        elif text.strip():
            self._runs.append((height, text))

    def title(self) -> str:
        """The first text in the largest letters, where these are larger than most and it reads as a title;
        else empty."""
        runs = [(height, " ".join(text.split())) for height, text in self._runs]
        words = [(height, text) for height, text in runs if sum(map(str.isalpha, text)) >= WORD_LETTERS]
        if not words:
            return ""
        largest, line = max(words, key=lambda run: run[0])
        smaller = sum(len(text) for height, text in runs if height * LARGER <= largest)
        reads = " " in line and TITLE_LETTERS <= len(line) <= TITLE_CHARS
        return line if reads and smaller > len(line) else ""


def from_pages(
    pages: Iterable[str],
    *,
    title: str = "",
    authors: tuple[str, ...] = (),
    meta: Mapping[str, str] | None = None,
    cut: str = "",
    paged: bool = True,
) -> Text:
    """A text of pages with a blank line between them. `paged` keeps where each begins. Raises Unreadable when
    there is no text in them."""
    pieces: list[str] = []
    starts: list[int] = []
    length = 0
    for page in pages:
        tidied, _ = _tidy(page)
        # an empty page begins where the next one does
        starts.append(length)
        if tidied:
            pieces.append(tidied)
            length += len(tidied) + 2
    text, too_long = _tidy("\n\n".join(pieces))
    offsets = tuple(min(start, len(text)) for start in starts) if paged else ()
    return Text(_something(text), title[:TITLE_CHARS], authors, meta or {}, cut or too_long, offsets)


def _inline(token: "Token") -> str:
    breaks = {"softbreak": " ", "hardbreak": "\n"}
    shown = ("text", "code_inline", "image")
    children = token.children or ()
    return "".join(one.content if one.type in shown else breaks.get(one.type, "") for one in children).strip()


def _front_matter(source: str) -> tuple[dict[str, str], str]:
    """Simple `key: value` lines between two `---` lines at the top."""
    match = re.match(r"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", source, re.DOTALL)
    if not match:
        return {}, source
    meta = {}
    for line in match.group(1).splitlines():
        key, colon, value = line.partition(":")
        if colon and re.fullmatch(r"\w[\w-]*", key):
            meta[key.lower()] = value.strip().strip("[]").strip("\"'")
    return meta, source[match.end() :]


def _decode_html(data: bytes) -> str:
    declared = re.search(rb"<meta[^>]{0,200}charset=[\"']?([\w-]+)", data[:4096], re.IGNORECASE)
    if declared:
        try:
            return data.decode(declared.group(1).decode("ascii"))
        except (LookupError, UnicodeError, ValueError):
            pass  # a character set that does not exist, is no text (`idna`, `zlib`), or is not the page's
    return decode(data)


def html_tree(source: str) -> html.HtmlElement:
    """A page as parsed. Raises ParserError, XMLSyntaxError, ValueError."""
    data = source.encode("utf-8", errors="replace")  # a lone surrogate is no text
    return html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8"))


def _html_meta(tree: html.HtmlElement) -> dict[str, str]:
    """What a publisher's `citation_*` tags (as Google Scholar reads them) say of the page's own work."""
    names = {
        "citation_doi": "doi",
        "citation_pmid": "pmid",
        "citation_title": "title",
        "citation_journal_title": "venue",
        "citation_publication_date": "date",
        "citation_date": "date",
    }
    meta: dict[str, str] = {}
    authors: list[str] = []
    for element in tree.iter("meta"):
        name = (element.get("name") or "").lower()
        value = " ".join((element.get("content") or "").split())
        if name == "citation_author" and value:
            authors.append(value.replace(";", ","))
        elif name in names and value:
            meta.setdefault(names[name], value)
    if authors:
        meta["authors"] = "; ".join(authors)
    return meta


def _all_text(source: str) -> str:
    """Every visible word, for pages too short for the extraction of a main text: a line for each block."""
    return "\n".join(blocks_of(source, ("script", "style", "noscript", "template", "head", "nav", "footer")))


def blocks_of(source: str, left_out: Sequence[str]) -> list[str]:
    """The texts of the blocks of a page, without some elements. Raises ParserError, XMLSyntaxError,
    ValueError."""
    tree = html_tree(source)
    etree.strip_elements(tree, *left_out, etree.Comment, with_tail=False)
    for element in tree.iter():
        element.text = re.sub(r"\s+", " ", element.text or "")
        element.tail = re.sub(r"\s+", " ", element.tail or "")
        if element.tag in _BLOCKS:
            element.text, element.tail = f"\n\n{element.text}", f"\n\n{element.tail}"
    return [line.strip() for line in "".join(map(str, tree.itertext())).split("\n\n") if line.strip()]


def tidy_line(text: str) -> str:
    return " ".join(_tidy(text)[0].split())


def _join_hyphens(text: str) -> str:
    """Undo the hyphenation at the end of a printed line, so that a word can be found and quoted whole."""
    return re.sub(r"(?<=[a-z])-\n(?=[a-z]{2})", "", text)


def _tidy(text: str) -> tuple[str, str]:
    """The text as it is kept, and what was left out of it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    # Lone surrogates (broken PDFs, JSON escapes) cannot be stored as UTF-8.
    text = text.encode("utf-8", errors="replace").decode("utf-8")
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    if len(text) <= MAX_CHARS:
        return text, ""
    return text[:MAX_CHARS], f"only the first {MAX_CHARS:,} of {len(text):,} characters were kept"


def _something(text: str) -> str:
    if not text:
        raise Unreadable("there is no text in it")
    return text
