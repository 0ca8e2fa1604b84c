"""The command as a person runs it: a process of its own."""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from client.cli.main import run
from client.embedded.home import Places, ServerNote, read_note
from client.embedded.processes import is_held
from tests.client import forks

COMMAND = [sys.executable, "-m", "client.cli.main"]
PYTHONPATH = os.environ.get("PYTHONPATH")
SECONDS = 120.0


@dataclass(frozen=True)
class Ran:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.out, self
        return json.loads(self.out)

    @property
    def run_id(self) -> str:
        match = re.search(r"\bask-[a-z0-9-]+", self.out)
        assert match, self
        return match.group()


def determinator(*arguments: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Ran:
    """Run a command to its end: a fork, except where its interpreter would import from elsewhere."""
    environment = {**os.environ, **(env or {})}
    if environment.get("PYTHONPATH") == PYTHONPATH:
        return Ran(*forks.run(arguments, environment, stdin, SECONDS))
    done = subprocess.run(
        [*COMMAND, *arguments], input=stdin, capture_output=True, text=True, timeout=SECONDS, env=environment
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def inside(*arguments: str, **env: str) -> Ran:
    """Run a command line in this process, which costs a third of a fork."""
    bodies = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(body, "utf-8", write_through=True) for body in bodies)
    with mock.patch.dict(os.environ, env), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return Ran(int(code), *(body.getvalue().decode() for body in bodies))


def gate_of(run_id: str, **env: str) -> str:
    """The gate at which a run waits."""
    progress = inside("status", run_id, "--json", **env).json()["progress"]
    return str(progress["waiting_for"] or "") if progress else ""


def wait_for_gate(run_id: str, gate: str, **env: str) -> None:
    """Wait until a run waits at a gate: each look is a command line."""
    wait_until(lambda: gate_of(run_id, **env) == gate, every=0.2, what=f"the {gate} gate")


class Begun:
    """A command that runs, with what tests use of `subprocess.Popen`."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        self._fork = forks.start(arguments, environment, [nothing, its_out, its_err])
        self.pid = self._fork.pid
        for end in (nothing, its_out, its_err):
            os.close(end)
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(err)

    @property
    def returncode(self) -> int | None:
        return self._fork.returncode

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        with contextlib.suppress(TimeoutError):
            self._fork.wait(0)
        return self.returncode

    def wait(self, timeout: float = SECONDS) -> int:
        return self._fork.wait(timeout)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = SECONDS) -> tuple[str, str]:
        """What it has printed since, once it has ended. Raises TimeoutError, and then has killed it."""
        with ThreadPoolExecutor(2) as pool, self.stdout, self.stderr:
            out, err = (pool.submit(stream.read) for stream in (self.stdout, self.stderr))
            try:
                self.wait(timeout)
            except TimeoutError:
                self.kill()
                raise
            return out.result(), err.result()


def begin(*arguments: str, env: Mapping[str, str] | None = None) -> Begun:
    """Start a command and leave it running."""
    return Begun(arguments, {**os.environ, **(env or {})})


def processes_of(home: Path) -> dict[str, list[int]]:
    """Pids of running servers and workers of a home, from the kernel's own list."""
    found: dict[str, list[int]] = {"server": [], "worker": []}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            kind = "server" if b"start-dev" in words else "worker" if b"worker.daemon" in words else ""
            if not kind or (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                continue
            if kind == "server":
                is_of_home = any(str(home).encode() in word for word in words)
            else:
                variables = (entry / "environ").read_bytes().split(b"\0")
                is_of_home = f"DETERMINATOR_HOME={home}".encode() in variables
        except OSError:
            continue
        if is_of_home:
            found[kind].append(int(entry.name))
    return found


def server_of(home: Path) -> ServerNote | None:
    """The server of a home as it was started last; None when none is to run."""
    places = Places(home)
    note = read_note(places.server_note, ServerNote)
    return note if note and is_held(places.lock) and not note.failure else None


def living(home: Path) -> dict[str, list[int]]:
    """`processes_of` once both are there: a process that is just being started has no name yet."""
    wait_until(lambda: all(processes_of(home).values()))
    return processes_of(home)


def wait_until(
    condition: Callable[[], object], seconds: float = 100.0, *, every: float = 0.05, what: str = "it"
) -> None:
    """Poll until it holds; fail the test when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s without success for {what}"
        time.sleep(every)
