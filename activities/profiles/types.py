"""What is specific to a domain, as the steps of a run are given it."""

from pydantic import Field

from activities.types import Frozen


class Criterion(Frozen):
    """One thing the judge scores from 0 to 10."""

    name: str
    description: str
    minimum: int = Field(default=0, ge=0, le=10)
    """The score at which this criterion is met."""


class Aspect(Frozen):
    """A section that a report usually has."""

    title: str
    search: str
    """Words that are added to the question to search for it."""


class Profile(Frozen):
    """What is specific to a domain: the judge's criteria, preferred sources and wording."""

    name: str
    description: str
    criteria: tuple[Criterion, ...]
    confidence_threshold: float = Field(default=0.8, ge=0, le=1)
    columns: tuple[str, ...] = ()
    """Columns of the reader's table of works, where the request names none."""
    candidates: bool = False
    """Whether the report lists candidates and the candidate gate applies."""
    sources: tuple[str, ...] = ()
    """Sources to prefer, best first; those that are not enabled are passed over."""
    look_up: tuple[str, ...] = ()
    """Sources that candidates are looked up in when the run may use the network, beside those it searches."""
    guidance: str = ""
    """Sentences added to the prompts of every role."""
    aspects: tuple[Aspect, ...] = ()
    """What a report on such a question usually looks at, in order."""
