"""`determinator documents`: what of a folder is read, found and used."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from activities.messages import counted
from client.cli.common import Filled, json_option, on_client, print_json, say
from client.failures import BadInput
from client.runs.checks import check_library
from client.terminal import plain, plain_table, to_stdout

if TYPE_CHECKING:
    from activities.report.schema import UnusedReason
    from activities.settings import Settings
    from activities.sources.library.overview import FileState
    from client.api import Determinator
    from client.reports.load import Use
    from client.run import Run

SHOWN_PROBLEMS = 3
STYLES = {"indexed": "green", "unreadable": "red", "repeats": "yellow"}


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--run",
    type=Filled(),
    metavar="RUN",
    help="A run: what it found in the folder, what its report cites, and why not the rest. Default folder: "
    "that of the run.",
)
@json_option
@on_client
async def documents(client: "Determinator", folder: str | None, run: str | None, as_json: bool) -> None:
    """List the files of a library: which are indexed, and which could not be read and why.

    With --run, also which were found, which the report cites, and why it does not cite the others. Files
    that are new or have changed are read first.
    """
    settings = client.settings
    of_run = await _of_run(await client.run(run)) if run is not None else None
    place = Path(check_library(folder or (of_run.folder if of_run else None)) or settings.library or "")
    if place == Path():
        if of_run is not None:
            raise BadInput(f"the run {of_run.run_id} searched no folder; name one, as in `documents DIR`")
        raise BadInput("name a folder, a run that searched one (--run RUN), or set DETERMINATOR_LIBRARY")
    files, waiting = await asyncio.to_thread(_files, settings, place)
    if as_json:
        print_json([_as_json(file, of_run) for file in files])
        return
    _show(files, of_run)
    if waiting:
        documents = "1 document is" if waiting == 1 else f"{waiting:,} documents are"
        say(
            f"{documents} not encoded yet; that is done in the background after a question, and until then"
            " words choose which are read for their meaning"
        )


@dataclass(frozen=True, slots=True)
class OfRun:
    run_id: str
    folder: str | None
    evidence_ids: frozenset[str]
    use: "Use | None"
    """None while the run has no report."""

    def numbers(self, file: "FileState") -> list[int]:
        cited = self.use.cited if self.use else {}
        return sorted(cited[name] for name in {*file.evidence_ids} & cited.keys())

    def reasons(self, file: "FileState") -> dict[str, "UnusedReason | Literal['not_found']"]:
        """Reasons why works of a file are not cited, by id, where known; empty while there is no report."""
        if self.use is None or not file.documents:
            return {}
        reasons: dict[str, UnusedReason | Literal["not_found"]] = {}
        for name in sorted({*file.evidence_ids} - self.use.cited.keys()):
            if name not in self.evidence_ids:
                reasons[name] = "not_found"
            elif reason := self.use.unused.get(name):
                reasons[name] = reason
        return reasons


async def _of_run(run: "Run") -> OfRun:
    """Return the folder a run searched, what it found anywhere, and what its report made of it."""
    from client.runs.rewinding import request_of

    ids = frozenset(ref.evidence_id for ref in await run.evidence_refs())
    request = await request_of(run.connection.client, run.id)
    return OfRun(run.id, request.library if request else None, ids, await run.use())


def _files(settings: "Settings", folder: Path) -> "tuple[tuple[FileState, ...], int]":
    """Return the files of a folder, and how many of its documents are not encoded yet."""
    from activities.processes import one_blas_thread

    with one_blas_thread():
        from activities.sources.library.index import Libraries
        from activities.sources.library.overview import files_of
    from activities.sources.library.source import cache_of

    with _progress() as report:
        index = Libraries(cache_of(settings), settings.speech_model).open(folder, report=report)
    encoding = index.encoding
    return files_of(folder, index), index.count - encoding.encoded if encoding is not None else 0


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Yield a bar on the terminal while files are read; nothing in a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, visible=False)

        def report(done: int, total: int) -> None:
            text = f"indexing {done:,} of {total:,} file{'s' * (total != 1)}"
            bar.update(task, completed=done, total=total, description=text, visible=True)

        yield report


def _as_json(file: "FileState", of_run: OfRun | None) -> dict[str, object]:
    if of_run is None:
        return dict(file)
    return {
        **dict(file),
        "found": sorted({*file.evidence_ids} & of_run.evidence_ids),
        "cited_as": of_run.numbers(file),
        "unused_because": of_run.reasons(file),
    }


def _why_not(file: "FileState", of_run: OfRun) -> str:
    """Return why works of a file are not cited: the reason, and how many where there are several works."""
    from activities.report.formats.words import UNUSED

    reasons = Counter(of_run.reasons(file).values())
    per_search = of_run.use.per_search if of_run.use else 0
    words = {str(name): text for name, text in UNUSED.items()}
    words["not_found"] = f"in no search's first {per_search}"
    if file.documents == 1:
        return "; ".join(words[reason] for reason in reasons)
    return "; ".join(f"{count:,} {words[reason]}" for reason, count in reasons.most_common())


def _show(files: "tuple[FileState, ...]", of_run: OfRun | None) -> None:
    from rich.text import Text

    why = False
    table = plain_table()
    table.add_column("file", overflow="fold")
    table.add_column("status", no_wrap=True)
    table.add_column("works", justify="right")
    if of_run is None:
        table.add_column("characters", justify="right")
        table.add_column("language", no_wrap=True)
    else:
        table.add_column("found", justify="right")
        table.add_column("cited", no_wrap=True)
        why = any(of_run.reasons(file) for file in files)
        if why:
            table.add_column("why not")
    for file in files:
        name = Text(plain(file.name))
        if file.apart:
            name.append(f"\n  not quoted: {plain(file.apart)}", style="dim")
        for problem in file.problems[:SHOWN_PROBLEMS]:
            name.append(f"\n  {plain(problem)}", style="dim")
        if len(file.problems) > SHOWN_PROBLEMS:
            name.append(f"\n  and {len(file.problems) - SHOWN_PROBLEMS} more", style="dim")
        status = Text(file.status.replace("_", " "), style=STYLES.get(file.status, "dim"))
        row = [name, status, Text(str(file.documents or ""))]
        if of_run is None:
            row += [Text(f"{file.characters:,}" if file.characters else ""), Text(" ".join(file.languages))]
        else:
            numbers = " ".join(f"[{number}]" for number in of_run.numbers(file))
            row += [Text(str(len(of_run.evidence_ids & {*file.evidence_ids}) or "")), Text(numbers)]
            row += [Text(_why_not(file, of_run), style="dim")] if why else []
        table.add_row(*row)
    to_stdout().print(table)
    counts = {status: sum(file.status == status for file in files) for status in ("indexed", "unreadable")}
    say(f"{counted(len(files), 'file')}: {counts['indexed']:,} indexed, {counts['unreadable']:,} unreadable")
