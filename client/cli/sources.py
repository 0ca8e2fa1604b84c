"""`determinator sources`, `search` and `graph`: what can be searched, trying it, and the graphs there are."""

from typing import TYPE_CHECKING, Any, cast

import click

from client.cli.common import (
    Filled,
    Name,
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
from workflows.graph.validation import title_of

if TYPE_CHECKING:
    from rich.tree import Tree

    from client.api import Determinator
    from client.runs.options import AskOptions
    from workflows.graph.definition import GraphDefinition


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
@click.option(
    "--format",
    "as_",
    type=Name(["tree", "json"]),
    default="tree",
    help="tree (default) draws it in the terminal; json is the definition.",
)
def show(name: str, as_: str) -> None:
    """Draw a graph: a built-in one or a file."""
    definition = read_graph(name)
    if as_ == "json":
        print_json(definition)
    else:
        to_stdout().print(as_tree(definition))


@graph.command()
@click.argument("file", metavar="FILE")
def check(file: str) -> None:
    """Check a graph file; each problem is named with its node. Exit code 2 when there is one."""
    definition = read_graph(file)
    say(f"{definition.name} is valid: {len(definition.nodes)} nodes, {len(definition.edges)} edges")


def as_tree(definition: "GraphDefinition") -> "Tree":
    """Return the nodes in the order in which a run may reach them, with what may follow each."""
    from rich.text import Text
    from rich.tree import Tree

    from workflows.graph.definition import in_words

    root = Tree(Text(definition.name, "bold"))
    reached = [definition.entry]
    for name in reached:
        node = root.add(Text.assemble((name, "bold"), "  ", (title_of(definition.nodes[name]), "dim")))
        leaving = definition.leaving(name)
        for edge in leaving:
            otherwise = "otherwise" if any(other.when for other in leaving) else "then"
            words = {"parallel": "at once", "sequential": otherwise}.get(edge.type)
            words = words or " and ".join(map(in_words, edge.when))
            node.add(Text.assemble((f"{words} -> ", "dim"), edge.target))
            if edge.target not in reached:
                reached.append(edge.target)
    return root
