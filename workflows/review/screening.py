"""Screening in rounds: models are asked, people are waited for, and the rule for stopping decides.

Invariants:

* a model that is down, or gives no usable decision, leaves records open; it excludes nothing;
* a round ends when each of its records is settled, and its decisions are in the log.
"""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.review.course import Course, Round
from activities.review.decisions import OPEN, Decision
from activities.review.steps import PlanStep, SampleStep, Screened, ScreenStep, ToolUse
from activities.review_activity import ReviewActivities
from workflows.review.pace import Pace
from workflows.steps import policy
from workflows.steps.failures import reason_of, retry_on_worker_loss

MAX_UNANSWERED = 3
"""Calls after which a record that a model does not decide on goes to a person."""
NO_ANSWER = "the model gave no usable decision on it"
NO_BUDGET = "the budget of screening is used up"


class Screening:
    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._places = asyncio.Semaphore(pace.request.calls_at_once)

    async def calibrate(self) -> None:
        """Have a person label a random sample blind; models screen the same records."""
        state, wanted = self.pace.state, self.pace.state.protocol.calibration
        size = wanted.records if wanted.records is not None or state.protocol.models else 0
        if not state.sampled and state.total:
            drawn = await workflow.execute_activity_method(
                ReviewActivities.draw_review_sample,
                SampleStep(total=state.total, half_width=wanted.half_width, records=size, seed=self.pace.id),
                **policy.internal_step("the sample that a person labels"),
            )
            state.sample, state.sampled = [*drawn.numbers], True
        if not state.sample:
            return
        await self._ask_models(state.sample)
        count = len(state.sample)
        await self.pace.wait_at(
            "labels",
            f"a person labels {count} random records blind: {self.pace.command('screen', '--by NAME')}",
            lambda: state.closed or all(state.titles.labels[number] != OPEN for number in state.sample),
        )

    async def screen(self) -> None:
        """Round by round, in the order learnt from all decisions, until the rule for stopping holds."""
        state = self.pace.state
        if not state.total:
            return
        if state.round is None:
            state.round = Round(course=Course(total=state.total))
        elif (
            state.round.course.phase == "done" and state.total > state.round.first + state.round.course.total
        ):
            first = state.round.first + state.round.course.total
            state.round = Round(
                course=Course(total=state.total - first), first=first, number=state.round.number
            )
        while state.round.course.phase != "done" and not state.closed:
            if state.round.batch:
                await self._decide(state.round.batch)
            if not state.closed:
                await self._plan()
        if state.restate and not state.closed:
            await self._plan(restate=True)
        state.restate = False

    async def _plan(self, *, restate: bool = False) -> None:
        state = self.pace.state
        assert state.round is not None
        self.pace.show("screening", "the order in which records are read is learnt from the decisions")
        people = [one.kind == "person" and one.name in state.labellers for one in state.protocol.screeners]
        planned = await workflow.execute_activity_method(
            ReviewActivities.plan_screening,
            PlanStep(
                run_id=self.pace.id,
                records=state.records,
                protocol=state.protocol_key,
                round=state.round,
                marks=state.titles,
                measured=(not people[0], not people[1]),
                read_all=state.protocol.stopping == "read_all",
                restate=restate,
            ),
            **policy.internal_step(f"round {state.round.number + 1}"),
        )
        state.round = planned.round
        if planned.order:
            state.orders.append(planned.order)
        await self.pace.keep()

    async def _decide(self, batch: Sequence[int]) -> None:
        """Have models decide on a round, and wait for people."""
        state = self.pace.state

        def settled() -> bool:
            return all(state.titles.state(number) in ("included", "excluded") for number in batch)

        await self._ask_models(batch)
        if not settled():
            await self.pace.wait_at(
                "decisions",
                f"people decide on records: {self.pace.command('screen', '--by NAME')}, "
                f"{self.pace.command('conflicts')}",
                lambda: settled() or state.closed,
            )

    async def _ask_models(self, numbers: Sequence[int]) -> None:
        """Ask each model for the records that it has not decided on; one that is down is asked again."""
        state = self.pace.state
        while True:
            await self.pace.boundary()
            steps = [step for place in (0, 1) for step in self._calls(place, numbers)]
            if not steps or state.closed:
                return
            self.pace.show("screening", f"models screen {len(numbers)} records")
            failures = list(filter(None, await asyncio.gather(*map(self._ask_model, steps))))
            await self.pace.keep()
            if NO_BUDGET in failures:
                await self.pace.wait_at(
                    "budget", f"{NO_BUDGET}: amend `budgets.screening`", lambda: bool(state.touched)
                )
            elif failures:
                await self.pace.wait_at(
                    "model",
                    f"a model does not answer ({failures[0]}); its records stay open, and it is asked again",
                    lambda: self.pace.woken,
                    self.pace.request.retry_seconds,
                )

    def _calls(self, place: int, numbers: Sequence[int]) -> list[ScreenStep]:
        state, screener = self.pace.state, self.pace.state.protocol.screeners[place]
        if screener.kind == "person":
            return []
        own = state.titles.of_screener(place)
        left = [number for number in numbers if own[number] == OPEN]
        size = self.pace.request.records_a_call
        return [
            ScreenStep(
                run_id=self.pace.id,
                records=state.records,
                numbers=tuple(left[start : start + size]),
                protocol=state.protocol_key,
                version=state.version,
                screener=screener.name,
                model=state.models[screener.name],
                fallbacks=tuple(state.fallbacks),
                at=self.pace.at(),
            )
            for start in range(0, len(left), size)
        ]

    async def _ask_model(self, step: ScreenStep) -> str:
        """One call; why it failed, empty where it did not."""
        async with self._places:
            budget = self.pace.state.protocol.budgets.screening
            if budget is not None and self.pace.state.spent.get("screening", 0) >= budget * 1e6:
                return NO_BUDGET
            return await self._call(step)

    async def _call(self, step: ScreenStep) -> str:
        numbers = ", ".join(map(str, step.numbers[:3]))
        try:
            done = await retry_on_worker_loss(
                lambda: workflow.execute_activity_method(
                    ReviewActivities.screen_records,
                    step,
                    **policy.model_call(None, f"{step.screener}: records {numbers} ..."),
                )
            )
        except ActivityError as error:
            return reason_of(error)
        self._take_in(step, done)
        return ""

    def _take_in(self, step: ScreenStep, done: Screened) -> None:
        state = self.pace.state
        place = [one.name for one in state.protocol.screeners].index(step.screener)
        letters = {n: letter for n, letter in zip(step.numbers, done.letters, strict=True) if letter != OPEN}
        for number in set(step.numbers) - set(letters):
            key = f"{place}/{number}"
            state.unanswered[key] = state.unanswered.get(key, 0) + 1
            if state.unanswered[key] >= MAX_UNANSWERED:
                letters[number] = "u"
                state.pending.append(
                    Decision(
                        record=number,
                        by=step.screener,
                        verdict="unsure",
                        reason=NO_ANSWER,
                        at=self.pace.at(),
                        protocol=state.version,
                        model=done.model,
                    )
                )
        state.titles = state.titles.with_screener(place, letters)
        if done.log:
            state.loose.append(done.log)
        name = f"screening/{step.screener}/{done.model}/{done.prompt}"
        used = state.tools.get(name) or ToolUse(
            stage="screening", screener=step.screener, model=done.model, prompt=done.prompt
        )
        state.tools[name] = used.replace(
            calls=used.calls + 1, decisions=used.decisions + len(letters), usage=used.usage + done.usage
        )
        state.spent["screening"] = state.spent.get("screening", 0) + (done.usage.cost_microusd or 0)
        state.changes += 1
