"""The design of a study is what its own title and methods say was done, not what is said of others."""

import pytest
from pydantic import JsonValue

from activities.report.strength import grade_of
from activities.report.works import work_rows
from activities.sources.library.records import read_record
from activities.sources.publication import evidence_type
from activities.sources.records import type_from_words
from activities.text.study_design import Design, observed_how, own_design
from activities.text.study_effects import effects_in
from activities.text.study_facts import participants
from activities.types import Evidence, WorkRow
from activities.verification.quote_check import QuoteChecker


def row_of(item: Evidence) -> WorkRow:
    return work_rows((), [item], QuoteChecker({item.evidence_id: item}))[0]


@pytest.mark.parametrize(
    ("text", "design"),
    [
        (
            (
                "METHODS: A total of 310 men with painful stable osteoarthritis of the left knee meeting all"
                " criteria of the registry, never treated with injections before, were randomized to receive"
                " either saline or hyaluronate."
            ),
            "randomized trial",
        ),
        ("METHODS: This was a post hoc analysis of an RCT of two inhalers.", "randomized trial"),
        ("METHODS: We studied 20 nurses by randomly dividing them into two groups.", "randomized trial"),
        ("METHODS: In a quasi-experimental study 80 students were taught.", "non-randomized trial"),
        ("METHODS: Sixty patients entered this single-arm phase II trial.", "non-randomized trial"),
        ("METHODS: In this retrospective cohort study 90 women were seen.", "cohort study"),
        ("METHODS: Forty patients were followed for two years.", "cohort study"),
        ("METHODS: A retrospective review of 30 cases and controls was done.", "case-control study"),
        ("METHODS: Thirty patients with gout and 30 healthy volunteers gave blood.", "case-control study"),
        ("METHODS: Questionnaires were sent to 400 dentists.", "cross-sectional study"),
        ("METHODS: The hospital charts of 70 infants were reviewed.", "observational study"),
        ("METHODS: Fifty patients with asthma had their sputum examined.", "observational study"),
        ("OBJECTIVE: To report two cases of orbital myositis.", "case report"),
        ("METHODS: We searched MEDLINE and Embase for trials of zinc.", "review"),
        ("METHODS: Twelve rabbits were randomly divided into two groups.", "animal study"),
        ("METHODS: Discs were eroded in vitro by six juices.", "laboratory study"),
    ],
)
def test_a_design_is_read_from_what_was_done(text: str, design: Design) -> None:
    found = own_design("A question of joints", text)
    assert found is not None
    assert found.design == design


@pytest.mark.parametrize(
    "text",
    [
        "BACKGROUND: A large randomized trial of 90 patients was negative. METHODS: Costs were modelled.",
        "METHODS: Costs were modelled. CONCLUSIONS: Randomized controlled trials are needed.",
        "METHODS: Previous cohort studies of adults were used for the model.",
        "METHODS: Images were randomly divided into a training set and a test set.",
        "METHODS: Blocks were chosen by a random sample of streets.",
        "METHODS: We simulate laws on data of the Current Population Survey.",
    ],
)
def test_other_studies_and_samples_are_no_design(text: str) -> None:
    assert own_design("Costs of care", text) is None


def test_a_protocol_has_no_design_yet() -> None:
    text = "METHODS: Patients will be enrolled; 300 adults are randomly assigned to two arms."
    assert own_design("Zinc for colds: study protocol", text) is None
    assert type_from_words("Protocol of a trial", "METHODS: We randomized 10 adults.", "article") == "article"


def test_a_note_that_counts_people_is_no_study() -> None:
    note = "Forty patients were followed for two years. The budget is 30 euros."
    assert own_design("Minutes", note, named_only=True) is None
    assert read_record({"title": "Minutes", "text": note}, "notes.json").evidence_type == "document"


def test_a_trial_without_indexing_is_graded_and_shown_as_one() -> None:
    text = (
        "METHODS: At our single-center study 84 women with migraine, most of whom had used two drugs before, "
        "were randomly assigned to riboflavin or placebo.\n\nRESULTS: Attacks fell."
    )
    item = read_record({"pmid": "1", "title": "Riboflavin for migraine", "abstract": text}, "x")
    assert grade_of(item.evidence_type) == "strong"
    assert row_of(item).design == "randomized trial, single-center study"


def test_indexing_terms_name_the_kind_of_an_observational_study() -> None:
    record: dict[str, JsonValue] = {
        "pmid": "1",
        "title": "Tea",
        "abstract": "Tea was drunk.",
        "mesh": ["Humans", "Case-Control Studies"],
    }
    assert row_of(read_record(record, "x")).design == "case-control study"
    assert observed_how("Tea", "Tea was drunk.", "Humans; Retrospective Studies") == "retrospective study"


def test_people_of_a_trial_who_are_studied_later_are_not_randomized_by_the_later_study() -> None:
    text = "METHODS: In 1990 our clinic entered 35 patients. They were randomly assigned to drug or placebo."
    record: dict[str, JsonValue] = {
        "pmid": "1",
        "title": "Fate",
        "abstract": text,
        "mesh": ["Humans", "Retrospective Studies"],
    }
    assert read_record(record, "x").evidence_type == "observational"


def test_a_letter_about_a_study_is_no_study() -> None:
    text = "We randomized 60 patients in a trial."
    assert evidence_type(["Journal Article"], (), "Zinc", text) == "randomized_trial"
    assert evidence_type(["Journal Article", "Letter"], (), "Zinc", text) == "article"


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("METHODS: We read the medical records of 2013 patients seen from 2009 to 2011.", "2013"),
        ("METHODS: In 2013 patients were seen in a clinic; 40 adults agreed.", "40"),
        ("METHODS: We reviewed 61 cases of sepsis from 3,004 deliveries.", "61"),
        ("METHODS: Two household surveys were used. RESULTS: In all, 120 adults answered.", "120"),
        ("RESULTS: Of type 1/2 carriers, 45 women were seen.", "45"),
    ],
)
def test_participants_are_those_who_took_part(text: str, n: str) -> None:
    item = Evidence(evidence_id="a", source="s", title="t", text=text, evidence_type="observational")
    found = participants(item)
    assert found is not None
    assert found.text == n


def test_the_cases_of_a_report_are_those_it_reports() -> None:
    text = "OBJECTIVE: To report four cases of uveitis. CASES: Two patients with red eyes were seen."
    item = Evidence(evidence_id="a", source="s", title="t", text=text, evidence_type="case_report")
    found = participants(item)
    assert found is not None
    assert found.text == "4"


def test_an_estimate_lies_in_its_own_interval() -> None:
    (listed,) = {
        tuple(e for e, _ in effects_in(["Risk (95% CI) was 1.30 (1.10-1.52) and 0.80 (0.64-1.00)."], 4))
    }
    assert listed == ("1.30 (1.10-1.52)", "0.80 (0.64-1.00)")
    threshold = "Sleep was likelier with a score of at least 9 (95% CI 1.10-3.52)."
    assert not any(e.startswith("9 (95") for e, _ in effects_in([threshold], 4))
