"""The embedded Temporal server of a home, started once and reused; its workers are in `workers`.

Invariants:
- Each process holds a lock for as long as it lives (it inherits the open file), so two never serve one home,
  and `kill -9` frees it.
- A process that starts or stops another holds `start.lock`; the common case, both alive, needs no lock.
- A note is a hint (pid, port); the locks, which are signed with their holder's pid, and an answering port are
  the truth.
- The command line is a client only: no run depends on its process.
"""

import asyncio
import errno
import json
import os
import sys
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from activities.settings import Settings
from client.connection import Connection, NoConnection, Say, open_client, quiet
from client.embedded.binary import NoServerBinary, find_temporal, free_port, loopback_address, server_version
from client.embedded.command_server import end_command_server, start_command_server
from client.embedded.home import Places, ServerNote, WorkerNote, read_note, write_note
from client.embedded.locks import LockFile, is_held
from client.embedded.namespace import ATTRIBUTES, raise_retention
from client.embedded.processes import end, last_error, spawn
from client.embedded.workers import (
    Wanted,
    end_workers,
    holding_start_lock,
    live_workers,
    mark_used,
    queue_served,
    serve_queue,
    settle,
)
from client.exit import afterwards

START_SECONDS = 60.0
"""How long a server may need until it answers: 1 s is common, a loaded machine is slower."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The processes of a home that are alive."""

    server: ServerNote | None
    workers: tuple[WorkerNote, ...]

    @property
    def worker(self) -> WorkerNote | None:
        """The worker of the default queue, else another one."""
        return self.workers[0] if self.workers else None


def look(home: Path) -> Pair:
    """The live processes of a home, by its locks and notes; nothing is started."""
    places = Places(home)
    server = read_note(places.server_note, ServerNote) if is_held(places.server_lock) else None
    return Pair(server, tuple(live_workers(places)))


async def start_embedded(
    settings: Settings, *, worker: bool = True, for_run: bool = False, say: Say = quiet
) -> Connection:
    """The embedded server, with a worker that has these settings, started where they are not there yet.

    `for_run` keeps the worker while a run is about to start. Raises NoConnection.
    """
    places = Places(settings.home)
    if worker:
        serve_next_commands(settings)
    try:
        places.make()
        wanted = Wanted.by(settings, places) if worker else None
        found = await _running_server(places)
        queue = queue_served(places, wanted, found[1].address) if wanted and found else None
        if found is None or (wanted and queue is None):
            async with holding_start_lock(places):
                found = await _running_server(places) or await _start_server(settings, places, say)
                if wanted:
                    queue = await settle(found[0], found[1].address, places, wanted, say)
        queue = queue or settings.task_queue
        if for_run:
            mark_used(places, queue)
    except OSError as error:
        raise NoConnection(unwritable(places.home, error)) from error
    client, note = found
    return Connection(client, embedded=True, address=note.address, ui_url=note.ui_url, task_queue=queue)


async def serve(
    settings: Settings, connection: Connection, queue: str, *, running: bool, say: Say = quiet
) -> Connection:
    """See that a worker of the embedded server serves the queue of a run; return the connection with the
    queue and whether it is served. Raises NoConnection."""
    places = Places(settings.home)
    serve_next_commands(settings)
    try:
        served = await serve_queue(settings, places, queue, connection.address, running=running, say=say)
    except OSError as error:
        raise NoConnection(unwritable(places.home, error)) from error
    return replace(connection, task_queue=queue, served=served)


def serve_next_commands(settings: Settings) -> None:
    """Start the command server of the home once this command has printed its result. Commands that need no
    worker do not: it would cost more than they do."""
    if settings.command_server:
        afterwards(partial(start_command_server, settings.home))


def unwritable(home: Path, error: OSError) -> str:
    """The message for a home that cannot be used."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"there is no space left for {home}; free some, or set DETERMINATOR_HOME. "
            "Runs that were started are kept and continue then"
        )
    reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return f"the home folder {home} cannot be used ({reason}); set DETERMINATOR_HOME"


def stop_embedded(home: Path, *, server: bool = True) -> list[str]:
    """End the worker and, with `server`, the server of a home; return the names of what was ended.

    Raises Locked when another command is starting or stopping them and does not come to an end.
    """
    places = Places(home)
    if not places.start_lock.parent.exists():
        return []
    lock = LockFile(places.start_lock)
    lock.acquire(START_SECONDS)
    with lock:
        ended = []
        if workers := end_workers(places):
            ended.append("worker" if workers == 1 else f"{workers} workers")
        server_note = read_note(places.server_note, ServerNote)
        if server and end(places.server_lock, server_note.pid if server_note else None):
            ended.append("server")
        if server and end_command_server(home):
            ended.append("command server")
    return ended


async def _running_server(places: Places) -> tuple[Client, ServerNote] | None:
    """A client of the server that holds the lock, waiting for one that is just starting; None without one,
    and when its note is gone, so that its address is not known."""
    if not is_held(places.server_lock):
        return None
    if read_note(places.server_note, ServerNote) is None:
        return None
    found = await _wait_until_ready(places)
    if found is None and is_held(places.server_lock) and read_note(places.server_note, ServerNote):
        raise NoConnection(
            "the embedded server does not answer; end it with `determinator down`; "
            f"its log is {places.server_log}"
        )
    return found


async def _wait_until_ready(places: Places) -> tuple[Client, ServerNote] | None:
    """Poll until the server answers for its namespace; None when it died or never did."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        # read each time: the holder of the lock may be about to replace the note
        note = read_note(places.server_note, ServerNote)
        if note is None:
            return None
        try:
            client = await open_client({"target_host": note.address}, timeout=5)
            if not note.ready:
                await raise_retention(client)
        except (NoConnection, RPCError):
            if not is_held(places.server_lock):
                return None
            await asyncio.sleep(0.05)
        else:
            return client, note
    return None


