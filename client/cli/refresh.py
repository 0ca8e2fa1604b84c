"""`determinator refresh`: check a report's references and searches again."""

from typing import TYPE_CHECKING

import click

from activities.report.strength import TYPE_NAMES
from client.cli.common import (
    changed_run_argument,
    json_option,
    on_client,
    print_json,
    print_text,
    run_to_change,
    say,
)
from client.cli.steering import version_line
from client.failures import Exit
from client.terminal import plain

if TYPE_CHECKING:
    from activities.refresh_activity import RefreshOutcome
    from activities.report.archive import Change, NewWork
    from client.api import Determinator


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
    from client.runs.refreshing import check_online

    check_online(client.settings)
    outcome = await client.refresh(await run_to_change(client, run), search=search)
    if as_json:
        print_json(outcome)
    else:
        show(outcome)
    for why in outcome.failures:
        say(f"not every authority answered: {why}")
    if outcome.unanswered:
        silent = len(outcome.unanswered)
        say(f"no authority answered for {silent} of {outcome.references} references; try again later")
    return Exit.FAILED if outcome.unanswered else Exit.DONE


def change_line(change: "Change") -> str:
    """`[3] A title: none -> retracted (retraction 2026-03-01, doi:10.1/x, reported by crossref)`."""
    from activities.report.versions import notice_line

    why = "; ".join(notice_line(notice) for notice in change.notices)
    line = f"[{change.number}] {change.title}: {change.before} -> {change.after}"
    return plain(f"{line} ({why})" if why else line)


def new_line(work: "NewWork") -> str:
    """`+ pmid:1 A title (2026, randomised trial), pubmed: metformin`."""
    facts = [str(work.year or ""), TYPE_NAMES[work.evidence_type]]
    facts += [work.standing] if work.standing in ("retracted", "concern") else []
    found_by = f"; {work.queries[0]}" if work.queries else f"; {work.source}"
    return plain(f"+ {work.evidence_id} {work.title} ({', '.join(filter(None, facts))}){found_by}")


def show(outcome: "RefreshOutcome") -> None:
    """Print it for a person, as what is new and what has gone."""
    for work in outcome.new:
        print_text(new_line(work))
    for change in outcome.changes:
        print_text(change_line(change))
    texts = {claim.id: claim for change in outcome.changes for claim in change.claims}
    for claim in texts.values():
        fate = "still stands" if claim.id not in outcome.claims_lost else "no longer stands"
        print_text(plain(f"{fate}: {claim.id} {claim.text}"))
    total, asked = outcome.references, len(outcome.asked)
    done = sum(row.status in ("ok", "empty") for row in outcome.searches)
    if outcome.made:
        print_text(version_line(outcome))
    elif len(outcome.unanswered) < asked or done:
        print_text(f"nothing changed since {outcome.since}")
    else:
        print_text(plain(_nobody_answered(outcome)))
    for row in outcome.searches:
        if row.status not in ("ok", "empty"):
            print_text(
                plain(f"not searched: {row.source}: {row.status.replace('_', ' ')} {row.detail}".rstrip())
            )
    if outcome.searches:
        sources = ", ".join(dict.fromkeys(row.source for row in outcome.searches))
        line_of_searches = f"repeated {done} of {len(outcome.searches)} searches ({sources})"
        print_text(plain(f"{line_of_searches}: {len(outcome.new)} new works"))
    if asked:
        print_text(plain(f"asked {', '.join(outcome.authorities)} about {asked} of {total} references"))


def _nobody_answered(outcome: "RefreshOutcome") -> str:
    if outcome.asked:
        return "no authority answered, so it is not known what has changed"
    why = (
        f"no authority can be asked about any of the {outcome.references} references: they come from a "
        "library or have no identifier that the authorities know"
    )
    return f"nobody could be asked: {why}, and no search was answered" if outcome.searches else why
