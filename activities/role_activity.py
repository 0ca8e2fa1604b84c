"""The thinking steps as activities: thin, one a role, so that each is a row of its own in the Web UI."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from temporalio import activity

from activities.contracts.judge import Ordered, OrderInput
from activities.contracts.step import Role, StepAnswer, StepContext
from activities.contracts.write import WriteInput
from activities.draft_progress import reporting_draft
from activities.heartbeat import reporting_errors, seconds_left
from activities.models import progress
from activities.role_steps import ROLE_STEPS, RoleStep

if TYPE_CHECKING:  # workflows import this module, and no role
    from activities.roles.runner import RoleThinker


class ThinkActivities:
    """The activities of `ROLE_STEPS`, a method each, and the order of works."""

    def __init__(self, thinker: "RoleThinker") -> None:
        self._thinker = thinker

    async def think(self, role: Role, step: StepContext) -> StepAnswer[Any]:
        info = activity.info()
        scope = f"{info.workflow_id}/{step.lineage or info.workflow_run_id}/{info.activity_id}"
        shown = progress.Progress(role, attempt=info.attempt)
        progress.CURRENT.set(shown)
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


def _reporting(step: StepContext, shown: progress.Progress) -> AbstractAsyncContextManager[None]:
    """Report the paragraphs of a draft that is written for a run that follows it."""
    if isinstance(step, WriteInput) and step.report_to:
        return reporting_draft(step.section_id, step.report_to, shown)
    return nullcontext()
