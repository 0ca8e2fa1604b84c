"""Looking a candidate up, as an activity: one call a candidate, several of them at the same time.

An attempt with a temporary failure is retried, with earlier answers served from the cache; the last attempt
returns what there is, and the fields without an answer say so.
"""

from collections.abc import Mapping

from temporalio import activity

from activities.candidates.lookup import look_up
from activities.contracts.candidates import LOOK_UP_ATTEMPTS, CandidateLookUp, LookedUp
from activities.evidence_store import EvidenceStore
from activities.heartbeat import reporting_errors
from activities.sources.base import Source
from activities.sources.http.cache import forget_when_malformed


class CandidateActivities:
    def __init__(self, sources: Mapping[str, Source], store: EvidenceStore) -> None:
        self._sources = sources
        self._store = store

    @activity.defn
    async def look_up_candidate(self, step: CandidateLookUp) -> LookedUp:
        """Ask the permitted sources and store what they say; see `activities.candidates.lookup`."""
        async with reporting_errors("look_up_failed", run_id=step.run_id, name=step.name):
            async with forget_when_malformed():
                result = await look_up(step, self._sources)
                failure = result.temporary_failure
                if failure is not None and activity.info().attempt < LOOK_UP_ATTEMPTS:
                    raise failure
            findings = result.findings
            blob = await self._store.put_bytes(findings.model_dump_json().encode())
            count = sum(entry.status == "found" for entry in findings.fields)
            return LookedUp(name=findings.name, blob=blob, found=count, silent=tuple(findings.silent))
