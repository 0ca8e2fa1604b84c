"""The parts of a ClinicalTrials.gov study record that are read (API version 2).

Field names are the API's in snake case: `nct_id` stands for `nctId`. Everything but the NCT number may be
absent: a study need not have results, and a search may ask for some fields only.
"""

from pydantic import ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from activities.sources.records import Wire


class Shape(Wire):
    model_config = ConfigDict(alias_generator=to_camel)


class Named(Shape):
    name: str = ""
    type: str = ""
    description: str = ""


class Dated(Shape):
    date: str = ""
    type: str = ""


class Identification(Shape):
    nct_id: str
    brief_title: str = ""
    official_title: str = ""


class Status(Shape):
    overall_status: str = ""
    why_stopped: str = ""
    start_date_struct: Dated = Dated()
    completion_date_struct: Dated = Dated()
    study_first_post_date_struct: Dated = Dated()
    results_first_post_date_struct: Dated = Dated()
    last_update_post_date_struct: Dated = Dated()


class Sponsors(Shape):
    lead_sponsor: Named = Named()


class Description(Shape):
    brief_summary: str = ""
    detailed_description: str = ""


class Conditions(Shape):
    conditions: tuple[str, ...] = ()


class Masking(Shape):
    masking: str = ""


class DesignInfo(Shape):
    allocation: str = ""
    primary_purpose: str = ""
    masking_info: Masking = Masking()


class Enrollment(Shape):
    count: int | None = None
    type: str = ""


class Design(Shape):
    study_type: str = ""
    phases: tuple[str, ...] = ()
    design_info: DesignInfo = DesignInfo()
    enrollment_info: Enrollment = Enrollment()


class Arms(Shape):
    interventions: tuple[Named, ...] = ()


class Outcome(Shape):
    measure: str = ""
    time_frame: str = ""
    description: str = ""


class Outcomes(Shape):
    primary_outcomes: tuple[Outcome, ...] = ()
    secondary_outcomes: tuple[Outcome, ...] = ()


class Eligibility(Shape):
    sex: str = ""
    minimum_age: str = ""
    maximum_age: str = ""


class Reference(Shape):
    pmid: str = ""
    type: str = ""
    citation: str = ""


class References(Shape):
    references: tuple[Reference, ...] = ()


class Protocol(Shape):
    identification_module: Identification
    status_module: Status = Status()
    sponsor_collaborators_module: Sponsors = Sponsors()
    description_module: Description = Description()
    conditions_module: Conditions = Conditions()
    design_module: Design = Design()
    arms_interventions_module: Arms = Arms()
    outcomes_module: Outcomes = Outcomes()
    eligibility_module: Eligibility = Eligibility()
    references_module: References = References()


class Count(Shape):
    group_id: str = ""
    value: str = ""


class Denominator(Shape):
    counts: tuple[Count, ...] = ()


class Group(Shape):
    id: str = ""
    title: str = ""


class Measurement(Shape):
    group_id: str = ""
    value: str = ""
    spread: str = ""
    lower_limit: str = ""
    upper_limit: str = ""
    comment: str = ""


class Category(Shape):
    title: str = ""
    measurements: tuple[Measurement, ...] = ()


class MeasuredClass(Shape):
    title: str = ""
    categories: tuple[Category, ...] = ()


class Analysis(Shape):
    group_ids: tuple[str, ...] = ()
    statistical_method: str = ""
    p_value: str = ""
    param_type: str = ""
    param_value: str = ""
    ci_pct_value: str = ""
    ci_lower_limit: str = ""
    ci_upper_limit: str = ""


class OutcomeMeasure(Shape):
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


class OutcomeMeasures(Shape):
    outcome_measures: tuple[OutcomeMeasure, ...] = ()


class Results(Shape):
    outcome_measures_module: OutcomeMeasures = OutcomeMeasures()


class Study(Shape):
    protocol_section: Protocol
    results_section: Results = Results()


class Page(Shape):
    studies: tuple[JsonValue, ...]
    next_page_token: str = ""
    total_count: int | None = None
