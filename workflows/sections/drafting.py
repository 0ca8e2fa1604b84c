"""Drafts of the sections of a long report, at the same time, each as soon as its research is done.

The items are divided among the sections before; the editor's pass over all claims afterwards removes
repetition and marks contradictions.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

from activities.contracts.evidence import Claim, EvidenceRef, ReportPlanSection
from activities.contracts.step import Role
from activities.contracts.stop_reasons import STOPS
from activities.contracts.write import SectionDraft, WriteInput
from activities.messages import plural
from activities.report.claims import draft_claims
from activities.roles.allowances import MAX_WRITER_ITEMS
from activities.text.tokens import terms
from workflows.context import RunPart
from workflows.part_state import CandidatesState
from workflows.rules.payload_limits import shown
from workflows.run import RunParts
from workflows.sections.coordinator import SectionCoordinator
from workflows.sections.results import SectionResults
from workflows.steps.writing import judgements_of, run_all

MAX_NEAREST = 12
"""Works that a section quotes at most without a model."""
MAX_WRITTEN = 20
"""Claims of sections that are written that a writer is shown, the latest ones."""


class SectionDrafting(RunPart):
    """Drafts every section of a long report."""

    def __init__(self, run: RunParts, results: SectionResults, coordinator: SectionCoordinator) -> None:
        super().__init__(run)
        self.results = results
        self.coordinator = coordinator

    def calls_to_write(self) -> tuple[Role, ...]:
        """Return the model calls that the report still needs.

        Draft and check of each section, and the editor.
        """
        planned = len(self.context.outline) or self.request.limits.max_sections
        left = max(planned - len(self.state.draft.sections), 0)
        section: tuple[Role, ...] = ("writer", "verifier")
        return (*section * left, "editor")

    async def draft_when_done(self, section: ReportPlanSection) -> None:
        """Draft a section whose research is done while others are still researched, if possible.

        Where candidates are named, drafting waits for every section.
        """
        run, stop = self.run, self.state.sections.findings[section.id].stop_reason
        if self.context.profile.candidates or not (run.models.is_paid("writer") and STOPS[stop].pays):
            return
        if run.models.refusal("writer", writing=True):  # the others have not given back their budget
            return
        await run.gates.checkpoint()
        if section.id not in self.state.draft.sections:
            run.events.set_phase("researching", f"writing meanwhile: {section.title}")
            await self._draft(section, use_model=True)
            run.models.reserve_for_writing()

    async def draft_all(self, use_model: bool) -> None:
        """Draft every section that has no draft yet."""
        drafts = self.state.draft.sections
        missing = [section for section in self.context.outline if section.id not in drafts]
        if not missing:
            return
        await self.boundary(use_model)
        self.events.set_phase("writing", f"{plural(len(missing), 'section')} at once")
        slots = asyncio.Semaphore(self.request.limits.max_parallel_sections)

        async def draft(section: ReportPlanSection) -> None:
            async with slots:
                await self._draft(section, use_model)

        await run_all(draft(section) for section in missing)

    async def boundary(self, use_model: bool) -> None:
        """Pause or continue as new at a step boundary, where a run that goes on paying may."""
        if use_model:
            if self.context.history_is_long():
                await self.context.continue_as_new()
            await self.gates.checkpoint()

    async def _draft(self, section: ReportPlanSection, use_model: bool) -> None:
        state, draft = self.state, SectionDraft(title=section.title)
        evidence, shared = self._evidence(section)
        if evidence:
            if use_model:
                evidence = await self.run.parts.full_texts.read(evidence)
            findings = state.sections.findings.get(section.id)
            judged = {one.evidence_id: one for one in findings.judgements} if findings else {}
            others = (other.key_question for other in self.context.outline if other.id != section.id)
            # what the manager of its sub-team holds for known, first, and last asked for
            facts = dict.fromkeys((*(findings.facts if findings else ()), *state.evidence.facts))
            step = WriteInput(
                **self.context.step_inputs(
                    section=section,
                    facts=facts,
                    instruction=findings.instruction if findings else "",
                ),
                section=section.id,
                section_id=section.id,
                title=section.title,
                evidence=evidence,
                shared=shared,
                other_sections=tuple(others),
                written=self._written(section),
                stop_reason=state.stop_reason
                or (findings.stop_reason if findings else "sufficient_evidence"),
                hypotheses=tuple(state.part(CandidatesState).hypotheses),
                judgements=judgements_of(evidence, judged),
                left_open=state.left_open(section.id),
                report_to=self.context.run_id,
            )
            draft = await self.run.writing.write(step, use_model)
        state.draft.sections[section.id] = self.results.planned(section, draft)

    def _written(self, section: ReportPlanSection) -> tuple[Claim, ...]:
        """Return the latest claims of the other sections that are written, without their quotes."""
        drafts = (planned.draft for name, planned in self.state.draft.sections.items() if name != section.id)
        claims = [claim for draft in drafts for claim in draft_claims(draft)[1]]
        return tuple(claim.replace(support=()) for claim in claims[-MAX_WRITTEN:])

    def _evidence(self, section: ReportPlanSection) -> tuple[tuple[EvidenceRef, ...], tuple[str, ...]]:
        """Return what a section is written from, and the ids of items of other sections."""
        state, refs = self.state, self.results.evidence_of(section)
        owners = state.sections.owners
        if not self.models.is_paid("writer"):
            owners = {**nearest_first(self.context.outline, state.sections.found), **owners}
        state.sections.owners = divide(
            self.context.outline, state.evidence.refs, state.sections.found, owners
        )
        own = [ref for ref in refs if state.sections.owners.get(ref.evidence_id) in (section.id, None)]
        others = [ref for ref in refs if state.sections.owners.get(ref.evidence_id) not in (section.id, None)]
        evidence = shown((*own, *others), MAX_WRITER_ITEMS)
        elsewhere = {ref.evidence_id for ref in others}
        return evidence, tuple(ref.evidence_id for ref in evidence if ref.evidence_id in elsewhere)


def nearest_first(
    sections: Sequence[ReportPlanSection], by_section: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Evidence id -> section that quotes it, without a model.

    The first of the outline to which it is among the nearest, so that the question itself comes before its
    aspects.
    """
    owners: dict[str, str] = {}
    for section in sections:
        for name in by_section.get(section.id, ())[:MAX_NEAREST]:
            owners.setdefault(name, section.id)
    return owners


