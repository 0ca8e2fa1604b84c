"""The embedded Temporal server of a home, started once and reused; `workers` is about its worker.

Invariants:
- One process supervises the home (`supervisor`) and holds its lock; commands start it where none runs. Of
  several that are started at once, one gets the lock and the others end.
- A note is a hint (pid, port); the lock, which is signed with its holder's pid, and the supervisor's answers
  are the truth.
- The command line is a client only: no run depends on its process.
"""

import asyncio
import contextlib
import errno
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from activities.lanes import lane_of
from activities.processes import for_python, python
from activities.settings import Settings
from client.connection import (
    ATTRIBUTES,
    Connection,
    Say,
    open_client,
    quiet,
    raise_retention,
    register_attributes,
)
from client.embedded.binary import find_temporal, server_version
from client.embedded.home import Places, ServerNote, WorkerNote, read_note
from client.embedded.processes import end, end_orphans, holder, is_alive, is_held, last_error, spawn
from client.embedded.workers import (
    IDLE_SECONDS,
    Answer,
    NoSupervisor,
    ProcessesEnded,
    WorkerRequest,
    open_runs,
    state_of,
    tell_replaced,
    waiting_line,
)
from client.failures import NoConnection

START_SECONDS = 60.0
"""Time that a server may need until it answers: 1 s is common, a loaded machine is slower."""
WORKER_START_SECONDS = 30.0
"""The same for a worker, which takes 2 s and on a busy machine ten times as long."""
POLL_SECONDS = 0.02
MAX_STARTS = 3
"""Times that the processes are started when they end again meanwhile."""
FIRST_START = (
    "first start: a folder for everything that is kept ({home}), then a Temporal server and a worker on this "
    "machine, which takes some seconds; later questions find them running"
)


async def start_embedded(
    settings: Settings,
    *,
    worker: bool = True,
    restart: bool = False,
    say: Say = quiet,
) -> Connection:
    """Return the embedded server with a worker that has these settings, started where they are not there.

    `restart` restarts the worker whatever it is busy with. The connection names its queue. Raises
    NoConnection.
    """
    for _ in range(MAX_STARTS - 1):
        with contextlib.suppress(ProcessesEnded):
            return await _start(settings, worker=worker, restart=restart, say=say)
    return await _start(settings, worker=worker, restart=restart, say=say)


async def _start(settings: Settings, *, worker: bool, restart: bool, say: Say) -> Connection:
    places = Places(settings.home)
    try:
        if worker and not places.state.exists():
            say(FIRST_START.format(home=places.home))
        places.make()
        is_new = await running_server(settings, places)
        request = WorkerRequest.by(settings, places) if worker else None
        former_note = (await answer_of(places)).worker if worker else None
        if request:
            await request.ask(places, force=restart)  # while the server starts
        client, note = await connected(places, is_new=is_new)
        if request:
            await tell_replaced(client, places, request, say, former_note=former_note)
    except OSError as error:
        raise NoConnection(unwritable(places.home, error)) from error
    return Connection(
        client,
        embedded=True,
        address=note.address,
        ui_url=note.ui_url,
        task_queue=request.queue if request else settings.task_queue,
    )


