"""The commands of `client.messages` and `refresh`: what a person tells a run, or asks of its report."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from activities.messages import plural
from activities.report.strength import TYPE_NAMES
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
from client.failures import Exit, NoAnswer
from client.messages import Verb
from client.terminal import plain

if TYPE_CHECKING:
    from activities.contracts.candidates import Candidate
    from activities.refresh_activity import RefreshOutcome
    from activities.report.archive import Change, NewWork
    from activities.report.schema import Report
    from client.api import Determinator
    from client.run import Run
    from client.runs.revising import Reply


def show_answer(reply: "Reply", *, as_json: bool) -> Exit:
    """Print the answer to a question, with its works."""
    from activities.report.formats.prose import NOT_READ, plain_text
    from client.reports.answer import Told, with_references
    from client.reports.answer_panel import work_line

    report, state = reply.report, Told.of(reply)
    claims = state.claims
    if as_json:
        print_json(state)
        return Exit.DONE if claims else Exit.NOT_ENOUGH_EVIDENCE
    if claims and state.answered is None:
        print_text(NOT_READ)
    for sentence in (line for line in report.answer if not line.support):
        print_text(plain(plain_text(sentence, {})))
    for claim in claims:
        print_text(plain(with_references(claim)))
    for reference in report.references:
        print_text(plain(work_line(reference)))
    if not claims:
        question = reply.asked.replace('"', "'")
        print_text("This is not in the evidence of the run.")
        say(f'to search for it: determinator ask --follow-up {reply.outcome.run_id} "{question}"')
    return Exit.DONE if claims else Exit.NOT_ENOUGH_EVIDENCE


def show_version(reply: "Reply", *, as_json: bool) -> Exit:
    """Print what a change, a dispute or a decision made of a report."""
    from activities.report.formats.words import dispute_line
    from client.reports.answer import Changed

    outcome = reply.outcome
    code = Exit.DONE if outcome.made else Exit.NOT_ENOUGH_EVIDENCE
    if as_json:
        print_json(Changed.of(reply))
        return code
    differs = show_difference(reply.before, reply.report)
    for dispute in reply.report.disputes if not outcome.claims_changed else ():
        if dispute not in reply.before.disputes:
            print_text(plain(dispute_line(dispute)))
    for note in outcome.notes:
        say(plain(note))
    if not outcome.made:
        print_text("nothing was changed")
        return code
    if not differs and reply.report.disputes == reply.before.disputes:
        print_text("no sentence reads otherwise")
    print_text(version_line(outcome))
    return code


def version_line(outcome: "RefreshOutcome") -> str:
    """Return which version of a report was made, and how it is printed."""
    run = outcome.run_id
    command = f"`determinator report {run}` prints it, --version {outcome.version - 1} the one before"
    return f"Version {outcome.version} of {run}; {command}"


def show_difference(before: "Report", after: "Report") -> bool:
    """Print the difference sentence by sentence; return whether there is any."""
    from activities.report.instructions import differences

    changes = differences(before, after)
    for change in changes:
        for mark, text in (("-", change.before), ("+", change.after)):
            if text:
                print_text(plain(f"{mark} {change.id} {text}"))
    return bool(changes)


model_option = click.option(
    "--model", type=Filled(), metavar="NAME", help="Default: the model that the run was asked with."
)
dispute_option = click.option(
    "--dispute",
    type=Filled(),
    metavar="ID",
    help="Decide the dispute of this sentence: approved, its quote stands in its place.",
)


def command_of(verb: Verb) -> click.Command:
    """Return the command that sends a message.

    It has its run, the positional fields of its content, and an option for each other field.
    """
    to_report = verb.to == "report"
    option_fields = {name: field for name, field in verb.fields.items() if name not in verb.positional}
    command: Callable[..., Any] = on_client(on_report(verb) if to_report else on_run(verb))
    decides = verb.name in ("approve", "reject")
    for applies, option in (
        (to_report or verb.progress_field, json_option),
        (verb.signed, by_option),
        (to_report, model_option),
        (decides, dispute_option),
    ):
        command = option(command) if applies else command
    command = options_of(option_fields, command)
    for name in reversed(verb.positional):
        metavar = "ID" if name == "sentence" else "[ANSWER]..." if verb.progress_field else name.upper()
        words: dict[str, Any] = {"nargs": -1, "required": to_report} if name == verb.positional[-1] else {}
        command = click.argument(name, metavar=metavar, **words)(command)
    run = click.argument("run", metavar="RUN") if verb.positional else changed_run_argument
    return click.command(verb.name, help=f"{verb.help}\n\n{verb.details}")(run(command))


def on_run(verb: Verb) -> Callable[..., Awaitable[None]]:
    """Return what the command of a message to a run does.

    A decision may also be on a dispute of its finished report; where there is nothing to send, what waits
    is shown.
    """

    async def send(
        client: "Determinator",
        run: str | None,
        by: str | None = None,
        dispute: str | None = None,
        as_json: bool = False,
        **fields: Any,  # noqa: ANN401 - click passes them untyped; the message validates them
    ) -> None:
        values = {name: value for name, value in values_of(verb, fields).items() if value not in (None, ())}
        if verb.progress_field and not values:
            await show(verb, await client.run(run or "last"), as_json=as_json)
            return
        content = verb.read(values)
        name = await run_to_change(client, run)
        if dispute is not None:
            decision = {"upheld": verb.name == "approve", "note": values.get("note", "")}
            reply = await client.revise(name, "decide", by, sentence=dispute, **decision)
            show_version(reply, as_json=False)
            return
        target = await client.run(name)
        answer = await target.deliver(verb, content, by)
        if as_json:
            print_json(answer)
        else:
            print_text(plain(f"{target.id} {verb.reply_to(answer)}"))

    return send


def on_report(verb: Verb) -> Callable[..., Awaitable[Exit]]:
    """Return what the command of a message to a finished report does."""

    async def send(
        client: "Determinator",
        run: str,
        by: str | None,
        model: str | None,
        as_json: bool,
        **fields: Any,  # noqa: ANN401 - click passes them untyped; the message validates them
    ) -> Exit:
        reply = await client.revise(run, verb.name, by, model=model, **values_of(verb, fields))
        return (show_answer if verb.name == "tell" else show_version)(reply, as_json=as_json)

    return send


def values_of(verb: Verb, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was typed, the words of a text as one text."""
    return {
        name: " ".join(value) if name == "text" and name in verb.positional else value
        for name, value in fields.items()
    }


