"""A query to a busy worker is asked again, and says what to do when nothing comes of it."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from client.failures import Exit, NoAnswer
from client.runs.query import query
from workflows.types import PlanView


@dataclass
class Busy:
    """A client whose worker answers after so many queries that took too long."""

    late: int
    asked: list[str] = field(default_factory=list)

    def get_workflow_handle(self, _: str) -> "Busy":
        return self

    async def query(self, name: str, *, args: list[Any], result_type: type, rpc_timeout: timedelta) -> Any:
        self.asked.append(name)
        if len(self.asked) <= self.late:
            raise RPCError("Timeout expired", RPCStatusCode.CANCELLED, b"")
        return result_type()


async def test_a_query_that_takes_too_long_is_asked_again() -> None:
    busy = Busy(late=2)
    assert await query(cast("Client", busy), "ask-1", "plan", PlanView) == PlanView()
    assert busy.asked == ["plan"] * 3


async def test_a_run_whose_worker_stays_busy_is_said_to_be_worth_another_try() -> None:
    with pytest.raises(NoAnswer, match="try again") as refused:
        await query(cast("Client", Busy(late=9)), "ask-1", "plan", PlanView)
    assert refused.value.code == Exit.NO_CONNECTION