async def serve(
    settings: Settings, connection: Connection, queue: str, *, is_running: bool, say: Say = quiet
) -> Connection:
    """See that the worker of a home serves the queue of a run; return the connection with that queue.

    Of a run that only answers queries any worker is enough; one that `is_running` needs a worker with its
    settings, which executes its steps. Raises NoConnection.
    """
    places, patient_until = Places(settings.home), 0.0
    try:
        worker, lane = (await answer_of(places)).worker, lane_of(places.lanes, queue)
        needs = worker.lane.lacks(lane) if worker and lane and is_running else []
        if lane is not None:
            lane.keep_in(places.lanes)  # it is in use
        if worker is None or needs:
            request = WorkerRequest.by(settings, places)
            needs = request.lane.lacks(lane) if lane and is_running else []
            if lane is not None and needs:  # to be offline needs no key, only less
                offline = WorkerRequest.by(settings.model_copy(update={"offline": True}), places)
                if not offline.lane.lacks(lane):
                    request, needs = offline, []
            if worker is None or not needs:
                await request.ask(places)
                if worker is not None:
                    await tell_replaced(connection.client, places, request, say, former_note=worker)
                patient_until = time.monotonic() + WORKER_START_SECONDS
            if needs and (runs := await open_runs(connection.client, queue)):
                say(f"{waiting_line(runs, needs)}; run `determinator up` with the same settings")
    except OSError as error:
        raise NoConnection(unwritable(places.home, error)) from error
    return replace(connection, task_queue=queue, patient_until=patient_until)


def stop_embedded(home: Path) -> list[str]:
    """End the worker and the server of a home; return the names of what was ended."""
    places = Places(home)
    if not is_held(places.lock):
        return []
    server = read_note(places.server_note, ServerNote)
    worker = read_note(places.worker_note, WorkerNote)
    pids = [note.pid for note in (server, worker) if note]
    names = ["worker"] if worker and not worker.ended else []
    names += ["server"]
    if not end(places.lock):
        end_orphans(pids)
    return names


async def running_server(settings: Settings, places: Places) -> bool:
    """See that a supervisor answers; whether it was started here. Raises NoConnection, OSError."""
    supervisor: subprocess.Popen[bytes] | None = None
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            await state_of(places)
        except NoSupervisor:
            if not is_held(places.lock):
                if supervisor is None or supervisor.poll() == 0:
                    supervisor = supervise(settings, places)
                elif supervisor.poll() is not None:
                    raise NoConnection(why_no_server(places)) from None
            elif (pid := holder(places.lock)) is not None and not is_alive(pid):
                notes = (read_note(places.server_note, ServerNote), read_note(places.worker_note, WorkerNote))
                end_orphans(note.pid for note in notes if note)
            await asyncio.sleep(POLL_SECONDS)
        else:
            if supervisor is not None:
                supervisor.returncode = 0  # it outlives this process; Popen must not warn about that
            return supervisor is not None
    raise NoConnection(unanswered(places))


def supervise(settings: Settings, places: Places) -> "subprocess.Popen[bytes]":
    """Start the supervisor of a home. Raises NoConnection, OSError."""
    if sys.platform == "win32":
        raise NoConnection(
            "the embedded server needs Linux or macOS; work in WSL, or give the address of a Temporal server "
            "in TEMPORAL_ADDRESS"
        )
    job = supervisor_input(settings, places)
    command = python("client.embedded.supervisor", json.dumps(job))
    return spawn(command, places.server_log, places.home, for_python())


def supervisor_input(settings: Settings, places: Places) -> dict[str, object]:
    """Return what a supervisor is told: its folders, and how the server is started. Raises NoServerBinary."""
    binary = find_temporal()
    version = server_version(binary)
    database = places.database(version)
    command = [str(binary), "server", "start-dev", "--db-filename", str(database)]
    command += ["--log-level", "warn", "--log-format", "json", *PACE, *CLOSED]
    for name, kind in ATTRIBUTES.items():
        command += ["--search-attribute", f"{name}={kind}"]
    return {
        "state": str(places.state),
        "logs": str(places.logs),
        "command": command,
        "environment": for_python(**RUNTIME),
        "version": version,
        "database": str(database),
        "web_ui": settings.web_ui,
        "idle_seconds": IDLE_SECONDS,
    }


