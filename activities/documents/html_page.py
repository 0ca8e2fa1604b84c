"""Pages: the main text of one from the web, and every visible word of a page of one's own."""

import re

from lxml import etree, html

from activities.documents import tables
from activities.documents.blocks import GLUE, MAX_ROWS, blocks_of, render, text_of
from activities.documents.encodings import decode_page
from activities.documents.text import Text, Unreadable, new_text

_UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "title", "datalist", "rp", "rt"})
_STRUCK_OUT = frozenset({"del", "s", "strike"})
"""A reader sees that these words do not hold, and a quote could not show it."""
_NOTE_MARK = re.compile(r"[\[(]?(?:\d{1,3}|[*\u2020\u2021\u00a7])[\])]?")
_BACK_TO_NOTE = ("\u2191", "^", "\u21a9", "\u21a9\ufe0e")
_HIDING = ("display:none", "visibility:hidden", "visibility:collapse")
"""Declarations of an element's style that hide it; style sheets are not read."""


def read_html(data: bytes | str, url: str | None = None, charset: str = "") -> Text:
    """Return the main text of a page of the web and its `citation_*` tags."""
    import trafilatura  # slow to import; most runs never read a page
    from trafilatura.settings import set_date_params

    tree = _tree(data, charset)
    meta = _html_meta(tree)
    all_text = "\n".join(blocks_of(tree, lambda e: e.tag in ("nav", "footer") or _is_unseen(e)))
    _prepare(tree)
    # no date is guessed from years in the text, which takes as long as the text itself and names any of them
    dates = set_date_params(extensive=False)
    page = trafilatura.bare_extraction(
        tree, url=url, include_comments=False, with_metadata=True, date_extraction_params=dates
    )
    text = str(getattr(page, "text", None) or "").replace("\n", "\n\n")  # a line is a paragraph
    title = meta.get("title") or str(getattr(page, "title", None) or "") or (tree.findtext(".//title") or "")
    date, author, site = (str(getattr(page, name, None) or "") for name in ("date", "author", "sitename"))
    authors = (meta.get("authors") or author).split(";")
    return new_text(text if text.strip() else all_text, title, authors, {"date": date, "venue": site, **meta})


def read_own_html(data: bytes | str) -> Text:
    """Return a page of the user's own: all that a browser shows of it, block by block."""
    tree = _tree(data)
    meta = _html_meta(tree)
    title = meta.get("title") or tree.findtext(".//title") or ""
    tags = {e.get("name", "").lower(): e.get("content", "").strip() for e in tree.iter("meta")}
    authors = (meta.get("authors") or tags.get("author", "")).split(";")
    return new_text("\n\n".join(visible_blocks(tree)), title, authors, meta)


def html_text(source: str) -> str:
    """Return every visible word of a page, a blank line between its blocks. Empty where it is no page."""
    try:
        return "\n\n".join(visible_blocks(html_tree(source)))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return ""


def html_tree(source: str) -> html.HtmlElement:
    """Return a page as parsed. Raises ParserError, XMLSyntaxError, ValueError."""
    data = source.encode("utf-8", errors="replace")  # a lone surrogate is no text
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    return html.document_fromstring(data, parser=parser)


def visible_blocks(page: html.HtmlElement) -> list[str]:
    """Return the texts of the blocks that a browser shows of a page, with the numbers of lists."""
    for items in page.iter("ol"):
        if items.get("type", "1") == "1" and "list-style" not in items.get("style", ""):
            _number(items)
    return blocks_of(page, _is_unseen)


def _is_unseen(element: etree._Element) -> bool:
    """Tell whether a browser does not show an element of a page as its text."""
    style = "".join((element.get("style") or "").lower().split())
    return (
        element.tag in _UNSEEN
        or element.get("hidden") is not None
        or any(name in style for name in _HIDING)
        or _is_mark(element)
    )


def _is_mark(element: etree._Element) -> bool:
    """Tell whether an element is struck out or the mark of a note, which behind a number would be a digit."""
    if element.tag == "a" and "#" in (element.get("href") or ""):
        mark = "".join(map(str, element.itertext())).strip()
        parent = element.getparent()
        is_raised = element.find(".//sup") is not None or (parent is not None and parent.tag == "sup")
        return mark in _BACK_TO_NOTE or (is_raised and _NOTE_MARK.fullmatch(mark) is not None)
    return element.tag in _STRUCK_OUT


def _number(items: html.HtmlElement) -> None:
    """Put the numbers of a list before its items."""
    list_items = [item for item in items if item.tag == "li"]
    is_reversed = items.get("reversed") is not None
    number = _integer(items.get("start"), len(list_items) if is_reversed else 1)
    for item in list_items:
        number = _integer(item.get("value"), number)
        item.text = f"{number}. {GLUE}{(item.text or '').lstrip()}"
        number += -1 if is_reversed else 1


def _integer(value: str | None, default: int) -> int:
    return int(value) if value and re.fullmatch(r"\s*[-+]?[0-9]{1,9}\s*", value) else default


def _tree(data: bytes | str, charset: str = "") -> html.HtmlElement:
    """Return a page as parsed. Raises Unreadable."""
    source = data if isinstance(data, str) else decode_page(data, charset).text
    if not source.strip():
        raise Unreadable("there is no text in it")
    try:
        return html_tree(source)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(f"it cannot be read as HTML: {error}") from error


def _prepare(page: html.HtmlElement) -> None:
    """Put plain text in place of what the extraction of main text does not read.

    A table becomes a paragraph for each row, a formula and raised and lowered letters become characters; what
    is struck out and the marks of notes go.
    """
    for element in list(page.iter("a", *_STRUCK_OUT)):
        if _is_mark(element):
            element.drop_tree()
    for element in list(page.iter("table")):
        if not tables.lays_out(element, text_of):
            lines = list(tables.from_element(element, text_of, MAX_ROWS).lines())
            element.clear(keep_tail=True)
            element.tag = "div"
            for line in lines:
                etree.SubElement(element, "p").text = line
    for element in list(page.iter("math", "sup", "sub")):
        text = render(element, outer=True)
        element.clear(keep_tail=True)
        element.tag, element.text = "span", text


def _html_meta(tree: html.HtmlElement) -> dict[str, str]:
    """Return the page's own work by a publisher's `citation_*` tags, as Google Scholar reads them."""
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
