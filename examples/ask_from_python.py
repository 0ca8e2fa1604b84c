"""A run from Python, as `determinator ask` makes one.

    python examples/ask_from_python.py QUESTION [LIBRARY]

Uses the embedded server, which is started when it is not running, or the server that the `TEMPORAL_*`
variables name. With a library only that folder is searched, without one the sources of the configuration.
"""

import asyncio
import sys

from determinator import Determinator, RunReport, leave


async def research(question: str, library: str | None = None) -> RunReport:
    """Start a run, or join one of the same question and settings, and wait for its report."""
    async with Determinator() as client:
        run = await client.ask(question, mode="iterative", library=library, max_iterations=2, max_time="10m")
        async for event in run.events():
            print(f"{run.id}: {event.type}: {event.message}", file=sys.stderr)
        return await run.report()


def show(report: RunReport) -> None:
    """Print each claim with the quote it rests on and where the quote is from."""
    for row in report.claim_rows():
        print(f"- {row['claim']}")
        print(f'    [{row["reference"]}] "{row["quote"]}" ({row["title"]})')
    print(f"stopped because: {report.stop_reason}")


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    show(asyncio.run(research(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None)))
    leave(0)


if __name__ == "__main__":
    main()
