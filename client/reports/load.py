"""A run's report, from the evidence store, as Python gets it, and its files in the home."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from glob import escape as glob_escape
from html import escape
from itertools import count
from pathlib import Path

from temporalio.client import WorkflowFailureError
from temporalio.exceptions import CancelledError

from activities.contracts.errors import DamagedEvidence, DeterminatorError, StoreError
from activities.contracts.evidence import Length
from activities.contracts.judge import PART as TABLE
from activities.contracts.judge import relevance_score
from activities.credentials import without_credentials
from activities.evidence_store import EvidenceStore
from activities.private_files import file_name, write_whole
from activities.report.archive import Archive, report_name
from activities.report.formats import format_of, render
from activities.report.formats.words import UNUSED
from activities.report.schema import Report, UnusedReason
from activities.settings import Settings
from client.connection import Connection, Say, quiet
from client.embedded.home import Places
from client.failures import BadInput, NoAnswer, NoSuchRun
from client.runs.query import outcome, query
from workflows.types import Outcome, ReportView

SET_ASIDE = "before-rewind"


class NoReport(NoSuchRun):
    """The run has no report (yet); the message says why."""


async def load_report(
    settings: Settings, connection: Connection, run_id: str, result: Outcome | None = None
) -> Report:
    """Read the report as the run published it, or its draft; `result`: the outcome where it is known.

    Raises NoReport, NoSuchRun.
    """
    try:
        result = result or await outcome(connection.client, run_id)
    except WorkflowFailureError as error:
        # a cancelled run has published what it found; another failure has published nothing
        if not isinstance(error.cause, CancelledError):
            raise NoReport(f"{run_id} failed and left no report: {error.cause}") from error
    if result is not None and (report := await stored_report(settings, result.report_blob)) is not None:
        return report
    try:
        view = await query(connection.client, run_id, "report", ReportView)
    except NoAnswer as error:
        raise NoReport(f"the report of {run_id} cannot be had: {error}") from error
    if not view.blob:
        raise NoReport(f"{run_id} has no report; while it runs, watch it to its end")
    report = await stored_report(settings, view.blob)
    if report is None:
        raise NoReport(
            f"the report of {run_id} is not in the evidence store "
            f"{without_credentials(settings.evidence_url)}; point DETERMINATOR_STORE_URL at the store the "
            "workers use"
        )
    return report.replace(draft=view.draft)


async def in_version(
    settings: Settings, report: Report, number: int | None = None, *, say: Say = quiet
) -> Report:
    """Return a version of a report, by default the latest; a draft, which has none, as it is.

    Raises BadInput, StoreError.
    """
    if report.draft:
        return report
    archive = Archive(settings.evidence_url)
    try:
        versions = await archive.versions(report)
        if number is not None and not 1 <= number <= len(versions) + 1:
            count = "there is only one" if not versions else f"there are {len(versions) + 1}"
            raise BadInput(f"{report.run_id} has no version {number} of its report; {count}")
        if not versions or number == 1:
            return report
        version = versions[-1] if number is None else versions[number - 2]
        label = f"version {version.number} of {len(versions) + 1}, made {version.made_at}"
        say(f"{label}; the first: --version 1")
        return await archive.version(version)
    except StoreError:
        if number not in (None, 1):
            raise
        return report  # as the run itself remembers it: not every client sees the workers' store


async def stored_report(settings: Settings, blob: str) -> Report | None:
    """Read the whole report; None when this machine does not see the workers' store.

    Raises NoReport when what is there is damaged: another copy must be chosen by a person.
    """
    if not blob:
        return None
    try:
        return Report.model_validate_json(await EvidenceStore.at(settings.evidence_url).get_bytes(blob))
    except DamagedEvidence as error:
        address = without_credentials(settings.evidence_url)
        raise NoReport(
            f"the stored report is damaged: {blob} in {address}. Restore it from a backup, or read the other "
            f"copy of the run, {address}/reports/RUN/report.json"
        ) from error
    except StoreError:
        return None


# files of a person


def _files_of(settings: Settings, run_id: str) -> Iterator[Path]:
    return Places(settings.home).reports.glob(f"{glob_escape(file_name(run_id))}.*")


async def has_report(settings: Settings, run_id: str) -> bool:
    """Tell whether a run has left a report in home or in the evidence store, whatever the server knows."""
    if any(_files_of(settings, run_id)):
        return True
    return await EvidenceStore.at(settings.evidence_url).get_named(report_name(run_id, "json")) is not None


def set_aside(settings: Settings, run_id: str) -> list[Path]:
    """Rename the report files of a run that goes back, and return the new paths. Raises OSError."""
    name = file_name(run_id)
    paths = []
    for path in sorted(_files_of(settings, run_id)):
        ending = path.name.removeprefix(f"{name}.")
        if not ending.startswith(SET_ASIDE):
            names = (path.with_name(f"{name}.{SET_ASIDE}-{number}.{ending}") for number in count(1))
            paths.append(path.rename(next(target for target in names if not target.exists())))
    return paths


def save_report(settings: Settings, report: Report, output: Path | None = None, *, say: Say = quiet) -> Path:
    """Write a report under home, where the run has not left it already, and to `output`.

    Returns the latter or former. Raises NoReport, OSError.
    """
    form = settings.output_format
    path = Places(settings.home).reports / f"{file_name(report.run_id)}.{form}"
    if not path.exists():
        write_whole(path, as_bytes(report, form))
    if output is None:
        return path
    write_report(report, format_of(output.suffix) or "md", output, say=say)
    return output


def write_report(report: Report, form: str, path: Path, *, say: Say = quiet) -> None:
    """Write a report where the person wants it. Raises NoReport, OSError.

    A file that is there and holds something else is kept under the next free number; `say` is told where.
    """
    data = as_bytes(report, form)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file():
        if path.read_bytes() == data:
            return
        candidates = (path.with_name(f"{path.stem}.{number}{path.suffix}") for number in count(1))
        backup = next(candidate for candidate in candidates if not candidate.exists())
        path.rename(backup)
        say(f"{path} was there already; it is now {backup}")
    path.write_bytes(data)


def as_bytes(report: Report, form: str) -> bytes:
    """Render a report in one of `activities.report.formats.FORMATS`. Raises NoReport."""
    try:
        return render(report, form)
    except DeterminatorError as error:  # an unknown format, or one whose library is not installed
        raise NoReport(str(error)) from error


# what a report made of the works that its run found


@dataclass(frozen=True, slots=True)
class Use:
    """What the report of a run made of the items that the run found, by evidence id."""

    cited: Mapping[str, int]
    """The numbers of references."""
    unused: Mapping[str, UnusedReason]
    relevance: Mapping[str, float]
    """0 to 1, by how directly a work was judged to answer."""

    def text(self, evidence_id: str) -> str:
        """Word `cited as [3]`, or that it is not cited and why."""
        if number := self.cited.get(evidence_id):
            return f"cited as [{number}]"
        reason = self.unused.get(evidence_id)
        return f"not cited: {UNUSED[reason]}" if reason else "not cited"


async def use_in_report(settings: Settings, connection: Connection, run_id: str) -> Use | None:
    """Read what the run's report made of the works; None while there is no report."""
    try:
        report = await load_report(settings, connection, run_id)
    except NoReport:
        return None
    return Use(
        {reference.evidence_id: reference.number for reference in report.references},
        {work.evidence_id: work.reason for work in report.unused},
        {work.evidence_id: relevance_score(work.answers) for work in report.judgements},
    )


