"""Judgements that were made before: what their advice is worth in another run."""

from pathlib import Path

import pytest

from activities.contracts.evidence import Evidence, ModelChoice
from activities.contracts.iterations import Recommendation
from activities.contracts.judge import JudgeBatch, JudgeInput, WorkJudgement
from activities.evidence_store import EvidenceStore
from activities.profiles.loader import load_profile
from activities.roles.judgement_store import JudgementStore, StoredJudgement, with_known

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


def test_advice_holds_where_its_works_are_there_and_new_judgements_name_their_gaps() -> None:
    assert with_known(STEP, stored("synthesize", "a"), JudgeBatch(), "m").recommendation == "synthesize"
    assert with_known(STEP, stored("synthesize", "a", "b"), JudgeBatch(), "m").recommendation == ""
    new = JudgeBatch(judgements=(WorkJudgement(evidence_id="b", answers=1),), gaps=("doses",))
    batch = with_known(STEP, stored("continue", "a"), new, "m")
    assert batch.gaps == ("doses",)
    assert {judgement.evidence_id for judgement in batch.judgements} == {"a", "b"}


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "Judge as a regulator would."},
        {"instruction": "Look at harms."},
        {"question": "Is it safe?"},
        {"model": ModelChoice(backend="openai", model="other")},
    ],
)
async def test_a_judgement_belongs_to_the_prompt_that_it_was_asked_with(
    other: dict[str, object], tmp_path: Path
) -> None:
    """A node of a graph has a prompt of its own: neither uses what the other was told."""
    files = EvidenceStore.at(str(tmp_path))
    ref = await files.put(Evidence(evidence_id="a", source="library", title="T", text="It works."))
    step = STEP.replace(evidence=(ref,))
    another = step.model_copy(update=other)
    store = JudgementStore(files)
    for asked, grade in ((step, 3), (another, 1)):
        assert not await store.earlier(asked)
        batch = JudgeBatch(judgements=(WorkJudgement(evidence_id="a", answers=grade),))
        await store.keep(asked, batch)
    known = [await store.earlier(asked) for asked in (step, another)]
    assert [one["a"].judgement.answers for one in known] == [3, 1]
