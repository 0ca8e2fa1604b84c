"""PubMed's notices on the works a report cites: an activity of its own, on NCBI's queue.

NCBI's rate holds for the whole fleet, so only the process that holds NCBI's gate asks it, while a report is
published anywhere. What PubMed said travels through the run into `publish_report`, which joins it with what
the other authorities say.
"""

from collections.abc import Mapping, Sequence

from temporalio import activity

from activities.contracts.evidence import EvidenceRef, StandingNotice
from activities.contracts.publish import PubMedCheck, PubMedSaid
from activities.heartbeat import reporting_errors
from activities.publish_activity import CHECK_PUBMED, pubmed_name
from activities.retractions.rules import standing_of
from activities.sources.ncbi import MAX_IDS
from activities.sources.standing_lookup import StandingLookup, StandingVerdict, combine


class PubMedStanding:
    """Registered on NCBI's queue only."""

    def __init__(self, lookup: StandingLookup) -> None:
        self._lookup = lookup

    @activity.defn(name=CHECK_PUBMED)
    async def check(self, step: PubMedCheck) -> PubMedSaid:
        """Ask about all works at once, 200 a request. Fails like a search, and is retried like one."""
        notices: dict[str, tuple[StandingNotice, ...]] = {}
        async with reporting_errors("standing_not_checked", run_id=step.run_id, authority="pubmed"):
            for start in range(0, len(step.pmids), MAX_IDS):
                notices |= await self._lookup.ask_pubmed(step.pmids[start : start + MAX_IDS])
        return PubMedSaid(asked=step.pmids, notices=notices)


class ReleaseStanding:
    """The standing of cited works when a report is released: Crossref and Europe PMC are asked here, and what
    PubMed said is joined with their answers."""

    def __init__(self, lookup: StandingLookup) -> None:
        self._lookup = lookup

    async def check_many(
        self, refs: Sequence[EvidenceRef], *, pubmed: PubMedSaid | None = None, library: bool = False
    ) -> Mapping[str, StandingVerdict]:
        """See `activities.publish_activity.StandingChecker`."""
        found = await self._lookup.check_many(refs, ("crossref", "europepmc"), library=library)
        if pubmed is None:
            return found
        return {
            ref.evidence_id: combine(ref, [found[ref.evidence_id], part])
            if (part := part_of(ref, pubmed, library=library))
            else found[ref.evidence_id]
            for ref in refs
        }


def part_of(ref: EvidenceRef, said: PubMedSaid, *, library: bool = False) -> StandingVerdict | None:
    """PubMed's part of the verdict on a work; None for one it was not asked about."""
    pmid = pubmed_name(ref, library=library)
    if pmid is None or pmid not in said.asked:
        return None
    notices = said.notices.get(pmid)
    if notices is None:
        failures = (said.failure,) if said.failure else ()
        return StandingVerdict(standing="unknown", asked=("pubmed",), failures=failures)
    standing = standing_of(notices)
    return StandingVerdict(
        standing=standing, notices=notices, asked=("pubmed",), reported={"pubmed": standing}
    )
