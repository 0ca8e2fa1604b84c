"""What questions about a report have cost is known to all processes of a home."""

import subprocess
import sys
from pathlib import Path

from client.runs.revising import Told

PROGRAM = """
import asyncio, sys
from pathlib import Path
from client.runs.revising import Told

async def main():
    told = Told(Path(sys.argv[1]), "ask-a")
    for _ in range(20):
        async with told.turn():
            before = told.cost
            await asyncio.sleep(0.002)
            told.add(1.0)
            assert told.cost == before + 1.0

asyncio.run(main())
"""


def test_processes_that_ask_one_report_know_what_the_others_have_spent(tmp_path: Path) -> None:
    asking = [subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)]) for _ in range(3)]
    assert [process.wait(120) for process in asking] == [0, 0, 0]
    assert Told(tmp_path, "ask-a").cost == 60.0
    assert Told(tmp_path, "ask-b").cost == 0.0
