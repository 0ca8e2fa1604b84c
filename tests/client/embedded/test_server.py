"""One supervisor, one server and one worker for a home, whatever is started or killed, and when."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest

from activities import disk
from activities.disk import has_room
from activities.settings import Settings
from client.checkup import check_home
from client.connection import RETENTION, quiet, register_attributes
from client.embedded.home import Places, ServerNote, WorkerNote, read_note
from client.embedded.keeper import Keeper
from client.embedded.processes import (
    MAX_DEATHS,
    Locked,
    LockFile,
    command_of,
    end_orphans,
    holder,
    is_held,
)
from client.embedded.server import start_embedded, stop_embedded
from client.failures import NoConnection
from tests.client.harness import begin, determinator, inside, living, processes_of, wait_until
from tests.papers import QUESTION

pytestmark = [pytest.mark.xdist_group("embedded"), pytest.mark.usefixtures("executed")]
ROOT = Path(__file__).parents[3]


async def test_a_killed_server_comes_back_unattended_with_its_runs_and_on_its_ports(home: Path) -> None:
    """It is started once, keeps finished runs for 90 days, and leaves a port alone that another one uses."""
    first = await start_embedded(Settings(), worker=False)
    assert (await start_embedded(Settings(), worker=False)).address == first.address
    assert first.address.startswith("127.0.0.1:")
    (before,) = processes_of(home)["server"]
    answer = await first.client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace="default")
    )
    assert answer.config.workflow_execution_retention_ttl.seconds == RETENTION.total_seconds()
    assert await register_attributes(first.client)  # again does no harm
    await first.client.start_workflow("Nobody", id="kept", task_queue="nobody")
    os.kill(before, signal.SIGKILL)
    # the same client reaches the next server: it waits for it
    assert (await first.client.get_workflow_handle("kept").describe()).workflow_type == "Nobody"
    assert before not in processes_of(home)["server"]
    second = await start_embedded(Settings(), worker=False)
    assert (second.address, second.ui_url) == (first.address, first.ui_url)
    stop_embedded(home)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(first.address.rpartition(":")[2])))
        taken.listen()
        third = await start_embedded(Settings(), worker=False)
    assert third.address != first.address


async def test_a_server_that_hangs_is_reported_with_the_remedy(
    file_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start_embedded(Settings(), worker=False)
    (server,) = processes_of(file_home)["server"]
    monkeypatch.setattr("client.embedded.server.START_SECONDS", 3.0)
    os.kill(server, signal.SIGSTOP)
    try:
        with pytest.raises(NoConnection, match="determinator down"):
            await start_embedded(Settings(), worker=False)
    finally:
        os.kill(server, signal.SIGCONT)


def test_what_was_killed_is_brought_back(file_home: Path) -> None:
    assert determinator("up").code == 0
    for victims in (["server", "worker"], ["supervisor"]):
        before = {**living(file_home), "supervisor": [holder(Places(file_home).lock) or 0]}
        for victim in victims:
            os.kill(before[victim][0], signal.SIGKILL)
        if victims == ["supervisor"]:  # all of them end with it, and the next command starts all of them
            wait_until(
                lambda: not any(processes_of(file_home).values()) and not is_held(Places(file_home).lock)
            )
            assert determinator("up").code == 0
            victims = ["server", "worker"]
        wait_until(partial(are_others, file_home, {victim: before[victim] for victim in victims}))
        after = living(file_home)
        assert (len(after["server"]), len(after["worker"])) == (1, 1), victims


def are_others(home: Path, before: dict[str, list[int]]) -> bool:
    return all(processes_of(home)[kind] not in ([], pids) for kind, pids in before.items())


def test_a_worker_that_cannot_live_is_given_up_and_named(file_home: Path) -> None:
    assert determinator("up").code == 0
    seen: set[int] = set()

    def killed() -> bool:
        for pid in processes_of(file_home)["worker"]:
            seen.add(pid)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        note = read_note(Places(file_home).worker_note, WorkerNote)
        return bool(note and note.failure)

    wait_until(killed, every=0.02)
    assert len(seen) == MAX_DEATHS + 1
    (check,) = [c for c in inside("doctor", "--json").json() if c["name"] == "worker"]
    assert check["state"] == "warn"
    assert determinator("up").code == 0
    assert living(file_home)["worker"]


START_WITH_SHORT_IDLE = """
import asyncio, sys
from activities.settings import Settings
from client.embedded import server, workers
from activities.processes import leave
server.IDLE_SECONDS = workers.IDLE_SECONDS = 1.0
async def main():
    found = await server.start_embedded(Settings(), worker="worker" in sys.argv)
    if "run" in sys.argv:
        await found.client.start_workflow("Nobody", id="open", task_queue="nobody")
    if "end" in sys.argv:
        await found.client.get_workflow_handle("open").terminate()
