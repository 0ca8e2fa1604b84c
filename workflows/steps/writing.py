"""Writing steps: drafts of sections, and the candidates a profile asks for."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.candidates.types import Candidate
    from activities.drafts import SectionDraft, WriteInput
    from activities.role_activities import ThinkActivities
    from activities.steps import Hypotheses, HypothesisInput, MechanismHypothesis
    from activities.types import EvidenceRef, ReportPlanSection, StopReason

from workflows.context import RunContext
from workflows.events import EventLog
from workflows.gates import Gates
from workflows.rules.payload_limits import shown
from workflows.rules.stopping import sufficient
from workflows.steps.look_up import LookUpSteps
from workflows.steps.model import ModelSteps

GUIDED_SEARCHES = "hypotheses-guide-searches"
"""Patch: hypotheses are formed while research goes on, where a profile has candidates."""
WRITER_ITEMS = 30
"""Items passed to a writer at most."""
UNJUDGED_ITEMS = 12
"""Items beside those judged relevant that a writer may use."""
NO_PAID_CALLS: tuple[StopReason, ...] = ("cancelled", "rejected_by_reviewer", "judge_unavailable")
"""Stop reasons after which no model is called: the report is written without one."""
NO_GATES: tuple[StopReason, ...] = ("cancelled", "rejected_by_reviewer")
"""Stop reasons after which no gate waits."""


class WritingSteps:
    """Writes the section of a report with a single section."""

    def __init__(self, context: RunContext, events: EventLog, models: ModelSteps) -> None:
        self.context = context
        self.events = events
        self.models = models

    def citable(self) -> tuple[EvidenceRef, ...]:
        """What a writer may cite, best first; never retracted work."""
        state = self.context.state
        usable = {ref.evidence_id: ref for ref in state.evidence if ref.standing != "retracted"}
        relevant = [usable[name] for name in state.relevant if name in usable]
        known = {*state.relevant, *state.taken_over}  # what other sections found must be relevant here
        others = [ref for name, ref in usable.items() if name not in known]
        return (*relevant, *others[:UNJUDGED_ITEMS])[:WRITER_ITEMS]

    def _judged_by_code(self) -> tuple[str, ...] | None:
        """What code found to help when it judged all that was found; None where it did not."""
        loop = self.context.state.loop
        if loop.judged is None or not loop.judged.by_code or loop.unjudged:
            return None
        return loop.judged.relevant

    async def write_report(self, section: ReportPlanSection, use_model: bool) -> SectionDraft:
        """Draft one section from the evidence; an empty draft when there is none."""
        state, empty = self.context.state, SectionDraft(title=section.title)
        evidence = shown(self.citable(), WRITER_ITEMS)
        if not evidence or state.prepared is None:
            return empty
        self.events.set_phase("writing", f"writing from {len(evidence)} items")
        self.events.emit_event("synthesizing", f"writing from {len(evidence)} items", items=len(evidence))
        step = WriteInput(
            **self.context.step_inputs(),
            section_id=section.id,
            title=section.title,
            evidence=evidence,
            judged=self._judged_by_code(),
            stop_reason=state.stop_reason or "sufficient_evidence",
            hypotheses=tuple(state.hypotheses),
            report_to=state.job.parent_id if state.job else self.context.run_id,
        )
        self.events.open_draft(section.id)
        draft = await self.models.execute(
            "writer", ThinkActivities.write_report, step, empty, writing=True, use_model=use_model
        )
        self.events.stream_draft(section.id, draft)
        return draft


class CandidateSteps:
    """Names candidates with their mechanisms, and lets a reviewer choose among them."""

    def __init__(self, writing: WritingSteps, gates: Gates, look_ups: LookUpSteps) -> None:
        self.context = writing.context
        self.events = writing.events
        self.models = writing.models
        self.writing = writing
        self.gates = gates
        self.look_ups = look_ups

    async def settle(self, use_model: bool) -> None:
        """Name candidates where the profile has them, look them up, and let the reviewer choose if
        requested."""
        state = self.context.state
        if use_model:
            await self.gates.checkpoint()
        await self._propose(use_model)
        if not state.candidates or state.stop_reason in NO_GATES:
            return
        await self.look_ups.look_up_candidates()
        if not await self.gates.approval_gate("candidates", "the candidates wait for approval"):
            state.candidates, state.hypotheses = [], []
            self.events.add_limitation("candidates_rejected")
        if use_model:
            await self.gates.checkpoint()

    async def guide_searches(self) -> None:
        """Form hypotheses once, after the first judgement that does not suffice, so that the next searches
        test them. Nothing without a profile that has candidates, or without budget for it."""
        context, state, loop = self.context, self.context.state, self.context.state.loop
        if not context.profile.candidates or state.guided or not state.relevant or loop.judge_failures:
            return
        last = loop.iteration >= loop.max_iterations or state.control.finish
        if last or sufficient(context.profile, loop.judged):
            return
        # runs that began before named candidates at their end only
        if self.models.refusal("hypothesis_generator") is None and context.follows(GUIDED_SEARCHES):
            state.guided = True
            await self.form_hypotheses()

    async def form_hypotheses(self) -> int:
        """Hypotheses of mechanisms while research goes on; they and their searches guide it. Returns how many
        name a drug that none named before. Raises OutOfBudget."""
        state = self.context.state
        evidence = shown(self.writing.citable(), WRITER_ITEMS)
        self.events.set_phase("hypothesising", "forming hypotheses")
        self.events.emit_event("hypothesizing", "forming hypotheses", items=len(evidence))
        step = HypothesisInput(
            **self.context.step_inputs(), evidence=evidence, chosen=tuple(state.control.chosen)
        )
        hypothesize = ThinkActivities.generate_hypotheses
        found = await self.models.execute("hypothesis_generator", hypothesize, step, Hypotheses())
        known = {hypothesis.drug.casefold() for hypothesis in state.hypotheses}
        state.hypotheses = list(found.hypotheses) or state.hypotheses
        searches = [text for hypothesis in found.hypotheses for text in hypothesis.search_suggestions]
        state.recommended = list(dict.fromkeys([*searches, *state.recommended]))
        self._emit_formed(found)
        return len([h for h in found.hypotheses if h.drug.casefold() not in known])

    async def _propose(self, use_model: bool) -> None:
        state = self.context.state
        if not state.prepared or not self.context.profile.candidates or not state.evidence:
            return
        if state.named or state.stop_reason == "rejected_by_reviewer":
            return
        self.events.set_phase("hypothesising", "naming candidates")
        self.events.emit_event("hypothesizing", "naming candidates", items=len(self.writing.citable()))
        step = HypothesisInput(
            **self.context.step_inputs(),
            evidence=shown(self.writing.citable(), WRITER_ITEMS),
            chosen=tuple(state.control.chosen),
        )
        found = await self.models.execute(
            "hypothesis_generator",
            ThinkActivities.generate_hypotheses,
            step,
            Hypotheses(),
            writing=True,
            use_model=use_model,
        )
        state.named = True
        state.hypotheses = list(found.hypotheses)
        state.candidates = [as_candidate(h) for h in found.hypotheses if h.supporting_evidence]
        self._emit_formed(found)

    def _emit_formed(self, found: Hypotheses) -> None:
        names = ", ".join(hypothesis.drug for hypothesis in found.hypotheses)
        searches = sum(len(hypothesis.search_suggestions) for hypothesis in found.hypotheses)
        message = f"{len(found.hypotheses)} drugs: {names}" if names else "no drug is named by the evidence"
        self.events.emit_event("hypotheses", message, candidates=names, searches=searches)


def as_candidate(hypothesis: MechanismHypothesis) -> Candidate:
    """A hypothesis as a row of the candidates table. Publishing grades the quality of its evidence."""
    # what the effect says itself is not said before it
    named = (p for p in (hypothesis.target, hypothesis.pathway) if p and p not in hypothesis.effect)
    chain = " -> ".join(filter(None, (*named, hypothesis.effect)))
    return Candidate(
        name=hypothesis.drug,
        generic_name=hypothesis.generic_name,
        mechanism=hypothesis.target,
        proposed_mechanism=chain,
        current_indications=hypothesis.current_indications,
        regulatory_status=hypothesis.regulatory_status,
        trial_status=hypothesis.trial_status,
        support=hypothesis.supporting_evidence,
        against=hypothesis.contradicting_evidence,
        records=hypothesis.records,
        search_suggestions=hypothesis.search_suggestions,
    )
