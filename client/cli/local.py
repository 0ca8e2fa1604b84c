"""`determinator up`, `down`, `doctor` and `worker`: the embedded server, and what works on this machine.

This is the one module of `client` that imports `worker`: everything else in `client` talks to workers through
Temporal, and `worker` imports nothing of `client` but `client.connection` and what the folder of a run needs.
"""

from pathlib import Path

import click

from client.checkup import Check, checks
from client.cli.common import (
    Filled,
    address_option,
    json_option,
    load_settings,
    print_json,
    print_text,
    run_async,
    say,
)
from client.embedded.server import start_embedded, stop_embedded
from client.failures import BadInput, Exit
from client.terminal import TEMPORALS_VIEW, to_stdout

STYLE = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@click.command()
@click.option("--restart", is_flag=True, help="Restart the worker in any case.")
@json_option
def up(restart: bool, as_json: bool) -> None:
    """Start the embedded server and a worker with the settings in force.

    They end by themselves when nothing has been open or scheduled for half an hour. A worker with other
    settings is replaced; runs go on with the new one, those that need what it lacks wait for it.
    """
    settings = load_settings()

    connection = run_async(lambda: start_embedded(settings, restart=restart, say=say))
    if as_json:
        print_json({"address": connection.address, "ui": connection.ui_url, "home": str(settings.home)})
        return
    print_text(f"Server  {connection.address}")
    print_text(f"{TEMPORALS_VIEW}{connection.ui_url or 'off (DETERMINATOR_WEB_UI)'}")
    print_text(f"Home    {settings.home}")


@click.command()
def down() -> None:
    """Stop the embedded worker and server. Runs under way are kept and go on with the next command."""
    settings = load_settings()

    names = stop_embedded(settings.home)
    print_text(f"stopped the {' and the '.join(names)}" if names else "nothing was running")


@click.command()
@json_option
@address_option
def doctor(as_json: bool, address: str | None) -> int:
    """Check server, home, worker, model and sources, and print how to repair what does not work."""
    from rich.table import Table
    from rich.text import Text

    console = to_stdout()
    results: list[Check] = []

    async def body() -> None:
        async for check in checks(load_settings, address):
            results.append(check)
            if not as_json:
                state = Text(f"{check.state:5}", STYLE[check.state])
                line = f"{check.name}: {check.message}"
                if console.is_terminal:
                    row = Table.grid()
                    row.add_row(state, Text(line))
                    console.print(row)
                else:
                    console.print(state + Text(line), soft_wrap=True)

    run_async(body)
    if as_json:
        print_json(results)
    return Exit.FAILED if any(check.state == "fail" for check in results) else Exit.DONE


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
        from client.connection import connection_config
        from worker.daemon import work
        from worker.logs import configure_logging

        config = connection_config(address, settings)
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
