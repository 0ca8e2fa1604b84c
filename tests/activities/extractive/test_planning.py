"""A plan without a model: the question itself, then the aspects of the profile."""

import pytest

from activities.contracts.plan import ParsedQuery, ParseQueryInput, PlanInput
from activities.extractive.planning import parse_query, plan, search_text, standalone_question
from activities.profiles.loader import load_profile
from tests.activities.extractive.abstracts import PROFILE, context

QUESTION = "How do laparoscopic and open surgery compare?"
PROFILES = {name: load_profile(name).description for name in ("general", "biomedical", "drug_repurposing")}


def parsed(question: str, **more: object) -> ParsedQuery:
    return parse_query(ParseQueryInput(**context(question), profiles=PROFILES, **more))


def test_a_plan_has_the_question_first_and_aspects_searched_in_their_own_words() -> None:
    step = PlanInput(**context(QUESTION), parsed=ParsedQuery(improved_query=QUESTION), max_sections=2)
    first, second = plan(step).report_outline
    assert first.key_question == second.key_question == QUESTION
    assert (first.aspect, second.aspect) == ("", PROFILE.aspects[0].title)
    on_safety = step.replace(aspect="Safety")
    assert search_text(on_safety, QUESTION) == f"{QUESTION} adverse events safety"
    assert search_text(on_safety, "Another question") == "Another question"
    assert search_text(step, QUESTION) == QUESTION


def test_a_question_in_another_language_has_no_section_of_english_aspects() -> None:
    question = "Welche Vorteile hat die laparoskopische Operation?"
    step = PlanInput(**context(question), parsed=ParsedQuery(improved_query=question), max_sections=4)
    assert [section.aspect for section in plan(step).report_outline] == [""]


def test_a_question_is_read_by_what_it_names() -> None:
    assert parsed("Does metformin slow Alzheimer's disease?").profile == "biomedical"
    assert parsed("Who wrote the first printed almanac?").profile == "general"
    assert parsed("When is the release and what does it cost?").profile == "general"
    assert parsed("Which drugs could be repurposed for gout?").profile == "drug_repurposing"
    assert parsed("Does metformin slow Alzheimer's disease?").key_entities == (
        "metformin",
        "Alzheimer's disease",
    )


@pytest.mark.parametrize(
    ("question", "profile"),
    [
        ("Hilft Metformin bei Demenz?", "biomedical"),
        ("Wer hat am Samstag Dienst laut Dienstplan?", "general"),
        ("\u00bfC\u00f3mo se trata la neumon\u00eda en ni\u00f1os?", "biomedical"),
        ("\u00bfQu\u00e9 pasa si entrego tarde la p\u00e1gina web?", "general"),
        ("\u9488\u7078\u5bf9\u504f\u5934\u75db\u6709\u6548\u5417\uff1f", "biomedical"),
        ("\u8c01\u661f\u671f\u516d\u503c\u73ed\uff1f", "general"),
    ],
)
def test_the_profile_follows_what_is_asked_in_any_language(question: str, profile: str) -> None:
    assert parsed(question).profile == profile


def test_a_question_of_several_lines_is_searched_once() -> None:
    question = "Can metformin lower the risk\nof colorectal cancer?"
    assert parsed(question).improved_query == question
    assert "colorectal cancer" in parsed(question).key_entities


def test_a_chain_of_follow_ups_keeps_the_names_of_each_question() -> None:
    first = "Can metformin lower the risk of colorectal cancer?"
    second = standalone_question("And in children?", first)
    third = standalone_question("What about the dose?", second)
    assert second == "And in children? (metformin, colorectal cancer)"
    assert third == "What about the dose? (children, metformin, colorectal cancer)"
    assert parsed("And in children?", earlier_question=first).improved_query == second
    assert parsed("What about the dose?", earlier_question=second).key_entities[-2:] == (
        "metformin",
        "colorectal cancer",
    )
