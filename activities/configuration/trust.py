"""The configuration files of folders that their user trusts, each by its place and its content.

A `determinator.toml` lies in whatever folder a command is started in, and may have come with that folder.
The list of trusted files is in the user's own home, whose place no file can set. A file that was changed
since, and a copy of it in another folder, is another file: its relative paths lead elsewhere.
"""

import hashlib
import json
import os
from pathlib import Path

from platformdirs import user_data_path

HOME_VARIABLE = "DETERMINATOR_USER_HOME"
"""The user's own home, for a worker: what it serves may be another one (`home`)."""


def user_home() -> Path:
    """Return the folder of the user's own configuration and of the list.

    `DETERMINATOR_HOME`, else the platform's. A relative one is part of the current folder, so that its
    contents may have come with it: the platform's then.
    """
    for variable in (HOME_VARIABLE, "DETERMINATOR_HOME"):
        path = Path(os.environ.get(variable) or ".").expanduser()
        if path.is_absolute():
            return path
    return user_data_path("determinator", appauthor=False)


def is_trusted(path: Path, data: bytes) -> bool:
    return _trusted().get(_name(path)) == hashlib.sha256(data).hexdigest()


def trust(path: Path, data: bytes) -> None:
    """Trust a file with this content, in place of what it held before. Raises OSError."""
    from activities.private_files import write_whole  # not for `--help`: it takes a while

    files = {**_trusted(), _name(path): hashlib.sha256(data).hexdigest()}
    write_whole(_list(), json.dumps(files, indent=1, sort_keys=True).encode())


def _trusted() -> dict[str, str]:
    try:
        files = json.loads(_list().read_bytes())
    except (OSError, ValueError):
        return {}
    return files if isinstance(files, dict) else {}


def _list() -> Path:
    return user_home() / "trusted_files.json"


def _name(path: Path) -> str:
    """Its folder without links, and its name there: a link to a trusted file is another file."""
    return str(path.absolute().parent.resolve() / path.name)
