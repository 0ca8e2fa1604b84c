"""`determinator export`: a finished run as files that anybody can check."""

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
@address_option
def export(run: str, output: Path | None, force: bool, as_json: bool, address: str | None) -> None:
    """Save everything an outsider needs to check a report: the report in every format, the full text of what
    it rests on, searches, events, method, checksums, and a script that checks the quotes. No secrets.

    Works on finished runs; when no server answers, with what the evidence store has.
    """
    if output is not None:
        check_free(output, force=force)
    settings = load_settings()

    async def body() -> Path:
        import os

        from activities.private_files import file_name
        from client.reports.bundle import make_bundle, write_folder, write_zip
        from client.reports.finished import find_finished
        from client.secrets import known_secrets

        found = await find_finished(settings, address, run, say)
        name = file_name(found.run_id)
        path = output or Path(f"{name}.zip")
        check_free(path, force=force)
        bundle = make_bundle(found, known_secrets(settings, os.environ.items()))
        try:
            if path.suffix.lower() == ".zip":
                write_zip(path, bundle, top=name, at=found.report.generated_at)
            else:
                write_folder(path, bundle)
        except OSError as error:
            raise Failure(f"the export cannot be written to {path}: {error.strerror or error}") from error
        for gap in found.gaps:
            say(gap)
        if as_json:
            print_json(
                {
                    "run_id": found.run_id,
                    "path": str(path),
                    "files": list(bundle),
                    "missing": list(found.gaps),
                }
            )
        else:
            click.echo(str(path))
        return path

    run_async(body)


def check_free(path: Path, *, force: bool) -> None:
    """Raises BadInput where an export would overwrite something that was not meant, or cannot be written."""
    import os

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
