"""Reading works in full before they are cited.

Europe PMC, the open addresses that OpenAlex and Semantic Scholar name, and Unpaywall, in this order, until
one gives a text.

Invariants:

* what a judge quoted keeps standing: the full text is added behind the text that is stored;
* a text counts only where it is of that work: by its PMCID, or because the title stands near its beginning;
* only the ways that the run permits are tried; a work without an open text stays as it is.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote

from temporalio import activity

from activities.contracts.errors import SourceError
from activities.contracts.evidence import FULL_TEXT_FROM, Evidence, EvidenceRef, Frozen
from activities.documents.text import has_title
from activities.evidence_store import EvidenceStore
from activities.heartbeat import heartbeating
from activities.logs import log
from activities.settings import Settings
from activities.sources.europepmc import BASE_URL, read_body_of
from activities.sources.http.client import Http
from activities.sources.http.pages import SafePages
from activities.sources.http.reading import XmlReader
from activities.sources.records import Json, read_shape

Way = Literal["europepmc", "open_address", "unpaywall"]
AT_ONCE = 4
MAX_ADDRESSES = 3
"""That Unpaywall names and that are tried."""
MIN_CHARS = 4_000
"""Characters of a full text: a page with the abstract alone is shorter."""
MAX_CHARS = 400_000
UNPAYWALL_URL = "https://api.unpaywall.org/v2"
FullText = tuple[str, str, tuple[int, ...]]
"""A text, where it is from, and where in it each page begins."""


class ReadInFull(Frozen):
    run_id: str
    evidence: tuple[EvidenceRef, ...]
    ways: tuple[Way, ...]


class FullTexts(Frozen):
    evidence: tuple[EvidenceRef, ...] = ()
    """Those that were read: the same works under other blobs."""


class FullTextActivities:
    def __init__(
        self, settings: Settings, http: Http, store: EvidenceStore, pages: SafePages | None = None
    ) -> None:
        self._http = http
        self._pages = pages or SafePages.of(settings, http.cache)
        self._store = store
        self._email = settings.email
        self._europepmc = settings.source_url("europepmc", BASE_URL)
        self._unpaywall = settings.source_url("unpaywall", UNPAYWALL_URL)
        self._offline = settings.offline
        http.pace("unpaywall", 5.0)

    @activity.defn
    async def read_in_full(self, step: ReadInFull) -> FullTexts:
        """Read what can be read; a work whose text cannot be had is left out of the answer."""
        if self._offline:
            return FullTexts()
        slots = asyncio.Semaphore(AT_ONCE)
        async with heartbeating():
            documents = await self._store.get_many(step.evidence)

            async def read(ref: EvidenceRef, item: Evidence) -> EvidenceRef | None:
                async with slots:
                    document = await self._read(item, step.ways)
                if document is None:
                    return None
                return (await self._store.put(document)).replace(
                    sections=ref.sections, queries=ref.queries, from_run=ref.from_run, standing=ref.standing
                )

            refs = await asyncio.gather(*map(read, step.evidence, documents))
        return FullTexts(evidence=tuple(ref for ref in refs if ref is not None))

    async def _read(self, item: Evidence, ways: Sequence[Way]) -> Evidence | None:
        """Return the item with its full text; None where no permitted way leads to one."""
        for way in ways:
            try:
                match way:
                    case "europepmc":
                        content = await self._of_europepmc(item)
                    case "open_address":
                        content = await self._at(item, (item.facts.get("open_access_url", ""),))
                    case "unpaywall":
                        content = await self._at(item, await self._addresses(item))
            except SourceError as error:
                log.info("full_text_not_read", evidence_id=item.evidence_id, way=way, reason=str(error))
                continue
            if content is not None:
                text, origin, pages = content
                abstract = f"{item.text}\n\n"
                return item.replace(
                    text=f"{abstract}{text[:MAX_CHARS]}",
                    full_text=True,
                    facts={**item.facts, FULL_TEXT_FROM: origin},
                    pages=tuple(len(abstract) + start for start in pages if start < MAX_CHARS),
                )
        return None

    async def _of_europepmc(self, item: Evidence) -> FullText | None:
        """Return the body of an open article.

        Raises SourceError.
        """
        pmcid = item.identifiers.pmcid
        if pmcid is None:
            return None
        reader = XmlReader(str, read_body_of, (pmcid,), apart=True)
        address = f"{self._europepmc}/{pmcid}/fullTextXML"
        text = await self._http.read("europepmc", reader, address, accept=(404,))
        return (text, "Europe PMC", ()) if text else None

    async def _addresses(self, item: Evidence) -> tuple[str, ...]:
        """Open addresses of a DOI. Raises SourceError."""
        doi = item.identifiers.doi
        if doi is None or not self._email:
            return ()
        response = await self._http.get(
            "unpaywall", f"{self._unpaywall}/{quote(doi)}", {"email": self._email}, accept=(404,)
        )
        if response.status_code == 404:
            return ()
        return read_shape(response, _addresses_in, "Unpaywall")

    async def _at(self, item: Evidence, addresses: Sequence[str]) -> FullText | None:
        """Return the text at the first address that has this work.

        Raises SourceError of the last one.
        """
        failure: SourceError | None = None
        for address in dict.fromkeys(filter(None, addresses)):
            try:
                page = await self._pages.read(address)
            except SourceError as error:
                failure = error
                continue
            text = page.text.text
            if len(text) >= max(MIN_CHARS, 2 * len(item.text)) and has_title(text, item.title):
                return text, page.url, page.text.pages
        if failure is not None:
            raise failure
        return None


def _addresses_in(body: Json) -> tuple[str, ...]:
    """Return what https://unpaywall.org/data-format says of a DOI: PDF files first, then the best page."""
    best_place = Json(body.at("/best_oa_location") or {})
    files = (place.text("/url_for_pdf") for place in (best_place, *body.objects("/oa_locations")))
    urls = dict.fromkeys(filter(None, (*files, best_place.text("/url"))))
    return tuple(urls)[:MAX_ADDRESSES]
