"""The worker of a home: which settings it has, and when it is replaced.

Invariants:
- A home has one worker of a fixed number of processes, which decides what comes next in every run.
- A command that brings other settings (a key, an address) has it replaced by one with these, gracefully, and
  says so. Runs under way go on where they were, those whose settings the new one lacks when these are back.
- A step of a run is executed by a worker with the settings of the run alone (`activities.lanes`).
"""

import asyncio
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from temporalio.client import Client, WorkflowExecutionStatus

from activities.lanes import Lane, lane_of
from activities.messages import plural
from activities.processes import python
from activities.settings import Settings
from client.connection import Say, short_path
from client.embedded.home import (
    Places,
    ServerNote,
    WorkerNote,
    fingerprint,
    lane_of_settings,
    worker_environment,
)
from client.embedded.network import user_of
from client.failures import NoConnection

ANSWER_SECONDS = 20.0
"""Time that the supervisor may need to answer; it takes milliseconds unless the machine is busy."""


class NoSupervisor(Exception):
    """Nobody answers at the private socket of the home."""


class ProcessesEnded(NoConnection):
    """The processes of the home have ended since they were found."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The processes of a home, as their supervisor knows them."""

    server: ServerNote
    worker: WorkerNote | None
    """The worker that is to run; None when there is none."""


async def ask(places: Places, command: Mapping[str, object]) -> Answer:
    """Return what runs, after what is asked for was done (`Supervisor._control`). Raises NoSupervisor."""
    return await asyncio.to_thread(_ask, places, command)


async def state_of(places: Places) -> Answer:
    """Return what runs. Raises NoSupervisor."""
    return await ask(places, {"do": "state"})


def _ask(places: Places, command: Mapping[str, object]) -> Answer:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.settimeout(ANSWER_SECONDS)
            connection.connect(short_path(places.socket))
            if user_of(connection) != os.geteuid():
                raise NoSupervisor(f"another user serves {places.socket}")
            body = json.dumps(command).encode()
            connection.sendall(b"CONTROL %d\r\n\r\n" % len(body) + body)
            with connection.makefile("rb") as answers:
                reply = json.loads(answers.readline())
            worker = WorkerNote.model_validate(reply["worker"]) if reply["worker"] else None
            return Answer(ServerNote.model_validate(reply["server"]), worker)
        except (OSError, ValueError, LookupError) as error:
            raise NoSupervisor(str(error)) from error


IDLE_SECONDS = 1800.0
"""Time for which server and worker are kept when there is nothing to do: no open run and no schedule."""
MAX_PROCESSES = 4
"""Processes of the worker; each takes 250 MB."""
FEW_RUNS = 20
"""Runs of the list of open ones that are looked at one by one."""


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    """The worker that a command's settings ask for."""

    settings: Settings
    fingerprint: str
    lane: Lane

    @classmethod
    def by(cls, settings: Settings, places: Places) -> "WorkerRequest":
        """Raise OSError."""
        lane = lane_of_settings(settings, places)
        lane.keep_in(places.lanes)
        return cls(settings, fingerprint(settings, places), lane)

    @property
    def queue(self) -> str:
        """The queue of its runs."""
        return self.lane.queue(self.settings.task_queue)

    async def ask(self, places: Places, *, force: bool = False) -> Answer:
        """Have this worker, in place of one with other settings; with `force`, in place of any.

        Raises NoConnection.
        """
        command = {
            "do": "worker",
            "note": WorkerNote(fingerprint=self.fingerprint, lane=self.lane).model_dump(),
            "command": [
                *python("worker.daemon"),
                *("--idle-seconds", str(IDLE_SECONDS), "--lanes", str(places.lanes), "--lane", self.lane.id),
            ],
            "processes": processes_of(self.settings),
            "environment": worker_environment(self.settings),
            "force": force,
        }
        try:
            return await ask(places, command)
        except NoSupervisor as error:
            raise ProcessesEnded(f"the processes of {places.home} have just ended; try again") from error


def processes_of(settings: Settings) -> int:
    """Return the number of processes of the worker: as set, else one for each processor."""
    return min(settings.workers or os.cpu_count() or 1, MAX_PROCESSES)


async def tell_replaced(
    client: Client, places: Places, request: WorkerRequest, say: Say, *, former_note: WorkerNote | None
) -> None:
    """Say that a worker with other settings was replaced, and which runs wait for those. Raises RPCError."""
    if former_note is not None and former_note.fingerprint == request.fingerprint:
        return
    lines = [] if former_note is None else ["restarting the background worker: your settings have changed"]
    for lane in [lane for file in places.lanes.glob("*.json") if (lane := lane_of(places.lanes, file.stem))]:
        if (needs := request.lane.lacks(lane)) and (
            runs := await open_runs(client, lane.queue(request.settings.task_queue))
        ):
            lines.append(waiting_line(runs, needs))
    if lines:
        say("; ".join(lines))


def waiting_line(runs: list[str], needs: list[str]) -> str:
    subject = "1 run waits" if len(runs) == 1 else f"{len(runs)} runs wait"
    names = runs[0] if len(runs) == 1 else f"{runs[0]} and {plural(len(runs) - 1, 'other')}"
    return f"{subject} for a worker with {', '.join(needs)}, as at the start ({names})"


async def needs_worker(client: Client, queue: str) -> bool:
    """Tell whether an open run of a queue has a step to execute: not one that waits for a person.

    Raises RPCError.
    """
    runs = await open_runs(client, queue)
    return len(runs) > FEW_RUNS or any([await has_steps(client, run_id) for run_id in runs])


async def has_steps(client: Client, run_id: str) -> bool:
    """Tell whether a run, or a section of it, has a step to execute or decides on the next one.

    One that has failed to decide waits for nothing that a worker has. Raises RPCError.
    """
    from client.listing import description

    if (state := await description(client, run_id)) is None:
        return False
    details = state.raw_description
    if details.pending_activities or details.pending_workflow_task.attempt == 1:
        return True
    return any([await has_steps(client, child.workflow_id) for child in details.pending_children])


async def open_runs(client: Client, queue: str) -> list[str]:
    """Return the ids of open runs, refreshes and reviews of a queue. Raises RPCError."""
    from client.listing import RESEARCH, description

    kinds = f"{RESEARCH} OR WorkflowType IN ('RefreshReport', 'SystematicReview')"
    query = f"({kinds}) AND ExecutionStatus = 'Running'"
    run_ids = [
        run.id
        async for run in client.list_workflows(query, page_size=1000)
        if "/" not in run.id and run.task_queue == queue
    ]
    if len(run_ids) > FEW_RUNS:
        return run_ids
    # the list lags: a run that ended a moment ago may still be in it
    states = [await description(client, run_id) for run_id in run_ids]
    return [run.id for run in states if run and run.status == WorkflowExecutionStatus.RUNNING]
