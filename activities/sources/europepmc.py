"""Europe PMC: abstracts of PubMed and of the preprint servers, with retractions and withdrawals.

REST search, core results: https://europepmc.org/RestfulWebService. One exchange a search.
"""

from collections.abc import AsyncIterator
from typing import ClassVar

import httpx
from pydantic import JsonValue

from activities.contracts.errors import Refused
from activities.contracts.evidence import Evidence, Query
from activities.documents.jats import read_article
from activities.documents.markup import lines, plain
from activities.sources import publication
from activities.sources.base import Exchange
from activities.sources.filters import MESH, in_words_of, mesh_phases
from activities.sources.http.reading import read_xml
from activities.sources.names import info_of
from activities.sources.publication import year_of
from activities.sources.records import (
    ApiSource,
    Json,
    Matches,
    identifiers_of,
    new_record,
    read_records,
    read_shape,
)
from activities.text.person_names import person_name

BASE_URL = "https://www.ebi.ac.uk/europepmc/webservices/rest"
NAME = "europepmc"
_MAX_PAGE = 200


class EuropePmc(ApiSource):
    url = BASE_URL
    info = info_of(NAME)
    identity: ClassVar = {"email": "email"}

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        if not query.text.strip():
            raise Refused("europepmc was asked an empty query")
        sent = filtered_query(query)
        # Records without an abstract are set aside, so a few more are asked for than are wanted.
        max_works = min(query.limit + query.limit // 4 + 1, _MAX_PAGE)
        works, total = await self.works(sent, max_works, cursorMark="*")
        yield read_records(NAME, query, works, read_result, hits=total, sent=sent)

    async def works(self, text: str, max_works: int, **params: str) -> Matches:
        """Return the core results of a search, and how many match. Raises SourceError."""
        fields = {"query": text, "resultType": "core", "format": "json", "pageSize": str(max_works), **params}
        return await self.ask(read_search, "search", fields)


def filtered_query(query: Query) -> str:
    """Return the query as typed, with filters joined to it by AND."""
    clauses = []
    filters = query.filters
    if filters.year_from is not None or filters.year_to is not None:
        clauses.append(f"PUB_YEAR:[{filters.year_from or 1500} TO {filters.year_to or 3000}]")
    if filters.free_full_text:
        clauses.append("OPEN_ACCESS:Y")
    for types in (in_words_of(MESH, filters.publication_types), mesh_phases(filters)):
        if types:
            clause = " OR ".join(f'PUB_TYPE:"{name}"' for name in types)
            clauses.append(f"({clause})")
    return " AND ".join([f"({query.text})", *clauses]) if clauses else query.text


def read_search(response: httpx.Response) -> Matches:
    """Return the results of a search. Raises Refused for an error in place of results, and Malformed."""

    def read(body: Json) -> Matches:
        if message := body.text("/errMsg"):
            raise Refused(f"europepmc said: {message[:200]}")
        return body.matches("/resultList/result", "/hitCount")

    return read_shape(response, read, NAME)


def read_result(item: JsonValue) -> Evidence:
    """Read a core result. Raises ValueError when it has another shape or no title."""
    result = Json(item)
    number, source = result.required("/id"), result.required("/source")  # `MED` is PubMed, `PPR` preprints
    title = plain(result.required("/title"))
    if not title:
        raise ValueError("no title")
    types = result.texts("/pubTypeList/pubType")
    mesh = result.texts("/meshHeadingList/meshHeading", "/descriptorName")
    links = [
        (
            json.text("/type"),
            json.text("/reference"),
            json.text("/id") if json.text("/source") == "MED" else None,
        )
        for json in result.objects("/commentCorrectionList/commentCorrection")
    ]
    notices = publication.notices(links, NAME)
    is_preprint = source == "PPR"
    server = result.text("/bookOrReportDetails/publisher") if is_preprint else ""
    articles = (f"pmid:{pmid}" for kind, _, pmid in links if is_preprint and kind == "Preprint of" and pmid)
    return new_record(
        NAME,
        title=title,
        text="\n".join(lines(result.text("/abstractText"))),
        authors=map(_name, result.objects("/authorList/author")),
        year=year_of(result.text("/pubYear")),
        venue=result.text("/journalInfo/journal/title") or result.text("/journalTitle") or server,
        identifiers=identifiers_of(
            pmid=result.text("/pmid"), pmcid=result.text("/pmcid"), doi=result.text("/doi")
        ),
        url=f"https://europepmc.org/article/{source}/{number}",
        evidence_type="preprint" if is_preprint else publication.evidence_type(types, mesh),
        standing=publication.standing(types, notices),
        notices=notices,
        publication_types=types,
        mesh=mesh,
        notice=publication.notice_itself(types),
        preprint_server=server,
        published_as=next(articles, ""),
        open_access={"Y": "yes", "N": "no"}.get(result.text("/isOpenAccess"), ""),
    )


def _name(author: Json) -> str:
    """Return `Given Family`, a group by its name."""
    first_name = author.text("/firstName") or author.text("/initials")
    person = person_name(author.text("/lastName"), first_name)
    return person or author.text("/collectiveName") or author.text("/fullName")


def read_body_of(response: httpx.Response, pmcid: str) -> str:
    """Return the running text and the tables of the JATS article with this number.

    Empty where it is another's or has none, and for one that is not open (404). Raises Malformed.
    """
    if response.status_code == 404:
        return ""
    root = read_xml(response, NAME)
    article = root if root.tag == "article" else root.find(".//article")
    if article is None:
        return ""
    work = read_article(article, NAME)
    if not work.body or work.identifiers.pmcid not in (None, pmcid):
        return ""
    return "\n\n".join(filter(None, (work.body, work.tables)))
