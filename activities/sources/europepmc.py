"""Europe PMC: abstracts of PubMed and of the preprint servers, with retractions and withdrawals.

REST search, core results: https://europepmc.org/RestfulWebService. One exchange a search.
"""

import re
from collections.abc import Mapping
from typing import Any

import httpx
import structlog
from lxml import etree
from lxml import html as lxml_html

from activities.documents.xml_text import raw_text, text_of
from activities.errors import Malformed, Refused
from activities.settings import Settings
from activities.sources import publication
from activities.sources.base import Exchange
from activities.sources.filters import MESH, in_words_of
from activities.sources.http.client import Http, read_json
from activities.types import Evidence, Identifiers, Provenance, Query, SourceInfo
from activities.verification.identifiers import evidence_id, normal_doi, normal_pmcid, normal_pmid

log = structlog.get_logger()

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
        return read_results(_read(response), query.text, sent)


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
    if types := in_words_of(MESH, filters.publication_types):
        wanted = " OR ".join(f'PUB_TYPE:"{name}"' for name in types)
        clauses.append(f"({wanted})")
    return " AND ".join([f"({query.text})", *clauses]) if clauses else query.text


def read_results(said: Mapping[str, Any], query: str, sent: str) -> Exchange:
    """Every result that has an abstract. The others are counted, and why is said."""
    records = []
    unreadable = without_text = 0
    for result in said["resultList"]["result"]:
        try:
            record = read_result(result, query)
        except (Malformed, ValueError, KeyError, TypeError, AttributeError) as error:
            unreadable += 1
            log.warning("record_set_aside", source="europepmc", error=repr(error))
            continue
        if record.text:
            records.append(record)
        else:
            without_text += 1
    if unreadable and not records and not without_text:
        raise Malformed(f"europepmc sent {unreadable} records, none of which can be read")
    notes = [
        f"{count} {what}"
        for count, what in ((without_text, "without an abstract"), (unreadable, "could not be read"))
        if count
    ]
    return Exchange(
        records=tuple(records),
        hits=int(said.get("hitCount") or 0),
        set_aside=unreadable + without_text,
        sent=sent,
        detail=f"set aside: {', '.join(notes)}" if notes else "",
    )


def read_result(result: Mapping[str, Any], query: str = "") -> Evidence:
    """One core result. Raises Malformed when it has no title; the caller counts other misshapes."""
    title = _plain_text(result.get("title") or "")
    if not title:
        raise Malformed(f"Europe PMC record {result.get('id')} has no title")
    preprint = result.get("source") == "PPR"
    types = [str(kind) for kind in (result.get("pubTypeList") or {}).get("pubType") or ()]
    mesh = [
        str(heading.get("descriptorName"))
        for heading in (result.get("meshHeadingList") or {}).get("meshHeading") or ()
    ]
    links = (result.get("commentCorrectionList") or {}).get("commentCorrection") or ()
    notices = tuple(
        found
        for link in links
        if (
            found := publication.notice(
                str(link.get("type") or ""),
                str(link.get("reference") or ""),
                str(link.get("id") or "") if link.get("source") == "MED" else None,
                "europepmc",
            )
        )
    )
    identifiers = Identifiers(
        pmid=normal_pmid(result.get("pmid")),
        pmcid=normal_pmcid(result.get("pmcid")),
        doi=normal_doi(result.get("doi")),
    )
    year = str(result.get("pubYear") or "")
    facts = {
        "publication_types": "; ".join(types),
        "mesh": "; ".join(mesh),
        "notice": publication.notice_itself(types) or "",
        "preprint_server": _publisher(result) if preprint else "",
        "published_as": _published_as(links) if preprint else "",
        "open_access": {"Y": "yes", "N": "no"}.get(str(result.get("isOpenAccess")), ""),
    }
    return Evidence(
        evidence_id=evidence_id(identifiers, title),
        source="europepmc",
        title=title,
        text=_plain_text(result.get("abstractText") or ""),
        authors=_authors(result),
        year=int(year) if year.isdigit() else None,
        venue=_venue(result) or (_publisher(result) if preprint else None),
        identifiers=identifiers,
        url=f"https://europepmc.org/article/{result['source']}/{result['id']}",
        evidence_type="preprint" if preprint else publication.evidence_type(types, mesh),
        standing=publication.standing(types, notices),
        notices=notices,
        facts={name: value for name, value in facts.items() if value},
        provenance=(Provenance(source="europepmc", query=query),),
    )


def _read(response: httpx.Response) -> dict[str, Any]:
    said = read_json(response, "europepmc")
    if isinstance(said, dict) and said.get("errMsg"):
        raise Refused(f"europepmc said: {str(said['errMsg'])[:200]}")
    results = said.get("resultList") if isinstance(said, dict) else None
    if not isinstance(results, dict) or not isinstance(results.get("result"), list):
        raise Malformed("europepmc sent JSON without a list of results")
    if not re.fullmatch(r"[0-9]{1,12}", str(said.get("hitCount") or 0)):
        raise Malformed(f"europepmc gave no number of hits: {str(said['hitCount'])[:40]!r}")
    return dict(said)


def _check(response: httpx.Response) -> None:
    _read(response)


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


def _authors(result: Mapping[str, Any]) -> tuple[str, ...]:
    """`Given Family`, groups by their name."""
    names = []
    for author in (result.get("authorList") or {}).get("author") or ():
        given = author.get("firstName") or author.get("initials") or ""
        name = f"{given} {author.get('lastName') or ''}".strip()
        if name := name or author.get("collectiveName") or author.get("fullName"):
            names.append(str(name))
    return tuple(names)


def _venue(result: Mapping[str, Any]) -> str | None:
    journal = (result.get("journalInfo") or {}).get("journal") or {}
    title = journal.get("title") or result.get("journalTitle")
    return str(title) if title else None


def _publisher(result: Mapping[str, Any]) -> str:
    return str((result.get("bookOrReportDetails") or {}).get("publisher") or "")


def _published_as(links: Any) -> str:  # noqa: ANN401 - a part of the recorded JSON
    """The PMID of the journal article a preprint became."""
    for link in links:
        if link.get("type") == "Preprint of" and link.get("source") == "MED":
            return f"pmid:{link.get('id')}"
    return ""
