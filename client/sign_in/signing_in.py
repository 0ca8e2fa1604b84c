"""Signing in, as routes of the page's server.

A user has a name and a password, an account at an OpenID Connect provider, or the token in the address that
the command prints.

A browser sends the cookie of its session, which holds a random name and nothing else, to this site alone
(`SameSite=lax`), and every change goes through a form of this site. A session ends when its user signs out,
leaves the list of users or gets a new password, when its time is over, and when the page ends.

Users are a list with hashed passwords, those of an OpenID Connect provider, or one person on this machine who
has the address with its token. A password is kept as its scrypt hash only; a name that is not on the list
costs as much time as a wrong password; without a list and without a provider the page listens on this machine
only.
"""

import base64
import hashlib
import hmac
import os
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import httpx2
from authlib.integrations.starlette_client import OAuth, OAuthError
from fastapi import FastAPI, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from joserfc.errors import JoseError
from pydantic import Field, TypeAdapter

from client.access import LOCAL_USER, SIGN_INS_A_MINUTE, RateLimit
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


def verifies(password: str, password_hash: str) -> bool:
    try:
        kind, salt, digest = password_hash.split("$")
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
        password_hash = self.hash_of(name)
        return password_hash if verifies(password, password_hash or _nobody()) else None

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


SESSION_SECONDS = 12 * 3600
"""A provider is not asked again in between, so that whom it removes is out after this time."""
MAX_SESSIONS = 10_000
"""The oldest ends when there are more."""
COOKIE_KEY = "session"


@dataclass(frozen=True, slots=True)
class Session:
    user: str
    password_hash: str | None
    """The hash of the password that was used, if any: the session ends when the list of users has another
    one."""
    ends: float
    """On the clock of `Sessions`."""


