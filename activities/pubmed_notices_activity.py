"""PubMed's notices on the works a report cites: an activity of its own, on NCBI's queue.

NCBI's rate holds for the whole fleet, so only the process that holds NCBI's gate asks it, while a report is
published anywhere. What PubMed said travels through the run into `publish_report`, which joins it with what
the other authorities say.
"""

from temporalio import activity

from activities.contracts.publish import PubMedCheck, PubMedSaid
from activities.heartbeat import reporting_errors
from activities.publish_activity import CHECK_PUBMED
from activities.sources.standing_lookup import StandingLookup


class PubMedStanding:
    """Registered on NCBI's queue only."""

    def __init__(self, lookup: StandingLookup) -> None:
        self._lookup = lookup

    @activity.defn(name=CHECK_PUBMED)
    async def check(self, step: PubMedCheck) -> PubMedSaid:
        """Ask about all works at once. Fails like a search, and is retried like one."""
        async with reporting_errors("standing_not_checked", run_id=step.run_id, authority="pubmed"):
            return await self._lookup.ask_pubmed(step.pmids)
