"""The calls of roles as activities: thin, one a role, so that each is a row of its own in the Web UI."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from temporalio import activity

from activities.contracts.judge import Ordered, OrderInput
from activities.contracts.step import Role, StepAnswer, StepContext
from activities.heartbeat import reporting_errors, seconds_left
from activities.models.base import CURRENT, Progress
from activities.role_calls import ROLE_CALLS, RoleCall

if TYPE_CHECKING:  # workflows import this module, and no role
    from activities.roles.runner import RoleThinker


class ThinkActivities:
    """The activities of `ROLE_CALLS`, a method each, and the order of works."""

    def __init__(self, thinker: "RoleThinker") -> None:
        self._thinker = thinker

    async def think(self, role: Role, step: StepContext) -> StepAnswer[Any]:
        info = activity.info()
        scope = f"{info.workflow_id}/{step.lineage or info.workflow_run_id}/{info.activity_id}"
        progress = Progress(role, attempt=info.attempt)
        CURRENT.set(progress)
        async with reporting_errors(details=progress.details):
            step = step.replace(scope=scope, seconds=seconds_left(info))
            return await self._thinker.think(role, step)

    @activity.defn
    async def order_evidence(self, step: OrderInput) -> Ordered:
        """Which works to judge, the most promising first."""
        async with reporting_errors():
            return await self._thinker.order(step)


def _activity(call: RoleCall[Any, Any]) -> Callable[..., Any]:
    async def ask(self: ThinkActivities, step: StepContext) -> StepAnswer[Any]:
        return await self.think(call.role, step)

    ask.__annotations__ = {"step": call.takes, "return": call.answer}
    return activity.defn(name=call.activity)(ask)


for _call in ROLE_CALLS:
    setattr(ThinkActivities, _call.activity, _activity(_call))
