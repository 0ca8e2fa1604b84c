"""A command server whose commands show what they are given, and the commands that it serves."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from client.command_process import IDLE_SECONDS, LOOK_SECONDS, TERMINATING
from client.embedded import command_protocol as protocol
from client.embedded.home import Places
from client.embedded.processes import spawn
from tests.client.harness import wait_until

LAUNCH = [sys.executable, "-m", "tests.client.embedded.patient"]
IMPATIENT = [sys.executable, "-m", "client.launch"]
"""The launcher as it is."""
PROBE = [sys.executable, "-m", "tests.client.embedded.probe"]
ROOT = Path(__file__).parents[3]


def accepts(path: Path) -> bool:
    """Whether a command server answers on its socket."""
    try:
        with socket.socket(socket.AF_UNIX) as connection, protocol.ShortAddress(path) as address:
            connection.connect(address)
            return bool(protocol.receive_hello(connection))
    except OSError:
        return False


def serve_probe(home: Path, *, look: float = LOOK_SECONDS, idle: float = IDLE_SECONDS) -> int:
    """A command server whose commands show what they are given; its pid."""
    places = Places(home)
    places.make()
    environment = {**protocol.compared_variables(os.environ), "DETERMINATOR_HOME": str(home)}
    command = [*PROBE, "serve", str(look), str(idle)]
    pid = spawn(command, places.command_lock, places.command_log, ROOT, env=environment)
    wait_until(lambda: accepts(places.command_socket), what=places.command_log.read_text())
    return pid


def run(
    command: list[str], *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*command, "list", *arguments],
        input=stdin,
        capture_output=True,
        timeout=60,
        env={**os.environ, **(env or {})},
        preexec_fn=heed_signals,
    )


def heed_signals() -> None:
    """Ignore no signal, as a shell's command, whatever the process that runs the tests ignores."""
    for number in TERMINATING:
        signal.signal(number, signal.SIG_DFL)


def state(pid: int) -> str:
    """The state of a process as the kernel names it; empty without one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
