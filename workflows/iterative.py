"""IterativeResearch: observe, evaluate gaps, select tools, search, judge, until code says to write.

It runs on its own, and as the child of a deep run (`state.job` is set), where it brings findings home instead
of a report, and asks its parent for budget when its lease is used up.
"""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.role_activities import ThinkActivities
    from activities.roles.allowances import ALLOWANCES
    from activities.steps import (
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
    from activities.types import EvidenceRef, ReportPlan, ReportPlanSection, SourceOption, StopReason
    from workflows.types import Outcome, ResearchRequest

from workflows.conclude import Conclusion
from workflows.rules.payload_limits import rows, shown
from workflows.rules.stopping import JUDGE_FAILURES, NextStep, decide_next
from workflows.sections.child import SectionSide
from workflows.state import RunState
from workflows.steps.failures import OutOfBudget, StepFailed, cause_of, message_of
from workflows.steps.model import PERMANENT

SHOWN_TO_THINKERS = 30
"""References handed to the observer and the gap evaluator."""
JUDGED_AT_MOST = 120
"""References the judge ranks before it is shown thirty."""
ANSWERED = ("ok", "empty")
"""How a search ends that need not be made again."""
RELEVANT_KEPT = 120
"""Ids of helpful items that are remembered, best first."""
JUDGE_PAUSE = 15.0
"""Seconds before a judge that failed is asked again; doubled each time."""


@workflow.defn
class IterativeResearch(SectionSide, Conclusion):
    """One search-judge loop over one question."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.begin(request, state)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.see_through(self.answer)

    async def answer(self) -> StopReason:
        """Read the question, have it approved where that is asked for, and research it."""
        await self.get_ready()
        if not await self.plan_is_approved():
            return "rejected_by_reviewer"
        return await self.research()

    async def plan_is_approved(self) -> bool:
        """The plan of a single loop is its question; it is shown and asked about only when requested."""
        if self.state.plan is None:
            self.adopt_plan(
                ReportPlan(
                    report_title=self.working_question(),
                    background_context=self.state.job.background if self.state.job else "",
                    report_outline=(
                        ReportPlanSection(title="Findings", key_question=self.working_question()),
                    ),
                )
            )
        return await self.gate("plan", "the question waits for approval")

    def most_sections(self) -> int:
        return 1

    def working_question(self) -> str:
        """The question of this loop: the section's, the approved plan's, or the run's."""
        if self.state.job:
            return self.state.job.section.key_question
        if self.state.plan and self.state.plan.report_outline:
            return self.state.plan.report_outline[0].key_question
        return self.request.question

    async def research(self) -> StopReason:
        """The loop: decide, take the step, until the decision is to write."""
        while True:
            await self.checkpoint()
            step = self.decide()
            if step.stop is not None:
                self.tell("stopping", step.reason, stop_reason=step.stop)
                return step.stop
            if step.step == "observe":
                await self.begin_iteration()
            await self.take(step)

    def decide(self) -> NextStep:
        """Bring the loop's state up to date and decide."""
        loop, control = self.state.loop, self.state.control
        left = self.budget_ledger.research_seconds(self.now())
        loop.finish, loop.cancelled = control.finish, control.cancelled
        loop.out_of_time = left is not None and left <= 0
        loop.evidence = len(self.state.evidence)
        loop.unread_steering = control.steered - self.state.steering_read
        return decide_next(loop, self.profile)

    async def take(self, step: NextStep) -> None:
        """Take one step of the loop. Running out of budget is an answer, not an error."""
        try:
            match step.step:
                case "observe":
                    await self.observe()
                case "evaluate_gaps":
                    await self.evaluate_gaps()
                case "select_tools":
                    await self.select_tools()
                case "search":
                    await self.search_selected()
                case "judge":
                    await self.judge()
                case "write":
                    return
        except OutOfBudget as error:
            self.state.loop.refused = error.reason

    async def begin_iteration(self) -> None:
        """The boundary between two iterations: continue as new here when the history has grown long."""
        if self.history_is_long() and self.state.loop.iteration > 0:
            await self.go_on_as_new()
        loop = self.state.loop
        loop.last, loop.iteration = "start", loop.iteration + 1
        loop.tasks, loop.statuses, loop.new_evidence = 0, (), 0
        self.budget_ledger.iterations = loop.iteration
        self.tell("iteration", f"iteration {loop.iteration} of {loop.max_iterations}")
        self.report_to_parent()

    async def observe(self) -> None:
        """What is known; it may have been looked at while the judge was still at work."""
        self.enter("observing", "looking at what is known")
        if self.state.observed_ahead != self.state.loop.iteration:
            await self.look(self.state.loop.iteration)
        self.state.loop.last = "observe"

    async def look(self, iteration: int) -> None:
        judged = self.state.loop.judged
        step = ObserveInput(
            **self.context(),
            iteration=iteration,
            evidence=shown(self.promising(), SHOWN_TO_THINKERS),
            last_judgement=judged.reasoning if judged else "",
        )
        ask = self.think if step.evidence else self.conclude_from_input
        seen = await ask("observer", ThinkActivities.observe, step, Observation(text=""))
        self.state.observation = seen.text

    async def evaluate_gaps(self) -> None:
        self.enter("evaluating_gaps", "asking what is missing")
        loop, parsed, most = self.state.loop, self.state.parsed, self.request.limits.max_gaps
        judged = loop.judged.gaps if loop.judged else ()
        self.state.steering_read = self.state.control.steered
        step = GapsInput(
            **self.context(),
            iteration=loop.iteration,
            observation=self.state.observation,
            evidence=shown(self.promising(), SHOWN_TO_THINKERS),
            judged_gaps=judged,
            tried=rows(self.state.searches[-SHOWN_TO_THINKERS:]),
            research_questions=parsed.research_questions if parsed and not self.state.job else (),
            max_gaps=most,
        )
        ask = self.think if step.evidence else self.conclude_from_input
        wishes = tuple(reversed(self.state.control.steering))
        plain = KnowledgeGapOutput(outstanding_gaps=(*wishes, *(judged or (self.working_question(),))))
        answer = await ask("gap_evaluator", ThinkActivities.evaluate_gaps, step, plain)
        loop.gaps = answer.outstanding_gaps[:most]
        loop.last = "evaluate_gaps"
        for gap in loop.gaps:
            self.tell("gap", gap)

    async def select_tools(self) -> None:
        self.enter("selecting_tools", "choosing searches")
        await self.take_added_sources()
        loop, parsed = self.state.loop, self.state.parsed
        step = SelectInput(
            **self.context(),
            iteration=loop.iteration,
            gaps=loop.gaps,
            sources=self.sources(),
            tried=rows(self.state.searches[-2 * SHOWN_TO_THINKERS :]),
            key_entities=parsed.key_entities if parsed else (),
            recommended=tuple(self.state.recommended),
            per_gap=self.request.limits.searches_per_gap,
        )
        plan = await self.think("tool_selector", ThinkActivities.select_tools, step, AgentSelectionPlan())
        known = {source.info.name for source in step.sources}
        answered = {(s.source, s.asked) for s in self.state.searches if s.status in ANSWERED}
        tasks = [t for t in plan.tasks if t.agent in known and (t.agent, t.query) not in answered]
        most = self.request.limits.max_gaps * self.request.limits.searches_per_gap
        self.state.tasks = list({(t.agent, t.query): t for t in tasks}.values())[:most]
        loop.tasks, loop.last = len(self.state.tasks), "select_tools"

    async def take_added_sources(self) -> None:
        """Make the sources that a reviewer added available, as far as this worker has them."""
        added = self.state.control.added_sources
        for name in list(added):
            if self.request.sources and not self.offered(name):
                # the worker was asked for the user's own choice only
                try:
                    more = await self.prepare(self.profile.name, [name])
                except ActivityError as error:
                    if is_cancelled_exception(error):
                        raise
                    added.remove(name)
                    self.note(f"{name} was asked for but cannot be searched: {message_of(cause_of(error))}")
                    continue
                new = tuple(s for s in more.sources if not self.offered(s.info.name))
                self.state.prepared = self.prepared.model_copy(
                    update={"sources": (*self.prepared.sources, *new)}
                )
            option = self.offered(name)
            if option is None:
                added.remove(name)
                self.note(f"{name} was asked for, but there is no such source.")
            elif not option.enabled:
                self.note(f"{name} was asked for but is not available: {option.reason}")

    def offered(self, name: str) -> SourceOption | None:
        """A source as the worker described it."""
        return next((s for s in self.prepared.sources if s.info.name == name), None)

    async def search_selected(self) -> None:
        loop = self.state.loop
        self.enter("searching", f"{len(self.state.tasks)} searches at once")
        statuses, new = await self.search(self.state.tasks)
        loop.statuses, loop.new_evidence, loop.last = tuple(statuses), new, "search"
        loop.evidence = len(self.state.evidence)
        loop.unjudged += new
        loop.stalled = 0 if new else loop.stalled + 1
        if not new and "empty" in statuses:
            await self.reflect()

    async def reflect(self) -> None:
        """Searches that brought nothing new: ask why, and what to search instead. Those that failed are not
        shown: an outage is no reason to search for something else."""
        loop = self.state.loop
        step = ReflectInput(
            **self.context(),
            iteration=loop.iteration,
            gaps=loop.gaps,
            searches=rows(
                s for s in self.state.searches if s.iteration == loop.iteration and s.status in ANSWERED
            ),
            new_evidence=(),
        )
        reflection = await self.think("reflector", ThinkActivities.reflect, step, Reflection(served=False))
        self.state.recommended = list(reflection.better_searches) or self.state.recommended

    async def judge(self) -> None:
        """A verdict. The first one is seldom the last, so the next look is taken while it is made."""
        self.enter("judging", f"judging {len(self.state.evidence)} items")
        self.state.loop.last = "judge"
        if self.next_look_is_likely():
            await self.judge_and_look_ahead()
        else:
            await self.ask_judge()

    async def judge_and_look_ahead(self) -> None:
        """Both at once: neither needs the other's answer."""
        ahead = asyncio.create_task(self.look_ahead())
        try:
            await self.ask_judge()
        except (asyncio.CancelledError, ActivityError, OutOfBudget) as error:
            if is_cancelled_exception(error):
                ahead.cancel()
            await workflow.wait([ahead])
            raise
        await ahead

    def next_look_is_likely(self) -> bool:
        """Whether another iteration will probably follow, and a look at what is known costs a call to wait
        for."""
        loop, ledger = self.state.loop, self.budget_ledger
        if loop.judged or loop.judge_failures or loop.iteration >= loop.max_iterations:
            return False
        both = ALLOWANCES["judge"].tokens + ALLOWANCES["observer"].tokens
        return self.choice("observer").backend != "extractive" and ledger.refusal(both, 0) is None

    async def look_ahead(self) -> None:
        """What the next iteration would begin with. When it fails, that iteration looks itself."""
        coming = self.state.loop.iteration + 1
        try:
            await self.look(coming)
        except OutOfBudget:
            return
        self.state.observed_ahead = coming

    async def ask_judge(self) -> None:
        loop = self.state.loop
        step = JudgeInput(
            **self.context(), iteration=loop.iteration, evidence=shown(self.promising(), JUDGED_AT_MOST)
        )
        unjudged = loop.unjudged
        try:
            judged = await self.think("judge", ThinkActivities.judge_evidence, step, None)
        except StepFailed as failed:
            loop.judge_failures = JUDGE_FAILURES if failed.category in PERMANENT else loop.judge_failures + 1
            if loop.judge_failures < JUDGE_FAILURES:
                await self.rest_before_judging(JUDGE_PAUSE * 2 ** (loop.judge_failures - 1))
            return
        loop.judged, loop.judge_failures = judged, 0
        loop.unjudged -= unjudged
        self.take_verdict(judged)

    async def rest_before_judging(self, seconds: float) -> None:
        left = self.budget_ledger.research_seconds(self.now())
        await self.rest(seconds if left is None else min(seconds, left), "before the judge is asked again")

    def take_verdict(self, judged: JudgeAssessment) -> None:
        """What a judgement says beside its scores."""
        state = self.state
        state.recommended = list(judged.recommended_searches)
        known = {ref.evidence_id for ref in state.evidence}
        helpful = [name for name in judged.relevant if name in known]
        state.relevant = list(dict.fromkeys([*helpful, *state.relevant]))[:RELEVANT_KEPT]
        state.screened = max(state.screened, judged.shown)
        scores = ", ".join(f"{name} {score}" for name, score in judged.scores.items())
        self.tell("judged", f"confidence {judged.confidence:.2f}; {scores}")

    def promising(self) -> tuple[EvidenceRef, ...]:
        """References in the order of their promise: what a judge found helpful, then the newest."""
        rank = {name: place for place, name in enumerate(self.state.relevant)}
        helpful = sorted(
            (ref for ref in self.state.evidence if ref.evidence_id in rank), key=lambda r: rank[r.evidence_id]
        )
        others = [ref for ref in reversed(self.state.evidence) if ref.evidence_id not in rank]
        return (*helpful, *others)
