"""Drafts of the sections of a long report.

With a language model, sections are drafted at the same time, each as soon as its research is done; the items
are divided among them before, and one pass over all claims afterwards removes repetition and marks
contradictions. Without a model, and in runs that began before sections were drafted at the same time, each
section is drafted after the one before it and sees its claims.
"""

import asyncio
from collections.abc import Awaitable, Iterable

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.drafts import Proofread, ProofreadInput, SectionDraft, WriteInput
    from activities.report.claims import draft_claims
    from activities.role_activities import ThinkActivities
    from activities.steps import Role
    from activities.types import Claim, EvidenceRef, ReportPlanSection

from workflows.rules.division import divide
from workflows.rules.payload_limits import ROOM, shown, size, within
from workflows.run import Run
from workflows.sections.coordinator import SectionCoordinator
from workflows.sections.results import SectionResults
from workflows.steps.writing import NO_PAID_CALLS, WRITER_ITEMS

ANNOUNCE_DRAFTS = "announce-drafts"
"""Patch: each draft of a section is an event; their number decides when events are moved to the store."""
CLAIMS_SHOWN = 60
"""Claims of earlier sections that a later one is shown at most: the latest."""
CLAIMS_BYTES = 60 * 1024
"""Their largest size as JSON, in bytes."""


