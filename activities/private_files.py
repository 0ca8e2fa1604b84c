"""Files of a home that only its owner may read: whole replacement, random keys, and the mode of the folders.

A home is 0700, so that no other user can read its contents, whatever the modes below say; the modes below are
0700 and 0600 as well, so that a copy of a part of it is no more open than the whole. On Windows, where modes
mean little, a profile folder is private by its access list.
"""

import contextlib
import os
import re
import secrets
import stat
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

from activities.contracts.errors import DeterminatorError

OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
KEY_BYTES = 32
OWNED = ("state", "logs", "reports", "runs", "evidence", "cache", "profiles")
"""The folders under a home whose mode is restricted; other files in a home keep their modes."""


class WeakKey(DeterminatorError):
    """A key that others could guess."""


def private_home(home: Path) -> Path:
    """Create the home, or close one that others could read; return its absolute path.

    Raises OSError when it cannot be created. A home that belongs to another user is left as it is.
    """
    home = home.expanduser().absolute()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix" and home.stat().st_mode & OPEN_TO_OTHERS:
        with contextlib.suppress(PermissionError):
            home.chmod(0o700)
            _close_contents(home)
    return home


def _close_contents(home: Path) -> None:
    for path in home.iterdir():
        if path.is_symlink():
            continue
        if path.is_dir() and path.name in OWNED:
            for folder, _, names in os.walk(path):
                Path(folder).chmod(0o700)
                for name in names:
                    _close(Path(folder, name))
        elif path.is_file() and path.name.startswith("temporal-"):
            _close(path)


def _close(path: Path) -> None:
    """Remove the group's and the others' rights from a file; a file that was deleted meanwhile is ignored."""
    with contextlib.suppress(FileNotFoundError):
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~OPEN_TO_OTHERS)


FILE_NAME_CHARS = 150
"""Characters of a run's name in the name of a file: file systems allow 255 bytes, endings included."""


def file_name(run_id: str) -> str:
    """Return a run's name as the name of one file: an id may be any text that a client sent to the server."""
    return re.sub(r"[^\w.-]", "-", run_id.replace("/", "--")).lstrip(".")[:FILE_NAME_CHARS] or "run"


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Replace a file in one step, readable by its owner only."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def user_cache(name: str) -> Path:
    """Return the folder of cached data for every home: in `DETERMINATOR_CACHE`, else the platform's."""
    folder = os.environ.get("DETERMINATOR_CACHE")
    return (Path(folder).expanduser() if folder else user_cache_path("determinator")) / name


def random_key(path: Path) -> bytes:
    """Return the random key in a file, created at the first use; two that create it agree on the first.

    Raises OSError, and WeakKey for a file that is shorter than a key: anyone could guess what it signs.
    """
    try:
        return _whole_key(path)
    except FileNotFoundError:
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        write_whole(temporary, secrets.token_bytes(KEY_BYTES))
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
        return _whole_key(path)


def _whole_key(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) < KEY_BYTES:
        raise WeakKey(
            f"{path} holds {len(key)} bytes, and a key has {KEY_BYTES}: remove it, and another one is made"
        )
    return key
