"""The model servers that a worker talks to: their addresses, keys, connections, facts and turns."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING

from activities.contracts.errors import ModelRefused
from activities.contracts.evidence import ModelChoice
from activities.models.address import Address, parse
from activities.models.breaker import Breaker
from activities.models.prices import OPENAI_URL, address
from activities.models.server_facts import ServerFacts, ask_server
from activities.models.sizing import key_for
from activities.models.stream import FIRST_WORD_FACTOR
from activities.settings import Settings
from activities.shared_turns import SharedTurns, turns_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class Slots:
    """The turns at one server, which gets as many calls at once as it serves. `count` 0: no limit.

    A server with one slot that gets four requests makes three wait while their time-outs run. Here a call
    that waits has not begun: its limit on silence starts when its turn comes, in the order the calls were
    made, so that the sections of a run share a server fairly. The time-out of the step itself, which
    `--max-time` sets, includes the wait.
    """

    def __init__(self, count: int, shared: SharedTurns | None = None) -> None:
        """`shared`: the same turns for all processes of a home."""
        self.count = count
        self._free = asyncio.Semaphore(count) if count else None
        self._shared = shared

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Around a call: waits until the server has a slot for it."""
        if self._free is None:
            yield
            return
        async with self._free, self._shared.one() if self._shared else nullcontext():
            yield


class Servers:
    """Each server is connected to, and asked for its facts, once per worker. Close with `aclose`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._clients: dict[str, AsyncOpenAI] = {}
        self._breakers: dict[tuple[str, str], Breaker] = {}
        self._slots: dict[str, Slots] = {}
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
        """The server's facts about itself and the model; requested once per worker."""
        where = self.address(choice)
        name = (where.shown, choice.model)
        if name not in self._facts:
            self._facts[name] = asyncio.create_task(
                ask_server(where, choice.model, key_for(self._settings, where.shown))
            )
        return await asyncio.shield(self._facts[name])

    async def slots(self, where: Address, choice: ModelChoice) -> Slots:
        """The turns at a server: as set, as the server says, one for a local server that does not say, and no
        limit for a provider's."""
        name = where.shown
        if name not in self._slots:
            count = self._settings.model_concurrency
            if count is None:
                slots = (await self.facts(choice)).slots
                count = slots if slots is not None else int(where.local)
            folder = turns_of(self._settings.home) if count else None
            shared = SharedTurns(folder, f"model {name}", count) if folder else None
            self._slots.setdefault(name, Slots(count, shared))
        return self._slots[name]

    def breaker(self, where: Address, choice: ModelChoice) -> Breaker:
        return self._breakers.setdefault((where.shown, choice.model), Breaker())

    def secrets(self, where: Address) -> tuple[str, ...]:
        """What no message about this server may contain."""
        key = key_for(self._settings, where.shown)
        return (*([key] if key else []), *where.secrets)

    def client(self, where: Address) -> "AsyncOpenAI":
        """The client of an address. Raises ModelRefused without the key that OpenAI needs."""
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
            self._clients[where.shown] = open_client(where, key, silence)
        return self._clients[where.shown]
