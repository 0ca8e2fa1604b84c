"""Publishing: the check of the cited works, the report gate and the report itself.

Publishing is never clipped by a deadline: every run ends with a report.
"""

from collections.abc import Collection, Iterable

from temporalio import workflow

from activities.contracts.bounds import within
from activities.contracts.evidence import Statement, fields_of
from activities.contracts.iterations import IterationSum
from activities.contracts.judge import WorkJudgement
from activities.contracts.profile import STUDIES
from activities.contracts.publish import (
    Ended,
    IterationUse,
    PlannedSection,
    PrismaCounts,
    PublishInput,
    PubMedSaid,
    SecondReader,
)
from activities.contracts.stop_reasons import STOPS, StopReason, in_short
from activities.messages import plural
from activities.publish_activity import PublishActivities, pubmed_check, reaches_out
from activities.report.schema import Published
from activities.roles.assessment import MIN_ANSWERS
from activities.verification import verdicts
from workflows.context import RunPart
from workflows.rules.payload_limits import fit_document, rows
from workflows.steps import policy
from workflows.steps.judging import best_first
from workflows.steps.search import ask_pubmed
from workflows.steps.writing import JUDGEMENTS_ROOM
from workflows.types import Outcome

PUBMED_SECONDS = 120.0
"""Seconds that a report waits for PubMed at most, retries included."""
TITLE_CHARS = 100
"""Characters of the title of a work that was found, for the list of those that a report does not cite."""
SPENT_ROOM = 24 * 1024
"""Bytes of what the iterations took."""
EVENTS_ROOM = 24 * 1024
"""Bytes of events in the outcome of a run."""


