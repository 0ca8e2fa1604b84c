"""Unpaywall (https://unpaywall.org/products/api): where a work may legally be read, by its DOI.

It is asked by identifier and never searched: it has no text to quote.
"""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import quote

import httpx
from pydantic import JsonValue, ValidationError

from activities.errors import Malformed, Refused
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.records import Wire, read_page
from activities.types import Frozen, Query, SourceInfo
from activities.verification.identifiers import normal_doi

NAME = "unpaywall"
TITLE = "Unpaywall"
NO_ADDRESS = "Unpaywall wants the e-mail address of those who ask it; set DETERMINATOR_EMAIL"


class OpenAccess(Frozen):
    """Where a work may legally be read."""

    doi: str
    url: str
    """Of a PDF when `kind` is `pdf`, else of the page that leads to the text."""
    kind: Literal["pdf", "page"]
    host: str = ""
    """`publisher` or `repository`."""
    version: str = ""
    """`publishedVersion`, `acceptedVersion` or `submittedVersion`."""
    license: str = ""
    status: str = ""
    """`gold`, `hybrid`, `bronze` or `green`."""


class Location(Wire):
    url: str = ""
    url_for_pdf: str = ""
    url_for_landing_page: str = ""
    host_type: str = ""
    version: str = ""
    license: str = ""


class Record(Wire):
    doi: str
    is_oa: bool
    oa_status: str = ""
    best_oa_location: Location | None = None
    oa_locations: tuple[JsonValue, ...] = ()


class Unpaywall:
    """Looks up DOIs; see `open_access`."""

    info = SourceInfo(
        name=NAME,
        title=TITLE,
        covers="Legal open-access copies of works with a DOI.",
        needs_key=True,
        key_setting="DETERMINATOR_EMAIL",
        how_to_enable="Set DETERMINATOR_EMAIL to your address; no key is needed.",
        rate="100,000 a day",
        domains=("general",),
        role="lookup",
    )

    def __init__(self, url: str, http: Http, email: str | None = None) -> None:
        self.address = url
        self._http = http
        self._email = email
        self.missing = "" if email else f"{NO_ADDRESS}."

    async def open_access(self, doi: str) -> OpenAccess | None:
        """The best legal copy: a PDF before a page, Unpaywall's own first choice before others. None when
        there is none or the DOI is unknown. Raises SourceError."""
        if not self._email:
            raise Refused(NO_ADDRESS)
        name = normal_doi(doi)
        if name is None:
            raise Refused(f"{doi[:80]!r} is not a DOI")
        response = await self._http.get(
            NAME,
            f"{self.address}/{quote(name, safe='')}",
            {"email": self._email},
            accept=(404,),
            check=_sound,
        )
        if response.status_code == 404:
            check_unknown(response)
            return None
        return best(read_page(Record, response, TITLE))

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """Look up the DOI in the query. No record comes of it, for there is no text: where the work can be
        read is said in the detail. Raises SourceError."""
        found = await self.open_access(query.text)
        if found is None:
            return Exchange(sent=query.text, detail="no open copy is known")
        about = ", ".join(t for t in (found.host, found.version, found.license) if t)
        return Exchange(hits=1, set_aside=1, sent=found.doi, detail=f"{found.kind} at {found.url} ({about})")


def build(settings: Settings, http: Http) -> Unpaywall:
    """The source as configured."""
    return Unpaywall(settings.source_url(NAME, "https://api.unpaywall.org/v2"), http, settings.email)


def best(record: Record) -> OpenAccess | None:
    """The copy to read, or None. A malformed location is passed over; only web addresses count."""
    if not record.is_oa:
        return None
    locations = [record.best_oa_location] if record.best_oa_location else []
    for item in record.oa_locations:
        try:
            locations.append(Location.model_validate(item))
        except ValidationError:
            continue
    for kind in ("pdf", "page"):
        for location in locations:
            url = location.url_for_pdf if kind == "pdf" else location.url_for_landing_page or location.url
            if url.startswith(("https://", "http://")):
                return OpenAccess(
                    doi=record.doi,
                    url=url,
                    kind="pdf" if kind == "pdf" else "page",
                    host=location.host_type,
                    version=location.version,
                    license=location.license,
                    status=record.oa_status,
                )
    return None


def check_unknown(response: httpx.Response) -> None:
    """A DOI Unpaywall does not have is a 404 whose JSON says so; another 404 is a fault. Raises Malformed."""
    if '"HTTP_status_code"' not in response.text and "unpaywall" not in response.text.lower():
        raise Malformed(f"{TITLE} answered 404 in words it does not use: {response.text[:100]!r}")


def _sound(response: httpx.Response) -> None:
    """A check for `Http.get`: what is no record is not stored."""
    read_page(Record, response, TITLE)
