"""Extract the full text of JATS, the XML that PubMed Central keeps articles in (https://jats.nlm.nih.gov).

Running text: headings, paragraphs and lists of the abstract and the body; then the rows of the tables
(`tables`), each naming its table, so that no reader takes it for running text. Figures, formulas in TeX,
supplements, references and numeric citation marks are left out: they are not sentences, and a mark such as
`[3]` inside a quote would be mistaken for one of the report's own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from activities.contracts.errors import Malformed
from activities.contracts.evidence import Identifiers, NoticeKind, StandingNotice
from activities.contracts.identifiers import normal_doi, normal_pmcid, normal_pmid
from activities.documents import tables
from activities.documents.blocks import blocks_of, text_of

_LEFT_OUT = frozenset(
    {
        *("ack", "alt-text", "disp-formula", "fig", "fig-group", "fn", "fn-group", "long-desc", "object-id"),
        *("ref-list", "supplementary-material", "table-wrap", "table-wrap-group"),
    }
)
_MARK = re.compile(r"[\s\d,;\-–‐*†‡§⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*")  # noqa: RUF001 - typographic dashes are meant
_EMPTY_BRACKETS = re.compile(r"(?:(?<!\s)\s+)?[\[(][\s,;\-–‐]*[\])]")  # noqa: RUF001
_FORWARD: dict[str, NoticeKind] = {
    "retraction-forward": "retraction",
    "partial-retraction-forward": "retraction",
    "expression-of-concern-forward": "concern",
    "object-of-concern-forward": "concern",
    "correction-forward": "correction",
    "withdrawal-forward": "withdrawal",
}
_NUMBERED = re.compile(r"(?:Supplementary )?Table [A-Z]?\d{1,2}[A-Za-z]?", re.IGNORECASE)
MAX_ROWS = 1_000
"""Rows of one article that are read; longer tables are lists of data."""
_XLINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True, slots=True)
class JatsArticle:
    title: str
    identifiers: Identifiers
    authors: tuple[str, ...]
    year: int | None
    journal: str | None
    types: tuple[str, ...]
    """Article type and subject headings."""
    abstract: str
    body: str
    """Empty when the publisher does not allow the full text to be downloaded."""
    tables: str
    """The tables under the heading `TABLES`, each line a paragraph; empty where there are none."""
    notices: tuple[StandingNotice, ...]


def read_article(article: etree._Element, reported_by: str) -> JatsArticle:
    """Read one `<article>`. Raises Malformed when it has no title."""
    meta = article.find("front/article-meta")
    title = text_of(meta.find("title-group/article-title"), _is_mark) if meta is not None else ""
    if meta is None or not title:
        raise Malformed("a JATS article has no title")
    types = [article.get("article-type", "")]
    types += [text_of(subject) for subject in meta.iterfind("article-categories//subject")]
    journal = article.find("front/journal-meta//journal-title")
    # the abstract proper, not a graphical, short or plain-language one
    abstracts = (part for part in meta.iterfind("abstract") if not part.get("abstract-type"))
    return JatsArticle(
        title=title,
        identifiers=_identifiers(meta),
        authors=_authors(meta),
        year=_year(meta),
        journal=text_of(journal) or None,
        types=tuple(kind for kind in types if kind),
        abstract=_running_text(next(abstracts, None)),
        body=_running_text(article.find("body")),
        tables=_tables(article),
        notices=_notices(meta, reported_by),
    )


def _running_text(element: etree._Element | None) -> str:
    blocks = blocks_of(element, _is_no_text) if element is not None else ()
    return "\n".join(filter(None, (" ".join(_clean(block).split()) for block in blocks)))


def _tables(article: etree._Element) -> str:
    """Return the tables below a heading of their own: what the last part of an article is, they are not."""
    text = "\n\n".join(map(_clean, _table_lines(article)))
    return f"TABLES\n\n{text}" if text else ""


def _table_lines(article: etree._Element) -> Iterator[str]:
    """Yield the label and caption of each table in the body of an article or beside it, and its rows."""

    def is_note(element: etree._Element) -> bool:
        return element.get("ref-type") == "table-fn" or _skip(element)

    rows_left = MAX_ROWS
    places = (article.find("body"), article.find("floats-group"))
    for wrap in (wrap for place in places if place is not None for wrap in place.iter("table-wrap")):
        element = wrap.find(".//table")
        if element is None or rows_left <= 0:
            continue
        label = text_of(wrap.find("label"), is_note).rstrip(" .:")
        caption = text_of(wrap.find("caption"), is_note)
        if heading := f"{label}: {caption}" if label and caption else label or caption:
            yield heading
        table = tables.from_element(element, lambda cell: text_of(cell, is_note), rows_left)
        yield from table.lines(label if _NUMBERED.fullmatch(label) else "the table")
        rows_left -= len(table.rows)


def _is_no_text(element: etree._Element) -> bool:
    """Tell whether an element is no running text: what is left out, and the numbers of sections and items."""
    is_supplement = element.tag == "sec" and element.get("sec-type") == "supplementary-material"
    return is_supplement or element.tag == "label" or _skip(element)


def _skip(element: etree._Element) -> bool:
    return element.tag in _LEFT_OUT or _is_mark(element)


def _is_mark(element: etree._Element) -> bool:
    """Tell whether an element is the number of a citation or a note; `(Hites 2004)` is words and stays."""
    if element.tag == "sup":
        marks = [child for child in element if child.tag == "xref"]
        return bool(marks) and _MARK.fullmatch(text_of(element)) is not None
    return (
        element.tag == "xref"
        and element.get("ref-type") in ("bibr", "fn", "table-fn", "aff", "corresp", "author-notes")
        and _MARK.fullmatch(text_of(element)) is not None
    )


def _clean(line: str) -> str:
    """Remove brackets whose citation marks were removed."""
    return _EMPTY_BRACKETS.sub("", line)


def _identifiers(meta: etree._Element) -> Identifiers:
    identifiers = {item.get("pub-id-type", ""): text_of(item) for item in meta.iterfind("article-id")}
    return Identifiers(
        pmid=normal_pmid(identifiers.get("pmid")),
        pmcid=normal_pmcid(identifiers.get("pmcid") or identifiers.get("pmc")),
        doi=normal_doi(identifiers.get("doi")),
    )


def _authors(meta: etree._Element) -> tuple[str, ...]:
    """Return `Given Family`, groups by their name."""
    names = []
    for person in meta.iterfind("contrib-group/contrib"):
        if person.get("contrib-type", "author") != "author":
            continue
        forename, family = text_of(person.find(".//given-names")), text_of(person.find(".//surname"))
        name = f"{forename} {family}".strip() or text_of(person.find("collab"))
        if name:
            names.append(name)
    return tuple(names)


def _year(meta: etree._Element) -> int | None:
    """Return the earliest year of publication proper; the date of release in PMC comes last."""
    dates = sorted(
        meta.iterfind("pub-date"),
        key=lambda date: "pmc" in date.get("pub-type", date.get("date-type", "")),
    )
    years = ((date.findtext("year") or "").strip() for date in dates)
    return next((int(year) for year in years if year.isdigit()), None)


def _notices(meta: etree._Element, reported_by: str) -> tuple[StandingNotice, ...]:
    return tuple(
        StandingNotice(kind=kind, doi=normal_doi(link.get(_XLINK)), reported_by=reported_by)
        for link in meta.iterfind("related-article")
        if (kind := _FORWARD.get(link.get("related-article-type", "")))
    )
