"""A query that no worker answers in time says what to do."""

from datetime import timedelta
from typing import Any, cast

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from client.failures import Exit, NoAnswer
from client.runs.query import BUSY_SECONDS, query
from workflows.types import PlanView


class Busy:
    """A client whose worker does not answer in time."""

    def get_workflow_handle(self, _: str) -> "Busy":
        return self

    async def query(self, _: str, *, args: list[Any], result_type: type, rpc_timeout: timedelta) -> Any:
        assert rpc_timeout.total_seconds() == BUSY_SECONDS
        raise RPCError("Timeout expired", RPCStatusCode.CANCELLED, b"")


async def test_a_run_whose_worker_stays_busy_is_said_to_be_worth_another_try() -> None:
    with pytest.raises(NoAnswer, match="try again") as refused:
        await query(cast("Client", Busy()), "ask-1", "plan", PlanView)
    assert refused.value.code == Exit.NO_CONNECTION