def divide(
    sections: Sequence[ReportPlanSection],
    evidence: Sequence[EvidenceRef],
    by_section: Mapping[str, Sequence[str]],
    owners: Mapping[str, str],
) -> dict[str, str]:
    """Evidence id -> id of the section it belongs to, for every item that a section found.

    `by_section` holds the ids each section found, best first; `owners` is what was decided before, and stays.
    """
    vocabularies = _distinct_terms(sections)
    titles = {ref.evidence_id: frozenset(terms(ref.title)) for ref in evidence}
    ranks = {section: {name: place for place, name in enumerate(ids)} for section, ids in by_section.items()}
    decided = dict(owners)
    for name, words in titles.items():
        finders = [section.id for section in sections if name in ranks.get(section.id, {})]
        if name not in decided and finders:
            decided[name] = min(
                finders, key=lambda section: (-len(words & vocabularies[section]), ranks[section][name])
            )
    return decided


def _distinct_terms(sections: Sequence[ReportPlanSection]) -> dict[str, frozenset[str]]:
    """Return the terms that set a section apart.

    Those that not every section's title and key question share.
    """
    own = {section.id: frozenset(terms(f"{section.title} {section.key_question}")) for section in sections}
    counts = Counter(term for words in own.values() for term in words)
    return {
        section: frozenset(term for term in words if len(own) == 1 or counts[term] < len(own))
        for section, words in own.items()
    }