async def _start_server(settings: Settings, places: Places, say: Say) -> tuple[Client, ServerNote]:
    """Start the server. The caller holds the start lock and found none that can be reached."""
    if is_held(places.server_lock):
        say("restarting the embedded server: the note with its address cannot be read")
        await _end_unknown(places.server_lock)
    try:
        binary = find_temporal()
        version = server_version(binary)
    except NoServerBinary as error:
        raise NoConnection(str(error)) from error
    before = read_note(places.server_note, ServerNote)
    for attempt in range(3):
        # the ports of last time keep links to the Web UI alive and let a worker that is still there reconnect
        known = before if attempt == 0 else None
        port = free_port(known.port if known else None)
        ui_ip = before.ui_ip if before else loopback_address()
        ui_port = free_port(known.ui_port if known else None, ui_ip)
        database = places.database(version)
        command = _server_command(binary, port, f"{ui_ip}:{ui_port}" if settings.web_ui else None, database)
        if sys.platform == "linux":
            command = forwarded(command, ("127.0.0.1", port), (ui_ip, ui_port) if settings.web_ui else None)
        pid = spawn(command, places.server_lock, places.server_log, places.home, environment())
        note = ServerNote(
            pid=pid,
            port=port,
            ui_port=ui_port,
            ui_ip=ui_ip,
            web_ui=settings.web_ui,
            version=version,
            database=str(database),
            started_at=_now(),
        )
        try:
            write_note(places.server_note, note)
        except OSError:
            end(places.server_lock, pid)
            raise
        found = await _wait_until_ready(places)
        if found is not None:
            write_note(places.server_note, note.model_copy(update={"ready": True}))
            return found
        end(places.server_lock, pid)
    raise NoConnection(why_no_server(places, database))


def why_no_server(places: Places, database: Path) -> str:
    """Why the server ended as soon as it was started, by the last line of its log."""
    said = last_error(places.server_log)
    if any(mark in said for mark in BROKEN_DATABASE):
        cause = said.rpartition(": ")[2]
        return (
            f"the embedded server's database is damaged ({cause}); move {database}* away: its "
            f"runs are lost, finished reports stay in {places.reports}"
        )
    if any(mark in said for mark in NO_SPACE):
        return f"there is no space left for {database}; free some and try again, nothing is lost"
    return f"the embedded server does not start{f' ({said})' if said else ''}; see {places.server_log}"


BROKEN_DATABASE = (
    *("file is not a database", "malformed", "disk image", "file is encrypted"),
    "no such table",  # a file of no bytes
)
NO_SPACE = ("disk is full", "no space left")
"""Marks in the last line of the server's log, as SQLite and the system word them."""


async def _end_unknown(lock: Path) -> None:
    """End the process that holds a lock when no note has its pid. Raises NoConnection."""
    if not await asyncio.to_thread(end, lock, None):
        raise NoConnection(
            f"a process of unknown pid holds {lock}; find it with `fuser {lock}`, end it and try again"
        )


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


def environment() -> dict[str, str]:
    """The environment of the server: this process's, and how its language's runtime is to work."""
    return {**os.environ, **RUNTIME}


def _server_command(binary: Path, port: int, web_ui: str | None, database: Path) -> list[str]:
    """`web_ui` is the address and port of the Web UI; None leaves it out."""
    command = [str(binary), "server", "start-dev", "--ip", "127.0.0.1", "--port", str(port)]
    if web_ui is None:
        command += ["--headless"]
    else:
        ui_ip, _, ui_port = web_ui.rpartition(":")
        command += ["--ui-ip", ui_ip, "--ui-port", ui_port, "--ui-disable-news-fetch"]
    command += ["--db-filename", str(database), "--log-level", "warn", "--log-format", "json"]
    command += [*PACE, *CLOSED]
    for name, kind in ATTRIBUTES.items():
        command += ["--search-attribute", f"{name}={kind}"]
    return command


def forwarded(command: list[str], api: tuple[str, int], web_ui: tuple[str, int] | None) -> list[str]:
    """The command that restricts a server, whose own command publishes these addresses, to its owner
    (Linux)."""
    given = json.dumps({"api": api, "web_ui": web_ui, "command": command})
    return [sys.executable, "-P", "-m", "client.embedded.forwarder", given]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
