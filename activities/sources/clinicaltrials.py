"""ClinicalTrials.gov, API version 2 (https://clinicaltrials.gov/data-api/api).

What may be quoted is the registration itself: its summaries word for word, and its fields and posted results
as one statement a line. `filters.options`: `trial_status` (as in `TERMINATED, WITHDRAWN`), `phase` (as in
`PHASE2`), `intervention` and `condition` (searches of those fields; the query's text may then be empty).
"""

import re
from collections.abc import AsyncIterator, Iterator

import httpx
from pydantic import AliasPath, Field, JsonValue

from activities.contracts.errors import Refused
from activities.contracts.evidence import Evidence, Identifiers, Query
from activities.contracts.identifiers import normal_doi, normal_nct, normal_pmid
from activities.sources.base import Exchange
from activities.sources.filters import phases
from activities.sources.http.failures import summary
from activities.sources.names import info_of
from activities.sources.records import (
    ApiSource,
    CamelWire,
    SetAside,
    at,
    database_record,
    read_page,
    read_records,
    year_of,
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
    "ClinicalTrials.gov answered 403 ({said}). It may refuse this client's TLS handshake, and then it "
    "refuses every search. If the same address opens in a browser, run a forwarding proxy and set "
    "DETERMINATOR_CLINICALTRIALS_URL to it, or leave the source out with "
    "DETERMINATOR_DISABLED_SOURCES='[\"clinicaltrials\"]'; Europe PMC finds many trials by NCT number."
)


_P = "/protocolSection"
"""Where a record has what was registered. Everything but the NCT number may be absent."""
_STATUS, _DESIGN, _ELIGIBILITY = f"{_P}/statusModule", f"{_P}/designModule", f"{_P}/eligibilityModule"

_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
"""A sign of Markdown behind its backslash."""


class Intervention(CamelWire):
    name: str = ""
    type: str = ""
    description: str = ""


class Outcome(CamelWire):
    measure: str = ""
    time_frame: str = ""
    description: str = ""


class Reference(CamelWire):
    pmid: str = ""
    type: str = ""
    citation: str = ""


class Count(CamelWire):
    group_id: str = ""
    value: str = ""


class Denominator(CamelWire):
    counts: tuple[Count, ...] = ()


class Group(CamelWire):
    id: str = ""
    title: str = ""


class Measurement(CamelWire):
    group_id: str = ""
    value: str = ""
    spread: str = ""
    lower_limit: str = ""
    upper_limit: str = ""
    comment: str = ""


class Category(CamelWire):
    title: str = ""
    measurements: tuple[Measurement, ...] = ()


class MeasuredClass(CamelWire):
    title: str = ""
    categories: tuple[Category, ...] = ()


class Analysis(CamelWire):
    group_ids: tuple[str, ...] = ()
    statistical_method: str = ""
    p_value: str = ""
    param_type: str = ""
    param_value: str = ""
    ci_pct_value: str = ""
    ci_lower_limit: str = ""
    ci_upper_limit: str = ""


class OutcomeMeasure(CamelWire):
    type: str = ""
    title: str = ""
    time_frame: str = ""
    param_type: str = ""
    dispersion_type: str = ""
    unit_of_measure: str = ""
    groups: tuple[Group, ...] = ()
    denoms: tuple[Denominator, ...] = ()
    classes: tuple[MeasuredClass, ...] = ()
    analyses: tuple[Analysis, ...] = ()


class Study(CamelWire):
    nct_id: str = Field(validation_alias=AliasPath("protocolSection", "identificationModule", "nctId"))
    brief_title: str = at(f"{_P}/identificationModule/briefTitle")
    official_title: str = at(f"{_P}/identificationModule/officialTitle")
    status: str = at(f"{_STATUS}/overallStatus")
    why_stopped: str = at(f"{_STATUS}/whyStopped")
    start: str = at(f"{_STATUS}/startDateStruct/date")
    completion: str = at(f"{_STATUS}/completionDateStruct/date")
    first_post: str = at(f"{_STATUS}/studyFirstPostDateStruct/date")
    last_update: str = at(f"{_STATUS}/lastUpdatePostDateStruct/date")
    sponsor: str = at(f"{_P}/sponsorCollaboratorsModule/leadSponsor/name")
    summary: str = at(f"{_P}/descriptionModule/briefSummary")
    description: str = at(f"{_P}/descriptionModule/detailedDescription")
    conditions: tuple[str, ...] = at(f"{_P}/conditionsModule/conditions", ())
    study_type: str = at(f"{_DESIGN}/studyType")
    phases: tuple[str, ...] = at(f"{_DESIGN}/phases", ())
    allocation: str = at(f"{_DESIGN}/designInfo/allocation")
    purpose: str = at(f"{_DESIGN}/designInfo/primaryPurpose")
    masking: str = at(f"{_DESIGN}/designInfo/maskingInfo/masking")
    enrollment: int | None = at(f"{_DESIGN}/enrollmentInfo/count", None)
    enrollment_type: str = at(f"{_DESIGN}/enrollmentInfo/type")
    interventions: tuple[Intervention, ...] = at(f"{_P}/armsInterventionsModule/interventions", ())
    primary_outcomes: tuple[Outcome, ...] = at(f"{_P}/outcomesModule/primaryOutcomes", ())
    secondary_outcomes: tuple[Outcome, ...] = at(f"{_P}/outcomesModule/secondaryOutcomes", ())
    sex: str = at(f"{_ELIGIBILITY}/sex")
    minimum_age: str = at(f"{_ELIGIBILITY}/minimumAge")
    maximum_age: str = at(f"{_ELIGIBILITY}/maximumAge")
    references: tuple[Reference, ...] = at(f"{_P}/referencesModule/references", ())
    results: tuple[OutcomeMeasure, ...] = at("/resultsSection/outcomeMeasuresModule/outcomeMeasures", ())


