"""The paths under the home folder, the files that describe the processes serving it, and their settings."""

import errno
import hashlib
import hmac
import json
import os
from collections.abc import Sequence
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from activities.configuration.declaration import carried, variable_of
from activities.configuration.folder import HOME_VARIABLE, user_home
from activities.disk import has_room
from activities.lanes import Lane
from activities.private_files import private_home, random_key
from activities.settings import FOLDER_VARIABLE, Settings, config_path, secret_variables


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
        if not has_room(self.home):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.home))


N = TypeVar("N", bound=Note)


def read_note(path: Path, kind: type[N]) -> N | None:
    """Return the note, or None when there is none that can be read."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


CARRIED = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "PYTHONPATH",
)
"""Variables besides our own that change what a worker can reach, or which plugins and hooks it finds."""
OF_INTERFACES = ("DETERMINATOR_MCP_TOKEN", "DETERMINATOR_OIDC_CLIENT_SECRET")
"""Secrets of the servers that commands are: no worker gets them, nor is replaced for them."""


WORKER_PACKAGES = ("activities", "workflows", "worker")
"""The packages of this project that a worker imports: of an installation in place, its version does not say
which code it has."""
CLIENT_ONLY = carried(Settings.model_fields) - {"task_queue"}
"""Settings that a request carries or that concern the command alone: workers do not differ by them."""


def worker_environment(settings: Settings) -> dict[str, str]:
    """Return the environment for a worker of the embedded server that runs in another folder.

    What is relative here is made absolute, and what was meant for another Temporal server is left out.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TEMPORAL_") and name not in OF_INTERFACES
    }
    environment["DETERMINATOR_HOME"] = str(settings.home.expanduser().absolute())
    path = config_path().absolute()
    if environment.get("DETERMINATOR_CONFIG"):
        environment["DETERMINATOR_CONFIG"] = str(path)
    else:
        environment[FOLDER_VARIABLE] = str(path.parent)
    environment[HOME_VARIABLE] = str(user_home().absolute())
    environment["DETERMINATOR_REPORTS_DIR"] = str(Places(settings.home).reports)
    for name in ("library", "profiles_dir"):
        value = getattr(settings, name)
        if value is not None:
            environment[f"DETERMINATOR_{name.upper()}"] = str(Path(value).expanduser().absolute())
    environment["DETERMINATOR_TASK_QUEUE"] = settings.task_queue
    if settings.offline:
        environment["DETERMINATOR_OFFLINE"] = "true"  # set by a flag, perhaps
    if settings.openai_base_url:
        environment["OPENAI_BASE_URL"] = settings.openai_base_url  # the same
    if settings.store_url and "://" not in settings.store_url:
        environment["DETERMINATOR_STORE_URL"] = str(Path(settings.store_url).expanduser().absolute())
    for variable, name in secret_variables().items():
        if getattr(settings, name) is None:  # a key that is not for the address that a flag names
            environment.pop(variable, None)
            environment.pop(f"{variable}_FILE", None)
    return environment


def fingerprint(settings: Settings, places: Places) -> str:
    """Return a keyed digest of everything that makes one worker differ from another, keys included.

    The key is random and stays in home, so that the digest of a short secret cannot be looked up.
    """
    environment = worker_environment(settings)
    content = {
        "version": version("determinator"),
        "code": code_of(WORKER_PACKAGES),
        "settings": {
            **{
                name: value.get_secret_value() if isinstance(value, SecretStr) else value
                for name, value in settings.model_dump(exclude={*CLIENT_ONLY}).items()
            },
            "home": "",
            "library": environment.get("DETERMINATOR_LIBRARY"),
        },
        "environment": {
            name: value
            for name, value in environment.items()
            if name.upper() in CARRIED or (name.startswith("DETERMINATOR_") and name not in OURS)
        },
        "plugins": plugins(),
    }
    return digest(content, places)


def digest(value: object, places: Places) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hmac.new(random_key(places.fingerprint_key), text.encode(), hashlib.sha256).hexdigest()


def code_of(packages: Sequence[str], root: Path = Path(__file__).parents[2]) -> list[tuple[str, int, int]]:
    """Return which code is on disk: each package with its files' sizes and times. Raises OSError."""
    code = []
    for name in packages:
        files = [file.stat() for file in (root / name).rglob("*.py")]
        code.append((name, sum(f.st_size for f in files), sum(f.st_mtime_ns for f in files)))
    return code


OURS = frozenset(
    {
        *("DETERMINATOR_HOME", "DETERMINATOR_CONFIG", FOLDER_VARIABLE, HOME_VARIABLE),
        *(f"DETERMINATOR_{name.upper()}" for name in CLIENT_ONLY),
    }
)
"""The content of the configuration file counts, through the settings; its path does not."""


def plugins() -> dict[str, str]:
    """Return the installed plugins: name -> what it loads, with the version of its package."""
    return {
        point.name: f"{point.value} {point.dist.version if point.dist else ''}"
        for point in entry_points(group=SOURCE_PLUGINS)
    }


def lane_of_settings(settings: Settings, places: Places) -> Lane:
    """Return what the runs of a command with these settings need of a worker."""
    environment, secrets = worker_environment(settings), secret_variables()
    fields = Settings.model_fields
    exclusions = {*CLIENT_ONLY, *OF_PROCESS, *secrets.values()}
    values = settings.model_dump(mode="json", include=set(fields) - exclusions)
    defaults = Settings.model_construct().model_dump(mode="json", include=set(values))
    differences = {
        variable_of(name, fields[name]): values[name] for name in values if values[name] != defaults[name]
    }
    if settings.library:
        differences["DETERMINATOR_LIBRARY"] = environment["DETERMINATOR_LIBRARY"]
    differences |= {name: value for name, value in environment.items() if name.upper() in CARRIED}
    differences |= {f"plugin {name}": value for name, value in plugins().items()}
    return Lane(
        keys=tuple(sorted(name for name, field in secrets.items() if getattr(settings, field) is not None)),
        settings={name: digest(value, places)[:16] for name, value in differences.items()},
    )


OF_PROCESS = ("home", "task_queue", "workers", "metrics", "ready_file", "reports_dir", "log_level")
"""Settings that concern processes and no step."""
SOURCE_PLUGINS = "determinator.sources"
"""The entry point group of `activities.sources.registry`, which is not imported for its name alone."""
