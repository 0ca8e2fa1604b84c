"""The design of a study is what its title or a sentence on itself calls it; else it is left open."""

import pytest

from activities.text.study_design import Design, own_design


@pytest.mark.parametrize(
    ("title", "text", "design"),
    [
        ("Zinc for colds: a randomised, double-blind trial", "", "randomized trial"),
        ("Coffee and sleep: systematic review and meta-analysis", "", "meta-analysis"),
        (
            "Falls of nurses",
            "METHODS: We conducted a retrospective cohort study of 90 nurses.",
            "cohort study",
        ),
        ("Falls of nurses", "METHODS: This was a cross-sectional study.", "cross-sectional study"),
        ("A rare tumour: case report", "", "case report"),
        (
            "Zinc for colds",
            "Patients with colds (of seven days) and no fever were randomly allocated to zinc or placebo.",
            "randomized trial",
        ),
        ("Zinc for colds", "We randomly assigned study participants to zinc or placebo.", "randomized trial"),
        ("Zinc for colds", "METHODS: Sixty-one infants were randomized to two groups.", "randomized trial"),
        ("Randomized clinical trial of fluids within an enhanced recovery protocol", "", "randomized trial"),
        ("Zinc for colds: results of a multicenter randomized trial", "", "randomized trial"),
    ],
)
def test_a_design_that_a_work_names_of_itself_is_its_design(title: str, text: str, design: Design) -> None:
    found = own_design(title, text)
    assert found is not None
    assert found.design == design


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Zinc for colds: protocol of a randomised trial", ""),
        ("Zinc for colds: study protocol for a randomised trial", ""),
        ("Recruitment for randomised trials", ""),
        ("Zinc for colds", "Earlier randomised trials disagreed. Forty children took zinc."),
        ("Zinc for colds", "Further cohort studies are needed."),
        ("Zinc for colds", "Forty mice were randomized to two groups."),
    ],
)
def test_a_design_of_another_study_is_none(title: str, text: str) -> None:
    assert own_design(title, text) is None


def test_a_document_is_judged_by_its_title_alone() -> None:
    assert own_design("Notes", "We conducted a cohort study.", named_only=True) is None
