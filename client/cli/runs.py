"""`determinator status`, `list`, `events`, `inspect` and `rewind`: looking at runs, and going back."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from activities.contracts.stop_reasons import in_short
from activities.messages import plural
from client.cli.common import (
    changed_run_argument,
    json_option,
    on_client,
    on_run,
    print_json,
    print_text,
    run_to_change,
    say,
)
from client.cli.options import options_of
from client.listing import Listing, count_reviews, shortest_name
from client.terminal import TEMPORALS_VIEW, plain, plain_table, printable, to_stdout

if TYPE_CHECKING:
    from activities.contracts.evidence import Vigilance
    from activities.contracts.iterations import IterationRecord
    from client.api import Determinator
    from client.connection import Connection
    from client.listing import Row
    from client.run import Run, RunStatus


PANEL_WIDTH = 110
MAX_PIPE_COLUMNS = 80
"""Columns of a list and of a status that go into a pipe or a file."""
NEEDED_BESIDE = 70
"""Columns of a list beside the id, with room for the question."""
SHORT_ID = 20
SHORT_STATES = {"waiting for approval": "waiting", "waiting for model": "no model"}


@click.command()
@json_option
@on_run
async def status(run: "Run", as_json: bool) -> None:
    """Show the state of a run: phase, searches, budget, and what it waits for."""
    state = await run.status()
    if as_json:
        print_json(
            {
                **as_data(state.row),
                "progress": state.progress,
                "graph": state.graph,
                "ui": run.link,
                "address": run.connection.address,
            }
        )
        return
    await show_status(run.connection, state)


async def failure(connection: "Connection", run_id: str) -> str:
    """Return why a run has no outcome, on one line."""
    from temporalio.client import WorkflowFailureError

    from client.runs.follow import failure_reason
    from client.runs.query import outcome

    try:
        await outcome(connection.client, run_id)
    except WorkflowFailureError as error:
        return failure_reason(error)
    return "it was ended from outside"


async def show_status(connection: "Connection", status: "RunStatus") -> None:
    from client.runs.display import graph_line, panel
    from client.runs.stuck import find_standstill

    row, progress = status.row, status.progress
    console = to_stdout(MAX_PIPE_COLUMNS)
    console.print(f"{row.run_id}  [bold]{row.status}[/bold]", highlight=False)
    if link := connection.link(row.run_id):
        click.echo(f"{TEMPORALS_VIEW}{link}")
    console.print(f"Server {connection.address}", highlight=False)
    if row.status not in ("running", "completed"):
        console.print(f"it ended because {plain(await failure(connection, row.run_id))}", markup=False)
    if row.status == "running" and (standstill := await find_standstill(connection.client, row.run_id)):
        console.print(plain(standstill.line), markup=False)
    if progress is not None:
        console.print(panel(progress), width=min(console.width, PANEL_WIDTH))
        if status.graph is not None:
            print_text(graph_line(status.graph))
        return
    console.print(plain(row.question), markup=False, highlight=False)
    details = [row.mode, row.phase.replace("_", " "), in_short(row.stop_reason)]
    details.append(f"started {row.started.astimezone():%Y-%m-%d %H:%M}")
    console.print(", ".join(part for part in details if part), highlight=False)


@click.command("list")
@partial(options_of, Listing.model_fields)
@json_option
@on_client
async def list_runs(client: "Determinator", as_json: bool, **options: object) -> None:
    """List runs, the newest first. A run can be named by any unambiguous part of its id."""
    listing = Listing.read(options)
    rows = await client.runs(listing)
    if as_json:
        print_json([as_data(row) for row in rows])
    elif rows:
        show_list(rows)
    elif listing.is_narrow:
        say("No run fits; leave out --state or --text to see more.")
    else:
        say('No runs yet. Start one with `determinator ask "..."`.')
    if not (listing.is_narrow or as_json) and not client.is_new:
        reviews = await count_reviews((await client.connect(worker=False)).client)
        if reviews:
            say(f"Reviews are listed by `determinator review list`: {reviews}.")


def show_list(rows: "list[Row]") -> None:
    """Print runs as a table. On a narrow terminal the hash replaces the id: it names the run as well."""
    from rich.text import Text

    console = to_stdout(MAX_PIPE_COLUMNS)
    is_wide = console.width >= max(len(row.run_id) for row in rows) + NEEDED_BESIDE
    table = plain_table()
    lines = []
    for row in rows:
        state = row.status if row.status != "running" or not row.phase else row.phase.replace("_", " ")
        name = row.run_id if is_wide else shortest_name(row.run_id)[-SHORT_ID:]
        start = f"{row.started.astimezone():%Y-%m-%d %H:%M}"
        lines.append((name, SHORT_STATES.get(state, state), row.mode, start, plain(row.question)))
    room = console.width
    for place, title in enumerate(("run", "status", "mode", "started")):
        width = max(len(title), *(len(line[place]) for line in lines))
        room -= width + 2
        table.add_column(title, no_wrap=True, min_width=width)
    # the rest of the line: Rich would shorten all columns alike for a long question
    table.add_column("question", overflow="ellipsis", no_wrap=True, max_width=max(room - 2, 8))
    for line in lines:
        table.add_row(*map(Text, line))
    console.print(table)


def as_data(row: "Row") -> dict[str, object]:
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


@click.command()
@click.option("--after", type=click.IntRange(0), default=0, help="Only events with a higher number.")
@json_option
@on_run
async def events(run: "Run", after: int, as_json: bool) -> None:
    """Print what happened in a run, one event a line (`--json`: one JSON object a line)."""
    from client.runs.display import event_line

    async for event in run.events(after, follow=False):
        if as_json:
            click.echo(printable(event.model_dump_json()))
        else:
            print_text(plain(f"{event.seq:>4} {event.timestamp[11:19]} {event_line(event)}"))


WIDTH = 11
"""Columns of the words that lines begin with."""


@click.command()
@json_option
@on_run
async def inspect(run: "Run", as_json: bool) -> None:
    """Show each iteration of a run and of its sections, and what it cost.

    It has what was thought, what was missing, what was searched and found, and how that was judged.
    `determinator rewind` goes back to one of them.
    """
    from activities.roles import readers

    records = await run.iterations()
    totals = readers.totals(run.settings.home)
    if as_json:
        print_json({"run_id": run.id, "iterations": records, "second_readers": totals})
        return
    if not records:
        print_text(f"{run.id} has no iteration yet")
    for line in (*lines_of(records), *lines_of_readers(totals)):
        print_text(line)


def lines_of(records: "Sequence[IterationRecord]") -> list[str]:
    return [line for record in records for line in _lines(record)]


def lines_of_readers(totals: "Mapping[str, Vigilance]") -> list[str]:
    """Return a line for each model that read as second reader in any run of this home."""
    from activities.analysis.scale import wilson

    lines: list[str] = []
    for model, vigilance in sorted(totals.items()):
        share, low, high = wilson(vigilance.missed, vigilance.planted, z=1.96)
        lines.append(
            f"second reader {plain(model)}, all runs: found {vigilance.noticed} of "
            f"{plural(vigilance.planted, 'planted error')} (missed {share:.0%}, "
            f"95% interval {low:.0%} to {high:.0%}), "
            f"refused {vigilance.refused} of {plural(vigilance.true, 'true sentence')}"
        )
    return lines


def _lines(record: "IterationRecord") -> list[str]:
    from activities.report.formats.prose import rows

    label = f"{record.section} iteration" if record.section else "iteration"
    time = record.started_at[11:19]
    duration = f"{record.seconds:.0f} s" if record.seconds else ""
    head = "  ".join(filter(None, (f"{label} {record.iteration}", time, duration, cost_of(record))))
    lines = (f"  {word.lower():{WIDTH}}{plain(text)}" for word, text in rows(record) if text)
    return [plain(head), *lines]


def cost_of(record: "IterationRecord") -> str:
    """`3 calls, 4,512 tokens, $0.0123`; empty when no model was asked."""
    if not record.model_calls:
        return ""
    cost = record.cost_microusd
    money = "cost unknown" if cost is None else f"${cost / 1e6:.4f}"
    return f"{plural(record.model_calls, 'call')}, {record.tokens:,} tokens, {money}"


@click.command()
@changed_run_argument
@click.option(
    "--to-iteration",
    "iteration",
    type=click.IntRange(1),
    required=True,
    metavar="N",
    help="The iteration to begin again; `determinator inspect` shows them.",
)
@json_option
@on_client
async def rewind(client: "Determinator", run: str | None, iteration: int, as_json: bool) -> None:
    """Reset a run to the beginning of an iteration; it continues from there under the same id.

    A run that has ended may be rewound, too.

    Everything after it is discarded: searches, judgements, and people's decisions. Model answers that were
    paid for stay in the store and are not bought again when the same is asked. The report files that
    the run left are renamed and kept.

    A run with sections (deep, hierarchical) has its iterations in them; it goes back to before they began:
    iteration 1.
    """
    from client.reports.load import set_aside
    from client.runs.rewinding import rewind as reset

    target = await client.run(await run_to_change(client, run), worker=False)
    execution = await reset(target.connection.client, target.id, iteration)
    paths = set_aside(client.settings, target.id)
    await client.run(target.id)  # it runs now: see that a worker serves it
    if as_json:
        outcome = {"run_id": target.id, "iteration": iteration, "execution": execution, "set_aside": paths}
        print_json(outcome)
        return
    for path in paths:
        print_text(f"the earlier report is now {path}")
    print_text(
        f"{target.id} goes on at iteration {iteration}; follow it with `determinator watch {target.id}`"
    )
