"""Who may use the HTTP interface: a file of tokens with scopes and limits.

Invariants: a token is random and kept as its SHA-256 only; a file that cannot be used admits nobody.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, get_args

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from activities.contracts.evidence import Frozen
from activities.private_files import write_whole
from client.access import RUNS_AN_HOUR
from client.failures import BadInput, faults_of
from client.web.users import ReadAgain

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


_FILE = TypeAdapter(dict[str, Token])


class TokenFile:
    """The tokens of a JSON file, name -> `Token`, or one without a file."""

    def __init__(self, tokens: Callable[[], Mapping[str, Token]], *, shared: bool) -> None:
        """`shared`: users are told apart."""
        self._tokens = tokens
        self.shared = shared

    @classmethod
    def read(cls, path: Path) -> "TokenFile":
        """Raises BadInput."""
        return cls(ReadAgain(path, _tokens_in), shared=True)

    @classmethod
    def of_owner(cls, text: str) -> "TokenFile":
        """One token of the user of this process, who may do everything."""
        own = {"owner": Token(sha256=_digest(text), user="")}
        return cls(lambda: own, shared=False)

    def token(self, text: str) -> Token | None:
        """What this text allows; None for what is no token."""
        digest = _digest(text)
        tokens = self._tokens().values()
        return next((token for token in tokens if hmac.compare_digest(token.sha256, digest)), None)


def add_token(path: Path, name: str, scopes: tuple[Scope, ...], max_cost: float | None) -> str:
    """Add a token to a file, or replace the one of that name; return its text. Raises BadInput."""
    tokens = _tokens_in(path) if path.exists() else {}
    text = secrets.token_urlsafe(TOKEN_BYTES)
    tokens[name] = Token(sha256=_digest(text), user=name, scopes=scopes or SCOPES, max_cost=max_cost)
    write_whole(path, _FILE.dump_json(tokens, indent=1))
    return text


def _tokens_in(path: Path) -> dict[str, Token]:
    """Raises BadInput."""
    try:
        tokens = _FILE.validate_python(json.loads(path.read_text("utf-8")))
    except OSError as error:
        raise BadInput(f"the file of tokens {path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise BadInput(f"{path}: {faults_of(error, 'the file')}") from error
    except ValueError as error:
        raise BadInput(f"the file of tokens {path} is not JSON: {error}") from error
    if nameless := [name for name, token in tokens.items() if not token.user]:
        raise BadInput(f"{path}: {nameless[0]}: name the user")
    return tokens


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
