"""Text files, Markdown, notebooks, messages and mailboxes; a page of the web by its media type.

The head of a letter says who wrote it when, also in a text file. Markdown stays as it is, so that a quote of
it is what the file says; text, code and output of a notebook become Markdown.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from activities.documents.blocks import HEADINGS, text_of
from activities.documents.encodings import decode, decode_text
from activities.documents.html_page import html_text, html_tree, read_html
from activities.documents.pdf import read_pdf
from activities.documents.text import TITLE_CHARS, Text, Unreadable, new_text, tidy
from activities.messages import count_of

if TYPE_CHECKING:
    from email.message import MIMEPart

NOTE_CHARS = 600
"""Text below the first line up to which a file is a note: its first line may be its first sentence."""
PLAIN_TYPES = ("text/plain", "text/markdown")
PDF_TYPES = ("application/pdf", "application/x-pdf")
_MAIL_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_WORK_HEADERS = ("Year", "PMID", "DOI", "URL")
MAX_HEAD = 4_000
"""Characters of a text that may be headers of a message, or have its title."""
_DRAWN_LINE = re.compile(r"^[ \t]*([=\-~*_#])\1{2,}[ \t]*$", re.MULTILINE)


def read_plain(data: bytes, charset: str = "") -> Text:
    """Return a text file; a first line that stands alone and is no sentence of a note is the title."""
    text, cut = tidy(_DRAWN_LINE.sub("", decode(data, charset)))
    first_line, _, body = text.partition("\n")
    stands_alone = bool(body) and (body.startswith("\n") or not body.strip())
    title = first_line.strip() if stands_alone and len(first_line.strip()) <= TITLE_CHARS else ""
    if title.endswith((".", "!")) and len(body) < NOTE_CHARS:
        title = ""  # it says something; titles of articles may end with a stop too
    head = letter_head(text)
    return new_text(text, head.title or title, head.authors, head.meta, cut)


def read_page(body: bytes, kind: str, url: str) -> Text:
    """Read a page by its media type, which may name an encoding (`text/html;gbk`). Raises Unreadable."""
    media, _, charset = kind.partition(";")
    if media in PDF_TYPES or body.startswith(b"%PDF-"):
        return read_pdf(body)
    return read_plain(body, charset) if media in PLAIN_TYPES else read_html(body, url, charset)


def read_mail(data: bytes) -> Text:
    """Return a message (RFC 5322): its headers for people, its text, and the messages sent along."""
    from email import policy
    from email.message import EmailMessage
    from email.parser import BytesParser

    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    messages = [message, *(part for part in message.walk() if part.get_content_maintype() == "message")]
    texts = [words for part in messages if (words := _message(part))]
    text = "\n\n".join(texts)
    names = [name for part in message.walk() if (name := part.get_filename())]
    note = f"{count_of(len(names), 'attachment')} not read, save beside it: {', '.join(names)}"
    head = letter_head(text)
    return new_text(text, head.title, head.authors, head.meta, note if names else "")


def _message(message: "MIMEPart") -> str:
    """Return the headers and the text of a message; nothing where it has no text."""
    if message.get_content_type() == "message/rfc822":
        message = message.get_content()
    elif message.get_content_maintype() == "message":
        return ""  # a report of a delivery
    body = message.get_body(("plain", "html"))
    content = _content(body) if body is not None else ""
    if body is not None and body.get_content_subtype() == "html":
        content = html_text(content)
    headers = [f"{name}: {message[name]}" for name in _MAIL_HEADERS if message[name]]
    return content.strip() and "\n".join(headers) + f"\n\n{content}"


def _content(body: "MIMEPart") -> str:
    """Return the text of a part of a message, which may name no character set, or not its own."""
    data = body.get_payload(decode=True)
    if not isinstance(data, bytes) or data.isascii():
        return str(body.get_content())
    return decode_text(data, str(body.get_content_charset(""))).text.replace("\r\n", "\n")


def mailbox_messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages of an exported mailbox (RFC 4155). Raises Unreadable for another file."""
    starts = [*re.finditer(rb"(?:\A|(?<=\n))From [^\n]*\n(?=[!-9;-~]+:)", data)]
    if not starts:
        raise Unreadable("it is no mailbox")
    ends = [*(match.start() for match in starts[1:]), len(data)]
    for match, end in zip(starts, ends, strict=True):
        yield re.sub(rb"(?m)^>(>*From )", rb"\1", data[match.end() : end])