HEIGHT_EM = 42


class RunReport(Report):
    """The report of a run. `draft` is true while the run has not ended."""

    @classmethod
    def of(cls, report: Report) -> "RunReport":
        return cls.model_construct(**dict(report))

    def at_length(self, length: Length | None) -> "RunReport":
        """Return the report with more or less of it printed; None: as it was asked."""
        return self if length is None else self.replace(length=length)

    def _repr_html_(self) -> str:
        """Show the HTML report in a frame of its own, without access to the notebook."""
        page = escape(render(self, "html").decode(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-popups" title="Report" '
            f'style="width:100%;height:{HEIGHT_EM}em;border:0"></iframe>'
        )

    def work_rows(self) -> list[dict[str, str | int | bool | None]]:
        """Make a row for each reference, for `pandas.DataFrame`, with judgement and cells of the table."""
        judgements = {work.evidence_id: work for work in self.judgements}
        cells = {row.evidence_id: row.cells for row in TABLE.of_report(self).rows}
        rows = []
        for reference in self.references:
            row = reference.model_dump(mode="json", exclude={"identifiers", "authors"})
            row["authors"] = "; ".join(reference.authors)
            row.update(reference.identifiers.model_dump(mode="json"))
            if (work := judgements.get(reference.evidence_id)) is not None:
                row.update(answers=work.answers, direction=work.direction)
            row.update({name: cell.text for name, cell in cells.get(reference.evidence_id, {}).items()})
            rows.append({name: value for name, value in row.items() if not isinstance(value, (list, dict))})
        return rows

    def claim_rows(self) -> list[dict[str, str | int | None]]:
        """Make a row for each quote of each claim."""
        references = {reference.evidence_id: reference for reference in self.references}
        return [
            {
                "section": section.title,
                "claim": claim.text,
                "reference": references[support.evidence_id].number,
                "title": references[support.evidence_id].title,
                "evidence_id": support.evidence_id,
                "quote": support.quote,
            }
            for section in self.sections
            for claim in section.claims
            for support in claim.support
        ]
