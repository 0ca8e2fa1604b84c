"""The worker process: connects, opens its resources, polls until a signal stops it, ends cleanly.

Started by `determinator worker`, in a container, or by the supervisor of a home as the worker of its embedded
server. That one ends by itself when there has been nothing to do for long.
"""

import argparse
import asyncio
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from pydantic import ValidationError
from temporalio.client import Client
from temporalio.envconfig import ClientConnectConfig
from temporalio.service import RPCError
from temporalio.worker import Worker

from activities.contracts.errors import DeterminatorError
from activities.lanes import lane_of
from activities.logs import log
from activities.processes import IDLE, leave, one_blas_thread
from activities.proxies import proxy_fault
from activities.settings import Settings
from client.connection import BadConnectionSettings, NoConnection, connection_config, open_client
from client.runs.stuck import find_standstill, give_up
from worker.logs import configure_logging

if TYPE_CHECKING:
    from worker.build import Build


OPEN_RUNS = "ExecutionStatus = 'Running' AND WorkflowType != 'RateGate'"
STUCK_LOOK_SECONDS = 60.0
"""How often open runs are looked at."""
PATIENCE_SECONDS = 300.0
"""How long a step of a run may be tried: a worker that is replaced meanwhile may decide it."""
MAX_RUNS = 500
"""Open runs that are looked at, the newest."""


async def end_stuck_runs(
    client: Client, every: float = STUCK_LOOK_SECONDS, patience: float = PATIENCE_SECONDS
) -> None:
    """Look at open runs again and again, and give up those whose next step could not be decided for so long.

    Ends by being cancelled only.
    """
    while True:
        await asyncio.sleep(every)
        try:
            async for execution in client.list_workflows(OPEN_RUNS, limit=MAX_RUNS):
                stall = await find_standstill(client, execution.id)
                if stall is not None and stall.may_end and stall.seconds > patience:
                    reported = await give_up(client, stall)
                    log.warning("stuck_run_ended", run=stall.run_id, reported=reported, reason=stall.reason)
        except RPCError as error:
            log.warning("stuck_runs_not_checked", error=str(error))


CHECK_SECONDS = 3.0
"""How long the Temporal server may take to answer a check."""
TOUCH_SECONDS = 10.0
"""Between two touches."""
UNREADY_SECONDS = 1.0
"""Between two checks of a worker that cannot work."""


async def touch_while_ready(path: Path | None, client: Client, polls: Callable[[], bool]) -> None:
    """Touch the file again and again while the worker polls and its server answers.

    An exec probe fails when the file is older than a minute: `test -n "$(find FILE -mmin -1)"`. Without
    a file it returns at once.
    """
    while path is not None:
        if not await can_work(client, polls):
            await asyncio.sleep(UNREADY_SECONDS)
            continue
        try:
            path.touch()  # noqa: ASYNC240 - one system call
        except OSError as error:
            log.warning("ready_file_not_written", path=str(path), error=str(error))
        await asyncio.sleep(TOUCH_SECONDS)


async def can_work(client: Client, polls: Callable[[], bool]) -> bool:
    """Return true while the worker polls and its server answers."""
    if not polls():
        return False
    try:
        return await asyncio.wait_for(client.service_client.check_health(), CHECK_SECONDS)
    except (RPCError, TimeoutError, RuntimeError):
        return False


Result = TypeVar("Result")


def prepare_later_steps() -> None:
    """Import what ranks, quotes and builds reports before the first step asks for it.

    A worker polls and begins its first steps before that, so that the work of one that died goes on earlier.
    It runs in a thread that ends with the process: a step that needs a module earlier imports it.
    """
    try:
        import activities.report.assemble
        import activities.text.ranking  # noqa: F401
    except (ImportError, OSError, ValueError) as error:
        log.warning("later_steps_not_imported", error=str(error))


GENERATIONS = (2_000, 10, 10)
"""Thresholds of the garbage collector in a worker. Those of Python (700, 10, 10) fit smaller programs: a full
collection looked at every object of every imported module, for 0.2 s."""
LATER_SECONDS = 3.0
"""How long a worker polls before it prepares later steps, which takes processor time from its first ones."""
STOP_SECONDS = 12.0
"""Activities have 5 s to end by themselves (`worker.build.GRACE`)."""
CONNECT_SECONDS = 600.0
"""How long a worker waits for its server: in a fleet the two start in any order."""


