"""`determinator up`, `down` and `worker`: the pieces by hand."""

import asyncio
from typing import TYPE_CHECKING

import click

from client.cli.common import address_option, json_option, load_settings, print_json, run_async, say
from client.cli.failures import BadInput

if TYPE_CHECKING:
    from client.connection import Connection


@click.command(short_help="Start the embedded server and its worker.")
@json_option
def up(as_json: bool) -> None:
    """Start the embedded server and its worker, or renew a worker whose settings have changed."""
    settings = load_settings()

    async def body() -> "Connection":
        from client.embedded.server import bring_up

        return await bring_up(settings, renew=True, say=say)

    connection = run_async(body)
    if as_json:
        print_json({"address": connection.address, "ui": connection.ui_url, "home": str(settings.home)})
        return
    click.echo(f"Server  {connection.address}")
    click.echo(f"Web UI  {connection.ui_url}")
    click.echo(f"Home    {settings.home}")


@click.command(short_help="Stop the embedded worker and server.")
@click.option("--worker-only", is_flag=True, help="Leave the server running.")
def down(worker_only: bool) -> None:
    """Stop the embedded worker and server. Runs under way are kept and go on with the next command."""
    from client.embedded.server import take_down

    settings = load_settings()

    async def body() -> list[str]:
        return await asyncio.to_thread(take_down, settings.home, server=not worker_only)

    ended = run_async(body)
    click.echo(f"stopped the {' and the '.join(ended)}" if ended else "nothing was running")


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

        config = configured(address)
        if config is not None:
            configure_logging(settings)
            return await work(settings, config)
        return await _embedded_worker()

    async def _embedded_worker() -> int:
        from client.embedded.locks import Locked
        from client.embedded.server import bring_up, worker_seat
        from worker.daemon import work
        from worker.logs import configure_logging

        connection = await bring_up(settings, worker=False, say=say)
        try:
            seat = worker_seat(settings, connection.address)
        except Locked:
            raise BadInput(
                "this home has a worker already; stop it with `determinator down --worker-only`"
            ) from None
        with seat:
            configure_logging(settings)
            return await work(settings, {"target_host": connection.address})

    return run_async(body)
