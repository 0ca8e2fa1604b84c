"""Who is signed in, kept by the server: a cookie holds a random name of a session and nothing else.

A session ends when its user signs out, leaves the list of users or gets a new password, when its time is
over, and when the page ends. What a browser, or a thief, still holds opens nothing then.
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request

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
        """The user of a request; None when nobody is signed in any more."""
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
