"""The thinking steps as activities: thin, one a role, so that each is a row of its own in the Web UI.

The paragraphs of a draft are reported to its run while the model still writes it. Each report is a signal,
that is, an event of the run's history: at most `MAX_REPORTS` are sent an attempt, after one paragraph, then
after twice as many each time, and none of a draft that is written in less than `PAUSE_SECONDS`. A report
holds all paragraphs that are whole so far, so that one that is lost or sent twice changes nothing; what the
activity returns is the draft, whatever was reported before.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from temporalio import activity
from temporalio.service import RPCError

from activities.contracts.evidence import Frozen
from activities.contracts.judge import Ordered, OrderInput
from activities.contracts.step import Role, StepAnswer, StepContext
from activities.contracts.write import WriteInput
from activities.heartbeat import reporting_errors, seconds_left
from activities.logs import log
from activities.models.base import CURRENT, Progress
from activities.role_steps import ROLE_STEPS, RoleStep

if TYPE_CHECKING:  # workflows import this module, and no role
    from activities.roles.runner import RoleThinker

SIGNAL = "draft_progress"
MAX_REPORTS = 3
PAUSE_SECONDS = 2.0
"""Time before the first report and between two."""
REPORT_SECONDS = 5.0
"""Time-out of one signal."""
PARAGRAPH_CHARS = 3_000
"""Characters of one paragraph; the rest is cut. A claim has at most 600 characters."""


class DraftProgress(Frozen):
    """Signal `draft_progress`: the paragraphs of a draft that are whole so far, from the first on."""

    section_id: str
    attempt: int = 1
    """The attempt of the activity; a report of an earlier attempt than the last one seen is out of date."""
    paragraphs: tuple[str, ...] = ()


@asynccontextmanager
async def reporting_draft(section_id: str, run_id: str, shown: Progress) -> AsyncIterator[None]:
    """Report the draft that `shown` follows to the run `run_id` while the body runs."""
    task = asyncio.create_task(_report(section_id, run_id, shown))
    try:
        yield
    finally:
        task.cancel()
        (ended,) = await asyncio.gather(task, return_exceptions=True)
        if isinstance(ended, Exception):  # what was paid for must not be lost for a report
            log.warning("draft_not_reported", run_id=run_id, section=section_id, error=repr(ended))


async def _report(section_id: str, run_id: str, shown: Progress) -> None:
    """Report a paragraph; one that fails is left out, since the draft itself holds every paragraph."""
    wanted = 1
    for _ in range(MAX_REPORTS):
        paragraphs: tuple[str, ...] = ()
        while len(paragraphs) < wanted:
            await asyncio.sleep(PAUSE_SECONDS)
            # in a thread: checking what was written must not block the heartbeats
            paragraphs = await asyncio.to_thread(shown.paragraphs, wanted)
        wanted = 2 * len(paragraphs)
        report = DraftProgress(
            section_id=section_id,
            attempt=shown.attempt,
            paragraphs=tuple(text[:PARAGRAPH_CHARS] for text in paragraphs),
        )
        try:
            await (
                activity.client()
                .get_workflow_handle(run_id)
                .signal(SIGNAL, report, rpc_timeout=timedelta(seconds=REPORT_SECONDS))
            )
        except RPCError as error:
            log.info("draft_not_reported", run_id=run_id, section=section_id, error=error.message)


class ThinkActivities:
    """The activities of `ROLE_STEPS`, a method each, and the order of works."""

    def __init__(self, thinker: "RoleThinker") -> None:
        self._thinker = thinker

    async def think(self, role: Role, step: StepContext) -> StepAnswer[Any]:
        info = activity.info()
        scope = f"{info.workflow_id}/{step.lineage or info.workflow_run_id}/{info.activity_id}"
        shown = Progress(role, attempt=info.attempt)
        CURRENT.set(shown)
        async with reporting_errors(details=shown.details), _reporting(step, shown):
            step = step.replace(scope=scope, seconds=seconds_left(info))
            return await self._thinker.think(role, step)

    @activity.defn
    async def order_evidence(self, step: OrderInput) -> Ordered:
        """Which works to judge, the most promising first."""
        async with reporting_errors():
            return await self._thinker.order(step)


def _activity(kind: RoleStep[Any, Any]) -> Callable[..., Any]:
    async def ask(self: ThinkActivities, step: StepContext) -> StepAnswer[Any]:
        return await self.think(kind.role, step)

    ask.__annotations__ = {"step": kind.takes, "return": kind.answer}
    return activity.defn(name=kind.activity)(ask)


for _kind in ROLE_STEPS:
    setattr(ThinkActivities, _kind.activity, _activity(_kind))


def _reporting(step: StepContext, shown: Progress) -> AbstractAsyncContextManager[None]:
    """Report the paragraphs of a draft that is written for a run that follows it."""
    if isinstance(step, WriteInput) and step.report_to:
        return reporting_draft(step.section_id, step.report_to, shown)
    return nullcontext()
