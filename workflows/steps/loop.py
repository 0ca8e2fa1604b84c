"""The loop of search and judgement that modes share: decide, execute, until the decision is to write.

Which steps an iteration has is up to the mode: it executes what was decided and returns what it has done, so
that a mode without a step goes past it.
"""

from collections.abc import Awaitable, Callable

from activities.contracts.evidence import StopReason
from workflows.context import RunPart
from workflows.rules.stopping import Happened, NextStep, decide_next
from workflows.steps.failures import OutOfBudget


class ResearchLoop(RunPart):
    """Decides what is next and begins iterations; the mode executes the steps."""

    async def repeat(
        self,
        execute: Callable[[NextStep], Awaitable[Happened]],
        decide: Callable[[Happened], NextStep] | None = None,
    ) -> StopReason:
        """Decide and execute steps until the decision is to write.

        Without `decide` it is `decide_next` that decides. `observe` is the first step of an iteration. A
        budget that is used up is a reason to stop, not an error.
        """
        happened: Happened = "start"
        while True:
            await self.gates.checkpoint()
            self.run.parent.adopt_offered_evidence()
            self.update()
            if decide:
                step = decide(happened)
            else:
                step = decide_next(happened, self.state.loop, self.context.profile)
            if decide is None and self._judges_the_rest(step):
                step = NextStep(step="judge", reason="nothing is left to search for; the rest is judged")
            if step.stop is not None:
                self.state.loop.memory.closed = self.context.budget.used
                self.events.emit("stopping", step.reason, stop_reason=step.stop)
                return step.stop
            if step.step == "observe":
                await self.begin_iteration()
            try:
                happened = await execute(step)
            except OutOfBudget as error:
                self.state.loop.refused = error.reason

    def _judges_the_rest(self, step: NextStep) -> bool:
        """Whether a loop that has nothing left to search for has evidence that no judge has seen.

        Imported, or offered by other sections.
        """
        loop = self.state.loop
        return step.stop in ("no_new_evidence", "searched_out") and loop.unjudged > 0 and loop.evidence > 0

    def update(self) -> None:
        """Update the loop's state from the run's."""
        state = self.state
        loop, control = state.loop, state.people
        loop.finish, loop.cancelled = control.finish, control.cancelled
        loop.out_of_time = self.context.is_out_of_time
        # a section's limit is its lease, which grows on request
        may_grow = state.sections.job is not None and not state.sections.exhausted
        loop.nearly_spent = None if may_grow else self.context.budget.nearly_spent()
        loop.evidence = len(state.evidence.refs)
        loop.unread_steering = control.steered - state.loop.steering_read

    async def begin_iteration(self) -> None:
        """Begin an iteration, and continue as new here when the history has grown long."""
        context, loop = self.context, self.state.loop
        if context.history_is_long() and loop.iteration > 0:
            await context.continue_as_new()
        await self.events.store_older_events()
        now = context.timestamp()
        context.state.loop.memory.begin(context.state.current_iteration(now), now, context.budget.used)
        loop.iteration += 1
        loop.tasks, loop.statuses, loop.new_evidence = 0, (), 0
        context.budget.iterations = loop.iteration
        self.events.emit(
            "looping",
            f"iteration {loop.iteration} of {loop.max_iterations}",
            iteration=loop.iteration,
            max_iterations=loop.max_iterations,
        )
