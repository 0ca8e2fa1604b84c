"""A command line that shows what it was given.

`python -m tests.client.embedded.probe serve 10 600` is a command server that executes it, and looks every
10 s whether it was idle for 600 s. Any other arguments execute it in this process.
"""

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import click

from client import command_process
from client.caller import edit
from client.cli.gate import read_line
from client.exit import leave

SHOWN = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP, signal.SIGPIPE)


def execute(arguments: Sequence[str]) -> int:
    """`list WHAT ...`: do what is asked for, as the verb `list` that any launcher has executed."""
    try:
        return do(arguments[1], list(arguments[2:]))
    except KeyboardInterrupt:
        return 130


def do(what: str, rest: list[str]) -> int:
    match what:
        case "exit":
            return int(rest[0])
        case "given":
            click.echo(json.dumps(given(rest), sort_keys=True))
        case "echo":
            sys.stdout.write(sys.stdin.read())
        case "both":
            sys.stdout.write("to stdout\n")
            sys.stderr.write("to stderr\n")
        case "flood":
            while True:
                sys.stdout.write("a line\n" * 1000)
        case "signal":
            os.kill(os.getpid(), int(rest[0]))
        case "raise":
            raise RuntimeError("unexpected")
        case "wait":
            Path(rest[0]).write_text(str(os.getpid()))
            time.sleep(60)
        case "prompt":
            Path(rest[0]).write_text(str(os.getpid()))
            sys.stderr.write("name? ")
            sys.stderr.flush()
            click.echo(f"hello {asyncio.run(read_line()).strip()}")
        case "edit":
            click.echo(edit("before\n"))
        case _:
            return 2
    return 0


def given(arguments: list[str]) -> dict[str, object]:
    """What a process has from its caller."""
    mask = os.umask(0)
    os.umask(mask)
    try:
        folder = str(Path.cwd())
    except FileNotFoundError:
        folder = ""
    return {
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": folder,
        "umask": mask,
        "files": sorted(os.path.sameopenfile(0, n) for n in (1, 2)),
        "terminals": [stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "size": list(os.get_terminal_size(2)) if sys.stderr.isatty() else [],
        "encodings": [[s.encoding, s.errors] for s in (sys.stdin, sys.stdout, sys.stderr)],
        "signals": [str(signal.getsignal(number)) for number in SHOWN],
        "path": sys.path[1:],
        "threads": threading.active_count(),
        "zone": time.tzname[0],
    }


def main() -> None:
    if sys.argv[1:2] == ["serve"]:
        look, idle = map(float, sys.argv[2:])
        command_process.main(execute, look_seconds=look, idle_seconds=idle)
    leave(execute(sys.argv[1:]))


if __name__ == "__main__":
    main()
