"""`determinator sources`, `search`, `documents` and `graph`: what is searched, and the graphs there are."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from activities.messages import count_of
from client.cli.common import (
    Filled,
    Group,
    json_option,
    load_settings,
    on_client,
    print_json,
    print_text,
    run_async,
    say,
)
from client.cli.options import filter_options
from client.configuration import source_names
from client.failures import BadInput, Mistakes
from client.runs.checks import check_library
from client.runs.destinations import available
from client.runs.request import filters, read_graph
from client.terminal import plain, plain_table, to_stdout
from workflows.graph.library import builtin, builtin_names, load

if TYPE_CHECKING:
    from activities.settings import Settings
    from activities.sources.library.overview import FileState
    from client.api import Determinator
    from client.runs.options import AskOptions


@click.command()
@json_option
def sources(as_json: bool) -> None:
    """List the sources, which of them are enabled, and how to enable the others."""
    options = run_async(lambda: available(load_settings()))
    if as_json:
        print_json(options)
        return
    from rich.text import Text

    table = plain_table()
    table.add_column("source", no_wrap=True, min_width=max(len(option.info.name) for option in options))
    table.add_column("enabled", no_wrap=True, min_width=7)
    table.add_column("what it covers, its rate, how to enable it", ratio=1)
    for option in options:
        covers = Text(plain(option.info.covers))
        if option.info.rate:
            covers.append(f" ({plain(option.info.rate)})", style="dim")
        if not option.enabled:
            covers.append(f"\n{plain(option.reason)}", style="yellow")
        elif option.info.how_to_enable and option.info.needs_key:
            covers.append(f"\n{plain(option.info.how_to_enable)}", style="dim")
        mark = Text("yes", style="green") if option.enabled else Text("no", style="yellow")
        table.add_row(option.info.name, mark, covers)
    to_stdout().print(table)


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option(
    "--limit",
    type=click.IntRange(1, 200),
    help="Results at most; default: the source's `max_results`, else 10.",
)
@click.option("--library", type=Filled(), metavar="DIR", help="Folder for the source `library`.")
@filter_options
@json_option
@on_client
async def search(
    client: "Determinator",
    source: str,
    query: tuple[str, ...],
    limit: int | None,
    library: str | None,
    as_json: bool,
    **narrowing: Any,  # noqa: ANN401 - the filter options
) -> None:
    """Search one source, outside of any run, and print what it answers.

    A source whose rate holds for a whole fleet (PubMed, arXiv ...) is asked by the workers of a configured
    server, with the key they have.
    """
    words, search_filters = " ".join(query), filters(cast("AskOptions", narrowing))
    result = await client.search(source, words, limit=limit, filters=search_filters, library=library)
    if as_json:
        print_json(
            {
                "status": result.status,
                "hits": result.hits,
                "set_aside": result.set_aside,
                "sent": result.sent,
                "details": result.details,
                "records": result.records,
            }
        )
        return
    for record in result.records:
        print_text(plain(f"{record.evidence_id}  {record.title} ({record.year or 'no year'})"))
        if record.url:
            print_text(f"    {plain(record.url)}")
    note = f", {result.set_aside} could not be read" if result.set_aside else ""
    say(plain(f"{result.status}: {len(result.records)} of {result.hits}{note}; sent: {result.sent}"))


@click.group(cls=Group)
def graph() -> None:
    """List, show and check the graphs that `ask --graph` runs; `status` shows where a run is in its own."""


@graph.command("list")
@json_option
def list_graphs(as_json: bool) -> None:
    """List the built-in graphs."""
    graphs = [builtin(name) for name in builtin_names()]
    if as_json:
        print_json([{"name": entry.name, "description": entry.description} for entry in graphs])
        return
    for entry in graphs:
        print_text(f"{entry.name}  {entry.description}")


@graph.command()
@click.argument("name", metavar="NAME|FILE")
def show(name: str) -> None:
    """Print the definition of a graph, a built-in one or a file, as JSON."""
    print_json(read_graph(name))


@graph.command()
@click.argument("file", metavar="FILE")
def check(file: str) -> None:
    """Check a graph file; each problem is named with its node. Exit code 2 when there is one."""
    from workflows.graph.validation import GraphError

    try:
        definition = load(file, source_names())
    except GraphError as error:
        lines = (" ".join(str(problem).split()) for problem in error.problems)
        raise Mistakes("\n".join(f"{file}: {line}" for line in lines)) from error
    say(f"{definition.name} is valid: {len(definition.nodes)} nodes, {len(definition.edges)} edges")


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
    files, backlog = await asyncio.to_thread(_files, settings, place)
    if as_json:
        print_json([dict(file) for file in files])
        return
    _show(files)
    if backlog:
        documents = "1 document is" if backlog == 1 else f"{backlog:,} documents are"
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
    return files_of(folder, index), index.count_waiting()


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Yield a bar on the terminal while files are read; nothing in a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, visible=False)

        def report(count: int, total: int) -> None:
            text = f"indexing {count:,} of {total:,} file{'s' * (total != 1)}"
            bar.update(task, completed=count, total=total, description=text, visible=True)

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
    say(f"{count_of(len(files), 'file')}: {counts['indexed']:,} indexed, {counts['unreadable']:,} unreadable")
