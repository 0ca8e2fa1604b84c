"""How a run ends: candidates where the profile has them, writing, the report gate, publishing.

Every stop reason comes through here, and every one leaves a report; so does a cancel, whenever it comes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from temporalio import workflow
from temporalio.exceptions import is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.role_activities import ThinkActivities
    from activities.steps import (
        Hypotheses,
        HypothesisInput,
        MechanismHypothesis,
        PlannedSection,
        PrismaCounts,
        PublishInput,
        SectionDraft,
        WriteInput,
    )
    from activities.types import Candidate, EvidenceRef, ReportPlan, ReportPlanSection, StopReason
    from workflows.types import Outcome, SectionFindings

from workflows.control import STOP_REASON, numbered, plan_hash
from workflows.rules.payload_limits import REFS_ROOM, ROOM, bare, rows, shown, size, within
from workflows.steps.publish import Conductor

WRITTEN_FROM = 30
"""Items a writer is shown at most."""
UNJUDGED_SHOWN = 12
"""Items beside those the judge found helpful that a writer may use."""
WITHOUT_PAID_CALLS: tuple[StopReason, ...] = ("cancelled", "rejected_by_reviewer", "judge_unavailable")
"""Ways out after which no model is paid any more: what is written is written without one."""
NOBODY_IS_ASKED: tuple[StopReason, ...] = ("cancelled", "rejected_by_reviewer")
"""Ways out after which no gate waits."""
COMPLETE: tuple[StopReason, ...] = ("sufficient_evidence",)
"""Ways out that leave a section complete."""


class Conclusion(Conductor):
    """The end of IterativeResearch; DeepResearch uses parts of it."""

    def context(self) -> dict[str, Any]:
        """What every thinking step is told."""
        return {
            "run_id": workflow.info().workflow_id,
            "question": self.working_question(),
            "background": self.state.plan.background_context if self.state.plan else "",
            "profile": self.profile,
        }

    def working_question(self) -> str:
        """The question a step is about."""
        return self.request.question

    def confidence(self) -> float:
        """How sure the latest judgement is that the question can be answered, 0 to 1."""
        return self.state.loop.judged.confidence if self.state.loop.judged else 0.0

    async def see_through(self, research: Callable[[], Awaitable[StopReason]]) -> Outcome:
        """Research, then conclude; when the run is cancelled, conclude with what there is."""
        try:
            outcome = await self.conclude(self.state.stop_reason or await research())
        except (asyncio.CancelledError, Exception) as error:
            if not is_cancelled_exception(error):
                raise
            outcome = self.outcome or await self.conclude_cancelled()
        if outcome.stop_reason == "cancelled" and self.state.control.cancelled and self.state.job is None:
            raise asyncio.CancelledError
        return outcome

    async def conclude_cancelled(self) -> Outcome:
        """A report from what was found and written until the cancel came; no model is paid for it."""
        self.state.control.cancelled = True
        self.go_on()
        self.close_gate()
        self.tell("cancelling", "the run was cancelled: what there is will be written")
        return await self.conclude("cancelled")

    def stopped(self, stop: StopReason) -> None:
        """Record why the run ends."""
        self.state.stop_reason = stop
        if self.request.indexed:
            workflow.upsert_search_attributes([STOP_REASON.value_set(stop)])

    def adopt_plan(self, plan: ReportPlan) -> None:
        """Make a plan the run's: number its sections and take its hash. Ids are ours to give."""
        outline = tuple(section.model_copy(update={"id": ""}) for section in plan.report_outline)
        self.state.plan = numbered(plan.model_copy(update={"report_outline": outline}))
        self.state.plan_hash = plan_hash(self.state.plan)

    async def conclude(self, stop: StopReason) -> Outcome:
        """Write from what was found, have it checked and published, and end."""
        self.stopped(stop)
        if self.state.job is not None:
            return await self.bring_home(stop)
        offline = stop in WITHOUT_PAID_CALLS
        await self.settle_candidates(offline)
        section = self.only_section()
        if section.id not in self.state.drafts:
            self.state.drafts[section.id] = PlannedSection(
                section=section,
                draft=await self.write(section, offline),
                status="complete" if stop in COMPLETE else "partial",
            )
        return await self.release((self.state.drafts[section.id],), stop)

    async def settle_candidates(self, offline: bool) -> None:
        """Name candidates where the profile has them, and let the reviewer choose if asked for."""
        if not offline:
            await self.checkpoint()
        await self.propose_candidates(offline)
        closed = self.state.stop_reason in NOBODY_IS_ASKED
        if not self.state.candidates or closed:
            return
        if not await self.gate("candidates", "the candidates wait for approval"):
            self.state.candidates, self.state.hypotheses = [], []
            self.note("The reviewer rejected the candidates.")
        if not offline:
            await self.checkpoint()

    def only_section(self) -> ReportPlanSection:
        """The section of a single loop."""
        if self.state.plan is not None:
            return self.state.plan.report_outline[0]
        return ReportPlanSection(id="s1", title="Findings", key_question=self.working_question())

    def for_writing(self) -> tuple[EvidenceRef, ...]:
        """What the writer may cite, best first; never retracted work."""
        usable = {ref.evidence_id: ref for ref in self.state.evidence if ref.standing != "retracted"}
        helpful = [usable[name] for name in self.state.relevant if name in usable]
        others = [ref for name, ref in usable.items() if name not in set(self.state.relevant)]
        return (*helpful, *others[:UNJUDGED_SHOWN])[:WRITTEN_FROM]

    async def propose_candidates(self, offline: bool) -> None:
        """Hypotheses of mechanism and the candidates they name, where the profile has candidates."""
        if not self.state.prepared or not self.profile.candidates or not self.state.evidence:
            return
        if self.state.named or self.state.stop_reason == "rejected_by_reviewer":
            return
        self.enter("hypothesising", "naming candidates")
        step = HypothesisInput(
            **self.context(),
            evidence=shown(self.for_writing(), WRITTEN_FROM),
            chosen=tuple(self.state.control.chosen),
        )
        found = await self.think(
            "hypothesis_generator",
            ThinkActivities.generate_hypotheses,
            step,
            Hypotheses(),
            writing=True,
            offline=offline,
        )
        self.state.named = True
        self.state.hypotheses = list(found.hypotheses)
        self.state.candidates = [candidate(h) for h in found.hypotheses if h.supporting_evidence]

    async def write(self, section: ReportPlanSection, offline: bool) -> SectionDraft:
        """One section from its evidence; an empty draft when there is nothing to write from."""
        evidence, nothing = shown(self.for_writing(), WRITTEN_FROM), SectionDraft(title=section.title)
        if not evidence or self.state.prepared is None:
            return nothing
        self.enter("writing", f"writing from {len(evidence)} items")
        step = WriteInput(
            **self.context(),
            section_id=section.id,
            title=section.title,
            evidence=evidence,
            stop_reason=self.state.stop_reason or "sufficient_evidence",
            hypotheses=tuple(self.state.hypotheses),
        )
        return await self.think(
            "writer", ThinkActivities.write_report, step, nothing, writing=True, offline=offline
        )

    async def release(self, sections: tuple[PlannedSection, ...], stop: StopReason) -> Outcome:
        """Publish: as a draft while the report gate waits, then for good."""
        asked = "report" in self.request.approve and stop not in NOBODY_IS_ASKED
        self.enter("publishing", "checking every quote")
        if asked:
            await self.publish(self.document(sections, stop, draft=True))
            if not await self.gate("report", "the report waits for approval"):
                stop = "rejected_by_reviewer"
                self.stopped(stop)
                self.note("The reviewer did not approve this report.")
            self.enter("publishing", "checking every quote again")
        published = await self.publish(self.document(sections, stop))
        self.enter("done", f"{published.verified_claims} verified claims; {stop.replace('_', ' ')}")
        self.tell("finished", self.state.control.message, stop_reason=stop)
        self.outcome = Outcome(
            run_id=workflow.info().workflow_id,
            stop_reason=stop,
            answered=published.answered,
            report_blob=published.blob,
            markdown_blob=published.markdown_blob,
            verified_claims=published.verified_claims,
            references=len(published.report.references),
            title=published.report.title,
        )
        await workflow.wait_condition(workflow.all_handlers_finished)
        return self.outcome

    def document(
        self, sections: tuple[PlannedSection, ...], stop: StopReason, *, draft: bool = False
    ) -> PublishInput:
        """Everything the report is made of."""
        state, used = self.state, self.budget_ledger.used
        cited = {
            s.evidence_id for p in sections for g in p.draft.paragraphs for c in g.claims for s in c.support
        }
        cited |= {s.evidence_id for c in state.candidates for s in c.support}
        document = PublishInput(
            run_id=workflow.info().workflow_id,
            question=self.request.question,
            mode="deep" if workflow.info().workflow_type == "DeepResearch" else "iterative",
            profile=self.profile.name if state.prepared else self.request.profile,
            title=state.plan.report_title if state.plan else self.request.question,
            sections=sections,
            candidates=tuple(state.candidates),
            evidence=tuple(
                r for r in state.evidence if r.evidence_id in cited or r.standing in ("retracted", "concern")
            ),
            searches=rows(state.searches),
            counts=PrismaCounts(
                identified=state.identified,
                duplicates=state.duplicates,
                screened=state.screened,
                included=len(cited),
            ),
            iterations=self.budget_ledger.iterations,
            usage=used,
            models=tuple(state.models),
            prompt_versions=tuple(state.prompt_versions),
            plan_hash=state.plan_hash,
            approvals=tuple(state.control.decisions),
            limitations=tuple(state.notes),
            confidence=self.confidence(),
            stop_reason=stop,
            generated_at=self.stamp(),
            draft=draft,
        )
        return fitted(document)

    async def bring_home(self, stop: StopReason) -> Outcome:
        """End a section: hand the parent what was found, and a draft when it asked for one."""
        state = self.state
        job = state.job
        assert job is not None
        draft = None
        if job.write_draft and stop not in ("cancelled", "rejected_by_reviewer"):
            draft = await self.write(job.section, stop in WITHOUT_PAID_CALLS)
        status = "cancelled" if stop == "cancelled" else "complete" if stop in COMPLETE else "partial"
        searches = rows(state.searches)
        if len(searches) < len(state.searches):
            self.note(_ROWS_MISSING)
        self.enter("done", stop.replace("_", " "))
        self.tell("finished", self.state.control.message, stop_reason=stop)
        self.outcome = Outcome(
            run_id=workflow.info().workflow_id,
            stop_reason=stop,
            answered=bool(state.evidence),
            report_blob="",
            markdown_blob="",
            findings=SectionFindings.model_validate(
                {
                    "section_id": job.section.id,
                    "status": status,
                    "stop_reason": stop,
                    "evidence": within(self.for_writing(), REFS_ROOM),
                    "works": tuple(ref.evidence_id for ref in state.evidence),
                    "screened": state.screened,
                    "identified": state.identified,
                    "searches": searches,
                    "iterations": state.loop.iteration,
                    "by_role": self.budget_ledger.by_role,
                    "spent_microusd": self.budget_ledger.spent_microusd,
                    "confidence": state.loop.judged.confidence if state.loop.judged else 0.0,
                    "scores": state.loop.judged.scores if state.loop.judged else {},
                    "draft": draft,
                    "models": tuple(state.models),
                    "prompt_versions": tuple(state.prompt_versions),
                    "notes": tuple(state.notes),
                }
            ),
        )
        await workflow.wait_condition(workflow.all_handlers_finished)
        return self.outcome


