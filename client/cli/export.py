"""`determinator export` and `graph-export`: a finished run as files that anybody can check, or as a graph."""

import os
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
    from activities.private_files import file_name
    from client.reports.bundle import make_bundle, write_folder, write_zip
    from client.secrets import known_secrets

    if output is not None:
        check_free(output, force=force)
    finished = await client.finished(run)
    name = file_name(finished.run_id)
    path = output or Path(f"{name}.zip")
    check_free(path, force=force)
    bundle = make_bundle(finished, known_secrets(client.settings, os.environ.items()))
    try:
        if path.suffix.lower() == ".zip":
            write_zip(path, bundle, top=name, at=finished.report.generated_at)
        else:
            write_folder(path, bundle)
    except OSError as error:
        raise Failure(f"the export cannot be written to {path}: {error.strerror or error}") from error
    for gap in finished.gaps:
        say(gap)
    if as_json:
        files = {"files": list(bundle), "missing": list(finished.gaps)}
        print_json({"run_id": finished.run_id, "path": str(path), **files})
    else:
        click.echo(str(path))


def check_free(path: Path, *, force: bool) -> None:
    """Raises BadInput where an export would overwrite something that was not meant, or cannot be written."""
    if path.suffix.lower() == ".zip":
        if path.is_dir():
            raise BadInput(f"{path} is a folder; give another name to the archive")
        if path.exists() and not force:
            raise BadInput(f"{path} exists; replace it with --force or give another --output")
    elif path.exists() and not path.is_dir():
        raise BadInput(f"{path} is a file; give a folder, or a name that ends in .zip")
    elif path.exists() and any(path.iterdir()):
        if not (path / "SHA256SUMS").exists():
            raise BadInput(f"the folder {path} is not empty; give another --output")
        if not force:
            raise BadInput(f"{path} has an earlier export; renew it with --force or give another --output")
    folder = path if path.is_dir() else path.absolute().parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BadInput(f"the export cannot be written to {path}: {folder} is not a folder one can write to")


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
