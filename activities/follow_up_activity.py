"""Question, answer and evidence of an earlier run, imported into the run that follows it up."""

from temporalio import activity

from activities.contracts.bounds import within
from activities.contracts.evidence import Evidence
from activities.contracts.prepare import FollowUp, Imported
from activities.evidence_store import EvidenceStore
from activities.heartbeat import reporting_errors
from activities.logs import log
from activities.report.archive import refs_in, report_name

MAX_ITEMS = 120
"""Items that are imported at most: the first of the list."""
MAX_BYTES = 180 * 1024
"""Largest JSON of the references that is sent to the workflow."""
MAX_ANSWER_CHARS = 2_000
"""Characters of the earlier answer: what a prompt has room for."""


class FollowUpActivities:
    def __init__(self, store: EvidenceStore) -> None:
        self._store = store

    @activity.defn
    async def import_evidence(self, earlier: FollowUp) -> Imported:
        """Read the earlier report and its list of evidence, and check that each text is here.

        Retracted work is left out.
        """
        async with reporting_errors("evidence_not_imported", run_id=earlier.run_id):
            refs = await refs_in(self._store, earlier.blob)
            refs = tuple(ref for ref in refs if ref.standing != "retracted")[:MAX_ITEMS]
            texts = await self._store.read_all(refs)
            works = [ref for ref, text in zip(refs, texts, strict=True) if isinstance(text, Evidence)]
            items = (ref.replace(sections=(), from_run=ref.from_run or earlier.run_id) for ref in works)
            unreadable = len(refs) - len(works)
            question, answer = await self._question_and_answer(earlier.run_id)
            return Imported(
                items=within(items, MAX_BYTES), unreadable=unreadable, question=question, answer=answer
            )

    async def _question_and_answer(self, run_id: str) -> tuple[str, tuple[str, ...]]:
        """Return the question of a run and what its report says first.

        Nothing where the report cannot be read.
        """
        from activities.report.formats.prose import summary_of
        from activities.report.schema import Report

        data = await self._store.get_named(report_name(run_id, "json"))
        if data is None:
            return "", ()
        try:
            report = Report.model_validate_json(data)
        except ValueError:
            log.warning("earlier_report_unreadable", run_id=run_id)
            return "", ()
        room, answer = MAX_ANSWER_CHARS, list[str]()
        for claim in (*report.answer, *summary_of(report)):
            room -= len(claim.text)
            if room < 0:
                break
            answer.append(claim.text)
        return report.question, tuple(answer)
