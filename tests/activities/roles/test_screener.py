"""The screener: decisions on records that were shown, each exclusion by a criterion and sentences of its own
record; what a model does not answer stays open."""

from typing import Any

import pytest

from activities.contracts.errors import ModelError
from activities.review.protocol import Criterion
from activities.review.steps import ScreenedBatch
from tests.activities.roles.conftest import Case
from tests.fake_openai import fails

CRITERIA = (Criterion(id="I1", text="on metformin"), Criterion(id="E1", text="animals", kind="exclude"))


async def screened(case: Case, *rows: dict[str, Any]) -> ScreenedBatch:
    made: ScreenedBatch = await case.said("screener", {"decisions": list(rows)}, criteria=CRITERIA)
    return made


async def test_a_decision_has_the_words_of_its_own_record(case: Case) -> None:
    made = await screened(case, {"work": "E1", "verdict": "exclude", "criterion": "e1", "sentences": ["S1"]})
    (decision,) = made.decisions
    document = await case.store.get(case.refs[0])
    assert (decision.evidence_id, decision.verdict, decision.criterion) == (
        document.evidence_id,
        "exclude",
        "E1",
    )
    assert decision.words
    assert all(words in document.text for words in decision.words)


@pytest.mark.parametrize(
    "row",
    [
        {"work": "E1", "verdict": "exclude", "criterion": "E7", "sentences": ["S1"]},
        {"work": "E1", "verdict": "exclude", "criterion": "", "sentences": ["S1"]},
        {"work": "E2", "verdict": "exclude", "criterion": "E1", "sentences": ["S1"]},
        {"work": "E1", "verdict": "exclude", "criterion": "E1", "sentences": ["S999"]},
    ],
)
async def test_an_exclusion_without_ground_is_unsure(case: Case, row: dict[str, Any]) -> None:
    (one,) = (await screened(case, row)).decisions
    assert one.verdict == "unsure"
    assert one.reason


async def test_what_was_not_shown_or_not_decided_stays_open(case: Case) -> None:
    made = await screened(
        case,
        {"work": "E99", "verdict": "include", "criterion": "I1"},
        {"work": "E1", "verdict": "perhaps", "criterion": "I1"},
        {"work": "E2", "verdict": "include", "criterion": "I1"},
        {"work": "E2", "verdict": "exclude", "criterion": "E1"},
    )
    assert [(decision.evidence_id, decision.verdict) for decision in made.decisions] == [
        (case.refs[1].evidence_id, "include")
    ]


async def test_a_model_that_is_down_excludes_nothing(case: Case) -> None:
    case.server.script(fails(500, "down"))
    with pytest.raises(ModelError):
        await case.thinker.think("screener", case.step("screener", criteria=CRITERIA))