asyncio.run(main())
leave(0)
"""


def start_with_short_idle(*what: str) -> None:
    """Start the processes of the home, which are to end after a second with nothing to do."""
    command = [sys.executable, "-c", START_WITH_SHORT_IDLE, *what]
    started = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE)
    assert started.stdout == b"", "the native core logs nothing between the data"


def test_processes_stay_while_a_run_is_open_and_end_with_nothing_to_do(home: Path) -> None:
    start_with_short_idle("worker", "run")
    before = living(home)
    time.sleep(4)
    assert processes_of(home) == before
    start_with_short_idle("end")
    wait_until(lambda: not is_held(Places(home).lock))
    wait_until(lambda: not any(processes_of(home).values()))


def test_an_orphan_is_ended_and_an_innocent_process_is_not() -> None:
    orphan = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "x" * 200, "start-dev"])
    innocent = subprocess.Popen(["sleep", "60"])
    try:
        wait_until(lambda: "start-dev" in command_of(orphan.pid))  # not at once after its start
        end_orphans([orphan.pid, innocent.pid, 0])
        assert orphan.wait(30) == -signal.SIGKILL
        assert innocent.poll() is None
    finally:
        for process in (orphan, innocent):
            process.kill()
            process.wait()


def test_what_commands_do_to_the_processes_of_a_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only other settings restart a worker; no note is needed, and none holds a setting. The path of the home
    is longer than that of a socket may be."""
    home = home.joinpath(*["a-long-name-of-a-folder"] * 8)
    monkeypatch.setenv("DETERMINATOR_HOME", str(home))
    assert determinator("worker").code == 2, "in the foreground it is for a server of one's own"
    assert not any(processes_of(home).values())
    keys = {"OPENAI_API_KEY": "hush-hush-model", "NCBI_API_KEY": "hush-hush-ncbi"}
    assert determinator("up", env=keys).code == 0
    before = living(home)
    note = read_note(Places(home).server_note, ServerNote)
    assert note
    assert [file.name for file in home.glob("*.db")] == [f"temporal-{note.version}.db"]
    for file in home.rglob("*"):
        assert not file.is_file() or b"hush-hush" not in file.read_bytes(), file
    assert determinator("up", env=keys).err == ""
    assert inside("list").code == 0
    for name in ("server.json", "worker.json"):
        (home / "state" / name).write_text("{not a note")
        assert determinator("up", env=keys).code == 0
    carried = {"DETERMINATOR_MAX_TOKENS": "1000", "DETERMINATOR_MODE": "deep"}  # by each request
    assert determinator("up", env=keys | carried).err == ""
    assert living(home) == before
    other = determinator("up")
    assert other.code == 0
    assert "restarting the background worker: your settings have changed" in other.err
    wait_until(lambda: processes_of(home)["worker"] not in ([], before["worker"]))
    assert len(processes_of(home)["worker"]) == 1
    assert determinator("down").out == "stopped the worker and the server\n"
    assert processes_of(home) == {"server": [], "worker": []}
    assert determinator("down").out == "nothing was running\n"
    assert determinator("up").code == 0
    living(home)
    for name in ("worker.json", "server.json"):
        (home / "state" / name).unlink()
    assert determinator("down").code == 0
    assert processes_of(home) == {"server": [], "worker": []}


