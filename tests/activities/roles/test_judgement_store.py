"""Judgements that were made before: what their advice is worth in another run."""

import pytest

from activities.iterations import Recommendation
from activities.judgements import WorkJudgement
from activities.profiles.loader import load_profile
from activities.roles.judgement_store import StoredJudgement, with_known
from activities.steps import JudgeBatch, JudgeInput

STEP = JudgeInput(
    run_id="r", question="Does it work?", profile=load_profile("general"), iteration=1, evidence=()
)


def stored(recommendation: Recommendation, *beside: str) -> dict[str, StoredJudgement]:
    return {
        "a": StoredJudgement(
            judgement=WorkJudgement(evidence_id="a", answers=2),
            recommendation=recommendation,
            gaps=("children",),
            recommended_searches=("it in children",),
            beside=beside,
        )
    }


@pytest.mark.parametrize("beside", [("a",), ("a", "b")])
def test_a_question_asked_again_is_searched_as_far(beside: tuple[str, ...]) -> None:
    """Also where the earlier advice rested on more works: with fewer, more is missing."""
    batch = with_known(STEP, stored("continue", *beside), JudgeBatch(), "m")
    assert (batch.recommendation, batch.gaps) == ("continue", ("children",))
    assert batch.recommended_searches == ("it in children",)


def test_a_recommendation_to_write_holds_where_all_its_works_are_there() -> None:
    assert with_known(STEP, stored("synthesize", "a"), JudgeBatch(), "m").recommendation == "synthesize"
    assert with_known(STEP, stored("synthesize", "a", "b"), JudgeBatch(), "m").recommendation == ""


def test_a_work_that_is_judged_anew_names_its_own_gaps() -> None:
    new = JudgeBatch(judgements=(WorkJudgement(evidence_id="b", answers=1),), gaps=("doses",))
    batch = with_known(STEP, stored("continue", "a"), new, "m")
    assert batch.gaps == ("doses",)
    assert {judgement.evidence_id for judgement in batch.judgements} == {"a", "b"}
