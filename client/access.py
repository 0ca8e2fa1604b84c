"""The runs and folders that a user of the page, or a program over an interface, may see.

Runs are those they started; where nobody signs in, all of the home. Folders are those that the operator
allows.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from activities.configuration.wording import by_place, in_words
from activities.settings import Settings
from client.api import Determinator
from client.failures import BadInput, NoSuchRun, SeveralRuns, as_failure
from client.listing import Listing, Row, matching
from client.run import Run
from client.runs.options import SharedOptions

if TYPE_CHECKING:
    from client.reviews.review import Review

LOCAL_USER = "local"
"""The one user of a page without sign-in."""
RUNS_AN_HOUR = 20
"""Runs that one user may start within an hour."""
SIGN_INS_A_MINUTE = 10
"""Attempts to sign in from one address within a minute."""
NO_CREDENTIALS = "a token is needed: Authorization: Bearer TOKEN"
WRONG_CREDENTIALS = "the token is not the right one"
"""A caller without one, and one with another, whatever is wrong with it."""
LISTED = Listing(limit=100)
"""Runs in the list, the newest."""


class Access:
    """The runs of users."""

    def __init__(self, client: Determinator, *, is_shared: bool) -> None:
        """`is_shared`: several people use it, each with runs of their own."""
        self.client = client
        self.is_shared = is_shared

    async def run(self, run_id: str, user: str) -> Run:
        """Return a run that the user may see.

        Raises NoSuchRun for one of another user as for one that does not exist, and what
        `Determinator.run` raises.
        """
        if not self.is_shared:
            return await self.client.run(run_id)
        name = await self._id_of(run_id, user)
        try:
            handle = await self.client.run(name)
        except NoSuchRun as error:  # its words may name runs of others
            raise unknown_run(run_id) from error
        if (await handle.row()).user != user:
            raise unknown_run(run_id)
        return handle

    async def _id_of(self, name: str, user: str) -> str:
        """Return the id of the user's own run that a name stands for.

        Where none of the newest fits it is the name itself, so that an older run is found by its
        whole id. Raises SeveralRuns with the user's own.
        """
        run_ids = [row.run_id for row in await self.runs(user)]
        if name == "last" and run_ids:
            return run_ids[0]
        matches = matching(run_ids, name) if name else []
        if len(matches) > 1:
            raise SeveralRuns(name[:100], matches)
        return matches[0] if matches else name

    async def review(self, name: str, user: str) -> "Review":
        """Return a review that the user started, screens or decides in. Raises NoSuchRun for any other."""
        if not self.is_shared:
            return await self.client.review(name)
        try:
            review = await self.client.review(name)
        except NoSuchRun as error:  # its words may name reviews of others
            raise unknown_run(name) from error
        if not await review.may_open(user):
            raise unknown_run(name)
        return review

    async def reviews(self, user: str) -> list[str]:
        """Return the ids of the reviews that the user may see, the newest first."""
        names = await self.client.reviews()
        if not self.is_shared:
            return names
        return [name for name in names if await (await self.client.review(name)).may_open(user)]

    async def runs(self, user: str, only: Listing = LISTED) -> list[Row]:
        """Return the runs that the user may see, the newest first."""
        return await self.client.runs(only, user if self.is_shared else None)


def unknown_run(name: str) -> NoSuchRun:
    """Return the error for a run that the user may not see, whether there is one or not."""
    return NoSuchRun(f"there is no run {name[:100]}")


def line_of(error: Exception) -> str:
    """One line on an error of `client.api.EXPECTED`."""
    return str(as_failure(error) or error)


def status_of(error: Exception) -> int:
    """Return the HTTP status of an error of `client.api.EXPECTED`."""
    failure = as_failure(error)
    return failure.status if failure else 500


def wrong_fields(errors: Sequence[Any]) -> str:
    """Return what pydantic refuses of a request, field by field, on one line."""
    faults = []
    for faulty in by_place(errors).values():
        first, *place = faulty[0]["loc"]  # in what is no JSON, the place is the number of a character
        name = first if not place or faulty[0]["type"] == "json_invalid" else ".".join(map(str, place))
        faults.append(f"{name}: {in_words(faulty)}")
    return "; ".join(faults)


def models_of(settings: Settings) -> list[str]:
    """Names of the models that the settings in force offer."""
    return list(dict.fromkeys(filter(None, (settings.model, *settings.roles.values(), *settings.fallback))))


class Folders:
    """The folders below which a caller may name files, with their links resolved."""

    def __init__(self, allowed: Sequence[Path]) -> None:
        """Raise BadInput for what is not a folder."""
        for folder in allowed:
            if not folder.is_dir():
                raise BadInput(f"{folder} is not a folder; --allow names one that exists")
        self._allowed = tuple(folder.resolve() for folder in allowed)

    def check(self, name: str) -> str:
        """Return the path, resolved.

        Raises BadInput for one outside, however it is written, and says no more of it: not even
        whether it exists.
        """
        try:
            path = Path(name).expanduser().resolve()
        except (OSError, RuntimeError, ValueError):
            path = None
        if path is None or not any(path.is_relative_to(folder) for folder in self._allowed):
            raise BadInput(
                "this path is not below a folder that this server may read; "
                "its operator names such folders when the server starts"
            )
        return str(path)


def folder_of(options: SharedOptions, settings: Settings, folders: Folders) -> str | None:
    """Return the folder that a caller's question searches, resolved.

    Raises BadInput for one that may not be read, and for a model that the settings do not name.
    """
    model, library = options.get("model"), options.get("library")
    if model not in (None, "extractive", *models_of(settings)):
        raise BadInput(f"the model {str(model)[:100]!r} is not offered here")
    return folders.check(library) if library else None


class RateLimit:
    """A limit of `most` events of one name within `seconds`.

    It is a sliding window in memory, forgotten when the server restarts. A name without an event in it
    takes no room.
    """

    def __init__(self, max_events: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_events = max_events
        self._seconds = seconds
        self._clock = clock
        self._events: OrderedDict[str, deque[float]] = OrderedDict()
        """Name -> its events; the name with the latest event last."""

    def admit(self, name: str) -> float:
        """Count an event and return 0, or return the seconds until the next one is admitted."""
        now = self._clock()
        begin = now - self._seconds
        while self._events and next(iter(self._events.values()))[-1] <= begin:
            self._events.popitem(last=False)
        events = self._events.setdefault(name, deque(maxlen=self._max_events))
        if len(events) == self._max_events and events[0] > begin:
            return events[0] + self._seconds - now
        events.append(now)
        self._events.move_to_end(name)
        return 0.0
