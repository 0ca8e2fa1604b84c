"""Crossref works (https://api.crossref.org/swagger-ui/index.html).

A work's record lists the notices about it under `updated-by`; a notice's record names the work it is about
under `update-to`. The two are never mixed up: a notice does not affect its own standing, and its DOI is not
the work's.
"""

from collections.abc import AsyncIterator
from typing import ClassVar
from urllib.parse import quote

import httpx
from pydantic import JsonValue

from activities.contracts.errors import Malformed, Refused
from activities.contracts.evidence import Evidence, EvidenceType, Query, StandingNotice
from activities.contracts.identifiers import normal_doi
from activities.documents.markup import lines, plain
from activities.retractions.rules import RETRACTING_KINDS, kind_of, standing_of, title_notices
from activities.sources.base import Exchange
from activities.sources.filters import CROSSREF, in_words_of
from activities.sources.names import info_of
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

NAME = "crossref"
TITLE = "Crossref"


class Crossref(ApiSource):
    """Searches the bibliographic record of everything that has a Crossref DOI."""

    url = "https://api.crossref.org"
    info = info_of(NAME)
    identity: ClassVar = {"mailto": "email"}
    rate_with_email = 10

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        params = parameters(query)
        works, total = await self.ask(read_works, "works", params)
        sent = f"query={params['query']}; filter={params['filter']}"
        yield read_records(NAME, query, works[: query.limit], read_work, hits=total, sent=sent)

    async def notices(self, doi: str) -> tuple[StandingNotice, ...] | None:
        """Return the notices about the work with a DOI; None when Crossref has no such DOI.

        Its 404 is plain text, and the DOI may be another agency's. Raises SourceError.
        """
        return await self.ask(read_notices, f"works/{quote(doi, safe='')}", accept=(404,))


def parameters(query: Query) -> dict[str, str]:
    """Return what is asked. Works without an abstract have nothing to quote."""
    filters = ["has-abstract:true"]
    if query.filters.year_from:
        filters.append(f"from-pub-date:{query.filters.year_from}")
    if query.filters.year_to:
        filters.append(f"until-pub-date:{query.filters.year_to}")
    filters += [f"type:{name}" for name in in_words_of(CROSSREF, query.filters.publication_types)]
    return {"query": query.text, "rows": str(query.limit), "filter": ",".join(filters)}


def message(body: Json) -> Json:
    """Return what the envelope holds. Raises Refused when Crossref rejects the request inside a 200."""
    if body.text("/status") == "failed":
        raise Refused(f"{TITLE} rejected the request: {' '.join(str(body.at('/message')).split())[:200]}")
    return Json(body.at("/message"))


def read_works(response: httpx.Response) -> Matches:
    return read_shape(response, lambda body: message(body).matches("/items", "/total-results"), TITLE)


def read_notices(response: httpx.Response) -> tuple[StandingNotice, ...] | None:
    """Return the notices about the work of a DOI; None where there is no such DOI. Raises Malformed."""
    if response.status_code != 404:
        return read_shape(response, lambda body: notices(message(body)), TITLE)
    if "not found" in response.text[:200].lower() and not response.text.lstrip().startswith("<"):
        return None
    raise Malformed(f"{TITLE} answered 404 in words it does not use: {response.text[:100]!r}")


def read_work(item: JsonValue) -> Evidence:
    """Read a work; of a notice its facts say what it is and what it is about.

    Raises ValueError without a DOI or for another shape.
    """
    work = Json(item)
    doi = normal_doi(work.text("/DOI"))
    if doi is None:
        raise ValueError(f"{work.text('/DOI')[:40]!r} is not a DOI")
    notices_on_work, updates = notices(work), noticed_works(work)
    kind = (work.text("/type"), work.text("/subtype"))
    type_: EvidenceType = "preprint" if kind == ("posted-content", "preprint") else "article"
    people = ((p.text("/name"), p.text("/given"), p.text("/family")) for p in work.objects("/author"))
    return new_record(
        NAME,
        title=plain(work.text("/title/0")),
        text="\n".join(lines(work.text("/abstract"))),
        authors=(name or person_name(family, given) for name, given, family in people),
        year=work.number("/issued/date-parts/0/0"),
        venue=work.text("/container-title/0") or work.text("/publisher"),
        identifiers=identifiers_of(doi=doi),
        url=f"https://doi.org/{doi}",
        evidence_type=type_,
        standing=standing_of(notices_on_work),
        notices=notices_on_work,
        cited_by=work.text("/is-referenced-by-count"),
        work_type=work.text("/type"),
        publisher=work.text("/publisher"),
        trial_numbers=work.texts("/clinical-trial-number", "/clinical-trial-number"),
        notice=sorted({kind_of(update.text("/type")) or "" for update in updates}),
        notice_of=[normal_doi(update.text("/DOI")) for update in updates],
    )


def noticed_works(work: Json) -> list[Json]:
    """Return the other works that a record is a notice about; none for what is no notice."""
    identity = (None, normal_doi(work.text("/DOI")))
    updates = (update for update in work.objects("/update-to") if kind_of(update.text("/type")))
    return [update for update in updates if normal_doi(update.text("/DOI")) not in identity]


def notices(work: Json) -> tuple[StandingNotice, ...]:
    """Return the notices about a work.

    Those that say they update it, those in its own record that name itself, and a title that says so. Of a
    notice about another work the title says nothing about itself.
    """
    identifier, title = normal_doi(work.required("/DOI")), work.text("/title/0")
    updates = (u for u in work.objects("/update-to") if normal_doi(u.text("/DOI")) == identifier)
    entries = []
    for update in (*work.objects("/updated-by"), *updates):
        if kind := kind_of(update.text("/type")):
            doi, source = normal_doi(update.text("/DOI")), update.text("/source")
            date = (part.text() for part in update.objects("/updated/date-parts/0"))
            entries.append(
                StandingNotice(
                    kind=kind,
                    date="-".join(part.zfill(2) for part in date if part) or None,
                    doi=doi if doi != identifier else None,
                    reported_by=f"{NAME} ({source})" if source else NAME,
                )
            )
    if title and not noticed_works(work) and not any(n.kind in RETRACTING_KINDS for n in entries):
        entries += title_notices(title, NAME)
    return tuple(entries)
