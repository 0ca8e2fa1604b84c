"""Starting, finding and ending the command server of a home (see `client.command_process`)."""

import contextlib
import os
import sys
from pathlib import Path

from client.embedded.command_protocol import compared_variables
from client.embedded.home import Places
from client.embedded.locks import Locked, holder, is_held
from client.embedded.processes import end, spawn

INHERITED = ("PATH", "HOME", "TMPDIR", "VIRTUAL_ENV")
"""What it has of the caller's environment, besides what acts at the start of a process: no key and no
setting."""


def start_command_server(home: Path) -> None:
    """Start the command server of a home unless one is there. It serves from half a second later on.

    Raises OSError when it cannot be started."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return
    places = Places(home)
    if is_held(places.command_lock):
        return
    environment = {name: value for name, value in os.environ.items() if name in INHERITED}
    environment |= compared_variables(os.environ)
    environment["DETERMINATOR_HOME"] = str(places.home)
    command = [sys.executable, "-P", "-m", "client.command_process"]
    try:
        spawn(command, places.command_lock, places.command_log, places.home, env=environment, patience=0.0)
    except Locked:  # another command has started it
        return


def command_server_pid(home: Path) -> int | None:
    """The pid of the command server of a home; None when none runs."""
    return holder(Places(home).command_lock)


def end_command_server(home: Path) -> bool:
    """End the command server of a home; whether there was one. The commands that it executes go on."""
    places = Places(home)
    ended = end(places.command_lock, None)
    with contextlib.suppress(OSError):
        places.command_socket.unlink()
    return ended
