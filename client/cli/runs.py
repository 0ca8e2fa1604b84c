"""`determinator status`, `list` and `events`: looking at runs."""

import asyncio
from typing import TYPE_CHECKING

import click

from client.cli.common import (
    address_option,
    json_option,
    load_settings,
    print_json,
    run_argument,
    run_async,
    say,
    with_run,
)
from client.terminal import shown

if TYPE_CHECKING:
    from client.connection import Connection
    from client.runs.listing import Row
    from workflows.types import Progress

PANEL_WIDTH = 110
PATIENCE_SECONDS = 8.0
"""How long `status` waits for a worker that is just starting."""


@click.command(short_help="Show where a run stands.")
@run_argument
@json_option
@address_option
def status(run: str, as_json: bool, address: str | None) -> None:
    """Show where a run stands: phase, searches, budget, and what it waits for."""

    async def body(connection: "Connection", run_id: str) -> None:
        from client.runs.listing import describe
        from client.runs.sections import with_sections

        row = await describe(connection.client, run_id)
        seen = await patient_progress(connection, run_id)
        if seen is not None:
            seen = await with_sections(connection.client, seen)
        if as_json:
            print_json(
                {
                    **as_data(row),
                    "progress": seen.model_dump(mode="json") if seen else None,
                    "ui": connection.link(run_id),
                }
            )
            return
        await show_status(connection, row, seen)

    with_run(address, run, body)


async def patient_progress(connection: "Connection", run_id: str) -> "Progress | None":
    """The run's own account; None, said on stderr, when no worker answers."""
    from client.runs.query import NoAnswer, progress

    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while True:
        try:
            return await progress(connection.client, run_id)
        except NoAnswer as error:
            if not connection.embedded or asyncio.get_running_loop().time() > deadline:
                say(f"{error}; what follows is what the server knows")
                return None
        await asyncio.sleep(0.2)


async def failure(connection: "Connection", run_id: str) -> str:
    """Why a run has no outcome, on one line."""
    from temporalio.client import WorkflowFailureError

    from client.runs.follow import why
    from client.runs.query import outcome

    try:
        await outcome(connection.client, run_id)
    except WorkflowFailureError as error:
        return why(error)
    return "it was ended from outside"


async def show_status(connection: "Connection", row: "Row", seen: "Progress | None") -> None:
    """Print it for a person."""
    from client.runs.display import panel, plain, to_stdout

    console = to_stdout()
    console.print(f"{row.run_id}  [bold]{row.status}[/bold]", highlight=False)
    link = connection.link(row.run_id)
    if link:
        console.print(link, highlight=False, soft_wrap=True)
    if row.status not in ("running", "completed"):
        console.print(f"it ended because {plain(await failure(connection, row.run_id))}", markup=False)
    if seen is not None:
        console.print(panel(seen), width=min(console.width, PANEL_WIDTH))
        return
    console.print(plain(row.question), markup=False, highlight=False)
    details = [row.mode, row.phase.replace("_", " "), row.stop_reason.replace("_", " ")]
    details.append(f"started {row.started.astimezone():%Y-%m-%d %H:%M}")
    console.print(", ".join(part for part in details if part), highlight=False)


@click.command("list", short_help="List runs, the newest first.")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True)
@json_option
@address_option
def list_runs(limit: int, as_json: bool, address: str | None) -> None:
    """List runs, the newest first."""
    settings = load_settings()

    async def body() -> None:
        from client.connect import connect
        from client.runs.listing import list_runs

        connection = await connect(settings, address, worker=False, say=say)
        rows = await list_runs(connection.client, limit=limit)
        if as_json:
            print_json([as_data(row) for row in rows])
        elif rows:
            show_list(rows)
        else:
            say('No runs yet. Start one with `determinator ask "..."`.')

    run_async(body)


def show_list(rows: "list[Row]") -> None:
    """Print runs as a table."""
    from rich.table import Table
    from rich.text import Text

    from client.runs.display import plain, to_stdout

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("run", no_wrap=True, min_width=max(len(row.run_id) for row in rows))
    for name, width in (("status", 10), ("mode", 9), ("started", 16)):
        table.add_column(name, no_wrap=True, min_width=width)
    table.add_column("question", overflow="ellipsis", no_wrap=True)
    for row in rows:
        state = row.status if row.status != "running" or not row.phase else row.phase.replace("_", " ")
        table.add_row(
            Text(row.run_id),
            state,
            row.mode,
            f"{row.started.astimezone():%Y-%m-%d %H:%M}",
            Text(plain(row.question)),
        )
    to_stdout().print(table)


def as_data(row: "Row") -> dict[str, object]:
    """A row as JSON."""
    return {
        "run_id": row.run_id,
        "status": row.status,
        "question": row.question,
        "mode": row.mode,
        "phase": row.phase,
        "stop_reason": row.stop_reason or None,
        "started_at": row.started.isoformat(),
        "closed_at": row.closed.isoformat() if row.closed else None,
    }


@click.command(short_help="Print what happened in a run.")
@run_argument
@click.option("--after", type=click.IntRange(0), default=0, help="Only events with a higher number.")
@json_option
@address_option
def events(run: str, after: int, as_json: bool, address: str | None) -> None:
    """Print what happened in a run, one event a line (`--json`: one JSON object a line)."""

    async def body(connection: "Connection", run_id: str) -> None:
        from client.reports.finished import all_events
        from client.runs.display import event_line, plain

        await patient_progress(connection, run_id)
        for event in await all_events(connection, run_id, after):
            if as_json:
                click.echo(shown(event.model_dump_json()))
            else:
                click.echo(plain(f"{event.seq:>4} {event.timestamp[11:19]} {event_line(event)}"))

    with_run(address, run, body)
