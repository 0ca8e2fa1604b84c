"""Crossref works (https://api.crossref.org/swagger-ui/index.html).

A work's record lists the notices about it under `updated-by`; a notice's record names the work it is about
under `update-to`. The two are never mixed up: a notice does not affect its own standing, and its DOI is not
the work's.
"""

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, ClassVar, TypeVar
from urllib.parse import quote

import httpx
from pydantic import Field, JsonValue, ValidationError

from activities.contracts.errors import Malformed, Refused
from activities.contracts.evidence import (
    Evidence,
    EvidenceType,
    Identifiers,
    Query,
    StandingNotice,
)
from activities.contracts.identifiers import evidence_id, normal_doi
from activities.documents.markup import lines, plain
from activities.retractions.rules import RETRACTING_KINDS, kind_of, marked_title, standing_of
from activities.sources.base import Exchange
from activities.sources.filters import CROSSREF, in_words_of
from activities.sources.names import info_of
from activities.sources.records import (
    ApiSource,
    Wire,
    arxiv_of_doi,
    each,
    facts,
    read_page,
    read_records,
)

NAME = "crossref"
TITLE = "Crossref"
BASE_URL = "https://api.crossref.org"


Shape = TypeVar("Shape", bound=Wire)


class Dated(Wire):
    date_parts: tuple[tuple[int | None, ...], ...] = Field(default=(), alias="date-parts")

    @property
    def year(self) -> int | None:
        return self.date_parts[0][0] if self.date_parts and self.date_parts[0] else None

    @property
    def iso(self) -> str | None:
        """`2010-02-06`, `2010-02` or `2010`, as far as it is known."""
        parts = [part for part in (self.date_parts[0] if self.date_parts else ()) if part is not None]
        return "-".join(f"{part:02d}" for part in parts) or None


class Update(Wire):
    doi: str = Field(default="", alias="DOI")
    type: str = ""
    source: str = ""
    updated: Dated = Dated()


class Person(Wire):
    given: str = ""
    family: str = ""
    name: str = ""


class Work(Wire):
    doi: str = Field(alias="DOI")
    title: tuple[str, ...] = ()
    abstract: str = ""
    author: tuple[Person, ...] = ()
    issued: Dated = Dated()
    container_title: tuple[str, ...] = Field(default=(), alias="container-title")
    publisher: str = ""
    type: str = ""
    subtype: str = ""
    cited_by: int | None = Field(default=None, alias="is-referenced-by-count")
    trials: Annotated[tuple[str, ...], each("/clinical-trial-number")] = Field(
        default=(), alias="clinical-trial-number"
    )
    updated_by: tuple[Update, ...] = Field(default=(), alias="updated-by")
    update_to: tuple[Update, ...] = Field(default=(), alias="update-to")


class Works(Wire):
    items: tuple[JsonValue, ...]
    total: int = Field(default=0, alias="total-results")


class Page(Wire):
    status: str = ""
    message: JsonValue


class Crossref(ApiSource):
    """Searches the bibliographic record of everything that has a Crossref DOI."""

    url = BASE_URL
    info = info_of(NAME)
    who: ClassVar = {"mailto": "email"}
    rate_with_email = 10

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        asked = parameters(query)
        works = await self.ask(partial(read_message, Works), "works", asked)
        sent = f"query={asked['query']}; filter={asked['filter']}"
        yield read_records(NAME, query, works.items[: query.limit], read_work, hits=works.total, sent=sent)

    async def work(self, doi: str) -> Work | None:
        """The record of one DOI; None when Crossref has no such DOI (its 404 is plain text, and the DOI may
        be another agency's). Raises SourceError."""
        return await self.ask(read_one, f"works/{quote(doi, safe='')}", accept=(404,))


