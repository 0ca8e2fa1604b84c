"""A run's report, from the evidence store."""

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio.client import WorkflowFailureError
from temporalio.exceptions import CancelledError

from activities.contracts.errors import DamagedEvidence, DeterminatorError, StoreError
from activities.credentials import without_credentials
from activities.evidence_store import EvidenceStore
from activities.private_files import file_name, write_whole
from activities.report.formats import format_of, render
from activities.report.schema import Report
from activities.settings import Settings
from client.connection import Connection, Say, quiet
from client.embedded.home import Places
from client.failures import Hint, NoAnswer, NoSuchRun
from client.runs.query import outcome, query
from workflows.types import Outcome, ReportView

if TYPE_CHECKING:
    from activities.report.archive import Version


class NoReport(NoSuchRun):
    """The run has no report (yet); the message says why."""


async def load_report(settings: Settings, connection: Connection, run_id: str) -> tuple[Report, bool]:
    """The report and whether it is a draft. Raises NoReport, NoSuchRun."""
    try:
        ended = await outcome(connection.client, run_id)
    except WorkflowFailureError as error:
        # A cancelled run has published what it found; another failure has published nothing.
        if not isinstance(error.cause, CancelledError):
            raise NoReport(f"{run_id} failed and left no report: {error.cause}") from error
        ended = None
    if ended is not None:
        report = await stored_report(settings, ended.report_blob)
        if report is not None:
            return report, False
    try:
        view = await query(connection.client, run_id, "report", ReportView)
    except NoAnswer as error:
        raise NoReport(f"the report of {run_id} cannot be had: {error}") from error
    if not view.blob:
        raise NoReport(f"{run_id} has no report", Hint("watch", "while it runs, follow it with {}", run_id))
    report = await stored_report(settings, view.blob)
    if report is None:
        raise not_in_store(settings, run_id)
    return report, view.draft


def not_in_store(settings: Settings, run_id: str) -> NoReport:
    """The error for a report that is in a store which this machine does not see."""
    return NoReport(
        f"the report of {run_id} is not in the evidence store "
        f"{without_credentials(settings.evidence_url)}; point "
        "DETERMINATOR_STORE_URL at the store the workers use"
    )


async def latest_report(settings: Settings, connection: Connection, run_id: str) -> Report:
    """The latest version of the report, which a refresh or a change has made, or its draft. Raises NoReport,
    NoSuchRun."""
    from activities.report.archive import Archive, newest

    report, draft = await load_report(settings, connection, run_id)
    try:
        return report if draft else (await newest(Archive(settings.evidence_url), report))[0]
    except StoreError:
        return report


async def report_and_versions(
    settings: Settings, connection: Connection, run_id: str
) -> "tuple[Report, tuple[Version, ...]]":
    """The report as the run published it, and its later versions; none where this machine does not see the
    workers' store. Raises NoReport, NoSuchRun."""
    from activities.report.archive import Archive

    report, draft = await load_report(settings, connection, run_id)
    try:
        return report, () if draft else await Archive(settings.evidence_url).versions(report)
    except StoreError:
        return report, ()


async def stored_report(settings: Settings, blob: str) -> Report | None:
    """The whole report; None when this machine does not see the workers' store. Raises NoReport when what is
    there is damaged: another copy must be chosen by a person."""
    if not blob:
        return None
    try:
        store = EvidenceStore.at(settings.evidence_url)
        return Report.model_validate_json(await store.get_bytes(blob))
    except DamagedEvidence as error:
        where = without_credentials(settings.evidence_url)
        raise NoReport(
            f"the stored report is damaged: {blob} in {where}. Restore it from a backup",
            Hint("verify", "or check the run's other copy with {}", f"{where}/reports/RUN/report.json"),
        ) from error
    except StoreError:
        return None


async def ended_report(settings: Settings, connection: Connection, ended: Outcome) -> Report:
    """The report of a run whose outcome is known. Raises NoReport."""
    report = await stored_report(settings, ended.report_blob)
    return report or (await load_report(settings, connection, ended.run_id))[0]


def save_report(settings: Settings, report: Report, output: Path | None = None, *, say: Say = quiet) -> Path:
    """Write a report under home, where the run has not left it already, and to `output` in the format of its
    ending; return the latter or former. Raises NoReport, OSError."""
    form = settings.output_format
    kept = Places(settings.home).reports / f"{file_name(report.run_id)}.{form}"
    if not kept.exists():
        write_whole(kept, as_bytes(report, form))
    if output is None:
        return kept
    write_report(report, format_of(output.suffix) or "md", output, say=say)
    return output


def write_report(report: Report, form: str, path: Path, *, say: Say = quiet) -> None:
    """Write a report where the person wants it. A file that is there and holds something else is kept beside
    it under the next free number, and `say` receives where. Raises NoReport, OSError."""
    data = as_bytes(report, form)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file():
        if path.read_bytes() == data:
            return
        numbered = (path.with_name(f"{path.stem}.{number}{path.suffix}") for number in count(1))
        earlier = next(candidate for candidate in numbered if not candidate.exists())
        path.rename(earlier)
        say(f"{path} was there already; it is now {earlier}")
    path.write_bytes(data)


def as_bytes(report: Report, form: str) -> bytes:
    """A report in one of `activities.report.formats.FORMATS`. Raises NoReport."""
    try:
        return render(report, form)
    except DeterminatorError as error:  # an unknown format, or one whose library is not installed
        raise NoReport(str(error)) from error
