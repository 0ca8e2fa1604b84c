"""Merge the results of sections into the run's evidence, budget and progress."""

from collections import Counter
from collections.abc import Mapping
from itertools import zip_longest
from typing import Literal

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.drafts import DraftClaim, DraftParagraph, SectionDraft
    from activities.publication import PlannedSection
    from activities.types import EvidenceRef, ReportPlanSection, StopReason, Support
    from workflows.types import Outcome, SectionFindings

from workflows.context import RunContext
from workflows.events import EventLog
from workflows.rules.dedup import merge
from workflows.rules.payload_limits import without_history

WORST_FIRST: tuple[StopReason, ...] = (
    "judge_unavailable",
    "cost_budget_exceeded",
    "token_budget_exceeded",
    "timeout",
    "max_iterations_reached",
    "no_new_evidence",
)
"""Which of its sections' stop reasons a run reports when they differ."""


class SectionResults:
    """Collects the results of sections in the run's state, keyed by section id."""

    def __init__(self, context: RunContext, events: EventLog) -> None:
        self.context = context
        self.events = events

    def accept(self, section: ReportPlanSection, outcome: Outcome) -> None:
        """A section that ended with an outcome: charge its lease and merge its findings."""
        findings = outcome.findings or self._no_findings(section, "failed", "all_sources_failed")
        self.context.budget.close_lease(section.id, findings.by_role, findings.spent_microusd)
        self._merge(section, findings, findings.stop_reason.replace("_", " "))

    def accept_failure(self, section: ReportPlanSection, error: FailureError) -> None:
        """A section whose workflow ended without findings. What it may have spent stays reserved."""
        if is_cancelled_exception(error):
            findings, note = self._no_findings(section, "cancelled", "cancelled"), "it was cancelled"
        else:
            findings = self._no_findings(section, "failed", "all_sources_failed")
            note = f"it failed: {_root_message(error)}"
        self.context.budget.withhold(section.id, findings.by_role, findings.spent_microusd)
        self._merge(section, findings, note)

    def skip(self, section: ReportPlanSection, stop: StopReason) -> None:
        """A section that was never started, because of `stop`."""
        reason = "the time was used up" if stop == "timeout" else "the reviewer asked to finish"
        findings = self._no_findings(section, "cancelled", stop)
        self._merge(section, findings, f"{reason} before it was begun")

    def rank_relevant(self) -> None:
        """Rank the run's evidence: the best item of each section before the second best of any."""
        state = self.context.state
        ranks = zip_longest(*state.found.values())
        state.relevant = list(dict.fromkeys(name for rank in ranks for name in rank if name))

    def overall_stop(self) -> StopReason:
        """The run's stop reason from those of its sections."""
        state = self.context.state
        if state.control.finish:
            return "finished_by_reviewer"
        reasons = Counter(f.stop_reason for f in state.findings.values())
        for reason in WORST_FIRST:
            if reasons[reason]:
                return reason
        if reasons["sufficient_evidence"]:
            return "sufficient_evidence"
        return "cancelled" if reasons["cancelled"] == len(self.context.outline) else "all_sources_failed"

    def confidence(self) -> float:
        """The confidence of the surest section, 0 to 1. That in the answer as a whole is computed from all
        the works that are cited, when the report is assembled."""
        return max((f.confidence for f in self.context.state.findings.values()), default=0.0)

    def evidence_of(self, section: ReportPlanSection) -> tuple[EvidenceRef, ...]:
        """The run's items that a section found, in the section's own order; never retracted work."""
        state = self.context.state
        order = {name: place for place, name in enumerate(state.found.get(section.id, ()))}
        own = [r for r in state.evidence if section.id in r.sections and r.standing != "retracted"]
        return tuple(sorted(own, key=lambda r: order.get(r.evidence_id, len(order))))

    def planned(self, section: ReportPlanSection, draft: SectionDraft) -> PlannedSection:
        """A section of the report, with the status of its research."""
        state = self.context.state
        findings, progress = state.findings.get(section.id), state.sections.get(section.id)
        return PlannedSection(
            section=section,
            draft=draft,
            status=findings.status if findings else "cancelled" if state.control.cancelled else "failed",
            note=(progress.note if progress else "") or "it was not begun",
        )

    def _no_findings(
        self, section: ReportPlanSection, status: Literal["failed", "cancelled"], stop: StopReason
    ) -> SectionFindings:
        """Empty findings, with the usage that the section had reported."""
        reported = self.context.state.sections[section.id]
        return SectionFindings(
            section_id=section.id,
            status=status,
            stop_reason=stop,
            by_role=reported.by_role,
            spent_microusd=reported.spent_microusd,
        )

    def _merge(self, section: ReportPlanSection, findings: SectionFindings, note: str) -> None:
        """Unite a section's findings with the run's. Its draft follows the ids that works have in the run."""
        state, budget = self.context.state, self.context.budget
        drafts = (planned.draft for planned in state.drafts.values())
        quoted = {s.evidence_id for d in drafts for p in d.paragraphs for c in p.claims for s in c.support}
        merged = merge(state.evidence, findings.evidence, section.id, quoted)
        state.evidence = list(merged.refs)
        state.found[section.id] = list(
            dict.fromkeys(merged.kept_as[ref.evidence_id] for ref in findings.evidence)
        )
        works = (merged.kept_as.get(name, name) for name in findings.works)
        state.works = list(dict.fromkeys([*state.works, *works]))
        state.identified += findings.identified
        state.duplicates = max(state.identified - len(state.works), 0)
        state.screened = min(state.screened + findings.screened, len(state.works))
        state.searches += findings.searches
        budget.iterations = max(budget.iterations, findings.iterations)
        state.models += [m for m in findings.models if m not in state.models]
        state.prompt_versions += [v for v in findings.prompt_versions if v not in state.prompt_versions]
        for statement in findings.notes:
            self.events.add_statement(statement)
        draft = rename_evidence(findings.draft, merged.kept_as) if findings.draft else None
        state.findings[section.id] = findings.model_copy(
            update={
                "evidence": (),
                "works": (),
                "relevant": (),
                "searches": (),
                "notes": (),
                "events": (),
                "history": (),
                "draft": draft,
            }
        )
        state.sections[section.id] = state.sections[section.id].model_copy(
            update={
                "status": findings.status,
                "phase": "done",
                "iteration": findings.iterations,
                "evidence": len(findings.evidence),
                "by_role": findings.by_role,
                "note": note,
            }
        )
        relevant = set(findings.relevant)
        pooled = {ref.evidence_id: ref for ref in state.pool.get(section.id, ())}
        pooled |= {r.evidence_id: without_history(r) for r in findings.evidence if r.evidence_id in relevant}
        state.pool[section.id] = list(pooled.values())
        state.memory.adopt(findings.history)
        self.events.adopt_events(section.id, findings.events)
        self.events.emit_event(
            "section_complete",
            f"{section.title}: {note}",
            section_id=section.id,
            title=section.title,
            status=findings.status,
            stop_reason=findings.stop_reason,
            evidence=len(findings.evidence),
            iterations=findings.iterations,
            confidence=round(findings.confidence, 3),
            tokens=sum(usage.tokens for usage in findings.by_role.values()),
        )


def rename_evidence(draft: SectionDraft, names: Mapping[str, str]) -> SectionDraft:
    """A draft that names works by the ids given in `names`."""

    def support(quoted: Support) -> Support:
        return quoted.model_copy(update={"evidence_id": names.get(quoted.evidence_id, quoted.evidence_id)})

    def claim(drafted: DraftClaim) -> DraftClaim:
        return drafted.model_copy(update={"support": tuple(map(support, drafted.support))})

    paragraphs = tuple(DraftParagraph(claims=tuple(map(claim, p.claims))) for p in draft.paragraphs)
    unused = draft.unused and {
        reason: tuple(names.get(name, name) for name in works) for reason, works in draft.unused.items()
    }
    return draft.model_copy(update={"paragraphs": paragraphs, "unused": unused})


def _root_message(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    message = error.message if isinstance(error, ApplicationError) else str(error)
    return " ".join(message.split())[:200]
