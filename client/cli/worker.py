"""`determinator worker`: the composition root.

This is the one module of `client` that imports `worker`: everything else in `client` talks to workers through
Temporal, and `worker` imports nothing of `client` but `client.connection` and `client.exit`.
"""

from pathlib import Path

import click

from client.cli.common import Filled, address_option, load_settings, run_async
from client.failures import BadInput


@click.command()
@click.option(
    "--metrics", type=Filled(), metavar="HOST:PORT", help="Serve metrics for Prometheus at /metrics."
)
@click.option(
    "--ready-file", type=click.Path(path_type=Path), help="A file to touch while the worker can work."
)
@address_option
def worker(metrics: str | None, ready_file: Path | None, address: str | None) -> int:
    """Run a worker of a configured Temporal server in the foreground until Ctrl-C.

    The embedded server has its own, in the background.
    """
    settings = load_settings(metrics=metrics, ready_file=ready_file)

    async def body() -> int:
        from client.connection import configured
        from worker.daemon import work
        from worker.logs import configure_logging

        config = configured(address, settings)
        if config is None:
            raise BadInput(
                "a worker in the foreground is for a Temporal server of your own: name it with --address or "
                "TEMPORAL_ADDRESS. The embedded server has a worker already (`determinator up`; its log is "
                f"{settings.home / 'logs' / 'worker.log'})"
            )
        configure_logging(settings)
        return await work(settings, config)

    from worker.daemon import run

    return run_async(body, run)
