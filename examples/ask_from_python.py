"""A run from Python, as `determinator ask` makes one.

    python examples/ask_from_python.py QUESTION [LIBRARY]

Uses the embedded server, which is started when it is not running, or the server that the `TEMPORAL_*`
variables name. With a library only that folder is searched, without one the sources of the configuration.
"""

import asyncio
import sys
from functools import partial
from pathlib import Path

from activities.report.schema import Report
from activities.settings import Settings
from client.connect import connect
from client.exit import leave
from client.reports.kept import is_kept
from client.reports.load import ended_report
from client.runs.query import progress
from client.runs.start import signing_key, start
from workflows.types import Limits, Outcome, ResearchRequest


async def research(question: str, library: Path | None = None) -> Report:
    """Start a run, or join one of the same question and settings, and wait for its report.

    `library` is absolute: the worker runs in another folder.

    Raises NoConnection, NoReport, and WorkflowFailureError for a run that failed.
    """
    settings = Settings()
    request = ResearchRequest(
        question=question,
        mode="iterative",
        library=str(library) if library else None,
        sources=("library",) if library else (),
        limits=Limits(max_iterations=2, max_seconds=600),
    )
    connection = await connect(settings, for_run=True)
    started = await start(
        connection.client,
        request,
        connection.task_queue,
        kept=partial(is_kept, settings),
        indexed=connection.embedded,
        key=signing_key(settings),
    )
    now = await progress(connection.client, started.run_id)
    print(f"{started.run_id}: {now.phase}", file=sys.stderr)
    handle = connection.client.get_workflow_handle(started.run_id, result_type=Outcome)
    return await ended_report(settings, connection, await handle.result())


def show(report: Report) -> None:
    """Print each claim with the quote it rests on and where the quote is from."""
    cited = {reference.evidence_id: reference for reference in report.references}
    for section in report.sections:
        for claim in section.claims:
            print(f"- {claim.text}")
            for support in claim.support:
                reference = cited[support.evidence_id]
                print(f'    [{reference.number}] "{support.quote}" ({reference.title})')
    print(f"confidence {report.confidence:.2f}, stopped because: {report.stop_reason}")


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    library = Path(sys.argv[2]).resolve() if len(sys.argv) == 3 else None
    show(asyncio.run(research(sys.argv[1], library)))
    leave(0)


if __name__ == "__main__":
    main()
