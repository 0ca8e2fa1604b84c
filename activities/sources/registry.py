"""Builds the sources that `activities.sources.names` lists.

A source of the list is imported and built when it is first used. Sources outside this package are found
through the entry point group `determinator.sources`; theirs may be a factory of the same shape, a `Source`
object, or an async function declared with `activities.sources.declared.source`.

A source that lacks something says so in an optional attribute `missing: str`: one sentence that ends in how
to fix it, empty when it is ready. One that needs the network says where it asks in an optional attribute
`address: str`, so that a run can leave out what cannot be reached (`activities.sources.registry`).
"""

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import EntryPoint
from threading import Lock
from typing import Literal, cast
from urllib.parse import urlsplit
from urllib.request import getproxies

from activities.configuration.mcp import McpSource
from activities.contracts.errors import Refused
from activities.contracts.evidence import Query, SourceInfo, SourceOption
from activities.logs import log
from activities.plugins import no_exit, points
from activities.settings import Settings
from activities.sources.base import Exchange, Source
from activities.sources.http.client import Http
from activities.sources.names import BUILT_IN, SOURCES, info_of

Factory = Callable[[Settings, Http], Source]


class ClosedSource:
    """A source that may not be used: it stays in the list, states the reason, and refuses every search."""

    def __init__(self, info: SourceInfo, missing: str, fault: Literal["", "not_loaded"] = "") -> None:
        self.info = info
        self.missing = missing
        self.fault = fault

    def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        raise Refused(f"{self.info.name} is not enabled: {self.missing}")


class Sources(Mapping[str, Source]):
    """Every source by its name, those that cannot be used included (they refuse; see `options`).

    An entry point cannot replace a built-in name. A source of a user's own that cannot be loaded does not
    stop the others.
    """

    def __init__(self, settings: Settings, http: Http) -> None:
        self._settings = settings
        self._http = http
        self._built: dict[str, Source] = {}
        self._building = Lock()
        self._factories: dict[str, Callable[[], Source]] = {
            name: partial(self._from_list, name, path) for name, path in SOURCES
        }
        extra_factories: list[tuple[str, str, Callable[[], Source]]] = [
            (name, f"[mcp.{name}]", partial(_from_mcp, name, row, offline=settings.offline))
            for name, row in settings.mcp.items()
        ]
        extra_factories += [
            (point.name, point.value, partial(_from_entry_point, point, settings, http))
            for point in points("determinator.sources")
        ]
        for name, place, build in extra_factories:
            if name in self._factories:
                log.warning("source_name_taken", source=name, entry_point=place)
            else:
                self._factories[name] = build

    def __getitem__(self, name: str) -> Source:
        with self._building:  # threads ask too, and a source has one rate limiter
            if name not in self._built:
                self._built[name] = _admit(self._settings, self._factories[name]())
            return self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in self._factories

    def __iter__(self) -> Iterator[str]:
        return iter(self._factories)

    def __len__(self) -> int:
        return len(self._factories)

    def _from_list(self, name: str, path: str) -> Source:
        module, _, attribute = path.partition(":")
        factory = cast(Factory, getattr(importlib.import_module(module), attribute))
        source = factory(self._settings, self._http)
        if (rate := self._settings.of_source(name).rate) is not None and not self._http.rate_limiter(name):
            self._http.pace(name, rate)
        return source


def declared_info(sources: Mapping[str, Source], name: str) -> SourceInfo:
    """Return what people and roles are told of a source; one of the list is not built for it."""
    is_built_in = isinstance(sources, Sources) and name in BUILT_IN
    return info_of(name) if is_built_in else sources[name].info


def options(
    settings: Settings, sources: Mapping[str, Source], names: Collection[str] = ()
) -> tuple[SourceOption, ...]:
    """Each source, or each of those named, with whether it is enabled; if not, why and how to enable it."""
    rows = []
    for source in (sources[name] for name in sources if not names or name in names):
        reason = why_closed(settings, source)
        fault = source.fault if isinstance(source, ClosedSource) else ""
        rows.append(SourceOption(info=source.info, enabled=not reason, reason=reason, fault=fault))
    return tuple(rows)


def why_closed(settings: Settings, source: Source) -> str:
    """Return a sentence that says why a source may not be used; empty when it may."""
    info = source.info
    if info.name in settings.disabled_sources:
        return "disabled; remove it from disabled_sources (DETERMINATOR_DISABLED_SOURCES) to use it"
    if not settings.of_source(info.name).enabled:
        return f"disabled by [sources.{info.name}] enabled = false; set it to true to use it"
    if settings.offline and "local" not in info.domains:
        return "needs the network and offline mode is on; unset offline (DETERMINATOR_OFFLINE) to use it"
    return str(getattr(source, "missing", "") or "")


def _admit(settings: Settings, source: Source) -> Source:
    if isinstance(source, ClosedSource):
        return source
    reason = why_closed(settings, source)
    return ClosedSource(source.info, reason) if reason else source


def _from_mcp(name: str, row: McpSource, *, offline: bool) -> Source:
    from activities.sources.mcp import McpToolSource

    return McpToolSource(name, row, offline=offline)


def _from_entry_point(point: EntryPoint, settings: Settings, http: Http) -> Source:
    """Return the source an entry point stands for; a closed one when it cannot be loaded."""
    try:
        with no_exit():
            target: object = point.load()
            source = cast(Factory, target)(settings, http) if callable(target) else target
        if not isinstance(source, Source):
            raise TypeError(f"{point.value} is neither a source nor a factory of one")  # noqa: TRY301
        if source.info.name != point.name:
            raise ValueError(f"{point.value} calls itself {source.info.name}, not {point.name}")  # noqa: TRY301
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything; it must not stop the worker
        log.warning("source_not_loaded", source=point.name, entry_point=point.value, error=str(error))
        info = SourceInfo(name=point.name, title=point.name, covers="A source of your own.")
        return ClosedSource(
            info, f"cannot be loaded ({type(error).__name__}: {error}); fix {point.value}", "not_loaded"
        )
    return source


PATIENCE = 3.0
"""Time in seconds for a host to accept a connection."""


async def unreachable_sources(addresses: Mapping[str, str]) -> dict[str, str]:
    """Return why each source that cannot be reached cannot; empty behind a proxy.

    A direct connection says nothing there.
    """
    if getproxies():
        return {}
    hosts = {name: _host(address) for name, address in addresses.items()}
    unique_hosts = list(dict.fromkeys(hosts.values()))
    answers = dict(
        zip(unique_hosts, await asyncio.gather(*(_accepts(*host) for host in unique_hosts)), strict=True)
    )
    return {
        name: f"cannot be reached from here ({host[0]} does not accept a connection)"
        for name, host in hosts.items()
        if not answers[host]
    }


def _host(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    return parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)


async def _accepts(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
