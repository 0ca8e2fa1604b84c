"""What a report made of the works that its run found: which it cites, and why it does not cite the others."""

from collections.abc import Mapping
from dataclasses import dataclass

from activities.contracts.judge import relevance_score
from activities.report.formats.words import UNUSED
from activities.report.schema import UnusedReason
from activities.settings import Settings
from client.connection import Connection
from client.reports.load import NoReport, load_report


@dataclass(frozen=True, slots=True)
class Use:
    """What the report of a run made of the items that the run found."""

    cited: Mapping[str, int]
    """Evidence id -> number of its reference."""
    unused: Mapping[str, UnusedReason]
    """Evidence id -> why it is not cited."""
    relevance: Mapping[str, float]
    """Evidence id -> 0 to 1, by how directly it was judged to answer."""
    per_search: int
    """Works that each search was asked for."""

    def text(self, evidence_id: str) -> str:
        """`cited as [3]`, or that it is not cited and why."""
        if number := self.cited.get(evidence_id):
            return f"cited as [{number}]"
        reason = self.unused.get(evidence_id)
        return f"not cited: {UNUSED[reason]}" if reason else "not cited"


async def use_in_report(settings: Settings, connection: Connection, run_id: str) -> Use | None:
    """What the run's report cites, and why it does not cite the rest; None while there is no report."""
    try:
        report, _ = await load_report(settings, connection, run_id)
    except NoReport:
        return None
    return Use(
        {reference.evidence_id: reference.number for reference in report.references},
        {work.evidence_id: work.reason for work in report.unused},
        {work.evidence_id: relevance_score(work.answers) for work in report.judgements},
        report.methodology.results_per_search,
    )
