"""Files of entries by name, such as users and tokens, that hold as they are now."""

from collections.abc import Mapping
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from activities.logs import log
from activities.private_files import write_whole
from client.failures import BadInput, faults_of

T = TypeVar("T")


def read_entries(path: Path, kind: TypeAdapter[dict[str, T]]) -> dict[str, T]:
    """Return the entries of a JSON file. Raises BadInput."""
    try:
        return kind.validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise BadInput(f"{path}: {faults_of(error, 'the file')}") from error


def add_entry(path: Path, kind: TypeAdapter[dict[str, T]], name: str, entry: T) -> None:
    """Add an entry to a file, or replace the one of that name. Raises BadInput."""
    entries = read_entries(path, kind) if path.exists() else {}
    write_whole(path, kind.dump_json(entries | {name: entry}, indent=1))


class Entries(Generic[T]):
    """The entries of a file, read again when it changes; none while it cannot be used."""

    def __init__(self, path: Path, kind: TypeAdapter[dict[str, T]]) -> None:
        """Raise BadInput."""
        self._path = path
        self._kind = kind
        self._version = version_of(path)  # before it is read: a change in between is seen
        self._entries = read_entries(path, kind)

    def __call__(self) -> Mapping[str, T]:
        version = version_of(self._path)
        if version != self._version:
            try:
                self._entries = read_entries(self._path, self._kind)
            except BadInput as error:
                log.warning("unreadable", reason=str(error))
                self._entries = {}
            self._version = version
        return self._entries


def version_of(path: Path) -> tuple[int, ...]:
    """Return what changes when a file does; nothing for one that is not there."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
