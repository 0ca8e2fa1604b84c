"""The event log: typed, whole across continue-as-new, and one order for a run and its sections."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from itertools import count
from pathlib import Path
from unittest import mock

import pytest

from activities.contracts.write import DraftClaim, DraftParagraph, SectionDraft
from activities.settings import Settings
from client.failures import NoAnswer
from client.runs.query import read_events
from tests.workflows.conftest import PATIENCE, Run, Stage, a_request
from workflows.event_types import AgentEvent
from workflows.events import EventLog
from workflows.state import RunState
from workflows.types import EventLogView

STORY = {
    *(*("started", "reading", "read", "planned", "section_started", "looping", "gap", "searching"),),
    *(
        *("search_complete", "judging", "judge_complete", "stopping", "section_complete", "synthesizing"),
        *("streaming", "complete"),
    ),
}
"""What the log of any deep run contains."""


def settings_of(stage: Stage, folder: Path) -> Settings:
    return Settings(home=folder, store_url=str(folder / "evidence"))


async def log_after(stage: Stage, run: Run, folder: Path, after: int = 0) -> list[AgentEvent]:
    """The events above a number. The server that skips time loses a query that meets the end of a run."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(NoAnswer):
                return await read_events(stage.client, settings_of(stage, folder), run.handle.id, after)


@pytest.mark.usefixtures("many_works")
async def test_the_events_of_a_deep_run_cover_every_step_and_each_paragraph_once(
    stage: Stage, tmp_path: Path
) -> None:
    stage.script.mode, stage.script.sections, stage.script.sufficient_at = "deep", 3, 2
    outcome, _, run = await stage.play(a_request("deep"))
    events = await log_after(stage, run, tmp_path)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert outcome.events[-1].type == "complete"
    assert list(outcome.events) == events[-len(outcome.events) :]
    assert {event.type for event in events} >= STORY
    (reading,) = [event for event in events if event.type == "reading"]
    assert not reading.message.startswith(reading.type), "the line begins with the type"
    assert [event.type for event in events].count("complete") == 1
    sections = {event.section for event in events if event.type == "judge_complete"}
    assert sections == {"s1", "s2", "s3"}
    searches = [event for event in events if event.type == "search_complete"]
    assert all(search.text("source") and search.text("status") for search in searches)
    assert all(event.data["scores"] for event in events if event.type == "judge_complete")
    rounds = Counter(event.section for event in events if event.type == "looping")
    assert rounds == {"s1": 2, "s2": 2, "s3": 2}
    ends = [event for event in events if event.type in ("section_complete", "complete")]
    assert {end.text("stop_reason") for end in ends} == {"sufficient_evidence"}
    assert all(end.number("tokens") for end in ends)
    drafts = [event for event in events if event.type == "streaming"]
    paragraphs = [
        (event.text("section_id"), event.number("paragraph"), event.text("text")) for event in drafts
    ]
    assert {section for section, _, _ in paragraphs} == sections
    assert len(paragraphs) == len(set(paragraphs))


def test_a_paragraph_replaces_the_one_before_it_and_an_empty_text_removes_one() -> None:
    state, run = RunState(), mock.MagicMock()
    run.context.state, run.context.section_id = state, "s1"
    run.context.next_seq, run.context.timestamp = count(1).__next__, str
    log = EventLog(run)
    for texts in (("one", "two"), ("one", "other"), ("one", "other"), ("one",), ("one",), ("one", "two")):
        claims = ((DraftClaim(text=text, state="stands"),) for text in texts)
        log.stream_draft("s1", SectionDraft(paragraphs=tuple(DraftParagraph(claims=c) for c in claims)))
    assert [
        (event.number("paragraph"), event.text("text"), bool(event.data.get("replaces")))
        for event in state.people.events
    ] == [(1, "one", False), (2, "two", False), (2, "other", True), (2, "", True), (2, "two", True)]


BREAKS = 40
"""Times that the follower loses its connection."""


async def test_a_follower_disconnected_forty_times_gets_each_event_once(live: Stage, tmp_path: Path) -> None:
    """A deep run that continues as new, as do its sections, and a follower whose connection breaks after a
    few events each time, and who is away for a while then."""
    live.script.mode, live.script.sections, live.script.sufficient_at = "deep", 3, 3
    limits = {"max_iterations": 3, "max_tokens": None}
    request = a_request("deep", limits=limits, history_events=50, approve=("report",))
    run = await live.start(request, f"{live.queue}-log")
    chance, seen, broken = random.Random(5), list[AgentEvent](), 0
    while broken < BREAKS:
        await asyncio.sleep(chance.random() * 0.1)
        if chance.random() < 0.5:  # the connection broke before an answer came
            broken += 1
            continue
        answer = await log_after(live, run, tmp_path, seen[-1].seq if seen else 0)
        received = answer[: chance.randint(0, 3)]  # what arrived before it broke
        seen, broken = seen + received, broken + (len(received) < len(answer))
    await run.until(lambda p: p.waiting_for == "report")
    await run.handle.signal("approve", {"gate": "report", "by": "ann"})
    while seen[-1].type != "complete":
        seen += await log_after(live, run, tmp_path, seen[-1].seq)
    await run.outcome()
    log: EventLogView = await run.handle.query("event_log", result_type=EventLogView)
    assert log.stored, "the run did not continue as new with a long log"
    assert [event.seq for event in seen] == list(range(1, log.last_seq + 1))
    assert await log_after(live, run, tmp_path) == seen
    continued = await live.client.get_workflow_handle(f"{run.handle.id}/s1").describe()
    first = live.client.get_workflow_handle(
        f"{run.handle.id}/s1", run_id=continued.raw_description.workflow_execution_info.first_run_id
    )
    assert (await first.describe()).run_id != continued.run_id, "no section continued as new"
    rounds = Counter(event.section for event in seen if event.type == "looping")
    assert rounds == {f"s{number}": 3 for number in range(1, 4)}
