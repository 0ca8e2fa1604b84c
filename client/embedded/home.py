"""The paths under the home folder, and the files that describe the processes serving it."""

import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from activities.lanes import Lane
from activities.private_files import private_home
from client.embedded.processes import is_held


class Note(BaseModel):
    """Base of the notes: small JSON files, which the supervisor replaces as a whole."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ServerNote(Note):
    """The embedded server as it was started last."""

    pid: int
    port: int
    ui_port: int
    ui_ip: str = "127.0.0.1"
    web_ui: bool = True
    ready: bool = False
    """It accepts connections."""
    version: str
    database: str
    started_at: str
    failure: str = ""
    """Reason why it ended and was not started again; empty while it is to run."""

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def ui_url(self) -> str | None:
        """None when the Web UI was not started."""
        return f"http://{self.ui_ip}:{self.ui_port}" if self.web_ui else None


class WorkerNote(Note):
    """The worker as it was started last."""

    pid: int = 0
    """0 while it is being started."""
    fingerprint: str
    """Keyed digest of the configuration it runs with; never a setting itself."""
    started_at: str = ""
    lane: Lane
    """Its offer for the steps of runs."""
    ended: bool = False
    """It is not to run any more: it was ended, or it failed too often."""
    failure: str = ""
    """Reason why it was not started again; empty when it did not fail."""


class Places:
    def __init__(self, home: Path) -> None:
        self.home = home.expanduser().absolute()
        self.state = self.home / "state"
        self.lock = self.state / "supervisor.lock"
        """Held by the supervisor, the server and the worker for as long as one of them lives."""
        self.socket = self.state / "private.sock"
        """Socket where the supervisor listens for the owner's commands and worker."""
        self.lanes = self.state / "lanes"
        """Files with the settings that runs of this home need of a worker."""
        self.server_note = self.state / "server.json"
        self.worker_note = self.state / "worker.json"
        self.binary_digest = self.state / "temporal.json"
        """The digest of the server's program, by its size and times."""
        self.fingerprint_key = self.state / "fingerprint.key"
        self.logs = self.home / "logs"
        self.server_log = self.logs / "server.log"
        self.worker_log = self.logs / "worker.log"
        self.reports = self.home / "reports"
        self.runs = self.home / "runs"
        """A folder a run, for people; see `activities.report.run_folder`."""

    def database(self, version: str) -> Path:
        """One database for each version of the server: an older server cannot read a newer one's file."""
        return self.home / f"temporal-{version}.db"

    def make(self) -> None:
        """Create the folders, closed to others.

        Raises OSError when home cannot be written, or its disk is full: server and worker would fail
        at whatever they write next, each in its own words.
        """
        private_home(self.home)
        self.check_space()
        for folder in (self.state, self.logs, self.reports):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def check_space(self) -> None:
        """Raise OSError when the disk of home is full."""
        if shutil.disk_usage(self.home).free < MIN_FREE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.home))


MIN_FREE_BYTES = 256 * 1024
"""Below which the server's database cannot take a transaction."""

N = TypeVar("N", bound=Note)


def read_note(path: Path, kind: type[N]) -> N | None:
    """Return the note, or None when there is none that can be read."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of a home that are to run."""

    server: ServerNote | None
    worker: WorkerNote | None


def look(home: Path) -> Processes:
    """Return the processes of a home, by its lock and notes; nothing is started."""
    places = Places(home)
    if not is_held(places.lock):
        return Processes(None, None)
    server = read_note(places.server_note, ServerNote)
    worker = read_note(places.worker_note, WorkerNote)
    return Processes(
        server if server and not server.failure else None, worker if worker and not worker.ended else None
    )
