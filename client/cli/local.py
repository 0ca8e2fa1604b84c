"""`determinator up` and `down`: the embedded server and its worker, started and stopped by hand."""

from typing import TYPE_CHECKING

import click

from client.cli.common import json_option, load_settings, print_json, print_text, run_async, say

if TYPE_CHECKING:
    from client.connection import Connection


@click.command()
@click.option("--restart", is_flag=True, help="Restart the worker with the settings in force.")
@json_option
def up(restart: bool, as_json: bool) -> None:
    """Start the embedded server and a worker with the settings in force.

    They end by themselves when nothing has been open or scheduled for half an hour. A worker that is busy
    with runs of other settings is replaced with --restart only; its runs go on with the new one.
    """
    settings = load_settings()

    async def body() -> "Connection":
        from client.embedded.server import start_embedded

        return await start_embedded(settings, restart=restart, say=say)

    connection = run_async(body)
    if as_json:
        print_json({"address": connection.address, "ui": connection.ui_url, "home": str(settings.home)})
        return
    print_text(f"Server  {connection.address}")
    print_text(f"Web UI  {connection.ui_url or 'off (DETERMINATOR_WEB_UI)'}")
    print_text(f"Home    {settings.home}")


@click.command()
def down() -> None:
    """Stop the embedded worker and server. Runs under way are kept and go on with the next command."""
    from client.embedded.server import stop_embedded

    settings = load_settings()

    ended = stop_embedded(settings.home)
    print_text(f"stopped the {' and the '.join(ended)}" if ended else "nothing was running")
