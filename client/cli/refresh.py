"""`determinator refresh`: check a report's references and searches again."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from client.cli.common import (
    Duration,
    address_option,
    json_option,
    load_settings,
    print_json,
    print_text,
    run_argument,
    run_async,
    say,
)
from client.failures import BadInput, Exit, Failure

if TYPE_CHECKING:
    from activities.refresh import RefreshOutcome, RefreshRequest
    from activities.report.archive import Change, NewWork
    from activities.retractions.lookup import StandingVerdict
    from activities.settings import Settings
    from client.connection import Connection
    from client.reports.finished import Finished


@click.command()
@run_argument
@click.option("--search", is_flag=True, help="Run the searches of the report again, and show what is new.")
@click.option(
    "--every",
    type=Duration(),
    metavar="TIME",
    help="Do so on a schedule, from now on: 12h, 7d. See `determinator schedules`.",
)
@json_option
@address_option
def refresh(run: str, search: bool, every: float | None, as_json: bool, address: str | None) -> int:
    """Ask PubMed, Crossref and Europe PMC again for retractions, expressions of concern and corrections of
    what a finished report cites, and print what has changed since.

    With --search the searches of the report are run again on the server, and works that the run had not found
    are listed. When anything is new, a version is kept beside the report, in which nothing rests on retracted
    work; `report` prints it from then on, and the first one with --version 1. Exit code 1 when no authority
    answered for some reference.
    """
    settings = load_settings()
    if settings.offline:
        raise BadInput(
            "DETERMINATOR_OFFLINE is set, so no authority can be asked; unset it to refresh a report"
        )

    async def body() -> int:
        from client.reports.finished import find_finished

        found = await find_finished(settings, address, run, say, whole=False)
        if every is not None:
            return await schedule(settings, found, address, every, search=search, as_json=as_json)
        if search:
            outcome = await on_the_server(settings, found, address)
        else:
            outcome = await from_here(settings, found, address)
        path = await save(settings, found, outcome)
        if as_json:
            print_json({**outcome.model_dump(mode="json"), "report": str(path) if path else None})
        else:
            show(found, outcome, path)
        for why in outcome.failures:
            say(f"not every authority answered: {why}")
        if outcome.unanswered:
            silent = len(outcome.unanswered)
            say(f"no authority answered for {silent} of {outcome.references} references; try again later")
        return Exit.FAILED if outcome.unanswered else Exit.DONE

    return run_async(body)


async def from_here(settings: "Settings", run: "Finished", address: str | None) -> "RefreshOutcome":
    """Look up the standing of the references and keep what has changed. Raises StoreError."""
    from activities.refresh import outcome_of
    from activities.report.archive import Archive
    from activities.report.refreshed import keep

    verdicts = await ask_again(settings, run, address)
    documents = {ref.evidence_id: item for ref, item in run.items}
    at = datetime.now(UTC).isoformat(timespec="seconds")
    kept = await keep(Archive(settings.evidence_url), run.first, documents, verdicts, at=at)
    return outcome_of(run.run_id, run.report, verdicts, kept)


async def ask_again(
    settings: "Settings", run: "Finished", address: str | None
) -> "dict[str, StandingVerdict]":
    """Verdicts on the references that an authority could be asked about, by evidence id. Where a fleet runs,
    it asks PubMed, whose rate holds for all of it."""
    from activities.check_pubmed import ReleaseStanding
    from activities.publish import pubmed_name
    from activities.refresh import references_of
    from activities.retractions.lookup import StandingLookup
    from activities.sources.http.client import open_http
    from activities.sources.pubmed import PubMed
    from client.connection import NoConnection
    from client.runs.fleet import fleet, pubmed_said

    refs = references_of(run.report)
    pmids = list(dict.fromkeys(pmid for ref in refs if (pmid := pubmed_name(ref))))
    async with open_http(settings) as http:
        ncbi = PubMed(settings, http).info
        try:
            workers = await fleet(settings, address, ncbi, say) if pmids else None
        except NoConnection:
            workers = None
        lookup = StandingLookup(http, settings)
        if workers is None:
            verdicts = await lookup.check_many(refs)
        else:
            said = await pubmed_said(workers, ncbi, run.run_id, pmids)
            verdicts = dict(await ReleaseStanding(lookup).check_many(refs, pubmed=said))
    return {name: verdict for name, verdict in verdicts.items() if verdict.asked}


async def the_request(settings: "Settings", run: "Finished", *, search: bool) -> "RefreshRequest":
    """What a refresh on the server is given: all that the run found is known."""
    from activities.evidence_store import EvidenceStore
    from activities.refresh import RefreshRequest
    from client.runs.refreshing import known_items

    if search and run.found is None:
        say("the run cannot be asked what it found: what it found and does not cite counts as new")
    store = EvidenceStore.at(settings.evidence_url)
    known = await known_items(store, [ref for ref, _ in run.items])
    return RefreshRequest(run_id=run.run_id, search=search, known_blob=known)


async def on_the_server(settings: "Settings", run: "Finished", address: str | None) -> "RefreshOutcome":
    """Refresh as a workflow and wait for it. Raises Failure when it fails; it goes on when the wait ends."""
    from temporalio.client import WorkflowFailureError

    from client.connect import connect
    from client.runs.follow import why
    from client.runs.refreshing import start_refresh
    from client.runs.start import signing_key

    connection = await connect(settings, address, for_run=True, say=say)
    try:
        request = await the_request(settings, run, search=True)
        if library := await library_of(connection, run.run_id):
            request = request.model_copy(update={"library": library})
        handle = await start_refresh(connection.client, request, connection.task_queue, signing_key(settings))
    finally:
        connection.release()
    say(f"refreshing as {handle.id}; it goes on when this command is interrupted")
    try:
        return await handle.result()
    except WorkflowFailureError as error:
        raise Failure(f"{run.run_id} could not be refreshed: {why(error)}") from error


async def library_of(connection: "Connection", run_id: str) -> str | None:
    """The folder of documents that the run searched; None when it had none of its own, or the server no
    longer knows the run."""
    from temporalio.service import RPCError

    from client.runs.history import request_of

    try:
        request = await request_of(connection.client, run_id)
    except RPCError:
        return None
    return request.library if request else None


async def schedule(
    settings: "Settings", run: "Finished", address: str | None, every: float, *, search: bool, as_json: bool
) -> int:
    """Put the refresh on a schedule of the server's."""
    from client.cli.schedules import as_data, short
    from client.connect import connect
    from client.runs.refreshing import MIN_INTERVAL_SECONDS, schedule_refresh

    if every < MIN_INTERVAL_SECONDS:
        raise BadInput(f"--every {every:g}s is too often; the shortest is {MIN_INTERVAL_SECONDS:g}s")
    connection = await connect(settings, address, for_run=True, say=say)
    try:
        request = await the_request(settings, run, search=search)
        if search and (library := await library_of(connection, run.run_id)):
            request = request.model_copy(update={"library": library})
            say(
                f"the library {library} is searched only if the worker's configuration allows it "
                "([worker] libraries)"
            )
        made = await schedule_refresh(
            connection.client, request, connection.task_queue, timedelta(seconds=every), datetime.now(UTC)
        )
    finally:
        connection.release()
    if as_json:
        print_json(as_data(made))
    else:
        first = f", first at {made.next_times[0].astimezone():%Y-%m-%d %H:%M}" if made.next_times else ""
        print_text(f"{made.schedule_id} every {short(timedelta(seconds=every))}{first}")
    where = "the embedded server and its worker" if connection.embedded else "a worker"
    say(
        f"{where} must run at these times (`determinator {'up' if connection.embedded else 'worker'}`); a "
        "refresh whose time passed meanwhile is made up for once, when they run again"
    )
    return Exit.DONE


