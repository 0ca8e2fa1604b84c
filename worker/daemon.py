"""The worker process: connects, opens its resources, polls until a signal stops it, ends cleanly.

Started by `determinator worker`, in a container, or in the background by the embedded mode, which hands it an
open lock file so that there is one such worker for a home.
"""

import argparse
import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import structlog
from pydantic import ValidationError
from temporalio.client import Client
from temporalio.envconfig import ClientConnectConfig
from temporalio.worker import Worker

from activities.blas import one_blas_thread
from activities.errors import DeterminatorError
from activities.settings import Settings
from client.connection import BadConnectionSettings, NoConnection, configured, open_client
from client.exit import leave
from worker.event_loop import run
from worker.logs import configure_logging, logging_runtime

log = structlog.get_logger()


def prepare_later_steps() -> None:
    """Import what builds reports, then open the index of names, and build it where it is missing, before the
    first step asks for them.

    A worker polls and begins its first steps before that, so that the work of one that died goes on earlier.
    It runs in a thread that ends with the process: a step that needs the index earlier opens it.
    """
    try:
        import activities.report.assemble  # noqa: F401
        from activities.text.entities import prepare

        prepare()
    except (ImportError, OSError, ValueError) as error:
        log.warning("vocabularies_not_opened", error=str(error))


GENERATIONS = (2_000, 10, 10)
"""Thresholds of the garbage collector in a worker. Those of Python (700, 10, 10) fit smaller programs: a full
collection looked at every object of every imported module, for 0.2 s."""
LATER_SECONDS = 3.0
"""How long a worker polls before it prepares later steps, which takes processor time from its first ones."""
STOP_SECONDS = 12.0
"""Activities have 5 s to end by themselves (`worker.build.GRACE`)."""
CONNECT_SECONDS = 600.0
"""How long a worker waits for its server: in a fleet the two start in any order."""


async def serve(
    settings: Settings, connection: ClientConnectConfig, stop: asyncio.Event, *, embedded: bool = False
) -> None:
    """Work until `stop` is set, then finish gracefully.

    Raises NoConnection, DeterminatorError (the store cannot be opened) and what ended a worker.
    """
    with one_blas_thread():
        import numpy  # noqa: F401 - a worker that has no supervisor imports it here first
    from worker.build import research_worker
    from worker.lost_activities import retry_lost_activities
    from worker.rate_gate_holder import keep_gates
    from worker.resources import open_resources

    client = await _connect(connection, stop)
    if client is None:
        return
    if embedded:
        await retry_lost_activities(client, settings.task_queue)
    async with open_resources(settings) as resources:
        worker = research_worker(client, resources)
        collect_less_often()
        running = asyncio.create_task(worker.run())
        later = threading.Thread(target=prepare_later_steps, name="later-steps", daemon=True)
        asyncio.get_running_loop().call_later(LATER_SECONDS, later.start)
        stopping = asyncio.create_task(stop.wait())
        keeping = asyncio.create_task(keep_gates(client, settings, resources.sources))
        try:
            log.info("worker_started", address=connection.get("target_host"), queue=settings.task_queue)
            await asyncio.wait([stopping, running, keeping], return_when=asyncio.FIRST_COMPLETED)
            if keeping.done():
                await keeping  # it ends by an error only
        finally:
            stopping.cancel()
            keeping.cancel()
            log.info("worker_stopping")
            await _end(worker, running)
    log.info("worker_stopped")


async def _end(worker: Worker, running: asyncio.Task[None]) -> None:
    """Have a worker finish. A worker that is stopped while it begins to poll may miss that its poll was given
    up, and would wait for the answer, a minute: after `STOP_SECONDS` the process ends without it. Raises what
    ended the worker."""
    shutdown = asyncio.create_task(worker.shutdown()) if not running.done() else None
    done, _ = await asyncio.wait([running], timeout=STOP_SECONDS)
    if not done:
        log.warning("worker_not_stopped_in_time", seconds=STOP_SECONDS)
        leave(0)
    if shutdown is not None:
        await shutdown
    await running


def collect_less_often() -> None:
    """Leave what has been imported and opened out of garbage collections: it lives as long as the process."""
    gc.freeze()
    gc.set_threshold(*GENERATIONS)


async def _connect(connection: ClientConnectConfig, stop: asyncio.Event) -> Client | None:
    """Connect, waiting for a server that is not there yet; None when stopped meanwhile."""
    deadline = asyncio.get_running_loop().time() + CONNECT_SECONDS
    runtime = logging_runtime()
    while not stop.is_set():
        try:
            return await open_client(connection, runtime=runtime)
        except NoConnection as error:
            if asyncio.get_running_loop().time() > deadline:
                raise
            log.warning("waiting_for_server", error=str(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 2)
    return None


def stop_on_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set; a second signal ends the process at once."""
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


async def work(settings: Settings, connection: ClientConnectConfig, *, embedded: bool = False) -> int:
    """Serve until a signal comes; return the exit code. What is created is readable by its owner only."""
    os.umask(0o077)
    try:
        await serve(settings, connection, stop_on_signals(), embedded=embedded)
    except NoConnection as error:
        log.error("no_connection", error=str(error))  # noqa: TRY400 - a traceback adds nothing
        return 3
    except DeterminatorError as error:
        log.error("cannot_start", error=str(error))  # noqa: TRY400
        return 2
    except Exception:
        log.exception("worker_failed")
        return 1
    return 0


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry of `python -m worker.daemon`."""
    parser = argparse.ArgumentParser(prog="worker.daemon", description=__doc__)
    parser.add_argument("--address", help="host:port of the Temporal server; default: TEMPORAL_* variables")
    parser.add_argument(
        "--embedded", action="store_true", help="the server is this machine's own: no TLS, key or namespace"
    )
    given = parser.parse_args(arguments)
    address: str | None = given.address
    make_lock_non_inheritable()
    try:
        settings = Settings()
        if address and given.embedded:
            connection: ClientConnectConfig | None = ClientConnectConfig(target_host=address)
        else:
            connection = configured(address, settings)
        if connection is None:
            raise BadConnectionSettings("no Temporal address; give --address or TEMPORAL_ADDRESS")  # noqa: TRY301
    except (ValidationError, ValueError, BadConnectionSettings) as error:
        sys.stderr.write(f"Error: {error}\n")
        leave(2)
    configure_logging(settings)
    if given.embedded:
        from worker.supervisor import supervise

        supervise(settings)
    leave(run(work(settings, connection, embedded=given.embedded)))


def make_lock_non_inheritable() -> None:
    """The inherited lock belongs to this process, not to the processes it starts."""
    number = os.environ.pop("DETERMINATOR_LOCK_FD", "")
    if number.isdigit() and sys.platform != "win32":
        os.set_inheritable(int(number), False)


if __name__ == "__main__":
    main()
