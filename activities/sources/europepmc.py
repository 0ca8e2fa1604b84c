"""Europe PMC: abstracts of PubMed and of the preprint servers, with retractions and withdrawals.

REST search, core results: https://europepmc.org/RestfulWebService. One exchange a search.
"""

from collections.abc import Mapping
from typing import Annotated

import httpx
from lxml import etree
from lxml import html as lxml_html
from pydantic import Field, JsonValue

from activities.documents.xml_text import raw_text, text_of
from activities.errors import Refused
from activities.settings import Settings
from activities.sources import publication
from activities.sources.base import Exchange
from activities.sources.filters import MESH, in_words_of, mesh_phases
from activities.sources.http.client import Http
from activities.sources.http.reading import read_json
from activities.sources.records import Wire, facts, read_page, read_records, year_of
from activities.types import Evidence, Identifiers, Query, SourceInfo, StandingNotice
from activities.verification.identifiers import evidence_id, normal_doi, normal_pmcid, normal_pmid

BASE_URL = "https://www.ebi.ac.uk/europepmc/webservices/rest"
INFO = SourceInfo(
    name="europepmc",
    title="Europe PMC",
    covers="Abstracts of the life sciences including preprints (bioRxiv, medRxiv and others, marked as "
    "such), patents and theses. Understands boolean and field syntax.",
    how_to_enable="Enabled; no key is needed.",
    rate="10 requests a second",
    rate_per_second=10.0,
    domains=("biomedical", "clinical"),
)
_MAX_PAGE = 200
_HEADINGS = ("h1", "h2", "h3", "h4", "h5")
_BLOCKS = ("p", "li", "ul", "ol", "div", "br")


class PublicationTypes(Wire):
    names: tuple[str, ...] = Field(default=(), alias="pubType")


class Heading(Wire):
    descriptor: str = Field(default="", alias="descriptorName")


class Headings(Wire):
    headings: tuple[Heading, ...] = Field(default=(), alias="meshHeading")


class Author(Wire):
    first_name: str = Field(default="", alias="firstName")
    initials: str = ""
    last_name: str = Field(default="", alias="lastName")
    full_name: str = Field(default="", alias="fullName")
    collective_name: str = Field(default="", alias="collectiveName")

    @property
    def name(self) -> str:
        """`Given Family`, a group by its name."""
        person = f"{self.first_name or self.initials} {self.last_name}".strip()
        return person or self.collective_name or self.full_name


class Authors(Wire):
    authors: tuple[Author, ...] = Field(default=(), alias="author")


class Link(Wire):
    """What another record says about this one, or the other way round."""

    type: str = ""
    source: str = ""
    id: str = ""
    reference: str = ""


class Links(Wire):
    links: tuple[Link, ...] = Field(default=(), alias="commentCorrection")


class Journal(Wire):
    title: str = ""


class JournalInfo(Wire):
    journal: Journal = Journal()


class Book(Wire):
    publisher: str = ""


class Result(Wire):
    """A core result."""

    id: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]
    """`MED` is PubMed, `PPR` the preprint servers."""
    title: Annotated[str, Field(min_length=1)]
    abstract: str = Field(default="", alias="abstractText")
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    year: str = Field(default="", alias="pubYear")
    open_access: str = Field(default="", alias="isOpenAccess")
    journal_title: str = Field(default="", alias="journalTitle")
    journal_info: JournalInfo = Field(default=JournalInfo(), alias="journalInfo")
    book: Book = Field(default=Book(), alias="bookOrReportDetails")
    types: PublicationTypes = Field(default=PublicationTypes(), alias="pubTypeList")
    mesh: Headings = Field(default=Headings(), alias="meshHeadingList")
    authors: Authors = Field(default=Authors(), alias="authorList")
    corrections: Links = Field(default=Links(), alias="commentCorrectionList")

    @property
    def notices(self) -> tuple[StandingNotice, ...]:
        """Retractions, corrections and expressions of concern about this work."""
        found = (
            publication.notice(
                link.type, link.reference, link.id if link.source == "MED" else None, "europepmc"
            )
            for link in self.corrections.links
        )
        return tuple(notice for notice in found if notice)

    @property
    def published_as(self) -> str:
        """The PMID of the journal article a preprint became."""
        for link in self.corrections.links:
            if link.type == "Preprint of" and link.source == "MED":
                return f"pmid:{link.id}"
        return ""


