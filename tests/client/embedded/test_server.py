"""The embedded pair: one server and one worker for a home, whatever is started or killed, and when."""

import errno
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest

from activities.settings import Settings
from client.connection import NoConnection
from client.embedded.home import Places, ServerNote, read_note
from client.embedded.locks import Locked, LockFile, holder, is_held
from client.embedded.namespace import ATTRIBUTES, RETENTION, register_attributes
from client.embedded.processes import end, spawn
from client.embedded.server import look, start_embedded, stop_embedded
from tests.client.harness import begin, determinator, living, processes_of, wait_until


async def test_the_server_is_started_once_and_reused(home: Path) -> None:
    first = await start_embedded(Settings(), worker=False)
    second = await start_embedded(Settings(), worker=False)
    assert first.address == second.address
    assert first.address.startswith("127.0.0.1:")
    assert len(processes_of(home)["server"]) == 1


async def test_finished_runs_are_kept_for_90_days_and_attributes_are_registered(home: Path) -> None:
    connection = await start_embedded(Settings(), worker=False)
    answer = await connection.client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace="default")
    )
    assert answer.config.workflow_execution_retention_ttl.seconds == RETENTION.total_seconds()
    assert await register_attributes(connection.client)


async def test_a_foreign_server_gets_the_attributes_too(temporal_client: object) -> None:
    from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
    from temporalio.client import Client

    assert isinstance(temporal_client, Client)
    assert await register_attributes(temporal_client)
    assert await register_attributes(temporal_client)  # again does no harm
    answer = await temporal_client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace="default")
    )
    assert set(ATTRIBUTES) <= set(answer.custom_attributes)


async def test_a_killed_server_comes_back_with_its_runs_and_on_its_ports(home: Path) -> None:
    first = await start_embedded(Settings(), worker=False)
    await first.client.start_workflow("Nobody", id="kept", task_queue="nobody")
    pair = look(home)
    assert pair.server
    os.kill(pair.server.pid, signal.SIGKILL)
    second = await start_embedded(Settings(), worker=False)
    assert (second.address, second.ui_url) == (first.address, first.ui_url)
    assert (await second.client.get_workflow_handle("kept").describe()).workflow_type == "Nobody"


async def test_a_port_that_is_in_use_meanwhile_is_left_alone(home: Path) -> None:
    import socket

    first = await start_embedded(Settings(), worker=False)
    stop_embedded(home)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(first.address.rpartition(":")[2])))
        taken.listen()
        second = await start_embedded(Settings(), worker=False)
    assert second.address != first.address


def test_a_database_belongs_to_one_version_of_the_server(home: Path) -> None:
    determinator("list")
    note = read_note(Places(home).server_note, ServerNote)
    assert note
    assert [file.name for file in home.glob("*.db")] == [f"temporal-{note.version}.db"]


