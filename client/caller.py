"""The process from whose terminal this one was called, where a command server executes the command.

The launcher is in the terminal's session and this process is not. So the launcher waits for the foreground
before this process reads, and opens the editor. A command in a process of its own needs neither.
"""

import json
import os
import signal
import socket

import click

from client.embedded import command_protocol as protocol


class Launcher:
    """The launcher of the command that this process executes."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def end_with_it(self) -> None:
        """Have the kernel kill this process when the launcher ends without having ended it: nobody would
        read what it prints or answer what it asks."""
        import fcntl  # not on Windows, which imports this module too

        fcntl.fcntl(self._connection, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(self._connection, fcntl.F_SETSIG, signal.SIGKILL)
        self._notify(True)

    def _notify(self, wanted: bool) -> None:
        """Have a signal sent for whatever happens on the connection, or not."""
        import fcntl

        flags = fcntl.fcntl(self._connection, fcntl.F_GETFL)
        flags = flags | os.O_ASYNC if wanted else flags & ~os.O_ASYNC
        fcntl.fcntl(self._connection, fcntl.F_SETFL, flags)
        if wanted and self._has_ended():
            os.kill(os.getpid(), signal.SIGKILL)

    def _has_ended(self) -> bool:
        try:
            return not self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def ask(self, kind: bytes, body: bytes = b"") -> bytes:
        """Ask the launcher for something that needs the terminal's session, and wait for it. When the
        launcher ends meanwhile, this process does."""
        self._notify(False)
        try:
            protocol.send_message(self._connection, kind, body)
            _, answer = protocol.receive_message(self._connection)
        except OSError:
            os.kill(os.getpid(), signal.SIGKILL)
            raise
        self._notify(True)
        return answer

    def end(self, code: int) -> None:
        """Say how the command ended."""
        protocol.send_message(self._connection, protocol.EXIT, bytes([code]))


_launcher: list[Launcher] = []
"""The launcher of this process; none in a process of its own."""


def called_by(launcher: Launcher) -> None:
    """This process executes the command of a launcher from now on."""
    _launcher[:] = [launcher]


def may_read() -> bool:
    """Whether standard input may be read, after waiting until the command is in the foreground."""
    return not _launcher or _launcher[0].ask(protocol.MAY_READ) == bytes([True])


def edit(text: str) -> str | None:
    """The text after the person edited it; None when it was not saved. Raises ClickException without an
    editor."""
    if not _launcher:
        return click.edit(text, extension=".toml", require_save=True)
    answer = json.loads(_launcher[0].ask(protocol.EDIT, text.encode()))
    if "error" in answer:
        raise click.ClickException(answer["error"])
    found: str | None = answer["text"]
    return found
