"""A finished run as files for an outsider: the report, its evidence, its history, and how to check it.

Every text file goes through `client.configuration.without_secrets` last; the formats made from the report
are made of a report without secrets.
"""

import asyncio
import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from activities.messages import plural
from activities.private_files import file_name
from activities.report.audit import examine
from activities.report.check_bundle import SUMS
from activities.report.evidence_lines import EvidenceLine
from activities.report.formats import FORMATS, MissingExtra
from activities.report.formats.text import escape_markdown
from activities.report.formats.works_table import searches_csv
from activities.report.schema import Report
from client.configuration import known_secrets, without_secrets
from client.failures import BadInput, Failure
from client.reports.finished import Finished
from client.runs.checks import check_writable

if TYPE_CHECKING:
    from client.api import Determinator


README, REPORT, EVIDENCE, SEARCHES = "README.md", "report.json", "evidence.jsonl", "searches.csv"
CHECK, HISTORY = "check.py", "versions/history.jsonl"
HOLDS = "This folder holds a research report and everything needed to check it."
CHECKING = """\
```
python check.py            # sums and quotes; needs nothing but Python
sha256sum -c SHA256SUMS    # the sums alone
```

`check.py` is a program: run it only when this bundle comes from you or from a person you trust. A stranger's
bundle is checked with the `check.py` of an export of your own, put in the place of its own.

By hand: choose a quote in `report.json`, look up its `evidence_id` in `evidence.jsonl`, and find the quote in
that item's `text`.

The stored texts belong to their publishers and are here so that the quotes can be checked; check
their licences before passing them on."""
FILE_DESCRIPTIONS = {
    **{form.file: form.about for form in FORMATS.values()},
    "evidence.jsonl": "the items found, one a line, each with its full stored text",
    "searches.csv": "every search with its query as sent, its outcome and its hits",
    "events.jsonl": "what happened in the run, one event a line",
    "iterations.jsonl": "what each iteration was missing, searched, found and thought, one a line",
    HISTORY: "each later version with what was changed or asked, one a line",
    "check.py": "checks sums and quotes with nothing but Python",
}
IMPORT_OF_RULES = "from activities.text.normal_form import min_chars, normalise, occurs\n"
"""Line of `check_bundle` in whose place the rules stand in `check.py`."""


@dataclass(frozen=True, slots=True)
class Exported:
    run_id: str
    path: Path
    files: list[str]
    missing: list[str]


async def export(client: "Determinator", name: str, output: Path | None, *, force: bool) -> Exported:
    """Write the bundle of a finished run into a folder, or an archive where `output` ends in `.zip`.

    By default `RUN.zip` in this folder. `force`: over what an earlier export left there. Raises BadInput,
    Failure, and as `Determinator.finished`.
    """
    if output is not None:
        check_free(output, force=force)
    run = await client.finished(name)
    folder = file_name(run.run_id)
    path = output or Path(f"{folder}.zip")
    check_free(path, force=force)
    secrets = known_secrets(client.settings, os.environ.items())
    bundle = await asyncio.to_thread(make_bundle, run, secrets)
    try:
        if path.suffix.lower() == ".zip":
            write_zip(path, bundle, folder=folder, date=run.report.generated_at)
        else:
            write_folder(path, bundle)
    except OSError as error:
        raise Failure(f"the export cannot be written to {path}: {error.strerror or error}") from error
    return Exported(run.run_id, path, list(bundle), list(run.gaps))


def check_free(path: Path, *, force: bool) -> None:
    """Refuse with BadInput to overwrite what was not meant, and a place that cannot be written."""
    hint = "give another `output`"
    if path.suffix.lower() == ".zip":
        if path.is_dir():
            raise BadInput(f"{path} is a folder; give another name to the archive")
        if path.exists() and not force:
            raise BadInput(f"{path} exists; replace it with `force` or {hint}")
    elif path.exists() and not path.is_dir():
        raise BadInput(f"{path} is a file; give a folder, or a name that ends in .zip")
    elif path.exists() and any(path.iterdir()):
        if not (path / "SHA256SUMS").exists():
            raise BadInput(f"the folder {path} is not empty; {hint}")
        if not force:
            raise BadInput(f"{path} has an earlier export; renew it with `force` or {hint}")
    check_writable(
        path if path.is_dir() else path.absolute().parent, f"the export cannot be written to {path}"
    )


