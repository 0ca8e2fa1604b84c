"""The pace of a review: where it waits for people, what it keeps, and when it continues as new."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from temporalio import workflow

from activities.review.state import ReviewState
from activities.review.steps import KeepStep, StateStep
from activities.review_activity import ReviewActivities
from workflows.review.types import ReviewGate, ReviewRequest
from workflows.steps import policy

MAX_PENDING = 200
"""Decisions of people that wait to be kept in the log."""
MAX_HISTORY_BYTES = 3 * 2**20
RETRY = timedelta(minutes=10)
"""Time after which a model or a source that is down is asked again."""


def format_time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


class Restart(Exception):
    """The protocol, or what an earlier stage rests on, was changed: the story begins again."""


class Pace:
    """Holds the state of a review, and what its messages change beside it."""

    def __init__(self, request: ReviewRequest) -> None:
        self.request = request
        self.state = request.state or ReviewState(
            protocol=request.protocol, protocol_key=request.protocol_key, files=[*request.files]
        )
        self.gate: ReviewGate = ""
        self.phase = "starting"
        self._text: str | Callable[[], str] = ""
        self.until = ""
        """The time at which what waits goes on by itself."""
        self.is_stale = False
        """A message changed what an earlier stage rests on: the story begins again."""
        self.is_woken = False
        """Somebody asked, since what waits was last tried, to try it again."""

    def timestamp(self) -> str:
        return workflow.now().astimezone(UTC).isoformat(timespec="seconds")

    def state_step(self) -> StateStep:
        return StateStep(run_id=self.id, at=self.timestamp(), state=self.state)

    @property
    def id(self) -> str:
        return workflow.info().workflow_id

    @property
    def text(self) -> str:
        return self._text if isinstance(self._text, str) else self._text()

    def show(self, phase: str, text: str | Callable[[], str]) -> None:
        self.phase, self._text = phase, text
        workflow.set_current_details(f"**{phase}**: {self.text}")

    async def wait_at(
        self,
        gate: ReviewGate,
        text: str | Callable[[], str],
        ready: Callable[[], bool],
        until: datetime | None = None,
        *,
        on: str = "",
    ) -> None:
        """Wait at a gate until it is ready, or the time has come; keep decisions that come meanwhile.

        `text` that counts what is left is made each time it is shown. `on`: what it waits for, where the gate
        does not say it.
        """
        self.gate = gate
        self.until = format_time(until) if until else ""
        on = on or gate.replace("_", " ")
        self.show(f"waiting for {on}" if on else "waiting", text)
        try:
            while not ready():
                remaining = None if until is None else until - workflow.now()
                if remaining is not None and remaining <= timedelta():
                    return
                await self.boundary()
                try:
                    await workflow.wait_condition(lambda: ready() or self._needs_care(), timeout=remaining)
                except TimeoutError:
                    return
        finally:
            self.gate = self.until = ""

    async def wait_for_model(self, text: str, until: datetime | None = None, *, on: str = "") -> None:
        """Wait for a model, or the source `on`, that is down, until it is asked again."""
        until = until or workflow.now() + RETRY
        text = f"{text}; asked again at {format_time(until)}"
        await self.wait_at("model", text, lambda: self.is_woken or self.state.closed, until, on=on)

    def _needs_care(self) -> bool:
        state = self.state
        return (
            bool(state.touched)
            or self.is_stale
            or len(state.pending) >= MAX_PENDING
            or self._history_is_long()
            or state.paused
        )

    def _history_is_long(self) -> bool:
        info = workflow.info()
        return (
            info.is_continue_as_new_suggested()
            or info.get_current_history_length() > self.request.history_events
            or info.get_current_history_size() > MAX_HISTORY_BYTES
        )

    async def boundary(self) -> None:
        """Pause, amend, keep decisions, and continue as new where the history is long."""
        if self.state.paused:
            await workflow.wait_condition(lambda: not self.state.paused)
        if len(self.state.pending) >= MAX_PENDING:
            await self.keep()
        if self.state.touched or self.is_stale:
            raise Restart
        if self._history_is_long():
            await self.keep()
            await workflow.wait_condition(workflow.all_handlers_finished)
            workflow.continue_as_new(self.request.replace(state=self.state))

    async def keep(self) -> None:
        state = self.state
        if not state.pending and not state.loose:
            return
        decisions, blobs = tuple(state.pending), tuple(state.loose)
        key = await workflow.execute_activity_method(
            ReviewActivities.keep_decisions,
            KeepStep(run_id=self.id, decisions=decisions, blobs=blobs),
            **policy.internal_step("decisions to the log"),
        )
        state.log.append(key)
        del state.pending[: len(decisions)]
        del state.loose[: len(blobs)]
