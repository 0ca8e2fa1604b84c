"""Screening in rounds: models are asked, people are waited for, and the rule for stopping decides.

A round ends when each of its records is settled, and its decisions are in the log.
"""

from functools import partial

from temporalio import workflow

from activities.review.state import Course
from activities.review.steps import PlanStep, SampleStep
from activities.review_activity import ReviewActivities
from workflows.review.pace import Pace
from workflows.review.reading import Reading
from workflows.steps import policy


class Screening:
    def __init__(self, pace: Pace, reading: Reading) -> None:
        self.pace = pace
        self.reading = reading

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
        await self.reading.ask_screeners("titles", lambda: state.sample)
        await self.pace.wait_at(
            "labels",
            f"a person labels {len(state.sample)} random records blind: "
            f"{self.pace.command('screen', '--by NAME')}",
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
                await self.reading.decide(
                    "titles",
                    partial(tuple, batch),
                    f"people decide on records: {self.pace.command('screen', '--by NAME')}, "
                    f"{self.pace.command('conflicts')}",
                )
            if not state.closed:
                await self._plan(state.course)
        if state.restate and not state.closed:
            await self._plan(state.course, restate=True)
        state.restate = False

    async def _plan(self, course: Course, *, restate: bool = False) -> None:
        state = self.pace.state
        self.pace.show("screening", "the order in which records are read is learnt from the decisions")
        people = [
            screener.kind == "person" and screener.name in state.labellers
            for screener in state.protocol.screeners
        ]
        planned = await workflow.execute_activity_method(
            ReviewActivities.plan_screening,
            PlanStep(
                run_id=self.pace.id,
                records=state.records,
                protocol=state.protocol_key,
                course=course,
                marks=state.titles,
                measured=(not people[0], not people[1]),
                read_all=state.protocol.stopping == "read_all",
                restate=restate,
            ),
            **policy.internal_step(f"round {course.number + 1}"),
        )
        state.course = planned.course
        if planned.order:
            state.orders.append(planned.order)
        await self.pace.keep()