async def show(verb: Verb, run: "Run", *, as_json: bool) -> None:
    """Print what waits for an answer of this message. Raises NoAnswer: without a worker nobody knows it."""
    progress = await run.progress()
    if progress is None:
        raise NoAnswer(f"no worker answers for {run.id}, and only the run knows this")
    options = getattr(progress, verb.progress_field)
    if as_json:
        print_json(options)
        return
    if not options:
        say(f"{run.id} has no {verb.progress_field} to decide")
    for number, option in enumerate(options, start=1):
        print_text(
            candidate_line(option)
            if verb.progress_field == "candidates"
            else plain(f"{number}. {option.text}")
        )


def candidate_line(candidate: "Candidate") -> str:
    mechanism = candidate.proposed_mechanism or candidate.mechanism
    quality = f"[{candidate.evidence_quality}, {plural(len(candidate.support), 'quote')}]"
    return plain(f"{candidate.name}  {quality}  {mechanism}")


@click.command()
@changed_run_argument
@click.option("--search", is_flag=True, help="Run the searches of the report again, and show what is new.")
@json_option
@on_client
async def refresh(client: "Determinator", run: str | None, search: bool, as_json: bool) -> int:
    """Ask again for retractions and corrections of what a report cites, and print what has changed.

    PubMed, Crossref and Europe PMC are asked, also for expressions of concern.

    With --search the searches of the report are run again, and works that the run had not found are listed.
    When anything is new, a version is kept beside the report, in which nothing rests on retracted work;
    `report` prints it from then on, and the first one with --version 1. Exit code 1 when no authority
    answered for some reference.
    """
    outcome = await client.refresh(await run_to_change(client, run), search=search)
    if as_json:
        print_json(outcome)
    else:
        show_refreshed(outcome)
    for reason in outcome.failures:
        say(f"not every authority answered: {reason}")
    if outcome.unanswered:
        count = len(outcome.unanswered)
        say(f"no authority answered for {count} of {outcome.references} references; try again later")
    return Exit.FAILED if outcome.unanswered else Exit.DONE


def change_line(change: "Change") -> str:
    """`[3] A title: none -> retracted (retraction 2026-03-01, doi:10.1/x, reported by crossref)`."""
    from activities.report.versions import notice_line

    notices = "; ".join(notice_line(notice) for notice in change.notices)
    line = f"[{change.number}] {change.title}: {change.before} -> {change.after}"
    return plain(f"{line} ({notices})" if notices else line)


def new_line(work: "NewWork") -> str:
    """`+ pmid:1 A title (2026, randomised trial), pubmed: metformin`."""
    facts = [str(work.year or ""), TYPE_NAMES[work.evidence_type]]
    facts += [work.standing] if work.standing in ("retracted", "concern") else []
    found_by = f"; {work.queries[0]}" if work.queries else f"; {work.source}"
    return plain(f"+ {work.evidence_id} {work.title} ({', '.join(filter(None, facts))}){found_by}")


def show_refreshed(outcome: "RefreshOutcome") -> None:
    """Print it for a person, as what is new and what has gone."""
    for work in outcome.new:
        print_text(new_line(work))
    for change in outcome.changes:
        print_text(change_line(change))
    texts = {claim.id: claim for change in outcome.changes for claim in change.claims}
    for claim in texts.values():
        verdict = "still stands" if claim.id not in outcome.claims_lost else "no longer stands"
        print_text(plain(f"{verdict}: {claim.id} {claim.text}"))
    total, asked_count = outcome.references, len(outcome.asked)
    successes = sum(row.status in ("ok", "empty") for row in outcome.searches)
    if outcome.made:
        print_text(version_line(outcome))
    elif len(outcome.unanswered) < asked_count or successes:
        print_text(f"nothing changed since {outcome.since}")
    else:
        print_text("nobody answered or could be asked, so it is not known what has changed")
    for row in outcome.searches:
        if row.status not in ("ok", "empty"):
            print_text(
                plain(f"not searched: {row.source}: {row.status.replace('_', ' ')} {row.detail}".rstrip())
            )
    if outcome.searches:
        sources = ", ".join(dict.fromkeys(row.source for row in outcome.searches))
        line_of_searches = f"repeated {successes} of {len(outcome.searches)} searches ({sources})"
        print_text(plain(f"{line_of_searches}: {len(outcome.new)} new works"))
    if asked_count:
        print_text(plain(f"asked {', '.join(outcome.authorities)} about {asked_count} of {total} references"))
