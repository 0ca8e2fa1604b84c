"""Decisions by what a run has used and has left of tokens, money and time."""

from typing import Any

import pytest

from tests.workflows.conftest import Stage, a_request
from tests.workflows.graph.graphs import a_graph
from tests.workflows.script import takes
from workflows.graph.definition import UNLIMITED, Comparison, Facts, GraphView, holds

LEFT: tuple[str, ...] = ("tokens_left", "cost_left_usd", "seconds_left")


USED_AND_LEFT: tuple[tuple[str, Any, float, float], ...] = (
    ("tokens_used", ">=", 1, 10**9),
    ("tokens_left", "<", 10**9, 1),
    ("cost_used_usd", ">", 0.0, 1_000.0),
    ("cost_left_usd", "<", 1_000.0, 0.0),
    ("seconds_used", ">=", 20.0, 10**6),
    ("seconds_left", "<", 3_590.0, 1.0),
)
"""A comparison that is met after a round, and one that is not."""


async def test_a_decision_follows_what_is_used_and_left(stage: Stage) -> None:
    """The run stops after a round, where its first comparison holds, and has iterations left."""
    stage.script.sufficient_at = None
    stage.script.before["judge"] = lambda _: takes(30)
    limits = {
        "max_iterations": 2,
        "max_tokens": 500_000,
        "max_cost_microusd": 5_000_000,
        "max_seconds": 3_600,
    }
    until = Comparison(field="tokens_used", op=">=", value=1)
    graph = a_graph("begin wanted select search judge again", until=until)
    _, _, run = await stage.play(a_request("graph", graph=graph, limits=limits))
    seen = await run.ask("graph", GraphView)
    assert seen.visits["judge"] == 1
    facts = Facts.model_validate(seen.state)
    for field, op, met, unmet in USED_AND_LEFT:
        assert holds(Comparison(field=field, op=op, value=met), facts), field
        assert not holds(Comparison(field=field, op=op, value=unmet), facts), field


@pytest.mark.parametrize("field", LEFT)
def test_without_a_limit_what_is_left_is_more_than_any_number(field: str) -> None:
    facts = Facts()
    assert not holds(Comparison(field=field, op="<", value=UNLIMITED - 1), facts)
    assert holds(Comparison(field=field, op=">=", value=10**9), facts)
