"""`determinator documents`: what of a folder is read, found and used."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from client.cli.checks import check_library
from client.cli.common import (
    Filled,
    address_option,
    complete_run,
    json_option,
    load_settings,
    print_json,
    run_async,
    say,
)
from client.cli.failures import BadInput

if TYPE_CHECKING:
    from activities.settings import Settings
    from activities.sources.library.overview import FileState

SHOWN_PROBLEMS = 3
"""Of the records of one file, in the table."""
STYLES = {"indexed": "green", "unreadable": "red", "repeats": "yellow"}


@click.command(short_help="List the files of a library: read, found, used, or not, and why.")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--run",
    type=Filled(),
    metavar="RUN",
    shell_complete=complete_run,
    help="A run: what it found in the folder, and what its report cites. Default folder: that of the run.",
)
@address_option
@json_option
def documents(folder: str | None, run: str | None, address: str | None, as_json: bool) -> None:
    """List the files of a library: which are indexed, which could not be read and why, and, with --run, which
    were found and which the report cites. Files that are new or have changed are read first."""
    settings = load_settings()

    async def body() -> None:
        named = folder
        found: set[str] = set()
        cited: dict[str, int] = {}
        if run is not None:
            own, found, cited = await _of_run(settings, address, run)
            named = folder or own
        place = Path(check_library(named) or settings.library or "")
        if place == Path():
            raise BadInput("name a folder, a run that searched one (--run RUN), or set DETERMINATOR_LIBRARY")
        files = await asyncio.to_thread(_files, settings, place)
        if as_json:
            print_json([_as_json(file, found, cited, with_run=run is not None) for file in files])
            return
        _show(files, found, cited, with_run=run is not None)

    run_async(body)


async def _of_run(
    settings: "Settings", address: str | None, name: str
) -> tuple[str | None, set[str], dict[str, int]]:
    """The folder a run searched, what it found anywhere, and the numbers of what its report cites."""
    from client.cli.results import cited_in_report
    from client.cli.runs import progress_when_ready
    from client.connect import connect_to_run
    from client.runs.history import request_of
    from client.runs.query import evidence_index

    connection, run_id = await connect_to_run(settings, address, name, say=say)
    await progress_when_ready(connection, run_id)
    found = {ref.evidence_id for ref in await evidence_index(connection.client, run_id)}
    request = await request_of(connection.client, run_id)
    cited = await cited_in_report(settings, connection, run_id)
    return request.library if request else None, found, cited or {}


def _files(settings: "Settings", folder: Path) -> "tuple[FileState, ...]":
    from activities.sources.library.index import Libraries
    from activities.sources.library.overview import files_of
    from activities.sources.library.source import cache_of

    with _progress() as report:
        index = Libraries(cache_of(settings)).open(folder, report=report)
    return files_of(folder, index)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on the terminal while files are read; nothing in a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, visible=False)

        def report(done: int, total: int) -> None:
            text = f"indexing {done:,} of {total:,} files"
            bar.update(task, completed=done, total=total, description=text, visible=True)

        yield report


def _numbers(file: "FileState", cited: dict[str, int]) -> str:
    """`[1] [4]`: the references to works of a file."""
    return " ".join(f"[{n}]" for n in sorted(cited[name] for name in {*file.evidence_ids} & cited.keys()))


def _as_json(
    file: "FileState", found: set[str], cited: dict[str, int], *, with_run: bool
) -> dict[str, object]:
    own = {*file.evidence_ids}
    numbers = sorted(cited[name] for name in own & cited.keys())
    of_run = {"found": sorted(own & found), "cited_as": numbers} if with_run else {}
    return {**file.model_dump(mode="json"), **of_run}


def _show(files: "tuple[FileState, ...]", found: set[str], cited: dict[str, int], *, with_run: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from client.terminal import plain, to_stdout

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("file", overflow="fold")
    table.add_column("status", no_wrap=True)
    table.add_column("works", justify="right")
    if with_run:
        table.add_column("found", justify="right")
        table.add_column("cited", no_wrap=True)
    for file in files:
        name = Text(plain(file.name))
        for problem in file.problems[:SHOWN_PROBLEMS]:
            name.append(f"\n  {plain(problem)}", style="dim")
        if len(file.problems) > SHOWN_PROBLEMS:
            name.append(f"\n  and {len(file.problems) - SHOWN_PROBLEMS} more", style="dim")
        status = Text(file.status.replace("_", " "), style=STYLES.get(file.status, "dim"))
        row = [name, status, Text(str(file.documents or ""))]
        if with_run:
            row += [Text(str(len(found & {*file.evidence_ids}) or "")), Text(_numbers(file, cited))]
        table.add_row(*row)
    to_stdout().print(table)
    counts = {status: sum(file.status == status for file in files) for status in ("indexed", "unreadable")}
    files_in_all = "1 file" if len(files) == 1 else f"{len(files):,} files"
    say(f"{files_in_all}: {counts['indexed']:,} indexed, {counts['unreadable']:,} unreadable")