@pytest.mark.parametrize(
    ("number", "needle"), [(errno.ENOSPC, "there is no space left for"), (errno.EROFS, "cannot be used")]
)
async def test_a_home_that_cannot_be_written_is_one_line_and_leaves_no_process(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: int, needle: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Places, "make", full)
    with pytest.raises(NoConnection, match=needle):
        await start_embedded(Settings())
    assert processes_of(home) == {"server": [], "worker": []}


async def test_a_full_disk_is_named_in_one_line(file_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = await start_embedded(Settings(), worker=False)
    monkeypatch.setattr(disk, "MIN_FREE_BYTES", 1 << 62)
    with pytest.raises(NoConnection, match=r"^there is no space left for [^\n]*$"):
        await start_embedded(Settings(), worker=False)
    found = check_home(Settings())
    assert (found.state, "there is no space left" in found.message) == ("fail", True)
    with pytest.raises(NoConnection, match="no space left"):
        await Keeper(Settings(), connection, quiet).look()


def test_each_cold_start_waits_for_no_library_that_the_supervisor_does_not_use() -> None:
    code = "import sys, client.embedded.supervisor; print({'pydantic', 'temporalio'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True).stdout == b"set()\n"


def test_a_server_that_is_killed_at_its_first_start_leaves_no_database_that_none_can_use(home: Path) -> None:
    """It left a file without tables, and the home was called damaged from then on."""
    starting = begin("up")
    wait_until(lambda: list(home.glob("temporal-*.db")), every=0.001)
    for pid in processes_of(home)["server"]:
        os.kill(pid, signal.SIGKILL)
    starting.communicate()
    assert starting.returncode == 0
    assert determinator("down").code == 0
    (database,) = home.glob("temporal-*.db")
    assert list((home / "state").glob("*.db.new")) == []
    # killed with everything else before a table was made
    for path in home.glob("temporal-*.db*"):
        path.unlink()
    database.touch()
    (home / "state" / f"{database.name}.new").touch()
    assert determinator("up").code == 0


def test_a_supervisor_that_cannot_write_its_note_says_so(home: Path) -> None:
    (home / "state" / "server.json").mkdir(parents=True)
    refused = determinator("up")
    assert refused.code == 3
    assert refused.err.count("\n") == 1
    assert processes_of(home) == {"server": [], "worker": []}


@contextmanager
def lock_holder(lock: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """A process that has inherited a lock."""
    held = LockFile(lock)
    held.acquire()
    process = subprocess.Popen(["sleep", "60"], pass_fds=(held.fd,))
    held.sign(process.pid)
    os.close(held.fd)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_lock_says_who_holds_it_and_lives_as_long_as_the_process_that_inherited_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert holder(lock) is None
    with lock_holder(lock) as process:
        assert holder(lock) == process.pid
        with pytest.raises(Locked):
            LockFile(lock).acquire()
    assert holder(lock) is None
    assert not is_held(lock)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB, where this user may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    made = subprocess.run(command, capture_output=True)
    if made.returncode:
        pytest.skip("a file system cannot be mounted here")
    yield folder
    stop_embedded(folder / "home")
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_server_comes_back_when_a_full_disk_has_room_again(
    home: Path, library: str, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETERMINATOR_HOME", str(small_disk / "home"))
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    assert determinator("up").code == 0
    filling = small_disk / "filling"
    with suppress(OSError), filling.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    assert not has_room(small_disk)
    refused = determinator("ask", QUESTION, "--mode", "simple", "--library", library)
    assert refused.code == 3
    assert "no space left" in refused.err
    time.sleep(3)
    filling.unlink()
    assert has_room(small_disk)
    asked = determinator("ask", QUESTION, "--mode", "simple", "--library", library)
    assert asked.code == 0, asked
