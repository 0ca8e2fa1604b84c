"""openFDA's drug endpoints (https://open.fda.gov/apis/drug/): labels, approvals, adverse event reports.

One search is up to three exchanges, one an endpoint; `filters.options["endpoint"]` (`label`, `drugsfda` or
`event`) asks only one. Of the limit the adverse events use one record, approvals up to a third, labels the
rest. 404 is openFDA's way to say that nothing matches.
"""

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar, NamedTuple
from urllib.parse import urlencode

import httpx
from pydantic import JsonValue

from activities.contracts.errors import RateLimited, Refused, SourceError, Unavailable
from activities.contracts.evidence import Evidence, Identifiers, Query
from activities.sources.base import Exchange
from activities.sources.http.failures import failure, retry_after
from activities.sources.names import info_of
from activities.sources.publication import year_of
from activities.sources.records import (
    ApiSource,
    Json,
    SetAside,
    database_record,
    read_records,
    read_shape,
)

NAME = "openfda"
TITLE = "openFDA"
REACTIONS = 25

FIELDED = re.compile(r"(?:^|[\s(+-])_?[a-z][\w.]*:(?!/)\S")
"""Field syntax as in `openfda.generic_name:"imatinib"` or `_exists_:boxed_warning`."""
_WORD = re.compile(r"\w+(?:['-]\w+)*")
_NAMES = ("openfda.generic_name", "openfda.brand_name", "openfda.substance_name")
_REPORTED_NAMES = (
    "patient.drug.openfda.generic_name",
    "patient.drug.openfda.brand_name",
    "patient.drug.medicinalproduct",
)
_APPROVED_NAMES = ("openfda.generic_name", "openfda.brand_name", "products.brand_name")


SECTIONS = {
    "boxed_warning": "Boxed warning",
    "indications_and_usage": "Indications and usage",
    "purpose": "Purpose",
    "mechanism_of_action": "Mechanism of action",
    "pharmacodynamics": "Pharmacodynamics",
    "pharmacokinetics": "Pharmacokinetics",
    "clinical_studies": "Clinical studies",
    "dosage_and_administration": "Dosage and administration",
    "contraindications": "Contraindications",
    "warnings_and_cautions": "Warnings and precautions",
    "warnings": "Warnings",
    "precautions": "Precautions",
    "do_not_use": "Do not use",
    "stop_use": "Stop use",
    "adverse_reactions": "Adverse reactions",
    "drug_interactions": "Drug interactions",
    "use_in_specific_populations": "Use in specific populations",
    "pregnancy": "Pregnancy",
    "pregnancy_or_breast_feeding": "Pregnancy or breast-feeding",
    "overdosage": "Overdosage",
}
"""Label sections that are kept, in the order a reader wants them, with their headings.

Tables come a second time as HTML (`..._table`) and are left out.
"""

STATUS = {"AP": "approved", "TA": "tentatively approved"}
"""https://open.fda.gov/apis/drug/drugsfda/searchable-fields/ (submissions.submission_status)."""


class Page(NamedTuple):
    results: Sequence[JsonValue] = ()
    total: int = 0
    last_updated: str = ""


class OpenFda(ApiSource):
    """Searches what the FDA publishes about a drug. The query is best one drug's name, or field syntax."""

    url = "https://api.fda.gov"
    info = info_of(NAME)
    headers: ClassVar = {"x-api-key": "openfda_api_key"}

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        total = 0
        for endpoint, share in shares_of(query).items():
            params = parameters(endpoint, query.text, share)
            page = await self.ask(answer, f"drug/{endpoint}.json", params, accept=(404, 500))
            if endpoint == "event":
                address = f"{self.address}/drug/event.json?{urlencode(params)}"
                reports = [reaction_report(page, query.text, address)] if page.results else []
                exchange = read_records(NAME, query, reports, lambda report: report)
            else:
                reader = read_approval if endpoint == "drugsfda" else read_label
                exchange = read_records(NAME, query, page.results, reader)
            detail = f"{endpoint}: {exchange.detail or ('no match' if not page.results else '')}".rstrip(": ")
            # of a search of several endpoints, whose records are different ones
            total += page.total or len(exchange.records) + exchange.set_aside
            yield replace(exchange, hits=total, sent=params["search"], detail=detail)


def shares_of(query: Query) -> dict[str, int]:
    """Return the endpoints to ask, in order, with how many records each may return.

    Raises Refused for an unknown one.
    """
    endpoint = query.filters.options.get("endpoint", "")
    if endpoint:
        if endpoint not in ("label", "drugsfda", "event"):
            raise Refused(f"openFDA has no endpoint {endpoint!r} here; ask label, drugsfda or event")
        return {endpoint: query.limit}
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
    is_approval = endpoint == "drugsfda"
    search = lucene(text, _APPROVED_NAMES) if is_approval else lucene(text, _NAMES, anywhere=True)
    return {"search": search, "limit": str(limit)}


