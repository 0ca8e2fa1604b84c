"""`determinator graph`: the built-in graphs, a picture of one, and whether a file is valid."""

from typing import TYPE_CHECKING

import click

from client.cli.common import Name, json_option, print_json, print_text, say
from client.runs.request import read_graph
from client.terminal import to_stdout
from workflows.graph.library import builtin, builtin_names
from workflows.graph.validation import title_of

if TYPE_CHECKING:
    from rich.tree import Tree

    from workflows.graph.definition import GraphDefinition


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
    type=Name(["tree", "mermaid", "json"]),
    default="tree",
    help="tree (default) draws it in the terminal; mermaid for documents; json is the definition.",
)
def show(name: str, as_: str) -> None:
    """Draw a graph: a built-in one or a file."""
    definition = read_graph(name)
    if as_ == "mermaid":
        from workflows.graph.validation import mermaid

        click.echo(mermaid(definition))
    elif as_ == "json":
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
