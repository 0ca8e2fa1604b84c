"""The stages of a review, of titles, full texts, data and risk of bias: models read, and people settle.

Each stage is the same: readers are asked for the units that they have not read, several calls at once, and
people decide what that leaves open, until every unit is settled. What differs is what a unit is and when it
is settled (`ReviewState`), and what is kept of an answer. Screening of titles does it in rounds.

Invariants:

* a model that is down, or gives no usable decision, leaves records open; it excludes nothing;
* each stage asks for what is missing and no more, whatever happened before;
* a round ends when each of its records is settled, and its decisions are in the log.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.messages import count_of
from activities.review.decisions import OPEN, Decision, ScreenedStage, Stage
from activities.review.state import Course, Data, ToolUse, Unit, study_key
from activities.review.steps import ReadResult, ReadStep
from activities.review_activity import ReviewActivities
from workflows.review.pace import Pace, format_time
from workflows.review.searching import RECORDS_A_CALL
from workflows.review.types import ReviewGate
from workflows.steps import policy
from workflows.steps.policy import cause_of, first_detail, reason_of, retry_on_worker_loss

CALLS_AT_ONCE = 8
MAX_UNANSWERED = 3
"""Calls after which a record that a model does not decide on goes to a person."""
NO_ANSWER = "the model gave no usable decision on it"
RETRACTED = "the work was retracted, and no model reads it"
NO_BUDGET = "the budget of its stage is used up"
GATES: Mapping[Stage, ReviewGate] = {
    "titles": "decisions",
    "full_texts": "decisions",
    "extraction": "extraction",
    "bias": "bias",
}
"""Stage -> the gate at which people decide what is not settled."""


class Reading:
    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._places = asyncio.Semaphore(CALLS_AT_ONCE)
        self._away: dict[str, tuple[datetime, str]] = {}
        """Screener whose model asks for a pause -> its end, and why."""

    def place_of(self, name: str) -> int:
        return [screener.name for screener in self.pace.state.protocol.screeners].index(name)

    async def settle(self, stage: Stage) -> None:
        """Have models read what they have not, and wait for people until each unit of a stage is settled."""
        state = self.pace.state
        await self.read(stage, lambda: state.units(stage))
        while not state.closed:
            await self._compare()
            if not self._open_work(stage):
                return
            await self.pace.wait_at(
                GATES[stage],
                lambda: self._open_work(stage),
                lambda: state.closed or state.studies.unsettled or not self._open_work(stage),
            )

    def _open_work(self, stage: Stage) -> str:
        """Say what people have to decide at a stage; empty for nothing."""
        state = self.pace.state
        units = state.undecided_units(stage, state.units(stage))
        if not units:
            return ""
        if stage == "titles" or stage == "full_texts":
            conflicts = sum(state.marks(stage).state(number) == "conflict" for number, _ in units)
            works = stage.replace("_", " ")
            for_screeners = f"screeners decide on {works}: {len(units) - conflicts}"
            for_others = f"another person decides on conflicts of {works}: {conflicts}"
            if not conflicts:
                return for_screeners
            return for_others if conflicts == len(units) else f"{for_screeners}; {for_others}"
        if stage == "bias":
            return f"a person assesses the risk of bias of {count_of(len(units), 'result')}"
        study_count = sum(None in state.studies.of(number) for number, _ in units)
        field_count = sum(len(state.studies.pending.get(number, ())) for number, _ in units)
        if study_count:
            return f"people extract the data of {count_of(study_count, 'study', 'studies')}"
        return f"extractors differ on {count_of(field_count, 'field')}"

    async def _compare(self) -> None:
        """Compare the extractions of each study, and apply what people decided on fields."""
        state, studies = self.pace.state, self.pace.state.studies
        while studies.unsettled:
            await self.pace.boundary()
            studies.unsettled = False
            fields = await workflow.execute_activity_method(
                ReviewActivities.settle_fields,
                self.pace.state_step(),
                **policy.internal_step("compare the extractions"),
            )
            studies.pending, studies.silent = {**fields.pending}, fields.silent
            state.changes += 1

    async def read(self, stage: Stage, units: Callable[[], Sequence[Unit]]) -> None:
        """Ask each model for what it has not read until nothing is left; one that is down is asked again."""
        state = self.pace.state
        while True:
            await self.pace.boundary()
            steps = list(self._steps(stage, units()))
            if not steps or state.closed:
                return
            works = count_of(len({n for step in steps for n in step.numbers}), "work")
            self.pace.show(stage.replace("_", " "), f"models read {works}")
            self._away.clear()
            self.pace.is_woken = False
            failures = list(filter(None, await asyncio.gather(*map(self._ask, steps))))
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

    def _steps(self, stage: Stage, units: Sequence[Unit]) -> Iterator[ReadStep]:
        """Yield the calls of models that are left: several titles, or one full text, in each."""
        state, studies = self.pace.state, self.pace.state.studies
        size = RECORDS_A_CALL if stage == "titles" else 1
        models = state.protocol.models
        for reader in models[:1] if stage == "bias" else models:
            place = self.place_of(reader.name)
            unread = state.unread_units(stage, place, units)
            for start in range(0, len(unread), size):
                numbers = tuple(number for number, _ in unread[start : start + size])
                data = studies.of(numbers[0])[place] if stage == "extraction" else None
                yield ReadStep(
                    run_id=self.pace.id,
                    stage=stage,
                    records=state.records if stage == "titles" else "",
                    numbers=numbers,
                    text=studies.texts[numbers[0]] if stage != "titles" else None,
                    protocol=state.protocol_key,
                    version=state.version,
                    reader=reader.name,
                    outcome=unread[start][1],
                    fields=studies.outdated_fields(data) if data else (),
                    earlier=data.key if data else "",
                    model=state.models[reader.name],
                    at=self.pace.timestamp(),
                )

    def _take_in(self, step: ReadStep, answer: ReadResult) -> None:
        state, place, number = self.pace.state, self.place_of(step.reader), step.numbers[0]
        if step.stage == "bias":
            state.studies.proposed[study_key(number, step.outcome)] = answer.key
        elif step.stage == "extraction":
            self.keep_data(place, number, answer.key, step.version)
        else:
            self._take_verdicts(step.stage, place, step, answer)

    def keep_data(self, place: int, record: int, key: str, version: int = 0) -> None:
        """Keep the data of a study as one extractor read them, by default by the protocol in force."""
        studies = self.pace.state.studies
        first, second = studies.of(record)
        data = Data(key=key, version=version or self.pace.state.version)
        studies.extracted[record] = (first, data) if place else (data, second)
        studies.unsettled = True

    def _take_verdicts(self, stage: ScreenedStage, place: int, step: ReadStep, answer: ReadResult) -> None:
        state = self.pace.state
        letters = dict(zip(step.numbers, answer.letters, strict=True))
        for number in [number for number, letter in letters.items() if letter == OPEN]:
            key = f"{stage}/{place}/{number}"
            state.unanswered[key] = state.unanswered.get(key, 0) + 1
            is_retracted = step.text is not None and step.text.standing == "retracted"
            if is_retracted or state.unanswered[key] >= MAX_UNANSWERED:
                letters[number] = "u"
                state.pending.append(
                    Decision(
                        record=number,
                        stage=stage,
                        by=step.reader,
                        verdict="unsure",
                        reason=RETRACTED if is_retracted else NO_ANSWER,
                        at=self.pace.timestamp(),
                        protocol=state.version,
                        model=step.model.model,
                    )
                )
        state.mark(stage, state.marks(stage).put("screener", letters, place))
        state.loose += filter(None, (answer.key,))

    async def _ask(self, step: ReadStep) -> str:
        """Make one call when its turn comes; return why it failed, empty where it did not."""
        async with self._places:
            return await self._call(step)

    async def _call(self, step: ReadStep) -> str:
        state = self.pace.state
        budget: float | None = getattr(state.protocol.budgets, step.stage)
        if budget is not None and state.spent.get(step.stage, 0) >= budget * 1e6:
            return NO_BUDGET
        if step.reader in self._away:
            return self._away[step.reader][1]
        about = ", ".join(map(str, step.numbers[:3])) + (" ..." if len(step.numbers) > 3 else "")
        try:
            answer = await retry_on_worker_loss(
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
                self.pace.show(self.pace.phase, f"{reason}; asked again at {format_time(end)}")
            return reason
        is_replaced = step.text is not None and step.text != state.studies.texts.get(step.numbers[0])
        # who read may be no screener any more, and what was read no text of the review
        if "screeners" not in state.touched and not is_replaced:
            self._take_in(step, answer)
        state.changes += 1
        if not answer.prompt:  # no model was asked: what there is was retracted
            return ""
        decisions = len(answer.letters) - answer.letters.count(OPEN) if answer.letters else len(step.numbers)
        name = f"{step.stage}/{step.reader}/{answer.model}/{answer.prompt}"
        tool = state.tools.get(name) or ToolUse(
            stage=step.stage, screener=step.reader, model=answer.model, prompt=answer.prompt
        )
        state.tools[name] = tool.replace(
            calls=tool.calls + 1, decisions=tool.decisions + decisions, usage=tool.usage + answer.usage
        )
        state.spent[step.stage] = state.spent.get(step.stage, 0) + (answer.usage.cost_microusd or 0)
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
                self.pace.state_step(),
                **policy.internal_step("the sample that a person labels"),
            )
            state.sampled = True
        if not state.sample:
            return
        await self.reading.read("titles", lambda: [(number, "") for number in state.sample])
        await self.pace.wait_at(
            "labels",
            f"a person labels {len(state.sample)} random records blind",
            lambda: state.closed or not state.is_labelling,
        )

    async def screen(self) -> None:
        """Read round by round, in the order learnt from all decisions, until the rule for stopping holds."""
        state = self.pace.state
        if not state.total:
            return
        course = state.course or Course(total=state.total)
        if course.phase == "done" and state.total > (first := course.first + course.total):
            course = Course(total=state.total - first, first=first, number=course.number, before=course)
        state.course = course
        while state.course.phase != "done" and not state.closed:
            if state.course.batch:
                await self.reading.settle("titles")
            if not state.closed:
                await self._plan(state.course)
        if state.restate and not state.closed:
            await self._plan(state.course)
        state.restate = False

    async def _plan(self, course: Course) -> None:
        """Choose the next round, or state the recall of screening that has ended again."""
        state = self.pace.state
        self.pace.show("screening", "the order in which records are read is learnt from the decisions")
        plan = await workflow.execute_activity_method(
            ReviewActivities.plan_screening,
            self.pace.state_step(),
            **policy.internal_step(f"round {course.number + 1}"),
        )
        state.course = plan.course
        state.titles = state.titles.with_confirmations(plan.course.drawn)
        if plan.order:
            state.orders.append(plan.order)
        await self.pace.keep()
