"""What a run needs of the worker of its home: the settings that it was started with.

The steps of a run wait on a queue of these settings, its lane. A worker executes the steps of those lanes
whose settings it has; it decides for all of them what comes next, which reads and sends nothing. So whatever
settings other commands bring, no step of an offline run asks a network, and no text goes to another one's
model.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from activities.private_files import write_whole


class Lane(BaseModel):
    """The settings of a run or of a worker, by keyed digests of their values."""

    model_config = ConfigDict(frozen=True)

    keys: tuple[str, ...]
    """Names of the keys that are there. A run needs a key of that name, the same or a later one."""
    settings: Mapping[str, str]
    """Name -> digest of all else that differs from its default."""

    @property
    def id(self) -> str:
        """The same for the same settings and names of keys."""
        text = json.dumps([sorted(self.keys), sorted(self.settings.items())])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def queue(self, of: str) -> str:
        """Its task queue, beside the general one of a home."""
        return f"{of}-{self.id}"

    def lacks(self, run: Self) -> list[str]:
        """Names of what a worker with these settings lacks for the steps of a run, or has otherwise."""
        names = self.settings.keys() | run.settings.keys()
        differences = {name for name in names if self.settings.get(name) != run.settings.get(name)}
        return sorted(differences | (set(run.keys) - set(self.keys)))

    def keep_in(self, folder: Path) -> None:
        """Note it for workers and commands. Raises OSError."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(folder / f"{self.id}.json", self.model_dump_json().encode())


def lane_of(folder: Path, queue: str) -> Lane | None:
    """Return the lane of a queue; None for the general one, and where it is not known."""
    try:
        return Lane.model_validate_json((folder / f"{queue.rpartition('-')[2]}.json").read_bytes())
    except (OSError, ValidationError):
        return None
