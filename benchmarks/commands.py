"""Short commands with and without the command server: `python -m benchmarks.commands`.

In a home of its own with one finished run, each verb is executed by turns with the command server and in a
process of its own. A row of a Markdown table for each verb: median and longest wall time, and processor time
with that of the forked process, of both.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.end_to_end import cpu_of_commands, papers, row
from client.embedded.command_server import command_server_pid, start_command_server
from client.embedded.server import stop_embedded
from tests.client.harness import COMMAND

VERBS = (("list",), ("status", "last"), ("events", "last"), ("report", "last"), ("modes",))
SWITCH = "DETERMINATOR_COMMAND_SERVER"
TITLES = (
    *("verb", "wall ms, served", "longest", "processor ms, served"),
    *("wall ms, own process", "longest", "processor ms, own process"),
)


def run(*arguments: str, served: bool = False) -> float:
    """Execute a command; its wall time in seconds. Raises SystemExit when it fails."""
    began = time.perf_counter()
    environment = {**os.environ, SWITCH: str(served).lower()}
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=environment)
    if done.returncode not in (0, 4):
        raise SystemExit(f"{arguments[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return time.perf_counter() - began


def measure(home: Path, verb: tuple[str, ...], times: int, *, served: bool) -> list[str]:
    """Median, longest wall time, and processor time of a verb in milliseconds."""
    before = cpu_of_commands(home)
    walls = [run(*verb, served=served) for _ in range(times)]
    time.sleep(0.2)  # until the last forked process was reaped, which makes its time known
    used = (cpu_of_commands(home) - before) / times
    return [f"{seconds * 1e3:.0f}" for seconds in (statistics.median(walls), max(walls), used)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--times", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "home"
        os.environ.update(DETERMINATOR_HOME=str(home), DETERMINATOR_OFFLINE="true")
        try:
            run(
                "ask",
                "Does metformin lower the risk of cancer?",
                "--library",
                str(papers(Path(name) / "papers")),
            )
            start_command_server(home)
            time.sleep(3)  # it imports
            busy = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
            print(f"{datetime.now(UTC):%Y-%m-%d}, {busy}\n")
            row(*TITLES)
            row(*("---" for _ in TITLES))
            for verb in VERBS:
                there = measure(home, verb, given.times, served=True)
                row(verb[0], *there, *measure(home, verb, given.times, served=False))
            status = Path(f"/proc/{command_server_pid(home)}/status").read_text().splitlines()
            print(*(line for line in status if line.startswith("VmRSS")), file=sys.stderr)
        finally:
            stop_embedded(home)


if __name__ == "__main__":
    main()
