"""The statistics of a run as an activity.

Effects of the table and of the user's file, pooled, stored as a blob.
"""

import asyncio

from temporalio import activity

from activities.contracts.effects import (
    MAX_ANALYST_EFFECTS,
    Analysed,
    AnalyseInput,
    Analysis,
    NotPooled,
    NotPooledReason,
    RunProgramInput,
)
from activities.contracts.errors import NotInstalled
from activities.evidence_store import EvidenceStore
from activities.heartbeat import reporting_errors

USABLE: frozenset[NotPooledReason] = frozenset({"only_one_study", "same_study", "no_uncertainty"})
"""Reasons for which an effect was listed although its numbers are sound."""


class AnalysisActivities:
    def __init__(self, store: EvidenceStore) -> None:
        self._store = store

    @activity.defn
    async def analyse_effects(self, step: AnalyseInput) -> Analysed:
        """Check the numbers of the table against the works, pool what can be pooled, and store the analysis.

        A missing library is no failure of the run: the answer says what to install.
        """
        async with reporting_errors("analysis_failed", run_id=step.run_id):
            works = await self._store.get_many(step.evidence)
            texts = {ref.evidence_id: work.text for ref, work in zip(step.evidence, works, strict=True)}
            try:
                analysis = await asyncio.to_thread(_analysis, step, texts)
            except NotInstalled as error:
                return Analysed(failed=str(error))
            return await self._store_analysis(analysis, len(step.table.rows))

    @activity.defn
    async def run_program(self, step: RunProgramInput) -> Analysed:
        """Run a generated program over the effects of a stored analysis.

        The analysis is stored with what it returned. Where no sandbox can be made the answer says why, and
        the analysis stays as it is.
        """
        from activities.analysis.meta_analysis import effects_in, with_generated
        from activities.analysis.sandbox import run_generated

        async with reporting_errors("program_failed", run_id=step.run_id):
            analysis = Analysis.model_validate_json(await self._store.get_bytes(step.blob))
            try:
                result = await asyncio.to_thread(run_generated, step.program, effects_in(analysis))
            except NotInstalled as error:
                return Analysed(blob=step.blob, no_programs=str(error))
            return await self._store_analysis(with_generated(analysis, result.replace(model=step.model)))

    async def _store_analysis(self, analysis: Analysis, works: int = 0) -> Analysed:
        blob = await self._store.put_bytes(analysis.model_dump_json().encode())
        return Analysed(
            verdict=analysis.verdict,
            confidence=analysis.confidence,
            pools=len(analysis.pools),
            studies=sum(len(pool.rows) for pool in analysis.pools),
            listed=len(analysis.not_pooled),
            blob=blob,
            works=works,
            findings=analysis.key_findings,
            not_pooled=_for_program(analysis),
            no_programs=await asyncio.to_thread(_no_programs) if analysis.not_pooled else "",
        )


def _analysis(step: AnalyseInput, texts: dict[str, str]) -> Analysis:
    from activities.analysis.cells import effects_of
    from activities.analysis.meta_analysis import analyse_effects

    names = {r.evidence_id: f"{r.title} ({r.year})" if r.year else r.title for r in step.evidence}
    effects, unreadable = effects_of(step.table, texts, names)
    return analyse_effects([*step.effects, *effects], expected=step.expected, unread=unreadable)


def _for_program(analysis: Analysis) -> tuple[NotPooled, ...]:
    """Effects with sound numbers that were not pooled, without their quotes; none where fewer than two."""
    effects = [
        NotPooled(effect=row.effect.replace(quote=""), reason=row.reason)
        for row in analysis.not_pooled
        if row.reason in USABLE and (row.effect.estimate is not None or row.effect.arms is not None)
    ]
    return tuple(effects[:MAX_ANALYST_EFFECTS]) if len(effects) > 1 else ()


def _no_programs() -> str:
    """Why no generated program can run here; empty when one can."""
    from activities.analysis.sandbox import bwrap

    try:
        bwrap()
    except NotInstalled as error:
        return str(error)
    return ""
