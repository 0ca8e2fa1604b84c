"""Reading questions and planning, without a language model."""

import pytest

from activities import extractive
from activities.steps import ParsedQuery, ParseQueryInput, PlanInput
from activities.text.tokens import phrases
from activities.types import ReportPlan
from tests.activities.extractive.abstracts import context

PROFILES = {
    "general": "Any question.",
    "biomedical": "Medicine and biology.",
    "drug_repurposing": "Drugs for other diseases.",
    "soils": "Soil chemistry, nitrogen and crop rotation on farms.",
}


def parsed(question: str) -> ParsedQuery:
    return extractive.parse_query(ParseQueryInput(**context(question), profiles=PROFILES))


def planned(question: str, max_sections: int = 5, **more: object) -> ReportPlan:
    step = PlanInput(**context(question, **more), parsed=parsed(question), max_sections=max_sections)
    return extractive.plan(step)


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("Does metformin reduce the risk of dementia?", "iterative"),
        ("Is low serum chloride a risk factor for cardiovascular mortality?", "iterative"),
        ("What is known about metformin in Alzheimer's disease?", "deep"),
        ("Compare statins, fibrates and niacin for lowering cholesterol", "deep"),
        ("Aspirin versus clopidogrel for stroke prevention", "deep"),
        ("How do antiviral drugs work, and why do they fail?", "deep"),
        ("Human papillomavirus and pterygium. Is the virus a risk factor?", "iterative"),
        ("Do some U.S. states have higher mortality than others?", "iterative"),
        ("Does a family history of stroke raise the risk?", "iterative"),
    ],
)
def test_broad_and_many_part_questions_get_a_deep_run(question: str, mode: str) -> None:
    assert parsed(question).research_mode == mode


ALL_MODES = ("simple", "iterative", "deep", "team", "hierarchical")


def fitting(question: str, *modes: str) -> ParsedQuery:
    step = ParseQueryInput(**context(question), modes=dict.fromkeys(modes or ALL_MODES, "good for something"))
    return extractive.parse_query(step)


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("How many people have Parkinson's disease?", "simple"),
        ("What is the half-life of caffeine?", "simple"),
        ("Does metformin reduce the risk of dementia?", "iterative"),
        ("How do antiviral drugs work, and why do they fail?", "deep"),
        ("Compare statins, fibrates and niacin for lowering cholesterol", "hierarchical"),
        ("Which approved drugs could be repurposed for ALS?", "team"),
    ],
)
def test_the_mode_is_chosen_among_all_that_are_offered(question: str, mode: str) -> None:
    assert fitting(question).research_mode == mode


def test_a_mode_that_is_not_offered_is_not_chosen_and_the_reason_says_so() -> None:
    compared = fitting("Compare statins, fibrates and niacin for lowering cholesterol", "deep", "iterative")
    assert compared.research_mode == "deep"
    assert "hierarchical is not available" in compared.rationale
    assert fitting("What is the half-life of caffeine?", "iterative").research_mode == "iterative"


@pytest.mark.parametrize(
    ("question", "profile"),
    [
        ("Which approved drugs could be repurposed for ALS?", "drug_repurposing"),
        ("Does obesity increase the risk of breast cancer?", "biomedical"),
        ("Is emergency double-balloon enteroscopy: worthwhile?", "biomedical"),
        ("Will quantum computers break encryption?", "general"),
        ("Is TNF-\u03b1 raised in COVID-19?", "biomedical"),
        ("What were the causes of the First World War?", "general"),
        ("How does crop rotation change soil nitrogen?", "soils"),
    ],
)
def test_the_profile_follows_the_vocabulary_of_the_question(question: str, profile: str) -> None:
    assert parsed(question).profile == profile


def test_terms_stay_as_they_were_typed() -> None:
    question = "Does TNF-\u03b1 or antiviral therapy change Alzheimer's disease or IL-6?"
    names = parsed(question).key_entities
    assert names == ("TNF-\u03b1", "antiviral therapy", "Alzheimer's disease", "IL-6")
    assert parsed(question).improved_query == question


def test_a_quoted_phrase_is_one_name() -> None:
    assert "restless legs" in phrases('Does iron help "restless legs" at night?')


def test_things_compared_become_one_question_each() -> None:
    assert parsed("Compare statins, fibrates and niacin for lowering cholesterol").research_questions == (
        "statins for lowering cholesterol",
        "fibrates for lowering cholesterol",
        "niacin for lowering cholesterol",
    )


def test_a_clause_that_points_back_names_what_it_points_to() -> None:
    second = parsed("How do antiviral drugs work, and why do they fail?").research_questions[1]
    assert second.startswith("Why do they fail")
    assert "antiviral" in second


def test_a_clause_without_a_subject_inherits_that_of_the_first() -> None:
    asked = parsed("Which factors predict mortality after hip fracture, and does early surgery help?")
    assert asked.research_questions[1] == "Does early surgery help (mortality, hip fracture)?"


def test_two_nouns_joined_by_and_stay_one_question() -> None:
    question = "Do vitamin D and calcium prevent fractures?"
    assert parsed(question).research_questions == (question,)


def test_the_choice_is_explained_in_one_sentence() -> None:
    rationale = parsed("What is known about metformin in Alzheimer's disease?").rationale
    assert "deep" in rationale
    assert "What is known" in rationale
    assert rationale.count(".") == 1


def test_every_clause_gets_a_section_before_the_outline_does() -> None:
    outline = planned("How do antiviral drugs work, and why do they fail?", max_sections=4).report_outline
    assert [s.key_question for s in outline[:2]] == list(
        parsed("How do antiviral drugs work, and why do they fail?").research_questions
    )
    assert len(outline) == 4
    assert len({s.title for s in outline}) == 4


def test_a_plan_keeps_to_its_sections_and_asks_about_the_topic() -> None:
    for room in range(1, 7):
        outline = planned("Does metformin slow Alzheimer's disease?", max_sections=room).report_outline
        assert 1 <= len(outline) <= room
        assert all("metformin" in s.key_question for s in outline)
        assert all(s.id == "" for s in outline)


def test_steering_becomes_a_section() -> None:
    outline = planned(
        "Does metformin slow dementia?", steering=("side effects in the elderly",)
    ).report_outline
    assert outline[0].key_question == "side effects in the elderly"
