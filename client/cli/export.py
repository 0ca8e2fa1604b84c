"""`determinator export`: a finished run as files that anybody can check."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from activities.messages import plural
from client.cli.common import json_option, on_client, print_json, print_text, run_argument, say
from client.failures import Exit
from client.terminal import plain

if TYPE_CHECKING:
    from activities.report.audit import Examination
    from activities.report.check_bundle import CheckedBearer
    from client.api import Determinator
    from client.reports.verify import Parcel


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
    made = await client.export(run, output, force=force)
    for gap in made.missing:
        say(gap)
    if as_json:
        print_json(made)
    else:
        click.echo(str(made.path))


@click.command()
@click.argument(
    "target",
    metavar="RUN|REPORT.json|BUNDLE",
    default="last",
)
@click.option(
    "--evidence",
    "evidence",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.jsonl",
    help="Check against these texts, as `evidence --format jsonl` prints them.",
)
@json_option
@on_client
async def verify(client: "Determinator", target: str, evidence: Path | None, as_json: bool) -> int:
    """Check every quote of a report against the text of its work.

    Also checked are the numbering of the references, and that the text says no more than its claims. Exit
    code 0 when everything holds, 1 when something does not.

    The report is a run's, a JSON file, or what `export` made (a folder or .zip). A file is checked against
    --evidence, else against `evidence.jsonl` beside it, else against this machine's evidence store; no server
    is needed.
    """
    checked = await client.verify(target, evidence)
    if checked.parcel.foreign_script:
        say("its check.py is not the one that this version writes: do not run it unless you trust its origin")
    for note in checked.parcel.uncompared:
        say(note)
    if as_json:
        print_json(_as_data(checked.examination, checked.parcel, checked.items, holds=checked.holds))
    else:
        _show(checked.examination, checked.parcel, holds=checked.holds)
    return Exit.DONE if checked.holds else Exit.FAILED


def _show(examination: "Examination", parcel: "Parcel", *, holds: bool) -> None:

    for bearer in examination.bearers:
        state = "holds" if bearer.holds else "FAILS"
        numbers = ", ".join(str(n) for n in sorted({q.number for q in bearer.quotes if q.number}))
        text = bearer.text or " ".join(quote.quote for quote in bearer.quotes)
        marks = f"  [{numbers}]" if numbers else ""
        print_text(plain(f"{state}  {bearer.name}{marks}  {text}"))
        for fault in bearer.faults():
            print_text(f"       {plain(fault)}")
    for problem in (*examination.problems, *parcel.damaged):
        print_text(f"FAILS  {plain(problem)}")
    counts = []
    for kind, names in (("claim", "claims"), ("candidate", "candidates")):
        these = [bearer.holds for bearer in examination.bearers if bearer.kind == kind]
        if these or kind == "claim":
            counts.append(f"{sum(these)} of {len(these)} {names}")
    quotes = [not quote.problem for bearer in examination.bearers for quote in bearer.quotes]
    verdict = "everything holds" if holds else "NOT everything holds"
    if not examination.bearers:
        verdict = "nothing to check: the report makes no claim"
    print_text(
        f"{verdict}: {', '.join(counts)}, {sum(quotes)} of {len(quotes)} quotes; "
        f"{plural(len(parcel.report.references), 'reference')}"
    )


def _as_data(examination: "Examination", parcel: "Parcel", items: int, *, holds: bool) -> dict[str, Any]:
    def bearer_data(bearer: "CheckedBearer") -> dict[str, Any]:
        return {
            **asdict(bearer),
            "holds": bearer.holds,
            "quotes": [{**asdict(quote), "holds": not quote.problem} for quote in bearer.quotes],
        }

    return {
        "run_id": examination.run_id,
        "holds": holds,
        "items": items,
        "claims": [bearer_data(b) for b in examination.bearers if b.kind == "claim"],
        "candidates": [bearer_data(b) for b in examination.bearers if b.kind == "candidate"],
        "others": [bearer_data(b) for b in examination.bearers if b.kind not in ("claim", "candidate")],
        "problems": [*examination.problems, *parcel.damaged],
        "not_compared": list(parcel.uncompared),
        "foreign_check_script": parcel.foreign_script,
    }
