"""End runs that stand still, so that whoever waits for one gets a report."""

import asyncio

from temporalio.client import Client
from temporalio.service import RPCError

from activities.logs import log
from client.runs.stuck import give_up, standstill

LOOK_SECONDS = 60.0
"""How often open runs are looked at."""
PATIENCE_SECONDS = 300.0
"""How long a step of a run may be tried: a worker that is replaced meanwhile may decide it."""
MAX_RUNS = 500
"""Open runs that are looked at, the newest."""


async def end_stuck_runs(
    client: Client, every: float = LOOK_SECONDS, patience: float = PATIENCE_SECONDS
) -> None:
    """Look at open runs again and again, and give up those whose next step could not be decided for so long.

    Ends by being cancelled only.
    """
    while True:
        await asyncio.sleep(every)
        try:
            query = "ExecutionStatus = 'Running' AND WorkflowType != 'RateGate'"
            async for execution in client.list_workflows(query, limit=MAX_RUNS):
                still = await standstill(client, execution.id)
                if still is not None and still.may_end and still.seconds > patience:
                    reported = await give_up(client, still)
                    log.warning("stuck_run_ended", run=still.run_id, reported=reported, reason=still.reason)
        except RPCError as error:
            log.warning("stuck_runs_not_checked", error=str(error))
