"""Who may use the page: a list of users with hashed passwords, an OpenID Connect provider, or one person on
this machine who has the address with its token.

Invariants: a password is kept as its scrypt hash only; a name that is not on the list costs as much time as a
wrong password; without a list and without a provider the page listens on this machine only.
"""

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

from activities.logs import log
from activities.private_files import write_whole
from client.failures import BadInput

T = TypeVar("T")

SCRYPT_N = 2**14
SCRYPT_R = 8
SCRYPT_P = 5
"""Cost of a hash: OWASP's parameters for scrypt with 16 MiB."""
MIN_PASSWORD_CHARS = 12


class UserListError(BadInput):
    """The list of users cannot be used; says why and how to repair it."""


@dataclass(frozen=True, slots=True)
class Provider:
    """An OpenID Connect provider. The secret comes from the environment only."""

    issuer: str
    client_id: str
    client_secret: str


def hash_of(password: str, salt: bytes | None = None) -> str:
    """`scrypt$SALT$HASH`, both in base64. Raises UserListError for a short password."""
    if len(password) < MIN_PASSWORD_CHARS:
        raise UserListError(f"a password needs at least {MIN_PASSWORD_CHARS} characters")
    salt = salt or os.urandom(16)
    return f"scrypt${_text(salt)}${_text(_scrypt(password, salt))}"


def verifies(password: str, hashed: str) -> bool:
    try:
        kind, salt, digest = hashed.split("$")
        expected = base64.b64decode(digest, validate=True)
        actual = _scrypt(password, base64.b64decode(salt, validate=True))
    except ValueError:
        return False
    return kind == "scrypt" and hmac.compare_digest(actual, expected)


class ReadAgain(Generic[T]):
    """The entries of a file by name, read again when the file changes; none while it cannot be used."""

    def __init__(self, path: Path, read: Callable[[Path], Mapping[str, T]]) -> None:
        """Raises BadInput."""
        self._path = path
        self._read = read
        self._version = version_of(path)  # before it is read: a change in between is seen
        self._entries = read(path)

    def __call__(self) -> Mapping[str, T]:
        version = version_of(self._path)
        if version != self._version:
            try:
                self._entries = self._read(self._path)
            except BadInput as error:
                log.warning("unreadable", reason=str(error))
                self._entries = {}
            self._version = version
        return self._entries


class UserList:
    """Users: name -> hash of the password."""

    def __init__(self, users: Callable[[], Mapping[str, str]]) -> None:
        self._users = users

    @classmethod
    def read(cls, path: Path) -> "UserList":
        """The users of a JSON file. Raises UserListError."""
        return cls(ReadAgain(path, _users_in))

    def accepts(self, name: str, password: str) -> str | None:
        """The hash that was checked, where this is a user and the password; else None."""
        hashed = self.hash_of(name)
        return hashed if verifies(password, hashed or _nobody()) else None

    def hash_of(self, name: str) -> str | None:
        """The hash of a user's password, as the list has it now; None for who is no user."""
        return self._users().get(name)


def version_of(path: Path) -> tuple[int, ...]:
    """What changes when a file does; nothing for one that is not there."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _users_in(path: Path) -> dict[str, str]:
    """Raises UserListError."""
    try:
        users = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserListError(f"the list of users {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserListError(f"the list of users {path} is not JSON: {error}") from error
    fits = isinstance(users, dict) and all(
        isinstance(hashed, str) and hashed.startswith("scrypt$") for hashed in users.values()
    )
    if not fits or not users:
        raise UserListError(
            f"{path} must be an object of names and hashes; `determinator web --add-user NAME` adds one"
        )
    return dict(users)


def add_user(path: Path, name: str, password: str) -> None:
    """Add a user to the list, or replace the password of one. Raises UserListError."""
    users: dict[str, str] = {}
    if path.exists():
        users = _users_in(path)
    users[name] = hash_of(password)
    write_whole(path, json.dumps(users, indent=1, sort_keys=True).encode())


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=SCRYPT_N, r=SCRYPT_R, p=SCRYPT_P, dklen=32)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@cache
def _nobody() -> str:
    """A hash to compare with where there is no such user, so that the answer takes as long."""
    return hash_of("a password that nobody has", b"\0" * 16)
