"""ClinicalTrials.gov, API version 2 (https://clinicaltrials.gov/data-api/api).

What may be quoted is the registration itself: its summaries word for word, and its fields and posted results
as one statement a line. `filters.options`: `trial_status` (as in `TERMINATED, WITHDRAWN`), `phase` (as in
`PHASE2`), `intervention` and `condition` (searches of those fields; the query's text may then be empty).
"""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from activities.errors import Refused
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.clinicaltrials_shape import (
    Analysis,
    Measurement,
    Named,
    Outcome,
    OutcomeMeasure,
    Page,
    Protocol,
    Study,
)
from activities.sources.filters import phases
from activities.sources.http.client import Http
from activities.sources.http.failures import summary
from activities.sources.records import SetAside, facts, read_page, read_records, sound_page, year_of
from activities.types import Evidence, Identifiers, Query, SourceInfo
from activities.verification.identifiers import evidence_id, normal_doi, normal_nct, normal_pmid

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


class ClinicalTrials:
    """Searches all fields of the registrations with the query as typed (`query.term`)."""

    info = SourceInfo(
        name=NAME,
        title=TITLE,
        covers="Registered clinical trials: status (terminated and withdrawn too, with the reason), phase, "
        "interventions, outcomes and posted results.",
        how_to_enable="No key is needed.",
        rate="not published; kept under 50 requests a minute",
        rate_per_second=0.8,
        domains=("biomedical", "clinical"),
    )

    def __init__(self, url: str, http: Http) -> None:
        self.address = url
        self._http = http
        http.pace(NAME, 0.8)

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """Fetch one page of studies. Raises SourceError."""
        seen = int(cursor["seen"]) if cursor else 0
        params = parameters(query)
        if cursor:
            params["pageToken"] = cursor["token"]
        response = await self._http.get(
            NAME, f"{self.address}/studies", params, accept=(403,), check=sound_page(Page, TITLE)
        )
        if response.status_code == 403:
            raise Refused(REFUSES_EVERYTHING.format(said=summary(response, 80)))
        page = read_page(Page, response, TITLE)
        batch = read_records(NAME, query, page.studies[: query.limit - seen], read_study)
        seen += len(page.studies)
        more = page.next_page_token and page.studies and seen < query.limit
        return Exchange(
            records=batch.records,
            hits=page.total_count or seen,
            set_aside=batch.set_aside,
            sent="; ".join(f"{k}={params[k]}" for k in params if k.startswith(("query", "filter"))),
            cursor={"token": page.next_page_token, "seen": str(seen)} if more else None,
            detail=batch.detail,
        )


def build(settings: Settings, http: Http) -> ClinicalTrials:
    """The source as configured."""
    return ClinicalTrials(settings.source_url(NAME, "https://clinicaltrials.gov/api/v2"), http)


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
    study = Study.model_validate(item)
    p = study.protocol_section
    ident, status, design = p.identification_module, p.status_module, p.design_module
    nct = normal_nct(ident.nct_id)
    if nct is None:
        raise ValueError(f"{ident.nct_id[:20]!r} is not an NCT number")
    described = p.description_module.brief_summary or p.description_module.detailed_description
    if not (described or p.outcomes_module.primary_outcomes or status.why_stopped):
        raise SetAside("without text to quote")
    identifiers = Identifiers(nct=nct)
    enrolled = design.enrollment_info
    linked = [r for r in p.references_module.references if r.type in ("RESULT", "DERIVED")]
    return Evidence(
        evidence_id=evidence_id(identifiers, nct),
        source=NAME,
        title=ident.brief_title or ident.official_title or nct,
        text="\n\n".join(paragraphs(study)),
        authors=(p.sponsor_collaborators_module.lead_sponsor.name,)
        if p.sponsor_collaborators_module.lead_sponsor.name
        else (),
        year=year_of(status.study_first_post_date_struct.date) or year_of(status.start_date_struct.date),
        venue=TITLE,
        identifiers=identifiers,
        url=f"https://clinicaltrials.gov/study/{nct}",
        evidence_type="trial_registration",
        full_text=True,
        facts=facts(
            nct=nct,
            overall_status=status.overall_status,
            why_stopped=status.why_stopped,
            phase=design.phases,
            study_type=design.study_type,
            allocation=design.design_info.allocation,
            masking=design.design_info.masking_info.masking,
            enrollment="" if enrolled.count is None else str(enrolled.count),
            enrollment_type=enrolled.type,
            sponsor=p.sponsor_collaborators_module.lead_sponsor.name,
            conditions=p.conditions_module.conditions,
            interventions=[named(i) for i in p.arms_interventions_module.interventions],
            sex=p.eligibility_module.sex,
            minimum_age=p.eligibility_module.minimum_age,
            maximum_age=p.eligibility_module.maximum_age,
            start_date=status.start_date_struct.date,
            completion_date=status.completion_date_struct.date,
            last_update=status.last_update_post_date_struct.date,
            results="posted" if study.results_section.outcome_measures_module.outcome_measures else "",
            linked_pmids=[normal_pmid(r.pmid) for r in linked],
            linked_dois=[normal_doi(r.citation) for r in linked],
        ),
    )


