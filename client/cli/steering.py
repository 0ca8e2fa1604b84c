"""Steering a run: approve, reject, pause, resume, steer, finish, extend, candidates, cancel."""

from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from activities.contracts.evidence import Gate
from activities.plural import plural
from client.cli.common import (
    Amount,
    Duration,
    Filled,
    Name,
    by_option,
    changed_run_argument,
    json_option,
    on_changed_run,
    on_client,
    print_json,
    print_text,
    run_to_change,
    say,
)
from client.failures import NoAnswer
from client.messages import MESSAGES, MessageName
from client.runs.checks import check_addition, check_instruction, check_sources
from client.terminal import plain

if TYPE_CHECKING:
    from activities.contracts.candidates import Candidate
    from client.api import Determinator
    from client.run import Run
    from workflows.types import Progress

gate_option = click.option(
    "--gate", type=Name(get_args(Gate)), help="Which gate; default: the one that waits."
)
dispute_option = click.option(
    "--dispute", type=Filled(), metavar="ID", help="Decide the dispute of this sentence: approved, it goes."
)
note_option = click.option("--note", default="", metavar="TEXT", help="Reason; printed in the report.")


def decision(name: Literal["approve", "reject"], line: str) -> click.Command:
    """The verb that approves or rejects what waits."""

    async def decide(
        client: "Determinator",
        run: str | None,
        dispute: str | None,
        gate: Gate | None,
        by: str | None,
        note: str,
    ) -> None:
        run = await run_to_change(client, run)
        if dispute is not None:
            from client.cli.dialogue import show_version

            upheld = name == "approve"
            show_version(await client.decide(run, dispute, upheld=upheld, by=by, note=note), as_json=False)
            return
        target = await client.run(run)
        chosen = await target.decide(name, gate, by=by, note=note)
        print_text(f"{name}: the {chosen} of {target.id}")

    decide.__doc__ = line
    return click.command(name)(
        changed_run_argument(gate_option(dispute_option(by_option(note_option(on_client(decide))))))
    )


def message(name: MessageName) -> click.Command:
    """The verb that sends a message without content."""

    async def send(run: "Run") -> None:
        await MESSAGES[name].send(run)
        print_text(f"{run.id} {MESSAGES[name].sent}")

    send.__doc__ = MESSAGES[name].does
    return click.command(name)(on_changed_run(send))


approve = decision("approve", "Approve what waits at a gate.")
reject = decision("reject", "Reject what waits at a gate.")
pause, resume, finish = message("pause"), message("resume"), message("finish")


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("answers", nargs=-1, metavar="[ANSWER]...")
@by_option
@json_option
@on_client
async def answer(
    client: "Determinator", run: str, answers: tuple[str, ...], by: str | None, as_json: bool
) -> None:
    """Answer what a run asks back before it searches, one ANSWER a question in their order; "" leaves what it
    assumes. Without an ANSWER the questions are printed; `approve` accepts all that it assumes."""
    target = await client.run(run)
    if answers:
        readings = await target.answer(answers, by=by)
    else:
        readings = (await known(target)).readings
    if as_json:
        print_json([one.model_dump(mode="json") for one in readings])
        return
    if not readings:
        say(f"{target.id} asks nothing back")
    for number, one in enumerate(readings, start=1):
        print_text(plain(f"{number}. {one.text}"))


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("text", nargs=-1, metavar="TEXT")
@click.option("--add-source", metavar="NAME", help="Search this source as well.")
@on_client
async def steer(client: "Determinator", run: str, text: tuple[str, ...], add_source: str | None) -> None:
    """Give a run an instruction in your own words; it follows it from its next step on."""
    words = " ".join(text).strip()
    check_instruction(words or (add_source or ""))
    if add_source is not None:
        check_sources((add_source,))
    target = await client.run(run)
    if words:
        await target.steer(words)
    if add_source is not None:
        await target.add_source(add_source)
    print_text(f"{target.id} has received it and follows it from its next step on")


@click.command()
@changed_run_argument
@click.option("--tokens", type=click.IntRange(1))
@click.option("--cost", type=Amount(0, min_open=True), metavar="USD", help="US dollars.")
@click.option("--time", "seconds", type=Duration(), metavar="TIME", help="As in 90s, 30m, 2h.")
@click.option("--iterations", type=click.IntRange(1))
@on_client
async def extend(client: "Determinator", run: str | None, **more: Any) -> None:  # noqa: ANN401 - click's
    """Add to a run's budget while it runs."""
    added = {name: value for name, value in more.items() if value is not None}
    check_addition(added.values())
    from workflows.progress_rows import budget_rows

    target = await client.run(await run_to_change(client, run))
    for row in budget_rows(await target.extend(**added)):
        print_text(f"{row.name:8} {row.text}")


@click.command()
@changed_run_argument
@click.option(
    "--keep", type=Filled(), multiple=True, metavar="NAME", help="Keep this one; repeatable. Opens the gate."
)
@by_option
@json_option
@on_client
async def candidates(
    client: "Determinator", run: str | None, keep: tuple[str, ...], by: str | None, as_json: bool
) -> None:
    """Show the candidates a run has put forward, or keep some of them with --keep."""
    target = await client.run(await run_to_change(client, run) if keep else run or "last")
    if keep:
        kept = await target.choose_candidates(keep, by=by)
        print_text(plain("kept: " + ", ".join(kept)))
        return
    listed = (await known(target)).candidates
    if as_json:
        print_json([candidate.model_dump(mode="json") for candidate in listed])
        return
    if not listed:
        say("no candidates have been put forward (yet)")
    for candidate in listed:
        print_text(candidate_line(candidate))


async def known(run: "Run") -> "Progress":
    """What a run reports. Raises NoAnswer: without a worker nobody knows what it asks or has found."""
    seen = await run.progress()
    if seen is None:
        raise NoAnswer(f"no worker answers for {run.id}, and only the run knows this")
    return seen


def candidate_line(candidate: "Candidate") -> str:
    mechanism = candidate.proposed_mechanism or candidate.mechanism
    quality = f"[{candidate.evidence_quality}, {plural(len(candidate.support), 'quote')}]"
    return plain(f"{candidate.name}  {quality}  {mechanism}")


@click.command(help=MESSAGES["cancel"].does)
@click.option("--section", type=Filled(), metavar="ID", help="Only this section, as `s2`.")
@on_changed_run
async def cancel(run: "Run", section: str | None) -> None:
    target = await run.cancel(section)
    print_text(f"{target} {MESSAGES['cancel'].sent}")
