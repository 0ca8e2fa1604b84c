"""Steering a run: approve, reject, pause, resume, steer, finish, extend, candidates, cancel."""

import getpass
from typing import TYPE_CHECKING, Literal

import click

from client.cli.checks import check_sources
from client.cli.common import (
    Amount,
    Duration,
    Filled,
    Name,
    address_option,
    complete_run,
    complete_source,
    json_option,
    print_json,
    print_text,
    run_argument,
    say,
    with_run,
)
from client.cli.failures import BadInput

if TYPE_CHECKING:
    from pydantic import BaseModel

    from activities.candidates.types import Candidate
    from client.connection import Connection
    from workflows.types import Progress

GATES = ("plan", "candidates", "report")

gate_option = click.option("--gate", type=Name(GATES), help="Which gate; default: the one that waits.")
by_option = click.option("--by", type=Filled(), metavar="NAME", help="Who decides; default: your user name.")
note_option = click.option("--note", default="", metavar="TEXT", help="Reason; printed in the report.")


@click.command(short_help="Approve what waits at a gate.")
@run_argument
@gate_option
@by_option
@note_option
@address_option
def approve(run: str, gate: str | None, by: str | None, note: str, address: str | None) -> None:
    """Approve what waits at a gate."""
    _decide("approve", run, gate, by, note, address)


@click.command(short_help="Reject what waits at a gate.")
@run_argument
@gate_option
@by_option
@note_option
@address_option
def reject(run: str, gate: str | None, by: str | None, note: str, address: str | None) -> None:
    """Reject what waits at a gate."""
    _decide("reject", run, gate, by, note, address)


def _decide(
    action: Literal["approve", "reject"],
    run: str,
    gate: str | None,
    by: str | None,
    note: str,
    address: str | None,
) -> None:
    async def body(connection: "Connection", run_id: str) -> None:
        from workflows.types import Approval

        seen = await running(connection, run_id)
        if seen is not None and seen.waiting_for is None:
            raise BadInput(f"{run_id} waits at no gate (it is {seen.phase.replace('_', ' ')})")
        if seen is not None and gate is not None and seen.waiting_for != gate:
            raise BadInput(f"{run_id} waits for the {seen.waiting_for}, not for the {gate}")
        chosen = gate or (seen.waiting_for if seen else None)
        if chosen is None:
            raise BadInput("no worker answers, so the gate that waits is not known; name it with --gate")
        approval = Approval.model_validate({"gate": chosen, "by": by or user(), "note": note})
        await signal(connection, run_id, action, approval)
        print_text(f"{action}: the {chosen} of {run_id}")

    with_run(address, run, body)


@click.command(short_help="Pause a run at its next step.")
@run_argument
@address_option
def pause(run: str, address: str | None) -> None:
    """Pause a run at its next step; waiting uses no budget."""
    _signal(run, "pause", "pauses at its next step", address)


@click.command(short_help="Resume a paused run.")
@run_argument
@address_option
def resume(run: str, address: str | None) -> None:
    """Resume a paused run."""
    _signal(run, "resume", "goes on", address)


@click.command(short_help="Stop searching and write the report.")
@run_argument
@address_option
def finish(run: str, address: str | None) -> None:
    """Stop searching and write the report."""
    _signal(run, "finish_now", "stops searching and writes its report", address)


def _signal(run: str, name: str, effect: str, address: str | None) -> None:
    async def body(connection: "Connection", run_id: str) -> None:
        await running(connection, run_id)
        await signal(connection, run_id, name)
        print_text(f"{run_id} {effect}")

    with_run(address, run, body)


@click.command(short_help="Give a run an instruction.")
@click.argument("run", metavar="RUN", shell_complete=complete_run)
@click.argument("text", nargs=-1, metavar="TEXT")
@click.option(
    "--add-source", metavar="NAME", shell_complete=complete_source, help="Search this source as well."
)
@address_option
def steer(run: str, text: tuple[str, ...], add_source: str | None, address: str | None) -> None:
    """Give a run an instruction in your own words; it follows it from its next step on."""
    words = " ".join(text).strip()
    if not words and add_source is None:
        raise BadInput(
            'the instruction is empty; write one: `determinator steer last "only trials in adults"`'
        )
    if add_source is not None:
        check_sources((add_source,))

    async def body(connection: "Connection", run_id: str) -> None:
        from workflows.types import AddSource, Steer

        await running(connection, run_id)
        if words:
            await signal(connection, run_id, "steer", Steer(text=words, by=user()))
        if add_source is not None:
            await signal(connection, run_id, "add_source", AddSource(source=add_source))
        print_text(f"{run_id} has received it and follows it from its next step on")

    with_run(address, run, body)