async def save(settings: "Settings", run: "Finished", outcome: "RefreshOutcome") -> Path | None:
    """Write the version that was made as Markdown beside the report's own file; return its path."""
    from activities.private_files import file_name, write_whole
    from activities.report.archive import Archive
    from client.embedded.home import Places
    from client.reports.load import as_bytes

    if not outcome.made:
        return None
    archive = Archive(settings.evidence_url)
    made = next(v for v in await archive.versions(run.first) if v.number == outcome.version)
    path = Places(settings.home).reports / f"{file_name(run.run_id)}.v{outcome.version}.md"
    if not path.exists():
        write_whole(path, as_bytes(await archive.version(made), "md"))
    return path


def change_line(change: "Change") -> str:
    """`[3] A title: none -> retracted (retraction 2026-03-01, doi:10.1/x, reported by crossref)`."""
    from activities.report.revise import notice_line
    from client.terminal import plain

    why = "; ".join(notice_line(notice) for notice in change.notices)
    line = f"[{change.number}] {change.title}: {change.before} -> {change.after}"
    return plain(f"{line} ({why})" if why else line)


def new_line(work: "NewWork") -> str:
    """`+ pmid:1 A title (2026, randomized trial), pubmed: metformin`."""
    from client.terminal import plain

    facts = [str(work.year or ""), work.evidence_type.replace("_", " ")]
    facts += [work.standing] if work.standing in ("retracted", "concern") else []
    found_by = f"; {work.queries[0]}" if work.queries else f"; {work.source}"
    return plain(f"+ {work.evidence_id} {work.title} ({', '.join(filter(None, facts))}){found_by}")


def show(run: "Finished", outcome: "RefreshOutcome", path: Path | None) -> None:
    """Print it for a person, as what is new and what has gone."""
    from client.terminal import plain

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
        print_text(f"Version {outcome.version} {path}")
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
        said = f"repeated {done} of {len(outcome.searches)} searches ({sources})"
        print_text(plain(f"{said}: {len(outcome.new)} new works"))
    if asked:
        print_text(plain(f"asked {', '.join(outcome.authorities)} about {asked} of {total} references"))


def _nobody_answered(outcome: "RefreshOutcome") -> str:
    """Why nothing is known of what has changed."""
    if outcome.asked:
        return "no authority answered, so that nothing is known of what has changed"
    why = (
        f"no authority can be asked about any of the {outcome.references} references: they come from a "
        "library or have no identifier that the authorities know"
    )
    return f"nobody could be asked: {why}, and no search was answered" if outcome.searches else why