def make_bundle(run: Finished, secrets: Iterable[str] = ()) -> dict[str, bytes]:
    """Make the files of a bundle by name, `README.md` first and the sums last."""
    secrets = tuple(secrets)

    def clean(text: str) -> bytes:
        return without_secrets(text, secrets).encode()

    report = Report.model_validate_json(without_secrets(run.report.model_dump_json(), secrets))
    bodies = {ref.evidence_id: item for ref, item in run.items}
    bundle: dict[str, bytes] = {}
    gaps: list[str] = []
    for form in FORMATS.values():
        try:
            data = form.renderer(report, bodies)
        except MissingExtra as error:
            gaps.append(f"{form.file} is missing: {error}")
        else:
            bundle[form.file] = clean(data.decode()) if form.is_text else data
    lines = run.lines()
    bundle[EVIDENCE] = clean("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))
    bundle[SEARCHES] = clean(searches_csv(report))
    if run.events:
        bundle["events.jsonl"] = clean("".join(f"{event.model_dump_json()}\n" for event in run.events))
    if run.iterations:
        bundle["iterations.jsonl"] = clean(
            "".join(f"{iteration.model_dump_json()}\n" for iteration in run.iterations)
        )
    bundle[CHECK] = check_script()
    if run.versions:
        bundle["versions/report.v1.json"] = clean(run.first.model_dump_json(indent=2))
        bundle[HISTORY] = clean("".join(f"{version.model_dump_json()}\n" for version in run.versions))
    readme = clean(_readme(run, report, sorted(bundle), [*run.gaps, *gaps], lines))
    bundle = {README: readme, **bundle}
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in bundle.items())
    return {**bundle, SUMS: sums.encode()}


@cache
def check_script() -> bytes:
    """Write the `check.py` of a bundle: `check_bundle` with the rules that it shares with the quote check."""
    program = (files("activities.report") / "check_bundle.py").read_text("utf-8")
    rules = (files("activities.text") / "normal_form.py").read_text("utf-8")
    before, line, after = program.partition(IMPORT_OF_RULES)
    assert line, "check_bundle imports the rules by another line"
    _, _, body = rules.partition('"""\n\n')  # behind the docstring: the imports, then the rules
    return f"{before.rstrip()}\n{body.rstrip()}\n{after}".encode()


def write_folder(folder: Path, bundle: Mapping[str, bytes]) -> None:
    for name, data in bundle.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def write_zip(path: Path, bundle: Mapping[str, bytes], folder: str, date: str) -> None:
    """Write the files into an archive below a folder, with a date (ISO time). Raises OSError."""
    moment = datetime.fromisoformat(date).timetuple()[:6]
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in bundle.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)


def _readme(
    run: Finished, report: Report, names: list[str], gaps: list[str], lines: list[EvidenceLine]
) -> str:
    examination = examine(report, [dict(line) for line in lines])
    quotes = sum(len(bearer.quotes) for bearer in examination.bearers)
    works = {quote.evidence_id for bearer in examination.bearers for quote in bearer.quotes}
    faults = f"{len(examination.faults())} checks failed; `determinator verify {run.run_id}` names them"
    state = "; ".join(("everything held", *examination.notes)) if examination.holds else faults
    rows = [(name, FILE_DESCRIPTIONS.get(name, "the report as the run first published it")) for name in names]
    counts = f"{plural(quotes, 'quote')} from {plural(len(works), 'work')}"
    blocks = [
        f"# {escape_markdown(report.title)}\n\n**Question:** {escape_markdown(report.question)}",
        f"{HOLDS} Run `{run.run_id}`, {escape_markdown(report.generated_at)}.",
        "\n".join(["| file | what it is |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in rows)]),
        "## Checking it",
        f"{counts}; when this was exported, {state}.",
        CHECKING,
    ]
    if gaps:
        blocks += ["## Not in here", _list(gaps)]
    return "\n\n".join(blocks) + "\n"
