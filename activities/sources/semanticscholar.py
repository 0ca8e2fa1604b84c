"""Semantic Scholar's Academic Graph API (https://api.semanticscholar.org/api-docs/graph).

The search accepts plain words and finds nothing for a hyphenated one; as its documentation asks, hyphens
within words are sent as spaces, and the ledger shows what was sent. The summaries it generates (`tldr`) are
shown as a fact and are never part of the text, for no author wrote them.
"""

import re
from collections.abc import AsyncIterator
from typing import Annotated, ClassVar

import httpx
from pydantic import JsonValue

from activities.contracts.errors import Malformed, RateLimited, Refused
from activities.contracts.evidence import Evidence, EvidenceType, Identifiers, Query
from activities.contracts.identifiers import (
    evidence_id,
    normal_arxiv,
    normal_doi,
    normal_pmcid,
    normal_pmid,
)
from activities.documents.markup import plain
from activities.retractions.rules import marked_title, standing_of
from activities.sources.base import Exchange
from activities.sources.filters import SEMANTIC_SCHOLAR, in_words_of
from activities.sources.names import info_of
from activities.sources.publication import is_preprint
from activities.sources.records import (
    ApiSource,
    CamelWire,
    Wire,
    arxiv_of_doi,
    at,
    each,
    facts,
    read_page,
    read_records,
)

NAME = "semanticscholar"
TITLE = "Semantic Scholar"
PER_PAGE = 100
FIELDS = (
    "title,abstract,year,venue,authors,externalIds,publicationTypes,openAccessPdf,citationCount,journal,"
    "tldr,url"
)
TYPES: tuple[tuple[str, EvidenceType], ...] = (
    ("MetaAnalysis", "meta_analysis"),
    ("ClinicalTrial", "clinical_trial"),
    ("CaseReport", "case_report"),
    ("Review", "review"),
)
"""The first that a paper has counts."""


class Paper(CamelWire):
    paper_id: str
    title: str = ""
    abstract: str = ""
    year: int | None = None
    venue: str = ""
    journal: str = at("/journal/name")
    authors: Annotated[tuple[str, ...], each("/name")] = ()
    doi: str = at("/externalIds/DOI")
    pmid: str = at("/externalIds/PubMed")
    pmcid: str = at("/externalIds/PubMedCentral")
    arxiv: str = at("/externalIds/ArXiv")
    publication_types: tuple[str, ...] = ()
    open_pdf: str = at("/openAccessPdf/url")
    citation_count: int | None = None
    tldr: str = at("/tldr/text")
    url: str = ""


class Page(Wire):
    data: tuple[JsonValue, ...] | None = None
    total: int | None = None
    code: str = ""
    message: str = ""


class SemanticScholar(ApiSource):
    url = "https://api.semanticscholar.org/graph/v1"
    info = info_of(NAME)
    headers: ClassVar = {"x-api-key": "semanticscholar_api_key"}

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        params = parameters(query)
        for offset in range(0, query.limit, PER_PAGE):
            items, total = await self.ask(answer, "paper/search", {**params, "offset": str(offset)})
            hits = len(items) if total is None else total
            wanted = items[: query.limit - offset]
            yield read_records(NAME, query, wanted, read_paper, hits=hits, sent=params["query"])
            if len(items) < PER_PAGE:
                return


def parameters(query: Query) -> dict[str, str]:
    """What is asked. Raises Refused when nothing is left to look for."""
    words = re.sub(r"(?<=\w)[-\u2010-\u2015](?=\w)", " ", query.text)
    if not re.search(r"\w", words):
        raise Refused(f"{TITLE} was asked without a word to look for")
    params = {"query": words, "limit": str(min(query.limit, PER_PAGE)), "fields": FIELDS}
    if types := in_words_of(SEMANTIC_SCHOLAR, query.filters.publication_types):
        params["publicationTypes"] = ",".join(types)
    if query.filters.free_full_text:
        params["openAccessPdf"] = ""
    if query.filters.year_from or query.filters.year_to:
        params["year"] = f"{query.filters.year_from or ''}-{query.filters.year_to or ''}"
    return params


def answer(response: httpx.Response) -> tuple[tuple[JsonValue, ...], int | None]:
    """The items and the total. A page without `data` is empty only when it says that the total is 0.

    Raises RateLimited for a 429 inside a 200, Malformed for anything else.
    """
    page = read_page(Page, response, TITLE)
    if page.data is not None:
        return page.data, page.total
    if page.total == 0:
        return (), 0
    message = " ".join(f"{page.code} {page.message}".split())[:200]
    if page.code == "429" or "too many requests" in page.message.lower():
        raise RateLimited(f"{TITLE} said {message}")
    raise Malformed(f"{TITLE} sent JSON without data{f': {message}' if message else ''}")


def read_paper(item: JsonValue) -> Evidence:
    """One paper. Raises ValueError for another shape."""
    paper = Paper.model_validate(item)
    doi = normal_doi(paper.doi)
    identifiers = Identifiers(
        pmid=normal_pmid(paper.pmid),
        pmcid=normal_pmcid(paper.pmcid),
        doi=doi,
        arxiv=normal_arxiv(paper.arxiv) or arxiv_of_doi(doi),
        s2=paper.paper_id,
    )
    notices = marked_title(paper.title, NAME)
    return Evidence(
        evidence_id=evidence_id(identifiers, paper.abstract),
        source=NAME,
        title=paper.title or "Untitled",
        text=plain(paper.abstract),
        authors=paper.authors,
        year=paper.year,
        venue=paper.journal or paper.venue or None,
        identifiers=identifiers,
        url=paper.url or f"https://www.semanticscholar.org/paper/{paper.paper_id}",
        evidence_type=type_of(paper),
        standing=standing_of(notices, otherwise="unknown"),
        notices=notices,
        facts=facts(
            cited_by="" if paper.citation_count is None else str(paper.citation_count),
            publication_types=paper.publication_types,
            open_access_url=paper.open_pdf,
            tldr=paper.tldr,
        ),
    )


def type_of(paper: Paper) -> EvidenceType:
    """The type from the publication types; a preprint when nothing but a preprint server has it."""
    venue = (paper.venue or paper.journal).lower()
    if is_preprint(venue):
        return "preprint"
    own_type = next((kind for name, kind in TYPES if name in paper.publication_types), None)
    if own_type is None and paper.arxiv and not venue:
        return "preprint"
    return own_type or "article"