def lucene(text: str, names: tuple[str, ...], anywhere: bool = False) -> str:
    """Return a query in openFDA's Lucene dialect; text with field syntax is kept as typed.

    Words are looked for in the name fields as one phrase, and with `anywhere` also as words that must all
    occur in the record, since openFDA joins bare words with OR. Raises Refused for a text without a word.
    """
    if FIELDED.search(text):
        return text
    # openFDA answers 500 to special characters that it cannot parse
    words = [word for word in _WORD.findall(text) if word not in ("AND", "OR", "NOT")]
    if not words:
        raise Refused("openFDA needs a word to look for; name a drug")
    clause = " OR ".join(f'{name}:"{" ".join(words)}"' for name in names)
    terms = " AND ".join(word if word.isalnum() else f'"{word}"' for word in words)
    return f"{clause} OR ({terms})" if anywhere else clause


def answer(response: httpx.Response) -> Page:
    """Return a page; one without results where nothing matches. Raises SourceError, whatever the status."""

    def read(body: Json) -> Page:
        code = body.text("/error/code")
        if code == "NOT_FOUND" and response.status_code < 500:
            return Page()
        if body.at("/error") is not None:
            raise fault(body, response)
        if response.status_code != 200:
            raise failure(response, TITLE)
        results, total = body.matches("/results"), body.number("/meta/results/total") or 0
        return Page(results.items, total, body.text("/meta/last_updated"))

    return read_shape(response, read, TITLE)


def fault(body: Json, response: httpx.Response) -> SourceError:
    """Return the error behind openFDA's code.

    A query it cannot parse is a SERVER_ERROR, but will not get better.
    """
    code, details = body.text("/error/code"), body.text("/error/details")
    words = f"{body.text('/error/message')} {details}".split()
    message = f"{TITLE} said {code}: {' '.join(words)[:200]}"
    if code == "OVER_RATE_LIMIT":
        return RateLimited(message, retry_after=retry_after(response.headers))
    if re.search(r"token_mgr_error|parse_exception|lexical error", details, re.IGNORECASE):
        return Refused(f"{message} (the query cannot be parsed; quote its special characters)")
    if code == "SERVER_ERROR" or response.status_code >= 500:
        return Unavailable(message, retry_after=retry_after(response.headers))
    return Refused(message)


def read_label(item: JsonValue) -> Evidence:
    """Read a drug's label. Raises ValueError for another shape."""
    label = Json(item)
    number, effective_date = label.required("/set_id"), label.text("/effective_time")
    names = Json(label.at("/openfda") or {})
    return database_record(
        NAME,
        title=f"{drug_name(names) or number} - drug label",
        text="\n\n".join(sections_of(label)),
        authors=names.texts("/manufacturer_name")[:1],
        year=year_of(effective_date),
        venue="FDA structured product labeling",
        identifiers=Identifiers(fda=number),
        url=f"https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid={number}",
        evidence_type="drug_label",
        brand_name=names.texts("/brand_name"),
        generic_name=names.texts("/generic_name"),
        substance_name=names.texts("/substance_name"),
        route=names.texts("/route"),
        product_type=names.texts("/product_type"),
        application_number=names.texts("/application_number"),
        pharmacologic_class=names.texts("/pharm_class_epc"),
        mechanism_class=names.texts("/pharm_class_moa"),
        effective_date=iso_date(effective_date),
        label_version=label.text("/version"),
    )


def sections_of(label: Json) -> Iterator[str]:
    for field, heading in SECTIONS.items():
        parts = label.at(f"/{field}")
        texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
        if text := "\n".join(part for part in texts if part.strip()):
            yield f"{heading}\n{text}"


