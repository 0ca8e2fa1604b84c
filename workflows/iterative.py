"""IterativeResearch: observe, evaluate gaps, select tools, search, judge, until code says to write.

It runs on its own, and as the child of a deep run (`state.job` is set), where it brings findings home instead
of a report, and asks its parent for budget when its lease is used up.
"""

from temporalio import workflow
from temporalio.exceptions import is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from asyncio import CancelledError

    from activities.steps import (
        GapsInput,
        JudgeInput,
        ObserveInput,
        ReflectInput,
        SelectInput,
    )
    from activities.think import ThinkActivities
    from activities.types import EvidenceRef, ReportPlan, ReportPlanSection, StopReason
    from workflows.conclude import Conclusion
    from workflows.conduct import PERMANENT, OutOfBudget, StepFailed
    from workflows.section import SectionSide
    from workflows.state import RunState
    from workflows.stopping import JUDGE_FAILURES, NextStep, decide_next
    from workflows.types import Outcome, ResearchRequest

SHOWN_TO_THINKERS = 30
"""References handed to the observer and the gap evaluator."""
JUDGED_AT_MOST = 120
"""References the judge ranks before it is shown thirty."""
JUDGE_PAUSE = 15.0
"""Seconds before a judge that failed is asked again; doubled each time."""


@workflow.defn
class IterativeResearch(SectionSide, Conclusion):
    """One search-judge loop over one question."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        # the SDK leaves plain JSON as it is when an optional argument is not sent
        self.request = ResearchRequest.model_validate(request)
        self.state = state or RunState()
        self.state.loop.max_iterations = self.budget_ledger.limits.max_iterations

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        if self.state.stop_reason is not None:
            return await self.conclude(self.state.stop_reason)
        try:
            await self.get_ready()
            stop = await self.research() if await self.plan_is_approved() else "rejected_by_reviewer"
        except (CancelledError, Exception) as error:
            if not is_cancelled_exception(error):
                raise
            stop = "cancelled"
        return await self.conclude(stop)

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
        loop.unread_steering = len(control.steering) - self.state.steering_read
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
        await self.report_to_parent()

    async def observe(self) -> None:
        self.enter("observing", "looking at what is known")
        judged = self.state.loop.judged
        step = ObserveInput(
            **self.context(),
            iteration=self.state.loop.iteration,
            evidence=self.promising(SHOWN_TO_THINKERS),
            last_judgement=judged.reasoning if judged else "",
        )
        observation = await self.think("observer", ThinkActivities.observe, step)
        self.state.observation = observation.text
        self.state.loop.last = "observe"

    async def evaluate_gaps(self) -> None:
        self.enter("evaluating_gaps", "asking what is missing")
        loop, parsed = self.state.loop, self.state.parsed
        self.state.steering_read = len(self.state.control.steering)
        step = GapsInput(
            **self.context(),
            iteration=loop.iteration,
            observation=self.state.observation,
            evidence=self.promising(SHOWN_TO_THINKERS),
            judged_gaps=loop.judged.gaps if loop.judged else (),
            tried=tuple(self.state.searches[-SHOWN_TO_THINKERS:]),
            research_questions=parsed.research_questions if parsed and not self.state.job else (),
            max_gaps=self.request.limits.max_gaps,
        )
        answer = await self.think("gap_evaluator", ThinkActivities.evaluate_gaps, step)
        loop.gaps = answer.outstanding_gaps[: self.request.limits.max_gaps]
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
            tried=tuple(self.state.searches[-2 * SHOWN_TO_THINKERS :]),
            key_entities=parsed.key_entities if parsed else (),
            recommended=tuple(self.state.recommended),
            per_gap=self.request.limits.searches_per_gap,
        )
        plan = await self.think("tool_selector", ThinkActivities.select_tools, step)
        known = {source.info.name for source in step.sources}
        answered = {(s.source, s.asked) for s in self.state.searches if s.status in ("ok", "empty")}
        tasks = [t for t in plan.tasks if t.agent in known and (t.agent, t.query) not in answered]
        most = self.request.limits.max_gaps * self.request.limits.searches_per_gap
        self.state.tasks = list({(t.agent, t.query): t for t in tasks}.values())[:most]
        loop.tasks, loop.last = len(self.state.tasks), "select_tools"

    async def take_added_sources(self) -> None:
        """Make a source that a reviewer added available, if this worker has it."""
        known = {s.info.name: s for s in self.prepared.sources}
        for name in self.state.control.added_sources:
            if name in known:
                if not known[name].enabled:
                    self.note(f"{name} was asked for but is not available: {known[name].reason}")
                continue
            self.state.control.added_sources.remove(name)
            self.note(f"{name} was asked for, but there is no such source.")
            return

    async def search_selected(self) -> None:
        loop = self.state.loop
        self.enter("searching", f"{len(self.state.tasks)} searches at once")
        statuses, new = await self.search(self.state.tasks)
        loop.statuses, loop.new_evidence, loop.last = tuple(statuses), new, "search"
        loop.evidence = len(self.state.evidence)
        loop.stalled = 0 if new else loop.stalled + 1
        if not new and "empty" in statuses:
            await self.reflect()

    async def reflect(self) -> None:
        """Searches that brought nothing new: ask why, and what to search instead."""
        loop = self.state.loop
        step = ReflectInput(
            **self.context(),
            iteration=loop.iteration,
            gaps=loop.gaps,
            searches=tuple(s for s in self.state.searches if s.iteration == loop.iteration),
            new_evidence=(),
        )
        reflection = await self.think("reflector", ThinkActivities.reflect, step)
        self.state.recommended = list(reflection.better_searches)

    async def judge(self) -> None:
        self.enter("judging", f"judging {len(self.state.evidence)} items")
        loop = self.state.loop
        loop.last = "judge"
        step = JudgeInput(**self.context(), iteration=loop.iteration, evidence=self.promising(JUDGED_AT_MOST))
        try:
            judged = await self.think("judge", ThinkActivities.judge_evidence, step)
        except StepFailed as failed:
            loop.judge_failures = JUDGE_FAILURES if failed.category in PERMANENT else loop.judge_failures + 1
            if loop.judge_failures < JUDGE_FAILURES:
                await workflow.sleep(
                    JUDGE_PAUSE * 2 ** (loop.judge_failures - 1), summary="before the judge is asked again"
                )
            return
        loop.judged, loop.judged_evidence, loop.judge_failures = judged, len(self.state.evidence), 0
        self.state.recommended = list(judged.recommended_searches)
        known = {ref.evidence_id for ref in self.state.evidence}
        self.state.relevant = list(
            dict.fromkeys([i for i in judged.relevant if i in known] + self.state.relevant)
        )
        self.state.screened = max(self.state.screened, judged.shown)
        scores = ", ".join(f"{name} {score}" for name, score in judged.scores.items())
        self.tell("judged", f"confidence {judged.confidence:.2f}; {scores}")

    def promising(self, most: int) -> tuple[EvidenceRef, ...]:
        """References in the order of their promise: what a judge found helpful, then the newest."""
        rank = {name: place for place, name in enumerate(self.state.relevant)}
        helpful = sorted(
            (ref for ref in self.state.evidence if ref.evidence_id in rank), key=lambda r: rank[r.evidence_id]
        )
        others = [ref for ref in reversed(self.state.evidence) if ref.evidence_id not in rank]
        return (*helpful, *others)[:most]
