"""Storing the older events of a run as an activity, so that its state stays small."""

import json

from pydantic import JsonValue
from temporalio import activity

from activities.contracts.evidence import Frozen
from activities.evidence_store import EvidenceStore
from activities.heartbeat import reporting_errors


class EventBatch(Frozen):
    """Consecutive events of one run, oldest first, as the query `events` returns them."""

    run_id: str
    events: tuple[dict[str, JsonValue], ...]


class EventActivities:
    def __init__(self, store: EvidenceStore) -> None:
        self._store = store

    @activity.defn
    async def store_events(self, batch: EventBatch) -> str:
        """Store the events, one JSON object a line; returns the key of the blob."""
        lines = "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in batch.events)
        async with reporting_errors("events_not_stored", run_id=batch.run_id):
            return await self._store.put_bytes(lines.encode(), "jsonl")
