"""Checks of the quotes of a report against the texts they are attributed to.

The report is that of a run, a JSON file from elsewhere, or what `determinator export` made. Nothing in a file
is trusted: an archive is read in place, never unpacked, and only so much of it.
"""

import asyncio
import json
import lzma
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from activities.report.archive import Archive
from activities.report.audit import Examination, examine
from activities.report.check_bundle import SUMS, check_sums
from activities.report.evidence_lines import evidence_line
from activities.report.schema import Report
from activities.settings import Settings
from client.failures import BadInput, named
from client.reports.bundle import CHECK, EVIDENCE, REPORT, check_script, compare
from client.reports.finished import cited_items, find_finished

if TYPE_CHECKING:
    from client.api import Determinator


MAX_BYTES = 512 * 1024 * 1024
"""Bytes that are read of one report, unpacked: more is no report."""
MAX_NAMES = 1_000
MAX_REFERENCES = 10_000
"""References of a report that is checked; the largest report of ours has some hundreds."""
BAD_ARCHIVE = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, lzma.LZMAError)
"""What reading an archive raises that is damaged, encrypted or packed in a way that Python does not know."""
FILE_BYTES = 2**29
"""Of a temporary file that checking writes: what tells the language unpacks its model into one."""
CHECK_SECONDS = 120.0
"""For reading and checking a file; a report of 200 references takes two."""

Read = Callable[[str], bytes | None]
"""A file of a bundle by its name; None when it is not there."""


@dataclass(frozen=True, slots=True)
class Files:
    """What a bundle has, whether it is a folder or an archive."""

    read: Read
    names: list[str]
    """The names of all its files, at most one more than a list of sums may name."""


class BadParcel(BadInput):
    """It is no report, or no evidence; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A report, and the texts that came with it."""

    report: Report
    lines: list[Mapping[str, object]] | None = None
    """None when no texts came with it."""
    damaged: tuple[str, ...] = ()
    """Files that are not as they were exported, or do not say what the report says: a sentence each."""
    uncompared: tuple[str, ...] = ()
    """Files that could not be compared with the report: a sentence each."""
    foreign_script: bool = False
    """It has a `check.py` that this version did not write."""


def is_file_name(target: str) -> bool:
    """Tell whether a target means a file or folder rather than a run; `last` is the newest run."""
    if target == "last":
        return False
    try:
        return target.lower().endswith((".json", ".zip", ".md")) or Path(target).exists()
    except (OSError, ValueError):  # a name no file can have
        return False


def open_parcel(path: Path) -> Parcel:
    """Read a report file, an exported folder or an exported archive. Raises BadParcel."""
    try:
        if not path.exists():
            raise BadParcel(f"there is no file {path}")
        if not (path.is_dir() or path.is_file()):
            raise BadParcel(f"{path} is no regular file")
        if path.is_dir():
            return _bundle(path, _from_folder(path))
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                return _bundle(path, _from_zip(archive))
        report = read_report(_whole(path), str(path))
        beside = path.parent / EVIDENCE
        return Parcel(report, read_lines(beside.read_bytes(), str(beside)) if beside.is_file() else None)
    except BAD_ARCHIVE as error:
        raise BadParcel(f"{path} cannot be read as an archive: {error}") from error
    except OSError as error:
        raise BadParcel(f"{path} cannot be read: {error.strerror or error}") from error


def read_report(data: bytes, name: str) -> Report:
    """Read a report from its JSON. Raises BadParcel."""
    try:
        return Report.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        place = f"{where}: " if where else ""
        raise BadParcel(
            f"{name} is not a report as `determinator report --format json` prints it: {place}{first['msg']}"
        ) from error


def read_lines(data: bytes, name: str) -> list[Mapping[str, object]]:
    """Read evidence from JSON lines. Raises BadParcel with the line that is wrong."""
    items: list[Mapping[str, object]] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError as error:
            raise BadParcel(f"{name}, line {number}, is not JSON: {error}") from error
        if not isinstance(item, dict) or not item.get("evidence_id") or not isinstance(item.get("text"), str):
            raise BadParcel(f"{name}, line {number}, is no item with an `evidence_id` and its `text`")
        items.append(item)
    return items


def _bundle(path: Path, files: Files) -> Parcel:
    report_file, evidence_file = files.read(REPORT), files.read(EVIDENCE)
    if report_file is None:
        raise BadParcel(f"{path} has no {REPORT}; give what `determinator export` made, or a report in JSON")
    if evidence_file is None:
        raise BadParcel(f"{path} has no {EVIDENCE}, whose texts its quotes are from")
    report = read_report(report_file, f"{path}/{REPORT}")
    lines = read_lines(evidence_file, f"{path}/{EVIDENCE}")
    differing, uncompared = compare(report, lines, files.read)
    if max(len(files.names), (files.read(SUMS) or b"").count(b"\n")) > MAX_NAMES:
        raise BadParcel(f"a bundle with more than {MAX_NAMES} files is not read")
    damaged = (*check_sums(files.names, files.read), *differing)
    is_foreign = files.read(CHECK) not in (None, check_script())
    return Parcel(report, lines, damaged, tuple(uncompared), is_foreign)


