"""Inputs and outputs of searching: the searches of a round that ask one source, in one step."""

from collections.abc import Iterable

from activities.contracts.evidence import Compact, EvidenceRef, Frozen, Query, SearchEnd


class SearchTask(Frozen):
    run_id: str
    source: str
    query: Query
    library: str | None = None
    library_signature: str = ""
    """See `activities.permits`."""
    whole: int = 0
    """Documents up to which a folder is returned whole, where one of them matches."""
    max_age: float | None = None
    """Seconds that an answer from the cache may be old; None: as old as the cache keeps it."""
    seconds: float | None = None
    """How long the search may wait for answers of its source; waiting for a turn does not count. None: no
    limit."""


class Preview(Frozen):
    """A result of a search whose text is not read yet."""

    name: str
    """What its source reads it by: a normalised address, a number of PubMed Central."""
    address: str = ""
    title: str = ""
    snippet: str = ""
    date: str = ""
    queries: tuple[str, ...] = ()
    """The searches that found it, as they were asked for."""


class Hits(SearchEnd):
    """What one search found."""

    kept: tuple[EvidenceRef, ...] = ()
    waited: float = 0.0
    """The part of `seconds` until the source answered."""


class Choice(Frozen):
    """What a source that lists before it reads goes by when it chooses."""

    question: str
    most: int
    """Results that are read."""
    listed: tuple[Preview, ...] = ()
    """What earlier rounds found and did not read."""
    tried: tuple[str, ...] = ()
    """Names of what was read, or could not be."""


class SearchTasks(Compact):
    run_id: str
    tasks: tuple[SearchTask, ...]
    choice: Choice | None = None
    """None: a source that lists before it reads reads all that each search asks for."""


class HitsOfAll(Compact):
    """How the searches of a step ended, in the order of its tasks."""

    answers: tuple[Hits, ...]
    listed: tuple[Preview, ...] = ()
    """What was found and not read, best first; the next round may read it."""
    tried: tuple[str, ...] = ()
    """Names of what was read, or could not be, in this step."""


def unite(results: Iterable[Preview]) -> dict[str, Preview]:
    by_name: dict[str, Preview] = {}
    for result in results:
        previous = by_name.get(result.name)
        queries = tuple(dict.fromkeys((*(previous.queries if previous else ()), *result.queries)))
        by_name[result.name] = (previous or result).replace(queries=queries)
    return by_name
