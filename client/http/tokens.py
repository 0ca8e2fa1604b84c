"""Users of the HTTP interface: a file of tokens with scopes and limits.

Invariants: a token is random and kept as its SHA-256 only; a file that cannot be used admits nobody.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter

from activities.contracts.evidence import Frozen
from client.access import RUNS_AN_HOUR
from client.entries import Entries, add_entry

Scope = Literal["ask", "read", "decide"]
"""`ask` starts and cancels runs, `read` reads them, `decide` answers gates and tells a run what to do."""
SCOPES: tuple[Scope, ...] = get_args(Scope)
REQUESTS_A_MINUTE = 600
TOKEN_BYTES = 32


class Token(Frozen):
    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    user: str = Field(max_length=200)
    """Whose runs it starts and sees; empty for the user of this process, who sees all runs of the home."""
    scopes: tuple[Scope, ...] = SCOPES
    max_cost: float | None = Field(default=None, ge=0)
    """US dollars that one run may spend, extensions included."""
    runs_an_hour: int = Field(default=RUNS_AN_HOUR, ge=1)
    requests_a_minute: int = Field(default=REQUESTS_A_MINUTE, ge=1)


def _of_a_user(token: Token) -> Token:
    if not token.user:
        raise ValueError("name the user")
    return token


_FILE = TypeAdapter(dict[str, Annotated[Token, AfterValidator(_of_a_user)]])


class TokenFile:
    """The tokens of a JSON file, name -> `Token`, or one without a file."""

    def __init__(self, tokens: Callable[[], Mapping[str, Token]], *, is_shared: bool) -> None:
        """`is_shared`: users are told apart."""
        self._tokens = tokens
        self.is_shared = is_shared

    @classmethod
    def read(cls, path: Path) -> "TokenFile":
        """Raise BadInput."""
        return cls(Entries(path, _FILE), is_shared=True)

    @classmethod
    def of_owner(cls, text: str) -> "TokenFile":
        """One token of the user of this process, who may do everything."""
        tokens = {"owner": Token(sha256=_digest(text), user="")}
        return cls(lambda: tokens, is_shared=False)

    def token(self, text: str) -> Token | None:
        """Return what this text allows; None for what is no token."""
        digest = _digest(text)
        tokens = self._tokens().values()
        return next((token for token in tokens if hmac.compare_digest(token.sha256, digest)), None)


def add_token(path: Path, name: str, scopes: tuple[Scope, ...], max_cost: float | None) -> str:
    """Add a token to a file, or replace the one of that name; return its text. Raises BadInput."""
    text = secrets.token_urlsafe(TOKEN_BYTES)
    token = Token(sha256=_digest(text), user=name, scopes=scopes or SCOPES, max_cost=max_cost)
    add_entry(path, _FILE, name, token)
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