LOOK_SECONDS = 30.0
"""How often a worker of an embedded server looks whether there is anything to do."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The differences between the worker of an embedded server and others."""

    private_socket: Path
    """The socket of the home: the only way to its server that no other user can open in its place."""
    idle_seconds: float
    """It ends when there has been nothing to do for so long."""
    lanes: Path
    """The folder of what the runs of the home need of a worker."""
    lane: str
    """The name there of what this worker has."""


async def serve(
    settings: Settings,
    connection: ClientConnectConfig,
    stop: asyncio.Event,
    embedded: Embedded | None = None,
) -> bool:
    """Work until `stop` is set, then finish gracefully; whether it ended because there was nothing to do.

    Raises NoConnection, DeterminatorError (the store cannot be opened) and what ended a worker.
    """
    with one_blas_thread():
        import numpy  # noqa: F401 - first, so that it does not start a thread for each processor
    from worker.build import research_worker
    from worker.rate_gate_holder import keep_gates
    from worker.resources import open_resources

    client = await _connect(connection, stop, embedded, settings.metrics)
    if client is None:
        return False
    idle = asyncio.create_task(until_idle(client, embedded.idle_seconds if embedded else None))
    async with AsyncExitStack() as stack:
        resources = await stack.enter_async_context(open_resources(settings))
        build = partial(research_worker, client, resources)
        worker = build(settings.task_queue)
        collect_less_often()
        running = asyncio.create_task(worker.run())
        preparation = threading.Thread(target=prepare_later_steps, name="later-steps", daemon=True)
        asyncio.get_running_loop().call_later(LATER_SECONDS, preparation.start)
        stop_task = asyncio.create_task(stop.wait())
        gates = asyncio.create_task(keep_gates(client, settings, resources.sources))
        stuck_runs = asyncio.create_task(end_stuck_runs(client))
        lanes = asyncio.create_task(_serve_lanes(embedded, settings.task_queue, build))
        ready = asyncio.create_task(touch_while_ready(settings.ready_file, client, lambda: worker.is_running))
        try:
            log.info("worker_started", address=connection.get("target_host"), queue=settings.task_queue)
            await asyncio.wait([stop_task, running, gates, lanes, idle], return_when=asyncio.FIRST_COMPLETED)
            for watch in (gates, lanes):
                if watch.done():
                    watch.result()  # it ends by an error only
        finally:
            for task in (stop_task, gates, ready, stuck_runs, lanes, idle):
                task.cancel()
            log.info("worker_stopping")
            await asyncio.wait([lanes], timeout=STOP_SECONDS)
            await _end(worker, running)
    log.info("worker_stopped")
    return idle.done() and not idle.cancelled()


async def _serve_lanes(embedded: Embedded | None, queue: str, build: "Build") -> None:
    """Serve the lanes of a home; a worker of a fleet waits. Raises what ended one of its workers."""
    from worker.build import serve_lanes

    lane = lane_of(embedded.lanes, embedded.lane) if embedded else None
    if embedded is None or lane is None:
        await asyncio.Event().wait()
    else:
        await serve_lanes(embedded.lanes, lane, queue, build)


async def until_idle(client: Client, seconds: float | None) -> None:
    """Return when the server has had no open run and no schedule for so long; never without a time."""
    if seconds is None:
        await asyncio.Event().wait()
        return
    idle_since = time.monotonic()
    while time.monotonic() - idle_since < seconds:
        await asyncio.sleep(min(LOOK_SECONDS, seconds / 2))
        try:
            if await has_work(client):
                idle_since = time.monotonic()
        except RPCError as error:
            log.warning("idle_not_checked", error=str(error))
            idle_since = time.monotonic()


async def has_work(client: Client) -> bool:
    """Return whether a run is open or scheduled. Raises RPCError."""
    if (await client.count_workflows(OPEN_RUNS)).count:
        return True
    return await anext(await client.list_schedules(), None) is not None


