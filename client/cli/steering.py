"""Steering a run: approve, reject, pause, resume, steer, finish, extend, candidates, cancel."""

from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from activities.types import Gate
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
from client.failures import BadInput
from client.runs.checks import check_sources

if TYPE_CHECKING:
    from activities.candidates.types import Candidate
    from client.run import Run

gate_option = click.option(
    "--gate", type=Name(get_args(Gate)), help="Which gate; default: the one that waits."
)
by_option = click.option("--by", type=Filled(), metavar="NAME", help="Who decides; default: your user name.")
note_option = click.option("--note", default="", metavar="TEXT", help="Reason; printed in the report.")


@click.command()
@run_argument
@gate_option
@by_option
@note_option
@address_option
def approve(run: str, address: str | None, **decision: Any) -> None:  # noqa: ANN401 - click's
    """Approve what waits at a gate."""
    _decide("approve", run, address, **decision)


@click.command()
@run_argument
@gate_option
@by_option
@note_option
@address_option
def reject(run: str, address: str | None, **decision: Any) -> None:  # noqa: ANN401 - click's
    """Reject what waits at a gate."""
    _decide("reject", run, address, **decision)


def _decide(
    action: Literal["approve", "reject"],
    name: str,
    address: str | None,
    *,
    gate: Gate | None,
    by: str | None,
    note: str,
) -> None:
    async def body(run: "Run") -> None:
        decide = run.approve if action == "approve" else run.reject
        chosen = await decide(gate, by=by, note=note)
        print_text(f"{action}: the {chosen} of {run.id}")

    with_run(address, name, body)


@click.command()
@run_argument
@address_option
def pause(run: str, address: str | None) -> None:
    """Pause a run at its next step; waiting uses no budget."""

    async def body(found: "Run") -> None:
        await found.pause()
        print_text(f"{found.id} pauses at its next step")

    with_run(address, run, body)


@click.command()
@run_argument
@address_option
def resume(run: str, address: str | None) -> None:
    """Resume a paused run."""

    async def body(found: "Run") -> None:
        await found.resume()
        print_text(f"{found.id} goes on")

    with_run(address, run, body)


@click.command()
@run_argument
@address_option
def finish(run: str, address: str | None) -> None:
    """Stop searching and write the report."""

    async def body(found: "Run") -> None:
        await found.finish()
        print_text(f"{found.id} stops searching and writes its report")

    with_run(address, run, body)


@click.command()
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

    async def body(found: "Run") -> None:
        if words:
            await found.steer(words)
        if add_source is not None:
            await found.add_source(add_source)
        print_text(f"{found.id} has received it and follows it from its next step on")

    with_run(address, run, body)


@click.command()
@run_argument
@click.option("--tokens", type=click.IntRange(1))
@click.option("--cost", type=Amount(0, min_open=True), metavar="USD", help="US dollars.")
@click.option("--time", "seconds", type=Duration(), metavar="TIME", help="As in 90s, 30m, 2h.")
@click.option("--iterations", type=click.IntRange(1))
@address_option
def extend(
    run: str,
    address: str | None,
    **more: Any,  # noqa: ANN401 - click's
) -> None:
    """Add to a run's budget while it runs."""
    added = {name: value for name, value in more.items() if value is not None}
    if not added:
        raise BadInput("nothing to add; give --tokens, --cost, --time or --iterations")

    async def body(found: "Run") -> None:
        from client.runs.display import budget_rows

        budget = await found.extend(**added)
        for name, _, _, shown in budget_rows(budget):
            print_text(f"{name:8} {shown}")

    with_run(address, run, body)


@click.command()
@run_argument
@click.option(
    "--keep", type=Filled(), multiple=True, metavar="NAME", help="Keep this one; repeatable. Opens the gate."
)
@by_option
@json_option
@address_option
def candidates(run: str, keep: tuple[str, ...], by: str | None, as_json: bool, address: str | None) -> None:
    """Show the candidates a run has put forward, or keep some of them with --keep."""

    async def body(run: "Run") -> None:
        from client.terminal import plain

        if keep:
            kept = await run.choose_candidates(keep, by=by)
            print_text(plain("kept: " + ", ".join(kept)))
            return
        seen = await run.progress()
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


@click.command()
@run_argument
@click.option("--section", type=Filled(), metavar="ID", help="Only this section, as `s2`.")
@address_option
def cancel(run: str, section: str | None, address: str | None) -> None:
    """Stop a run; it still writes a report from what it found."""

    async def body(found: "Run") -> None:
        target = await found.cancel(section)
        print_text(f"{target} is being cancelled; a report of what was found is still written")

    with_run(address, run, body)
