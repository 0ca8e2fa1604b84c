"""Activities whose files a worker imports at their first call: those of parts that most runs do without."""

import importlib
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property

from temporalio import activity
from temporalio.common import RawValue


@dataclass(frozen=True)
class Late:
    """A class of activities, as `module:Class`, with the names of its activities and what opens it."""

    entry: str
    names: tuple[str, ...]
    arguments: tuple[object, ...]

    @cached_property
    def _owner(self) -> object:
        module, _, name = self.entry.partition(":")
        return getattr(importlib.import_module(module), name)(*self.arguments)

    def definitions(self) -> list[Callable[..., Awaitable[object]]]:
        """Return the activities as a worker registers them."""
        return [self._definition(name) for name in self.names]

    def _definition(self, name: str) -> Callable[..., Awaitable[object]]:
        @activity.defn(name=name)
        async def step(value: RawValue) -> object:
            method = getattr(self._owner, name)
            (parameter,) = inspect.signature(method).parameters.values()
            typed = activity.payload_converter().from_payload(value.payload, parameter.annotation)
            return await method(typed)

        return step
