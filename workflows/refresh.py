"""What is done with a finished report: it is refreshed, or a person asks something of it.

A refresh repeats the searches of the report, looks up its references again and keeps what is new. It is
started by `determinator refresh --search`, and by each action of a schedule. It runs through the sources' own
activities, so the rates of strictly limited APIs hold, and a worker that dies costs nothing that was done.

A question, a change or a dispute takes at most three calls of a model, by the roles of a run: reviser, writer
and second reader.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from activities.contracts.bounds import within
from activities.contracts.evidence import ANSWERED, EvidenceRef, SearchRecord, Usage, fields_of
from activities.contracts.judge import OrderInput
from activities.contracts.prepare import Prepared, PrepareInput
from activities.contracts.revise import Instruction, Wanted
from activities.contracts.search import SearchTasks
from activities.contracts.step import Role, StepAnswer, StepContext
from activities.contracts.write import SectionDraft, Verdicts, VerifyInput, WriteInput, with_ids
from activities.messages import plural
from activities.prepare_activity import PrepareActivities
from activities.refresh_activity import (
    RefreshActivities,
    RefreshFindings,
    RefreshOutcome,
    RefreshRequest,
    RepeatedSearch,
)
from activities.report.archive import NewWork
from activities.revision_activity import RevisionActivities, RevisionFindings, RevisionPlan, RevisionRequest
from activities.role_activity import ThinkActivities
from activities.role_calls import REVISE, VERIFY, WRITE, I, O, RoleCall, choice_of, with_model
from activities.roles.allowances import MAX_WRITER_ITEMS, allowance_of, asks_model
from activities.verification import verdicts
from workflows.amounts import worst_cost
from workflows.rules.dedup import merge
from workflows.rules.payload_limits import REFS_ROOM, input_refs, rows
from workflows.steps import policy
from workflows.steps.policy import retry_on_worker_loss, search_failure
from workflows.steps.search import ask_pubmed, ask_source, with_hits

PUBMED_SECONDS = 600.0
"""Seconds that a refresh waits for PubMed at most, retries included."""
CALLS: Mapping[str, tuple[Role, ...]] = {
    "tell": ("writer", "verifier"),
    "change": ("reviser", "writer", "verifier"),
    "dispute": ("verifier",),
    "decide": (),
}
"""Kind of instruction -> the roles that it asks, each once at most."""
Search = Callable[[RepeatedSearch], Awaitable[tuple[SearchRecord, list[EvidenceRef]]]]


class Revision:
    def __init__(self, request: RefreshRequest, instruction: Instruction, search: Search) -> None:
        self.request = request
        self.asked = instruction
        self._search = search
        self._usage = Usage()
        self._models: list[str] = []
        self._prepared: Prepared | None = None

    async def run(self) -> RefreshOutcome:
        """Ask the models, and keep what comes of it."""
        prepared = self._prepared = await workflow.execute_activity_method(
            PrepareActivities.prepare,
            PrepareInput(
                profile=self.asked.profile, models=self.asked.models, fallbacks=self.asked.fallbacks
            ),
            **policy.internal_step("what this worker offers"),
        )
        self._check_cost(prepared)
        plan = await workflow.execute_activity_method(
            RevisionActivities.plan_revision,
            RevisionRequest(request=self.request, profile=prepared.profile),
            **policy.internal_step("read the report"),
        )
        if plan.write is not None:
            # from the works of the run, in one call; open sentences are read in another
            works = await self._works(plan.write, plan.known, plan.question)
            draft, reading = await self._write(plan.write, works)
            findings = RevisionFindings(
                request=self.request,
                at="",
                draft=draft,
                verdicts=reading,
                written_from=works,
                by_model=self._asks("writer"),
            )
        elif plan.revise is not None:
            findings = await self._change(plan)
        else:
            findings = RevisionFindings(request=self.request, at="", verdicts=await self._read(plan.read))
        return await workflow.execute_activity_method(
            RevisionActivities.keep_revision,
            findings.replace(
                at=workflow.now().astimezone(UTC).isoformat(timespec="seconds"),
                usage=self._usage,
                models=tuple(self._models),
            ),
            **policy.internal_step("publish what was asked for"),
        )

    def _check_cost(self, prepared: Prepared) -> None:
        """Check that the calls that this may take cost no more than is allowed.

        Raises ApplicationError before the first of them, so that nothing is bought for an answer that never
        comes.
        """
        max_cost = self.asked.max_cost_microusd
        if max_cost is None:
            return
        choices = {role: choice_of(prepared, role) for role in CALLS[self.asked.kind] if self._asks(role)}
        cost = sum(
            worst_cost(allowance_of(role, choice), prepared.prices.get(choice.model))
            for role, choice in choices.items()
        )
        if cost > max_cost:
            raise ApplicationError(
                f"this may cost {cost / 1e6:.2f} US dollars, and {max_cost / 1e6:.2f} are left of what "
                "the run and what is asked of it may cost",
                type="CostLimit",
                non_retryable=True,
            )

    async def _change(self, plan: RevisionPlan) -> RevisionFindings:
        """Have the reviser say what is touched, write what is new, and have all of it read in one call."""
        assert plan.revise is not None
        if not self._asks("reviser"):
            raise ApplicationError(
                "a change of the report needs a language model that writes; name one",
                type="NoModel",
                non_retryable=True,
            )
        new_works, notes = await self._new_works(plan.searches)
        names = tuple(f"{ref.title} ({ref.evidence_id})" for ref in new_works)
        revised = await self._think(REVISE, plan.revise.replace(by_identifier=names))
        if new_works and revised.write is None:
            revised = revised.replace(write=Wanted(question=plan.question))
        draft, works = SectionDraft(), tuple[EvidenceRef, ...]()
        if revised.write is not None:
            about = {"question": revised.write.question, "background": self.asked.text}
            context = fields_of(StepContext, plan.revise) | about
            step = WriteInput(**context, section_id=revised.write.section or "new")
            refs = [ref for ref in plan.known if ref.evidence_id not in revised.works]
            works = new_works or await self._works(step, refs, plan.question)
            step = step.replace(evidence=input_refs(works, MAX_WRITER_ITEMS))
            draft = with_ids("new", await self._think(WRITE, step))
        check = VerifyInput(
            **fields_of(StepContext, plan.revise),
            sentences=verdicts.open_sentences(
                [*revised.sentences, *revised.edited, *revised.lines, *verdicts.sentences_with_context(draft)]
            ),
            evidence=input_refs((*plan.revise.evidence, *works), MAX_WRITER_ITEMS),
        )
        if revised.cannot:
            notes += (revised.cannot,)
        if refused_count := len(revised.refused):
            notes += (f"{plural(refused_count, 'new wording')} did not pass the checks: the old text stays",)
        if not (revised.touches or notes):
            notes += ("the model names nothing of this report that is to be changed",)
        return RevisionFindings(
            request=self.request,
            at="",
            revised=revised,
            draft=draft,
            verdicts=await self._read(check),
            new=tuple(new_works),
            written_from=tuple(works),
            notes=notes,
        )

    async def _write(self, step: WriteInput, works: Sequence[EvidenceRef]) -> tuple[SectionDraft, Verdicts]:
        step = step.replace(evidence=tuple(works))
        draft = with_ids(step.section_id, await self._think(WRITE, step))
        check = VerifyInput(
            **fields_of(StepContext, step),
            section_id=step.section_id,
            sentences=verdicts.open_sentences(verdicts.sentences_with_context(draft)),
            evidence=step.evidence,
            works_room=draft.works_room,
            near_misses=draft.near_misses,
        )
        return draft, await self._read(check)

    async def _works(
        self, step: WriteInput, refs: Sequence[EvidenceRef], of_report: str
    ) -> tuple[EvidenceRef, ...]:
        """Return the works of the run that are nearest to a question, or to that of its report.

        Code says which of the two is meant.
        """
        order = await workflow.execute_activity_method(
            ThinkActivities.order_evidence,
            OrderInput(
                run_id=step.run_id,
                question=step.question,
                queries=(of_report,),
                profile=step.profile,
                evidence=tuple(refs),
                most=MAX_WRITER_ITEMS,
            ),
            **policy.internal_step("which works are near"),
        )
        by_name = {ref.evidence_id: ref for ref in refs}
        return input_refs((by_name[name] for name in order.ids), MAX_WRITER_ITEMS)

    async def _new_works(
        self, searches: Sequence[RepeatedSearch]
    ) -> tuple[tuple[EvidenceRef, ...], tuple[str, ...]]:
        """Return the works that the instruction names, and what of them could not be had."""
        works: list[EvidenceRef] = []
        notes: list[str] = []
        for search in searches:
            row, refs = await self._search(search)
            works += [ref for ref in refs if ref.standing != "retracted"]
            if not refs:
                notes.append(why_missing(row))
            notes += [f"{ref.evidence_id} is retracted" for ref in refs if ref.standing == "retracted"]
        return tuple(works), tuple(notes)

    async def _read(self, check: VerifyInput | None) -> Verdicts:
        if check is None or not check.sentences or not self._asks("verifier"):
            return Verdicts()
        return await self._think(VERIFY, check)

    def _asks(self, role: Role) -> bool:
        assert self._prepared is not None
        return asks_model(role, choice_of(self._prepared, role))

    async def _think(self, call: RoleCall[I, O], step: I) -> O:
        """One step of a role, charged to this revision. Raises ActivityError."""
        assert self._prepared is not None
        choice, is_paid = choice_of(self._prepared, call.role), self._asks(call.role)
        lineage = workflow.info().first_execution_run_id
        full_step = with_model(step, self._prepared, choice, allowance_of(call.role, choice), lineage=lineage)

        async def attempt() -> "StepAnswer[O]":
            answer: StepAnswer[O] = await workflow.execute_activity(
                call.activity,
                full_step,
                result_type=call.answer,
                **policy.model_call(
                    None, f"{call.role}: {policy.shorten(self.asked.text, 60)}", streams=is_paid
                ),
            )
            return answer

        result = await retry_on_worker_loss(attempt)
        self._usage = self._usage + result.usage
        if is_paid and result.model not in self._models:
            self._models.append(result.model)
        return result.output


@workflow.defn(sandboxed=False)
class RefreshReport:
    @workflow.run
    async def run(self, request: RefreshRequest) -> RefreshOutcome:
        if request.instruction is not None:
            return await Revision(request, request.instruction, self._search).run()
        plan = await workflow.execute_activity_method(
            RefreshActivities.plan_refresh, request, **policy.internal_step("what to ask again")
        )
        answers = await asyncio.gather(*(self._search(search) for search in plan.searches))
        pubmed = None
        if plan.check is not None and plan.pubmed_queue is not None:
            pubmed = await ask_pubmed(plan.check, plan.pubmed_queue, PUBMED_SECONDS)
        works = [ref for _, refs in answers for ref in refs]
        merged = merge(plan.known, works, "")
        refs = {ref.evidence_id: ref for ref in merged.refs if ref.evidence_id in set(merged.new_ids)}
        return await workflow.execute_activity_method(
            RefreshActivities.keep_refresh,
            RefreshFindings(
                request=request,
                at=workflow.now().astimezone(UTC).isoformat(timespec="seconds"),
                searches=rows(row for row, _ in answers),
                new=within((NewWork(**fields_of(NewWork, refs[name])) for name in merged.new_ids), REFS_ROOM),
                pubmed=pubmed,
            ),
            **policy.internal_step("keep what is new"),
        )

    async def _search(self, search: RepeatedSearch) -> tuple[SearchRecord, list[EvidenceRef]]:
        """One search. However it ends, it is a row of the ledger."""
        task = search.task
        row = SearchRecord(source=task.source, query=task.query.text, asked=task.query.text, status="empty")
        if search.closed:
            return row.replace(status="refused", detail=search.closed), []
        try:
            step = SearchTasks(run_id=task.run_id, tasks=(task,))
            answer = await retry_on_worker_loss(
                lambda: ask_source(step, None, f"{task.source}: {task.query.text}", search.queue)
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            status, detail, attempts = search_failure(error)
            return row.replace(status=status, detail=detail, attempts=attempts), []
        hits = answer.answers[0]
        return with_hits(row, hits), list(hits.kept)


def why_missing(row: SearchRecord) -> str:
    """Say why a search for a work that an instruction names brought none; an outage is not "nothing"."""
    if row.status in ANSWERED:
        return f"{row.source} has nothing for {row.query}{f': {row.detail}' if row.detail else ''}"
    return f"{row.source} gave no answer for {row.query}: {row.detail or row.status.replace('_', ' ')}"
