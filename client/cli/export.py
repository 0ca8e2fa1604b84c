"""`determinator export` and `graph-export`: a finished run as files that anybody can check, or as a graph."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from client.cli.common import json_option, on_client, print_json, run_argument, say
from client.failures import BadInput, Failure

if TYPE_CHECKING:
    from client.api import Determinator

force_option = click.option("--force", is_flag=True, help="Replace what an earlier export left there.")


@click.command()
@run_argument
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR|FILE.zip",
    help="Default: RUN.zip in this folder.",
)
@force_option
@json_option
@on_client
async def export(client: "Determinator", run: str, output: Path | None, force: bool, as_json: bool) -> None:
    """Save everything an outsider needs to check a report: the report in every format, the full text of what
    it rests on, searches, events, method, checksums, and a script that checks the quotes. No secrets.

    Works on finished runs; when no server answers, with what the evidence store has.
    """
    made = await client.export(run, output, force=force)
    for gap in made.missing:
        say(gap)
    if as_json:
        print_json({**asdict(made), "path": str(made.path)})
    else:
        click.echo(str(made.path))


@click.command("graph-export")
@run_argument
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.graphml",
    help="Default: RUN.graphml in this folder.",
)
@force_option
@json_option
@on_client
async def graph_export(
    client: "Determinator", run: str, output: Path | None, force: bool, as_json: bool
) -> None:
    """Save what a run found (drugs, targets, trials, works, claims and their quotes) as a graph: GraphML."""
    from activities.private_files import file_name
    from client.reports.graph_export import graph_of, graphml

    finished = await client.finished(run, whole=False)
    path = output or Path(f"{file_name(finished.run_id)}.graphml")
    if path.exists() and not force:
        raise BadInput(f"{path} exists; replace it with --force or give another --output")
    graph = graph_of(finished.report)
    try:
        path.write_bytes(graphml(graph))
    except OSError as error:
        raise Failure(f"the graph cannot be written to {path}: {error.strerror or error}") from error
    counts = {"nodes": graph.number_of_nodes(), "relationships": graph.number_of_edges()}
    say(f"{counts['nodes']} nodes, {counts['relationships']} relationships")
    if as_json:
        print_json({"run_id": finished.run_id, "path": str(path), **counts})
    else:
        click.echo(str(path))
