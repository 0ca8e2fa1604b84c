"""The iterations of a run as people look at them: from the run's own memory, else from its event log."""

import asyncio
from collections.abc import Iterable, Sequence

from temporalio.client import Client

from activities.iterations import IterationRecord, IterationSearch
from activities.settings import Settings
from client.runs.errors import NoAnswer, NoSuchRun
from client.runs.events import read_events
from client.runs.query import iterations, progress
from workflows.event_types import AgentEvent, Gap, JudgeComplete, SearchComplete
from workflows.types import Progress


async def inspect_run(client: Client, settings: Settings, run_id: str) -> tuple[IterationRecord, ...]:
    """Every iteration of a run and of its sections, those of the run's own loop first.

    A section that runs is asked itself. A run of an earlier version has no memory of its iterations: its
    event log is used instead, without reasoning and cost. Raises NoAnswer, NoSuchRun, StoreError.
    """
    seen = await progress(client, run_id)
    found = await iterations(client, run_id)
    own = [record for records in await _of_sections(client, seen) for record in records]
    asked = {record.section for record in own}
    records = [*(record for record in found if record.section not in asked), *own]
    if not records:
        records = list(from_events(await read_events(client, settings, run_id)))
    return tuple(sorted(records, key=lambda record: (record.section, record.iteration)))


async def _of_sections(client: Client, seen: Progress) -> list[tuple[IterationRecord, ...]]:
    """The iterations of the sections that run; one that does not answer is as the run has it."""
    running = [s.workflow_id for s in seen.sections if s.status == "running" and s.workflow_id]
    answers = await asyncio.gather(*(iterations(client, name) for name in running), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, NoAnswer | NoSuchRun):
            raise answer
    return [answer for answer in answers if not isinstance(answer, BaseException)]


def from_events(events: Iterable[AgentEvent]) -> list[IterationRecord]:
    """What an event log says of iterations. Pure."""
    found: dict[tuple[str, int], list[AgentEvent]] = {}
    for event in events:
        if event.iteration:
            found.setdefault((event.section, event.iteration), []).append(event)
    return [_record(section, number, own) for (section, number), own in found.items()]


def _record(section: str, iteration: int, events: Sequence[AgentEvent]) -> IterationRecord:
    details = [event.details for event in events]
    searches = [data for data in details if isinstance(data, SearchComplete)]
    judged = [data for data in details if isinstance(data, JudgeComplete)]
    return IterationRecord.model_validate(
        {
            "iteration": iteration,
            "section": section,
            "started_at": events[0].timestamp,
            "gaps": tuple(data.gap for data in details if isinstance(data, Gap)),
            "searches": tuple(
                IterationSearch.model_validate(
                    {
                        "source": data.source,
                        "query": data.query,
                        "status": data.status or "empty",
                        "hits": data.hits,
                        "kept": data.kept,
                    }
                )
                for data in searches
            ),
            "new_items": sum(data.new for data in searches),
            "judged": bool(judged),
            "scores": {name: round(score) for name, score in judged[-1].scores.items()} if judged else {},
            "confidence": judged[-1].confidence if judged else 0.0,
        }
    )