def _files(streams: Mapping[str, Callable[[], IO[bytes]]]) -> Files:
    """Give the files of a bundle by name; each is opened once, and all are read only so far."""
    left = MAX_BYTES
    contents: dict[str, bytes] = {}

    def read(name: str) -> bytes | None:
        nonlocal left
        if name in streams and name not in contents:
            with streams[name]() as stream:
                contents[name] = stream.read(left + 1)
            left -= len(contents[name])
            if left < 0:
                raise BadParcel(f"{name} is too large to be read")
        return contents.get(name)

    return Files(read, list(streams))


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _from_folder(folder: Path) -> Files:
    """Give the files below a folder; what a link leads to outside of it is no file of the bundle."""
    root = folder.resolve()
    paths = islice((path for path in folder.rglob("*") if path.is_file()), MAX_NAMES + 1)
    inside = (path for path in paths if path.resolve().is_relative_to(root))
    return _files({path.relative_to(folder).as_posix(): partial(_open, path) for path in inside})


def _from_zip(archive: zipfile.ZipFile) -> Files:
    """Give the files below the archive's one folder, or at its top."""
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    top = next((name.removesuffix(REPORT) for name in names if name.rsplit("/", 1)[-1] == REPORT), "")
    return _files({name.removeprefix(top): partial(archive.open, name) for name in names})


def _whole(path: Path) -> bytes:
    data = _files({str(path): partial(_open, path)}).read(str(path))
    assert data is not None
    return data


@dataclass(frozen=True, slots=True)
class Verification:
    examination: Examination
    parcel: Parcel
    items: int
    """Texts it was checked against."""

    @property
    def holds(self) -> bool:
        """Tell whether everything holds; a report with nothing to check does not."""
        return self.examination.holds and bool(self.examination.bearers) and not self.parcel.damaged


class Checked(NamedTuple):
    """The outcome of checking a file, in the process that read it."""

    bad: str = ""
    """Why it is no report, or cannot be read; empty when it was checked."""
    examination: Examination | None = None
    parcel: Parcel | None = None
    items: int = 0


def check_parcel(evidence: bytes, path: str, name: str, has_evidence: bool) -> Checked:
    """Check a file of somebody else's against its own texts, or `evidence` where it `has_evidence`."""
    try:
        parcel = open_parcel(Path(path))
        lines = read_lines(evidence, name) if has_evidence else parcel.lines
    except BadParcel as error:
        return Checked(bad=str(error))
    if len(parcel.report.references) > MAX_REFERENCES:
        return Checked(bad=f"{path} has more than {MAX_REFERENCES:,} references: it is no report of ours")
    if lines is None:
        return Checked(parcel=parcel)
    return Checked(
        examination=examine(parcel.report, lines), parcel=replace(parcel, lines=None), items=len(lines)
    )


async def _checked(path: str, evidence: Path | None, data: bytes | None) -> Checked:
    """Check a file in a process with limits on its memory and time. Raises BadParcel.

    How much a few bytes unpack to, and how long a shape takes to compare, is a stranger's to choose.
    """
    from activities.documents.readers import readers
    from activities.documents.text import Unreadable

    place = _absolute(path)  # such a process began in the folder in which this one was
    arguments = (place, str(evidence), data is not None)
    try:
        checked = await readers().read(
            Checked,
            "client.reports.verify:check_parcel",
            *arguments,
            body=data or b"",
            seconds=CHECK_SECONDS,
            files=FILE_BYTES,
        )
    except Unreadable as error:
        raise BadParcel(f"{path} cannot be checked: {error}") from error
    if checked.bad:
        raise BadParcel(checked.bad.replace(place, path))
    return checked


def _absolute(path: str) -> str:
    return str(Path(path).absolute())


async def verify_report(
    client: "Determinator", target: str, path: Path | None, data: bytes | None
) -> Verification:
    """Check a run's report, a JSON file of one, or what `export` made.

    A file is checked against `data`, the JSON lines of the file `path`, else against `evidence.jsonl` beside
    it, else against this machine's store. Raises BadInput, and what `find_finished` raises.
    """
    if is_file_name(target):
        checked = await _checked(target, path, data)
        assert checked.parcel is not None
        if checked.examination is not None:
            return Verification(checked.examination, checked.parcel, checked.items)
        parcel = checked.parcel
    else:
        run = await find_finished(client, target, whole=False)
        wrong = tuple(f"the stored text of {name} is damaged" for name in run.damaged)
        parcel = Parcel(run.report, [dict(line) for line in run.lines()], wrong)
    lines = read_lines(data, str(path)) if data is not None else parcel.lines
    if lines is None:
        lines = await _stored_lines(client.settings, parcel.report)
    return Verification(await asyncio.to_thread(examine, parcel.report, lines), parcel, len(lines))


async def _stored_lines(settings: Settings, report: Report) -> list[Mapping[str, object]]:
    """Read the quoted items from this machine's store. Raises BadInput when it has none of them."""
    wanted = {reference.evidence_id for reference in report.references}
    pairs, damaged = await cited_items(Archive(settings.evidence_url), report, wanted)
    if damaged:
        raise BadInput(
            f"the stored text of {', '.join(damaged)} is damaged: give the texts behind this report with "
            f"{named('evidence')} FILE.jsonl"
        )
    if wanted and not pairs:
        raise BadInput(
            f"the texts behind this report are not on this machine; give them with {named('evidence')} "
            "FILE.jsonl (`determinator evidence RUN --format jsonl` prints them)"
        )
    return [dict(evidence_line(ref, item)) for ref, item in pairs]
