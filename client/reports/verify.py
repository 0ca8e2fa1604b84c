"""Checking the quotes of a report against the texts they are attributed to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from activities.report.archive import Archive
from activities.report.audit import Examination, evidence_line, examine
from activities.report.schema import Report
from activities.settings import Settings
from client.connection import Say
from client.failures import BadInput
from client.reports.finished import find_finished
from client.reports.parcel import BadParcel, Parcel, is_file_name, open_parcel, read_lines


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found of a report."""

    found: Examination
    parcel: Parcel
    items: int
    """Texts it was checked against."""

    @property
    def holds(self) -> bool:
        """Whether everything holds; a report with nothing to check does not."""
        return self.found.holds and bool(self.found.bearers) and not self.parcel.damaged


async def verify_report(
    settings: Settings, address: str | None, target: str, path: Path | None, given: bytes | None, say: Say
) -> Verification:
    """Check a run's report, a JSON file of one, or what `export` made. A file is checked against `given`, the
    JSON lines of the file `path`, else against `evidence.jsonl` beside it, else against this machine's store.
    Raises BadInput, and what `find_finished` raises."""
    try:
        if is_file_name(target):
            parcel = open_parcel(Path(target))
        else:
            run = await find_finished(settings, address, target, say, whole=False)
            wrong = tuple(f"the stored text of {name} is damaged" for name in run.damaged)
            parcel = Parcel(run.report, [dict(line) for line in run.lines()], wrong)
        lines = read_lines(given, str(path)) if given is not None else parcel.lines
    except BadParcel as error:
        raise BadInput(str(error)) from error
    if lines is None:
        lines = await _stored_lines(settings, parcel.report)
    return Verification(examine(parcel.report, lines), parcel, len(lines))


async def _stored_lines(settings: Settings, report: Report) -> list[Mapping[str, object]]:
    """The quoted items from this machine's store. Raises BadInput when it has none of them."""
    works = report.references
    archive = Archive(settings.evidence_url)
    found = await archive.cited(report, works)
    if works and len(found) < len(works) and archive.damaged:
        raise BadInput(
            f"{len(archive.damaged)} stored texts are damaged, among which may be those behind this report: "
            "give its texts with --evidence FILE.jsonl"
        )
    if works and not found:
        raise BadInput(
            "the texts behind this report are not on this machine; give them with --evidence FILE.jsonl "
            "(`determinator evidence RUN --format jsonl` prints them)"
        )
    return [dict(evidence_line(ref, item)) for ref, item in found]
