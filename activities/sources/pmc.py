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
        ids, summary = await self.search(query, min(query.limit, MAX_ARTICLES))
        yield summary
        if ids:
            yield replace(await self.fetch(ids, query.text), hits=summary.hits)

    async def list_results(self, query: Query) -> Listing:
        """Ask esearch, then esummary for titles, of which those are chosen that are read."""
        ids, summary = await self.search(query, min(query.limit, MAX_ARTICLES))
        titles = await self.titles(ids)
        results = (
            Preview(name=f"pmc:{number}", address=number, title=titles.get(number, ""), queries=(query.text,))
            for number in ids
        )
        return Listing(tuple(results), summary.hits, 0, summary.sent, summary.detail)

    async def read_results(self, previews: Sequence[Preview]) -> Mapping[str, Evidence | None]:
        """Fetch all that was chosen at once. Raises SourceError."""
        page = await self.fetch([preview.address for preview in previews])
        by_number = {(record.identifiers.pmcid or "").removeprefix("PMC"): record for record in page.records}
        texts: dict[str, Evidence | None] = {}
        for preview in previews:
            record = by_number.get(preview.address)
            provenance = tuple(Provenance(source="pmc", query=query) for query in preview.queries)
            texts[preview.name] = record.replace(provenance=provenance) if record else None
        return texts

    async def fetch(self, ids: Sequence[str], query: str = "") -> Exchange:
        """Fetch the articles of PMC ids (digits, without the prefix). Raises SourceError."""
        if not ids:
            return Exchange()
        return await self.efetch(ids, "xml", XmlReader(Exchange, read_articles, (len(ids), query)))


def read_articles(response: httpx.Response, count: int, query: str) -> Exchange:
    """Read every article of a pmc-articleset that has a text. The others are counted, and why is said."""
    tree = read_tree(response, "pmc", "pmc-articleset")
    exchange = read_records("pmc", Query(text=query), tree.iterfind("article"), read_evidence, expected=count)
    abstracts = sum(not record.full_text for record in exchange.records)
    note = f"{abstracts} with the abstract only (publisher's choice)" if abstracts else ""
    return replace(exchange, detail="; ".join(filter(None, (exchange.detail, note))))


def read_evidence(article: etree._Element) -> Evidence:
    """Read a JATS article as evidence. Raises Malformed when it has no title."""
    work = read_article(article, "pmc")
    pmcid = work.identifiers.pmcid
    standing = publication.standing(work.types, work.notices)
    return new_record(
        "pmc",
        title=work.title,
        text="\n\n".join(filter(None, ("\n".join(filter(None, (work.abstract, work.body))), work.tables))),
        authors=work.authors,
        year=work.year,
        venue=work.journal,
        identifiers=work.identifiers,
        url=f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else None,
        evidence_type=publication.evidence_type(work.types),
        # The deposited file is not updated when a notice appears elsewhere: a file without a notice proves
        # nothing.
        standing="unknown" if standing == "none" else standing,
        notices=work.notices,
        full_text=bool(work.body),
        article_type=work.types,
        notice=publication.notice_itself(work.types),
    )
