"""The public interface as a type checker sees it. mypy reads this file; nothing runs it."""

from collections.abc import AsyncIterator, Mapping
from typing import assert_type

from determinator import (
    BlockingDeterminator,
    BlockingReview,
    BlockingRun,
    Call,
    CallOutcome,
    Determinator,
    Evidence,
    Exchange,
    Format,
    Http,
    Identifiers,
    Profile,
    Query,
    Report,
    Run,
    RunReport,
    RunStatus,
    Settings,
    Source,
    SourceInfo,
    Verification,
    record,
    source,
)


async def asks(question: str) -> RunReport:
    async with Determinator(offline=True) as client:
        run = await client.ask(question, mode="deep", library="papers", approve=["plan"], max_cost=1.0)
        assert_type(run, Run)
        async for event in run.events():
            assert_type(event.message, str)
        await run.steer(text="leave out paediatric studies", by="Ada")
        assert_type(await run.status(), RunStatus)
        assert_type(await client.verify(run.id), Verification)
        return await run.report()


async def asks_wrongly() -> None:
    """What a strict check refuses: each of these comments would be one too many without an error."""
    async with Determinator() as client:
        run = await client.ask("Does it help?", max_cost="much")  # type: ignore[arg-type]
        run.number  # type: ignore[attr-defined]  # noqa: B018


def asks_without_a_loop(question: str) -> RunReport:
    with Determinator() as client:
        assert_type(client, BlockingDeterminator)
        run = client.ask(question)
        assert_type(run, BlockingRun)
        review = client.start_review("protocol.toml")
        assert_type(review, BlockingReview)
        assert_type(review.approve(by="Ada"), str)
        return run.report()


@source(name="notes", covers="The notebook of our laboratory.", domains=("local",))
async def search_notes(query: str, limit: int = 10) -> list[Evidence]:
    return [record(title=query, text="", identifiers=Identifiers(doi="10.1/x"))][:limit]


class Example:
    """A source as a class."""

    info = SourceInfo(name="example", title="Example", covers="What it has.", domains=("general",))

    def __init__(self, settings: Settings, http: Http) -> None:
        self.http = http

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        yield Exchange(records=(), hits=0, sent=query.text)


def build(settings: Settings, http: Http) -> Source:
    return Example(settings, http)


class Hook:
    async def before(self, call: Call) -> None: ...

    async def after(self, call: Call, outcome: CallOutcome) -> None:
        assert_type(outcome.usage.cost_microusd, int | None)


def titles(report: Report, _evidence: Mapping[str, Evidence]) -> bytes:
    return report.title.encode()


TITLES = Format("titles", "titles.txt", "text/plain", titles, "the title alone")


def criteria(profile: Profile) -> tuple[str, ...]:
    return tuple(criterion.name for criterion in profile.criteria)
