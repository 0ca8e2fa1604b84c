"""The statistics of a report."""

from collections.abc import Iterable, Mapping

from activities.analysis.meta_analysis import worded
from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.effects import PART as ANALYSIS
from activities.contracts.effects import Analysis
from activities.contracts.errors import StoreError
from activities.contracts.evidence import Statement
from activities.contracts.publish import PublishInput
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.messages import _
from activities.report.claims import Checks
from activities.report.formats import statistics
from activities.report.formats.blocks import Chapter
from activities.report.formats.figures import effects_of
from activities.report.formats.quotes import Quotes
from activities.report.parts import ReportPart
from activities.report.schema import JudgedWork, Report


class AnalysisReport(ReportPart):
    """Shows the statistics that were stored when they were computed."""

    async def read_stored(
        self, store: EvidenceStore, step: PublishInput, *, patient: bool
    ) -> tuple[Analysis | None, Iterable[Statement]]:
        blob = ANALYSIS.given(step)
        try:
            return (Analysis.model_validate_json(await store.get_bytes(blob)) if blob else None), ()
        except (StoreError, ValueError) as error:
            log.warning("analysis_unreadable", error=str(error))
            return None, ()

    def check(
        self, step: PublishInput, checks: Checks, judgements: Iterable[JudgedWork], stored: object
    ) -> object:
        return worded(stored) if isinstance(stored, Analysis) else None

    def chapters(self, report: Report, quotes: Quotes, *, drawn: bool) -> Iterable[Chapter]:
        blocks = (*statistics.blocks(report, quotes, drawn=drawn),)
        if not CONCLUSIONS.shown(report):
            blocks += (*effects_of(report, drawn=drawn),)
        yield Chapter("statistics", _(statistics.TITLE), blocks)

    def files(self, report: Report) -> Mapping[str, bytes]:
        analysis = ANALYSIS.shown(report)
        return {"analysis.json": analysis.model_dump_json(indent=2).encode()} if analysis else {}


PART = AnalysisReport("analysis")
