"""`determinator tell`, `change` and `dispute`: what a person asks of a finished report."""

from typing import TYPE_CHECKING

import click

from client.cli.common import (
    Filled,
    by_option,
    json_option,
    on_client,
    print_json,
    print_text,
    say,
)
from client.failures import Exit
from client.terminal import plain

if TYPE_CHECKING:
    from activities.report.schema import Report
    from client.api import Determinator
    from client.runs.revising import Answered

run_argument = click.argument("run", metavar="RUN")
text_argument = click.argument("text", nargs=-1, metavar="TEXT", required=True)
model_option = click.option(
    "--model", type=Filled(), metavar="NAME", help="Default: the model that the run was asked with."
)


@click.command()
@run_argument
@text_argument
@model_option
@by_option
@json_option
@on_client
async def tell(
    client: "Determinator", run: str, text: tuple[str, ...], model: str | None, by: str | None, as_json: bool
) -> int:
    """Ask a finished report a question of your own. The evidence that the run has answers it, with quotes,
    by the checks of every report, in one or two calls of a model; a sentence of the report is named by its id
    (s2.3) or its number. Exit code 4 when this evidence does not say it."""
    from activities.report.formats.prose import NOT_READ
    from client.reports.answer import with_references
    from client.reports.answer_panel import work_line
    from client.reports.replies import Told

    answered = await client.tell(run, " ".join(text), by=by, model=model)
    report, told = answered.report, Told.of(answered)
    claims = told.claims
    if as_json:
        print_json(told)
        return Exit.DONE if claims else Exit.NOT_ENOUGH_EVIDENCE
    if claims and told.answered is None:
        print_text(NOT_READ)
    for sentence in (one for one in report.answer if not one.support):
        print_text(plain(sentence.text))
    for claim in claims:
        print_text(plain(with_references(claim)))
    for reference in report.references:
        print_text(plain(work_line(reference)))
    if not claims:
        question = " ".join(text).replace('"', "'")
        print_text("This is not in the evidence of the run.")
        say(f'to search for it: determinator ask --follow-up {answered.outcome.run_id} "{question}"')
    return Exit.DONE if claims else Exit.NOT_ENOUGH_EVIDENCE


@click.command()
@run_argument
@text_argument
@model_option
@by_option
@json_option
@on_client
async def change(
    client: "Determinator", run: str, text: tuple[str, ...], model: str | None, by: str | None, as_json: bool
) -> int:
    """Have a finished report changed in your own words: shorter, without a section, for a general reader,
    with a work that you name by its PMID, DOI or registry number.

    A version is made beside the report, in at most three calls of a model. What you did not touch stays
    letter by letter; what is new or reworded is checked as all was. Exit code 4 when nothing changes."""
    answered = await client.change(run, " ".join(text), by=by, model=model)
    show_version(answered, as_json=as_json)
    return Exit.DONE if answered.outcome.made else Exit.NOT_ENOUGH_EVIDENCE


@click.command()
@run_argument
@click.argument("sentence", metavar="ID")
@text_argument
@by_option
@json_option
@on_client
async def dispute(
    client: "Determinator", run: str, sentence: str, text: tuple[str, ...], by: str | None, as_json: bool
) -> None:
    """Say that a sentence of a finished report is wrong, and why. ID is that of the sentence, as s2.3:
    `determinator report RUN --ids` prints them.

    A second reader reads its works again. The report shows both, and the sentence stays as it is until
    somebody decides: `determinator approve RUN --dispute ID` takes it out, `reject` keeps it."""
    answered = await client.dispute(run, sentence, " ".join(text), by=by)
    show_version(answered, as_json=as_json)


def show_version(answered: "Answered", *, as_json: bool) -> None:
    from activities.report.formats.words import dispute_line
    from client.reports.replies import Changed

    outcome = answered.outcome
    if as_json:
        print_json(Changed.of(answered))
        return
    differs = show_difference(answered.before, answered.report)
    for one in answered.report.disputes if not outcome.claims_changed else ():
        if one not in answered.before.disputes:
            print_text(plain(dispute_line(one)))
    for note in outcome.notes:
        say(plain(note))
    if not outcome.made:
        print_text("nothing was changed")
        return
    if not differs and answered.report.disputes == answered.before.disputes:
        print_text("no sentence reads otherwise")
    print_text(
        f"Version {outcome.version} of {outcome.run_id}; `determinator report {outcome.run_id}` prints it, "
        f"--version {outcome.version - 1} the one before"
    )


def show_difference(before: "Report", after: "Report") -> bool:
    """Print it sentence by sentence; whether there is any."""
    from activities.report.instructions import differences

    changes = differences(before, after)
    for one in changes:
        for mark, text in (("-", one.before), ("+", one.after)):
            if text:
                print_text(plain(f"{mark} {one.id} {text}"))
    return bool(changes)