async def _end(worker: Worker, running: asyncio.Task[None]) -> None:
    """Have a worker finish.

    A worker that is stopped while it begins to poll may miss that its poll was given up, and would wait for
    the answer, a minute: after `STOP_SECONDS` the process ends without it. Raises what ended the worker.
    """
    shutdown = asyncio.create_task(worker.shutdown()) if not running.done() else None
    finished, _ = await asyncio.wait([running], timeout=STOP_SECONDS)
    if not finished:
        log.warning("worker_not_stopped_in_time", seconds=STOP_SECONDS)
        leave(0)
    if shutdown is not None:
        await shutdown
    await running


def collect_less_often() -> None:
    """Leave what has been imported and opened out of garbage collections: it lives as long as the process."""
    gc.freeze()
    gc.set_threshold(*GENERATIONS)
    gc.enable()


async def _connect(
    connection: ClientConnectConfig, stop: asyncio.Event, embedded: Embedded | None, metrics: str | None
) -> Client | None:
    """Connect, waiting for a server that is not there yet; None when stopped meanwhile.

    `metrics`: where to serve them. Raises CannotListen.
    """
    from worker.metrics import worker_runtime

    deadline = asyncio.get_running_loop().time() + CONNECT_SECONDS
    runtime = worker_runtime(metrics)
    while not stop.is_set():
        try:
            private_socket = embedded.private_socket if embedded else None
            return await open_client(connection, runtime=runtime, private_socket=private_socket)
        except NoConnection as error:
            if asyncio.get_running_loop().time() > deadline:
                raise
            log.warning("waiting_for_server", error=str(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 2)
    return None


def stop_on_signals() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set; a second signal ends the process at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.is_set():
            os._exit(1)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, on_signal)
        except NotImplementedError:  # Windows has no handlers in the loop
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(on_signal))
    return stop


async def work(settings: Settings, connection: ClientConnectConfig, embedded: Embedded | None = None) -> int:
    """Serve until a signal comes; return the exit code. What is created is readable by its owner only."""
    os.umask(0o077)
    try:
        if await serve(settings, connection, stop_on_signals(), embedded):
            return IDLE
    except NoConnection as error:
        log.error("no_connection", error=str(error))
        return 3
    except (DeterminatorError, BadConnectionSettings) as error:
        log.error("cannot_start", error=str(error))
        return 2
    except Exception:  # noqa: BLE001 - it is logged with its traceback
        log.exception("worker_failed")
        return 1
    return 0


def run(main: Coroutine[object, object, Result]) -> Result:
    """Run a coroutine to its end, as `asyncio.run` does, and return its result."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's event loop where it is installed, else asyncio's own.

    A worker is woken often, by native threads, by its connections, by threads of its own; uvloop does that in
    native code.
    """
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    try:
        import uvloop
    except ImportError:  # for some processors and interpreters there is none
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry of `python -m worker.daemon`."""
    gc.disable()  # until all is imported: to look through what stays is a sixth of a worker's start
    parser = argparse.ArgumentParser(prog="worker.daemon", description=__doc__)
    parser.add_argument("--address", help="host:port of the Temporal server; default: TEMPORAL_* variables")
    parser.add_argument("--private-socket", type=Path, help="of the home whose embedded server this is")
    idle = "end such a worker when there was nothing to do for so long"
    parser.add_argument("--idle-seconds", type=float, help=idle)
    parser.add_argument("--lanes", type=Path, help="what the runs of the home need of a worker")
    parser.add_argument("--lane", default="", help="the name there of what this one has")
    options = parser.parse_args(arguments)
    address: str | None = options.address
    embedded = None
    try:
        settings = Settings()
        if address and options.private_socket:
            embedded = Embedded(options.private_socket, options.idle_seconds, options.lanes, options.lane)
            connection: ClientConnectConfig | None = ClientConnectConfig(target_host=address)
        else:
            connection = connection_config(address, settings)
        if not settings.offline and (fault := proxy_fault()):
            raise BadConnectionSettings(fault)  # noqa: TRY301
        if connection is None:
            raise BadConnectionSettings("no Temporal address; give --address or TEMPORAL_ADDRESS")  # noqa: TRY301
    except (ValidationError, ValueError, BadConnectionSettings) as error:
        sys.stderr.write(f"Error: {error}\n")
        leave(2)
    configure_logging(settings)
    leave(run(work(settings, connection, embedded)))


if __name__ == "__main__":
    main()