class SectionDrafting:
    """Drafts every section of a long report."""

    parallel: bool = False
    """Whether this run may draft sections at the same time; one that began before it was possible may not."""

    def __init__(self, run: Run, results: SectionResults, coordinator: SectionCoordinator) -> None:
        self.run = run
        self.context = run.context
        self.results = results
        self.coordinator = coordinator

    def calls_to_write(self) -> tuple[Role, ...]:
        """The model calls that the report still needs: a draft for each section, and the pass over them."""
        request, state = self.context.request, self.context.state
        if request.writer == "proofreader":
            return ("proofreader",)
        planned = len(self.context.outline) or request.limits.max_sections
        writer: Role = "long_writer"
        compare: tuple[Role, ...] = ("proofreader",) if self.parallel and planned > 1 else ()
        return (*(writer,) * (planned - len(state.drafts)), *compare)

    @property
    def _at_once(self) -> bool:
        """Whether sections are drafted at the same time: only then is there a call to wait for."""
        return (
            self.parallel
            and self.context.state.prepared is not None  # a run may be cancelled before that
            and self.context.request.writer == "long_writer"
            and self.run.models.is_paid("long_writer")
        )

    # while sections are researched

    async def draft_in_order_while_researching(self) -> None:
        """While sections are still researched, draft those that are done, in the plan's order."""
        if self._needs_all_findings() or self._at_once:
            return
        done = self.context.state.findings
        for section in self.context.outline:
            await workflow.wait_condition(lambda name=section.id: name in done)  # type: ignore[misc]  # bound
            if len(done) == len(self.context.outline) or not self._may_draft(section):
                return
            await self._draft_early(section)

    async def draft_when_done(self, section: ReportPlanSection) -> None:
        """Draft a section whose research is done while others are still researched, if possible."""
        if self._at_once and not self._needs_all_findings() and self._may_draft(section):
            await self._draft_early(section)

    def _needs_all_findings(self) -> bool:
        """Whether drafting waits for every section: candidates are named, or drafts proofread, first."""
        return bool(self.context.profile.candidates) or self.context.request.writer == "proofreader"

    def _may_draft(self, section: ReportPlanSection) -> bool:
        """Whether a section that is done may be drafted before the others have given back their budget."""
        stop = self.context.state.findings[section.id].stop_reason
        return stop not in NO_PAID_CALLS and not self.run.models.refusal("long_writer", writing=True)

    async def _draft_early(self, section: ReportPlanSection) -> None:
        run = self.run
        await run.gates.checkpoint()
        if section.id not in self.context.state.drafts:
            run.events.set_phase("researching", f"writing meanwhile: {section.title}")
            await self._draft(section, use_model=True)
            run.models.shrink_writing_reserve()
            await self.coordinator.serve_requests()

    # after the research

    async def draft_all(self, use_model: bool) -> None:
        """Draft every section that has no draft yet."""
        if self.context.request.writer == "proofreader":
            await self._proofread_findings(use_model)
        drafts = self.context.state.drafts
        missing = [section for section in self.context.outline if section.id not in drafts]
        if self._at_once:
            await self._draft_at_once(missing, use_model)
            await self._compare(use_model)
        else:
            await self._draft_in_order(missing, use_model)

    async def _draft_in_order(self, missing: Iterable[ReportPlanSection], use_model: bool) -> None:
        for section in missing:
            await self._boundary(use_model)
            self.run.events.set_phase("writing", section.title)
            await self._draft(section, use_model)

    async def _draft_at_once(self, missing: list[ReportPlanSection], use_model: bool) -> None:
        if not missing:
            return
        await self._boundary(use_model)
        self.run.events.set_phase("writing", f"{len(missing)} sections at once")
        slots = asyncio.Semaphore(self.context.request.limits.max_parallel_sections)

        async def draft(section: ReportPlanSection) -> None:
            async with slots:
                await self._draft(section, use_model)

        await run_all(draft(section) for section in missing)

    async def _boundary(self, use_model: bool) -> None:
        """A step boundary: where a run that goes on paying may be paused or continue as new."""
        if use_model:
            if self.context.history_is_long():
                await self.context.continue_as_new()
            await self.run.gates.checkpoint()

    async def _draft(self, section: ReportPlanSection, use_model: bool) -> None:
        """Draft one section."""
        state, draft = self.context.state, SectionDraft(title=section.title)
        evidence, shared = self._evidence(section)
        if evidence:
            findings = state.findings.get(section.id)
            others = (other.key_question for other in self.context.outline if other.id != section.id)
            step = WriteInput(
                **{**self.context.step_inputs(), "question": section.key_question},
                section=section.id,
                section_id=section.id,
                title=section.title,
                evidence=evidence,
                written=self._earlier_claims(),
                shared=shared,
                other_sections=tuple(others) if self._at_once else (),
                stop_reason=state.stop_reason
                or (findings.stop_reason if findings else "sufficient_evidence"),
                hypotheses=tuple(state.hypotheses),
                report_to=self.context.run_id,
            )
            if self.context.follows(ANNOUNCE_DRAFTS):
                message = f"writing {section.title} from {len(evidence)} items"
                self.run.events.emit_event(
                    "synthesizing", message, items=len(evidence), section_id=section.id
                )
            self.run.events.open_draft(section.id)
            draft = await self.run.models.execute(
                "long_writer",
                ThinkActivities.write_section,
                step,
                draft,
                writing=True,
                use_model=use_model,
            )
        self._keep(section, draft)

    def _evidence(self, section: ReportPlanSection) -> tuple[tuple[EvidenceRef, ...], tuple[str, ...]]:
        """What a section is written from, and the ids of those items that belong to another section."""
        state, found = self.context.state, self.results.evidence_of(section)
        if not self._at_once:
            return shown(found, WRITER_ITEMS), ()
        state.owners = divide(self.context.outline, state.evidence, state.found, state.owners)
        own = [ref for ref in found if state.owners.get(ref.evidence_id) in (section.id, None)]
        others = [ref for ref in found if state.owners.get(ref.evidence_id) not in (section.id, None)]
        evidence = shown((*own, *others), WRITER_ITEMS)
        elsewhere = {ref.evidence_id for ref in others}
        return evidence, tuple(ref.evidence_id for ref in evidence if ref.evidence_id in elsewhere)

    def _earlier_claims(self) -> tuple[Claim, ...]:
        """The claims of sections written before, the latest as far as there is room."""
        if self._at_once:
            return ()  # which sections are written by now depends on timing; `_compare` sees all claims
        latest = reversed(self.context.state.written[-CLAIMS_SHOWN:])
        return tuple(reversed(within(latest, CLAIMS_BYTES)))

    def _keep(self, section: ReportPlanSection, draft: SectionDraft) -> None:
        """Store a draft; sections written after it may see its claims."""
        self.context.state.drafts[section.id] = self.results.planned(section, draft)
        self.run.events.stream_draft(section.id, draft)
        self.context.state.written += draft_claims(section.id, draft)

    # the pass over all drafts

    async def _compare(self, use_model: bool) -> None:
        """One pass over the claims of all sections: repetition is removed, contradictions are marked."""
        state = self.context.state
        drafts = {name: planned.draft for name, planned in state.drafts.items() if planned.draft.paragraphs}
        if state.compared or len(drafts) < 2:
            return
        await self._boundary(use_model)
        for name, draft in (await self._proofread(drafts, use_model)).drafts.items():
            if name in drafts:
                state.drafts[name] = state.drafts[name].model_copy(update={"draft": draft})
        state.compared = True

    async def _proofread_findings(self, use_model: bool) -> None:
        """One pass over the drafts that the sections wrote; without a model they stay as they are."""
        state = self.context.state
        drafts = {name: f.draft for name, f in state.findings.items() if f.draft is not None}
        if not drafts or state.drafts:
            return
        result = await self._proofread(drafts, use_model) if use_model else Proofread(drafts=drafts)
        for section in self.context.outline:
            draft = result.drafts.get(section.id) or drafts.get(section.id)
            if draft is not None:
                self._keep(section, draft)

    async def _proofread(self, drafts: dict[str, SectionDraft], use_model: bool) -> Proofread:
        outline = self.context.outline
        step = ProofreadInput(
            **self.context.step_inputs(),
            drafts={section.id: drafts[section.id] for section in outline if section.id in drafts},
            titles={section.id: section.title for section in outline if section.id in drafts},
            owners=self._owners(drafts),
        )
        unchanged = Proofread(drafts=drafts)
        if size(step) > ROOM:
            self.run.events.add_limitation("sections_not_compared")
            return unchanged
        self.run.events.set_phase("writing", f"proofreading {len(drafts)} drafts")
        return await self.run.models.execute(
            "proofreader", ThinkActivities.proofread, step, unchanged, writing=True, use_model=use_model
        )

    def _owners(self, drafts: dict[str, SectionDraft]) -> dict[str, str]:
        """The owners of the items that drafts cite."""
        cited = dict.fromkeys(
            support.evidence_id
            for draft in drafts.values()
            for paragraph in draft.paragraphs
            for claim in paragraph.claims
            for support in claim.support
        )
        owners = self.context.state.owners
        return {name: owners[name] for name in cited if name in owners}


async def run_all(steps: Iterable[Awaitable[None]]) -> None:
    """Run steps at once; when the run is cancelled, wait until each of them has ended."""
    tasks = [asyncio.ensure_future(step) for step in steps]
    try:
        await asyncio.gather(*tasks)
    except (asyncio.CancelledError, FailureError) as error:
        # A step that is cancelled in an activity raises its error, maybe before the others have ended.
        if is_cancelled_exception(error):
            await workflow.wait(tasks)
        raise
