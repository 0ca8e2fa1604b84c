"""PubMed Central: the full text of open biomedical articles. A search is esearch, then efetch of JATS.

In a run the titles of what all searches of a round found come first, and only what is chosen is fetched.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

import httpx
from lxml import etree

from activities.contracts.evidence import Evidence, Provenance, Query
from activities.contracts.search import Preview
from activities.documents.jats import read_article
from activities.sources import publication
from activities.sources.base import Exchange, Listing
from activities.sources.http.reading import XmlReader
from activities.sources.ncbi import Eutils, read_tree
from activities.sources.records import new_record, read_records

MAX_ARTICLES = 50
"""Full texts asked for at once; one is about 200 kB of XML."""


class Pmc(Eutils):
    source = "pmc"

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        ids, named = await self.search(query, min(query.limit, MAX_ARTICLES))
        yield named
        if ids:
            yield replace(await self.fetch(ids, query.text), hits=named.hits)

    async def list_results(self, query: Query) -> Listing:
        """Ask esearch, then esummary for titles, of which those are chosen that are read."""
        ids, named = await self.search(query, min(query.limit, MAX_ARTICLES))
        titles = await self.titles(ids)
        results = (
            Preview(name=f"pmc:{number}", address=number, title=titles.get(number, ""), queries=(query.text,))
            for number in ids
        )
        return Listing(tuple(results), named.hits, 0, named.sent, named.detail)

    async def read_results(self, chosen: Sequence[Preview]) -> Mapping[str, Evidence | None]:
        """Fetch all that was chosen at once. Raises SourceError."""
        page = await self.fetch([preview.address for preview in chosen])
        by_number = {(record.identifiers.pmcid or "").removeprefix("PMC"): record for record in page.records}
        texts: dict[str, Evidence | None] = {}
        for preview in chosen:
            record = by_number.get(preview.address)
            asked = tuple(Provenance(source="pmc", query=query) for query in preview.queries)
            texts[preview.name] = record.replace(provenance=asked) if record else None
        return texts

    async def fetch(self, ids: Sequence[str], query: str = "") -> Exchange:
        """Fetch the articles of PMC ids (digits, without the prefix). Raises SourceError."""
        if not ids:
            return Exchange()
        return await self.efetch(ids, "xml", XmlReader(Exchange, read_articles, (len(ids), query)))


def read_articles(response: httpx.Response, asked: int, query: str) -> Exchange:
    """Read every article of a pmc-articleset that has a text. The others are counted, and why is said."""
    tree = read_tree(response, "pmc", "pmc-articleset")
    exchange = read_records("pmc", Query(text=query), tree.iterfind("article"), read_evidence, wanted=asked)
    closed = sum(not record.full_text for record in exchange.records)
    note = f"{closed} with the abstract only (publisher's choice)" if closed else ""
    return replace(exchange, detail="; ".join(filter(None, (exchange.detail, note))))


def read_evidence(article: etree._Element) -> Evidence:
    """Read a JATS article as evidence. Raises Malformed when it has no title."""
    read = read_article(article, "pmc")
    pmcid = read.identifiers.pmcid
    standing = publication.standing(read.types, read.notices)
    return new_record(
        "pmc",
        title=read.title,
        text="\n\n".join(filter(None, ("\n".join(filter(None, (read.abstract, read.body))), read.tables))),
        authors=read.authors,
        year=read.year,
        venue=read.journal,
        identifiers=read.identifiers,
        url=f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else None,
        evidence_type=publication.evidence_type(read.types),
        # The deposited file is not updated when a notice appears elsewhere: a file without a notice proves
        # nothing.
        standing="unknown" if standing == "none" else standing,
        notices=read.notices,
        full_text=bool(read.body),
        article_type=read.types,
        notice=publication.notice_itself(read.types),
    )
