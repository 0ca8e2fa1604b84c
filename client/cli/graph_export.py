"""`determinator graph-export`: what a run found as a graph."""

from pathlib import Path

import click

from client.cli.common import (
    address_option,
    json_option,
    load_settings,
    print_json,
    run_argument,
    run_async,
    say,
)
from client.failures import BadInput, Failure


@click.command("graph-export")
@run_argument
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Default: RUN-graph in this folder.",
)
@click.option("--force", is_flag=True, help="Replace what an earlier export left there.")
@json_option
@address_option
def graph_export(run: str, output: Path | None, force: bool, as_json: bool, address: str | None) -> None:
    """Save what a run found (drugs, targets, trials, works, claims and their quotes) as a graph: CSV files
    for Neo4j's importer, and GraphML."""
    settings = load_settings()

    async def body() -> None:
        from activities.private_files import file_name
        from client.reports.finished import find_finished
        from client.reports.graph_export import files_of, graph_of

        found = await find_finished(settings, address, run, say, whole=False)
        folder = output or Path(f"{file_name(found.run_id)}-graph")
        graph = graph_of(found.report)
        files = files_of(graph)
        if not force and (there := [name for name in files if (folder / name).exists()]):
            raise BadInput(f"{folder / there[0]} exists; replace it with --force or give another --output")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, data in files.items():
                (folder / name).write_bytes(data)
        except OSError as error:
            raise Failure(f"the graph cannot be written to {folder}: {error.strerror or error}") from error
        say(f"{len(graph.nodes)} nodes, {len(graph.edges)} relationships")
        if as_json:
            counts = {"nodes": len(graph.nodes), "relationships": len(graph.edges)}
            print_json({"run_id": found.run_id, "path": str(folder), "files": list(files), **counts})
        else:
            click.echo(str(folder))

    run_async(body)
