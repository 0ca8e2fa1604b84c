"""The statistics of a run, where they were asked for: before the report, and when a step of its mode says so.

The fixed analysis is code. Where it lists effects that it cannot pool, a model may write a program for them,
which a worker runs in a sandbox; what that returns are numbers, and code makes the verdict of them.
"""

from collections.abc import Collection

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.analysis_activity import AnalysisActivities
from activities.contracts.effects import Analysed, AnalyseInput, AnalystInput, RunProgramInput
from activities.contracts.judge import Table
from activities.messages import plural
from activities.role_calls import WRITE_PROGRAM
from workflows.part_state import AnalysisState, TableState
from workflows.parts.rows import OptionalPart
from workflows.steps import policy
from workflows.steps.policy import reason_of


class AnalysisPart(OptionalPart):
    """Analyses the effects of a run."""

    def published_value(self, cited_ids: Collection[str]) -> object:
        analysis = self.state.part(AnalysisState).done
        return analysis.blob if analysis else ""

    async def analyse_now(self) -> str:
        """Analyse the works that have been judged so far, and say the result in a few words."""
        part = self.state.part(AnalysisState)
        part.requested = True
        await self.run.parts.table.extract(use_model=True)
        await self.before_publishing(use_model=True)
        if part.done is None or part.done.failed:
            return "nothing was analysed"
        return f"{part.done.verdict}: {part.done.counts}"

    async def before_publishing(self, use_model: bool) -> None:
        """Pool the effects of the table and of the request.

        Nothing where the table has no work that the last analysis did not have.
        """
        request, state = self.request, self.state
        part = state.part(AnalysisState)
        if state.people.cancelled:
            return
        table = state.part(TableState).table or Table()
        if part.done is not None and part.done.works == len(table.rows):
            return
        rows = {row.evidence_id for row in table.rows}
        step = AnalyseInput(
            run_id=self.context.run_id,
            table=table,
            evidence=tuple(ref for ref in state.evidence.refs if ref.evidence_id in rows),
            effects=request.effects,
            expected=request.expected,
        )
        items = len(rows) + len(request.effects)
        self.events.emit("analyzing", f"pooling the effects of {plural(items, 'study')}", items=items)
        try:
            analysis: Analysed = await workflow.execute_activity_method(
                AnalysisActivities.analyse_effects, step, **policy.internal_step("pool effects")
            )
            if use_model and analysis.not_pooled:
                analysis = await self._with_program(analysis)
        except ActivityError as error:
            analysis = Analysed(failed=reason_of(error))
        part.done = analysis.replace(works=len(table.rows), not_pooled=())
        if analysis.failed:
            self.events.add_limitation("not_analysed", reason=analysis.failed)
        message = analysis.failed or f"{analysis.verdict}: {analysis.counts}"
        self.events.emit(
            "analysis_complete",
            message,
            verdict=analysis.verdict,
            confidence=analysis.confidence,
            pools=analysis.pools,
            studies=analysis.studies,
        )

    async def _with_program(self, fixed: Analysed) -> Analysed:
        """Return the analysis with what a generated program returned.

        The fixed one where there is no program, or no sandbox to run it in, which the report states.
        """
        if not self.models.asks_model("analyst"):
            return fixed
        if fixed.no_programs:
            self.events.add_limitation("no_programs", reason=fixed.no_programs)
            return fixed
        step = AnalystInput(
            **self.context.step_inputs(question=self.request.question),
            expected=self.request.expected,
            not_pooled=fixed.not_pooled,
            findings=fixed.findings,
        )
        program = await self.models.execute(WRITE_PROGRAM, step)
        if not program.code:
            return fixed
        model = self.models.choice("analyst").model
        analysis = await workflow.execute_activity_method(
            AnalysisActivities.run_program,
            RunProgramInput(run_id=self.context.run_id, blob=fixed.blob, program=program, model=model),
            **policy.generated_program("run a generated program in the sandbox"),
        )
        if analysis.no_programs and not analysis.findings:
            self.events.add_limitation("no_programs", reason=analysis.no_programs)
            return fixed
        return analysis


PART = AnalysisPart
