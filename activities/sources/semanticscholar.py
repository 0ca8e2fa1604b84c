"""Semantic Scholar's Academic Graph API (https://api.semanticscholar.org/api-docs/graph).

The search accepts plain words and finds nothing for a hyphenated one; as its documentation asks, hyphens
within words are sent as spaces, and the ledger shows what was sent. The summaries it generates (`tldr`) are
shown as a fact and are never part of the text, for no author wrote them.
"""

import re
from collections.abc import AsyncIterator
from functools import partial
from typing import ClassVar

from pydantic import JsonValue

from activities.contracts.errors import Malformed, RateLimited, Refused
from activities.contracts.evidence import Evidence, EvidenceType, Query
from activities.documents.markup import plain
from activities.retractions.rules import title_notices
from activities.sources.base import Exchange
from activities.sources.filters import SEMANTIC_SCHOLAR, in_words_of
from activities.sources.names import info_of
from activities.sources.publication import is_preprint
from activities.sources.records import (
    ApiSource,
    Json,
    Matches,
    identifiers_of,
    new_record,
    read_records,
    read_shape,
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


class SemanticScholar(ApiSource):
    url = "https://api.semanticscholar.org/graph/v1"
    info = info_of(NAME)
    headers: ClassVar = {"x-api-key": "semanticscholar_api_key"}

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        params = parameters(query)
        for offset in range(0, query.limit, PER_PAGE):
            reader = partial(read_shape, reader=papers_in, source=TITLE)
            papers, total = await self.ask(reader, "paper/search", {**params, "offset": str(offset)})
            items = papers[: query.limit - offset]
            yield read_records(NAME, query, items, read_paper, hits=total, sent=params["query"])
            if len(papers) < PER_PAGE:
                return


def parameters(query: Query) -> dict[str, str]:
    """Return what is asked. Raises Refused when nothing is left to look for."""
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


def papers_in(body: Json) -> Matches:
    """Return the papers of an answer. One without `data` is empty only when it says that the total is 0.

    Raises RateLimited for a 429 inside a 200, Malformed for anything else.
    """
    if body.at("/data") is not None:
        return body.matches("/data", "/total")
    if body.number("/total") == 0:
        return Matches([], 0)
    message = " ".join(f"{body.text('/code')} {body.text('/message')}".split())[:200]
    if body.text("/code") == "429" or "too many requests" in message.lower():
        raise RateLimited(f"{TITLE} said {message}")
    raise Malformed(f"{TITLE} sent JSON without data{f': {message}' if message else ''}")


def read_paper(item: JsonValue) -> Evidence:
    """Read a paper. Raises ValueError for another shape."""
    paper = Json(item)
    number, title = paper.required("/paperId"), paper.text("/title")
    notices = title_notices(title, NAME)
    return new_record(
        NAME,
        title=title,
        text=plain(paper.text("/abstract")),
        authors=paper.texts("/authors", "/name"),
        year=paper.number("/year"),
        venue=paper.text("/journal/name") or paper.text("/venue"),
        identifiers=identifiers_of(
            pmid=paper.text("/externalIds/PubMed"),
            pmcid=paper.text("/externalIds/PubMedCentral"),
            doi=paper.text("/externalIds/DOI"),
            arxiv=paper.text("/externalIds/ArXiv"),
            s2=number,
        ),
        url=paper.text("/url") or f"https://www.semanticscholar.org/paper/{number}",
        evidence_type=type_of(paper),
        notices=notices,
        cited_by=paper.text("/citationCount"),
        publication_types=paper.texts("/publicationTypes"),
        open_access_url=paper.text("/openAccessPdf/url"),
        tldr=paper.text("/tldr/text"),
    )


def type_of(paper: Json) -> EvidenceType:
    """Return the type by the publication types; a preprint when nothing but a preprint server has it."""
    venue = (paper.text("/venue") or paper.text("/journal/name")).lower()
    if is_preprint(venue):
        return "preprint"
    types = paper.texts("/publicationTypes")
    stated_type = next((kind for name, kind in TYPES if name in types), None)
    if stated_type is None and paper.text("/externalIds/ArXiv") and not venue:
        return "preprint"
    return stated_type or "article"
