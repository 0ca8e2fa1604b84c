"""Looking candidates up: all of them at the same time, within the time that research has left.

A candidate that cannot be looked up stays in the report, and its page says which sources did not answer.
A run that searches only what is on this machine looks nothing up; one for which sources were named uses no
other.
"""

import asyncio
from collections.abc import Collection, Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.candidates.fields import SOURCES, unanswered
    from activities.candidates.types import Candidate, CandidateLookUp, LookedUp
    from activities.look_up_candidate import CandidateActivities
    from activities.types import SourceOption

from workflows.context import RunContext
from workflows.events import EventLog
from workflows.steps import policy
from workflows.steps.failures import cause_of, message_of
from workflows.steps.search import SearchSteps


class LookUpSteps:
    """Looks up the candidates of a run."""

    def __init__(self, context: RunContext, events: EventLog, searches: SearchSteps) -> None:
        self.context = context
        self.events = events
        self.searches = searches

    async def look_up_candidates(self) -> None:
        """Look up every candidate that has not been, unless the run is limited to this machine."""
        state = self.context.state
        waiting = [c for c in state.candidates if not c.looked_up and not c.fields]
        sources = self._sources()
        if not waiting or not sources:
            return
        left = self.context.research_seconds()
        if self._must_finish() or (left is not None and left <= 0):
            self.events.add_limitation("candidates_not_looked_up", candidates=len(waiting))
            return
        self.events.set_phase("hypothesising", f"looking up {len(waiting)} candidates")
        self.events.emit_event("hypothesizing", f"looking up {len(waiting)} candidates", items=len(waiting))
        running = [asyncio.create_task(self._look_up(candidate, sources)) for candidate in waiting]
        try:
            await workflow.wait_condition(lambda: self._must_finish() or all(t.done() for t in running))
            for task in running:
                task.cancel()  # a reviewer who asked to finish does not wait for what is left
            await workflow.wait(running)
        except asyncio.CancelledError:
            for task in running:
                task.cancel()
            await workflow.wait(running)
            raise
        finally:
            done = [t.result() for t in running if t.done() and not t.cancelled() and not t.exception()]
            by_name = {candidate.name: candidate for candidate in done}
            state.candidates = [by_name.get(c.name, c) for c in state.candidates]
        for task in running:
            if not (self._must_finish() and _was_cancelled(task)):
                task.result()

    def _must_finish(self) -> bool:
        """Whether a reviewer asked to finish now."""
        return self.context.state.control.finish

    def _sources(self) -> tuple[str, ...]:
        prepared = self.context.state.prepared
        if prepared is None:
            return ()
        added = self.context.state.control.added_sources
        return permitted_sources(
            prepared.sources,
            self.searches.sources(),
            (*self.context.request.sources, *added) if self.context.request.sources else (),
            self.context.profile.look_up,
        )

    async def _look_up(self, candidate: Candidate, sources: tuple[str, ...]) -> Candidate:
        """The candidate with the key of its findings, or with what did not answer."""
        context = self.context
        try:
            answer: LookedUp = await workflow.execute_activity_method(
                CandidateActivities.look_up_candidate,
                CandidateLookUp(
                    run_id=context.run_id,
                    name=candidate.name,
                    generic_name=candidate.generic_name,
                    question=context.whole_question,
                    sources=sources,
                ),
                **policy.look_up(context.research_seconds(), policy.shorten(f"look up {candidate.name}")),
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            reason = message_of(cause_of(error))
            self.events.add_limitation("candidate_not_looked_up", name=candidate.name, reason=reason)
            return candidate.model_copy(update={"fields": unanswered(sources)})
        return candidate.model_copy(update={"looked_up": answer.blob})


def _was_cancelled(task: "asyncio.Task[Candidate]") -> bool:
    """Whether a look-up ended by being cancelled."""
    if task.cancelled():
        return True
    error = task.exception()
    return error is not None and is_cancelled_exception(error)


def permitted_sources(
    offered: Sequence[SourceOption],
    searched: Sequence[SourceOption],
    named: Collection[str],
    by_profile: Collection[str],
) -> tuple[str, ...]:
    """Names of the sources to ask, in the order of `SOURCES`.

    `offered`: what the worker has; `searched`: what the run searches; `named`: the sources that the request
    names, if any; `by_profile`: what the profile adds for candidates.
    """
    if all("local" in option.info.domains for option in searched):
        return ()
    allowed = {option.info.name for option in searched}
    if not named:
        allowed |= set(by_profile)
    enabled = {option.info.name for option in offered if option.enabled}
    return tuple(name for name in SOURCES if name in allowed and name in enabled)