def read_approval(item: JsonValue) -> Evidence:
    """Read an application with its products and submissions. Raises ValueError for another shape."""
    application = Json(item)
    number, sponsor = application.required("/application_number"), application.text("/sponsor_name")
    products = application.objects("/products")
    submissions = sorted(application.objects("/submissions"), key=_date)
    if not (products or submissions):
        raise SetAside("without text to quote")
    originals = [submission for submission in submissions if submission.text("/submission_type") == "ORIG"]
    approvals = [submission for submission in originals if submission.text("/submission_status") == "AP"]
    original = next(iter(approvals or originals), None)
    dates = list(filter(None, map(_date, submissions)))
    brands = list(dict.fromkeys(filter(None, (product.text("/brand_name") for product in products))))
    names = Json(application.at("/openfda") or {})
    return database_record(
        NAME,
        title=f"{drug_name(names) or ', '.join(brands) or number} - FDA application {number}",
        text="\n".join(approval_lines(number, sponsor, products, submissions)),
        authors=(sponsor,),
        year=year_of(_date(original) if original else None) or year_of(next(iter(dates), "")),
        venue="Drugs@FDA",
        identifiers=Identifiers(fda=number),
        url="https://www.accessdata.fda.gov/scripts/cder/daf/index.cfm?event=overview.process&ApplNo="
        + "".join(c for c in number if c.isdigit()),
        evidence_type="regulatory",
        application_number=number,
        sponsor=sponsor,
        approval_status=status_words(original) if original else "",
        approval_date=iso_date(_date(approvals[0])) if approvals else "",
        latest_action=iso_date(dates[-1]) if dates else "",
        marketing_status=sorted({product.text("/marketing_status") for product in products}),
        brand_name=brands,
        generic_name=names.texts("/generic_name"),
    )


def _date(submission: Json) -> str:
    return submission.text("/submission_status_date")


def approval_lines(
    number: str, sponsor: str, products: Sequence[Json], submissions: Sequence[Json]
) -> Iterator[str]:
    """Yield an application as text: number, original submission, products, then the later submissions."""
    yield f"FDA application {number}{f', sponsor {sponsor}' if sponsor else ''}."
    for submission in submissions:
        if submission.text("/submission_type") == "ORIG":
            yield submission_line("Original submission", submission)
    for product in products:
        ingredients = ", ".join(
            " ".join(filter(None, (part.text("/name"), part.text("/strength"))))
            for part in product.objects("/active_ingredients")
        )
        forms = (product.text("/dosage_form").lower(), product.text("/route").lower())
        form, status = ", ".join(filter(None, forms)), product.text("/marketing_status")
        details = f"{f' ({ingredients})' if ingredients else ''}{f', {form}' if form else ''}"
        marketing = f". Marketing status: {status}" if status else ""
        yield f"Product: {product.text('/brand_name')}{details}{marketing}."
    for submission in submissions:
        if (kind := submission.text("/submission_type")) != "ORIG":
            yield submission_line("Supplement" if kind == "SUPPL" else kind, submission)


def submission_line(label: str, submission: Json) -> str:
    """Return a line: `Supplement 11: approved on 2024-03-08 (Efficacy), review priority: priority`."""
    date, priority = _date(submission), submission.text("/review_priority")
    description = submission.text("/submission_class_code_description")
    date_text = f" on {iso_date(date)}" if date else ""
    review = f", review priority: {priority.lower()}" if priority not in ("", "N/A") else ""
    number = submission.text("/submission_number")
    reason = f" ({description})" if description else ""
    return f"{label} {number}: {status_words(submission)}{date_text}{reason}{review}."


def status_words(submission: Json) -> str:
    """Return the status of a submission in words; an unknown code as it is."""
    code = submission.text("/submission_status")
    return STATUS.get(code, f"status {code}" if code else "no status")


def reaction_report(page: Page, query: str, address: str) -> Evidence:
    """Return the most reported reactions as one record, most frequent first.

    Its address names it, since it shows the same count again. A malformed count is left out.
    """
    lines = []
    for reaction in map(Json, page.results):
        with suppress(ValueError):
            term, count = reaction.required("/term"), int(reaction.required("/count"))
            lines.append(f"{term.capitalize()}: {count} reports.")
    system = "the FDA Adverse Event Reporting System"
    head = f"Reactions most often named in reports to {system} that match {query}:"
    return database_record(
        NAME,
        title=f"Adverse events reported to the FDA: {query}",
        text="\n".join([head, *lines]) if lines else "",
        year=year_of(page.last_updated),
        venue="FDA Adverse Event Reporting System (FAERS)",
        url=address,
        evidence_type="adverse_events",
        last_updated=page.last_updated,
        caution="Reports do not show that a drug caused a reaction, and counts are not rates.",
    )


def drug_name(names: Json) -> str:
    """Return both names: `KEYTRUDA (PEMBROLIZUMAB)`; one when they are the same."""
    brand_name, generic_name = names.text("/brand_name/0"), names.text("/generic_name/0")
    if brand_name and generic_name and brand_name.casefold() != generic_name.casefold():
        return f"{brand_name} ({generic_name})"
    return brand_name or generic_name


def iso_date(date: str) -> str:
    """Return `20240308` as `2024-03-08`; anything else as it is."""
    return f"{date[:4]}-{date[4:6]}-{date[6:]}" if len(date) == 8 and date.isdigit() else date