@click.command(short_help="Add to a run's budget.")
@run_argument
@click.option("--tokens", type=click.IntRange(1))
@click.option("--cost", type=Amount(0, min_open=True), metavar="USD", help="US dollars.")
@click.option("--time", "seconds", type=Duration(), metavar="TIME", help="As in 90s, 30m or 2h.")
@click.option("--iterations", type=click.IntRange(1))
@address_option
def extend(
    run: str,
    tokens: int | None,
    cost: float | None,
    seconds: float | None,
    iterations: int | None,
    address: str | None,
) -> None:
    """Add to a run's budget while it runs."""
    if not (tokens or cost or seconds or iterations):
        raise BadInput("nothing to add; give --tokens, --cost, --time or --iterations")

    async def body(connection: "Connection", run_id: str) -> None:
        from client.runs.display import budget_rows
        from workflows.types import BudgetStatus, ExtendBudget

        await running(connection, run_id)
        more = ExtendBudget(
            tokens=tokens or 0,
            cost_microusd=round((cost or 0.0) * 1e6),
            seconds=seconds or 0.0,
            iterations=iterations or 0,
        )
        budget = await connection.client.get_workflow_handle(run_id).execute_update(
            "extend_budget", more, result_type=BudgetStatus
        )
        for name, _, _, shown in budget_rows(budget):
            print_text(f"{name:8} {shown}")

    with_run(address, run, body)


@click.command(short_help="Show or choose candidates.")
@run_argument
@click.option(
    "--keep", type=Filled(), multiple=True, metavar="NAME", help="Keep this one; repeatable. Opens the gate."
)
@by_option
@json_option
@address_option
def candidates(run: str, keep: tuple[str, ...], by: str | None, as_json: bool, address: str | None) -> None:
    """Show the candidates a run has put forward, or keep some of them with --keep."""

    async def body(connection: "Connection", run_id: str) -> None:
        from client.cli.runs import progress_when_ready
        from client.terminal import plain
        from workflows.types import ChooseCandidates

        if keep:
            await running(connection, run_id)
            kept = await connection.client.get_workflow_handle(run_id).execute_update(
                "choose_candidates", ChooseCandidates(names=keep, by=by or user()), result_type=list[str]
            )
            print_text(plain("kept: " + ", ".join(kept)))
            return
        seen = await progress_when_ready(connection, run_id)
        found = seen.candidates if seen else ()
        if as_json:
            print_json([candidate.model_dump(mode="json") for candidate in found])
        elif not found:
            say("no candidates have been put forward (yet)")
        for candidate in () if as_json else found:
            print_text(candidate_line(candidate))

    with_run(address, run, body)


def candidate_line(candidate: "Candidate") -> str:
    """A candidate on one line."""
    from client.terminal import plain

    mechanism = candidate.proposed_mechanism or candidate.mechanism
    count = len(candidate.support)
    quality = f"[{candidate.evidence_quality}, {count} quote{'' if count == 1 else 's'}]"
    return plain(f"{candidate.name}  {quality}  {mechanism}")


@click.command(short_help="Stop a run or one of its sections; a report is still written.")
@run_argument
@click.option("--section", type=Filled(), metavar="ID", help="Only this section, as `s2`.")
@address_option
def cancel(run: str, section: str | None, address: str | None) -> None:
    """Stop a run; it still writes a report from what it found."""

    async def body(connection: "Connection", run_id: str) -> None:
        from temporalio.service import RPCError, RPCStatusCode

        seen = await running(connection, run_id)
        if section and seen and section not in (known := [s.id for s in seen.sections]):
            raise BadInput(f"{run_id} has no section {section}; it has {', '.join(known) or 'none'}")
        target = f"{run_id}/{section}" if section else run_id
        try:
            await connection.client.get_workflow_handle(target).cancel()
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            raise BadInput(f"{target} is not running") from error
        print_text(f"{target} is being cancelled; a report of what was found is still written")

    with_run(address, run, body)


async def running(connection: "Connection", run_id: str) -> "Progress | None":
    """The progress of a run under way; None when no worker answers. Raises BadInput when it is over."""
    from client.cli.runs import progress_when_ready
    from client.runs.listing import describe

    row = await describe(connection.client, run_id)
    if row.status != "running":
        raise BadInput(f"{run_id} is over ({row.status})")
    return await progress_when_ready(connection, run_id)


async def signal(
    connection: "Connection", run_id: str, name: str, payload: "BaseModel | None" = None
) -> None:
    """Send one of the run's signals."""
    handle = connection.client.get_workflow_handle(run_id)
    await handle.signal(name, args=[] if payload is None else [payload])


def user() -> str:
    """The name of the user, as far as the system knows it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
