"""A user's own source from a plain async function; what it needs is read from its signature.

    @source(name="notes", covers="The notes of our laboratory.")
    async def notes(query: str, limit: int = 10) -> list[Evidence]:
        return [record(title="...", text="...", url="https://...")]

The function must accept `query`; it may accept `limit`, `year_from`, `year_to`, `publication_types`,
`filters`, `http` (the shared `Http`) and `settings`. Every other parameter is an option, whose value comes
from the search's `filters.options` and is validated by its annotation. Register the function as an entry
point of the group `determinator.sources`, under its name.
"""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping

import httpx
from pydantic import ConfigDict, ValidationError, validate_call

from activities.configuration.wording import faults_of
from activities.contracts.errors import DeterminatorError, Malformed, Refused, Unavailable
from activities.contracts.evidence import Evidence, EvidenceType, Identifiers, Query, SourceInfo
from activities.contracts.identifiers import evidence_id, normal_url
from activities.plugins import no_exit
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.http.failures import failure
from activities.sources.records import read_records

Search = Callable[..., Awaitable[Iterable[Evidence]]]


def record(
    *,
    title: str,
    text: str,
    url: str | None = None,
    identifiers: Identifiers | None = None,
    authors: Iterable[str] = (),
    year: int | None = None,
    evidence_type: EvidenceType = "document",
    full_text: bool = False,
    facts: Mapping[str, str] | None = None,
) -> Evidence:
    """Return a record with the fields a search knows; the source fills in its id and provenance."""
    return Evidence(
        evidence_id="",
        source="",
        title=title,
        text=text,
        url=url,
        identifiers=identifiers or Identifiers(url=normal_url(url)),
        authors=tuple(authors),
        year=year,
        evidence_type=evidence_type,
        full_text=full_text,
        facts=dict(facts or {}),
    )


class DeclaredSource:
    """A function as a source. Calling it makes the registry's factory: `declared(settings, http)`."""

    def __init__(self, info: SourceInfo, function: Search, **bound: object) -> None:
        self.info = info
        self._function = function
        self._parameters = _parameters(function)
        self._call = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(function)
        self._bound = bound

    def __call__(self, settings: Settings, http: Http) -> "DeclaredSource":
        """Bind the parameters the function may declare."""
        if self.info.rate_per_second:
            http.pace(self.info.name, self.info.rate_per_second)
        return DeclaredSource(self.info, self._function, settings=settings, http=http)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        """Call the function once. Raises SourceError, whatever the function raises."""
        name, filters = self.info.name, query.filters
        values: dict[str, object] = {
            **filters.options,
            "query": query.text,
            "limit": query.limit,
            "year_from": filters.year_from,
            "year_to": filters.year_to,
            "publication_types": filters.publication_types,
            "filters": filters,
            **self._bound,
        }
        try:
            arguments = {key: values[key] for key in self._parameters if key in values}
            with no_exit():
                records = list(await self._call(**arguments))
        except DeterminatorError:
            raise
        except ValidationError as error:
            if error.title != self._function.__name__:  # of something the function itself validates
                raise Malformed(f"{name} failed: {error.title}: {faults_of(error, 'it')}") from error
            raise Refused(f"{name}: option {faults_of(error, 'of the source')}") from error
        except httpx.HTTPStatusError as error:
            raise failure(error.response, name) from error
        except (httpx.HTTPError, OSError) as error:
            raise Unavailable(f"{name} cannot be reached: {error or type(error).__name__}") from error
        except Exception as error:
            raise Malformed(f"{name} failed: {type(error).__name__}: {error}") from error
        yield read_records(name, query, records, self._complete, hits=len(records), sent=query.text)

    def _complete(self, record: Evidence) -> Evidence:
        """Fill in the id and the source where the function left them out."""
        return record.replace(
            source=record.source or self.info.name,
            evidence_id=record.evidence_id or evidence_id(record.identifiers, record.title + record.text),
        )


def source(
    *,
    name: str,
    covers: str,
    title: str = "",
    domains: tuple[str, ...] = ("general",),
    rate_per_second: float | None = None,
    how_to_enable: str = "",
) -> Callable[[Search], DeclaredSource]:
    """Declare an async function as a source. `domains=("local",)` marks one that needs no network.

    Raises TypeError when the function cannot be one.
    """
    info = SourceInfo(
        name=name,
        title=title or name,
        covers=covers,
        domains=domains,
        rate_per_second=rate_per_second,
        rate=f"{rate_per_second:g} requests a second" if rate_per_second else "unlimited",
        how_to_enable=how_to_enable or "Enabled; installed on this machine.",
    )

    def declare(function: Search) -> DeclaredSource:
        return DeclaredSource(info, function)

    return declare


def _parameters(function: Search) -> Mapping[str, inspect.Parameter]:
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"{function} is not an async function")
    parameters = inspect.signature(function).parameters
    if "query" not in parameters:
        raise TypeError(f"{function.__name__} accepts no `query`")
    for parameter in parameters.values():
        if parameter.kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.POSITIONAL_ONLY,
        ):
            raise TypeError(f"{function.__name__}: `{parameter.name}` cannot be passed by name")
    return parameters