async def test_a_server_that_hangs_is_reported_with_the_remedy(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start_embedded(Settings(), worker=False)
    pair = look(home)
    assert pair.server
    monkeypatch.setattr("client.embedded.server.START_SECONDS", 3.0)
    os.kill(pair.server.pid, signal.SIGSTOP)
    try:
        with pytest.raises(NoConnection, match="determinator down"):
            await start_embedded(Settings(), worker=False)
    finally:
        os.kill(pair.server.pid, signal.SIGCONT)


def test_four_cold_commands_at_once_end_with_one_server_and_one_worker(home: Path) -> None:
    commands = [begin("up") for _ in range(4)]
    said = [command.communicate(timeout=120) for command in commands]
    assert [command.returncode for command in commands] == [0, 0, 0, 0], said
    assert len({out.splitlines()[0] for out, _ in said}) == 1
    found = living(home)
    assert (len(found["server"]), len(found["worker"])) == (1, 1)


@pytest.mark.parametrize("victims", [["server"], ["worker"], ["server", "worker"]], ids="+".join)
def test_what_was_killed_is_brought_back(home: Path, victims: list[str]) -> None:
    assert determinator("up").code == 0
    before = living(home)
    for victim in victims:
        os.kill(before[victim][0], signal.SIGKILL)
    assert determinator("up").code == 0
    after = living(home)
    assert (len(after["server"]), len(after["worker"])) == (1, 1)
    for victim in victims:
        assert after[victim] != before[victim]


def test_down_stops_both_and_says_so(home: Path) -> None:
    determinator("up")
    assert determinator("down").out == "stopped the worker and the server\n"
    assert processes_of(home) == {"server": [], "worker": []}
    assert determinator("down").out == "nothing was running\n"


def test_other_settings_restart_the_worker_and_say_so(home: Path) -> None:
    determinator("up")
    before = living(home)["worker"]
    same = determinator("up")
    assert same.err == ""
    assert processes_of(home)["worker"] == before
    other = determinator("up", env={"NCBI_API_KEY": "hush-hush"})
    assert other.code == 0
    assert "restarting the background worker: your settings have changed" in other.err
    after = living(home)["worker"]
    assert len(after) == 1
    assert after != before


def test_no_note_holds_a_setting(home: Path) -> None:
    names = ("OPENAI_API_KEY", "DETERMINATOR_PUBMED_URL", "DETERMINATOR_MODEL")
    settings = {name: f"hush-hush-{name}" for name in names}
    assert determinator("up", env=settings).code == 0
    for file in home.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert not [name for name, value in settings.items() if value.encode() in data], file


def test_looking_does_not_restart_a_worker_with_other_settings(home: Path) -> None:
    determinator("up", env={"NCBI_API_KEY": "hush-hush"})
    before = living(home)["worker"]
    assert determinator("list").code == 0
    assert processes_of(home)["worker"] == before


def test_a_worker_in_the_foreground_holds_the_lock_of_the_home(home: Path) -> None:
    determinator("up")
    refused = determinator("worker")
    assert refused.code == 2
    assert "down --worker-only" in refused.err
    determinator("down", "--worker-only")
    foreground = begin("worker")
    wait_until(lambda: look(home).worker is not None)
    assert determinator("up").code == 0
    assert processes_of(home)["worker"] == []  # the one in the foreground serves
    time.sleep(1)
    foreground.send_signal(signal.SIGTERM)
    _, err = foreground.communicate(timeout=40)
    assert foreground.returncode == 0, err


@pytest.mark.parametrize("note", ["server.json", "worker.json"])
def test_an_unreadable_note_is_rewritten_and_no_process_is_left_behind(home: Path, note: str) -> None:
    determinator("up")
    before = living(home)
    (home / "state" / note).write_text("{not a note")
    again = determinator("up")
    assert again.code == 0, again
    assert "the note" in again.err
    after = living(home)
    assert (len(after["server"]), len(after["worker"])) == (1, 1)
    kept, renewed = ("worker", "server") if note == "server.json" else ("server", "worker")
    assert after[renewed] != before[renewed]
    if kept == "server":
        assert after[kept] == before[kept]


def test_down_ends_processes_without_a_note_and_no_others(home: Path) -> None:
    determinator("up")
    living(home)
    innocent = subprocess.Popen(["sleep", "60"])
    note = json.loads((home / "state" / "worker.json").read_text())
    (home / "state" / "worker.json").write_text(json.dumps({**note, "pid": innocent.pid}))
    (home / "state" / "server.json").unlink()
    try:
        assert determinator("down").out == "stopped the worker and the server\n"
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()
    assert processes_of(home) == {"server": [], "worker": []}


def test_a_damaged_database_is_reported_with_the_remedy(home: Path) -> None:
    determinator("up")
    determinator("down")
    (database,) = home.glob("*.db")
    for file in home.glob("*.db*"):
        file.unlink()
    database.write_bytes(b"this is no database" * 1000)
    refused = determinator("list")
    assert refused.code == 3
    assert refused.err.count("\n") == 1
    assert f"move {database}* away" in refused.err
    database.rename(home / "damaged")
    assert determinator("list").code == 0


@pytest.mark.parametrize(
    ("number", "needle"), [(errno.ENOSPC, "there is no space left for"), (errno.EROFS, "cannot be used")]
)
async def test_a_note_that_cannot_be_written_is_one_line_and_leaves_no_process(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: int, needle: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("client.embedded.server.write_note", full)
    with pytest.raises(NoConnection, match=needle):
        await start_embedded(Settings())
    assert processes_of(home) == {"server": [], "worker": []}


def test_a_lock_says_who_holds_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert holder(lock) is None
    pid = spawn(["sleep", "60"], lock, tmp_path / "log", tmp_path)
    assert holder(lock) == pid
    assert end(lock, None)
    assert holder(lock) is None


def test_a_lock_lives_as_long_as_the_process_that_inherited_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    pid = spawn(["sleep", "60"], lock, tmp_path / "log", tmp_path)
    assert is_held(lock)
    with pytest.raises(Locked):
        LockFile(lock).acquire()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert not is_held(lock)


def test_testing_a_lock_does_not_acquire_it(tmp_path: Path) -> None:
    lock = LockFile(tmp_path / "lock")
    assert not is_held(lock.path)
    with lock:
        assert is_held(lock.path)
        assert is_held(lock.path)
    assert not is_held(lock.path)
