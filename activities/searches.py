"""Inputs and outputs of searching: one exchange with a source, or several at once."""

from activities.types import EvidenceRef, Frozen, Query, SearchStatus


class SearchTask(Frozen):
    """One exchange with one source. `cursor` is what the exchange before it returned."""

    run_id: str
    source: str
    query: Query
    cursor: dict[str, str] | None = None
    library: str | None = None
    library_signature: str = ""
    """See `activities.permits`."""
    as_given: bool = False
    """The query is narrowed already: what the worker's configuration sets for the source is not added."""
    max_age: float | None = None
    """Seconds that an answer from the cache may be old; None: as old as the cache keeps it."""
    seconds: float | None = None
    """How long the search may still wait for answers of its source; waiting for a turn does not count. None:
    no limit."""


class Hits(Frozen):
    """The answer of one exchange. With `cursor` set the search goes on with another exchange."""

    source: str
    query: str
    """As it was sent."""
    status: SearchStatus
    hits: int = 0
    kept: tuple[EvidenceRef, ...] = ()
    set_aside: int = 0
    detail: str = ""
    attempts: int = 1
    seconds: float = 0.0
    waited: float = 0.0
    """Of these, the seconds until the source answered."""
    cursor: dict[str, str] | None = None


class SearchTasks(Frozen):
    """Several exchanges with one source that costs neither money nor a rate: one step for all of them."""

    run_id: str
    tasks: tuple[SearchTask, ...]


class HitsOfAll(Frozen):
    """The answers of several exchanges, in the order of their tasks."""

    answers: tuple[Hits, ...]
