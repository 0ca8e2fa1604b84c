"""Keeping the processes of a home running while something needs them.

A server or worker that died is started again by the supervisor. When the supervisor itself has ended it is
started again here, and a worker with the settings of a run is had again that a command with others replaced.
"""

import asyncio
import json
import math
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from activities.lanes import Lane, lane_of
from activities.settings import Settings
from client.connection import Connection, Say, quiet
from client.embedded.home import Places, WorkerNote, read_note
from client.embedded.processes import is_held, last_lines
from client.embedded.server import serve, start_embedded, unwritable
from client.embedded.workers import needs_worker
from client.failures import NoConnection
from client.terminal import plain

ALIVE_SECONDS = 0.5
"""Interval at which the processes are checked, which reads a small file: 0.2 ms."""
TURN_SECONDS = 5.0
"""Time between two attempts to have a worker with the settings of the run again."""
MAX_RESTARTS = 5
"""Restarts of the processes for one piece of work; after that they are given up."""
T = TypeVar("T")


async def keep_alive(
    settings: Settings, connection: Connection, work: Awaitable[T], *, worker: bool = False, say: Say = quiet
) -> T:
    """Do something that needs the server of a connection, an embedded one started again meanwhile.

    Requests wait for the next server. `worker`: the queue of the connection needs a worker. Raises what the
    work raises, and NoConnection.
    """
    if not connection.embedded:
        return await work
    task = asyncio.ensure_future(work)
    keeper = Keeper(settings, connection if worker else None, say)
    try:
        while not task.done():
            await asyncio.wait([task], timeout=ALIVE_SECONDS)
            if not task.done():
                await keeper.look()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return await task


class Keeper:
    """See `keep_alive`."""

    def __init__(self, settings: Settings, run_on: Connection | None, say: Say) -> None:
        self._settings = settings
        self._connection = run_on
        self._say = say
        self._places = Places(settings.home)
        self._restarts = 0
        self._turn_at: float | None = None
        """Time of the next attempt to have a worker with the settings of the run; None: it has one."""
        self._has_explained = False
        """Its person was told what it waits for."""

    async def look(self) -> None:
        """Start what has ended. Raises NoConnection for what keeps ending, and for a full disk."""
        try:
            self._places.check_space()
        except OSError as error:
            raise NoConnection(unwritable(self._places.home, error)) from error
        if not is_held(self._places.lock):
            await self._restart()
        elif self._connection and (worker := read_note(self._places.worker_note, WorkerNote)):
            if worker.failure:
                raise keeps_ending("worker", self._places.worker_log)
            if worker.ended:
                await self._restart()
            else:
                await self._take_turn(self._connection, worker.lane)

    async def _restart(self) -> None:
        self._restarts += 1
        if self._restarts > MAX_RESTARTS:
            raise keeps_ending("server", self._places.server_log)
        self._say("the background processes have ended; starting them again, nothing is lost")
        run_on = self._connection
        connection = await start_embedded(self._settings, worker=run_on is None, say=self._say)
        if run_on is not None:
            self._connection = await serve(
                self._settings, connection, run_on.task_queue, is_running=True, say=self._say
            )

    async def _take_turn(self, connection: Connection, has: Lane) -> None:
        """Have a worker with the settings of the run again, where a command with others has replaced it.

        That is once the run has a step to execute, and no other run needs the present worker: while it waits
        for a person, other commands keep theirs.
        """
        lane = lane_of(self._places.lanes, connection.task_queue)
        needs = has.lacks(lane) if lane else []
        if lane is None or not needs:
            self._turn_at = None
            return
        now = time.monotonic()
        if self._turn_at is None:
            # a command replaces the worker before its own run is there to be found open
            self._turn_at, self._has_explained = now + TURN_SECONDS, False
        if now < self._turn_at:
            return
        self._turn_at = now + TURN_SECONDS
        if not await needs_worker(connection.client, connection.task_queue):
            return
        if not self._has_explained:
            reason = f"this run waits for {', '.join(needs)}"
            self._say(f"a command with other settings has the worker now; {reason}")
            self._has_explained = True
        queue = connection.task_queue.removesuffix(f"-{lane.id}")
        for file in self._places.lanes.glob("*.json"):
            file_lane = lane_of(self._places.lanes, file.stem)
            can_serve = file_lane is not None and not has.lacks(file_lane)
            if can_serve and await needs_worker(connection.client, f"{queue}-{file.stem}"):
                return
        self._connection = await serve(
            self._settings, connection, connection.task_queue, is_running=True, say=self._say
        )
        if not self._connection.patient_until:  # the settings of this command are others, too
            self._turn_at = math.inf


def keeps_ending(process: str, log: Path) -> NoConnection:
    return NoConnection(
        f"the background {process} keeps ending{last_log_error(log)}; its log is {log}. "
        "The run is kept and continues once the cause is removed"
    )


def last_log_error(log: Path) -> str:
    """Return the error a process logged last, in brackets; empty when there is none."""
    try:
        record = json.loads(last_lines(log)[-1])
        text = str(record.get("error") or record["exception"].strip().splitlines()[-1])
    except (ValueError, LookupError, AttributeError, TypeError):
        return ""
    return f" ({plain(text)[:300]})"
