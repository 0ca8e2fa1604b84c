"""The model servers that a worker talks to: their addresses, keys, connections, facts and turns."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING

from activities.contracts.errors import ModelRefused
from activities.contracts.evidence import ModelChoice
from activities.models.address import Address, parse
from activities.models.breaker import Breaker
from activities.models.prices import OPENAI_URL, address
from activities.models.server_facts import ServerFacts
from activities.models.sizing import facts_of, key_for
from activities.models.stream import FIRST_WORD_FACTOR
from activities.settings import Settings
from activities.shared_turns import SharedTurns, turns_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI


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
        name = (self.address(choice).shown, choice.model)
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
        name = where.shown
        if name not in self._turns:
            count = self._settings.model_concurrency
            if count is None:
                slots = (await self.facts(choice)).slots
                count = slots if slots is not None else int(where.local)
            folder = turns_of(self._settings.home)
            own = asyncio.Semaphore(count) if count else nullcontext()
            shared = SharedTurns(folder, f"model {name}", count).one if count and folder else nullcontext
            self._turns.setdefault(name, (own, shared))
        here, anywhere = self._turns[name]
        async with here, anywhere():
            yield

    def breaker(self, where: Address, choice: ModelChoice) -> Breaker:
        return self._breakers.setdefault((where.shown, choice.model), Breaker())

    def secrets(self, where: Address) -> tuple[str, ...]:
        """Return what no message about this server may contain."""
        key = key_for(self._settings, where.shown)
        return (*([key] if key else []), *where.secrets)

    def client(self, where: Address) -> "AsyncOpenAI":
        """Return the client of an address. Raises ModelRefused without the key that OpenAI needs."""
        from activities.models.transport import open_client

        if where.shown not in self._clients:
            key = key_for(self._settings, where.shown)
            if not key and where.shown == OPENAI_URL:
                raise ModelRefused(
                    "there is no key for OpenAI's models: set OPENAI_API_KEY, or OPENAI_BASE_URL for a "
                    "server of your own",
                    category="auth",
                )
            silence = self._settings.model_silence * FIRST_WORD_FACTOR
            self._clients[where.shown] = open_client(where, key, silence, offline=self._settings.offline)
        return self._clients[where.shown]