class ResultList(Wire):
    results: tuple[JsonValue, ...] = Field(alias="result")


class Page(Wire):
    hits: int = Field(default=0, alias="hitCount", ge=0, lt=10**12)
    result_list: ResultList = Field(alias="resultList")


class EuropePmc:
    """See the module."""

    def __init__(self, settings: Settings, http: Http) -> None:
        self.info = INFO
        self._http = http
        self.address = settings.source_url("europepmc", BASE_URL)
        self._email = settings.email
        http.pace("europepmc", 10.0)

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """The best matches in one request. Raises SourceError."""
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
        if self._email:
            params["email"] = self._email
        response = await self._http.get("europepmc", f"{self.address}/search", params=params, check=_check)
        return read_results(_page(response), query, sent)


def build(settings: Settings, http: Http) -> EuropePmc:
    """The factory the registry calls."""
    return EuropePmc(settings, http)


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


def read_results(page: Page, query: Query, sent: str) -> Exchange:
    """Every result that has an abstract; the others are counted. Raises Malformed when none can be read."""
    batch = read_records("europepmc", query, page.result_list.results, read_result)
    return Exchange(
        records=batch.records, hits=page.hits, set_aside=batch.set_aside, sent=sent, detail=batch.detail
    )


def read_result(said: JsonValue) -> Evidence:
    """One core result. Raises ValueError when it has another shape or no title."""
    result = Result.model_validate(said)
    title = _plain_text(result.title)
    if not title:
        raise ValueError("no title")
    preprint = result.source == "PPR"
    types = result.types.names
    mesh = [heading.descriptor for heading in result.mesh.headings]
    server = result.book.publisher if preprint else ""
    identifiers = Identifiers(
        pmid=normal_pmid(result.pmid), pmcid=normal_pmcid(result.pmcid), doi=normal_doi(result.doi)
    )
    return Evidence(
        evidence_id=evidence_id(identifiers, title),
        source="europepmc",
        title=title,
        text=_plain_text(result.abstract),
        authors=tuple(author.name for author in result.authors.authors if author.name),
        year=year_of(result.year),
        venue=result.journal_info.journal.title or result.journal_title or server or None,
        identifiers=identifiers,
        url=f"https://europepmc.org/article/{result.source}/{result.id}",
        evidence_type="preprint"
        if preprint
        else publication.evidence_type(types, mesh, title, _plain_text(result.abstract)),
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


def _page(response: httpx.Response) -> Page:
    """The answer of a search. Raises Refused for an error message in place of results, and Malformed."""
    said = read_json(response, "europepmc")
    if isinstance(said, dict) and said.get("errMsg"):
        raise Refused(f"europepmc said: {str(said['errMsg'])[:200]}")
    return read_page(Page, response, "europepmc")


def _check(response: httpx.Response) -> None:
    _page(response)


def _plain_text(markup: str) -> str:
    """An abstract without its tags: headings become labels, one part a line."""
    if "<" not in markup:
        return " ".join(markup.split())
    try:
        root = lxml_html.fragment_fromstring(markup, create_parent="div")
    except (etree.ParserError, etree.XMLSyntaxError):
        return " ".join(markup.split())
    for element in list(root.iter(*_HEADINGS, *_BLOCKS)):
        if element is root:
            continue
        if element.tag in _HEADINGS:
            label = text_of(element).rstrip(":")
            for child in list(element):
                element.remove(child)
            element.text = f"\n{label}: "
        else:
            element.text = f"\n{element.text or ''}"
            element.tail = f"\n{element.tail or ''}"
    return "\n".join(folded for line in raw_text(root).split("\n") if (folded := " ".join(line.split())))
