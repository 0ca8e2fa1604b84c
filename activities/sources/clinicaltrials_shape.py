"""The parts of a ClinicalTrials.gov study record that are read (API version 2).

Everything but the NCT number may be absent: a study need not have results, and a search may ask for some
fields only.
"""

from pydantic import AliasPath, Field

from activities.sources.records import CamelWire, at

_P = "/protocolSection"
_STATUS, _DESIGN, _ELIGIBILITY = f"{_P}/statusModule", f"{_P}/designModule", f"{_P}/eligibilityModule"


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
