"""The main text of a page, without its navigation."""

import re
from collections.abc import Sequence

from lxml import etree, html

from activities.documents import tables
from activities.documents.encodings import decoded_page
from activities.documents.text import TITLE_CHARS, Text, Unreadable, not_empty, tidied

_ROWS = re.compile(r"(?<= \| )(?<!\n)([^\n|]*)\n\n(?=[^\n]* \| )")
"""Between two rows of a table (`documents.tables.side_by_side`)."""
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "section", "table", "td", "th"),
        *("tr", "ul"),
    }
)
"""Elements of HTML that stand on lines of their own."""


def read_html(data: bytes | str, url: str | None = None) -> Text:
    """The main text of a page, without its navigation, with what its `citation_*` tags say."""
    import trafilatura  # slow to import; most runs never read a page
    from trafilatura.settings import set_date_params

    source = data if isinstance(data, str) else decoded_page(data).text
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
    date, author, site = (str(getattr(page, name, None) or "") for name in ("date", "author", "sitename"))
    authors = tuple(name.strip() for name in (meta.get("authors") or author).split(";") if name.strip())
    if not text.strip():
        text = all_text(source)
    text, cut = tidied(text)
    extra = {key: value for key, value in (("date", date), ("venue", site)) if value}
    return Text(not_empty(text), " ".join(title.split())[:TITLE_CHARS], authors, {**extra, **meta}, cut)


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


def all_text(source: str) -> str:
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
