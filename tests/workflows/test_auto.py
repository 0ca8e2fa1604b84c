"""Mode auto: it chooses a mode and continues as its workflow."""

import pytest

from activities.contracts.plan import ParsedQuery
from tests.workflows.conftest import Stage, a_request
from tests.workflows.script import takes


async def test_auto_that_is_cancelled_leaves_a_report(stage: Stage) -> None:
    stage.script.before["query_parser"] = lambda _: takes(30)
    run = await stage.start(a_request("auto"))
    await run.until(lambda p: p.phase == "reading")
    assert (await stage.cancelled(run)).stop_reason == "cancelled"


async def test_auto_chooses_the_profile_as_well(stage: Stage) -> None:
    stage.script.answers["query_parser"] = lambda step: ParsedQuery(
        improved_query=step.question, research_mode="iterative", profile="drug_repurposing"
    )
    await stage.play(a_request("auto"))
    assert [p.profile for p in stage.fakes.prepared] == ["general", "drug_repurposing"]


@pytest.mark.parametrize(("left_open", "rounds"), [(("max_iterations",), 11), ((), 6)])
async def test_limits_that_were_not_set_are_the_chosen_modes_own(
    stage: Stage, left_open: tuple[str, ...], rounds: int
) -> None:
    """Ten rounds for a team, or the five of the request, and the one that was added meanwhile: what is said
    while it chooses is carried on."""
    stage.script.mode = "team"
    stage.script.before["query_parser"] = lambda _: takes(30)
    run = await stage.start(a_request("auto", open_limits=left_open))
    await run.until(lambda p: p.phase == "reading")
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.execute_update("extend_budget", {"iterations": 1})
    await run.outcome()
    assert {call.step.steering for call in stage.fakes.of("manager")} == {("older people",)}
    assert (await run.progress()).max_iterations == rounds
    assert (await run.budget()).limits.max_iterations == rounds
