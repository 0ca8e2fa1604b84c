"""Semantic Scholar's Academic Graph API (https://api.semanticscholar.org/api-docs/graph).

The search accepts plain words and finds nothing for a hyphenated one; as its documentation asks, hyphens
within words are sent as spaces, and the ledger shows what was sent. The summaries it generates (`tldr`) are
shown as a fact and are never part of the text, for no author wrote them.

`filters.options["endpoint"] = "snippet"` searches passages of full texts in place of titles and abstracts.
"""

import re
from collections.abc import Mapping, Sequence

import httpx
from pydantic import Field, JsonValue

from activities.errors import Malformed, RateLimited, Refused
from activities.retractions.rules import marked_title, standing_of
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.filters import SEMANTIC_SCHOLAR, in_words_of
from activities.sources.http.client import Http
from activities.sources.records import (
    Wire,
    arxiv_of_doi,
    facts,
    read_page,
    read_records,
    type_from_title,
    type_from_words,
)
from activities.types import Evidence, EvidenceType, Identifiers, Query, SourceInfo
from activities.verification.identifiers import (
    evidence_id,
    normal_arxiv,
    normal_doi,
    normal_pmcid,
    normal_pmid,
)

NAME = "semanticscholar"
TITLE = "Semantic Scholar"
QUEUE = "determinator-semanticscholar"
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
PREPRINT_SERVERS = ("arxiv", "biorxiv", "medrxiv", "chemrxiv", "research square", "ssrn", "preprints.org")


class Ids(Wire):
    doi: str = Field(default="", alias="DOI")
    pmid: str = Field(default="", alias="PubMed")
    pmcid: str = Field(default="", alias="PubMedCentral")
    arxiv: str = Field(default="", alias="ArXiv")


class Named(Wire):
    name: str = ""


class Pdf(Wire):
    url: str = ""


class Tldr(Wire):
    text: str = ""


class Paper(Wire):
    paperId: str  # noqa: N815 - the API's spelling, here and below
    title: str = ""
    abstract: str = ""
    year: int | None = None
    venue: str = ""
    journal: Named = Named()
    authors: tuple[Named, ...] = ()
    externalIds: Ids = Ids()  # noqa: N815
    publicationTypes: tuple[str, ...] = ()  # noqa: N815
    openAccessPdf: Pdf = Pdf()  # noqa: N815
    citationCount: int | None = None  # noqa: N815
    tldr: Tldr = Tldr()
    url: str = ""


class Snippet(Wire):
    text: str = ""
    snippetKind: str = ""  # noqa: N815
    section: str = ""


class SnippetPaper(Wire):
    corpusId: str  # noqa: N815
    title: str = ""
    authors: tuple[str, ...] = ()


class Passage(Wire):
    snippet: Snippet
    paper: SnippetPaper


class Page(Wire):
    data: tuple[JsonValue, ...] | None = None
    total: int | None = None
    code: str = ""
    message: str = ""


class SemanticScholar:
    """Searches titles and abstracts, or passages of full texts."""

    info = SourceInfo(
        name=NAME,
        title=TITLE,
        covers="200 million papers of every field, ranked by relevance, with citation counts and open PDFs.",
        key_setting="S2_API_KEY",
        how_to_enable="No key is needed; without one (https://www.semanticscholar.org/product/api) in "
        "S2_API_KEY the rate is shared by all users and often exhausted.",
        rate="1 a second",
        rate_per_second=1,
        queue=QUEUE,
        domains=("general", "biomedical"),
    )

    def __init__(self, url: str, http: Http, key: str | None = None) -> None:
        self.address = url
        self._http = http
        self._headers = {"x-api-key": key} if key else {}
        http.pace(NAME, 1)

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """Fetch one page. Raises SourceError."""
        offset = int(cursor["offset"]) if cursor else 0
        passages = query.filters.options.get("endpoint") == "snippet"
        params = parameters(query, passages)
        if not passages:
            params["offset"] = str(offset)
        path = "snippet/search" if passages else "paper/search"
        response = await self._http.get(NAME, f"{self.address}/{path}", params, self._headers, check=_sound)
        items, total = answer(response)
        wanted = items[: query.limit - offset]
        batch = read_records(NAME, query, wanted, read_passage if passages else read_paper)
        seen = offset + len(items)
        more = not passages and len(items) == PER_PAGE and seen < query.limit
        return Exchange(
            records=joined(batch.records) if passages else batch.records,
            hits=total if total is not None else len(items),
            set_aside=batch.set_aside,
            sent=params["query"],
            cursor={"offset": str(seen)} if more else None,
            detail=batch.detail,
        )


