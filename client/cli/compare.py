"""One question in several modes, side by side: `determinator ask ... --mode simple --mode team`.

The runs share the worker's caches and its evidence store: what one of them has fetched is not fetched again
for another.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from client.cli.common import print_json, say
from client.failures import Exit

if TYPE_CHECKING:
    from client.run import Run
    from client.runs.follow import Ended


@dataclass(frozen=True, slots=True)
class Compared:
    mode: str
    run_id: str
    status: str
    """Its stop reason; `failed` with the reason when it has no outcome."""
    answered: bool = False
    verified_claims: int = 0
    references: int = 0
    confidence: float | None = 0.0
    """0 where no step has judged the evidence."""
    sureness: str = "0%"
    """The confidence as reports print it."""
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    """Working seconds; waiting for people does not count."""
    report: str | None = None


async def compare(
    runs: Sequence[tuple[str, "Run"]],
    *,
    output: Path | None,
    as_json: bool,
) -> int:
    """Follow the runs, each with its mode, to their ends, and print a table; return the exit code."""
    from client.runs.display import ModeLines

    async def follow(mode: str, run: "Run") -> Compared:
        with ModeLines(mode) as display:
            ended = await run.follow(display)
        place = output and output.with_name(f"{output.stem}-{mode}{output.suffix}")
        return await _compared(run, mode, ended, place)

    try:
        rows = await asyncio.gather(*(follow(mode, run) for mode, run in runs))
    except asyncio.CancelledError:
        say("Detached; the runs continue in the background.")
        raise
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        show(rows)
    if any(row.status.startswith("failed") for row in rows):
        return Exit.FAILED
    return Exit.DONE if any(row.answered for row in rows) else Exit.NOT_ENOUGH_EVIDENCE


async def _compared(run: "Run", mode: str, ended: "Ended", output: Path | None) -> Compared:
    from activities.report.formats.words import percent
    from client.reports.load import ended_report, save_report
    from client.terminal import plain

    if ended.outcome is None:
        return Compared(mode, run.id, f"failed: {plain(ended.reason)}")
    report = await ended_report(run.settings, run.connection, ended.outcome)
    path = save_report(run.settings, report, output, say=say)
    return Compared(
        mode=mode,
        run_id=run.id,
        status=ended.outcome.stop_reason,
        answered=ended.outcome.answered,
        verified_claims=ended.outcome.verified_claims,
        references=ended.outcome.references,
        confidence=report.confidence,
        sureness="" if report.confidence is None else percent(report.confidence),
        calls=report.methodology.model_calls,
        tokens=report.methodology.tokens,
        seconds=report.methodology.seconds,
        report=str(path),
    )


def show(rows: Sequence[Compared]) -> None:
    from client.terminal import plain_table, to_stdout

    table = plain_table("")
    for row in rows:
        table.add_column(row.mode, justify="right")
    lines = {
        "claims verified": [str(row.verified_claims) for row in rows],
        "references": [str(row.references) for row in rows],
        "confidence": [row.sureness for row in rows],
        "model calls": [str(row.calls) for row in rows],
        "tokens": [f"{row.tokens:,}" for row in rows],
        "seconds": [f"{row.seconds:.1f}" for row in rows],
        "ended": [row.status.replace("_", " ") for row in rows],
    }
    for name, values in lines.items():
        table.add_row(name, *values)
    to_stdout().print(table)
    for row in rows:
        click.echo(f"Report {row.mode}: {row.report or row.run_id}")
