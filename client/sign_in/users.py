"""The users of the page.

They are a list with hashed passwords, those of an OpenID Connect provider, or one person on this machine who
has the address with its token.

Invariants: a password is kept as its scrypt hash only; a name that is not on the list costs as much time as a
wrong password; without a list and without a provider the page listens on this machine only.
"""

import base64
import hashlib
import hmac
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from client.entries import Entries, add_entry
from client.failures import BadInput

SCRYPT_N = 2**14
SCRYPT_R = 8
SCRYPT_P = 5
"""Cost of a hash: OWASP's parameters for scrypt with 16 MiB."""
MIN_PASSWORD_CHARS = 12


_FILE = TypeAdapter(Annotated[dict[str, Annotated[str, Field(pattern=r"^scrypt\$")]], Field(min_length=1)])
"""User -> hash of the password."""


@dataclass(frozen=True, slots=True)
class Provider:
    """An OpenID Connect provider. The secret comes from the environment only."""

    issuer: str
    client_id: str
    client_secret: str


def hash_of(password: str, salt: bytes | None = None) -> str:
    """`scrypt$SALT$HASH`, both in base64. Raises BadInput for a short password."""
    if len(password) < MIN_PASSWORD_CHARS:
        raise BadInput(f"a password needs at least {MIN_PASSWORD_CHARS} characters")
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


class UserList:
    """Users: name -> hash of the password."""

    def __init__(self, users: Callable[[], Mapping[str, str]]) -> None:
        self._users = users

    @classmethod
    def read(cls, path: Path) -> "UserList":
        """Return the users of a JSON file. Raises BadInput."""
        try:
            return cls(Entries(path, _FILE))
        except BadInput as error:
            how = "`determinator web --users FILE --add-user NAME` writes a list of names and hashes"
            raise BadInput(f"{error}; {how}") from error

    def accepts(self, name: str, password: str) -> str | None:
        """Return the hash that was checked, where this is a user and the password; else None."""
        hashed = self.hash_of(name)
        return hashed if verifies(password, hashed or _nobody()) else None

    def hash_of(self, name: str) -> str | None:
        """Return the hash of a user's password, as the list has it now; None for who is no user."""
        return self._users().get(name)


def add_user(path: Path, name: str, password: str) -> None:
    """Add a user to the list, or replace the password of one. Raises BadInput."""
    add_entry(path, _FILE, name, hash_of(password))


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=SCRYPT_N, r=SCRYPT_R, p=SCRYPT_P, dklen=32)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@cache
def _nobody() -> str:
    """Return a hash to compare with where there is no such user, so that the answer takes as long."""
    return hash_of("a password that nobody has", b"\0" * 16)
