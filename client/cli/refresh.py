"""`determinator refresh` and `schedules`: check a report's references and searches again."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from activities.report.strength import TYPE_NAMES
from client.cli.common import (
    Duration,
    changed_run_argument,
    duration,
    json_option,
    on_client,
    print_json,
    print_text,
    run_to_change,
    say,
)
from client.cli.steering import version_line
from client.failures import BadInput, Exit
from client.terminal import plain

if TYPE_CHECKING:
    from activities.refresh_activity import RefreshOutcome
    from activities.report.archive import Change, NewWork
    from client.api import Determinator
    from client.reports.finished import Finished
    from client.runs.refreshing import Scheduled


@click.command()
@changed_run_argument
@click.option("--search", is_flag=True, help="Run the searches of the report again, and show what is new.")
@click.option(
    "--every",
    type=Duration(),
    metavar="TIME",
    help="Do so on a schedule, from now on: 12h, 7d. See `determinator schedules`.",
)
@json_option
@on_client
async def refresh(
    client: "Determinator", run: str | None, search: bool, every: float | None, as_json: bool
) -> int:
    """Ask again for retractions and corrections of what a report cites, and print what has changed.

    PubMed, Crossref and Europe PMC are asked, also for expressions of concern.

    With --search the searches of the report are run again, and works that the run had not found are listed.
    When anything is new, a version is kept beside the report, in which nothing rests on retracted work;
    `report` prints it from then on, and the first one with --version 1. Exit code 1 when no authority
    answered for some reference.
    """
    from client.runs.refreshing import check_online, refreshed

    check_online(client.settings)
    finished = await client.finished(await run_to_change(client, run), whole=False)
    if every is not None:
        return await schedule(client, finished, every, search=search, as_json=as_json)
    outcome = await refreshed(client, finished, search=search)
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


async def schedule(
    client: "Determinator", run: "Finished", every: float, *, search: bool, as_json: bool
) -> int:
    from client.runs.refreshing import MIN_INTERVAL_SECONDS, schedule_refresh, the_request

    if every < MIN_INTERVAL_SECONDS:
        raise BadInput(f"--every {every:g}s is too often; the shortest is {MIN_INTERVAL_SECONDS:g}s")
    connection = await client.connect(for_run=True)
    try:
        request = await the_request(client, connection, run, search=search)
        if request.library:
            say(
                f"the library {request.library} is searched only if the worker's configuration allows it "
                "([worker] libraries)"
            )
        scheduled = await schedule_refresh(
            connection.client,
            request,
            client.settings.task_queue,
            timedelta(seconds=every),
            datetime.now(UTC),
        )
    finally:
        connection.release()
    if as_json:
        print_json(scheduled)
    else:
        times = scheduled.next
        first = f", first at {times[0].astimezone():%Y-%m-%d %H:%M}" if times else ""
        print_text(f"{scheduled.schedule_id} every {duration(every)}{first}")
    where = "the embedded server and its worker" if connection.embedded else "a worker"
    say(
        f"{where} must run at these times (`determinator {'up' if connection.embedded else 'worker'}`); a "
        "refresh whose time passed meanwhile is made up for once, when they run again"
    )
    return Exit.DONE


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


@click.group()
def schedules() -> None:
    """List and delete the schedules that `determinator refresh RUN --every TIME` creates."""


@schedules.command("list")
@json_option
@on_client
async def list_schedules(client: "Determinator", as_json: bool) -> None:
    """List the scheduled refreshes: how often, when next, and what they started last."""
    from client.runs import refreshing

    listed = await refreshing.schedules((await client.connect(worker=False)).client)
    if as_json:
        print_json(listed)
        return
    if not listed:
        say("No schedules. Create one with `determinator refresh RUN --search --every 7d`.")
    for scheduled in listed:
        print_text(line(scheduled))


@schedules.command()
@click.argument("name", metavar="RUN")
@json_option
@on_client
async def delete(client: "Determinator", name: str, as_json: bool) -> None:
    """Delete the schedule of a run, named by any unambiguous part of its id; `last` is the newest run.

    Reports and versions stay; a refresh that has begun goes on.
    """
    from client.runs.refreshing import delete_schedule

    gone = await delete_schedule((await client.connect(worker=False)).client, name)
    if as_json:
        print_json(gone)
    else:
        print_text(f"deleted {gone.schedule_id}")


def line(scheduled: "Scheduled") -> str:
    """`refresh-ask-... every 7d next 2026-03-08 09:00 last ...`."""
    parts = [
        scheduled.schedule_id,
        f"every {duration(scheduled.every_seconds)}" if scheduled.every_seconds else "",
        "paused" if scheduled.paused else "",
        f"next {scheduled.next[0].astimezone():%Y-%m-%d %H:%M}" if scheduled.next else "",
        f"last {scheduled.last.astimezone():%Y-%m-%d %H:%M}" if scheduled.last else "",
        "searches and references" if scheduled.search else "references",
    ]
    return plain("  ".join(filter(None, parts)))
