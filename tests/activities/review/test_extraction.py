"""Extraction: a value stands on words of its study, and a person decides where two extractors differ."""

import csv
import io

import pytest

from activities.contracts.errors import DecisionError
from activities.review.decisions import Decision
from activities.review.export import extraction_csv
from activities.review.extraction import (
    Extraction,
    Value,
    asked_fields,
    checked_value,
    decided_study,
)
from activities.review.findings import Study
from activities.review.protocol import PooledOutcome
from activities.review.steps import ExtractDataInput
from activities.roles.data_extractor import DATA_EXTRACTOR, DataAnswer
from tests.activities.review.studies import PROTOCOL, STEP, TRIAL
from tests.activities.review.test_report import findings

FIELDS = asked_fields(PROTOCOL)
BY_ID = {field.id: field for field in FIELDS}


def extracted(*values: dict[str, object]) -> Extraction:
    step = ExtractDataInput.model_validate({**STEP, "fields": FIELDS})
    prompt = DATA_EXTRACTOR.render(step, [TRIAL], 14_000)
    return DATA_EXTRACTOR.accept(step, prompt, DataAnswer.model_validate({"values": values})).output


def by(**values: str) -> Extraction:
    rows = tuple(Value(field=field.replace("__", "."), text=text) for field, text in values.items())
    return Extraction(evidence_id="pmid:1", values=rows)


def test_the_fields_are_the_protocols_and_the_figures_of_its_outcomes() -> None:
    assert [field.id for field in FIELDS][:3] == ["dose", "adults", "blinding"]
    assert {"death.events", "death.control_total", "death.estimate", "death.direction"} <= BY_ID.keys()
    assert "death.mean" not in BY_ID
    means = asked_fields(PROTOCOL.replace(outcomes=(PooledOutcome(id="pain", label="Pain", measure="MD"),)))
    assert {"pain.mean", "pain.control_sd"} <= {field.id for field in means}
    assert "pain.events" not in {field.id for field in means}


def test_a_value_stands_on_words_of_its_study() -> None:
    extraction = extracted(
        {"field": "dose", "value": "20 mg of the drug once a day", "sentences": ["S3"]},
        {"field": "adults", "value": "400", "sentences": ["S1"]},
        {"field": "blinding", "value": "Double blind", "sentences": ["S2"]},
        {"field": "death.events", "value": "8", "sentences": ["S4"]},
        {"field": "death.estimate", "value": 0.38, "copied": "Death from any cause | 8/200 | 21/200 | 0.38"},
    )
    assert {value.field: value.text for value in extraction.values} == {
        "dose": "20 mg of the drug once a day",
        "adults": "400",
        "blinding": "double blind",
        "death.events": "8",
        "death.estimate": "0.38",
    }


@pytest.mark.parametrize(
    "row",
    [
        {"field": "dose", "value": "40 mg of the drug once a day", "sentences": ["S3"]},
        {"field": "dose", "value": "20 mg of the drug once a day"},
        {"field": "dose", "value": "20 mg of the drug once a day", "sentences": ["S1"]},
        {"field": "adults", "value": "401", "sentences": ["S1"]},
        {"field": "adults", "value": "four or 400", "sentences": ["S1"]},
        {"field": "blinding", "value": "triple blind", "sentences": ["S2"]},
        {"field": "death.estimate", "value": "0.38", "copied": "Death from any cause was 0.38 in all"},
    ],
)
def test_a_value_that_its_words_do_not_state_is_refused(row: dict[str, object]) -> None:
    assert extracted(row).values == ()


def test_extractors_are_compared_by_value_and_not_by_spelling() -> None:
    def differ(first: Extraction, second: Extraction) -> list[str]:
        _, pending = decided_study(FIELDS, first, second, {})
        return list(pending)

    first = by(dose="20 mg once a day", adults="1,204", blinding="open")
    assert differ(first, by(dose="20 mg once a day.", adults="1204", blinding="double blind")) == ["blinding"]
    assert differ(first, by(dose="20 mg once a day")) == ["adults", "blinding"]
    assert differ(by(adults="-2"), by(adults="2")) == ["adults"]


def test_a_person_decides_what_differs_and_may_overrule_what_does_not() -> None:
    first, second = by(dose="20 mg", adults="400"), by(dose="20 mg", adults="399")
    study, pending = decided_study(FIELDS, first, second, {})
    assert pending == ("adults",)
    assert (study.text("dose"), study.text("adults")) == ("20 mg", "")
    assert not study.text("blinding")
    chosen = Decision(record=1, stage="extraction", part="word", about="adults", value="second", by="Ada")
    typed = Decision(record=1, stage="extraction", part="word", about="dose", value="25 mg", by="Ada")
    study, pending = decided_study(FIELDS, first, second, {"adults": chosen, "dose": typed})
    assert pending == ()
    assert {row.field: (row.text, row.by) for row in study.values} == {
        "dose": ("25 mg", "Ada"),
        "adults": ("399", "Ada"),
    }
    absent = chosen.replace(value="absent")
    study, _ = decided_study(FIELDS, first, second, {"adults": absent})
    assert not study.text("adults")


def test_how_many_people_there_were_reports_no_outcome() -> None:
    (outcome,) = PROTOCOL.outcomes
    for row, reports in ((by(death__total="200"), False), (by(death__total="200", death__events="8"), True)):
        assert decided_study(FIELDS, row, row, {})[0].reports(outcome) == reports


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("weight", "4", "weight is not asked"),
        ("adults", " ", "say the value"),
        ("adults", "many", "one number"),
        ("blinding", "triple", "one of double blind, open"),
    ],
)
def test_a_value_that_fits_no_field_is_refused(field: str, text: str, message: str) -> None:
    assert checked_value(FIELDS, "adults", " 4 ") == "4"
    with pytest.raises(DecisionError, match=message):
        checked_value(FIELDS, field, text)


def test_the_table_of_data_is_a_spreadsheet() -> None:
    first = by(dose="=20 mg", adults="400")
    chosen = Decision(record=1, stage="extraction", part="word", about="adults", value="first", by="person 1")
    study, _ = decided_study(FIELDS, first, by(dose="=20 mg"), {"adults": chosen})
    extracted = findings().replace(
        fields=FIELDS, rows=(study,), studies=(Study.of_work(TRIAL, number=1, record=1),)
    )
    (row,) = csv.DictReader(io.StringIO(extraction_csv(extracted).decode("utf-8-sig")))
    assert (row["title"], row["dose"], row["dose: decided"]) == (TRIAL.title, "'=20 mg", "agreed")
    assert row["adults: decided"] == "person 1"
