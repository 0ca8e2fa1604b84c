"""`determinator documents`: the files of a folder, and which of them are read."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from activities.messages import counted
from client.cli.common import json_option, on_client, print_json, say
from client.failures import BadInput
from client.runs.checks import check_library
from client.terminal import plain, plain_table, to_stdout

if TYPE_CHECKING:
    from activities.settings import Settings
    from activities.sources.library.overview import FileState
    from client.api import Determinator

SHOWN_PROBLEMS = 3
STYLES = {"indexed": "green", "unreadable": "red", "repeats": "yellow"}


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@json_option
@on_client
async def documents(client: "Determinator", folder: str | None, as_json: bool) -> None:
    """List the files of a library: which are indexed, and which could not be read and why.

    Files that are new or have changed are read first. `determinator evidence RUN` lists what a run found of
    them, what its report cites, and why not the rest.
    """
    settings = client.settings
    place = Path(check_library(folder) or settings.library or "")
    if place == Path():
        raise BadInput("name a folder, or set DETERMINATOR_LIBRARY")
    files, waiting = await asyncio.to_thread(_files, settings, place)
    if as_json:
        print_json([dict(file) for file in files])
        return
    _show(files)
    if waiting:
        documents = "1 document is" if waiting == 1 else f"{waiting:,} documents are"
        say(
            f"{documents} not encoded yet; that is done in the background after a question, and until then"
            " words choose which are read for their meaning"
        )


def _files(settings: "Settings", folder: Path) -> "tuple[tuple[FileState, ...], int]":
    """Return the files of a folder, and how many of its documents are not encoded yet."""
    from activities.processes import one_blas_thread

    with one_blas_thread():
        from activities.sources.library.index import Libraries
        from activities.sources.library.overview import files_of
    from activities.sources.library.source import cache_of

    with _progress() as report:
        index = Libraries(cache_of(settings), settings.speech_model).open(folder, report=report)
    return files_of(folder, index), index.waiting()


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


def _show(files: "tuple[FileState, ...]") -> None:
    from rich.text import Text

    table = plain_table()
    table.add_column("file", overflow="fold")
    table.add_column("status", no_wrap=True)
    table.add_column("works", justify="right")
    table.add_column("characters", justify="right")
    table.add_column("language", no_wrap=True)
    for file in files:
        name = Text(plain(file.name))
        if file.apart:
            name.append(f"\n  not quoted: {plain(file.apart)}", style="dim")
        for problem in file.problems[:SHOWN_PROBLEMS]:
            name.append(f"\n  {plain(problem)}", style="dim")
        if len(file.problems) > SHOWN_PROBLEMS:
            name.append(f"\n  and {len(file.problems) - SHOWN_PROBLEMS} more", style="dim")
        status = Text(file.status.replace("_", " "), style=STYLES.get(file.status, "dim"))
        characters = f"{file.characters:,}" if file.characters else ""
        table.add_row(name, status, str(file.documents or ""), characters, " ".join(file.languages))
    to_stdout().print(table)
    counts = {status: sum(file.status == status for file in files) for status in ("indexed", "unreadable")}
    say(f"{counted(len(files), 'file')}: {counts['indexed']:,} indexed, {counts['unreadable']:,} unreadable")
