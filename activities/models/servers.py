"""The model servers that a worker talks to: their addresses, keys, connections, facts and turns.

A model that is down is not called for some seconds, so that not every step waits for the same failure. Each
worker process keeps a breaker for every model at every address. It opens after `FAILURES` calls in a row that
found the model down; while it is open a call fails at once, without a request, and so reaches its fallback.
After `REST_SECONDS` one call may ask again: an answer closes the breaker, a failure leaves it open. A rate
limit or a refusal is an answer: the server is there.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from activities.contracts.errors import ModelDown, ModelError, ModelRefused
from activities.contracts.evidence import ModelChoice
from activities.models.address import Address, parse
from activities.models.prices import OPENAI_URL, address, facts_of, key_for
from activities.models.response import FIRST_WORD_FACTOR
from activities.models.server_facts import ServerFacts
from activities.settings import Settings
from activities.sources.http.rate_limiter import SharedTurns, turns_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

FAILURES = 3
"""One call may fail by chance; the third in a row, seconds apart by Temporal's retries, does not."""
IN_A_ROW_SECONDS = 60.0
"""A call that begins later than this after the last failure begins a new row."""
REST_SECONDS = 15.0
"""Seconds for which a model is not called. Shorter than a run waits before it asks again for a model that is
down, and than what five attempts at a step wait in all, so that no step is given up without a call."""


class Breaker:
    """The breaker of one model at one address. `clock` in seconds, monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._failed_at = float("-inf")
        self._rests_until = float("-inf")
        self._last: ModelDown | None = None

    @contextmanager
    def passage(self) -> Iterator[None]:
        """Enclose a call. Raises ModelDown when none is to be made; `retry_after` says for how long."""
        began = self._clock()
        self._admit(began)
        try:
            yield
        except ModelDown as error:
            self._record_failure(error, began)
            raise
        except ModelError:
            self._failures = 0
            raise
        else:
            self._failures = 0

    def _admit(self, now: float) -> None:
        if self._failures < FAILURES or self._last is None:
            return
        if now < self._rests_until:
            raise ModelDown(
                f"{self._last}; it was not asked again so soon", retry_after=self._rests_until - now
            )
        # this call probes for all; concurrent calls wait for its result, at most as long as it may last
        self._rests_until = now + REST_SECONDS

    def _record_failure(self, error: ModelDown, began: float) -> None:
        """Concurrent calls fail together: they count as one failure of the row."""
        if began > self._failed_at + IN_A_ROW_SECONDS and self._failures < FAILURES:
            self._failures = 0
        if began >= self._failed_at:
            self._failures += 1
        self._last = error
        self._failed_at = self._clock()
        self._rests_until = self._failed_at + REST_SECONDS


Turn = AbstractAsyncContextManager[None]


class Servers:
    """Each server is connected to, and asked for its facts, once per worker. Close with `aclose`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._clients: dict[str, AsyncOpenAI] = {}
        self._breakers: dict[tuple[str, str], Breaker] = {}
        self._turns: dict[str, tuple[Turn, Callable[[], Turn]]] = {}
        """Turns at each server: those of this process and those of all processes of the home."""
        self._facts: dict[tuple[str, str], asyncio.Task[ServerFacts]] = {}

    async def aclose(self) -> None:
        for task in self._facts.values():
            task.cancel()
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    def address(self, choice: ModelChoice) -> Address:
        return parse(address(self._settings, choice))

    async def facts(self, choice: ModelChoice) -> ServerFacts:
        """Return the server's facts about itself and the model; requested once per worker."""
        name = (self.address(choice).public_url, choice.model)
        if name not in self._facts:
            self._facts[name] = asyncio.create_task(facts_of(self._settings, choice))
        return await asyncio.shield(self._facts[name])

    @asynccontextmanager
    async def turn(self, where: Address, choice: ModelChoice) -> AsyncIterator[None]:
        """Enclose a call, which waits until the server has a slot for it.

        So many at once as are set, else as the server says; at a local one that does not say one, at
        a provider's any number.

        A server with one slot that gets four requests makes three wait while their time-outs run. Here a call
        that waits has not begun: its limit on silence starts when its turn comes, in the order the calls were
        made, so that the sections of a run share a server fairly. The time-out of the step itself, which
        `--max-time` sets, includes the wait.
        """
        name = where.public_url
        if name not in self._turns:
            count = self._settings.model_concurrency
            if count is None:
                slots = (await self.facts(choice)).slots
                count = slots if slots is not None else int(where.local)
            folder = turns_of(self._settings.home)
            limiter = asyncio.Semaphore(count) if count else nullcontext()
            home_turn = SharedTurns(folder, f"model {name}", count).turn if count and folder else nullcontext
            self._turns.setdefault(name, (limiter, home_turn))
        own_turn, shared_turn = self._turns[name]
        async with own_turn, shared_turn():
            yield

    def breaker(self, server: Address, choice: ModelChoice) -> Breaker:
        return self._breakers.setdefault((server.public_url, choice.model), Breaker())

    def sends_key(self, server: Address) -> bool:
        """Tell whether a key goes to this server."""
        return bool(key_for(self._settings, server.public_url) or server.authorization or server.query)

    def client(self, where: Address) -> "AsyncOpenAI":
        """Return the client of an address. Raises ModelRefused without the key that OpenAI needs."""
        from activities.models.transport import open_client

        if where.public_url not in self._clients:
            key = key_for(self._settings, where.public_url)
            if not key and where.public_url == OPENAI_URL:
                raise ModelRefused(
                    "there is no key for OpenAI's models: set OPENAI_API_KEY, or OPENAI_BASE_URL for a "
                    "server of your own",
                    category="auth",
                )
            silence = self._settings.model_silence * FIRST_WORD_FACTOR
            self._clients[where.public_url] = open_client(where, key, silence, offline=self._settings.offline)
        return self._clients[where.public_url]
