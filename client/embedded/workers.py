"""The background workers of a home: one for each set of settings with which runs are open.

Invariants:
- A run is served with the settings it was started with. It lives on the task queue of its worker, and no
  worker with open runs is restarted because another command has other settings.
- A worker whose queue has no open runs is replaced by one with the settings in use; the default queue is used
  first, so that there is one worker for most homes.
- Runs whose worker is gone are served by a worker with the caller's settings only when these have every key,
  library and plugin that the former worker had (their names are in its note; never a value). Otherwise the
  runs wait, and commands name what is missing.
"""

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio.client import Client, WorkflowExecutionStatus

from activities.settings import Settings
from client.connection import NoConnection, Say
from client.embedded.fingerprint import OFFLINE, access_of, fingerprint, needs_of, worker_environment
from client.embedded.home import Places, WorkerFiles, WorkerNote, read_note, write_note
from client.embedded.locks import Locked, LockFile, is_held
from client.embedded.processes import TEST_SECONDS, end, spawn

LOCK_SECONDS = 120.0
"""How long to wait for another command that starts or stops processes."""
USED_SECONDS = 5.0
"""Seconds for which a worker is kept after a run was about to start on its queue: the list of open runs
lags."""
ABOUT_TO_START = "-"
"""Stands for a run that has no id yet."""
FEW_RUNS = 20
"""Runs of the list of open ones that are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The worker that a command's settings ask for."""

    settings: Settings
    fingerprint: str
    needs: tuple[str, ...]
    access: Mapping[str, str]

    @classmethod
    def by(cls, settings: Settings, places: Places) -> "Wanted":
        return cls(settings, fingerprint(settings, places), needs_of(settings), access_of(settings, places))

    def for_runs_of(self, note: WorkerNote | None, places: Places) -> "Wanted":
        """The same, kept from the network where the former worker was: that needs no key, only less."""
        if note is None or OFFLINE not in note.needs or OFFLINE in self.needs:
            return self
        return Wanted.by(self.settings.model_copy(update={"offline": True}), places)

    def missing(self, note: WorkerNote | None) -> list[str]:
        """What these settings lack to serve the runs of a former worker."""
        if note is None:
            return []
        lacking = [name for name in note.needs if name not in self.needs]
        if OFFLINE in self.needs and OFFLINE not in note.needs:
            lacking.append("access to the network")
        return lacking


def live_workers(places: Places) -> list[WorkerNote]:
    """The notes of the workers that are alive."""
    return [
        note
        for files in places.workers()
        if is_held(files.lock) and (note := read_note(files.note, WorkerNote))
    ]


def queue_served(places: Places, wanted: Wanted, address: str) -> str | None:
    """The queue of a live worker with the wanted settings; None when there is none."""
    return next(
        (
            note.queue
            for note in live_workers(places)
            if note.fingerprint == wanted.fingerprint and note.address == address
        ),
        None,
    )


def mark_used(places: Places, queue: str, run_id: str = "") -> None:
    """Keep the worker of a queue for `USED_SECONDS`: a run is about to start there, or (with its id) has
    started, after which it is known whether it still runs. Raises OSError."""
    used = places.worker(queue).used
    fresh = used.exists() and time.time() - used.stat().st_mtime < USED_SECONDS
    with used.open("a" if fresh else "w") as marks:
        marks.write(f"{time.time():.3f} {run_id or ABOUT_TO_START}\n")


async def settle(client: Client, address: str, places: Places, wanted: Wanted, say: Say) -> str:
    """Have a worker with the wanted settings and return its queue; end idle workers, and serve open runs
    whose worker is gone. The caller holds the start lock. Raises NoConnection, OSError, RPCError."""
    if queue := queue_served(places, wanted, address):
        return queue
    runs = await open_runs(client)
    base = wanted.settings.task_queue
    free = await _make_free(client, places.worker(base), address, runs, wanted, say)
    chosen = base if free else f"{base}-{wanted.fingerprint[:12]}"
    await start_worker(places, chosen, address, wanted)
    for files in places.workers():
        if files.queue == chosen:
            continue
        if is_held(files.lock):
            if not await in_use(client, files, runs):
                note = read_note(files.note, WorkerNote)
                await asyncio.to_thread(end, files.lock, note.pid if note else None)
        elif runs[files.queue]:
            await adopt(places, files, address, wanted, runs[files.queue], say)
    return chosen


async def _make_free(
    client: Client, files: WorkerFiles, address: str, runs: "Counter[str]", wanted: Wanted, say: Say
) -> bool:
    """Whether a worker with the wanted settings may serve a queue, after ending one that need not go on."""
    note = read_note(files.note, WorkerNote)
    if is_held(files.lock):
        if note is None:
            say("restarting the background worker: the note with its pid cannot be read")
            await end_unknown(files)
        elif note.address != address:
            say("restarting the background worker: the server moved to another port")
            await asyncio.to_thread(end, files.lock, note.pid)
        elif await in_use(client, files, runs):
            return False
        else:
            say("restarting the background worker: your settings have changed")
            await asyncio.to_thread(end, files.lock, note.pid)
            return True
    return not (runs[files.queue] and wanted.missing(note))


async def in_use(client: Client, files: WorkerFiles, runs: "Counter[str]") -> bool:
    """Whether a queue has open runs, or is about to have one. Raises RPCError."""
    if runs[files.queue]:
        return True
    marks = _marks(files)
    started = [name for name in marks if name != ABOUT_TO_START]
    if len(marks) > 2 * len(started):  # each start is marked before and after
        return True
    return any([await _is_open(client, name) for name in started])


