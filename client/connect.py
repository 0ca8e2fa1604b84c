"""Connecting a command: to the configured server, else to the embedded one."""

from temporalio.client import WorkflowExecutionStatus

from activities.settings import Settings
from client.connection import Connection, Say, configured, open_client, quiet
from client.embedded.server import serve, start_embedded
from client.listing import description, find_run


async def connect(
    settings: Settings,
    address: str | None = None,
    *,
    worker: bool = True,
    for_run: bool = False,
    say: Say = quiet,
) -> Connection:
    """Connect to the configured server, else to the embedded one, which is started when it is not running.

    With `worker`, an embedded server gets a background worker with these settings; with `for_run`, that
    worker is kept as it is until the connection is released. `say` receives what a person should know.
    Raises NoConnection and BadConnectionSettings.
    """
    config = configured(address, settings)
    if config is not None:
        client = await open_client(config)
        return Connection(
            client, embedded=False, address=config["target_host"], task_queue=settings.task_queue
        )
    return await start_embedded(settings, worker=worker, for_run=for_run, say=say)


async def connect_to_run(
    settings: Settings, address: str | None, name: str, *, worker: bool = True, say: Say = quiet
) -> tuple[Connection, str]:
    """Connect and find a run by any unambiguous part of its id, or `last`. With `worker`, an embedded server
    gets a worker for the run's own queue. Raises NoConnection, BadConnectionSettings and NoSuchRun."""
    connection = await connect(settings, address, worker=False, say=say)
    run_id = await find_run(connection.client, name)
    if worker and connection.embedded and (found := await description(connection.client, run_id)):
        running = found.status == WorkflowExecutionStatus.RUNNING
        connection = await serve(settings, connection, found.task_queue, running=running, say=say)
    return connection, run_id
