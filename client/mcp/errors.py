"""Errors of tools: one clear sentence for the caller, without secrets and without a stack."""

import functools
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from temporalio.client import WorkflowUpdateFailedError
from temporalio.service import RPCError

from activities.credentials import redacted
from activities.errors import DeterminatorError
from client.connection import BadConnectionSettings, NoConnection
from client.failures import Failure
from client.runs.errors import NoAnswer, NoSuchRun

P = ParamSpec("P")
T = TypeVar("T")

EXPECTED = (Failure, DeterminatorError, BadConnectionSettings, NoConnection, NoAnswer, NoSuchRun)
"""What goes wrong without a fault of ours; each has a message for people."""


def clearly(tool: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """A tool whose foreseen errors reach the caller as one line."""

    @functools.wraps(tool)
    async def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await tool(*args, **kwargs)
        except EXPECTED as error:
            raise ToolError(one_line(str(error))) from error
        except WorkflowUpdateFailedError as error:
            raise ToolError(one_line(f"the run refused: {error.cause}")) from error
        except RPCError as error:
            raise ToolError(one_line(f"the Temporal server: {error.message}")) from error

    return wrapped


def one_line(message: str) -> str:
    """A message without line breaks and without what is secret."""
    return redacted(" ".join(message.split()))
