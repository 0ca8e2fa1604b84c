"""ClinicalTrials.gov, API version 2 (https://clinicaltrials.gov/data-api/api).

What may be quoted is the registration itself: its summaries word for word, and its fields and posted results
as one statement a line. `filters.options`: `trial_status` (as in `TERMINATED, WITHDRAWN`), `phase` (as in
`PHASE2`), `intervention` and `condition` (searches of those fields; the query's text may then be empty).
"""

import re
from collections.abc import AsyncIterator, Iterable, Iterator

import httpx
from pydantic import JsonValue

from activities.contracts.errors import Refused
from activities.contracts.evidence import Evidence, Identifiers, Query
from activities.contracts.identifiers import normal_doi, normal_nct, normal_pmid
from activities.sources.base import Exchange
from activities.sources.filters import phases
from activities.sources.http.failures import summary
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

NAME = "clinicaltrials"
TITLE = "ClinicalTrials.gov"
PAGE_SIZE = 25
"""Records of one exchange: with posted results a record may have hundreds of kilobytes."""
FIELDS = (
    "IdentificationModule,StatusModule,SponsorCollaboratorsModule,DescriptionModule,ConditionsModule,"
    "DesignModule,ArmsInterventionsModule,OutcomesModule,EligibilityModule,ReferencesModule,"
    "OutcomeMeasuresModule"
)
REFUSES_EVERYTHING = (
    "ClinicalTrials.gov answered 403 ({summary}). It may refuse this client's TLS handshake, and then it "
    "refuses every search. If the same address opens in a browser, run a forwarding proxy and set "
    "DETERMINATOR_CLINICALTRIALS_URL to it, or leave the source out with "
    "DETERMINATOR_DISABLED_SOURCES='[\"clinicaltrials\"]'; Europe PMC finds many trials by NCT number."
)


RESULTS = "/resultsSection/outcomeMeasuresModule/outcomeMeasures"
IDENTITY, DESCRIPTION = "/identificationModule", "/descriptionModule"
STATUS, DESIGN = "/statusModule", "/designModule"
"""Places of what a registration says; everything but the NCT number may be absent."""
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
"""A sign of Markdown behind its backslash."""


class ClinicalTrials(ApiSource):
    """Searches all fields of the registrations with the query as typed (`query.term`)."""

    url = "https://clinicaltrials.gov/api/v2"
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        params = parameters(query)
        sent = "; ".join(f"{k}={params[k]}" for k in params if k.startswith(("query", "filter")))
        count = 0
        while count < query.limit:
            studies, total, token = await self.ask(read_studies, "studies", params, accept=(403,))
            items = studies[: query.limit - count]
            count += len(studies)
            yield read_records(NAME, query, items, read_study, hits=total or count, sent=sent)
            if not (token and studies):
                return
            params["pageToken"] = token


def read_studies(response: httpx.Response) -> tuple[list[JsonValue], int, str]:
    """Return the studies of a page, how many match and the next page. Raises Malformed, Refused."""
    if response.status_code == 403:
        raise Refused(REFUSES_EVERYTHING.format(summary=summary(response, 80)))

    def read(page: Json) -> tuple[list[JsonValue], int, str]:
        total = page.number("/totalCount") or 0
        return page.matches("/studies").items, total, page.text("/nextPageToken")

    return read_shape(response, read, TITLE)


def parameters(query: Query) -> dict[str, str]:
    """Return the parameters of a search; the same for each of its pages but for the page token."""
    texts = {
        "query.term": query.text,
        "query.intr": query.filters.options.get("intervention", ""),
        "query.cond": query.filters.options.get("condition", ""),
    }
    params = {
        **{name: text for name, text in texts.items() if text.strip()},
        "fields": FIELDS,
        "pageSize": str(min(query.limit, PAGE_SIZE)),
        "countTotal": "true",
    }
    statuses = query.filters.options.get("trial_status", "").replace("|", ",").split(",")
    if status_codes := [s.strip().upper().replace(" ", "_") for s in statuses if s.strip()]:
        params["filter.overallStatus"] = ",".join(status_codes)
    clauses = []
    if codes := phases(query.filters):
        alternatives = " OR ".join(codes)
        clauses.append(f"AREA[Phase]{alternatives}" if len(codes) == 1 else f"AREA[Phase]({alternatives})")
    if query.filters.year_from or query.filters.year_to:
        low = f"{query.filters.year_from}-01-01" if query.filters.year_from else "MIN"
        high = f"{query.filters.year_to}-12-31" if query.filters.year_to else "MAX"
        clauses.append(f"AREA[StudyFirstPostDate]RANGE[{low},{high}]")
    if clauses:
        params["filter.advanced"] = " AND ".join(clauses)
    return params


