"""A scripted replacement of all I/O: activities under their real names, with their real inputs and outputs.
Evidence goes to a real store, and publishing is the real activity, so that a report in these tests has passed
the real quote check.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.analysis_activity import AnalysisActivities
from activities.candidate_activity import CandidateActivities
from activities.contracts.candidates import CandidateLookUp, LookedUp
from activities.contracts.effects import Program
from activities.contracts.evidence import Evidence, EvidenceRef, ReportPlan, ReportPlanSection, Support, Usage
from activities.contracts.judge import (
    Hypotheses,
    HypothesisInput,
    JudgeBatch,
    JudgeInput,
    MechanismHypothesis,
    Ordered,
    OrderInput,
    Table,
    TableRow,
    WorkJudgement,
)
from activities.contracts.plan import (
    AgentSelectionPlan,
    AgentTask,
    KnowledgeGapOutput,
    Observation,
    ParsedQuery,
    ParseQueryInput,
    PlanInput,
    SelectInput,
)
from activities.contracts.prepare import Prepared, PrepareInput
from activities.contracts.publish import PublishInput
from activities.contracts.search import Hits, HitsOfAll, SearchTask, SearchTasks
from activities.contracts.step import Role, StepAnswer, StepContext
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    Edited,
    Extracted,
    ExtractInput,
    Passage,
    SectionDraft,
    SentenceVerdict,
    Verdicts,
    WriteInput,
)
from activities.event_activity import EventActivities
from activities.evidence_store import EvidenceStore
from activities.extractive.planning import manage
from activities.follow_up_activity import FollowUpActivities
from activities.full_text_activity import FullTexts, ReadInFull
from activities.heartbeat import heartbeating
from activities.own_step_activity import OwnStepActivities
from activities.publish_activity import PublishActivities
from activities.role_calls import ROLE_CALLS, RoleCall
from activities.roles.allowances import ALLOWANCES, asks_model
from activities.roles.role import ROLES, spec_of
from activities.search_activity import activity_name
from tests.workflows.script import SOURCES, Call, Script, document, held
from worker.build import check_graph

T = TypeVar("T")


class Fakes:
    """Register `activities` on a worker; read `calls`, `searches` and `published` afterwards."""

    def __init__(self, store: EvidenceStore, script: Script | None = None) -> None:
        self.script = script or Script()
        self.store = store
        self.calls: list[Call] = []
        self.attempts: list[Role] = []
        """Every attempt at a paid step, answered or not."""
        self.searches: list[SearchTask] = []
        self.together: list[SearchTasks] = []
        """The steps that searches were made in."""
        self.search_times: list[tuple[str, float, float]] = []
        """Workflow id, begin and end of each."""
        self.documents: dict[str, Evidence] = {}
        """What the searches have found, by blob."""
        self.answered: list[SearchTask] = []
        self.ordered: list[OrderInput] = []
        self.published: list[PublishInput] = []
        self.prepared: list[PrepareInput] = []
        self.looked_up: list[CandidateLookUp] = []
        self.read: list[ReadInFull] = []
        self.now = 0.0
        """When the attempt under way was scheduled, in seconds of the server's time."""
        self._publisher = PublishActivities(store)

    def of(self, role: Role) -> list[Call]:
        """The steps of a role, in order."""
        return [call for call in self.calls if call.role == role]

    def paid(self) -> list[Call]:
        return [call for call in self.calls if call.paid]

    async def _think(self, role: Role, step: StepContext, default: Callable[[], T]) -> StepAnswer[T]:
        script, began = self.script, time.monotonic()
        self.now = activity.info().current_attempt_scheduled_time.timestamp()
        asked = asks_model(role, step.model)
        known = role in ROLES and spec_of(role).is_idle(step, getattr(step, "evidence", ()))
        paid = asked and not known
        if role in script.always:
            script.always[role](step)
        if paid:
            self.attempts.append(role)
            if role in script.before:
                script.before[role](step)
            if role in script.holds:
                await script.holds[role](step)
            if script.hangs == role:
                await asyncio.sleep(3_600)
        given = script.answers.get(role)
        output: T = given(step) if given else default()
        usage = held(script.usage(role, step), step.allowance) if paid else Usage()
        assert usage.tokens <= ALLOWANCES[role].tokens
        workflow_id = activity.info().workflow_id or ""
        if paid:
            await asyncio.sleep(max(began + script.model_seconds - time.monotonic(), 0.0))
        self.calls.append(Call(role, step, workflow_id, usage, paid, began, time.monotonic()))
        model = step.model.model if paid else "code" if asked else "extractive"
        return StepAnswer(output=output, usage=usage, model=model, prompt_version=f"{role}@1" if paid else "")

    # the activities

    @activity.defn
    async def prepare(self, step: PrepareInput) -> Prepared:
        script = self.script
        self.prepared.append(step)
        offered = {option.info.name: option for option in script.sources}
        unknown = [name for name in step.sources if name not in offered]
        if unknown:
            raise ApplicationError(f"there is no source named {unknown[0]}", non_retryable=True)
        undecided = script.undecided and step.profile != script.profile.name
        return Prepared(
            profile=script.profile.model_copy(update={"name": step.profile}) if undecided else script.profile,
            sources=tuple(offered[n] for n in step.sources) if step.sources else tuple(script.sources),
            models=step.models or script.models,
            prices=script.prices,
            contexts=script.contexts,
            profiles={script.profile.name: script.profile.description},
            pubmed_queue=script.pubmed_queue,
            unpaywall=script.unpaywall,
            alternatives={script.profile.name: script.profile} if step.chooses_profile else {},
        )

    @activity.defn
    async def order_evidence(self, step: OrderInput) -> Ordered:
        """As they were found."""
        self.ordered.append(step)
        return Ordered(ids=tuple(ref.evidence_id for ref in step.evidence)[: step.most])

    def _thinks(self, call: RoleCall[Any, Any]) -> Callable[..., Any]:
        """A step of a role under its real name, which gives its answer here where the script has none."""
        answers: dict[Role, Callable[[Any], Any]] = {
            "query_parser": self._parsed,
            "planner": self._planned,
            "observer": lambda step: Observation(text=f"seen {len(step.titles)}"),
            "gap_evaluator": lambda s: KnowledgeGapOutput(
                outstanding_gaps=(f"gap {s.iteration} of {s.question}"[:80],)
            ),
            "tool_selector": self._selected,
            "judge": self._verdict,
            "hypothesis_generator": self._named,
            "writer": self.drafted,
            "verifier": lambda step: Verdicts(
                verdicts=tuple(SentenceVerdict(id=s.id) for s in step.sentences)
            ),
            "editor": lambda step: Edited(title=step.title),
            "extractor": self._extracted,
            "manager": manage,
            "analyst": lambda _: Program(code=self.script.program),
        }
        answer = answers.get(call.role) or call.default

        async def think(step: Any) -> Any:
            return await self._think(call.role, step, lambda: answer(step))

        think.__annotations__ = {"step": call.takes, "return": call.answer}
        return activity.defn(name=call.activity)(think)

    def _parsed(self, step: ParseQueryInput) -> ParsedQuery:
        return ParsedQuery.model_validate(
            {
                "original_query": step.question,
                "improved_query": step.question,
                "research_mode": self.script.mode,
                "profile": self.script.profile.name,
                "research_questions": (step.question,),
                "rationale": "because the script says so",
            }
        )

    def _planned(self, _: PlanInput) -> ReportPlan:
        outline = (
            ReportPlanSection(title=f"Section {n}", key_question=f"question number {n}")
            for n in range(1, self.script.sections + 1)
        )
        return ReportPlan(
            report_title="A plan", background_context="What is known.", report_outline=tuple(outline)
        )

    @staticmethod
    def _selected(step: SelectInput) -> AgentSelectionPlan:
        tasks = (
            AgentTask(gap=gap, agent=option.info.name, query=f"{gap[:60]} in {option.info.name}")
            for gap in step.gaps
            for option in step.sources
        )
        return AgentSelectionPlan(tasks=tuple(tasks))

    def _verdict(self, step: JudgeInput) -> JudgeBatch:
        if step.model.backend == "extractive":
            return JudgeBatch(relevant=tuple(ref.evidence_id for ref in step.evidence[:5]))
        at = self.script.sufficient_at
        return self.judged(step, enough=at is not None and step.iteration >= at)

    def _named(self, step: HypothesisInput) -> Hypotheses:
        named = []
        for drug, ref in zip(("metformin", "aspirin", "sirolimus"), step.evidence, strict=False):
            found = self.documents[ref.blob]
            support = (Support(evidence_id=found.evidence_id, quote=found.text),)
            named.append(MechanismHypothesis(drug=drug, target="mTOR", supporting_evidence=support))
        return Hypotheses(hypotheses=tuple(named))

    @staticmethod
    def _extracted(step: ExtractInput) -> Extracted:
        rows = tuple(TableRow(evidence_id=ref.evidence_id) for ref in step.evidence)
        return Extracted(table=Table(columns=step.columns, rows=rows))

    def judged(self, step: JudgeInput, *, enough: bool, **more: Any) -> JudgeBatch:
        """Every work of a batch answers, directly where it is enough."""
        judgements = tuple(
            WorkJudgement(
                evidence_id=ref.evidence_id,
                answers=3 if enough else 2,
                finding="as the script says",
                support=(Support(evidence_id=ref.evidence_id, quote=self.documents[ref.blob].text),),
            )
            for ref in step.evidence
            if ref.blob in self.documents
        )
        batch = {
            "judgements": judgements,
            "scores": {c.name: 9 if enough else 3 for c in step.profile.criteria},
            "gaps": () if enough else ("something is missing",),
            "reasoning": "as the script says",
        }
        return JudgeBatch.model_validate({**batch, **more})

    def drafted(self, step: WriteInput) -> SectionDraft:
        """A claim for each of the first three items: their own sentence. Without a model it is a passage."""
        if step.is_plain and step.model.backend != "extractive":
            return SectionDraft(plain_answer="The answer.")
        own = [ref for ref in step.evidence if ref.evidence_id not in step.shared]
        refs = [ref for ref in own[:3] if ref.blob in self.documents]
        if step.model.backend == "extractive":
            passages = tuple(
                Passage(evidence_id=ref.evidence_id, quotes=(self.documents[ref.blob].text,)) for ref in refs
            )
            return SectionDraft(title=step.title, passages=passages)
        paragraphs = []
        of_sections = [
            (s.id, [ref for ref in own if s.key_question in self.documents[ref.blob].text][:3])
            for s in step.outline
        ]
        for section, ref in ((name, ref) for name, refs in (of_sections or [("", refs)]) for ref in refs):
            text = self.documents[ref.blob].text
            support = (Support(evidence_id=ref.evidence_id, quote=text),)
            claims = (DraftClaim(text=text, support=support),)
            paragraphs.append(DraftParagraph(claims=claims, section=section))
        return SectionDraft(title=step.title, paragraphs=tuple(paragraphs))

    @activity.defn
    async def look_up_candidate(self, step: CandidateLookUp) -> LookedUp:
        """The real look-up, in what the script has."""
        self.looked_up.append(step)
        return await CandidateActivities(self.script.registers, self.store).look_up_candidate(step)

    @activity.defn
    async def read_in_full(self, step: ReadInFull) -> FullTexts:
        """Every work but the first has an open full text."""
        self.read.append(step)
        if self.script.before_reading:
            self.script.before_reading(step)
        found = []
        for ref in step.evidence[1:]:
            item = self.documents[ref.blob]
            full = item.model_copy(update={"text": f"{item.text}\n\nAnd more.", "full_text": True})
            new = await self.store.put(full)
            self.documents[new.blob] = full
            found.append(new.model_copy(update={"sections": ref.sections, "queries": ref.queries}))
        return FullTexts(evidence=tuple(found))

    @activity.defn
    async def publish_report(self, step: PublishInput) -> Any:
        self.published.append(step)
        if self.script.publish:
            self.script.publish(step)
        async with heartbeating():  # as the real one: on a busy machine it may last longer than its time-out
            return await self._publisher.publish(step)

    def _search(self, source: str) -> Callable[..., Any]:
        @activity.defn(name=activity_name(source))
        async def search(step: SearchTasks) -> HitsOfAll:
            self.together.append(step)
            answers = await asyncio.gather(*map(self._row, step.tasks))
            listed, tried = self.script.listed.get(source, ((), ()))
            rows = tuple(hits.model_copy(update={"listed": len(listed)}) for hits in answers)
            return HitsOfAll(answers=rows, listed=listed, tried=tried)

        return search

    async def _row(self, task: SearchTask) -> Hits:
        """The answer of one search; a failure that is final is a row, as in the activity itself."""
        try:
            return await self._found(task)
        except ApplicationError as error:
            if not error.non_retryable:
                raise
            status = error.details[0]["status"]
            return Hits(source=task.source, query=task.query.text, status=status, detail=error.message)

    async def _found(self, task: SearchTask) -> Hits:
        self.searches.append(task)
        began = time.monotonic()
        found = self.script.search(task) if self.script.search else None
        if self.script.slow_search:
            found = await self.script.slow_search(task)
        if isinstance(found, Hits):
            return found
        documents = [document(task.source, task.query.text)] if found is None else list(found)
        answer = await self.hits(task, documents)
        await asyncio.sleep(max(began + self.script.search_seconds - time.monotonic(), 0.0))
        self.search_times.append((activity.info().workflow_id or "", began, time.monotonic()))
        return answer

    async def hits(self, task: SearchTask, documents: Sequence[Evidence]) -> Hits:
        """An answer whose documents are in the store."""
        self.answered.append(task)
        kept: list[EvidenceRef] = [await self.store.put(item) for item in documents]
        self.documents |= {ref.blob: item for ref, item in zip(kept, documents, strict=True)}
        return Hits(
            source=task.source,
            query=task.query.text,
            status="ok" if kept else "empty",
            hits=len(kept),
            kept=tuple(kept),
            documents=self.script.documents,
        )

    @property
    def activities(self) -> list[Callable[..., Any]]:
        return [
            AnalysisActivities(self.store).analyse_effects,
            AnalysisActivities(self.store).run_program,
            EventActivities(self.store).store_events,
            FollowUpActivities(self.store).import_evidence,
            OwnStepActivities(self.store).run_code_step,
            *(check_graph, self.prepare, self.order_evidence, self.look_up_candidate, self.read_in_full),
            self.publish_report,
            *map(self._thinks, ROLE_CALLS),
            *(self._search(source) for source in (*SOURCES, "library")),
        ]
