"""The steps of a search-judge loop. Each reads the state, asks a model or the sources, and writes the answer
into the state; the order of the steps is up to the mode that holds them.
"""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.iterations import IterationRecord
    from activities.role_activities import ThinkActivities
    from activities.steps import (
        TEST_GAP,
        AgentSelectionPlan,
        GapsInput,
        JudgeAssessment,
        JudgeInput,
        KnowledgeGapOutput,
        Observation,
        ObserveInput,
        ReflectInput,
        Reflection,
        SelectInput,
    )
    from activities.types import ANSWERED, EvidenceRef, SearchStatus, SourceOption

from workflows.context import RunContext
from workflows.events import EventLog
from workflows.iterations import iterations_of
from workflows.rules.hypotheses import suggested_searches
from workflows.rules.payload_limits import rows, shown
from workflows.rules.stopping import JUDGE_FAILURES, sufficient
from workflows.steps.failures import OutOfBudget, StepFailed, cause_of, message_of
from workflows.steps.model import PERMANENT, ModelSteps
from workflows.steps.prepare import Preparation
from workflows.steps.search import SearchSteps

REFLECT_ON_LITTLE = "reflect-on-little"
"""Patch: the reflector is asked when searches bring little, not only when they bring nothing."""
HYPOTHESIS_SEARCHES = "hypothesis-searches"
"""Patch: searches that would test the hypotheses are made."""
OBSERVED_ITEMS = 30
"""References passed to the observer and the gap evaluator at most."""
JUDGED_ITEMS = 120
"""References passed to the judge at most; it shows the model a selection."""
RELEVANT_KEPT = 120
"""Ids of relevant items that are kept, best first."""
EARLIER_SHOWN = 3
"""Iterations before the present one that prompts are shown: the latest."""
JUDGE_PAUSE = 15.0
"""Seconds before a judge that failed is asked again; doubled each time."""


