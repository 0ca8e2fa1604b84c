"""`determinator report`, `evidence`, `export` and `verify`: what a run found, and whether it holds."""

import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from activities.contracts.evidence import Length
from activities.messages import plural
from activities.report.formats import CHART_FORMATS, CHARTS, FORMATS, format_of
from activities.report.strength import TYPE_NAMES
from client.cli.common import Filled, Name, json_option, on_client, print_json, print_text, run_argument, say
from client.failures import BadInput, Exit, Failure, NoConnection, NoSuchRun, SeveralRuns
from client.runs.checks import check_output
from client.terminal import harmless, plain, plain_table, printable, to_stdout

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from activities.contracts.evidence import Evidence, EvidenceRef
    from activities.report.check_bundle import CheckedBearer
    from activities.report.schema import Report
    from client.api import Determinator
    from client.reports.finished import Verification
    from client.reports.load import Use


MAX_COLLECTED = 20
"""Works that a search of what was collected shows."""
WAV = "wav"
"""The summary read aloud: no format of `FORMATS`, since a bundle does not speak."""


@click.command()
@run_argument
@click.option("--format", "form", type=Name((*FORMATS, WAV)), help="Default: md, or what --output ends in.")
@click.option("--length", type=Name(get_args(Length)), help="Default: as the question was asked.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="PATH")
@click.option(
    "--version", "number", type=click.IntRange(1), help="Of a report that has several; default: the latest."
)
@click.option(
    "--diff", type=click.IntRange(1), metavar="N", help="Print the sentences that differ from version N."
)
@click.option("--ids", is_flag=True, help="Print each sentence with the id by which it is disputed.")
@on_client
async def report(
    client: "Determinator",
    run: str,
    ids: bool,
    diff: int | None,
    form: str | None,
    length: Length | None,
    output: Path | None,
    number: int | None,
) -> None:
    """Print a run's report, or save it with --output.

    On a terminal it is rendered and paged; in a pipe, or with --format, it is printed as it is. `wav` is
    its summary, read aloud.
    """
    if output is not None and form is None and output.suffix.lower() == f".{WAV}":
        form = WAV
    if output is not None:
        check_output(output, formats=form is None)
    ending = form or (format_of(output.suffix) if output else "") or "md"
    binary = ending == WAV or not FORMATS[ending].is_text
    if output is None and binary and sys.stdout.isatty():
        raise BadInput(f"{ending} is not text; save it with --output report.{ending}")
    from client.reports.load import as_bytes, write_report

    document = await find_report(client, run, number)
    if ids:
        for name, text in {claim.id: claim.text for claim in document.sentences()}.items():
            print_text(plain(f"{name} {text}"))
        return
    if diff is not None:
        from client.cli.steering import show_difference

        if not show_difference(await find_report(client, run, diff), document):
            say(f"no sentence differs from version {diff}")
        return
    if length is not None:
        document = document.replace(length=length)
    if output is not None and ending != WAV:
        write_report(document, ending, output, say=say)
        click.echo(str(output))
        return
    if ending == WAV:
        from client.reports.read_aloud import wav

        data = await asyncio.to_thread(wav, document)
    else:
        data = as_bytes(document, ending)
    if output is None and form is None and sys.stdout.isatty():
        show_report(harmless(data.decode()))
    else:
        put_data(data, output, binary=binary)


@click.command()
@run_argument
@click.option(
    "--of",
    "name",
    type=Name(tuple(CHARTS)),
    required=True,
    help="; ".join(f"{name}: {about}" for name, about in CHARTS.items()) + ".",
)
@click.option("--format", "form", type=Name(tuple(CHART_FORMATS)), help="Default: as --output ends, else md.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="PATH")
@on_client
async def chart(client: "Determinator", run: str, name: str, form: str | None, output: Path | None) -> None:
    """Print a chart of a report as a table, or draw it: `--output forest.svg` or `forest.png`."""
    from activities.report.formats import MissingExtra
    from activities.report.run_folder import chart_file

    ending = form or (output.suffix.lower().removeprefix(".") if output else "md")
    if ending not in CHART_FORMATS:
        raise BadInput(f"a chart is {', '.join(CHART_FORMATS)}; name it {output and output.stem}.svg")
    if output is None and ending == "png" and sys.stdout.isatty():
        raise BadInput(f"png is not text; save it with --output {name}.png")
    document = await find_report(client, run, None)
    try:
        data = chart_file(document, name, ending)
    except MissingExtra as error:
        raise BadInput(str(error)) from error
    if data is None:
        raise BadInput(f"{document.run_id} has nothing for the chart {name}")
    put_data(data, output, binary=ending == "png")


@click.command("open")
@run_argument
@on_client
async def open_run(client: "Determinator", run: str) -> None:
    """Open the folder of a finished run: report, texts by title, searches, what each iteration thought.

    Its path is printed; what is missing in it is written.
    """
    from activities.private_files import file_name
    from activities.report.run_folder import run_files, write_files
    from client.embedded.home import Places

    record = await client.finished(run)
    folder = Places(client.settings.home).runs / file_name(record.run_id)
    works = [item for _, item in record.items]
    files = run_files(record.report, client.settings.output_format, works, record.iterations)
    try:
        write_files(folder, files)
    except OSError as error:
        raise Failure(f"the folder {folder} cannot be written: {error.strerror or error}") from error
    click.echo(str(folder))
    if sys.stdout.isatty() and (sys.platform != "linux" or os.environ.get("DISPLAY")):
        click.launch(str(folder))


async def find_report(client: "Determinator", name: str, number: int | None) -> "Report":
    """Return the report that a run's name stands for.

    It comes from the run, or from the evidence store where no server answers or the server no longer
    knows the run.
    """
    from activities.report.archive import Archive
    from client.reports.finished import report_in_store
    from client.reports.load import in_version, load_report

    settings = client.settings
    try:
        run = await client.run(name)
    except SeveralRuns:
        raise
    except (NoConnection, NoSuchRun) as error:
        document = await report_in_store(Archive(settings.evidence_url), name, error)
        say(f"from the evidence store, since {error}")
    else:
        if (await run.row()).status == "running":
            await run.progress()
        document = await load_report(settings, run.connection, run.id)
        if document.draft:
            say("this is a draft: the run has not ended")
    return await in_version(settings, document, number, say=say)


def put_data(data: bytes, output: Path | None, *, binary: bool) -> None:
    """Save a report, or print it: as it is into files and pipes, without what acts on a terminal there."""
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_bytes(data)
        click.echo(str(output))
        return
    if binary or not sys.stdout.isatty():
        sys.stdout.buffer.write(data if binary or data.endswith(b"\n") else data + b"\n")
        return
    click.echo(printable(data.decode()).removesuffix("\n"))


def show_report(markdown: str) -> None:
    """Render Markdown for the terminal, through the pager when it is longer than the screen."""
    import shutil

    from client.reports.answer_panel import render_markdown

    size = shutil.get_terminal_size()
    text = render_markdown(markdown, size.columns)
    if text.count("\n") < size.lines:
        click.echo(text, nl=False)
    else:
        click.echo_via_pager(text)


@click.command()
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--search", "text", type=Filled(), metavar="TEXT", help="Search what was collected.")
@click.option("--format", "form", type=Name(["table", "jsonl"]), default="table", show_default=True)
@on_client
async def evidence(client: "Determinator", run: str | None, text: str | None, form: str) -> None:
    """Print what a run found, with its full text.

    With --search, print what it, or all runs of this home, have collected on something. `--format jsonl`:
    one item a line, with its full stored text.
    """
    if text is not None:
        of_run = (
            None
            if run is None
            else {ref.evidence_id for ref in await (await client.run(run)).evidence_refs()}
        )
        await search_collected(client, text, form, of_run)
        return
    target = await client.run(run or "last")
    if form == "table":
        if items := await target.evidence_refs():
            show_evidence(items, await target.use())
        else:
            say("the run has found nothing")
        return
    async for line in target.evidence_lines():
        click.echo(printable(json.dumps(line, ensure_ascii=False)))


def show_evidence(items: "Sequence[EvidenceRef | Evidence]", use: "Use | None" = None) -> None:
    """Print works as a table: those that the report cites by number, then the others with the reason."""
    from rich.text import Text

    if use is not None:
        items = sorted(items, key=lambda ref: use.cited.get(ref.evidence_id, len(items)))
        count = sum(ref.evidence_id in use.cited for ref in items)
        say(f"{plural(len(items), 'item')}; the report cites {count} of them")
    table = plain_table()
    table.add_column("id", no_wrap=True)  # useless unless it is whole
    table.add_column("work")
    for ref in items:
        facts = [ref.source, str(ref.year or ""), TYPE_NAMES[ref.evidence_type], ref.standing]
        facts += [use.text(ref.evidence_id)] if use else []
        is_bad = ref.standing in ("retracted", "concern")
        work = Text(plain(ref.title))
        work.append(f"\n{', '.join(filter(None, facts))}", style="bold red" if is_bad else "dim")
        table.add_row(Text(plain(ref.evidence_id)), work)
    if items:
        to_stdout().print(table)


async def search_collected(
    client: "Determinator", text: str, form: str, ids: "Collection[str] | None"
) -> None:
    """Print the works that match best, as a table or as JSON lines with their full text."""
    works = await client.collected(text, MAX_COLLECTED, only=ids)
    if not works:
        say("nothing that was collected matches")
    if form == "table":
        show_evidence([work for work, _ in works])
        return
    for work, score in works:
        row = {**work.model_dump(mode="json"), "score": score}
        click.echo(printable(json.dumps(row, ensure_ascii=False)))


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
    """Save everything an outsider needs to check a report.

    That is the report in every format, the full text of what it rests on, searches, events, method,
    checksums, and a script that checks the quotes. No secrets.

    Works on finished runs; when no server answers, with what the evidence store has.
    """
    bundle = await client.export(run, output, force=force)
    for gap in bundle.missing:
        say(gap)
    if as_json:
        print_json(bundle)
    else:
        click.echo(str(bundle.path))


@click.command()
@run_argument
@json_option
@on_client
async def verify(client: "Determinator", run: str, as_json: bool) -> int:
    """Check every quote of a report against the stored text of its work.

    Also checked are the numbering of the references, and that the text says no more than its claims. Exit
    code 0 when everything holds, 1 when something does not. An exported archive is checked by its check.py.
    """
    verification = await client.verify(run)
    if as_json:
        print_json(_as_data(verification))
    else:
        _show(verification)
    return Exit.DONE if verification.holds else Exit.FAILED


def _show(verification: "Verification") -> None:
    examination = verification.examination
    for bearer in examination.bearers:
        state = "holds" if bearer.holds else "FAILS"
        numbers = ", ".join(str(n) for n in sorted({q.number for q in bearer.quotes if q.number}))
        text = bearer.text or " ".join(quote.quote for quote in bearer.quotes)
        marks = f"  [{numbers}]" if numbers else ""
        print_text(plain(f"{state}  {bearer.name}{marks}  {text}"))
        for fault in bearer.faults():
            print_text(f"       {plain(fault)}")
    for problem in (*examination.problems, *verification.damaged):
        print_text(f"FAILS  {plain(problem)}")
    for note in examination.notes:
        print_text(f"NOTE   {plain(note)}")
    counts = []
    for kind, names in (("claim", "claims"), ("candidate", "candidates")):
        results = [bearer.holds for bearer in examination.bearers if bearer.kind == kind]
        if results or kind == "claim":
            counts.append(f"{sum(results)} of {len(results)} {names}")
    quotes = [not quote.problem for bearer in examination.bearers for quote in bearer.quotes]
    everything = "everything that was compared" if examination.notes else "everything"
    verdict = f"{everything} holds" if verification.holds else "NOT everything holds"
    if not examination.bearers:
        verdict = "nothing to check: the report makes no claim"
    print_text(
        f"{verdict}: {', '.join(counts)}, {sum(quotes)} of {len(quotes)} quotes; "
        f"{plural(verification.references, 'reference')}"
    )


def _as_data(verification: "Verification") -> dict[str, Any]:
    def bearer_data(bearer: "CheckedBearer") -> dict[str, Any]:
        return {
            **asdict(bearer),
            "holds": bearer.holds,
            "quotes": [{**asdict(quote), "holds": not quote.problem} for quote in bearer.quotes],
        }

    bearers = verification.examination.bearers
    return {
        "run_id": verification.examination.run_id,
        "holds": verification.holds,
        "items": verification.items,
        "claims": [bearer_data(b) for b in bearers if b.kind == "claim"],
        "candidates": [bearer_data(b) for b in bearers if b.kind == "candidate"],
        "others": [bearer_data(b) for b in bearers if b.kind not in ("claim", "candidate")],
        "problems": [*verification.examination.problems, *verification.damaged],
        "notes": list(verification.examination.notes),
    }
