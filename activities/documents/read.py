"""A page of the web by its media type, read in a process that can be killed."""

from activities.documents.html_page import read_html
from activities.documents.pdf import read_pdf
from activities.documents.plain import read_plain
from activities.documents.text import Text

PLAIN_TYPES = ("text/plain", "text/markdown")
PDF_TYPES = ("application/pdf", "application/x-pdf")


def read_page(body: bytes, kind: str, url: str) -> Text:
    """Read a page by its media type, which may name an encoding (`text/html;gbk`). Raises Unreadable."""
    media, _, charset = kind.partition(";")
    if media in PDF_TYPES or body.startswith(b"%PDF-"):
        return read_pdf(body)
    return read_plain(body, charset) if media in PLAIN_TYPES else read_html(body, url, charset)