class ResearchSteps:
    """Observe, evaluate gaps, select tools, search, reflect, judge."""

    def __init__(
        self,
        context: RunContext,
        events: EventLog,
        models: ModelSteps,
        searches: SearchSteps,
        preparation: Preparation,
    ) -> None:
        self.context = context
        self.events = events
        self.models = models
        self.searches = searches
        self.preparation = preparation

    async def observe(self) -> None:
        """Summarize what is known; this may have been done while the judge was working."""
        state = self.context.state
        self.events.set_phase("observing", "summarizing what is known")
        if state.observed_ahead != state.loop.iteration:
            await self._observe(state.loop.iteration)
        state.memory.thought = state.observation
        state.loop.last = "observe"

    async def _observe(self, iteration: int) -> None:
        judged = self.context.state.loop.judged
        step = ObserveInput(
            **self.context.step_inputs(),
            iteration=iteration,
            evidence=shown(self.ranked_evidence(), OBSERVED_ITEMS),
            last_judgement=judged.reasoning if judged else "",
            earlier=self._earlier(iteration),
        )
        execute = self.models.execute if step.evidence else self.models.execute_without_evidence
        observation = await execute("observer", ThinkActivities.observe, step, Observation(text=""))
        self.context.state.observation = observation.text

    async def evaluate_gaps(self) -> None:
        """Determine what is missing."""
        self.events.set_phase("evaluating_gaps", "determining what is missing")
        state, loop, parsed = self.context.state, self.context.state.loop, self.context.state.parsed
        judged = loop.judged.gaps if loop.judged else ()
        state.steering_read = state.control.steered
        step = GapsInput(
            **self.context.step_inputs(),
            iteration=loop.iteration,
            observation=state.observation,
            evidence=shown(self.ranked_evidence(), OBSERVED_ITEMS),
            judged_gaps=judged,
            tried=rows(state.searches[-OBSERVED_ITEMS:]),
            research_questions=parsed.research_questions if parsed and not state.job else (),
            max_gaps=self.context.request.limits.max_gaps,
            earlier=self._earlier(loop.iteration),
        )
        execute = self.models.execute if step.evidence else self.models.execute_without_evidence
        instructions = tuple(reversed(state.control.steering))
        parts = judged or step.research_questions or (self.context.question,)
        default = KnowledgeGapOutput(outstanding_gaps=tuple(dict.fromkeys((*instructions, *parts))))
        answer = await execute("gap_evaluator", ThinkActivities.evaluate_gaps, step, default)
        loop.gaps = answer.outstanding_gaps[: step.max_gaps]
        loop.research_complete = answer.research_complete
        state.memory.gaps = loop.gaps
        loop.last = "evaluate_gaps"
        for gap in loop.gaps:
            self.events.emit_event("gap", gap, gap=gap)

    async def select_tools(self, per_gap: int | None = None, *, use_model: bool = True) -> None:
        """Choose searches that may close the gaps, at most `per_gap` for each (None: the request's limit)."""
        self.events.set_phase("selecting_tools", "choosing searches")
        await self._prepare_added_sources()
        state, loop, parsed = self.context.state, self.context.state.loop, self.context.state.parsed
        limits = self.context.request.limits
        per_gap = per_gap or limits.searches_per_gap
        step = SelectInput(
            **self.context.step_inputs(),
            iteration=loop.iteration,
            gaps=loop.gaps,
            sources=self.searches.sources(),
            tried=rows(state.searches[-2 * OBSERVED_ITEMS :]),
            key_entities=parsed.key_entities if parsed else (),
            recommended=tuple(state.recommended),
            tests=self._hypothesis_tests(per_gap),
            per_gap=per_gap,
        )
        execute = self.models.execute if use_model else self.models.execute_by_code
        plan = await execute("tool_selector", ThinkActivities.select_tools, step, AgentSelectionPlan())
        known = {source.info.name for source in step.sources}
        answered = {(s.source, s.asked) for s in state.searches if s.status in ANSWERED}
        tasks = [t for t in plan.tasks if t.agent in known and (t.agent, t.query) not in answered]
        most = limits.max_gaps * per_gap
        state.tasks = list({(t.agent, t.query): t for t in tasks}.values())[:most]
        loop.tasks, loop.last = len(state.tasks), "select_tools"

    def _hypothesis_tests(self, most: int) -> tuple[str, ...]:
        """Searches that would test the hypotheses and have not been made: one of each hypothesis, the best
        supported first, before the second of any."""
        state = self.context.state
        if not state.hypotheses or not self.context.follows(HYPOTHESIS_SEARCHES):
            return ()
        answered = (search.gap for search in state.searches if search.status in ANSWERED)
        made = {gap.removeprefix(TEST_GAP) for gap in answered if gap.startswith(TEST_GAP)}
        return suggested_searches(state.hypotheses, made)[:most]

    async def search(self, at_once: int | None = None, *, reflect: bool = True) -> None:
        """Execute the selected searches, all at the same time or `at_once` of them; when they bring little
        that is new, reflect on why."""
        state, loop = self.context.state, self.context.state.loop
        size = at_once or max(len(state.tasks), 1)
        message = f"{len(state.tasks)} searches, {min(size, len(state.tasks))} at once"
        self.events.set_phase("searching", message)
        state.memory.gaps = loop.gaps
        sources = ", ".join(dict.fromkeys(task.agent for task in state.tasks))
        self.events.emit_event("searching", message, searches=len(state.tasks), sources=sources)
        statuses, new, known = list[SearchStatus](), 0, {ref.evidence_id for ref in state.evidence}
        for first in range(0, len(state.tasks), size):
            if first and self._must_end():
                break
            ended, brought = await self.searches.execute(state.tasks[first : first + size])
            statuses, new = statuses + ended, new + brought
        loop.statuses, loop.new_evidence, loop.last = tuple(statuses), new, "search"
        loop.evidence = len(state.evidence)
        found = tuple(ref for ref in state.evidence if ref.evidence_id not in known)
        state.memory.add_found(found)
        loop.unjudged += new
        loop.stalled = 0 if new else loop.stalled + 1
        if reflect and self._brought_little(statuses, new):
            await self._reflect(found)

    def _brought_little(self, statuses: Sequence[SearchStatus], new: int) -> bool:
        """Whether searches that were answered brought fewer new items than there were searches. Failed
        searches are not counted: an outage is no reason to search for something else."""
        if not new and "empty" in statuses:
            return True
        answered = sum(status in ANSWERED for status in statuses)
        if new >= answered or self.context.state.loop.iteration >= self.context.state.loop.max_iterations:
            return False
        # runs that began before asked only when nothing at all was found; the step must not end a run
        return self.context.follows(REFLECT_ON_LITTLE) and self.models.refusal("reflector") is None

    def _must_end(self) -> bool:
        """Whether a reviewer asked to finish or the time is used up."""
        left = self.context.research_seconds()
        return self.context.state.control.finish or (left is not None and left <= 0)

    async def judge(self, *, observe_ahead: bool = True) -> None:
        """Judge the evidence. In a mode with observations another iteration usually follows the first
        verdict, so its observation is made at the same time."""
        items = len(self.context.state.evidence)
        self.events.set_phase("judging", f"judging {items} items")
        self.events.emit_event("judging", f"judging {items} items", items=items)
        self.context.state.loop.last = "judge"
        if observe_ahead and self._should_observe_ahead():
            await self._judge_and_observe_ahead()
        else:
            await self._judge()

    def _earlier(self, iteration: int) -> tuple[IterationRecord, ...]:
        """The latest iterations before one: also the one under way, where its successor is observed ahead."""
        before = (r for r in iterations_of(self.context.state) if r.iteration < iteration)
        return tuple(r for r in before if r.section == self.context.section_id)[-EARLIER_SHOWN:]

    def ranked_evidence(self) -> tuple[EvidenceRef, ...]:
        """The evidence, most promising first: what a judge found relevant, then the newest."""
        state = self.context.state
        rank = {name: place for place, name in enumerate(state.relevant)}
        relevant = sorted(
            (ref for ref in state.evidence if ref.evidence_id in rank), key=lambda r: rank[r.evidence_id]
        )
        others = [ref for ref in reversed(state.evidence) if ref.evidence_id not in rank]
        return (*relevant, *others)

    async def _prepare_added_sources(self) -> None:
        """Make the sources that a reviewer added available, as far as the worker has them."""
        state, added = self.context.state, self.context.state.control.added_sources
        for name in list(added):
            if self.context.request.sources and not self._source(name):
                # The worker was only asked for the user's own choice of sources.
                try:
                    more = await self.preparation.prepare(self.context.profile.name, [name])
                except ActivityError as error:
                    if is_cancelled_exception(error):
                        raise
                    added.remove(name)
                    reason = message_of(cause_of(error))
                    self.events.add_limitation("source_not_searchable", source=name, reason=reason)
                    continue
                new = tuple(s for s in more.sources if not self._source(s.info.name))
                prepared = self.context.prepared
                state.prepared = prepared.model_copy(update={"sources": (*prepared.sources, *new)})
            option = self._source(name)
            if option is None:
                added.remove(name)
                self.events.add_limitation("source_unknown", source=name)
            elif not option.enabled:
                self.events.add_limitation("source_not_available", source=name, reason=option.reason)

    def _source(self, name: str) -> SourceOption | None:
        """A source as the worker described it."""
        return next((s for s in self.context.prepared.sources if s.info.name == name), None)

    async def _reflect(self, found: Sequence[EvidenceRef]) -> None:
        """Ask whether searches served their gaps and what to search instead. Failed searches are left out: an
        outage is no reason to search for something else."""
        state, loop = self.context.state, self.context.state.loop
        step = ReflectInput(
            **self.context.step_inputs(),
            iteration=loop.iteration,
            gaps=loop.gaps,
            searches=rows(
                s for s in state.searches if s.iteration == loop.iteration and s.status in ANSWERED
            ),
            new_evidence=shown(found, OBSERVED_ITEMS),
        )
        reflection = await self.models.execute(
            "reflector", ThinkActivities.reflect, step, Reflection(served=False)
        )
        state.memory.reflection = reflection.reason
        self.events.emit_event(
            "reflected",
            reflection.reason or "the last searches were reviewed",
            served=reflection.served,
            searches=len(reflection.better_searches),
        )
        state.recommended = list(reflection.better_searches) or state.recommended

    def _should_observe_ahead(self) -> bool:
        """Whether another iteration will probably follow, and observing would cost a call to wait for."""
        loop, budget = self.context.state.loop, self.context.budget
        if loop.judged or loop.judge_failures or loop.iteration >= loop.max_iterations:
            return False
        both = self.models.allowance("judge").tokens + self.models.allowance("observer").tokens
        return self.models.is_paid("observer") and budget.refusal(both, 0) is None

    async def _judge_and_observe_ahead(self) -> None:
        """Both at once: neither needs the other's answer."""
        ahead = asyncio.create_task(self._observe_ahead())
        try:
            await self._judge()
        except (asyncio.CancelledError, ActivityError, OutOfBudget) as error:
            if is_cancelled_exception(error):
                ahead.cancel()
            await workflow.wait([ahead])
            raise
        await ahead

    async def _observe_ahead(self) -> None:
        """The observation of the next iteration. Without budget that iteration observes itself."""
        upcoming = self.context.state.loop.iteration + 1
        try:
            await self._observe(upcoming)
        except OutOfBudget:
            return
        self.context.state.observed_ahead = upcoming

    async def _judge(self) -> None:
        loop = self.context.state.loop
        step = JudgeInput(
            **self.context.step_inputs(),
            iteration=loop.iteration,
            evidence=shown(self.ranked_evidence(), JUDGED_ITEMS),
        )
        unjudged = loop.unjudged
        try:
            judged = await self.models.execute("judge", ThinkActivities.judge_evidence, step, None)
        except StepFailed as failed:
            loop.judge_failures = JUDGE_FAILURES if failed.category in PERMANENT else loop.judge_failures + 1
            if loop.judge_failures < JUDGE_FAILURES:
                await self._pause_before_judging(JUDGE_PAUSE * 2 ** (loop.judge_failures - 1))
            return
        loop.judged, loop.judge_failures = judged, 0
        loop.unjudged -= unjudged
        self._record_judgement(judged)

    async def _pause_before_judging(self, seconds: float) -> None:
        left = self.context.research_seconds()
        await self.models.pause_for(
            seconds if left is None else min(seconds, left), "before the judge is asked again"
        )

    def _record_judgement(self, judged: JudgeAssessment) -> None:
        """Keep what a judgement says beside its scores."""
        state = self.context.state
        state.memory.judged = judged
        state.memory.sufficient = sufficient(self.context.profile, judged)
        state.recommended = list(judged.recommended_searches)
        known = {ref.evidence_id for ref in state.evidence}
        relevant = [name for name in judged.relevant if name in known]
        state.relevant = list(dict.fromkeys([*relevant, *state.relevant]))[:RELEVANT_KEPT]
        state.screened = max(state.screened, judged.shown)
        scores = ", ".join(f"{name} {score}" for name, score in judged.scores.items())
        confidence = judged.reported_confidence
        claimed = f" (the model's {judged.confidence:.2f})" if judged.confidence > confidence else ""
        self.events.emit_event(
            "judge_complete",
            f"confidence {confidence:.2f}{claimed}; {scores}",
            confidence=confidence,
            scores=judged.scores,
            gaps=len(judged.gaps),
            sufficient=state.memory.sufficient,
            recommendation=judged.recommendation,
            candidates=len(judged.candidates_found),
        )
