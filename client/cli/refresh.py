"""`determinator refresh`: what has become of a report's references since it was made."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from client.cli.common import (
    address_option,
    json_option,
    load_settings,
    print_json,
    run_argument,
    run_async,
    say,
)
from client.cli.failures import BadInput, Exit, Failure

if TYPE_CHECKING:
    from activities.retractions.lookup import StandingVerdict
    from activities.settings import Settings
    from activities.types import EvidenceRef
    from client.reports.finished import Finished
    from client.reports.store import Change, Version


LOCK_SECONDS = 60.0
"""How long to wait for another command that adds a version."""


@click.command(short_help="Check whether references were retracted since.")
@run_argument
@json_option
@address_option
def refresh(run: str, as_json: bool, address: str | None) -> int:
    """Ask PubMed, Crossref and Europe PMC again for retractions, expressions of concern and corrections of
    what a finished report cites, and say what changed since.

    When something did, a new version is kept beside the report, in which nothing rests on retracted work;
    `report` prints it from then on, and the first one with --version 1. Exit code 1 when nobody answered for
    some reference.
    """
    settings = load_settings()
    if settings.offline:
        raise BadInput("DETERMINATOR_OFFLINE is set, so nobody can be asked; unset it to refresh a report")

    async def body() -> int:
        from client.reports.finished import find_finished
        from client.reports.revise import changes

        found = await find_finished(settings, address, run, say, whole=False)
        verdicts = await ask_again(settings, found, address)
        changed = changes(found.report, verdicts)
        version: Version | None = None
        path: Path | None = None
        if changed:
            version, path = await keep(settings, found, changed)
        silent = [name for name, verdict in verdicts.items() if unanswered(verdict)]
        if as_json:
            print_json(as_data(found, verdicts, changed, silent, version, path))
        else:
            show(found, verdicts, changed, version, path)
        for why in dict.fromkeys(why for verdict in verdicts.values() for why in verdict.failures):
            say(f"not everybody answered: {why}")
        if silent:
            total = len(found.report.references)
            say(f"nobody answered for {len(silent)} of {total} references; try again later")
        return Exit.FAILED if silent else Exit.DONE

    return run_async(body)


async def ask_again(
    settings: "Settings", run: "Finished", address: str | None
) -> "dict[str, StandingVerdict]":
    """Verdicts on the references that somebody could be asked about, by evidence id. Where a fleet runs, it
    asks PubMed, whose rate holds for all of it."""
    from activities.check_pubmed import ReleaseStanding
    from activities.publish import pubmed_name
    from activities.retractions.lookup import StandingLookup
    from activities.sources.http.client import open_http
    from activities.sources.pubmed import build
    from client.connection import NoConnection
    from client.runs.fleet import fleet, pubmed_said

    refs = references(run)
    pmids = list(dict.fromkeys(pmid for ref in refs if (pmid := pubmed_name(ref))))
    async with open_http(settings) as http:
        ncbi = build(settings, http).info
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


def references(run: "Finished") -> "list[EvidenceRef]":
    """A report's references as the standing is asked for, with the standing they have in it."""
    from activities.types import EvidenceRef

    return [
        EvidenceRef(
            evidence_id=reference.evidence_id,
            blob="",
            source=reference.source,
            title=reference.title,
            year=reference.year,
            identifiers=reference.identifiers,
            standing=reference.standing,
        )
        for reference in run.report.references
    ]


def unanswered(verdict: "StandingVerdict") -> bool:
    """Whether nobody who was asked about a work could answer."""
    return not verdict.reported and len(verdict.failures) >= len(verdict.asked)


async def keep(
    settings: "Settings", run: "Finished", changed: "tuple[Change, ...]"
) -> "tuple[Version, Path]":
    """Make the new version and keep it, in the store and as Markdown beside the report's own file.

    Raises Failure when the stored texts that it is made from are not here.
    """
    from activities.credentials import without_credentials
    from activities.private_files import file_name, write_whole
    from client.embedded.home import Places
    from client.embedded.locks import LockFile
    from client.reports.load import as_bytes
    from client.reports.revise import claims_of, restate
    from client.reports.store import Archive

    documents = {ref.evidence_id: item for ref, item in run.items}
    lost = [r.evidence_id for r in run.report.references if r.evidence_id not in documents]
    if lost:
        raise Failure(
            f"a new version cannot be written, since the stored text of {', '.join(lost)} is not in "
            f"{without_credentials(settings.evidence_url)}; changed: "
            + "; ".join(change_line(change) for change in changed)
        )
    archive, places = Archive(settings.evidence_url), Places(settings.home)
    lock = LockFile(places.versions_lock)
    lock.acquire(LOCK_SECONDS)
    with lock:  # a version that another command adds meanwhile is kept
        at = datetime.now(UTC).isoformat(timespec="seconds")
        number = len(await archive.versions(run.first)) + 2
        later = restate(run.report, documents, changed, at, number)
        left = {claim.id for claim in claims_of(later)}
        gone = [claim.id for claim in claims_of(run.report) if claim.id not in left]
        version = await archive.add_version(run.first, later, changed, gone)
    path = places.reports / f"{file_name(run.run_id)}.v{version.number}.md"
    if not path.exists():
        write_whole(path, as_bytes(later, "md"))
    return version, path


def change_line(change: "Change") -> str:
    """`[3] A title: none -> retracted (retraction 2026-03-01, doi:10.1/x, reported by crossref)`."""
    from client.reports.revise import notice_line
    from client.terminal import plain

    why = "; ".join(notice_line(notice) for notice in change.notices)
    line = f"[{change.number}] {change.title}: {change.before} -> {change.after}"
    return plain(f"{line} ({why})" if why else line)


def show(
    run: "Finished",
    verdicts: "dict[str, StandingVerdict]",
    changed: "tuple[Change, ...]",
    version: "Version | None",
    path: Path | None,
) -> None:
    """Print it for a person."""
    from client.reports.revise import claims_of
    from client.terminal import plain

    total, asked = len(run.report.references), len(verdicts)
    for change in changed:
        click.echo(plain(change_line(change)))
    if version is not None:
        for claim in claims_of(run.report):
            if claim.id in version.claims_lost:
                click.echo(plain(f"no longer stands: {claim.id} {claim.text}"))
        click.echo(f"Version {version.number} {path}")
    elif not asked:
        click.echo(
            f"nobody can be asked about any of the {total} references: they come from a library or have no "
            "identifier that the authorities know"
        )
    elif any(not unanswered(verdict) for verdict in verdicts.values()):
        click.echo(f"nothing changed since {run.report.generated_at}")
    if asked:
        click.echo(f"asked about {asked} of {total} references")


def as_data(
    run: "Finished",
    verdicts: "dict[str, StandingVerdict]",
    changed: "tuple[Change, ...]",
    silent: list[str],
    version: "Version | None",
    path: Path | None,
) -> dict[str, object]:
    """The same for programs."""
    return {
        "run_id": run.run_id,
        "since": run.report.generated_at,
        "references": len(run.report.references),
        "asked": sorted(verdicts),
        "unanswered": silent,
        "failures": list(dict.fromkeys(why for verdict in verdicts.values() for why in verdict.failures)),
        "changes": [change.model_dump(mode="json") for change in changed],
        "claims_lost": list(version.claims_lost) if version else [],
        "version": version.number if version else len(run.versions) + 1,
        "report": str(path) if path else None,
    }
