"""`determinator export`: a finished run as files that anybody can check."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from client.cli.common import json_option, on_client, print_json, run_argument, say

if TYPE_CHECKING:
    from client.api import Determinator


@click.command()
@run_argument
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR|FILE.zip",
    help="Default: RUN.zip in this folder.",
)
@click.option("--force", is_flag=True, help="Replace what an earlier export left there.")
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
        print_json(made)
    else:
        click.echo(str(made.path))