class Page(CamelWire):
    studies: tuple[JsonValue, ...]
    next_page_token: str = ""
    total_count: int | None = None


class ClinicalTrials(ApiSource):
    """Searches all fields of the registrations with the query as typed (`query.term`)."""

    url = "https://clinicaltrials.gov/api/v2"
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        params = parameters(query)
        sent = "; ".join(f"{k}={params[k]}" for k in params if k.startswith(("query", "filter")))
        seen = 0
        while seen < query.limit:
            page = await self.ask(read_studies, "studies", params, accept=(403,))
            wanted = page.studies[: query.limit - seen]
            seen += len(page.studies)
            yield read_records(NAME, query, wanted, read_study, hits=page.total_count or seen, sent=sent)
            if not (page.next_page_token and page.studies):
                return
            params["pageToken"] = page.next_page_token


def read_studies(response: httpx.Response) -> Page:
    """One page of an answer. Raises Refused where everything is, Malformed."""
    if response.status_code == 403:
        raise Refused(REFUSES_EVERYTHING.format(said=summary(response, 80)))
    return read_page(Page, response, TITLE)


def parameters(query: Query) -> dict[str, str]:
    """The parameters of a search; the same for each of its pages but for the page token."""
    searched = {
        "query.term": query.text,
        "query.intr": query.filters.options.get("intervention", ""),
        "query.cond": query.filters.options.get("condition", ""),
    }
    params = {
        **{name: text for name, text in searched.items() if text.strip()},
        "fields": FIELDS,
        "pageSize": str(min(query.limit, PAGE_SIZE)),
        "countTotal": "true",
    }
    statuses = query.filters.options.get("trial_status", "").replace("|", ",").split(",")
    if wanted := [s.strip().upper().replace(" ", "_") for s in statuses if s.strip()]:
        params["filter.overallStatus"] = ",".join(wanted)
    advanced = []
    if codes := phases(query.filters):
        joined = " OR ".join(codes)
        advanced.append(f"AREA[Phase]{joined}" if len(codes) == 1 else f"AREA[Phase]({joined})")
    if query.filters.year_from or query.filters.year_to:
        low = f"{query.filters.year_from}-01-01" if query.filters.year_from else "MIN"
        high = f"{query.filters.year_to}-12-31" if query.filters.year_to else "MAX"
        advanced.append(f"AREA[StudyFirstPostDate]RANGE[{low},{high}]")
    if advanced:
        params["filter.advanced"] = " AND ".join(advanced)
    return params


def read_study(item: JsonValue) -> Evidence:
    """One registration. Raises ValueError without an NCT number, SetAside without text."""
    study = Study.model_validate(unescaped(item))
    nct = normal_nct(study.nct_id)
    if nct is None:
        raise ValueError(f"{study.nct_id[:20]!r} is not an NCT number")
    described = study.summary or study.description
    if not (described or study.primary_outcomes or study.why_stopped):
        raise SetAside("without text to quote")
    linked = [r for r in study.references if r.type in ("RESULT", "DERIVED")]
    return database_record(
        NAME,
        nct,
        title=study.brief_title or study.official_title or nct,
        text="\n\n".join(paragraphs(study)),
        authors=(study.sponsor,) if study.sponsor else (),
        year=year_of(study.first_post) or year_of(study.start),
        venue=TITLE,
        identifiers=Identifiers(nct=nct),
        url=f"https://clinicaltrials.gov/study/{nct}",
        evidence_type="trial_registration",
        nct=nct,
        overall_status=study.status,
        why_stopped=study.why_stopped,
        phase=study.phases,
        study_type=study.study_type,
        allocation=study.allocation,
        masking=study.masking,
        enrollment="" if study.enrollment is None else str(study.enrollment),
        enrollment_type=study.enrollment_type,
        sponsor=study.sponsor,
        conditions=study.conditions,
        interventions=[named(i) for i in study.interventions],
        sex=study.sex,
        minimum_age=study.minimum_age,
        maximum_age=study.maximum_age,
        start_date=study.start,
        completion_date=study.completion,
        last_update=study.last_update,
        results="posted" if study.results else "",
        linked_pmids=[normal_pmid(r.pmid) for r in linked],
        linked_dois=[normal_doi(r.citation) for r in linked],
    )


