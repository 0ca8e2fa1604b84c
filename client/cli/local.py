"""`determinator up` and `down`: the embedded server and its workers, started and stopped by hand."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from client.cli.common import json_option, load_settings, print_json, print_text, run_async, say

if TYPE_CHECKING:
    from client.connection import Connection


@click.command(short_help="Start the embedded server and its worker.")
@json_option
def up(as_json: bool) -> None:
    """Start the embedded server and a worker with the settings in force."""
    settings = load_settings()

    async def body() -> "Connection":
        from client.embedded.server import start_embedded

        return await start_embedded(settings, say=say)

    connection = run_async(body)
    if as_json:
        print_json({"address": connection.address, "ui": connection.ui_url, "home": str(settings.home)})
        return
    print_text(f"Server  {connection.address}")
    print_text(f"Web UI  {connection.ui_url or 'off (DETERMINATOR_WEB_UI)'}")
    print_text(f"Home    {settings.home}")


@click.command(short_help="Stop the embedded worker and server.")
@click.option("--worker-only", is_flag=True, help="Leave the server running.")
def down(worker_only: bool) -> None:
    """Stop the embedded worker and server. Runs under way are kept and go on with the next command. The
    command server ends with them."""
    from client.embedded.server import stop_embedded

    settings = load_settings()

    async def body() -> list[str]:
        return await asyncio.to_thread(stop_embedded, settings.home, server=not worker_only)

    ended = run_async(body)
    print_text(f"stopped {listed(ended)}" if ended else "nothing was running")


def listed(names: Sequence[str]) -> str:
    """`the worker, the server and the command server`"""
    *others, last = [f"the {name}" for name in names]
    return f"{', '.join(others)} and {last}" if others else last
