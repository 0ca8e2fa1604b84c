"""What happens in a run under test: who answers what, what fails, and how long it takes."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.contracts.errors import (
    ModelDown,
    ModelRefused,
    SourceError,
    Unavailable,
    to_application_error,
)
from activities.contracts.evidence import (
    Allowance,
    Evidence,
    Identifiers,
    ModelChoice,
    Price,
    Provenance,
    SourceInfo,
    SourceOption,
    Usage,
)
from activities.contracts.profile import Criterion, Profile
from activities.contracts.publish import PublishInput
from activities.contracts.search import Hits, Preview, SearchTask
from activities.contracts.step import Role, StepContext
from activities.full_text_activity import ReadInFull
from activities.sources.base import Source

PROFILE = Profile(
    name="biomedical",
    description="A question of medicine.",
    criteria=(Criterion(name="relevance", description="on the question", minimum=6),),
    confidence_threshold=0.8,
    sources=("alpha", "beta"),
)


MODEL = ModelChoice(backend="openai", model="m1")


PRICE = Price(input_per_million=1.0, output_per_million=4.0)


SOURCES = ("alpha", "beta", "gamma")


COST = Usage(calls=1, input_tokens=800, output_tokens=200, cost_microusd=1_600)
"""What a call costs unless a test says otherwise."""


def sentence(source: str, query: str) -> str:
    """The one quotable sentence of the document a search finds."""
    return f"In this cohort metformin, aspirin and sirolimus ({query} in {source}) lowered mortality."


def document(source: str, query: str, number: int = 1) -> Evidence:
    """What a search finds; a work of its own for each source, query and number."""
    name = f"{source}-{query}-{number}".replace(" ", "-")
    return Evidence(
        evidence_id=f"doi:10.1000/{name}",
        source=source,
        title=f"{name} in {source}",
        text=sentence(source, query),
        year=2020,
        identifiers=Identifiers(doi=f"10.1000/{name}"),
        evidence_type="observational",
        standing="none",
        provenance=(Provenance(source=source, query=query),),
    )


def down(message: str = "the model failed (503)") -> ApplicationError:
    """A model that is not there, as its client says it. Retried by the step's policy."""
    return to_application_error(ModelDown(message, usage=Usage(calls=1)))


def refused(category: str = "auth") -> ApplicationError:
    """A model that will never answer."""
    return to_application_error(ModelRefused("the key was refused", category=category))


def outage(error: type[SourceError] = Unavailable) -> ApplicationError:
    """A source that gives no answer; final at once, so that a test need not wait for retries."""
    plain = to_application_error(error("the source is down"))
    return ApplicationError(plain.message, *plain.details, type=plain.type, non_retryable=True)


def failing(error: Exception, times: float = math.inf) -> Callable[[Any], Any]:
    """What raises an error whenever it is called, or the first so many times."""
    calls = count()

    def fail(_: Any) -> None:
        if next(calls) < times:
            raise error

    return fail


def option(name: str, enabled: bool = True, reason: str = "", **info: Any) -> SourceOption:
    """A source of a worker."""
    known = {"name": name, "title": name, "covers": "papers", **info}
    return SourceOption(info=SourceInfo.model_validate(known), enabled=enabled, reason=reason)


def takes(seconds: float) -> None:
    """Let virtual time pass in an activity: the first attempt asks to be tried again after so long."""
    if activity.info().attempt == 1:
        raise ApplicationError("not yet", next_retry_delay=timedelta(seconds=seconds))


def meeting(count: int) -> Callable[[Any], Awaitable[None]]:
    """What holds so many steps until all of them are under way: none of them ends before another begins."""
    barrier = asyncio.Barrier(count)

    async def meet(_: Any) -> None:
        await asyncio.wait_for(barrier.wait(), 20)

    return meet


@dataclass
class Call:
    """A step of a role that was executed."""

    role: Role
    step: StepContext
    workflow_id: str
    usage: Usage
    paid: bool
    """Whether a model was asked, and not code or the extractive back end."""
    began: float
    ended: float
    """Seconds of the real clock."""


@dataclass
class Script:
    """What happens in a run. A function gets the step's input and returns its answer, or raises."""

    mode: str = "iterative"
    profile: Profile = PROFILE
    models: dict[str, ModelChoice] = field(default_factory=lambda: {"default": MODEL})
    prices: dict[str, Price | None] = field(default_factory=lambda: {MODEL.model: PRICE})
    sources: Sequence[SourceOption] = (
        *(option(name, title=name.title()) for name in SOURCES[:2]),
        option("gamma", enabled=False, reason="set GAMMA_KEY", title="Gamma"),
    )
    contexts: dict[str, int] = field(default_factory=dict)
    """Model -> tokens that it reads at once."""
    sections: int = 3
    sufficient_at: int | None = 1
    """The judge is satisfied in this iteration; None: never."""
    usage: Callable[[Role, StepContext], Usage] = lambda _role, _step: COST
    before: dict[Role, Callable[[Any], None]] = field(default_factory=dict)
    """Called before a paid step; may raise."""
    holds: dict[Role, Callable[[Any], Awaitable[object]]] = field(default_factory=dict)
    """Awaited before a paid step."""
    always: dict[Role, Callable[[Any], None]] = field(default_factory=dict)
    """Called before any step, paid or not; may raise."""
    answers: dict[Role, Callable[[Any], Any]] = field(default_factory=dict)
    model_seconds: float = 0.0
    """Duration of a paid step, in real time."""
    search_seconds: float = 0.0
    hangs: Role | None = None
    """A role whose paid steps never answer."""
    listed: dict[str, tuple[tuple[Preview, ...], tuple[str, ...]]] = field(default_factory=dict)
    """Source -> what each of its steps lists and does not read, and the names of what it tried."""
    search: Callable[[SearchTask], Hits | Sequence[Evidence]] | None = None
    documents: int = 0
    """Documents of the folder that each search names."""
    undecided: bool = False
    """Whether a request without a profile is prepared for another one first, as it really is."""
    program: str = ""
    """What a paid analyst writes."""
    slow_search: Callable[[SearchTask], Awaitable[Sequence[Evidence]]] | None = None
    """Like `search`, for one that waits."""
    publish: Callable[[PublishInput], None] | None = None
    pubmed_queue: str | None = None
    """Where PubMed may be asked about what is cited."""
    unpaywall: bool = False
    """Whether works may be read in full."""
    before_reading: Callable[[ReadInFull], None] | None = None
    """Called before works are read in full; may raise."""
    registers: dict[str, Source] = field(default_factory=dict)
    """What candidates are looked up in, by name."""


def held(usage: Usage, allowance: Allowance) -> Usage:
    """A usage within what the call was allowed, as the model client holds it."""
    return usage.model_copy(
        update={
            "input_tokens": min(usage.input_tokens, allowance.input_tokens),
            "output_tokens": min(usage.output_tokens, allowance.output_tokens),
        }
    )
