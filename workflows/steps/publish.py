"""Publishing: the check of the cited works, the report gate and the report itself.

Publishing is never clipped by a deadline: every run ends with a report.
"""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.publication import PlannedSection, PrismaCounts, PublishInput, PubMedSaid
    from activities.publish import CHECK_PUBMED, PublishActivities, pubmed_check, reaches_out
    from activities.report.schema import Published
    from activities.types import Statement, StopReason
    from workflows.types import Outcome

from workflows.context import RunContext
from workflows.events import EventLog
from workflows.gates import Gates
from workflows.rules.payload_limits import fit_document, rows
from workflows.steps import policy
from workflows.steps.failures import search_failure
from workflows.steps.writing import NO_GATES

PUBMED_SECONDS = 120.0
"""Seconds that a report waits for PubMed at most, retries included."""
EVENTS_ROOM = 24 * 1024
"""Bytes of events in the outcome of a run."""


class Publisher:
    """Publishes the report of a run."""

    def __init__(self, context: RunContext, events: EventLog, gates: Gates) -> None:
        self.context = context
        self.events = events
        self.gates = gates
        self.published: Published | None = None
        """The report as it was published last; a draft while the report gate waits."""

    async def release(
        self, sections: tuple[PlannedSection, ...], stop: StopReason, confidence: float
    ) -> Outcome:
        """Publish the report: as a draft while the report gate waits, then in its final form."""
        asked = "report" in self.context.request.approve and stop not in NO_GATES
        self.events.set_phase("publishing", "checking every quote")
        if asked:
            await self._publish(self._document(sections, stop, confidence, draft=True))
            if not await self.gates.approval_gate("report", "the report waits for approval"):
                stop = "rejected_by_reviewer"
                self.events.set_stop_reason(stop)
                self.events.add_limitation("report_rejected")
            self.events.set_phase("publishing", "checking every quote again")
        published = await self._publish(self._document(sections, stop, confidence, draft=False))
        if published.report.stop_reason == "all_sources_failed" != stop:
            stop = "all_sources_failed"  # no stored text of what is cited could be read
            self.events.set_stop_reason(stop)
        self.events.set_phase(
            "done", f"{published.verified_claims} verified claims; {stop.replace('_', ' ')}"
        )
        used, seconds = self.context.budget.used, self.context.budget.elapsed(self.context.now())
        self.events.emit_event(
            "complete",
            self.context.state.control.message,
            stop_reason=stop,
            answered=published.answered,
            confidence=round(published.report.confidence, 3),
            claims=published.verified_claims,
            references=len(published.report.references),
            tokens=used.tokens,
            cost_usd=(used.cost_microusd or 0) / 1e6,
            seconds=round(seconds, 3),
        )
        return Outcome(
            run_id=self.context.run_id,
            stop_reason=stop,
            answered=published.answered,
            report_blob=published.blob,
            markdown_blob=published.markdown_blob,
            verified_claims=published.verified_claims,
            references=len(published.report.references),
            title=published.report.title,
            events=self.events.latest(EVENTS_ROOM),
        )

    async def _publish(self, document: PublishInput) -> Published:
        """Check the quotes, render and store the report."""
        document = document.model_copy(update={"pubmed": await self._check_pubmed(document)})
        self.published = await workflow.execute_activity_method(
            PublishActivities.publish_report,
            document,
            **policy.internal_step("check quotes and render the report"),
        )
        return self.published

    async def _check_pubmed(self, document: PublishInput) -> PubMedSaid | None:
        """The current standing of the cited works at PubMed, asked on the queue where NCBI's rate is kept;
        None when there is nothing to ask or the run was cancelled. The report states an outage."""
        # A run that was prepared by an earlier version has no queue for this step and skips it.
        prepared = self.context.state.prepared
        queue = prepared.pubmed_queue if prepared else None
        check = pubmed_check(document)
        if reaches_out(document) and (wider := pubmed_check(document, library=True)) != check:
            # Runs of earlier versions left the user's own documents as they were.
            check = wider if self.context.follows("look-up-library-standing") else check
        if queue is None or check is None or self.context.state.control.cancelled:
            return None
        try:
            answer: PubMedSaid = await workflow.execute_activity(
                CHECK_PUBMED,
                check,
                result_type=PubMedSaid,
                **policy.source_call(PUBMED_SECONDS, f"pubmed: standing of {len(check.pmids)} works", queue),
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return PubMedSaid(asked=check.pmids, failure=search_failure(error)[1])
        return answer

    def _sample_only(self) -> tuple[Statement, ...]:
        """The statement that only the bundled sample library was searched, where that is so."""
        state = self.context.state
        own = state.prepared is None or state.prepared.own_library
        if own or not state.searches or any(s.source != "library" for s in state.searches):
            return ()
        return (Statement(code="sample_only"),)

    def _document(
        self, sections: tuple[PlannedSection, ...], stop: StopReason, confidence: float, *, draft: bool
    ) -> PublishInput:
        """Everything the report is made of, within the payload limit."""
        context, state = self.context, self.context.state
        cited = {
            s.evidence_id for p in sections for g in p.draft.paragraphs for c in g.claims for s in c.support
        }
        cited |= {s.evidence_id for c in state.candidates for s in c.quotes}
        near = {work.evidence_id for p in sections for work in p.draft.nearest}
        return fit_document(
            PublishInput(
                run_id=context.run_id,
                question=context.request.question,
                mode=context.traits.mode or "iterative",
                profile=context.profile.name if state.prepared else context.request.profile,
                title=state.plan.report_title if state.plan else context.request.question,
                sections=sections,
                candidates=tuple(state.candidates),
                evidence=tuple(
                    r
                    for r in state.evidence
                    if r.evidence_id in cited | near or r.standing in ("retracted", "concern")
                ),
                found=tuple(r.evidence_id for r in state.evidence),
                searches=rows(state.searches),
                counts=PrismaCounts(
                    identified=state.identified,
                    duplicates=state.duplicates,
                    screened=state.screened,
                    included=len(cited),
                ),
                iterations=context.budget.iterations,
                usage=context.budget.used,
                models=tuple(state.models),
                prompt_versions=tuple(state.prompt_versions),
                plan_hash=state.plan_hash,
                approvals=tuple(state.control.decisions),
                limitations=(*self._sample_only(), *state.notes),
                confidence=confidence,
                confidence_reasons=state.loop.judged.confidence_reasons if state.loop.judged else (),
                stop_reason=stop,
                generated_at=context.timestamp(),
                draft=draft,
                filters=context.request.filters,
                results_per_search=context.request.limits.results_per_search,
            )
        )
