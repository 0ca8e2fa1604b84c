"""What stands under the home folder, and the notes that say which processes serve it."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from activities.private_files import private_home, write_whole


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
    """The background worker as it was started last."""

    pid: int
    address: str
    fingerprint: str
    """Keyed digest of the configuration it runs with; never a setting itself."""
    started_at: str


class Places:
    """Paths under one home."""

    def __init__(self, home: Path) -> None:
        self.home = home.expanduser().absolute()
        state = self.home / "state"
        self.start_lock = state / "start.lock"
        """Held while somebody starts or stops the processes."""
        self.server_lock = state / "server.lock"
        self.worker_lock = state / "worker.lock"
        self.server_note = state / "server.json"
        self.worker_note = state / "worker.json"
        self.fingerprint_key = state / "fingerprint.key"
        self.logs = self.home / "logs"
        self.server_log = self.logs / "server.log"
        self.worker_log = self.logs / "worker.log"
        self.reports = self.home / "reports"

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
