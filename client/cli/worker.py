"""`determinator worker`: the composition root.

This is the one module of `client` that imports `worker`: everything else in `client` talks to workers through
Temporal, and `worker` imports nothing of `client` but `client.connection` and `client.exit`.
"""

import click

from client.cli.common import address_option, load_settings, run_async, say
from client.cli.failures import BadInput


@click.command(short_help="Run a worker in the foreground.")
@address_option
def worker(address: str | None) -> int:
    """Run a worker in the foreground until Ctrl-C: of the server that is configured, else of the embedded
    one, in place of its background worker."""
    settings = load_settings()

    async def body() -> int:
        from client.connection import configured
        from worker.daemon import work
        from worker.logs import configure_logging

        config = configured(address, settings)
        if config is not None:
            configure_logging(settings)
            return await work(settings, config)
        return await _embedded_worker()

    async def _embedded_worker() -> int:
        from client.embedded.locks import Locked
        from client.embedded.server import start_embedded
        from client.embedded.workers import lock_worker
        from worker.daemon import work
        from worker.logs import configure_logging

        connection = await start_embedded(settings, worker=False, say=say)
        try:
            lock = lock_worker(settings, connection.address)
        except Locked:
            raise BadInput(
                "this home has a worker already; stop it with `determinator down --worker-only`"
            ) from None
        with lock:
            configure_logging(settings)
            return await work(settings, {"target_host": connection.address}, embedded=True)

    from worker.event_loop import run

    return run_async(body, run)
