"""One rate gate per strictly limited API for the whole fleet, kept running by Temporal.

`RateGate` is a singleton by its workflow id. It runs one endless activity, `hold_gate`: the worker process
that gets it polls the API's task queue from then on, alone. When that process dies its heartbeat fails and
Temporal gives the activity to another one.

Invariants:
  - At most one `hold_gate` is scheduled at a time, and it is retried for ever: a retry adds nothing to the
    history.
  - Each return of the activity continues the workflow as new, so the history never grows.
  - The workflow knows no rate: the process that holds the gate limits it (`RateLimiter`).
"""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from activities.contracts.evidence import Frozen

HOLD_GATE = "hold_gate"
"""The activity's name; `worker.rate_gate_holder` implements it."""


class GateTerms(Frozen):
    """The queue that is held, and how soon a dead holder is noticed."""

    queue: str
    """The API's task queue."""
    heartbeat_seconds: float = 6.0


@workflow.defn(sandboxed=False)
class RateGate:
    @workflow.run
    async def run(self, terms: GateTerms) -> None:
        await workflow.execute_activity(
            HOLD_GATE,
            terms,
            # A holder gives the gate back long before; this bounds an attempt that hangs but sends
            # heartbeats.
            start_to_close_timeout=timedelta(days=2),
            heartbeat_timeout=timedelta(seconds=terms.heartbeat_seconds),
            retry_policy=RetryPolicy(
                initial_interval=timedelta(seconds=1), backoff_coefficient=1.0, maximum_attempts=0
            ),
            summary=f"one process polls {terms.queue}",
        )
        workflow.continue_as_new(terms)


def gate_id(queue: str) -> str:
    """Return the workflow id of a queue's gate: `determinator-ncbi` -> `determinator-gate-ncbi`."""
    return f"determinator-gate-{queue.removeprefix('determinator-')}"
