"""A library of many records is read within memory (`make test-security`)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ABSTRACT = "Patients were followed for {n} months and number{n} was recorded in ward{w} of the hospital."


@pytest.mark.security
@pytest.mark.timeout(1_800)
def test_100_000_records_need_less_than_500_mb(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    with (library / "records.jsonl").open("w") as file:
        for n in range(100_000):
            text = " ".join(ABSTRACT.format(n=n + k, w=k) for k in range(5))
            file.write(json.dumps({"title": f"Study {n}", "abstract": text, "pmid": n + 1}) + "\n")
    program = (
        "import asyncio, os, sys\nfrom pathlib import Path\nfrom activities.settings import Settings\n"
        "from activities.sources.base import search\n"
        "from activities.sources.library.source import LibrarySource\n"
        "from activities.contracts.evidence import Query\n"
        # what `getrusage` says of a new process includes the peak of the process that started it
        "def peak(pid):\n"
        "    lines = Path(f'/proc/{pid}/status').read_text().splitlines()\n"
        "    return next(int(line.split()[1]) for line in lines if line.startswith('VmHWM')) // 1024\n"
        # a reading process ends when it has nothing to do for a while: its peak is read while it lives
        "import contextlib, threading, time\n"
        "readers_peak = {}\n"
        "def watch():\n"
        "    while True:\n"
        "        for task in Path('/proc/self/task').iterdir():\n"
        "            with contextlib.suppress(OSError):\n"
        "                for pid in (task / 'children').read_text().split():\n"
        "                    with contextlib.suppress(OSError, StopIteration):\n"
        "                        readers_peak[pid] = peak(pid)\n"
        "        time.sleep(0.2)\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
        "source = LibrarySource(Settings(home=Path(sys.argv[1]), library=Path(sys.argv[2])))\n"
        "found = asyncio.run(search(source, Query(text='number99 recorded')))\n"
        "assert found.records, found\n"
        "assert readers_peak\n"
        "print(peak(os.getpid()) + sum(readers_peak.values()))\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "home"), str(library)]
    # the encoder takes 180 MB however small the library is
    env = {**os.environ, "DETERMINATOR_EMBEDDINGS": "off"}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    megabytes = int(done.stdout.splitlines()[-1])  # after what the encoder logged
    sys.stdout.write(f"\n100,000 records: {megabytes} MB at most\n")
    assert megabytes < 500
