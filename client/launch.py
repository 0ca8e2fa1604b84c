"""Entry of the console script: the command is executed by the command server of the home where one runs, else
in this process.

Starting Python and importing what a short command needs takes half a second; the server has imported it, and
forks for each command. This process lends the command its standard streams and stands for it: signals are
passed on, and it ends as the command ends. On any doubt (another system, other code, other rights, no answer
at once) the command is executed here, as if there were no server.

Only the standard library is imported before that is decided.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import socket
    from types import FrameType

SERVED = frozenset(
    {
        *("ask", "watch", "status", "list", "events", "report", "evidence", "export", "verify", "inspect"),
        *("candidates", "approve", "reject", "pause", "resume", "steer", "finish", "extend", "cancel"),
        *("refresh", "schedules", "rewind", "search", "sources", "modes", "graph", "documents"),
    }
)
"""Verbs that the command server executes. The others examine or manage the processes themselves, open an
editor at once, or run for long."""
SWITCH = "DETERMINATOR_COMMAND_SERVER"
OFF = ("0", "false", "no", "off", "f", "n")
"""What pydantic reads as false."""
HELLO_SECONDS = 0.1
"""How long the server may need to answer; it takes 5 ms. One that is stopped costs each command this time."""
BUSY_SECONDS = 1.0
"""How long it may need where it is not stopped, but the processors have other things to do: a command in its
own process would need longer still."""


def main() -> NoReturn:
    """Execute the command line of this process."""
    try:
        if may_be_served(sys.argv[1:]):
            path = home() / "state" / "commands.sock"
            if path.exists():
                _execute_there(path)
    except KeyboardInterrupt:
        os._exit(130)
    except (OSError, ValueError, AttributeError, ImportError):
        pass  # nothing was executed yet
    from client.cli.main import main as execute_here

    execute_here()


def may_be_served(arguments: list[str]) -> bool:
    """Whether a command server may execute this command line."""
    if sys.platform != "linux" or os.environ.get(SWITCH, "").strip().lower() in OFF:
        return False
    if not arguments or "_DETERMINATOR_COMPLETE" in os.environ:
        return False
    return arguments[0] in SERVED or " " in arguments[0].strip()


def home() -> Path:
    """The home, as `activities.settings` finds it. Where the two should differ, another command server of the
    same user answers or none does: the command reads its settings for itself."""
    given = os.environ.get("DETERMINATOR_HOME") or _home_in_file()
    if given:
        return Path(given).expanduser().absolute()
    data = os.environ.get("XDG_DATA_HOME", "").strip() or str(Path("~/.local/share").expanduser())
    return Path(data) / "determinator"


def _home_in_file() -> str | None:
    """Raises OSError and ValueError for a file that cannot be used; the command itself explains that."""
    file = Path(os.environ.get("DETERMINATOR_CONFIG", "determinator.toml"))
    if not file.exists():
        return None
    import tomllib

    found = tomllib.loads(file.read_text("utf-8"))
    if found.get("command_server", True) is not True and SWITCH not in os.environ:
        raise ValueError("the file turns the command server off")
    return str(found["home"]) if "home" in found else None


def _execute_there(path: Path) -> None:
    """Have the command server execute the command, and end as it ends. Returns, or raises OSError, when the
    command was not executed."""
    import signal
    import socket

    from client.embedded import command_protocol as protocol

    own = protocol.identity()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(HELLO_SECONDS)
    with protocol.ShortAddress(path) as address:
        connection.connect(address)
    peer, user = protocol.peer_of(connection)
    if user != os.geteuid():
        return
    if not _is_readable(connection, HELLO_SECONDS) and _is_stopped(peer):
        return
    connection.settimeout(BUSY_SECONDS)
    pid, theirs = protocol.receive_hello(connection)
    if theirs != own:
        connection.close()
        return
    connection.settimeout(None)
    umask = os.umask(0o077)
    os.umask(umask)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)
    ignored = [number for number in numbers if signal.getsignal(number) is signal.SIG_IGN]
    request = protocol.Request(
        arguments=sys.argv[1:],
        environment=dict(os.environ),
        path=sys.path,
        umask=umask,
        ignored=[int(number) for number in ignored],
        launcher=os.getpid(),
    )
    folder = os.open(".", os.O_PATH | os.O_DIRECTORY)
    for number in set(numbers) - set(ignored):
        signal.signal(number, _stop_with(pid) if number == signal.SIGTSTP else _pass_on_to(pid))
    try:
        protocol.send_request(connection, request, (0, 1, 2, folder))
    except OSError:
        for number in set(numbers) - set(ignored):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        raise
    _end_as(_wait(connection))


def _is_readable(connection: "socket.socket", seconds: float) -> bool:
    import select

    return bool(select.select([connection], [], [], seconds)[0])


def _is_stopped(pid: int) -> bool:
    """Whether a process neither runs nor waits for something to happen. Raises OSError without one."""
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state not in "RS"


def _pass_on_to(pid: int) -> "Handler":
    """Pass a signal on to the command and what it has started, as a terminal does."""

    def pass_on(number: int, _: "FrameType | None") -> None:
        _kill(pid, number)

    return pass_on


def _stop_with(pid: int) -> "Handler":
    """Stop the command, then this process as the terminal asked; let the command go on when this one does."""

    def stop(number: int, _: "FrameType | None") -> None:
        import signal

        _kill(pid, signal.SIGSTOP)
        handler = signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # returns when this process is continued
        signal.signal(number, handler)
        _kill(pid, signal.SIGCONT)

    return stop


def _kill(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:  # it has just ended
        return


def _wait(connection: "socket.socket") -> tuple[int, bool]:
    """Answer the command until it ends: its exit code or the signal that ended it, and whether it is a
    signal."""
    from client.embedded import command_protocol as protocol

    while True:
        try:
            kind, body = protocol.receive_message(connection)
        except OSError:
            sys.stderr.write("Error: the process that executed the command was ended\n")
            return 1, False
        if kind == protocol.MAY_READ:
            protocol.send_message(connection, kind, bytes([may_read()]))
        elif kind == protocol.EDIT:
            protocol.send_message(connection, kind, edited(body))
        else:
            return body[0], kind == protocol.SIGNAL


def may_read() -> bool:
    """Whether standard input may be read, after waiting for the foreground where it is the terminal.

    The process that reads for this one is not of the terminal's session, so nothing stops it. To read nothing
    has the system stop the group of this process in the background as it stops any reader; an own look at the
    foreground would stop it when the shell has just continued it. A group that no shell can continue may not
    read.
    """
    import errno

    try:
        os.read(0, 0)
    except OSError as error:
        return error.errno != errno.EIO
    return True


def edited(text: bytes) -> bytes:
    """The text after the person edited it, as JSON: the text, null when it was not saved, or the error."""
    import json

    import click

    try:
        found = click.edit(text.decode(), extension=".toml", require_save=True)
    except click.ClickException as error:
        return json.dumps({"error": error.format_message()}).encode()
    return json.dumps({"text": found}).encode()


def _end_as(ended: tuple[int, bool]) -> NoReturn:
    """End with an exit code or by a signal."""
    number, by_signal = ended
    if by_signal:
        import signal

        signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
        os.kill(os.getpid(), number)
    os._exit(128 + number if by_signal else number)


if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = Callable[[int, "FrameType | None"], None]

if __name__ == "__main__":
    main()