def paragraphs(study: Study) -> Iterator[str]:
    """The registration as text: what was written stays word for word, each field is a line of its own."""
    p = study.protocol_section
    if p.description_module.brief_summary:
        yield p.description_module.brief_summary
    yield "\n".join(field_lines(p))
    for label, outcomes in (
        ("Primary outcome", p.outcomes_module.primary_outcomes),
        ("Secondary outcome", p.outcomes_module.secondary_outcomes),
    ):
        if outcomes:
            yield "\n".join(outcome_line(label, outcome) for outcome in outcomes)
    for measure in study.results_section.outcome_measures_module.outcome_measures:
        yield "\n".join(result_lines(measure))
    if p.description_module.detailed_description:
        yield p.description_module.detailed_description


def field_lines(p: Protocol) -> Iterator[str]:
    """Status, design, conditions and interventions."""
    status, design = p.status_module, p.design_module
    if status.overall_status:
        yield f"Overall status: {words(status.overall_status)}."
    if status.why_stopped:
        yield f"Why the study stopped: {status.why_stopped}"
    kind = [words(design.study_type), *(words(phase) for phase in design.phases)]
    kind += [words(design.design_info.allocation), words(design.design_info.primary_purpose)]
    if masking := design.design_info.masking_info.masking:
        kind.append(f"masking: {words(masking)}")
    if any(kind):
        yield f"Study design: {', '.join(k for k in kind if k)}."
    if design.enrollment_info.count is not None:
        how = f" ({words(design.enrollment_info.type)})" if design.enrollment_info.type else ""
        yield f"Enrollment: {design.enrollment_info.count} participants{how}."
    if p.conditions_module.conditions:
        yield f"Conditions: {'; '.join(p.conditions_module.conditions)}."
    for intervention in p.arms_interventions_module.interventions:
        said = f" - {intervention.description}" if intervention.description else ""
        yield f"Intervention: {named(intervention)}{said}"


def outcome_line(label: str, outcome: Outcome) -> str:
    """A planned outcome on one line."""
    frame = f" (time frame: {outcome.time_frame})" if outcome.time_frame else ""
    said = f" {outcome.description}" if outcome.description else ""
    return f"{label}: {outcome.measure}{frame}.{said}"


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
        if found := analysis_text(analysis):
            between = " versus ".join(groups.get(g, g) for g in analysis.group_ids)
            yield f"Analysis{f', {between}' if between else ''}: {found}"


def value(m: Measurement) -> str:
    """A measured value with its spread or limits."""
    spread = f" ({m.spread})" if m.spread else ""
    limits = f" ({m.lower_limit} to {m.upper_limit})" if m.lower_limit or m.upper_limit else ""
    return f"{m.value}{spread}{limits}{f'. {m.comment}' if m.comment else ''}"


def analysis_text(analysis: Analysis) -> str:
    """An analysis: estimate, confidence interval, P value and method, as far as they were posted."""
    parts = []
    if analysis.param_value:
        parts.append(f"{analysis.param_type or 'estimate'} {analysis.param_value}")
    if analysis.ci_lower_limit or analysis.ci_upper_limit:
        level = f"{analysis.ci_pct_value}% " if analysis.ci_pct_value else ""
        parts.append(f"{level}confidence interval {analysis.ci_lower_limit} to {analysis.ci_upper_limit}")
    if analysis.p_value:
        parts.append(f"P value {analysis.p_value}")
    if analysis.statistical_method:
        parts.append(analysis.statistical_method)
    return ", ".join(parts)


def named(intervention: Named) -> str:
    """`Drug: Osimertinib`."""
    return ": ".join(t for t in (intervention.type.replace("_", " ").capitalize(), intervention.name) if t)


def words(code: str) -> str:
    """A code as words: `ACTIVE_NOT_RECRUITING` -> `active not recruiting`, `PHASE2` -> `phase 2`."""
    text = code.replace("_", " ").lower()
    return text.replace("phase", "phase ") if text.startswith("phase") else text
