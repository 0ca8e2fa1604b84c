"""`determinator ask --many`: a batch of questions, its progress and its table of results."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from client.cli.common import print_json_line, print_text, run_async, say
from client.failures import Exit

if TYPE_CHECKING:
    from activities.settings import Settings
    from client.runs.batch import Result
    from client.runs.request import AskOptions


def ask_many(
    settings: "Settings",
    address: str | None,
    file: Path,
    options: "AskOptions",
    output: Path | None,
    *,
    at_once: int,
    detach: bool,
    as_json: bool,
) -> int:
    """Ask the questions of a file and print a row for each; return the exit code: that of the worst row."""
    from client.runs.batch import REPORTS, TABLE, Batch, check, read_questions

    questions = read_questions(file, options)
    check(settings, questions, file)
    folder = output or Path(f"{file.stem}-results")

    async def body() -> "list[Result]":
        from client.api import Determinator

        async with Determinator(settings, address=address, say=say) as client:
            batch = Batch(client, folder, at_once=at_once, say=say, start_only=detach)
            return await batch.run(questions)

    results = run_async(body)
    for result in results:
        if as_json:
            print_json_line(asdict(result))
        else:
            print_text(
                f"{result.status:<13} {result.references:>3} works  {result.run_id}  {result.question}"
            )
    if not detach:
        say(f"{folder / TABLE} has the table, {folder / REPORTS} all reports, {folder} a file for each")
    return exit_code(results)


def exit_code(results: "list[Result]") -> int:
    """1 when a run failed, 4 when one did not find enough to answer, else 0."""
    statuses = {result.status for result in results}
    if "failed" in statuses:
        return Exit.FAILED
    return Exit.NOT_ENOUGH_EVIDENCE if "not_answered" in statuses else Exit.DONE
