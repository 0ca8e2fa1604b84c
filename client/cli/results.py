"""`determinator report` and `evidence`: what a run found."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from client.cli.common import Name, address_option, load_settings, run_argument, say, with_run
from client.cli.failures import BadInput

if TYPE_CHECKING:
    from activities.types import Evidence, EvidenceRef
    from client.connect import Connection

FORMATS = ("md", "html", "json", "bibtex", "ris", "csl", "docx", "pdf")
BINARY = ("docx", "pdf")
AT_ONCE = 16
"""Documents read from the store at the same time."""


@click.command(short_help="Print or save a run's report.")
@run_argument
@click.option("--format", "form", type=Name(FORMATS), help="Default: md, or what --output ends in.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="PATH")
@address_option
def report(run: str, form: str | None, output: Path | None, address: str | None) -> None:
    """Print a run's report, or save it with --output."""
    from client.cli.ask import check_output

    if output is not None:
        check_output(output)
    settings = load_settings()

    async def body(connection: "Connection", run_id: str) -> None:
        from client.cli.runs import patient_progress
        from client.reports import BY_SUFFIX, as_bytes, load_report, write_report
        from client.runs import describe

        wanted = form or (BY_SUFFIX.get(output.suffix.lower(), "md") if output else "md")
        if output is None and wanted in BINARY and sys.stdout.isatty():
            raise BadInput(f"{wanted} is no text; save it with --output report.{wanted}")
        if (await describe(connection.client, run_id)).status == "running":
            await patient_progress(connection, run_id)
        found, draft = await load_report(settings, connection, run_id)
        if draft:
            say("this is a draft: the run has not ended")
        if output is not None:
            write_report(found, wanted, output)
            click.echo(str(output))
            return
        data = as_bytes(found, wanted)
        sys.stdout.buffer.write(data if data.endswith(b"\n") or wanted in BINARY else data + b"\n")

    with_run(address, run, body)


@click.command(short_help="Print what a run found, with its full text.")
@run_argument
@click.option("--format", "form", type=Name(["table", "jsonl"]), default="table", show_default=True)
@address_option
def evidence(run: str, form: str, address: str | None) -> None:
    """Print what a run found. `--format jsonl`: one item a line, with its full stored text."""
    settings = load_settings()

    async def body(connection: "Connection", run_id: str) -> None:
        from activities.evidence import EvidenceStore
        from client.cli.runs import patient_progress
        from client.runs import query
        from workflows.types import EvidenceIndex

        await patient_progress(connection, run_id)
        index = await query(connection.client, run_id, "evidence_index", EvidenceIndex)
        if form == "table":
            show_evidence(index.items)
            return
        store = EvidenceStore.at(settings.evidence_url)
        for start in range(0, len(index.items), AT_ONCE):
            part = index.items[start : start + AT_ONCE]
            for ref, item in zip(part, await asyncio.gather(*map(store.get, part)), strict=True):
                click.echo(jsonl_line(ref, item))

    with_run(address, run, body)


def jsonl_line(ref: "EvidenceRef", item: "Evidence") -> str:
    """One item with everything an outsider needs to check a quote against it."""
    import json

    identifiers = {k: v for k, v in ref.identifiers.model_dump().items() if v}
    return json.dumps(
        {
            "evidence_id": ref.evidence_id,
            "source": ref.source,
            "title": item.title,
            "authors": list(item.authors),
            "year": item.year,
            "venue": item.venue,
            "identifiers": identifiers,
            "url": ref.url,
            "evidence_type": ref.evidence_type,
            "standing": ref.standing,
            "full_text": ref.full_text,
            "text": item.text,
            "facts": item.facts,
            "sections": list(ref.sections),
            "queries": list(ref.queries),
        },
        ensure_ascii=False,
    )


def show_evidence(items: "tuple[EvidenceRef, ...]") -> None:
    """Print the index as a table."""
    from rich.table import Table
    from rich.text import Text

    from client.display import plain, to_stdout

    if not items:
        say("the run has found nothing yet")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("id", "source", "year", "type", "standing"):
        table.add_column(name, no_wrap=True)
    table.add_column("title", no_wrap=True, overflow="ellipsis")
    for ref in items:
        bad = ref.standing in ("retracted", "concern")
        table.add_row(
            Text(plain(ref.evidence_id)),
            ref.source,
            str(ref.year or ""),
            ref.evidence_type.replace("_", " "),
            Text(ref.standing, style="bold red" if bad else ""),
            Text(plain(ref.title)),
        )
    to_stdout().print(table)
