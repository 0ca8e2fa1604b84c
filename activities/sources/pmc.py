"""PubMed Central: the full text of open biomedical articles. A search is esearch, then efetch of JATS."""

from collections.abc import Mapping, Sequence

import structlog
from lxml import etree

from activities.documents.jats import read_article
from activities.errors import Malformed
from activities.settings import Settings
from activities.sources import publication
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.ncbi import QUEUE, Eutils, requests_per_second
from activities.types import Evidence, Provenance, Query, SourceInfo
from activities.verification.identifiers import evidence_id

log = structlog.get_logger()

MAX_ARTICLES = 50
"""Full texts asked for at once; one is about 200 kB of XML."""


class Pmc:
    """See the module."""

    def __init__(self, settings: Settings, http: Http) -> None:
        rate = requests_per_second(settings)
        self._eutils = Eutils("pmc", "pmc", settings, http)
        self.address = self._eutils.address
        self.info = SourceInfo(
            name="pmc",
            title="PubMed Central",
            covers="Full text of open-access biomedical articles: methods, results and discussions that "
            "abstracts leave out.",
            key_setting="NCBI_API_KEY",
            how_to_enable="Enabled. Shares PubMed's rate; a free key (NCBI_API_KEY) raises it.",
            rate=f"{rate:.0f} requests a second, together with PubMed",
            rate_per_second=rate,
            queue=QUEUE,
            domains=("biomedical", "clinical"),
        )

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """esearch without a cursor, efetch of the cursor's ids with one. Raises SourceError."""
        if cursor is None:
            found = await self._eutils.search(query, min(query.limit, MAX_ARTICLES))
            ids = found.ids[:MAX_ARTICLES]
            step = {"ids": ",".join(ids), "hits": str(found.count)} if ids else None
            return Exchange(hits=found.count, sent=found.term, cursor=step, detail=found.notes)
        ids = tuple(part for part in cursor.get("ids", "").split(",") if part)
        hits = cursor.get("hits", "")
        step_two = await self.fetch(ids, query.text)
        return Exchange(
            step_two.records,
            int(hits) if hits.isdigit() else len(ids),
            step_two.set_aside,
            detail=step_two.detail,
        )

    async def fetch(self, ids: Sequence[str], query: str = "") -> Exchange:
        """The articles of PMC ids (digits, without the prefix). Raises SourceError."""
        if not ids:
            return Exchange()
        return await self._eutils.fetch(
            ids, "pmc-articleset", "xml", Exchange, read_articles, len(ids), query
        )


def build(settings: Settings, http: Http) -> Pmc:
    """The factory the registry calls."""
    return Pmc(settings, http)


def read_articles(tree: etree._Element, asked: int, query: str) -> Exchange:
    """Every article of a pmc-articleset that has a text. The others are counted, and why is said."""
    records = []
    unreadable = without_text = 0
    for article in tree.iterfind("article"):
        try:
            record = read_evidence(article, query)
        except (Malformed, ValueError) as error:
            unreadable += 1
            log.warning("record_set_aside", source="pmc", error=str(error))
            continue
        if record.text:
            records.append(record)
        else:
            without_text += 1
    absent = max(asked - len(records) - unreadable - without_text, 0)
    notes = [
        f"{count} {what}"
        for count, what in (
            (without_text, "without a text"),
            (unreadable, "could not be read"),
            (absent, "not returned"),
        )
        if count
    ]
    closed = sum(not record.full_text for record in records)
    detail = f"set aside: {', '.join(notes)}" if notes else ""
    if closed:
        detail = "; ".join(filter(None, (detail, f"{closed} with the abstract only (publisher's choice)")))
    return Exchange(
        records=tuple(records),
        hits=len(records),
        set_aside=unreadable + without_text + absent,
        detail=detail,
    )


def read_evidence(article: etree._Element, query: str = "") -> Evidence:
    """One JATS article as evidence. Raises Malformed when it has no title."""
    read = read_article(article, "pmc")
    pmcid = read.identifiers.pmcid
    said = publication.standing(read.types, read.notices)
    facts = {"article_type": "; ".join(read.types), "notice": publication.notice_itself(read.types) or ""}
    return Evidence(
        evidence_id=evidence_id(read.identifiers, read.title + read.body),
        source="pmc",
        title=read.title,
        text="\n\n".join(filter(None, ("\n".join(filter(None, (read.abstract, read.body))), read.tables))),
        authors=read.authors,
        year=read.year,
        venue=read.journal,
        identifiers=read.identifiers,
        url=f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else None,
        evidence_type=publication.evidence_type(read.types, (), read.title, read.abstract),
        # The deposited file is not updated when a notice appears elsewhere: a file without a notice proves
        # nothing.
        standing="unknown" if said == "none" else said,
        notices=read.notices,
        full_text=bool(read.body),
        facts={name: value for name, value in facts.items() if value},
        provenance=(Provenance(source="pmc", query=query),),
    )