def _marks(files: WorkerFiles) -> list[str]:
    """The marks of the last `USED_SECONDS`: ids of runs, and `ABOUT_TO_START`."""
    try:
        lines = files.used.read_text().splitlines()
        parts = [line.split(" ", 1) for line in lines]
        return [name for at, name in parts if time.time() - float(at) < USED_SECONDS]
    except FileNotFoundError:
        return []
    except ValueError:  # written by an earlier version, or damaged
        fresh = time.time() - files.used.stat().st_mtime < USED_SECONDS
        return [ABOUT_TO_START] if fresh else []


async def _is_open(client: Client, run_id: str) -> bool:
    from client.runs.listing import description

    found = await description(client, run_id)
    return found is not None and found.status == WorkflowExecutionStatus.RUNNING


async def open_runs(client: Client) -> "Counter[str]":
    """Open research runs and refreshes by task queue. Raises RPCError."""
    from client.runs.listing import RESEARCH

    query = f"({RESEARCH} OR WorkflowType = 'RefreshReport') AND ExecutionStatus = 'Running'"
    listed = [e async for e in client.list_workflows(query, page_size=1000) if "/" not in e.id]
    if len(listed) <= FEW_RUNS:  # the list lags: a run that ended a moment ago may still be in it
        listed = [execution for execution in listed if await _is_open(client, execution.id)]
    return Counter(execution.task_queue for execution in listed)


async def adopt(
    places: Places, files: WorkerFiles, address: str, wanted: Wanted, runs: int, say: Say
) -> bool:
    """Serve open runs whose worker is gone, when the wanted settings can; say what is missing otherwise.

    The caller holds the start lock.
    """
    note = read_note(files.note, WorkerNote)
    wanted = wanted.for_runs_of(note, places)
    if missing := wanted.missing(note):
        which = "1 run waits" if runs == 1 else f"{runs} runs wait"
        say(
            f"{which} for a worker with {', '.join(missing)}, as at the start; "
            "run `determinator up` with the same settings"
        )
        return False
    await start_worker(places, files.queue, address, wanted)
    return True


async def serve_queue(
    settings: Settings, places: Places, queue: str, address: str, *, running: bool, say: Say
) -> bool:
    """See that a worker serves a queue, for a run that is `running` or only answers queries. False when no
    worker with these settings may serve it; `say` receives the reason. Raises NoConnection, OSError."""
    files = places.worker(queue)
    if _serves(files, address):
        return True
    base = settings.task_queue
    if queue != base and not queue.startswith(f"{base}-"):
        return False  # started by other means, for a worker of its own
    async with holding_start_lock(places):
        if _serves(files, address):
            return True
        wanted = Wanted.by(settings, places)
        if is_held(files.lock):
            note = read_note(files.note, WorkerNote)
            await asyncio.to_thread(end, files.lock, note.pid if note else None)
        if running:
            return await adopt(places, files, address, wanted, 1, say)
        await start_worker(places, queue, address, wanted)
        return True


def _serves(files: WorkerFiles, address: str) -> bool:
    note = read_note(files.note, WorkerNote)
    return is_held(files.lock) and note is not None and note.address == address


async def start_worker(places: Places, queue: str, address: str, wanted: Wanted) -> None:
    """Start a worker on a queue. The caller holds the start lock. Raises OSError."""
    files = places.worker(queue)
    if is_held(files.lock):
        note = read_note(files.note, WorkerNote)
        await asyncio.to_thread(end, files.lock, note.pid if note else None)
    command = [sys.executable, "-P", "-m", "worker.daemon", "--embedded", "--address", address]
    environment = worker_environment(wanted.settings, queue)
    pid = spawn(command, files.lock, files.log, places.home, env=environment)
    try:
        write_note(files.note, note_of(pid, queue, address, wanted))
    except OSError:
        await asyncio.to_thread(end, files.lock, pid)
        raise


def note_of(pid: int, queue: str, address: str, wanted: Wanted) -> WorkerNote:
    """The note of a worker that starts now."""
    return WorkerNote(
        pid=pid,
        address=address,
        fingerprint=wanted.fingerprint,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        queue=queue,
        needs=wanted.needs,
        access=wanted.access,
    )


def lock_worker(settings: Settings, address: str) -> LockFile:
    """Make this process the worker of a home until the lock is released. Raises Locked."""
    places = Places(settings.home)
    files = places.worker(settings.task_queue)
    lock = LockFile(files.lock)
    lock.acquire(TEST_SECONDS)
    lock.sign(os.getpid())
    write_note(files.note, note_of(os.getpid(), files.queue, address, Wanted.by(settings, places)))
    return lock


def end_workers(places: Places) -> int:
    """End all workers of a home; return how many were alive. The caller holds the start lock."""
    ended = 0
    for files in places.workers():
        note = read_note(files.note, WorkerNote)
        ended += end(files.lock, note.pid if note else None)
    return ended


async def end_unknown(files: WorkerFiles) -> None:
    """End a worker whose note has no pid. Raises NoConnection."""
    if not await asyncio.to_thread(end, files.lock, None):
        raise NoConnection(
            f"a process of unknown pid holds {files.lock}; find it with `fuser {files.lock}`, end it and "
            "try again"
        )


@asynccontextmanager
async def holding_start_lock(places: Places) -> AsyncIterator[None]:
    """Hold the start lock. Raises NoConnection when another process never releases it."""
    lock = LockFile(places.start_lock)
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            lock.acquire()
            break
        except Locked:
            if time.monotonic() > deadline:
                raise NoConnection(
                    f"another command has been starting the server for {LOCK_SECONDS:.0f} s; "
                    "end it and try again"
                ) from None
            await asyncio.sleep(0.02)
    with lock:
        yield
