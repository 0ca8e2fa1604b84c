"""Steering a run: approve, reject, pause, resume, steer, finish, extend, candidates, cancel."""

from typing import TYPE_CHECKING, Any

import click

from activities.plural import plural
from client.cli.common import (
    Filled,
    by_option,
    changed_run_argument,
    json_option,
    on_client,
    print_json,
    print_text,
    run_to_change,
    say,
)
from client.cli.options import options_of
from client.failures import NoAnswer
from client.messages import (
    Approve,
    Cancel,
    Choose,
    Decision,
    Extend,
    Finish,
    Message,
    Pause,
    Reject,
    Resume,
    Steer,
)
from client.terminal import plain

if TYPE_CHECKING:
    from activities.contracts.candidates import Candidate
    from client.api import Determinator
    from client.run import Run
    from workflows.types import Progress


def verb(kind: type[Message]) -> click.Command:
    """Return the verb that sends a message, with an option for each of its fields. A decision may also be on
    a dispute of a finished report."""
    decides = issubclass(kind, Decision)

    async def send(
        client: "Determinator",
        run: str | None,
        by: str | None = None,
        dispute: str | None = None,
        **fields: Any,  # noqa: ANN401 - click passes them untyped; the message validates them
    ) -> None:
        message = kind(**{name: value for name, value in fields.items() if value is not None})
        name = await run_to_change(client, run)
        if dispute is not None:
            from client.cli.dialogue import show_version

            upheld, note = kind is Approve, fields["note"] or ""
            decided = await client.decide(name, dispute, upheld=upheld, by=by, note=note)
            show_version(decided, as_json=False)
            return
        target = await client.run(name)
        print_text(plain(f"{target.id} {await message.send(target, by)}"))

    send.__doc__ = kind.__doc__
    command = options_of(kind.model_fields, on_client(send))
    if decides:
        command = by_option(dispute_option(command))
    return click.command(kind.name)(changed_run_argument(command))


dispute_option = click.option(
    "--dispute", type=Filled(), metavar="ID", help="Decide the dispute of this sentence: approved, it goes."
)
approve, reject, extend = verb(Approve), verb(Reject), verb(Extend)
pause, resume, finish, cancel = verb(Pause), verb(Resume), verb(Finish), verb(Cancel)


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
        print_json(readings)
        return
    if not readings:
        say(f"{target.id} asks nothing back")
    for number, one in enumerate(readings, start=1):
        print_text(plain(f"{number}. {one.text}"))


@click.command(help=Steer.__doc__)
@click.argument("run", metavar="RUN")
@click.argument("text", nargs=-1, metavar="TEXT")
@click.option("--add-source", metavar="NAME", help="Search this source as well.")
@on_client
async def steer(client: "Determinator", run: str, text: tuple[str, ...], add_source: str | None) -> None:
    message = Steer(text=" ".join(text).strip(), add_source=add_source)
    target = await client.run(run)
    print_text(f"{target.id} {await message.send(target)}")


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
        print_text(plain(f"{target.id} {await Choose(names=[*keep]).send(target, by)}"))
        return
    listed = (await known(target)).candidates
    if as_json:
        print_json(listed)
        return
    if not listed:
        say("no candidates have been put forward (yet)")
    for candidate in listed:
        print_text(candidate_line(candidate))


async def known(run: "Run") -> "Progress":
    """Return what a run reports. Raises NoAnswer: without a worker nobody knows what it asks or has found."""
    seen = await run.progress()
    if seen is None:
        raise NoAnswer(f"no worker answers for {run.id}, and only the run knows this")
    return seen


def candidate_line(candidate: "Candidate") -> str:
    mechanism = candidate.proposed_mechanism or candidate.mechanism
    quality = f"[{candidate.evidence_quality}, {plural(len(candidate.support), 'quote')}]"
    return plain(f"{candidate.name}  {quality}  {mechanism}")
