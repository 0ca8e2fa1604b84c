"""Roles of installed packages: their prompt, the prompt of a node in its place, and what they change."""

import pytest

from activities.contracts.evidence import ModelChoice
from activities.own_step_activity import MAX_GAPS, OwnStepInput, OwnStepOutput
from activities.roles import own
from examples.critic import PROMPT, critic
from tests.activities.roles.conftest import MODEL, QUESTION, Case
from tests.fake_openai import says


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "own_roles", lambda: {"critic": critic})


def a_step(case: Case, **more: object) -> OwnStepInput:
    common = case.step("observer").model_dump(include={"run_id", "question", "profile", "scope"})
    return OwnStepInput.model_validate(
        {**common, "model": MODEL, "name": "critic", "evidence": case.refs, "gaps": ("harms",), **more}
    )


async def test_the_role_is_asked_with_its_prompt_and_its_answer_is_accepted(case: Case) -> None:
    case.server.script(says({"searches": ["no effect", "harm", "third"], "doubt": "One trial only."}))
    charged = await case.thinker.think("own_role", a_step(case))
    system, user = (message["content"] for message in case.server.bodies[0]["messages"])
    assert system.startswith(PROMPT)
    assert QUESTION in user
    assert "harms" in user
    assert "A trial of metformin" in user
    assert charged.output.gaps == ("no effect", "harm")
    assert charged.output.facts == ("A critic doubts: One trial only.",)
    assert charged.usage.tokens
    assert charged.prompt_version.startswith("own_role@")


async def test_a_built_in_role_keeps_the_rules_on_evidence_under_the_prompt_of_a_node(case: Case) -> None:
    case.server.script(says({"works": []}))
    step = case.step("judge", prompt="Judge as a regulator would.")
    await case.thinker.think("judge", step)
    system = case.server.bodies[0]["messages"][0]["content"]
    assert system.startswith("Judge as a regulator would.")
    assert "Works are labelled E1, E2" in system


async def test_without_a_model_a_role_changes_nothing(case: Case) -> None:
    charged = await case.thinker.think("own_role", a_step(case, model=ModelChoice()))
    assert (charged.output.gaps, charged.output.facts) == ((), ())
    assert not case.server.asked


def test_what_a_role_answers_is_bounded() -> None:
    many = OwnStepOutput(gaps=("x" * 1000,) * 20, facts=("y",) * 50).bounded()
    assert len(many.gaps) == MAX_GAPS
    assert max(map(len, many.gaps)) < 1000
    assert len(many.facts) < 50
