"""Going back to the beginning of an iteration, on the real server: the one that skips time cannot reset."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio.client import WorkflowExecutionStatus

import client.run
from activities.contracts.step import Role
from activities.settings import Settings
from client.connection import Connection, register_attributes
from client.listing import Listing, list_runs
from client.runs.display import Display
from client.runs.follow import Follower
from client.runs.query import read_events
from client.runs.rewinding import CannotRewind, rewind
from tests.workflows.conftest import Run, Stage, a_request, until
from workflows.event_types import AgentEvent
from workflows.types import Outcome

APART = 3.0
"""Seconds between the end of a run and its rewinding."""
pytestmark = pytest.mark.invariant


async def back(stage: Stage, run: Run, iteration: int) -> Run:
    """Rewind a run; what is returned follows its newest execution."""
    await rewind(stage.client, run.handle.id, iteration)
    return Run(stage.client.get_workflow_handle(run.handle.id, result_type=Outcome), store=stage.fakes.store)


async def events_of(stage: Stage, run: Run, folder: Path) -> list[AgentEvent]:
    """The whole log, also the part that is stored since the run continued as new."""
    settings = Settings(home=folder, store_url=str(folder / "evidence"))
    return await read_events(stage.client, settings, run.handle.id)


def iterations(stage: Stage, role: Role) -> list[int]:
    """The iterations in which a role was asked, in order."""
    return [getattr(call.step, "iteration", 0) for call in stage.fakes.of(role)]


@pytest.mark.parametrize("history_events", [8_000, 50])
async def test_a_finished_run_goes_on_from_an_iteration(
    live: Stage, tmp_path: Path, history_events: int
) -> None:
    """Also when the run had continued as new, so that the iteration is in an earlier execution."""
    live.script.sufficient_at = 3
    assert await register_attributes(live.client)
    request = a_request(history_events=history_events, indexed=True)
    _, before, run = await live.play(request, f"{live.queue}-{history_events}")
    assert iterations(live, "judge") == [1, 2, 3]
    last_before, execution = (await run.progress()).last_seq, (await run.handle.describe()).run_id
    with pytest.raises(CannotRewind, match="it has 1, 2, 3"):
        await back(live, run, 4)
    assert (await run.handle.describe()).run_id == execution
    run = await back(live, run, 2)
    outcome = await run.outcome()
    assert iterations(live, "judge") == [1, 2, 3, 2, 3]
    assert iterations(live, "query_parser") == [0]
    assert outcome.stop_reason == "sufficient_evidence"
    report = await run.report()
    assert report.run_id == before.run_id
    assert [r.iteration for r in report.methodology.searches] == [
        r.iteration for r in before.methodology.searches
    ]
    events = await events_of(live, run, tmp_path)
    # a number stands for one event, also for those who read the log before it was rewound
    assert [e.seq for e in events] == sorted({e.seq for e in events})
    types = [e.type for e in events]
    rewound = types.index("rewound")
    assert events[rewound].seq > last_before
    # before anything is decided: the time that has passed must not end the run
    assert events[types.index("looping", rewound)].iteration == 2
    assert types.count("complete") == 1
    rows = await list_runs(live.client, only=Listing(text=run.handle.id))
    assert [(row.run_id, row.status) for row in rows] == [(run.handle.id, "completed")]


async def test_later_decisions_of_people_are_discarded(live: Stage) -> None:
    live.script.sufficient_at = 2
    _, _, run = await live.play(a_request(), f"{live.queue}-said")
    await asyncio.sleep(APART)
    live.script.hangs = "judge"
    run = await back(live, run, 2)
    await run.until(lambda p: p.phase == "judging")
    await run.handle.signal("steer", {"text": "only children"})
    await run.handle.signal("finish_now")
    await run.handle.cancel()
    live.script.hangs = None
    run = await back(live, run, 2)
    outcome = await run.outcome()
    assert outcome.stop_reason == "sufficient_evidence"
    progress = await run.progress()
    assert (progress.steering, progress.iteration) == ((), 2)
    # what passed before the run was rewound is no working time
    passed = datetime.now(UTC) - datetime.fromisoformat(progress.started_at)
    assert progress.budget.elapsed_seconds < passed.total_seconds() - APART / 2


async def test_a_run_of_another_mode_with_one_loop_goes_back(live: Stage) -> None:
    live.script.sufficient_at = 2
    _, before, run = await live.play(a_request("graph"), f"{live.queue}-graph")
    iteration = before.methodology.iterations
    judged = len(live.fakes.of("judge"))
    run = await back(live, run, iteration)
    outcome = await run.outcome()
    assert outcome.stop_reason == before.stop_reason
    assert (await run.report()).methodology.iterations == iteration
    assert len(live.fakes.of("judge")) > judged
    assert [event.type for event in await run.events()].count("rewound") == 1


async def test_a_run_with_sections_goes_back_to_before_they_began(live: Stage) -> None:
    live.script.hangs = "judge"
    run = await live.start(a_request("deep"), f"{live.queue}-deep")
    for section in ("s1", "s2", "s3"):
        await live.child(run, section).until(lambda p: p.phase == "judging")
    first = await live.child(run, "s1").handle.describe()
    with pytest.raises(CannotRewind, match="`to_iteration` 1"):
        await back(live, run, 2)
    live.script.hangs = None
    run = await back(live, run, 1)
    outcome = await run.outcome()
    assert outcome.stop_reason == "sufficient_evidence"
    assert [s.status for s in (await run.report()).sections] == ["complete"] * 3
    assert len(live.fakes.of("planner")) == 1
    ended = live.client.get_workflow_handle(first.id, run_id=first.run_id)
    assert (await ended.describe()).status == WorkflowExecutionStatus.TERMINATED
    outcome = await (await back(live, run, 1)).outcome()
    assert outcome.stop_reason == "sufficient_evidence"


class Recorder(Display):
    """A display that keeps the events it was given."""

    def __init__(self) -> None:
        self.seen: list[AgentEvent] = []

    def events(self, events: Sequence[AgentEvent]) -> None:
        self.seen += events


async def test_who_follows_a_run_follows_it_back(live: Stage, tmp_path: Path) -> None:
    live.script.hangs = "judge"
    run = await live.start(a_request("deep"), f"{live.queue}-followed")
    recorder = Recorder()
    connection = Connection(live.client, embedded=False, address="")
    settings = Settings(home=tmp_path, store_url=str(tmp_path / "evidence"))
    following = asyncio.create_task(
        Follower(client.run.Run(settings, connection, run.handle.id), recorder).follow()
    )
    await live.child(run, "s1").until(lambda p: p.phase == "judging")
    await until(lambda: asyncio.sleep(0, recorder.seen), lambda seen: len(seen) > 3)
    live.script.hangs = None
    run = await back(live, run, 1)
    ended = await following
    assert ended.outcome is not None
    assert ended.outcome.stop_reason == "sufficient_evidence"
    types = [event.type for event in recorder.seen]
    assert (types.count("rewound"), types.count("complete")) == (1, 1)
    after = recorder.seen[types.index("rewound") :]
    numbers = [event.seq for event in recorder.seen]
    assert len(numbers) == len(set(numbers))
    assert [event.seq for event in after] == sorted(event.seq for event in after)
