"""What is under a home belongs to its owner: modes, names of files, and the processes that serve it."""

import json
import os
import stat
from pathlib import Path

import httpx
import pytest

from activities.private_files import file_name
from activities.report.schema import Report
from activities.settings import Settings
from client.embedded.home import Places, worker_environment
from client.embedded.network import has_own_network
from client.embedded.processes import holder
from client.embedded.server import start_embedded
from client.reports import load
from tests.client.harness import living, server_of, wait_until
from tests.client.seen import BARE_REPORT


def modes(home: Path) -> dict[str, int]:
    """What others may do with everything under a home; links are left out."""
    found = {".": home.stat().st_mode}
    for path in home.rglob("*"):
        if not path.is_symlink():
            found[str(path.relative_to(home))] = path.stat().st_mode
    return {name: mode & 0o077 for name, mode in found.items() if mode & 0o077 and not stat.S_ISSOCK(mode)}


def test_a_home_that_others_could_read_is_closed(home: Path) -> None:
    (home / "evidence" / "blobs").mkdir(parents=True)
    (home / "evidence" / "blobs" / "secret.json").write_text("{}")
    (home / "temporal-1.db").write_text("")
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    Places(home).make()
    assert modes(home) == {}


def test_what_does_not_belong_to_a_home_keeps_its_mode(home: Path) -> None:
    home.mkdir(mode=0o755)
    (home / "my-own.txt").write_text("x")
    (home / "my-own.txt").chmod(0o644)
    Places(home).make()
    assert stat.S_IMODE((home / "my-own.txt").stat().st_mode) == 0o644
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@pytest.mark.parametrize("run_id", ["../../X", "/etc/X", "..", ".hidden", "a\\..\\b", "x" * 400, ""])
def test_a_run_id_writes_nothing_outside_home(home: Path, run_id: str) -> None:
    report = Report.model_validate_json(json.dumps(BARE_REPORT | {"run_id": run_id}))
    kept = load.save_report(Settings(), report)
    assert kept.resolve().parent == (home / "reports").resolve()
    assert os.sep not in file_name(run_id)


async def test_web_pages_reach_neither_the_http_api_nor_the_web_ui(home: Path) -> None:
    await start_embedded(Settings(), worker=False)
    note = server_of(home)
    assert note is not None
    private = has_own_network(note.pid)
    ports = listening((holder(Places(home).lock) or 0) if private else note.pid)
    answered = 0
    async with httpx.AsyncClient(timeout=5, trust_env=False) as browser:
        for address, port in ports:
            try:
                answer = await browser.get(f"http://{address}:{port}/api/v1/namespaces")
            except httpx.HTTPError:
                continue  # it speaks gRPC
            answered += answer.status_code == 403
            if (address, port) != (note.ui_ip, note.ui_port):
                assert "namespaceInfo" not in answer.text
    async with httpx.AsyncClient(timeout=5, trust_env=False) as browser:  # a connection serves one host
        rebound = await browser.get(f"{note.ui_url}/api/v1/namespaces", headers={"host": "rebound.example"})
    assert answered == (0 if private else 1), "the HTTP API is not there, or refuses"
    assert rebound.status_code == 403 or not private
    assert note.ui_ip != "127.0.0.1"


async def test_the_web_ui_can_be_left_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DETERMINATOR_WEB_UI", "false")
    connection = await start_embedded(Settings(), worker=False)
    assert connection.ui_url is None
    note = server_of(home)
    assert note is not None
    supervisor = holder(Places(home).lock)
    assert supervisor is not None
    assert len(listening(supervisor) + listening(note.pid)) >= 1
    assert note.ui_ip not in [address for address, _ in listening(supervisor) + listening(note.pid)]


def listening(pid: int) -> list[tuple[str, int]]:
    """The loopback addresses a process listens on (Linux)."""
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        target = str(entry.readlink()) if entry.is_symlink() else ""
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        part = line.split()
        if part[3] == "0A" and part[9] in inodes:
            address, port = part[1].split(":")
            found.append((".".join(str(b) for b in reversed(bytes.fromhex(address))), int(port, 16)))
    return found


async def test_the_processes_of_a_home_create_files_for_their_owner_and_hear_of_no_other_server(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_API_KEY", "hush")
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "lab")
    monkeypatch.setenv("TEMPORAL_TLS", "true")
    assert not [name for name in worker_environment(Settings()) if name.startswith("TEMPORAL_")]
    before = os.umask(0o022)
    try:
        connection = await start_embedded(Settings())
    finally:
        os.umask(before)
    assert connection.client.namespace == "default"
    worker = living(home)["worker"]
    assert len(worker) == 1
    log = Places(home).worker_log
    wait_until(lambda: "worker_started" in log.read_text())
    assert modes(home) == {}
