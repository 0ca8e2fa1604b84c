"""A run's whole event log: the older part from the evidence store, the rest from the run."""

import json

from temporalio.client import Client

from activities.evidence_store import EvidenceStore
from activities.settings import Settings
from client.runs.errors import NoAnswer
from client.runs.query import query
from workflows.event_types import AgentEvent
from workflows.types import EventLogView, EventsAfter, StoredEvents


async def read_events(
    client: Client, settings: Settings, run_id: str, after: int = 0, until: int | None = None
) -> list[AgentEvent]:
    """The events with a number above `after`, in order and without a gap: all that there are, or those up to
    `until` at least.

    The run keeps the latest part of its log, which is never empty: what is missing before it is stored.
    Raises NoAnswer, NoSuchRun, and StoreError when a stored part of the log cannot be read.
    """
    events: list[AgentEvent] = []
    while True:
        since = events[-1].seq if events else after
        page = await query(client, run_id, "events", list[AgentEvent], EventsAfter(after=since))
        if not page:
            return events
        if page[0].seq > since + 1:
            events += await _stored(client, settings, run_id, since, before=page[0].seq)
        events += page
        if until is not None and events[-1].seq >= until:
            return events


async def _stored(
    client: Client, settings: Settings, run_id: str, after: int, before: int
) -> list[AgentEvent]:
    """The stored events between two numbers; none of a run of an earlier version, which dropped them."""
    try:
        log = await query(client, run_id, "event_log", EventLogView)
    except NoAnswer:
        return []
    store = EvidenceStore.at(settings.evidence_url)
    parts = [part for part in log.stored if part.last > after and part.first < before]
    found = [event for part in parts for event in await _read_part(store, part)]
    return [event for event in found if after < event.seq < before]


async def _read_part(store: EvidenceStore, part: StoredEvents) -> list[AgentEvent]:
    lines = (await store.get_bytes(part.blob)).decode().splitlines()
    return [AgentEvent.model_validate(json.loads(line)) for line in lines]
