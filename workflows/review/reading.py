"""Models that read for a review, several calls at once, and screening in rounds.

Invariants:

* a model that is down, or gives no usable decision, leaves records open; it excludes nothing;
* each stage asks for what is missing and no more, whatever happened before;
* a round ends when each of its records is settled, and its decisions are in the log.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.contracts.evidence import EvidenceRef
from activities.messages import counted
from activities.review.decisions import OPEN, Decision, ScreenedStage
from activities.review.protocol import Screener
from activities.review.state import Course, ToolUse
from activities.review.steps import ReadDone, ReadStage, ReadStep
from activities.review_activity import ReviewActivities
from workflows.review.pace import Pace, shown
from workflows.steps import policy
from workflows.steps.policy import cause_of, first_detail, reason_of, retry_on_worker_loss

MAX_UNANSWERED = 3
"""Calls after which a record that a model does not decide on goes to a person."""
NO_ANSWER = "the model gave no usable decision on it"
NO_BUDGET = "the budget of its stage is used up"


class Reading:
    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._places = asyncio.Semaphore(pace.request.calls_at_once)
        self._away: dict[str, tuple[datetime, str]] = {}
        """Screener whose model asks for a pause -> its end, and why."""

    def models(self) -> Iterator[tuple[int, Screener]]:
        """Yield the screeners that are models, with their places."""
        for place, screener in enumerate(self.pace.state.protocol.screeners):
            if screener.kind == "model":
                yield place, screener

    def place_of(self, name: str) -> int:
        return [screener.name for screener in self.pace.state.protocol.screeners].index(name)

    def step(
        self,
        stage: ReadStage,
        reader: Screener,
        numbers: tuple[int, ...],
        text: EvidenceRef | None = None,
        **more: object,
    ) -> ReadStep:
        """Make a call of a model: on records, or on the full text of one."""
        state = self.pace.state
        made = ReadStep(
            run_id=self.pace.id,
            stage=stage,
            records="" if text else state.records,
            numbers=numbers,
            text=text,
            protocol=state.protocol_key,
            version=state.version,
            reader=reader.name,
            model=state.models[reader.name],
            at=self.pace.at(),
        )
        return made.replace(**more)

    async def read_all(
        self,
        stage: ReadStage,
        steps: Callable[[], Iterable[ReadStep]],
        take_in: Callable[[ReadStep, ReadDone], None],
    ) -> None:
        """Ask models until nothing is left to ask; one that is down is asked again."""
        state = self.pace.state

        async def ask(step: ReadStep) -> str:
            async with self._places:
                return await self._ask(step, take_in)

        while True:
            await self.pace.boundary()
            left = list(steps())
            if not left or state.closed:
                return
            works = counted(len({n for step in left for n in step.numbers}), "work")
            self.pace.show(stage.replace("_", " "), f"models read {works}")
            self._away.clear()
            failures = list(filter(None, await asyncio.gather(*map(ask, left))))
            await self.pace.keep()
            if NO_BUDGET in failures:
                await self.pace.wait_at(
                    "budget",
                    f"the budget of {stage} is used up: amend `budgets.{stage}`",
                    lambda: bool(state.touched),
                )
            elif failures:
                ends = [end for end, _ in self._away.values()]
                await self.pace.wait_for_model(
                    f"{failures[0]}; what it was to read stays open", min(ends, default=None)
                )

    async def ask_screeners(self, stage: ScreenedStage, numbers: Callable[[], Sequence[int]]) -> None:
        """Ask each model for the works that it has not decided on."""
        state = self.pace.state
        by_title = stage == "titles"
        size = self.pace.request.records_a_call if by_title else 1

        def steps() -> Iterator[ReadStep]:
            for place, reader in self.models():
                marks, letters = state.marks(stage), state.marks(stage).of_screener(place)
                left = [number for number in numbers() if letters[number] == marks.words[number] == OPEN]
                for start in range(0, len(left), size):
                    batch = tuple(left[start : start + size])
                    yield self.step(stage, reader, batch, None if by_title else state.studies.texts[batch[0]])

        await self.read_all(stage, steps, partial(self._take_verdicts, stage))

    async def decide(self, stage: ScreenedStage, numbers: Callable[[], Sequence[int]]) -> None:
        """Have models decide, and wait for people until each work is settled."""
        state = self.pace.state
        await self.ask_screeners(stage, numbers)
        if not state.are_settled(stage, numbers()):
            await self.pace.wait_at(
                "decisions",
                f"people decide on {'records' if stage == 'titles' else 'full texts'}",
                lambda: state.are_settled(stage, numbers()) or state.closed,
            )

    def _take_verdicts(self, stage: ScreenedStage, step: ReadStep, done: ReadDone) -> None:
        state, place = self.pace.state, self.place_of(step.reader)
        letters = dict(zip(step.numbers, done.letters, strict=True))
        for number in [number for number, letter in letters.items() if letter == OPEN]:
            key = f"{stage}/{place}/{number}"
            state.unanswered[key] = state.unanswered.get(key, 0) + 1
            if state.unanswered[key] >= MAX_UNANSWERED:
                letters[number] = "u"
                state.pending.append(
                    Decision(
                        record=number,
                        stage=stage,
                        by=step.reader,
                        verdict="unsure",
                        reason=NO_ANSWER,
                        at=self.pace.at(),
                        protocol=state.version,
                        model=done.model,
                    )
                )
        state.mark(stage, state.marks(stage).with_screener(place, letters))
        state.loose += filter(None, (done.key,))

    async def _ask(self, step: ReadStep, take_in: Callable[[ReadStep, ReadDone], None]) -> str:
        """Make one call; return why it failed, empty where it did not."""
        state = self.pace.state
        budget: float | None = getattr(state.protocol.budgets, step.stage)
        if budget is not None and state.spent.get(step.stage, 0) >= budget * 1e6:
            return NO_BUDGET
        if step.reader in self._away:
            return self._away[step.reader][1]
        about = ", ".join(map(str, step.numbers[:3])) + (" ..." if len(step.numbers) > 3 else "")
        try:
            done = await retry_on_worker_loss(
                lambda: workflow.execute_activity_method(
                    ReviewActivities.read_for_review,
                    step,
                    **policy.model_call(None, f"{step.stage}, {step.reader}: {about}"),
                )
            )
        except ActivityError as error:
            reason = f"the model of {step.reader} does not answer ({reason_of(error)})"
            pause = first_detail(cause_of(error)).get("retry_after")
            if isinstance(pause, float):
                end = workflow.now() + timedelta(seconds=pause)
                self._away[step.reader] = end, reason
                self.pace.show(self.pace.phase, f"{reason}; asked again at {shown(end)}")
            return reason
        if "screeners" not in state.touched:  # else who read may be no screener any more
            take_in(step, done)
        decisions = len(done.letters) - done.letters.count(OPEN) if done.letters else len(step.numbers)
        name = f"{step.stage}/{step.reader}/{done.model}/{done.prompt}"
        used = state.tools.get(name) or ToolUse(
            stage=step.stage, screener=step.reader, model=done.model, prompt=done.prompt
        )
        state.tools[name] = used.replace(
            calls=used.calls + 1, decisions=used.decisions + decisions, usage=used.usage + done.usage
        )
        state.spent[step.stage] = state.spent.get(step.stage, 0) + (done.usage.cost_microusd or 0)
        state.changes += 1
        return ""


class Screening:
    def __init__(self, pace: Pace, reading: Reading) -> None:
        self.pace = pace
        self.reading = reading

    async def calibrate(self) -> None:
        """Have a person label a random sample blind; models screen the same records."""
        state = self.pace.state
        if not state.sampled and state.total:
            state.sample = await workflow.execute_activity_method(
                ReviewActivities.draw_review_sample,
                self.pace.whole(),
                **policy.internal_step("the sample that a person labels"),
            )
            state.sampled = True
        if not state.sample:
            return
        await self.reading.ask_screeners("titles", lambda: state.sample)
        await self.pace.wait_at(
            "labels",
            f"a person labels {len(state.sample)} random records blind",
            lambda: state.closed or not state.labelling,
        )

    async def screen(self) -> None:
        """Read round by round, in the order learnt from all decisions, until the rule for stopping holds."""
        state = self.pace.state
        if not state.total:
            return
        course = state.course or Course(total=state.total)
        if course.phase == "done" and state.total > (first := course.first + course.total):
            course = Course(total=state.total - first, first=first, number=course.number)
        state.course = course
        while state.course.phase != "done" and not state.closed:
            if batch := state.course.batch:
                await self.reading.decide("titles", partial(tuple, batch))
            if not state.closed:
                await self._plan(state.course)
        if state.restate and not state.closed:
            await self._plan(state.course)
        state.restate = False

    async def _plan(self, course: Course) -> None:
        """Choose the next round, or state the recall of screening that has ended again."""
        state = self.pace.state
        self.pace.show("screening", "the order in which records are read is learnt from the decisions")
        planned = await workflow.execute_activity_method(
            ReviewActivities.plan_screening,
            self.pace.whole(),
            **policy.internal_step(f"round {course.number + 1}"),
        )
        state.course = planned.course
        if planned.order:
            state.orders.append(planned.order)
        await self.pace.keep()
