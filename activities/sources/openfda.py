"""openFDA's drug endpoints (https://open.fda.gov/apis/drug/): labels, approvals, adverse event reports.

One search is up to three exchanges, one an endpoint; `filters.options["endpoint"]` (`label`, `drugsfda` or
`event`) asks only one. Of the limit the adverse events use one record, approvals up to a third, labels the
rest. 404 is openFDA's way to say that nothing matches.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import ClassVar
from urllib.parse import urlencode

import httpx
from pydantic import JsonValue

from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.contracts.evidence import Evidence, Query
from activities.sources.base import Exchange
from activities.sources.http.failures import failure, retry_after
from activities.sources.names import info_of
from activities.sources.openfda_records import read_approval, read_label, read_reactions
from activities.sources.records import ApiSource, Wire, at, database_record, read_page, read_records, year_of

NAME = "openfda"
TITLE = "openFDA"
REACTIONS = 25

FIELDED = re.compile(r"(?:^|[\s(+-])_?[a-z][\w.]*:(?!/)\S")
"""Field syntax as in `openfda.generic_name:"imatinib"` or `_exists_:boxed_warning`."""
_PART = re.compile(r'"[^"]*"|[()]|[^\s()"]+')
_BOOLEAN = frozenset({"AND", "OR", "NOT"})
_KEPT = _BOOLEAN | {"(", ")"}
_NAMES = ("openfda.generic_name", "openfda.brand_name", "openfda.substance_name")
_REPORTED_NAMES = (
    "patient.drug.openfda.generic_name",
    "patient.drug.openfda.brand_name",
    "patient.drug.medicinalproduct",
)
_APPROVED_NAMES = ("openfda.generic_name", "openfda.brand_name", "products.brand_name")


class Fault(Wire):
    code: str = ""
    message: str = ""
    details: str = ""


class Page(Wire):
    results: tuple[JsonValue, ...] = ()
    total: int = at("/meta/results/total", 0)
    last_updated: str = at("/meta/last_updated")
    error: Fault | None = None


class OpenFda(ApiSource):
    """Searches what the FDA publishes about a drug. The query is best one drug's name, or field syntax."""

    url = "https://api.fda.gov"
    info = info_of(NAME)
    headers: ClassVar = {"x-api-key": "openfda_api_key"}

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        for endpoint, share in shares_of(query).items():
            params = parameters(endpoint, query.text, share)
            page = await self.ask(answer, f"drug/{endpoint}.json", params, accept=(404, 500))
            if endpoint == "event":
                address = f"{self.address}/drug/event.json?{urlencode(params)}"
                read_counts = partial(reaction_report, asked=query.text, address=address)
                exchange = read_records(NAME, query, [page] if page.results else [], read_counts)
            else:
                read = read_approval if endpoint == "drugsfda" else read_label
                exchange = read_records(NAME, query, page.results, read)
            detail = f"{endpoint}: {exchange.detail or ('no match' if not page.results else '')}".rstrip(": ")
            hits = page.total or len(exchange.records) + exchange.set_aside
            yield replace(exchange, hits=hits, sent=params["search"], detail=detail)


