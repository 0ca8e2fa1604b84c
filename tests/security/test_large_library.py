"""A library of many records: indexed on disk, found as in a small one, within memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from activities.contracts.evidence import Filters, Query
from activities.settings import Settings
from activities.sources.library import LibrarySource
from activities.sources.library.index import Libraries

ABSTRACT = "Patients were followed for {n} months and number{n} was recorded in ward{w} of the hospital."


def write(folder: Path, count: int) -> None:
    folder.mkdir()
    with (folder / "records.jsonl").open("w") as file:
        for n in range(count):
            text = ABSTRACT.format(n=n, w=n % 7)
            file.write(
                json.dumps({"title": f"Study {n}", "abstract": text, "pmid": n + 1, "year": 2000 + n % 20})
            )
            file.write("\n")
        file.write("no json\n")
        file.write(json.dumps({"title": "Twice", "abstract": "The same again.", "pmid": 1}) + "\n")


async def test_a_large_library_answers_as_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "library", 400)
    small = LibrarySource(Settings(home=tmp_path / "small", library=tmp_path / "library"))
    queries = ["number123 of the ward", "followed for 17 months", "hospital ward3 number45", "zebrafish", "?"]
    expected = [await anext(small.exchanges(Query(text=text, limit=3))) for text in queries]
    for attempt in range(2):
        large = LibrarySource(Settings(home=tmp_path / "large", library=tmp_path / "library"))
        for text, wanted in zip(queries, expected, strict=True):
            found = await anext(large.exchanges(Query(text=text, limit=3)))
            assert found.hits == wanted.hits, (attempt, text)
            assert [r.evidence_id for r in found.records[:1]] == [r.evidence_id for r in wanted.records[:1]]
            assert found.set_aside == wanted.set_aside == 1
    recent = await anext(large.exchanges(Query(text="hospital", limit=5, filters=Filters(year_from=2015))))
    assert len(recent.records) == 5
    assert all((record.year or 0) >= 2015 for record in recent.records)


def test_a_library_that_has_changed_is_indexed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "library", 50)
    libraries = Libraries(tmp_path / "cache")
    assert libraries.open(tmp_path / "library").count == 50
    with (tmp_path / "library" / "records.jsonl").open("a") as file:
        file.write(json.dumps({"title": "New", "abstract": "A new one about zebrafish.", "pmid": 999}) + "\n")
    opened = libraries.open(tmp_path / "library")
    assert opened.count == 51


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
        "from activities.sources.library import LibrarySource\n"
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
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "home"), str(library)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    megabytes = int(done.stdout.splitlines()[-1])  # after what the encoder logged
    sys.stdout.write(f"\n100,000 records: {megabytes} MB at most\n")
    assert megabytes < 500
