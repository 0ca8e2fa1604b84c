"""`determinator inspect` and `rewind`: the iterations of a run, and going back to one of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from activities.messages import plural
from client.cli.common import (
    changed_run_argument,
    json_option,
    on_client,
    on_run,
    print_json,
    print_text,
    run_to_change,
)
from client.terminal import plain

if TYPE_CHECKING:
    from activities.contracts.evidence import Vigilance
    from activities.contracts.iterations import IterationRecord
    from client.api import Determinator
    from client.run import Run

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
    read = readers.totals(run.settings.home)
    if as_json:
        print_json({"run_id": run.id, "iterations": records, "second_readers": read})
        return
    if not records:
        print_text(f"{run.id} has no iteration yet")
    for line in (*lines_of(records), *lines_of_readers(read)):
        print_text(line)


def lines_of(records: "Sequence[IterationRecord]") -> list[str]:
    return [line for record in records for line in _lines(record)]


def lines_of_readers(read: "Mapping[str, Vigilance]") -> list[str]:
    """Return a line for each model that read as second reader in any run of this home."""
    from activities.roles.readers import missed_share

    lines: list[str] = []
    for model, vigilance in sorted(read.items()):
        share, low, high = missed_share(vigilance)
        lines.append(
            f"second reader {plain(model)}, all runs: found {vigilance.noticed} of "
            f"{plural(vigilance.planted, 'planted error')} (missed {share:.0%}, "
            f"95% interval {low:.0%} to {high:.0%}), "
            f"refused {vigilance.refused} of {plural(vigilance.true, 'true sentence')}"
        )
    return lines


def _lines(record: "IterationRecord") -> list[str]:
    from activities.report.formats.prose import rows

    where = f"{record.section} iteration" if record.section else "iteration"
    time = record.started_at[11:19]
    duration = f"{record.seconds:.0f} s" if record.seconds else ""
    first = "  ".join(filter(None, (f"{where} {record.iteration}", time, duration, cost_of(record))))
    lines = (f"  {word.lower():{WIDTH}}{plain(text)}" for word, text in rows(record) if text)
    return [plain(first), *lines]


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
        made = {"run_id": target.id, "iteration": iteration, "execution": execution, "set_aside": paths}
        print_json(made)
        return
    for path in paths:
        print_text(f"the earlier report is now {path}")
    print_text(
        f"{target.id} goes on at iteration {iteration}; follow it with `determinator watch {target.id}`"
    )
