"""What a judge says beside its scores is kept, and only what the items shown support."""

from activities.extractive import judge
from activities.roles.judge import SPEC, JudgeAnswer, ScoreAnswer
from activities.steps import JudgeAssessment, JudgeInput
from tests.activities.roles.conftest import DOCUMENTS, Case


def a_judgement(case: Case, answer: JudgeAnswer) -> JudgeAssessment:
    step = case.step("judge")
    assert isinstance(step, JudgeInput)
    return SPEC.accept(step, SPEC.render(step, DOCUMENTS, 8_000), answer).output


async def test_a_judges_advice_and_reasons_are_kept(case: Case) -> None:
    scores = [ScoreAnswer(criterion="Mechanism", score=4, reason="one cohort only")]
    answer = JudgeAnswer(scores=scores, confidence=0.7, recommendation="Synthesize")
    judged = a_judgement(case, answer)
    assert judged.score_reasons == {"mechanism": "one cohort only"}
    assert (judged.sufficient, judged.recommendation) == (True, "synthesize")


async def test_only_drugs_that_the_items_name_are_found_and_origins_are_counted(case: Case) -> None:
    named = ["Metformin", "metformin", "Aspirin"]
    answer = JudgeAnswer(scores=[], confidence=0.5, recommendation="obey", candidates_found=named)
    judged = a_judgement(case, answer)
    assert judged.candidates_found == ("Metformin",)
    assert judged.sources_breakdown == {"library": 1, "pubmed": 1, "duckduckgo": 1}
    assert judged.recommendation == ""


async def test_code_that_judges_alone_gives_the_same_fields(case: Case) -> None:
    step = case.step("judge")
    assert isinstance(step, JudgeInput)
    judged = judge(step, DOCUMENTS)
    assert set(judged.score_reasons) == {c.name for c in step.profile.criteria}
    assert "metformin" in judged.candidates_found
    assert sum(judged.sources_breakdown.values()) == judged.shown
    assert (judged.sufficient, judged.recommendation) == (False, "continue")


def test_an_answer_of_before_these_fields_is_read() -> None:
    judged = JudgeAssessment.model_validate({"scores": {"mechanism": 4}, "confidence": 0.5})
    assert (judged.sufficient, judged.recommendation, judged.score_reasons) == (None, "", {})
