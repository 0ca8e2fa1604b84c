"""Drafts of the sections of a long report, written one after another or proofread together."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.report.claims import draft_claims
    from activities.role_activities import ThinkActivities
    from activities.steps import Proofread, ProofreadInput, SectionDraft, WriteInput
    from activities.types import ReportPlanSection

from workflows.rules.payload_limits import shown, within
from workflows.run import Run
from workflows.sections.coordinator import SectionCoordinator
from workflows.sections.results import SectionResults
from workflows.steps.writing import NO_PAID_CALLS, WRITER_ITEMS

CLAIMS_SHOWN = 60
"""Claims of earlier sections that a later one is shown at most: the latest."""
CLAIMS_BYTES = 60 * 1024
"""Bytes of JSON they may take."""


class SectionDrafting:
    """Drafts every section of a long report; each sees the claims that were written before it."""

    def __init__(self, run: Run, results: SectionResults, coordinator: SectionCoordinator) -> None:
        self.run = run
        self.context = run.context
        self.results = results
        self.coordinator = coordinator

    async def draft_while_researching(self) -> None:
        """While sections are still researched, draft those that are done, in the plan's order, as far as the
        budget allows. Where candidates are named or drafts proofread, all findings are needed first."""
        context, run = self.context, self.run
        if context.profile.candidates or context.request.writer == "proofreader":
            return
        done, outline = context.state.findings, context.outline
        for section in outline:
            await workflow.wait_condition(lambda name=section.id: name in done)  # type: ignore[misc]  # bound
            if len(done) == len(outline) or done[section.id].stop_reason in NO_PAID_CALLS:
                return
            if run.models.refusal("long_writer", writing=True):
                return  # until the running sections have given back what they hold
            await run.gates.checkpoint()
            if section.id not in context.state.drafts:
                run.events.set_phase("researching", f"writing meanwhile: {section.title}")
                await self._draft(section, use_model=True)
                run.models.shrink_writing_reserve()
                await self.coordinator.serve_requests()

    async def draft_all(self, use_model: bool) -> None:
        """Draft every section that has no draft yet."""
        if self.context.request.writer == "proofreader":
            await self._proofread(use_model)
        for section in self.context.outline:
            if section.id in self.context.state.drafts:
                continue
            if use_model:
                if self.context.history_is_long():
                    await self.context.continue_as_new()
                await self.run.gates.checkpoint()
            self.run.events.set_phase("writing", section.title)
            await self._draft(section, use_model)

    async def _draft(self, section: ReportPlanSection, use_model: bool) -> None:
        """Draft one section with the claims that were written before it."""
        state, draft = self.context.state, SectionDraft(title=section.title)
        evidence = shown(self.results.evidence_of(section), WRITER_ITEMS)
        if evidence:
            findings = state.findings.get(section.id)
            latest = reversed(state.written[-CLAIMS_SHOWN:])
            step = WriteInput(
                **{**self.context.step_inputs(), "question": section.key_question},
                section=section.id,
                section_id=section.id,
                title=section.title,
                evidence=evidence,
                written=tuple(reversed(within(latest, CLAIMS_BYTES))),
                stop_reason=state.stop_reason
                or (findings.stop_reason if findings else "sufficient_evidence"),
                hypotheses=tuple(state.hypotheses),
            )
            draft = await self.run.models.execute(
                "long_writer",
                ThinkActivities.write_section,
                step,
                draft,
                writing=True,
                use_model=use_model,
            )
        self._keep(section, draft)

    def _keep(self, section: ReportPlanSection, draft: SectionDraft) -> None:
        """Store a draft; the sections after it see its claims."""
        self.context.state.drafts[section.id] = self.results.planned(section, draft)
        self.context.state.written += draft_claims(section.id, draft)

    async def _proofread(self, use_model: bool) -> None:
        """One pass over the drafts that the sections wrote; without a model they stay as they are."""
        state = self.context.state
        drafts = {name: f.draft for name, f in state.findings.items() if f.draft is not None}
        if not drafts or state.drafts:
            return
        result = Proofread(drafts=drafts)
        if use_model:
            self.run.events.set_phase("writing", f"proofreading {len(drafts)} drafts")
            titles = {s.id: s.title for s in self.context.outline if s.id in drafts}
            step = ProofreadInput(**self.context.step_inputs(), drafts=drafts, titles=titles)
            result = await self.run.models.execute(
                "proofreader", ThinkActivities.proofread, step, result, writing=True
            )
        for section in self.context.outline:
            draft = result.drafts.get(section.id) or drafts.get(section.id)
            if draft is not None:
                self._keep(section, draft)
