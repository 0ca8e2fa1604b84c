"""PubMed: abstracts of the biomedical literature, with what indexers and publishers say of each work.

A search is esearch, then efetch. Besides PubMed's own syntax, which is kept as typed, three forms are
understood: `related:PMID` (similar articles), `citedby:PMID` (articles in PubMed Central that cite it) and
`references:PMID` (what it cites).
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import httpx
from lxml import etree

from activities.contracts.errors import Malformed
from activities.contracts.evidence import Evidence, Identifiers, Query
from activities.contracts.identifiers import normal_doi, normal_nct, normal_pmcid, normal_pmid
from activities.documents.blocks import text_of
from activities.sources import publication
from activities.sources.base import Exchange
from activities.sources.http.reading import XmlReader
from activities.sources.ncbi import MAX_IDS, Eutils, read_tree
from activities.sources.publication import year_of
from activities.sources.records import new_record, read_records
from activities.text.person_names import person_name

RECORDS = ("PubmedArticle", "PubmedBookArticle")
_LINKS = {"related": "pubmed_pubmed", "citedby": "pubmed_pubmed_citedin", "references": "pubmed_pubmed_refs"}
_COCHRANE = "the cochrane database of systematic reviews"
"""Its reviews were indexed as plain reviews before the type existed."""
_LINK_QUERY = re.compile(r"\s*(related|citedby|references):\s*(\d+)\s*", re.IGNORECASE)


class PubMed(Eutils):
    source = "pubmed"

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        # Records without an abstract are set aside, so a few more are asked for than are wanted.
        limit = min(query.limit + query.limit // 4 + 1, MAX_IDS)
        if link := _LINK_QUERY.fullmatch(query.text):
            links = await self.links(link.group(2), _LINKS[link.group(1).lower()])
            ids: Sequence[str] = links[:limit]
            summary = Exchange(hits=len(links), sent=query.text)
        else:
            ids, summary = await self.search(query, limit)
        yield summary
        if ids:
            yield replace(await self.fetch(ids, query.text, titles=query.titles), hits=summary.hits)

    async def fetch(self, pmids: Sequence[str], query: str = "", *, titles: bool = False) -> Exchange:
        """Fetch the records of PMIDs (at most 200), in their order. Raises SourceError."""
        if not pmids:
            return Exchange()
        reader = XmlReader(Exchange, read_articles, (list(pmids), query, titles))
        return await self.efetch(pmids[:MAX_IDS], "abstract", reader)


def read_articles(response: httpx.Response, pmids: Sequence[str], text: str, titles: bool) -> Exchange:
    """Read every record of a PubmedArticleSet that has a text, in the order of the PMIDs.

    The others are counted, and why is said. `titles`: those with a title alone are read as well.
    """
    query, tree = Query(text=text, titles=titles), read_tree(response, "pubmed", "PubmedArticleSet")
    elements = (element for element in tree if element.tag in RECORDS)
    exchange = read_records("pubmed", query, elements, read_record, expected=len(set(pmids)))
    records = {record.identifiers.pmid: record for record in exchange.records}
    order = {pmid: place for place, pmid in enumerate(pmids)}
    sorted_records = sorted(
        records.values(), key=lambda record: order.get(record.identifiers.pmid or "", len(order))
    )
    return replace(exchange, records=tuple(sorted_records))


def read_record(element: etree._Element) -> Evidence:
    """Read a PubmedArticle or PubmedBookArticle. Raises Malformed when it has no PMID or title."""
    is_book = element.tag == "PubmedBookArticle"
    citation = element.find("BookDocument" if is_book else "MedlineCitation")
    if citation is None:
        raise Malformed("a PubMed record has no citation")
    article = citation if is_book else citation.find("Article")
    pmid = normal_pmid(citation.findtext("PMID"))
    if article is None or pmid is None:
        raise Malformed(f"PubMed record {pmid or 'without a PMID'} has no article")
    title = text_of(article.find("ArticleTitle")) or text_of(article.find("VernacularTitle"))
    title = title or text_of(article.find("Book/BookTitle"))
    if not title:
        raise Malformed(f"PubMed record {pmid} has no title")
    venue = text_of(article.find("Journal/Title")) or text_of(article.find("Book/BookTitle")) or None
    types = [text_of(kind) for kind in citation.iter("PublicationType")]
    if venue and venue.casefold().startswith(_COCHRANE) and "Systematic Review" not in types:
        types.append("Systematic Review")
    mesh = [text_of(heading) for heading in citation.iterfind("MeshHeadingList/MeshHeading/DescriptorName")]
    links = (
        (link.get("RefType", ""), text_of(link.find("RefSource")), link.findtext("PMID"))
        for link in citation.iterfind("CommentsCorrectionsList/CommentsCorrections")
    )
    notices = publication.notices(links, "pubmed")
    # registry numbers that the record's own data bank list names
    numbers = map(text_of, article.iterfind("DataBankList/DataBank//AccessionNumber"))
    trials = list(dict.fromkeys(filter(None, map(normal_nct, numbers))))
    return new_record(
        "pubmed",
        title=title,
        text=abstract(article),
        authors=_authors(article),
        year=_year(article),
        venue=venue,
        identifiers=_identifiers(element, article, pmid, trials),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        evidence_type=publication.evidence_type(types, mesh),
        standing=publication.standing(types, notices),
        notices=notices,
        publication_types=types,
        mesh=mesh,
        registered_trials=", ".join(trials),
        notice=publication.notice_itself(types),
    )


def abstract(article: etree._Element) -> str:
    """Return the abstract, one part a line, each part of a structured one behind its label."""
    lines = []
    for part in article.iterfind("Abstract/AbstractText"):
        text, label = text_of(part), (part.get("Label") or "").strip()
        if text:
            lines.append(f"{label}: {text}" if label and label != "UNLABELLED" else text)
    return "\n".join(lines)


def _authors(article: etree._Element) -> tuple[str, ...]:
    """Return `Given Family`, groups by their name. Editors of books are left out."""
    names = []
    for group in article.iterfind("AuthorList"):
        if group.get("Type") == "editors":
            continue
        for author in group.iterfind("Author"):
            forename = text_of(author.find("ForeName")) or text_of(author.find("Initials"))
            family = text_of(author.find("LastName"))
            name = person_name(family, forename) or text_of(author.find("CollectiveName"))
            if name:
                names.append(name)
    return tuple(names)


def _year(article: etree._Element) -> int | None:
    places = ("Journal/JournalIssue/PubDate", "ArticleDate", "Book/PubDate", "ContributionDate")
    parts = (f"{place}/{part}" for place in places for part in ("Year", "MedlineDate"))
    return next((year for part in parts if (year := year_of(article.findtext(part)))), None)


def _identifiers(
    element: etree._Element, article: etree._Element, pmid: str, trials: Sequence[str]
) -> Identifiers:
    # Only the record's own list: its references carry lists of the same name.
    parameters = {
        item.get("IdType", ""): text_of(item)
        for path in ("PubmedData/ArticleIdList", "PubmedBookData/ArticleIdList")
        for item in element.iterfind(f"{path}/ArticleId")
    }
    located_dois = (
        normal_doi(text_of(place))
        for place in article.iterfind("ELocationID")
        if place.get("EIdType") == "doi" and place.get("ValidYN", "Y") == "Y"
    )
    return Identifiers(
        pmid=pmid,
        pmcid=normal_pmcid(parameters.get("pmc")),
        doi=normal_doi(parameters.get("doi")) or next(located_dois, None),
        nct=trials[0] if len(trials) == 1 else None,
    )