def read_study(item: JsonValue) -> Evidence:
    """Read a registration. Raises ValueError without an NCT number, SetAside without text."""
    record = Json(unescape(item))
    study, results = Json(record.at("/protocolSection")), record.objects(RESULTS)
    number = study.text(f"{IDENTITY}/nctId")
    nct = normal_nct(number)
    if nct is None:
        raise ValueError(f"{number[:20]!r} is not an NCT number")
    texts = (f"{DESCRIPTION}/briefSummary", f"{DESCRIPTION}/detailedDescription", f"{STATUS}/whyStopped")
    if not (any(map(study.text, texts)) or study.objects("/outcomesModule/primaryOutcomes")):
        raise SetAside("without text to quote")
    references = study.objects("/referencesModule/references")
    publications = [reference for reference in references if reference.text("/type") in ("RESULT", "DERIVED")]
    sponsor = study.text("/sponsorCollaboratorsModule/leadSponsor/name")
    start = study.text(f"{STATUS}/startDateStruct/date")
    return database_record(
        NAME,
        title=study.text(f"{IDENTITY}/briefTitle") or study.text(f"{IDENTITY}/officialTitle") or nct,
        text="\n\n".join(filter(None, paragraphs(study, results))),
        authors=(sponsor,),
        year=year_of(study.text(f"{STATUS}/studyFirstPostDateStruct/date")) or year_of(start),
        venue=TITLE,
        identifiers=Identifiers(nct=nct),
        url=f"https://clinicaltrials.gov/study/{nct}",
        evidence_type="trial_registration",
        nct=nct,
        overall_status=study.text(f"{STATUS}/overallStatus"),
        why_stopped=study.text(f"{STATUS}/whyStopped"),
        phase=study.texts(f"{DESIGN}/phases"),
        study_type=study.text(f"{DESIGN}/studyType"),
        allocation=study.text(f"{DESIGN}/designInfo/allocation"),
        masking=study.text(f"{DESIGN}/designInfo/maskingInfo/masking"),
        enrollment=study.text(f"{DESIGN}/enrollmentInfo/count"),
        enrollment_type=study.text(f"{DESIGN}/enrollmentInfo/type"),
        sponsor=sponsor,
        conditions=study.texts("/conditionsModule/conditions"),
        interventions=[intervention_name(i) for i in study.objects("/armsInterventionsModule/interventions")],
        sex=study.text("/eligibilityModule/sex"),
        minimum_age=study.text("/eligibilityModule/minimumAge"),
        maximum_age=study.text("/eligibilityModule/maximumAge"),
        start_date=start,
        completion_date=study.text(f"{STATUS}/completionDateStruct/date"),
        last_update=study.text(f"{STATUS}/lastUpdatePostDateStruct/date"),
        results="posted" if results else "",
        linked_pmids=[normal_pmid(reference.text("/pmid")) for reference in publications],
        linked_dois=[normal_doi(reference.text("/citation")) for reference in publications],
    )


def unescape(value: JsonValue) -> JsonValue:
    """Return a study's record without the backslashes of Markdown.

    The API escapes `<`, `>`, `*`, `[` and the like in what people have written.
    """
    if isinstance(value, str):
        return _ESCAPED.sub(r"\1", value) if "\\" in value else value
    if isinstance(value, list):
        return [unescape(item) for item in value]
    return {key: unescape(item) for key, item in value.items()} if isinstance(value, dict) else value


def paragraphs(study: Json, results: Iterable[Json]) -> Iterator[str]:
    """Yield the registration as text: what was written word for word, each field as a line of its own."""
    yield study.text(f"{DESCRIPTION}/briefSummary")
    yield "\n".join(field_lines(study))
    for label, kind in (("Primary outcome", "primaryOutcomes"), ("Secondary outcome", "secondaryOutcomes")):
        yield "\n".join(outcome_line(label, outcome) for outcome in study.objects(f"/outcomesModule/{kind}"))
    for measure in results:
        yield "\n".join(result_lines(measure))
    yield study.text(f"{DESCRIPTION}/detailedDescription")


