"""Iterations as people look at them."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import Client

from activities.contracts.iterations import IterationRecord, IterationSearch
from activities.evidence_store import EvidenceStore
from client.cli.iterations import cost_of, lines_of
from client.runs.query import all_iterations
from tests.workflows.conftest import Stage, a_request, a_worker
from tests.workflows.fakes import Fakes


@pytest.fixture
async def live(temporal_client: Client, tmp_path: Path) -> AsyncIterator[Stage]:
    fakes = Fakes(EvidenceStore.at(str(tmp_path / "evidence")))
    queue = f"inspect-{uuid4().hex[:8]}"
    async with a_worker(temporal_client, fakes, queue):
        yield Stage(temporal_client, fakes, queue=queue)


async def test_sections_are_inspected_while_they_run(live: Stage) -> None:
    live.script.before["judge"] = lambda step: None
    live.script.hangs = "judge"
    run = await live.start(a_request("deep"), f"{live.queue}-2")
    for section in ("s1", "s2", "s3"):
        await live.child(run, section).until(lambda p: p.phase == "judging")
    records = await all_iterations(live.client, run.handle.id)
    assert [(r.section, r.iteration) for r in records] == [("s1", 1), ("s2", 1), ("s3", 1)]
    assert all(r.searches and not r.judged for r in records)
    live.script.hangs = None
    await run.handle.terminate()


def test_what_others_wrote_cannot_act_on_the_terminal() -> None:
    search = IterationSearch(source="pubmed", query="a\x1b[31m query\nsearch  forged", status="rate_limited")
    record = IterationRecord(iteration=1, thought="seen\x1b[2J", searches=(search,), judged=True)
    lines = lines_of([record])
    assert all(character.isprintable() for line in lines for character in line)
    assert len(lines) == 5
    assert "rate limit reached" in lines[2]


@pytest.mark.parametrize(
    ("calls", "cost", "said"),
    [(0, 0, ""), (1, 1_500, "1 call, 10 tokens, $0.0015"), (2, None, "2 calls, 10 tokens, cost unknown")],
)
def test_the_cost_of_an_iteration(calls: int, cost: int | None, said: str) -> None:
    assert cost_of(IterationRecord(iteration=1, model_calls=calls, tokens=10, cost_microusd=cost)) == said