class Publisher(RunPart):
    """Publishes the report of a run."""

    published: Published | None = None
    """The report as it was published last; a draft while the report gate waits."""

    async def release(
        self, sections: tuple[PlannedSection, ...], stop: StopReason, confidence: float | None
    ) -> Outcome:
        """Publish the report: as a draft while the report gate waits, then in its final form."""
        await self.gates.checkpoint()
        self.events.set_phase("publishing", "checking every quote")
        if "report" in self.request.approve and STOPS[stop].asks:
            await self._publish(sections, stop, confidence, draft=True)
            if not await self.gates.approval_gate("report", "the report waits for approval"):
                stop = "rejected_by_reviewer"
                self.events.set_stop_reason(stop)
                self.events.add_limitation("report_rejected")
            self.events.set_phase("publishing", "checking every quote again")
        published = await self._publish(sections, stop, confidence, draft=False)
        has_answers = any(
            judgement.answers >= MIN_ANSWERS for judgement in self.state.evidence.judgements.values()
        )
        if not published.verified_claims and STOPS[stop].complete and has_answers:
            stop = "claims_refused"
            self.events.set_stop_reason(stop)
            published = await self._publish(sections, stop, confidence, draft=False)
        if published.stop_reason == "all_sources_failed" != stop:
            stop = "all_sources_failed"  # no stored text of what is cited could be read
            self.events.set_stop_reason(stop)
        kind = "quote" if published.written_by == "extractive" else "verified claim"
        self.events.set_phase("done", f"{plural(published.verified_claims, kind)}; {in_short(stop)}")
        budget = self.context.budget
        usage, seconds = budget.used, budget.elapsed(self.context.now())
        self.events.emit(
            "complete",
            self.state.people.message,
            stop_reason=stop,
            answered=published.answered,
            confidence=published.confidence,
            claims=published.verified_claims,
            references=published.references,
            tokens=usage.tokens,
            cost_usd=(usage.cost_microusd or 0) / 1e6,
            seconds=round(seconds, 3),
        )
        return Outcome(
            **fields_of(Ended, published) | {"stop_reason": stop},
            run_id=self.context.run_id,
            report_blob=published.blob,
            used=usage,
            spent_microusd=budget.spent_microusd,
            events=self.events.latest(EVENTS_ROOM),
        )

    async def _publish(
        self, sections: tuple[PlannedSection, ...], stop: StopReason, confidence: float | None, draft: bool
    ) -> Published:
        document = self._document(sections, stop, confidence, draft)
        document = document.replace(pubmed=await self._check_pubmed(document))
        self.published = await workflow.execute_activity_method(
            PublishActivities.publish_report,
            document,
            **policy.internal_step("check quotes and render the report"),
        )
        return self.published

    async def _check_pubmed(self, document: PublishInput) -> PubMedSaid | None:
        """Return the current standing of the cited works at PubMed.

        None when there is nothing to ask or the run was cancelled. The report states an outage.
        """
        prepared = self.state.question.prepared
        queue = prepared.pubmed_queue if prepared else None
        check = pubmed_check(document, library=reaches_out(document))
        if queue is None or check is None or self.state.people.cancelled:
            return None
        return await ask_pubmed(check, queue, PUBMED_SECONDS)

    def _judgements(self, cited_ids: Collection[str]) -> tuple[WorkJudgement, ...]:
        """Return what was judged of the works, those that answer best first.

        The quotes only of works that the report has at hand.
        """
        judged_works = self.state.evidence.judgements
        judgements = best_first(judged_works[name] for name in sorted(judged_works))
        bare = (row if row.evidence_id in cited_ids else row.replace(support=()) for row in judgements)
        return within(bare, JUDGEMENTS_ROOM)

    def _document(
        self, sections: tuple[PlannedSection, ...], stop: StopReason, confidence: float | None, draft: bool
    ) -> PublishInput:
        """Return everything that the report is made of, within the payload limit."""
        context, state = self.context, self.state
        cited_ids = {name for section in sections for name in section.draft.cited}
        cited_ids |= {name for part in self.run.parts.active() for name in part.cited_ids()}
        answer_ids = {j.evidence_id for j in state.evidence.judgements.values() if j.answers >= MIN_ANSWERS}
        ids_at_hand = cited_ids | answer_ids
        is_written = any(section.draft.claims for section in sections)
        return fit_document(
            PublishInput(
                run_id=context.run_id,
                question=context.run_question,
                mode=context.traits.mode or "iterative",
                profile=context.profile.name if state.question.prepared else context.request.profile,
                title=state.question.plan.report_title if state.question.plan else context.run_question,
                sections=sections,
                evidence=tuple(
                    r
                    for r in state.evidence.refs
                    if r.evidence_id in ids_at_hand or r.standing in ("retracted", "concern")
                ),
                found={r.evidence_id: r.title[:TITLE_CHARS] for r in state.evidence.refs},
                searches=rows(state.evidence.searches),
                counts=PrismaCounts(
                    identified=state.evidence.identified,
                    duplicates=state.evidence.duplicates,
                    screened=state.evidence.screened,
                    included=len(cited_ids),
                ),
                iterations=context.budget.iterations,
                spent_by=within(self._spent_by(stop), SPENT_ROOM),
                usage=context.budget.used,
                by_role={role: usage for role, usage in context.budget.by_role.items() if usage.calls},
                seconds=round(context.budget.elapsed(context.now()), 3),
                models=tuple(state.models.names),
                prompt_versions=tuple(state.models.prompt_versions),
                plan_hash=state.question.plan_hash,
                approvals=tuple(state.people.decisions),
                limitations=(*self._first_limitations(), *state.notes),
                confidence=confidence,
                written_by="model" if is_written or state.evidence.judgements else "extractive",
                judgements=self._judgements(ids_at_hand),
                edited=state.draft.edited,
                reader=self._reader(sections),
                asked=context.request.question if state.question.reworded else "",
                refused=tuple(state.evidence.refused),
                confidence_reasons=state.loop.judged.confidence_reasons if state.loop.judged else (),
                stop_reason=stop,
                generated_at=context.timestamp(),
                draft=draft,
                filters=context.request.filters,
                results_per_search=context.request.limits.results_per_search,
                length=context.request.length,
                language=context.language,
                words=context.profile.words if state.question.prepared else STUDIES,
            ).replace(**self.run.parts.published_values(cited_ids))
        )

    def _first_limitations(self) -> Iterable[Statement]:
        """Yield what a reader of the report should know first."""
        people, prepared = self.state.people, self.state.question.prepared
        sources = {search.source for search in self.state.evidence.searches}
        if prepared and not prepared.own_library and sources == {"library"}:
            yield Statement.of("sample_only")
        if (text_count := people.steered_in_text) is not None and (late_count := people.steered - text_count):
            yield Statement.of("steer_late", texts=tuple(people.steering[-late_count:]))

    def _spent_by(self, stop: StopReason) -> Iterable[IterationUse]:
        """Yield what each iteration took; the last one of a loop says why that ended."""
        state = self.state
        records = state.iterations
        last = {record.section: record.iteration for record in records}
        for record in records:
            findings, cost = state.sections.findings.get(record.section), record.cost_microusd
            reason = stop if not record.section else findings.stop_reason if findings else None
            is_last = last[record.section] == record.iteration
            yield IterationUse(
                **fields_of(IterationSum, record) | {"open": record.open if is_last else ()},
                calls=record.model_calls,
                cost_usd=None if cost is None else cost / 1e6,
                stopped=reason if is_last else None,
            )

    def _reader(self, sections: tuple[PlannedSection, ...]) -> SecondReader:
        edited = self.state.draft.edited
        sentences = [sentence for section in sections for sentence in section.draft.sentences]
        if not any(
            verdicts.was_read(sentence) for sentence in (*sentences, *(edited.sentences if edited else ()))
        ):
            return ""
        models = self.context.prepared.models
        writer, reader = (models.get(role) or models.get("default") for role in ("writer", "verifier"))
        return "same_model" if writer == reader else "other_model"