def unescaped(value: JsonValue) -> JsonValue:
    """What a study's record says without the backslashes of Markdown: the API escapes `<`, `>`, `*`, `[` and
    the like in what people have written."""
    if isinstance(value, str):
        return _ESCAPED.sub(r"\1", value) if "\\" in value else value
    if isinstance(value, list):
        return [unescaped(item) for item in value]
    return {key: unescaped(item) for key, item in value.items()} if isinstance(value, dict) else value


def paragraphs(study: Study) -> Iterator[str]:
    """The registration as text: what was written stays word for word, each field is a line of its own."""
    if study.summary:
        yield study.summary
    yield "\n".join(field_lines(study))
    for label, outcomes in (
        ("Primary outcome", study.primary_outcomes),
        ("Secondary outcome", study.secondary_outcomes),
    ):
        if outcomes:
            yield "\n".join(outcome_line(label, outcome) for outcome in outcomes)
    for measure in study.results:
        yield "\n".join(result_lines(measure))
    if study.description:
        yield study.description


def field_lines(study: Study) -> Iterator[str]:
    if study.status:
        yield f"Overall status: {words(study.status)}."
    if study.why_stopped:
        yield f"Why the study stopped: {study.why_stopped}"
    kind = [words(code) for code in (study.study_type, *study.phases, study.allocation, study.purpose)]
    if study.masking:
        kind.append(f"masking: {words(study.masking)}")
    if any(kind):
        yield f"Study design: {', '.join(k for k in kind if k)}."
    if study.enrollment is not None:
        how = f" ({words(study.enrollment_type)})" if study.enrollment_type else ""
        yield f"Enrollment: {study.enrollment} participants{how}."
    if study.conditions:
        yield f"Conditions: {'; '.join(study.conditions)}."
    for intervention in study.interventions:
        detail = f" - {intervention.description}" if intervention.description else ""
        yield f"Intervention: {named(intervention)}{detail}"


def outcome_line(label: str, outcome: Outcome) -> str:
    frame = f" (time frame: {outcome.time_frame})" if outcome.time_frame else ""
    detail = f" {outcome.description}" if outcome.description else ""
    return f"{label}: {outcome.measure}{frame}.{detail}"


def result_lines(measure: OutcomeMeasure) -> Iterator[str]:
    """A posted result: what was measured, then one line a group, then the analyses."""
    frame = f" ({measure.time_frame})" if measure.time_frame else ""
    unit = [words(measure.param_type), measure.dispersion_type, measure.unit_of_measure]
    yield f"Result, {words(measure.type)} outcome: {measure.title}{frame}. {', '.join(u for u in unit if u)}."
    groups = {group.id: group.title for group in measure.groups}
    sizes = {c.group_id: c.value for d in measure.denoms[:1] for c in d.counts}
    for measured in measure.classes:
        for category in measured.categories:
            part = ", ".join(t for t in (measured.title, category.title) if t)
            for m in category.measurements:
                size = f" (n = {sizes[m.group_id]})" if m.group_id in sizes else ""
                yield f"{groups.get(m.group_id, m.group_id)}{size}{f', {part}' if part else ''}: {value(m)}"
    for analysis in measure.analyses:
        if text := analysis_text(analysis):
            between = " versus ".join(groups.get(g, g) for g in analysis.group_ids)
            yield f"Analysis{f', {between}' if between else ''}: {text}"


def value(m: Measurement) -> str:
    spread = f" ({m.spread})" if m.spread else ""
    limits = ""
    if m.lower_limit and m.upper_limit:
        limits = f" ({m.lower_limit} to {m.upper_limit})"
    elif m.lower_limit or m.upper_limit:
        limits = f" (lower limit {m.lower_limit})" if m.lower_limit else f" (upper limit {m.upper_limit})"
    return f"{m.value}{spread}{limits}{f'. {m.comment}' if m.comment else ''}"


def analysis_text(analysis: Analysis) -> str:
    """An analysis: estimate, confidence interval, P value and method, as far as they were posted."""
    parts = []
    if analysis.param_value:
        parts.append(f"{analysis.param_type or 'estimate'} {analysis.param_value}")
    lower, upper = analysis.ci_lower_limit, analysis.ci_upper_limit
    if lower or upper:
        level = f"{analysis.ci_pct_value}% " if analysis.ci_pct_value else ""
        limits = f"{lower} to {upper}" if lower and upper else f"from {lower}" if lower else f"up to {upper}"
        parts.append(f"{level}confidence interval {limits}")
    if analysis.p_value:
        parts.append(f"P value {analysis.p_value}")
    if analysis.statistical_method:
        parts.append(analysis.statistical_method)
    return ", ".join(parts)


def named(intervention: Intervention) -> str:
    """`Drug: Osimertinib`."""
    return ": ".join(t for t in (intervention.type.replace("_", " ").capitalize(), intervention.name) if t)


def words(code: str) -> str:
    """A code as words: `ACTIVE_NOT_RECRUITING` -> `active not recruiting`, `PHASE2` -> `phase 2`."""
    return re.sub(r"\bphase(?=\d)", "phase ", code.replace("_", " ").lower())