def field_lines(study: Json) -> Iterator[str]:
    if status := study.text(f"{STATUS}/overallStatus"):
        yield f"Overall status: {words(status)}."
    if reason := study.text(f"{STATUS}/whyStopped"):
        yield f"Why the study stopped: {reason}"
    info = f"{DESIGN}/designInfo"
    masking = study.text(f"{info}/maskingInfo/masking")
    design = [
        study.text(f"{DESIGN}/studyType"),
        *study.texts(f"{DESIGN}/phases"),
        study.text(f"{info}/allocation"),
        study.text(f"{info}/primaryPurpose"),
        f"masking: {masking}" if masking else "",
    ]
    if any(design):
        yield f"Study design: {', '.join(words(code) for code in design if code)}."
    if enrollment := study.text(f"{DESIGN}/enrollmentInfo/count"):
        enrollment_type = words(study.text(f"{DESIGN}/enrollmentInfo/type"))
        yield f"Enrollment: {enrollment} participants{in_brackets(enrollment_type)}."
    if conditions := study.texts("/conditionsModule/conditions"):
        yield f"Conditions: {'; '.join(conditions)}."
    for intervention in study.objects("/armsInterventionsModule/interventions"):
        description = intervention.text("/description")
        yield f"Intervention: {intervention_name(intervention)}{f' - {description}' if description else ''}"


def outcome_line(label: str, outcome: Json) -> str:
    frame, description = outcome.text("/timeFrame"), outcome.text("/description")
    frame_text = f" (time frame: {frame})" if frame else ""
    return f"{label}: {outcome.text('/measure')}{frame_text}.{f' {description}' if description else ''}"


def result_lines(measure: Json) -> Iterator[str]:
    """Yield a posted result: what was measured, then one line a group, then the analyses."""
    kind = words(measure.text("/paramType"))
    unit = (kind, measure.text("/dispersionType"), measure.text("/unitOfMeasure"))
    head = f"{measure.text('/title')}{in_brackets(measure.text('/timeFrame'))}"
    yield f"Result, {words(measure.text('/type'))} outcome: {head}. {', '.join(filter(None, unit))}."
    groups = {group.text("/id"): group.text("/title") for group in measure.objects("/groups")}
    sizes = {count.text("/groupId"): count.text("/value") for count in measure.objects("/denoms/0/counts")}
    for outcome_class in measure.objects("/classes"):
        for category in outcome_class.objects("/categories"):
            part = ", ".join(filter(None, (outcome_class.text("/title"), category.text("/title"))))
            for number in category.objects("/measurements"):
                group = number.text("/groupId")
                size = f" (n = {sizes[group]})" if group in sizes else ""
                yield f"{groups.get(group, group)}{size}{f', {part}' if part else ''}: {value(number)}"
    for analysis in measure.objects("/analyses"):
        if text := analysis_text(analysis):
            comparison = " versus ".join(groups.get(group, group) for group in analysis.texts("/groupIds"))
            yield f"Analysis{f', {comparison}' if comparison else ''}: {text}"


def value(measurement: Json) -> str:
    lower, upper = measurement.text("/lowerLimit"), measurement.text("/upperLimit")
    limits = f"{lower} to {upper}" if lower and upper else ""
    if not limits and (lower or upper):
        limits = f"lower limit {lower}" if lower else f"upper limit {upper}"
    comment = measurement.text("/comment")
    spread = in_brackets(measurement.text("/spread"))
    return f"{measurement.text('/value')}{spread}{in_brackets(limits)}{f'. {comment}' if comment else ''}"


def analysis_text(analysis: Json) -> str:
    """Return an analysis: estimate, confidence interval, P value and method, as far as they were posted."""
    parts = []
    if estimate := analysis.text("/paramValue"):
        parts.append(f"{analysis.text('/paramType') or 'estimate'} {estimate}")
    lower, upper = analysis.text("/ciLowerLimit"), analysis.text("/ciUpperLimit")
    if lower or upper:
        level = f"{percent}% " if (percent := analysis.text("/ciPctValue")) else ""
        limits = f"{lower} to {upper}" if lower and upper else f"from {lower}" if lower else f"up to {upper}"
        parts.append(f"{level}confidence interval {limits}")
    if p_value := analysis.text("/pValue"):
        parts.append(f"P value {p_value}")
    return ", ".join(filter(None, (*parts, analysis.text("/statisticalMethod"))))


def in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


def intervention_name(intervention: Json) -> str:
    """Return the kind and the name of an intervention: `Drug: Osimertinib`."""
    kind = intervention.text("/type").replace("_", " ").capitalize()
    return ": ".join(filter(None, (kind, intervention.text("/name"))))


def words(code: str) -> str:
    """Return a code as words: `ACTIVE_NOT_RECRUITING` -> `active not recruiting`, `PHASE2` -> `phase 2`."""
    return re.sub(r"\bphase(?=\d)", "phase ", code.replace("_", " ").lower())
