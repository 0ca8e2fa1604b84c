"""The path of a cluster without containers: a server that is not ours, two worker processes that share an S3
store and nothing else, payloads encrypted, and one of the workers killed in the middle."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from moto.server import ThreadedMotoServer
from temporalio.client import Client

from client.embedded.binary import find_temporal
from tests.client.cli.test_ask import ask
from tests.client.cli.test_ask import library as library  # a fixture
from tests.client.harness import COMMAND, determinator, wait_until
from tests.conftest import client_of, dev_server_of
from tests.papers import QUESTION

pytestmark = pytest.mark.timeout(240)

QUEUE = "cluster"
STARTED_EVENTS = 20
"""Events of a history by which a run is under way, far from its end."""


@pytest.fixture
def store() -> Iterator[str]:
    """The address of an S3 server with a bucket."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    assert httpx.put(f"{address}/evidence").status_code == 200
    yield address
    server.stop()


@contextmanager
def workers(folder: Path) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Two workers, each with a home of its own."""
    running = []
    try:
        for number in range(2):
            home = {"DETERMINATOR_HOME": str(folder / f"worker-{number}")}
            with (folder / f"worker-{number}.log").open("wb") as log:
                running.append(
                    subprocess.Popen([*COMMAND, "worker"], env=os.environ | home, stdout=log, stderr=log)
                )
        yield running
    finally:
        for process in running:
            process.kill()
            process.wait()


def test_a_fleet_with_a_shared_store_and_encryption_outlives_a_worker(
    home: Path, library: Path, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = determinator("codec", "new-key", "2026a")
    assert made.code == 0, made.err
    (tmp_path / "temporal").mkdir()
    with dev_server_of(find_temporal(), tmp_path / "temporal") as address:
        for name, value in {
            "TEMPORAL_ADDRESS": address,
            "DETERMINATOR_TASK_QUEUE": QUEUE,
            "DETERMINATOR_CODEC_KEYS": made.out.strip(),
            "DETERMINATOR_STORE_URL": "s3://evidence",
            "AWS_ENDPOINT_URL": store,
            "AWS_ACCESS_KEY_ID": "a-key-of-a-test",
            "AWS_SECRET_ACCESS_KEY": "a-secret-of-a-test",
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
            "DETERMINATOR_LIBRARY": str(library),
        }.items():
            monkeypatch.setenv(name, value)
        asyncio.run(client_of(address))  # it answers
        with workers(tmp_path) as (first, _):
            asked = ask(library, "--mode", "deep", "--detach")
            assert asked.code == 0, asked.err
            wait_until(lambda: asyncio.run(events(address)) >= STARTED_EVENTS, what="the run")
            os.kill(first.pid, signal.SIGKILL)
            report = determinator("watch", "last")
            assert report.code == 0, report.err
            assert determinator("verify", "last").code == 0
        assert QUESTION.encode() not in b"".join(
            path.read_bytes() for path in (tmp_path / "temporal").iterdir()
        )
    assert not (home / "evidence").exists(), "documents are in the shared store only"
    assert not (home / "state" / "server.json").exists(), "no server was started"
    keys = httpx.get(f"{store}/evidence?list-type=2").text
    assert "blobs/" in keys
    assert "reports/" in keys


async def events(address: str) -> int:
    """Events of all histories."""
    client = await Client.connect(address)
    return sum([found.history_length or 0 async for found in client.list_workflows()])
