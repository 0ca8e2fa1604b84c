"""Starting a run.

Invariant: no run gets the id of another, so nothing that a run left (its report, versions, evidence) is ever
overwritten. Ids of the same question and settings form a chain; a new run gets the first free one.
"""

import getpass
import hashlib
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import version

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import (
    Priority,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError

from activities.contracts.evidence import Frozen
from activities.credentials import without_credentials
from activities.permits import Kind, request_key, sign
from activities.settings import Settings
from client.connection import register_attributes, run_attributes
from client.embedded.server import unwritable
from client.failures import NoConnection, OlderRun
from client.listing import Row, as_row, description
from workflows.modes import WORKFLOW_OF_MODE
from workflows.types import ResearchRequest

VARIABLE = "DETERMINATOR_USER"
"""Names the user that runs are started for, where that is not the account of this process."""
MAX_KEY_BYTES = 64
"""Bytes of a fairness key, by Temporal's API."""
SLUG_CHARS = 40
SUMMARY_CHARS = 160
NOT_OF_ID = {"length", "indexed", "history_events", "signatures", "open_limits"}
"""Fields of a request that do not make it another one."""


@dataclass(frozen=True, slots=True)
class Started:
    """The run that answers a request."""

    run_id: str
    attached: bool
    """The same question with the same settings was already being researched."""
    earlier: str = ""
    """Id of the latest earlier run of the same question and settings."""


def run_id_of(request: ResearchRequest, number: int = 1, *, private: bool = False) -> str:
    """`ask-<slug>-<hash>`: readable, and the same for the same question, settings and number.

    `number` counts the runs of the same question and settings, from 1. A `private` id has no words of the
    question: ids are not encrypted.
    """
    settings = request.model_dump_json(exclude=NOT_OF_ID)
    return readable_id("ask", "question" if private else request.question, settings, number)


def readable_id(kind: str, title: str, content: str, number: int) -> str:
    """Name what is started: `<kind>-<slug of the title>-<hash of content and number>`."""
    slug = ""
    for word in re.findall(r"[a-z0-9]+", title.lower()):
        if len(slug) + len(word) >= SLUG_CHARS:
            break
        slug = f"{slug}-{word}" if slug else word
    content += f"#{number}" if number > 1 else ""
    return f"{kind}-{slug or 'question'}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def signing_key(settings: Settings, *, embedded: bool) -> bytes:
    """Return the key of this home that requests are signed with. Raises WeakKey.

    Empty when the home cannot be written: only what the configuration of a server's workers allows can be
    named then. An `embedded` worker allows nothing without. Raises NoConnection.
    """
    try:
        return request_key(settings.home)
    except OSError as error:
        if embedded:
            raise NoConnection(unwritable(settings.home, error)) from error
        return b""


def with_signatures(request: ResearchRequest, run_id: str, key: bytes) -> ResearchRequest:
    """Return the request with signatures of the files it names; as it is without a key."""
    names: dict[Kind, str | None] = {"library": request.library, "profile_path": request.profile_path}
    signatures = {kind: sign(key, run_id, kind, name) for kind, name in names.items() if key and name}
    return request.replace(signatures=signatures)


async def start(
    client: Client,
    request: ResearchRequest,
    task_queue: str,
    *,
    has_report: Callable[[str], Awaitable[bool]] | None = None,
    indexed: bool = False,
    key: bytes = b"",
    user: str = "",
    address: str = "",
) -> Started:
    """Join a running run of the same request on this queue, else start one with an id of its own.

    `has_report` says whether a run that the server no longer knows has left a report under an id; `indexed`,
    that the search attributes are known to be registered; `key` signs what the request names (see
    `activities.permits`); `user` is whom the run is for, by default that of this process; `address` that of
    the model server that it is asked with, which questions about its report are sent to. A run of another
    user is joined only where no user is named. Raises OlderRun, RPCError.
    """
    number, earlier = 1, ""
    private = client.data_converter.payload_codec is not None
    while True:
        run_id = run_id_of(request, number, private=private)
        state = await description(client, run_id)
        if state is None and not (has_report and await has_report(run_id)):
            request = request.replace(indexed=indexed or request.indexed or await register_attributes(client))
            try:
                await launch(
                    client,
                    WORKFLOW_OF_MODE[request.mode],
                    with_signatures(request, run_id, key),
                    run_id,
                    task_queue,
                    request.question,
                    request.mode,
                    user or user_name(),
                    run_attributes("" if private else request.question, request.mode, request.profile)
                    if request.indexed
                    else None,
                    address,
                )
            except WorkflowAlreadyStartedError:  # by another command, a moment ago
                continue
            return Started(run_id, attached=False, earlier=earlier)
        if state is not None and (
            state.status == WorkflowExecutionStatus.RUNNING
            and state.task_queue == task_queue
            and (not user or (await as_row(state)).user == user)
        ):
            refuse_older(await as_row(state))
            return Started(run_id, attached=True)
        number, earlier = number + 1, run_id


def release_line() -> str:
    """`0.2`: a run that began on a version of one line ends on a version of it."""
    return ".".join(version("determinator").split(".")[:2])


def refuse_older(row: Row, *, with_ended: bool = False) -> None:
    """Raise OlderRun for a run that began on another line of versions and is open.

    `with_ended`: also for one that has ended, whose history a worker of this line cannot read (its report it
    can).
    """
    if (with_ended or row.status == "running") and row.line not in ("", release_line()):
        raise OlderRun(row.run_id, row.line)


async def launch(
    client: Client,
    workflow: str,
    request: Frozen,
    run_id: str,
    task_queue: str,
    question: str,
    mode: str,
    user: str,
    attributes: TypedSearchAttributes | None = None,
    address: str = "",
) -> None:
    """Start a workflow under an id of its own. Raises WorkflowAlreadyStartedError, RPCError."""
    await client.start_workflow(
        workflow,
        request,
        id=run_id,
        task_queue=task_queue,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        memo={
            "question": question[:1000],
            "mode": mode,
            "user": user,
            "line": release_line(),
            **({"address": address} if address else {}),
        },
        search_attributes=attributes,
        static_summary=question[:SUMMARY_CHARS],
        priority=fairness(user),
    )


def plain_url(address: str) -> str:
    """Return an address that holds no password; empty for one that does."""
    return address if without_credentials(address) == address else ""


def user_name() -> str:
    """Return the user that this process starts runs for; empty where the system knows none."""
    try:
        return os.environ.get(VARIABLE) or getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container's user may have no entry in the password file
        return ""


def fairness(user: str) -> Priority:
    """Return the priority of a run started for a user: the same as everybody's, with a share of its own.

    Its sections and steps inherit the key, and the server hands out the waiting steps of users in turn: one
    who starts a thousand runs delays another one's by one of them. A server of one's own needs the dynamic
    configuration `matching.enableFairness: true` (Temporal 1.29 and later), a namespace of Temporal Cloud its
    setting for fairness; others ignore the key.
    """
    key = user.encode()
    if len(key) > MAX_KEY_BYTES:
        return Priority(fairness_key=hashlib.sha256(key).hexdigest())
    return Priority(fairness_key=user) if user else Priority.default