def parameters(query: Query) -> dict[str, str]:
    """What is asked. Works without an abstract have nothing to quote."""
    filters = ["has-abstract:true"]
    if query.filters.year_from:
        filters.append(f"from-pub-date:{query.filters.year_from}")
    if query.filters.year_to:
        filters.append(f"until-pub-date:{query.filters.year_to}")
    filters += [f"type:{name}" for name in in_words_of(CROSSREF, query.filters.publication_types)]
    return {"query": query.text, "rows": str(query.limit), "filter": ",".join(filters)}


def read_message(shape: type[Shape], response: httpx.Response) -> Shape:
    """What the envelope holds. Raises Malformed for another shape, Refused when Crossref rejects the request
    inside a 200."""
    page = read_page(Page, response, TITLE)
    if page.status == "failed":
        raise Refused(f"{TITLE} rejected the request: {' '.join(str(page.message).split())[:200]}")
    try:
        return shape.model_validate(page.message)
    except ValidationError as error:
        raise Malformed(f"{TITLE} sent a message of another shape: {str(page.message)[:100]}") from error


def read_one(response: httpx.Response) -> Work | None:
    """The record of a DOI; None where there is none. Raises as `read_message` does."""
    if response.status_code != 404:
        return read_message(Work, response)
    if "not found" in response.text[:200].lower() and not response.text.lstrip().startswith("<"):
        return None
    raise Malformed(f"{TITLE} answered 404 in words it does not use: {response.text[:100]!r}")


def read_work(item: JsonValue) -> Evidence:
    """One work; of a notice its facts say what it is and what it is about. Raises ValueError without a DOI or
    for another shape."""
    work = Work.model_validate(item)
    doi = normal_doi(work.doi)
    if doi is None:
        raise ValueError(f"{work.doi[:40]!r} is not a DOI")
    identifiers = Identifiers(doi=doi, arxiv=arxiv_of_doi(doi))
    title = plain(work.title[0]) if work.title else ""
    text = "\n".join(lines(work.abstract))
    own_notices = notices(work)
    type_: EvidenceType = (
        "preprint" if (work.type, work.subtype) == ("posted-content", "preprint") else "article"
    )
    return Evidence(
        evidence_id=evidence_id(identifiers, doi),
        source=NAME,
        title=title or "Untitled",
        text=text,
        authors=tuple(n for n in (p.name or f"{p.given} {p.family}".strip() for p in work.author) if n),
        year=work.issued.year,
        venue=(work.container_title[0] if work.container_title else work.publisher) or None,
        identifiers=identifiers,
        url=f"https://doi.org/{doi}",
        evidence_type=type_,
        standing=standing_of(own_notices),
        notices=own_notices,
        facts=facts(
            cited_by="" if work.cited_by is None else str(work.cited_by),
            work_type=work.type,
            publisher=work.publisher,
            trial_numbers=work.trials,
            notice=sorted({kind_of(u.type) or "" for u in noticed(work)}),
            notice_of=[normal_doi(u.doi) for u in noticed(work)],
        ),
    )


def noticed(work: Work) -> list[Update]:
    """The other works a record is a notice about; empty for what is no notice."""
    return [
        u for u in work.update_to if kind_of(u.type) and normal_doi(u.doi) not in (None, normal_doi(work.doi))
    ]


def notices(work: Work) -> tuple[StandingNotice, ...]:
    """The notices about a work: those that say they update it, those in its own record that name itself, and
    a title that says so. Of a notice about another work the title says nothing about itself."""
    own = normal_doi(work.doi)
    entries = []
    for update in (*work.updated_by, *(u for u in work.update_to if normal_doi(u.doi) == own)):
        kind = kind_of(update.type)
        if kind is not None:
            doi = normal_doi(update.doi)
            entries.append(
                StandingNotice(
                    kind=kind,
                    date=update.updated.iso,
                    doi=doi if doi != own else None,
                    reported_by=f"{NAME} ({update.source})" if update.source else NAME,
                )
            )
    if work.title and not noticed(work) and not any(n.kind in RETRACTING_KINDS for n in entries):
        entries += marked_title(work.title[0], NAME)
    return tuple(entries)
