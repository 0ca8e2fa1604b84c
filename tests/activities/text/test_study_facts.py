"""Who was studied, what was compared, measured and found: words of the text with their sentence."""

import pytest

from activities.text.study_facts import comparison, effects, outcome, population
from activities.types import Evidence, EvidenceType


def work(text: str, kind: EvidenceType = "article") -> Evidence:
    return Evidence(evidence_id="pmid:1", source="library", title="A work", text=text, evidence_type=kind)


TRIAL = work(
    "BACKGROUND: Patients with heart failure are many. METHODS: Between 2009 and 2014, 751 patients with "
    "hip fractures were randomly assigned to early surgery or usual care for two weeks. The primary outcome "
    "was death within 90 days. RESULTS: Mortality was lower with early surgery (hazard ratio 0.68; 95% CI "
    "0.48-0.97). Patients with dementia died more often. CONCLUSIONS: Early surgery lowered mortality."
)


def test_the_people_are_those_that_the_methods_count() -> None:
    found = population(TRIAL)
    assert found is not None
    assert found.text == "751 patients with hip fractures"
    assert found.text in found.place


def test_arms_outcome_and_effects_are_read_with_their_place() -> None:
    arms, measured, (effect,) = comparison(TRIAL), outcome(TRIAL), effects(TRIAL)
    assert arms is not None
    assert measured is not None
    assert arms.text == "early surgery or usual care"
    assert measured.text == "death within 90 days"
    assert effect.text == "hazard ratio 0.68; 95% CI 0.48-0.97"
    for fact in (arms, measured, effect):
        assert fact.text in fact.place
        assert fact.place in " ".join(TRIAL.text.split())


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("AIM: We investigated the role of MRI versus arthroscopy in the knee.", "MRI versus arthroscopy"),
        ("AIM: To compare open with laparoscopic surgery.", None),
        ("RESULTS: Median survival was 34.7 months versus 11.6 months.", None),
    ],
)
def test_what_was_compared_is_left_out_where_it_is_not_certain(text: str, compared: str | None) -> None:
    found = comparison(work(text))
    assert (found.text if found else None) == compared


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (
            "RESULTS: The risk of a fracture rose with age (OR 3.53, 95% CI 1.59-7.86).",
            ("OR 3.53, 95% CI 1.59-7.86",),
        ),
        (
            "RESULTS: Survival after five years of treatment was 70% (95% CI 53-83%).",
            ("70% (95% CI 53-83%)",),
        ),
        ("RESULTS: The mean was 2.70 (SD 0.3), with p < 0.05.", ()),
        ("BACKGROUND: Earlier work found OR 3.53, 95% CI 1.59-7.86.", ()),
        (
            "RESULTS: It was 2.16 (95% confidence interval 1.11-4.22) in men.",
            ("2.16 (95% confidence interval 1.11-4.22)",),
        ),
    ],
)
def test_effects_are_those_with_an_interval_in_the_results(text: str, numbers: tuple[str, ...]) -> None:
    assert tuple(fact.text for fact in effects(work(text))) == numbers


def test_a_review_and_a_label_have_no_people_of_their_own() -> None:
    for kind in ("review", "drug_label", "database_record"):
        item = TRIAL.model_copy(update={"evidence_type": kind})
        assert (population(item), comparison(item), outcome(item)) == (None, None, None)
    assert effects(TRIAL.model_copy(update={"evidence_type": "drug_label"})) == ()
