"""Where a run is in its graph: query `graph`, and what is shown of its answer."""

from typing import TYPE_CHECKING

from temporalio.client import Client

from client.runs.query import query
from client.terminal import plain
from workflows.graph.definition import GraphView

if TYPE_CHECKING:
    from rich.table import Table

    from workflows.types import Progress

GRAPH_MODE = "graph"


async def graph_of(client: Client, seen: "Progress | None") -> GraphView | None:
    """Where a run is in its graph; None for a run of another mode. Raises NoAnswer, NoSuchRun."""
    if seen is None or seen.mode != GRAPH_MODE:
        return None
    return await query(client, seen.run_id, "graph", GraphView)


def graph_line(view: GraphView) -> str:
    """The graph and its nodes that run, on one line."""
    running = f"{', '.join(view.running)} running" if view.running else f"at {view.at or 'its entry'}"
    visited = sum(name in view.visits for name in view.nodes)
    return plain(f"graph {view.name}: {running}; {visited} of {len(view.nodes)} nodes visited")


def as_table(view: GraphView) -> "Table":
    """Each node: whether it runs, how often it was visited, and the result of its latest visit."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("node", "", "visits", "result"):
        table.add_column(name, justify="right" if name == "visits" else "left")
    for name in view.nodes:
        runs = name in view.running
        table.add_row(
            Text(name, "bold cyan" if runs else "default"),
            "running" if runs else "",
            str(view.visits.get(name, 0)),
            Text(plain(view.results.get(name, ""))),
        )
    return table