def letter_head(text: str) -> Text:
    """Subject, sender and date of a message, or title and identifiers of a work, by the headers of a text.

    Nothing for other texts. Headers of a work (`Title: ...`, `PMID: ...`) are those of saved abstracts."""
    from email.parser import HeaderParser
    from email.utils import getaddresses

    headers = HeaderParser().parsestr(text[:MAX_HEAD])
    if headers["Title"]:
        meta = {name.lower(): " ".join(headers[name].split()) for name in _WORK_HEADERS if headers[name]}
        return Text("", " ".join(headers["Title"].split()), meta=meta)
    if not (headers["From"] and (headers["To"] or headers["Subject"])):
        return Text("")
    sender = " ".join(headers["From"].split())
    # without an address it is no address of a message but a name: `From: Jane Doe`
    senders = [name or address for name, address in getaddresses([sender])] if "@" in sender else [sender]
    date = {"date": _day(headers["Date"]), "date_from": "header"} if headers["Date"] else {}
    return Text("", headers["Subject"] or "", tuple(senders), date)


def _day(date_text: str) -> str:
    """Return the day of a message (`2024-05-13`); as it stands where that is no date of a message."""
    from email.utils import parsedate_to_datetime

    for text in (date_text, f"{date_text} 00:00"):
        with suppress(ValueError):
            return parsedate_to_datetime(text).date().isoformat()
    return " ".join(date_text.split())


_Lines = str | list[str]


class _Output(BaseModel):
    text: _Lines = ""
    data: dict[str, JsonValue] = {}


class _Cell(BaseModel):
    source: _Lines = ""
    outputs: list[_Output] = []


class _Notebook(BaseModel):
    cells: list[_Cell]


def _cell_text(cell: _Cell) -> str:
    plain = TypeAdapter(_Lines)
    parts = [cell.source]
    for output in cell.outputs:
        parts += [output.text, plain.validate_python(output.data.get("text/plain", ""))]
    return "\n\n".join(filter(None, ("".join(part).strip() for part in parts)))


def read_markdown(data: bytes) -> Text:
    """Read a Markdown file as it stands. Its title is that of the front matter, else the first heading."""
    meta, source = _front_matter(decode(data))
    from markdown_it import MarkdownIt

    title = meta.get("title", "")
    if not title:
        page = html_tree(f"<p>{MarkdownIt('commonmark').render(source[:MAX_HEAD])}")
        title = next((text_of(element) for element in page.iter(*HEADINGS)), "")
    authors = re.split(r"[;,]", meta.get("authors", meta.get("author", "")))
    return new_text(source, title, authors, meta)


def read_notebook(data: bytes) -> Text:
    """Return a Jupyter notebook (nbformat 4): its text, its code and what the code printed, in order."""
    try:
        cells = _Notebook.model_validate_json(decode(data)).cells
        texts = [*filter(None, map(_cell_text, cells))]
    except ValidationError as error:
        raise Unreadable("it is no notebook of the format 4") from error
    return read_markdown("\n\n".join(texts).encode())


def _front_matter(source: str) -> tuple[dict[str, str], str]:
    """Return simple `key: value` lines between two `---` lines at the top."""
    match = re.match(r"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", source, re.DOTALL)
    if not match:
        return {}, source
    meta = {}
    for line in match.group(1).splitlines():
        key, colon, value = line.partition(":")
        if colon and re.fullmatch(r"\w[\w-]*", key):
            meta[key.lower()] = value.strip().strip("[]").strip("\"'")
    return meta, source[match.end() :]