def build(settings: Settings, http: Http) -> SemanticScholar:
    """The source as configured."""
    key = settings.semanticscholar_api_key
    url = settings.source_url(NAME, "https://api.semanticscholar.org/graph/v1")
    return SemanticScholar(url, http, key.get_secret_value() if key else None)


def parameters(query: Query, passages: bool = False) -> dict[str, str]:
    """What is asked. Raises Refused when nothing is left to look for."""
    words = re.sub(r"(?<=\w)[-\u2010-\u2015](?=\w)", " ", query.text)
    if not re.search(r"\w", words):
        raise Refused(f"{TITLE} was asked without a word to look for")
    params = {"query": words, "limit": str(min(query.limit, PER_PAGE))}
    if not passages:
        params["fields"] = FIELDS
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
    said = " ".join(f"{page.code} {page.message}".split())[:200]
    if page.code == "429" or "too many requests" in page.message.lower():
        raise RateLimited(f"{TITLE} said {said}")
    raise Malformed(f"{TITLE} sent JSON without data{f': {said}' if said else ''}")


def _sound(response: httpx.Response) -> None:
    """A check for `Http.get`: a page without data is not stored."""
    answer(response)


def read_paper(item: JsonValue) -> Evidence:
    """One paper. Raises ValueError for another shape."""
    paper = Paper.model_validate(item)
    doi = normal_doi(paper.externalIds.doi)
    identifiers = Identifiers(
        pmid=normal_pmid(paper.externalIds.pmid),
        pmcid=normal_pmcid(paper.externalIds.pmcid),
        doi=doi,
        arxiv=normal_arxiv(paper.externalIds.arxiv) or arxiv_of_doi(doi),
        s2=paper.paperId,
    )
    notices = tuple(n for n in [marked_title(paper.title, NAME)] if n)
    return Evidence(
        evidence_id=evidence_id(identifiers, paper.abstract),
        source=NAME,
        title=paper.title or "Untitled",
        text=paper.abstract,
        authors=tuple(a.name for a in paper.authors if a.name),
        year=paper.year,
        venue=paper.journal.name or paper.venue or None,
        identifiers=identifiers,
        url=paper.url or f"https://www.semanticscholar.org/paper/{paper.paperId}",
        evidence_type=type_of(paper),
        standing=standing_of(notices, otherwise="unknown"),
        notices=notices,
        facts=facts(
            cited_by="" if paper.citationCount is None else str(paper.citationCount),
            publication_types=paper.publicationTypes,
            open_access_url=paper.openAccessPdf.url,
            tldr=paper.tldr.text,
        ),
    )


def type_of(paper: Paper) -> EvidenceType:
    """The type from the publication types; a preprint when nothing but a preprint server has it."""
    venue = (paper.venue or paper.journal.name).lower()
    if any(server in venue for server in PREPRINT_SERVERS):
        return "preprint"
    known = next((kind for name, kind in TYPES if name in paper.publicationTypes), None)
    if known is None and paper.externalIds.arxiv and not venue:
        return "preprint"
    return type_from_words(paper.title, paper.abstract, known or "article")


def read_passage(item: JsonValue) -> Evidence:
    """A passage of a paper, known by its corpus number. Raises ValueError for another shape."""
    passage = Passage.model_validate(item)
    paper, snippet = passage.paper, passage.snippet
    number = f"CorpusId:{paper.corpusId}"
    identifiers = Identifiers(s2=number)
    return Evidence(
        evidence_id=evidence_id(identifiers, number),
        source=NAME,
        title=paper.title or "Untitled",
        text=snippet.text,
        authors=paper.authors,
        identifiers=identifiers,
        url=f"https://api.semanticscholar.org/{number}",
        evidence_type=type_from_title(paper.title, "article"),
        facts=facts(passage_of=snippet.snippetKind, section=snippet.section),
    )


def joined(records: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """One record a paper, with all its passages."""
    papers: dict[str, Evidence] = {}
    for record in records:
        known = papers.get(record.evidence_id)
        text = f"{known.text}\n\n{record.text}" if known else record.text
        papers[record.evidence_id] = (known or record).model_copy(update={"text": text})
    return tuple(papers.values())