class Sessions:
    def __init__(
        self, hash_of: Callable[[str], str | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`hash_of` gives the hash of a user's password as it is now; None for who is no user."""
        self._hash_of = hash_of
        self._clock = clock
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def open(self, request: Request, user: str, password_hash: str | None = None) -> None:
        """Begin a session of a user who has just shown who they are."""
        self.end(request)
        name = secrets.token_urlsafe(32)
        self._sessions[name] = Session(user, password_hash, self._clock() + SESSION_SECONDS)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        request.session[COOKIE_KEY] = name

    def user(self, request: Request) -> str | None:
        """Return the user of a request; None when nobody is signed in any more."""
        name = str(request.session.get(COOKIE_KEY, ""))
        session = self._sessions.get(name)
        if session is None:
            return None
        expected = session.password_hash
        if self._clock() > session.ends or (expected and self._hash_of(session.user) != expected):
            del self._sessions[name]
            return None
        return session.user

    def end(self, request: Request) -> None:
        """End the session of a request, wherever else its cookie is."""
        self._sessions.pop(str(request.session.get(COOKIE_KEY, "")), None)
        request.session.clear()


UNAVAILABLE = "the provider cannot be reached; try again"
THEN = "then"
"""Address to go to once signed in, in address, form and, while a provider is asked, the session."""
Renderer = Callable[..., str]
"""Renders a template, by its name and values."""
Next = Callable[[Request], Awaitable[Response]]


class SignIn:
    def __init__(
        self, users: UserList | None = None, provider: Provider | None = None, token: str = ""
    ) -> None:
        """`token` opens the page where neither `users` nor `provider` is configured."""
        self._users = users
        self._provider = provider
        self._token = token
        self._attempts = RateLimit(SIGN_INS_A_MINUTE, 60)
        self._oauth = _client_of(provider) if provider else None
        self._sessions = Sessions(users.hash_of if users else dict[str, str]().get)

    @property
    def is_needed(self) -> bool:
        """Tell whether several people may use the page, each with runs of their own."""
        return self._users is not None or self._provider is not None

    def user(self, request: Request) -> str | None:
        """Return the user of a request; None when nobody is signed in."""
        return self._sessions.user(request)

    def add_to(self, app: FastAPI, render: Renderer) -> None:
        """Add the routes; `render` shows the form."""
        self._render = render
        app.get("/sign-in", response_class=HTMLResponse)(self._show)
        app.post("/sign-in")(self._with_password)
        app.get("/sign-in/provider")(self._to_provider)
        app.get("/sign-in/callback", name="signed_in")(self._from_provider)
        app.get("/sign-out")(self._sign_out)
        app.middleware("http")(self._token_in_address)

    async def _show(self, request: Request) -> HTMLResponse:
        return await self._form(then=request.query_params.get(THEN, ""))

    async def _form(self, problem: str = "", status: int = 200, then: str = "") -> HTMLResponse:
        if not self.is_needed:
            problem = problem or "open the address that `determinator web` printed: it holds the token"
        page = self._render(
            "sign_in",
            problem=problem,
            passwords=self._users is not None,
            issuer=self._provider.issuer if self._provider else "",
            then=place_of(then),
        )
        return HTMLResponse(page, status_code=status)

    async def _with_password(
        self,
        request: Request,
        name: str = Form(max_length=200),
        password: str = Form(max_length=1000),
        then: str = Form("", max_length=1000),
    ) -> Response:
        address = request.client.host if request.client else ""
        if wait := self._attempts.admit(address):
            return await self._form(f"too many attempts; try again in {wait:.0f} s", 429, then)
        password_hash = self._users.accepts(name, password) if self._users else None
        if password_hash is None:
            return await self._form("this name and password do not fit", 403, then)
        self._sessions.open(request, name, password_hash)
        return RedirectResponse(place_of(then), status_code=303)

    async def _to_provider(self, request: Request) -> Response:
        if self._oauth is None:
            return await self._form("no OpenID Connect provider is configured", 404)
        try:
            answer: Response = await self._oauth.provider.authorize_redirect(
                request, request.url_for("signed_in")
            )
        except httpx2.HTTPError:
            return await self._form(UNAVAILABLE, 502)
        request.session[THEN] = place_of(request.query_params.get(THEN, ""))
        return answer

    async def _from_provider(self, request: Request) -> Response:
        if self._oauth is None or self._provider is None:
            return await self._form("no OpenID Connect provider is configured", 404)
        issuer = self._provider.issuer.rstrip("/")
        try:  # without the claims options the issuer that the provider's document names would do
            token: dict[str, Any] = await self._oauth.provider.authorize_access_token(
                request, claims_options={"iss": {"essential": True, "values": [issuer, f"{issuer}/"]}}
            )
        except OAuthError as error:
            return await self._form(f"the provider refused: {error.error}", 403)
        except JoseError as error:
            return await self._form(f"the provider's token does not hold: {error.error}", 403)
        except httpx2.HTTPError:
            return await self._form(UNAVAILABLE, 502)
        claims = token.get("userinfo") or {}
        if not claims.get("sub"):
            return await self._form("the provider named no user", 403)
        then = place_of(str(request.session.get(THEN, "")))
        # `sub` alone is promised to stay the same and to belong to one person
        self._sessions.open(request, f"{claims['iss']}#{claims['sub']}")
        return RedirectResponse(then, status_code=303)

    async def _sign_out(self, request: Request) -> Response:
        self._sessions.end(request)
        return RedirectResponse("/sign-in", status_code=303)

    async def _token_in_address(self, request: Request, call_next: Next) -> Response:
        """Open a session for the token in an address, and remove it from the address."""
        token = request.query_params.get("token", "")
        if self._token and not self.is_needed and hmac.compare_digest(token.encode(), self._token.encode()):
            self._sessions.open(request, LOCAL_USER)
            return RedirectResponse(str(request.url.remove_query_params("token")), status_code=303)
        if request.url.path == "/" and self.user(request) is None:
            return RedirectResponse("/sign-in", status_code=303)
        return await call_next(request)


def place_of(then: str) -> str:
    """Return a place of this page to go to; its first page for an address that is another site's."""
    return then if re.fullmatch(r"/(?![/\\])[\w./~%:-]*", then) else "/"


def _client_of(provider: Provider) -> OAuth:
    oauth = OAuth()
    oauth.register(
        "provider",
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        server_metadata_url=f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": "openid", "code_challenge_method": "S256"},
    )
    return oauth
