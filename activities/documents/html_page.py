"""Pages: the main text of one from the web, and every visible word of a page of one's own."""

import re
from collections.abc import Collection

from lxml import etree, html

from activities.documents import tables
from activities.documents.encodings import decoded_page
from activities.documents.text import TITLE_CHARS, Text, Unreadable, from_pages, not_empty, tidied
from activities.documents.xml_text import local_name, raise_scripts, raw_text

MAX_ROWS = 200_000
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header"),
        *("hr", "legend", "li", "main", "nav", "ol", "option", "p", "pre", "section", "summary", "table"),
        *("tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    }
)
"""Elements of HTML that stand on lines of their own."""
_UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "title", "datalist", "rp", "rt"})
_STRUCK_OUT = ("del", "s", "strike")
"""A reader sees that these words do not hold, and a quote could not show it."""
_BLANKS, _LINE_ENDS = re.compile(r"\s+"), re.compile(r" *\n *")
_NOTE_MARK = re.compile(r"\s*[\[(]?(?:\d{1,3}|[*\u2020\u2021\u00a7])[\])]?\s*")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def read_html(data: bytes | str, url: str | None = None, charset: str = "") -> Text:
    """Return the main text of a page of the web and its `citation_*` tags."""
    import trafilatura  # slow to import; most runs never read a page
    from trafilatura.settings import set_date_params

    tree = _tree(data, charset)
    meta = _html_meta(tree)
    everything = "\n".join(blocks_of(tree, _UNSEEN | {"nav", "footer"}))
    _part_rows(tree)
    # no date is guessed from years in the text, which takes as long as the text itself and names any of them
    dates = set_date_params(extensive=False)
    page = trafilatura.bare_extraction(
        tree, url=url, include_comments=False, with_metadata=True, date_extraction_params=dates
    )
    text = str(getattr(page, "text", None) or "").replace("\n", "\n\n")  # a line is a paragraph
    title = meta.get("title") or str(getattr(page, "title", None) or "") or (tree.findtext(".//title") or "")
    date, author, site = (str(getattr(page, name, None) or "") for name in ("date", "author", "sitename"))
    authors = tuple(name.strip() for name in (meta.get("authors") or author).split(";") if name.strip())
    text, cut = tidied(text if text.strip() else everything)
    extra = {key: value for key, value in (("date", date), ("venue", site)) if value}
    return Text(not_empty(text), " ".join(title.split())[:TITLE_CHARS], authors, {**extra, **meta}, cut)


def read_own_html(data: bytes | str) -> Text:
    """Return a page of the user's own: all that a browser shows of it, block by block."""
    tree = _tree(data)
    meta = _html_meta(tree)
    title = meta.get("title") or tree.findtext(".//title") or ""
    named = {e.get("name", "").lower(): e.get("content", "").strip() for e in tree.iter("meta")}
    authors = (meta.get("authors") or named.get("author", "")).split(";")
    return from_pages(
        ["\n\n".join(blocks_of(tree))],
        title=" ".join(title.split()),
        authors=tuple(filter(None, (name.strip() for name in authors))),
        meta=meta,
        paged=False,
    )


def html_text(source: str) -> str:
    """Every visible word of a page, a blank line between its blocks. Empty where it is no page."""
    try:
        return "\n\n".join(blocks_of(html_tree(source)))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return ""


def html_tree(source: str) -> html.HtmlElement:
    """Return a page as parsed, its formulas, super- and subscripts as characters.

    What is struck out is left out, and so are the marks of notes: behind a number they would be digits of it.
    Raises ParserError, XMLSyntaxError, ValueError.
    """
    data = source.encode("utf-8", errors="replace")  # a lone surrogate is no text
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    tree = html.document_fromstring(data, parser=parser)
    for link in list(tree.iter("a")):
        above = link.getparent()
        mark = above if above is not None and above.tag == "sup" and len(above) == 1 else link
        raised = mark.tag == "sup" or link.find("sup") is not None
        if (
            raised
            and "#" in (link.get("href") or "")
            and _NOTE_MARK.fullmatch("".join(map(str, mark.itertext())))
        ):
            mark[:] = ()
            mark.text, mark.tag = "", "span"
    for formula in list(tree.iter("math")):
        formula.text = raw_text(formula, lambda part: local_name(part).startswith("annotation"))
        formula[:] = ()
    raise_scripts(tree)
    etree.strip_elements(tree, *_STRUCK_OUT, with_tail=False)
    return tree


def blocks_of(root: etree._Element, unseen: Collection[str] = _UNSEEN) -> list[str]:
    """Return the texts of the blocks of a page, all rows of a table of facts in one."""
    blocks = [""]

    def add(text: str | None, *, as_is: bool) -> None:
        if text:
            blocks[-1] += text if as_is else _BLANKS.sub(" ", text)

    def walk(element: etree._Element, *, as_is: bool) -> None:
        tag = element.tag
        if not isinstance(tag, str) or tag in unseen or _is_hidden(element):
            return
        if tag == "br":
            blocks[-1] += "\n"
            return
        if tag == "table" and not tables.lays_out(element, cell_text):
            blocks.extend(cell_text(caption) for caption in element.iterfind("caption"))
            blocks.extend(("\n".join(tables.from_element(element, cell_text, MAX_ROWS).lines()), ""))
            return
        as_is = as_is or tag == "pre"
        blocks.extend([""] if tag in _BLOCKS else ())
        add(element.text, as_is=as_is)
        for child in element:
            walk(child, as_is=as_is)
            add(child.tail, as_is=as_is)
        blocks.extend([""] if tag in _BLOCKS else ())

    def cell_text(cell: etree._Element) -> str:
        return " ".join(" ".join(blocks_of(cell, unseen)).split())

    walk(root, as_is=False)
    return [tidy for block in blocks if (tidy := _LINE_ENDS.sub("\n", block).strip())]


def _is_hidden(element: etree._Element) -> bool:
    return element.get("hidden") is not None or bool(_HIDDEN.search(element.get("style", "")))


def _tree(data: bytes | str, charset: str = "") -> html.HtmlElement:
    """Return a page as parsed. Raises Unreadable."""
    source = data if isinstance(data, str) else decoded_page(data, charset).text
    if not source.strip():
        raise Unreadable("there is no text in it")
    try:
        return html_tree(source)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(f"it cannot be read as HTML: {error}") from error


def _part_rows(page: html.HtmlElement) -> None:
    """Put a paragraph for each row in place of the tables of facts of a page."""

    def cell_text(cell: etree._Element) -> str:
        return " ".join(" ".join(map(str, cell.itertext())).split())

    for element in list(page.iter("table")):
        if tables.lays_out(element, cell_text):
            continue
        lines = list(tables.from_element(element, cell_text, MAX_ROWS).lines())
        element.clear(keep_tail=True)
        element.tag = "div"
        for line in lines:
            etree.SubElement(element, "p").text = line


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
