"""Judging without a language model: relevance, confidence, scores."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities import extractive
from activities.evidence_store import make_ref
from activities.steps import JudgeInput
from activities.text.answer_confidence import ONE_STUDY, SMALL_STUDY
from activities.text.evidence_strength import direction
from tests.activities.extractive.abstracts import (
    METFORMIN,
    METFORMIN_NOT,
    PROFILE,
    context,
    document,
    judged,
    library,
)

QUESTION = "Does metformin reduce the risk of dementia?"


def test_items_about_the_question_are_relevant_and_others_are_not() -> None:
    answer = judged(QUESTION, library())
    assert set(answer.relevant) == {"pmid:1", "pmid:2", "pmid:3"}
    assert answer.shown == 4


@pytest.mark.parametrize(
    "question",
    ["Who won the world cup in 2018?", "What is the capital of France?", "Does aspirin prevent stroke?"],
)
def test_an_off_topic_question_has_no_confidence(question: str) -> None:
    answer = judged(question, library())
    assert answer.relevant == ()
    assert answer.confidence == 0
    assert set(answer.scores.values()) == {0}


def test_agreeing_trials_make_more_confident_than_one_article_and_contradiction_less() -> None:
    one = [document(1, METFORMIN, "Metformin and dementia", "article")]
    trials = [
        document(n, METFORMIN, f"Metformin and dementia, trial {n}", "randomized_trial") for n in range(1, 5)
    ]
    split = [
        *trials[:2],
        *(document(n, METFORMIN_NOT, f"Metformin and dementia {n}", "randomized_trial") for n in (8, 9)),
    ]
    assert judged(QUESTION, one).confidence < judged(QUESTION, trials).confidence
    assert judged(QUESTION, split).confidence < judged(QUESTION, trials).confidence
    assert judged(QUESTION, trials).confidence >= PROFILE.confidence_threshold


def test_a_part_of_the_question_that_is_not_covered_is_a_gap_and_lowers_confidence() -> None:
    whole = judged(QUESTION, library())
    half = judged(f"{QUESTION} And does aspirin prevent stroke?", library())
    assert half.confidence < whole.confidence
    assert any("aspirin" in gap for gap in half.gaps)
    assert any("aspirin" in query for query in half.recommended_searches)


def test_a_judge_that_is_not_sure_says_what_to_look_for() -> None:
    answer = judged(QUESTION, [document(1, METFORMIN, "Metformin and dementia", "web_page")])
    assert answer.confidence < PROFILE.confidence_threshold
    assert answer.gaps == ("More independent evidence on metformin and dementia",)


def test_retracted_work_is_never_relevant() -> None:
    works = [document(1, METFORMIN, "Metformin and dementia", standing="retracted"), library()[1]]
    assert judged(QUESTION, works).relevant == ("pmid:2",)


def test_every_criterion_of_the_profile_is_scored() -> None:
    scores = judged(QUESTION, library()).scores
    assert set(scores) == {c.name for c in PROFILE.criteria}
    assert scores["clinical_evidence"] > 0
    assert scores["mechanism"] > 0
    assert all(0 <= value <= 10 for value in scores.values())


def test_the_judge_sees_no_more_than_it_may() -> None:
    works = [document(n, METFORMIN, f"Metformin and dementia {n}") for n in range(1, 12)]
    step = JudgeInput(
        **context(QUESTION), iteration=1, evidence=tuple(make_ref(d, "b") for d in works), max_shown=5
    )
    answer = extractive.judge(step, works)
    assert answer.shown == 5
    assert len(answer.relevant) <= 5


@pytest.mark.parametrize(
    ("sentence", "way"),
    [
        ("Metformin reduced the risk of dementia.", "yes"),
        ("Metformin did not reduce the risk of dementia.", "no"),
        ("There was no significant difference between the groups.", "no"),
        ("Screening was ineffective in this cohort.", "no"),
        ("Patients were seen on Mondays.", "none"),
    ],
)
def test_effect_and_absence_of_effect_are_distinguished(sentence: str, way: str) -> None:
    assert direction(sentence) == way


@settings(deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=200), max_size=5))
def test_no_text_makes_the_judge_fail_or_name_what_it_was_not_shown(question: str, bodies: list[str]) -> None:
    works = [document(n, text, text[:20]) for n, text in enumerate(bodies, 1)]
    answer = judged(question, works)
    assert set(answer.relevant) <= {w.evidence_id for w in works}
    assert 0 <= answer.confidence <= 1


def test_one_small_study_limits_confidence_and_the_reasons_say_so() -> None:
    small = METFORMIN.replace("4120 patients", "145 patients")
    title = "Metformin and dementia: a cohort study"
    alone = judged(QUESTION, [document(1, small, title, "observational")])
    large = judged(QUESTION, [document(1, METFORMIN, title, "observational")])
    assert alone.confidence < large.confidence <= ONE_STUDY
    assert alone.confidence <= SMALL_STUDY
    limits = [
        reason.values["why"] for reason in alone.confidence_reasons if reason.code == "confidence_limited"
    ]
    assert limits == ["small"]
    review = document(2, METFORMIN, "Metformin and dementia: a meta-analysis", "meta_analysis")
    assert "confidence_limited" not in {r.code for r in judged(QUESTION, [review]).confidence_reasons}


def test_two_papers_of_one_registered_trial_are_one_study_for_confidence() -> None:
    title = "Metformin and dementia: a randomized trial"
    first, second = (f"{METFORMIN}\nTrial registration: ISRCTN1234567{digit}." for digit in "89")

    def counted(*texts: str) -> object:
        works = [document(n, text, f"{title} ({n})", "randomized_trial") for n, text in enumerate(texts)]
        reasons = {r.code: r.values for r in judged(QUESTION, works).confidence_reasons}
        return reasons["confidence_works"]["independent"]

    assert (counted(first, first), counted(first, second)) == (1, 2)
