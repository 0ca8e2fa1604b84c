"""Europe PMC: abstracts of PubMed and of the preprint servers, with retractions and withdrawals.

REST search, core results: https://europepmc.org/RestfulWebService. One exchange a search.
"""

from collections.abc import AsyncIterator
from typing import Annotated, ClassVar

import httpx
from pydantic import AliasPath, Field, JsonValue

from activities.contracts.errors import Refused
from activities.contracts.evidence import Evidence, Identifiers, Query, StandingNotice
from activities.contracts.identifiers import evidence_id, normal_doi, normal_pmcid, normal_pmid
from activities.documents.jats import read_article
from activities.documents.markup import lines, plain
from activities.sources import publication
from activities.sources.base import Exchange
from activities.sources.filters import MESH, in_words_of, mesh_phases
from activities.sources.http.reading import read_json, read_xml
from activities.sources.names import info_of
from activities.sources.records import (
    ApiSource,
    CamelWire,
    Wire,
    at,
    each,
    facts,
    read_page,
    read_records,
    year_of,
)

BASE_URL = "https://www.ebi.ac.uk/europepmc/webservices/rest"
INFO = info_of("europepmc")
_MAX_PAGE = 200


class Author(CamelWire):
    first_name: str = ""
    initials: str = ""
    last_name: str = ""
    full_name: str = ""
    collective_name: str = ""

    @property
    def name(self) -> str:
        """`Given Family`, a group by its name."""
        person = f"{self.first_name or self.initials} {self.last_name}".strip()
        return person or self.collective_name or self.full_name


class Link(Wire):
    """What another record says about this one, or the other way round."""

    type: str = ""
    source: str = ""
    id: str = ""
    reference: str = ""


class Result(Wire):
    id: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]
    """`MED` is PubMed, `PPR` the preprint servers."""
    title: Annotated[str, Field(min_length=1)]
    abstract: str = at("/abstractText")
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    year: str = at("/pubYear")
    open_access: str = at("/isOpenAccess")
    journal_title: str = at("/journalTitle")
    journal: str = at("/journalInfo/journal/title")
    publisher: str = at("/bookOrReportDetails/publisher")
    types: tuple[str, ...] = at("/pubTypeList/pubType", ())
    mesh: Annotated[tuple[str, ...], each("/descriptorName")] = at("/meshHeadingList/meshHeading", ())
    authors: tuple[Author, ...] = at("/authorList/author", ())
    corrections: tuple[Link, ...] = at("/commentCorrectionList/commentCorrection", ())

    @property
    def notices(self) -> tuple[StandingNotice, ...]:
        """Retractions, corrections and expressions of concern about this work."""
        links = ((c.type, c.reference, c.id if c.source == "MED" else None) for c in self.corrections)
        return publication.notices(links, "europepmc")

    @property
    def published_as(self) -> str:
        """The PMID of the journal article a preprint became."""
        for link in self.corrections:
            if link.type == "Preprint of" and link.source == "MED":
                return f"pmid:{link.id}"
        return ""


class Page(Wire):
    hits: int = Field(default=0, alias="hitCount", ge=0, lt=10**12)
    results: tuple[JsonValue, ...] = Field(validation_alias=AliasPath("resultList", "result"))


class EuropePmc(ApiSource):
    url = BASE_URL
    info = INFO
    who: ClassVar = {"email": "email"}

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        if not query.text.strip():
            raise Refused("europepmc was asked an empty query")
        sent = narrowed(query)
        params = {
            "query": sent,
            "resultType": "core",
            "format": "json",
            # Records without an abstract are set aside, so a few more are asked for than are wanted.
            "pageSize": str(min(query.limit + query.limit // 4 + 1, _MAX_PAGE)),
            "cursorMark": "*",
        }
        page = await self.ask(read_search, "search", params)
        yield read_records("europepmc", query, page.results, read_result, hits=page.hits, sent=sent)


def narrowed(query: Query) -> str:
    """The query as typed, with filters joined to it by AND."""
    clauses = []
    filters = query.filters
    if filters.year_from is not None or filters.year_to is not None:
        clauses.append(f"PUB_YEAR:[{filters.year_from or 1500} TO {filters.year_to or 3000}]")
    if filters.free_full_text:
        clauses.append("OPEN_ACCESS:Y")
    for types in (in_words_of(MESH, filters.publication_types), mesh_phases(filters)):
        if types:
            wanted = " OR ".join(f'PUB_TYPE:"{name}"' for name in types)
            clauses.append(f"({wanted})")
    return " AND ".join([f"({query.text})", *clauses]) if clauses else query.text


def read_result(data: JsonValue) -> Evidence:
    """One core result. Raises ValueError when it has another shape or no title."""
    result = Result.model_validate(data)
    title = plain(result.title)
    if not title:
        raise ValueError("no title")
    preprint, text = result.source == "PPR", "\n".join(lines(result.abstract))
    types, mesh = result.types, result.mesh
    kind = "preprint" if preprint else publication.evidence_type(types, mesh)
    server = result.publisher if preprint else ""
    identifiers = Identifiers(
        pmid=normal_pmid(result.pmid), pmcid=normal_pmcid(result.pmcid), doi=normal_doi(result.doi)
    )
    return Evidence(
        evidence_id=evidence_id(identifiers, title),
        source="europepmc",
        title=title,
        text=text,
        authors=tuple(author.name for author in result.authors if author.name),
        year=year_of(result.year),
        venue=result.journal or result.journal_title or server or None,
        identifiers=identifiers,
        url=f"https://europepmc.org/article/{result.source}/{result.id}",
        evidence_type=kind,
        standing=publication.standing(types, result.notices),
        notices=result.notices,
        facts=facts(
            publication_types=types,
            mesh=mesh,
            notice=publication.notice_itself(types),
            preprint_server=server,
            published_as=result.published_as if preprint else "",
            open_access={"Y": "yes", "N": "no"}.get(result.open_access, ""),
        ),
    )


def read_search(response: httpx.Response) -> Page:
    """The answer of a search. Raises Refused for an error message in place of results, and Malformed."""
    body = read_json(response, "europepmc")
    if isinstance(body, dict) and body.get("errMsg"):
        raise Refused(f"europepmc said: {str(body['errMsg'])[:200]}")
    return read_page(Page, response, "europepmc")


def read_body_of(response: httpx.Response, pmcid: str) -> str:
    """The running text and the tables of the JATS article with this number; empty where it is another's or
    has none, and for one that is not open (404). Raises Malformed."""
    if response.status_code == 404:
        return ""
    root = read_xml(response, "europepmc")
    article = root if root.tag == "article" else root.find(".//article")
    if article is None:
        return ""
    read = read_article(article, "europepmc")
    if not read.body or read.identifiers.pmcid not in (None, pmcid):
        return ""
    return "\n\n".join(filter(None, (read.body, read.tables)))