async def connected(places: Places, *, is_new: bool = False) -> tuple[Client, ServerNote]:
    """Return a client of the server, once it answers.

    For one that began just now, that is once its namespace is set up. Raises NoConnection.
    """
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        note = (await answer_of(places)).server
        if note.failure:
            raise NoConnection(why_no_server(places))
        try:
            client = await open_client({"target_host": note.address}, timeout=5, private_socket=places.socket)
            if is_new:
                # a database that an earlier version made lacks what is new
                await register_attributes(client)
                await raise_retention(client)
        except (NoConnection, RPCError):
            await asyncio.sleep(POLL_SECONDS)
        else:
            return client, note
    raise NoConnection(unanswered(places))


async def answer_of(places: Places) -> Answer:
    """Return what the supervisor knows. Raises NoConnection."""
    try:
        return await state_of(places)
    except NoSupervisor as error:
        note = read_note(places.server_note, ServerNote)
        if note is not None and note.failure:
            raise NoConnection(why_no_server(places)) from error
        raise ProcessesEnded(unanswered(places)) from error


def unanswered(places: Places) -> str:
    log = places.server_log
    return f"the embedded server does not answer (its log is {log}); end it with `determinator down`"


def unwritable(home: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"there is no space left for {home}; free some, or set DETERMINATOR_HOME. "
            f"Runs that were started are kept and continue then; finished reports are in {home / 'reports'}"
        )
    reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return f"the home folder {home} cannot be used ({reason}); set DETERMINATOR_HOME"


def why_no_server(places: Places) -> str:
    """Return why the server was not started or has ended, by its note and the last error in its log."""
    note = read_note(places.server_note, ServerNote)
    error = (note.failure if note else "") or last_error(places.server_log)
    database = Path(note.database) if note else places.home
    if any(mark in error for mark in BROKEN_DATABASE):
        cause = error.rpartition(": ")[2]
        return (
            f"the embedded server's database is damaged ({cause}); move {database}* away: its "
            f"runs are lost, finished reports stay in {places.reports}"
        )
    if any(mark in error.lower() for mark in NO_SPACE):
        return f"there is no space left for {database}; free some and try again, nothing is lost"
    return f"the embedded server does not start{f' ({error})' if error else ''}; see {places.server_log}"


BROKEN_DATABASE = (
    *("file is not a database", "malformed", "disk image", "file is encrypted"),
    "no such table",  # a file of no bytes
)
NO_SPACE = ("disk is full", "no space left")
"""Marks in the last error of the server's log, as SQLite and the system word them, in small letters."""


PACE = (
    *("--sqlite-pragma", "journal_mode=WAL"),
    *("--sqlite-pragma", "synchronous=NORMAL"),
    *("--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000"),
    *("--dynamic-config-value", "history.timerProcessorMaxPollRPS=2000"),
    *("--dynamic-config-value", "matching.numTaskqueueReadPartitions=1"),
    *("--dynamic-config-value", "matching.numTaskqueueWritePartitions=1"),
    *("--dynamic-config-value", 'history.workflowIdReuseMinimalInterval="0s"'),
    *("--dynamic-config-value", "system.enableActivityEagerExecution=true"),
)
"""Options that make the server of one machine answer sooner. By default its one shard looks for new tasks at
most 20 times a second, so that after a burst every step waits 40 ms; four partitions of a queue pass tasks on
to each other; a run that continues as new is held for a second; and each write waits for the disk. With eager
execution a worker gets the steps that its workflow task has scheduled with the answer to that task, which
spares a request for each. With this journal a power cut may undo the last writes, but nothing is lost when
the server is killed."""


RUNTIME = {"GODEBUG": "adaptivestackstart=1"}
"""Settings of the Go runtime. A goroutine begins with the stack that goroutines need on average: each request
has one of its own, whose stack is otherwise copied several times, for a twentieth of the server's time."""


CLOSED = (
    *("--dynamic-config-value", 'frontend.httpAllowedHosts=["http-api.invalid"]'),
    *("--disable-config-file", "--disable-config-env"),
)
"""Options that restrict access. The dev server's HTTP API cannot be disabled; since no `Host` that a browser
sends is allowed, it refuses every request. The caller's own profile for another server must not apply."""
