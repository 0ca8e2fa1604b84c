"""`determinator sources`, `search` and `graph`: what can be searched, trying it, and the graphs there are."""

from typing import TYPE_CHECKING, Any, cast

import click

from client.cli.common import (
    Filled,
    json_option,
    load_settings,
    on_client,
    print_json,
    print_text,
    run_async,
    say,
)
from client.cli.options import filter_options
from client.runs.destinations import available
from client.runs.request import filters, read_graph
from client.terminal import plain, plain_table, to_stdout
from workflows.graph.library import builtin, builtin_names

if TYPE_CHECKING:
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
        covers = Text(option.info.covers)
        if option.info.rate:
            covers.append(f" ({option.info.rate})", style="dim")
        if not option.enabled:
            covers.append(f"\n{option.reason}", style="yellow")
        elif option.info.how_to_enable and option.info.needs_key:
            covers.append(f"\n{option.info.how_to_enable}", style="dim")
        enabled = Text("yes", style="green") if option.enabled else Text("no", style="yellow")
        table.add_row(option.info.name, enabled, covers)
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
    words, narrowed = " ".join(query), filters(cast("AskOptions", narrowing))
    result = await client.search(source, words, limit=limit, filters=narrowed, library=library)
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
    set_aside = f", {result.set_aside} could not be read" if result.set_aside else ""
    say(plain(f"{result.status}: {len(result.records)} of {result.hits}{set_aside}; sent: {result.sent}"))


@click.group()
def graph() -> None:
    """List, show and check the graphs that `ask --graph` runs; `status` shows where a run is in its own."""


@graph.command("list")
@json_option
def list_graphs(as_json: bool) -> None:
    """List the built-in graphs."""
    graphs = [builtin(name) for name in builtin_names()]
    if as_json:
        print_json([{"name": listed.name, "description": listed.description} for listed in graphs])
        return
    for listed in graphs:
        print_text(f"{listed.name}  {listed.description}")


@graph.command()
@click.argument("name", metavar="NAME|FILE")
def show(name: str) -> None:
    """Print the definition of a graph, a built-in one or a file, as JSON."""
    print_json(read_graph(name))


@graph.command()
@click.argument("file", metavar="FILE")
def check(file: str) -> None:
    """Check a graph file; each problem is named with its node. Exit code 2 when there is one."""
    definition = read_graph(file)
    say(f"{definition.name} is valid: {len(definition.nodes)} nodes, {len(definition.edges)} edges")
