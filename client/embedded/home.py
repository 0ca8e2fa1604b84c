"""The paths under the home folder, and the files that describe the processes serving it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from activities.private_files import file_name, private_home, write_whole
from activities.settings import Settings
from client.embedded.command_protocol import socket_path

DEFAULT_QUEUE = str(Settings.model_fields["task_queue"].default)


class Note(BaseModel):
    """Base of the notes: small JSON files, replaced as a whole."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ServerNote(Note):
    """The embedded server as it was started last."""

    pid: int
    port: int
    ui_port: int
    ui_ip: str = "127.0.0.1"
    web_ui: bool = True
    ready: bool = False
    """It has answered, and its namespace is set up."""
    version: str
    database: str
    started_at: str

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def ui_url(self) -> str | None:
        """None when the Web UI was not started."""
        return f"http://{self.ui_ip}:{self.ui_port}" if self.web_ui else None


class WorkerNote(Note):
    """A background worker as it was started last."""

    pid: int
    address: str
    fingerprint: str
    """Keyed digest of the configuration it runs with; never a setting itself."""
    started_at: str
    queue: str = DEFAULT_QUEUE
    """The task queue it serves."""
    needs: tuple[str, ...] = ()
    """Names (never values) of the keys and plugins it runs with; see `fingerprint.needs_of`."""
    access: Mapping[str, str] | None = None
    """Keyed digests of the keys and addresses it reaches sources with; see `fingerprint.access_of`. None in
    the note of an earlier version."""


@dataclass(frozen=True, slots=True)
class WorkerFiles:
    """The files of the worker on one task queue."""

    queue: str
    lock: Path
    note: Path
    log: Path
    used: Path
    """Touched when a run is about to start on the queue."""


class Places:
    """Paths under one home."""

    def __init__(self, home: Path) -> None:
        self.home = home.expanduser().absolute()
        state = self.home / "state"
        self.start_lock = state / "start.lock"
        """Held while a command starts or stops the processes."""
        self.server_lock = state / "server.lock"
        self.server_note = state / "server.json"
        self.fingerprint_key = state / "fingerprint.key"
        self.command_lock = state / "commands.lock"
        self.command_socket = socket_path(self.home)
        self.logs = self.home / "logs"
        self.command_log = self.logs / "commands.log"
        self.server_log = self.logs / "server.log"
        self.reports = self.home / "reports"

    def worker(self, queue: str = DEFAULT_QUEUE) -> WorkerFiles:
        """The files of the worker on a queue; on the default queue they have the plain names."""
        name = "worker" if queue == DEFAULT_QUEUE else f"worker-{file_name(queue)}"
        state = self.start_lock.parent
        return WorkerFiles(
            queue=queue,
            lock=state / f"{name}.lock",
            note=state / f"{name}.json",
            log=self.logs / f"{name}.log",
            used=state / f"{name}.used",
        )

    def workers(self) -> list[WorkerFiles]:
        """The files of all workers that were ever started here, that of the default queue first."""
        notes = (read_note(path, WorkerNote) for path in sorted(self.start_lock.parent.glob("worker-*.json")))
        return [self.worker(), *(self.worker(note.queue) for note in notes if note)]

    def database(self, version: str) -> Path:
        """One database for each version of the server: an older server cannot read a newer one's file."""
        return self.home / f"temporal-{version}.db"

    def make(self) -> None:
        """Create the folders, closed to others. Raises OSError when home cannot be written."""
        private_home(self.home)
        for folder in (self.start_lock.parent, self.logs, self.reports):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)


N = TypeVar("N", bound=Note)


def read_note(path: Path, kind: type[N]) -> N | None:
    """The note, or None when there is none that can be read."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def write_note(path: Path, note: Note) -> None:
    """Replace a note in one step."""
    write_whole(path, note.model_dump_json(indent=2).encode() + b"\n")