def shares_of(query: Query) -> dict[str, int]:
    """Endpoints to ask, in order, with how many records each may return. Raises Refused for an unknown
    one."""
    asked = query.filters.options.get("endpoint", "")
    if asked:
        if asked not in ("label", "drugsfda", "event"):
            raise Refused(f"openFDA has no endpoint {asked!r} here; ask label, drugsfda or event")
        return {asked: query.limit}
    events = 1 if query.limit > 1 else 0
    approvals = min(query.limit // 3, 20)
    shares = {"label": query.limit - events - approvals, "drugsfda": approvals, "event": events}
    return {endpoint: share for endpoint, share in shares.items() if share}


def parameters(endpoint: str, text: str, limit: int) -> dict[str, str]:
    if endpoint == "event":
        return {
            "search": lucene(text, _REPORTED_NAMES),
            "count": "patient.reaction.reactionmeddrapt.exact",
            "limit": str(REACTIONS),
        }
    approved = endpoint == "drugsfda"
    search = lucene(text, _APPROVED_NAMES) if approved else lucene(text, _NAMES, anywhere=True)
    return {"search": search, "limit": str(limit)}


def lucene(text: str, names: tuple[str, ...], anywhere: bool = False) -> str:
    """A query in openFDA's Lucene dialect.

    Text with field syntax is kept as typed. Other text is looked for in the name fields: as one phrase, or
    with the booleans that were typed; with `anywhere` also as words that must all occur in the record, since
    openFDA joins bare words with OR. Words with special characters are quoted, for openFDA answers 500 to
    those it cannot parse.
    """
    if FIELDED.search(text):
        return text
    parts = _PART.findall(text)
    if text.count('"') % 2 or not balanced(parts):
        parts = re.sub(r'["()]', " ", text).split()
    words = [
        part if part in _KEPT else quoted(part) for part in parts if part in _KEPT or re.search(r"\w", part)
    ]
    if all(word in _KEPT for word in words):
        raise Refused("openFDA needs a word to look for; name a drug")
    if any(word in _BOOLEAN for word in words):
        typed = " ".join(words)
        clause = " OR ".join(f"{name}:({typed})" for name in names)
        return f"{clause} OR ({typed})" if anywhere else clause
    phrase = '"' + re.sub(r'[\\"()]', " ", text).strip() + '"'
    clause = " OR ".join(f"{name}:{phrase}" for name in names)
    if not anywhere:
        return clause
    every = " AND ".join(word for word in words if word not in _KEPT)
    return f"{clause} OR ({every})"


def balanced(parts: list[str]) -> bool:
    depth = 0
    for part in parts:
        depth += {"(": 1, ")": -1}.get(part, 0)
        if depth < 0:
            return False
    return depth == 0


def quoted(word: str) -> str:
    """A word as it is when it is plain, else as a phrase."""
    if re.fullmatch(r"\w+", word):
        return word
    inner = re.sub(r'[\\"]', " ", word).strip()
    return f'"{inner}"'


def answer(response: httpx.Response) -> Page:
    """The page, with openFDA's error bodies recognized under any status.

    Raises SourceError; no match is an empty page.
    """
    try:
        page = read_page(Page, response, TITLE)
    except Malformed:
        if response.status_code != 200:
            raise failure(response, TITLE) from None
        raise
    if page.error is None:
        if response.status_code != 200:
            raise failure(response, TITLE)
        if "results" not in page.model_fields_set:
            raise Malformed(f"{TITLE} sent JSON without results")
        return page
    if page.error.code == "NOT_FOUND" and response.status_code < 500:
        return Page()
    raise fault(page.error, response)


def fault(error: Fault, response: httpx.Response) -> SourceError:
    """The error behind openFDA's code. A query it cannot parse is a SERVER_ERROR, but will not get better."""
    text = f"{TITLE} said {error.code}: {' '.join(f'{error.message} {error.details}'.split())[:200]}"
    if error.code == "OVER_RATE_LIMIT":
        return RateLimited(text, retry_after=retry_after(response.headers))
    if re.search(r"token_mgr_error|parse_exception|lexical error", error.details, re.IGNORECASE):
        return Refused(f"{text} (the query cannot be parsed; quote its special characters)")
    if error.code == "SERVER_ERROR" or response.status_code >= 500:
        return Unavailable(text, retry_after=retry_after(response.headers))
    return Refused(text)


def reaction_report(page: Page, asked: str, address: str) -> Evidence:
    """The most reported reactions as one record; its address names it, since it shows the same count
    again."""
    text = read_reactions(page.results, asked)
    return database_record(
        NAME,
        text,
        title=f"Adverse events reported to the FDA: {asked}",
        text=text,
        year=year_of(page.last_updated),
        venue="FDA Adverse Event Reporting System (FAERS)",
        url=address,
        evidence_type="adverse_events",
        last_updated=page.last_updated,
        caution="Reports do not show that a drug caused a reaction, and counts are not rates.",
    )