def fitted(document: PublishInput) -> PublishInput:
    """The document within the payload limit. What the reader loses is said: rows of the search ledger, and at
    the very last the ends of the longest sections."""
    if size(document) <= ROOM:
        return document
    document = document.model_copy(update={"evidence": tuple(bare(ref) for ref in document.evidence)})
    if size(document) > ROOM:
        document = _admitting(document, _ROWS_MISSING, searches=rows(document.searches, ROOM // 8))
    while size(document) > ROOM:
        longest = max(document.sections, key=lambda planned: size(planned.draft))
        if not longest.draft.paragraphs:
            break
        shorter = longest.draft.model_copy(update={"paragraphs": longest.draft.paragraphs[:-1]})
        document = _admitting(
            document,
            "The report was too long to be published whole: the ends of its longest sections are missing.",
            sections=tuple(
                planned.model_copy(update={"draft": shorter}) if planned is longest else planned
                for planned in document.sections
            ),
        )
    return document


def _admitting(document: PublishInput, limitation: str, **changes: object) -> PublishInput:
    said = tuple(dict.fromkeys((*document.limitations, limitation)))
    return document.model_copy(update={**changes, "limitations": said})


_ROWS_MISSING = "The list of searches is not complete: it was too long to be kept whole."


def candidate(hypothesis: MechanismHypothesis) -> Candidate:
    """A hypothesis as a row of the candidates table; the quality of its evidence is graded when it is
    published."""
    chain = " -> ".join(p for p in (hypothesis.target, hypothesis.pathway, hypothesis.effect) if p)
    return Candidate(
        name=hypothesis.drug,
        generic_name=hypothesis.generic_name,
        mechanism=hypothesis.target,
        proposed_mechanism=chain,
        current_indications=hypothesis.current_indications,
        regulatory_status=hypothesis.regulatory_status,
        trial_status=hypothesis.trial_status,
        support=hypothesis.supporting_evidence,
    )
