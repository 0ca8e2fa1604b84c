import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import httpx
import pytest

from activities import plugins
from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.contracts.evidence import Evidence, Filters, Query
from activities.settings import Settings
from activities.sources import registry
from activities.sources.base import Source, search
from activities.sources.declared import record, source
from activities.sources.http.client import Http
from tests.activities.sources.faults import client, pointed_at
from tests.replay import ReplayServer, Reply


def http() -> Http:
    return Http(httpx.AsyncClient())


@source(name="notes", covers="Our notes.", domains=("local",))
async def notes(query: str, limit: int = 10, folder: str = "all", depth: int = 1) -> list[Evidence]:
    found = [
        record(title=f"{query} {n}", text=f"{folder}/{depth}", url="https://e.org/a") for n in range(limit)
    ]
    return [*found, record(title="nothing to quote", text=" ")]


def plugged(monkeypatch: pytest.MonkeyPatch, **things: object) -> None:
    """Entry points of these names, as an installed distribution would have them."""
    module = ModuleType("plugged_sources")
    points = []
    for name, thing in things.items():
        setattr(module, name, thing)
        points.append(EntryPoint(name, f"plugged_sources:{name}", "determinator.sources"))
    monkeypatch.setitem(sys.modules, "plugged_sources", module)
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)


def built(**values: object) -> tuple[Settings, registry.Sources]:
    settings = Settings.model_validate(values)
    return settings, registry.Sources(settings, http())


async def test_a_disabled_source_says_how_to_enable_it_and_refuses() -> None:
    settings, sources = built(disabled_sources=["pubmed"])
    option = {o.info.name: o for o in registry.options(settings, sources)}["pubmed"]
    assert not option.enabled
    assert "disabled_sources" in option.reason
    assert "pubmed" not in registry.enabled(settings, sources)
    with pytest.raises(Refused, match="disabled"):
        await search(sources["pubmed"], Query(text="x"))


def test_a_source_that_is_not_asked_for_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "activities.sources.neo4j"
    monkeypatch.delitem(sys.modules, module, raising=False)
    settings, sources = built()
    assert "neo4j" in sources
    assert registry.declared_info(sources, "neo4j").role == "search"
    (option,) = registry.options(settings, sources, ["library"])
    assert (option.info.name, module in sys.modules) == ("library", False)
    assert sources["neo4j"].info.name == "neo4j"
    assert module in sys.modules


def test_offline_leaves_only_what_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    plugged(monkeypatch, notes=notes)
    settings, sources = built(offline=True)
    enabled = registry.enabled(settings, sources)
    assert "notes" in enabled
    assert all("local" in found_source.info.domains for found_source in enabled.values())


async def test_a_wrong_option_is_refused_with_its_name() -> None:
    with pytest.raises(Refused, match="depth"):
        await anext(notes.exchanges(Query(text="q", filters=Filters(options={"depth": "deep"}))))


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (KeyError("a"), Malformed),
        (ConnectionError("down"), Unavailable),
        (httpx.ReadTimeout("slow"), Unavailable),
        (RateLimited("wait"), RateLimited),
    ],
)
async def test_whatever_a_function_raises_is_a_failure_of_its_source(
    raised: Exception, kind: type[SourceError]
) -> None:
    @source(name="broken", covers="x")
    async def broken(query: str) -> list[Evidence]:
        raise raised

    with pytest.raises(kind):
        await anext(broken.exchanges(Query(text="q")))


async def test_a_function_may_ask_with_the_shared_connections(
    server: ReplayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    @source(name="remote", covers="x", rate_per_second=5)
    async def remote(query: str, http: Http, settings: Settings) -> list[Evidence]:
        answer = await http.get("remote", settings.source_url("remote", "") + "/", {"q": query})
        return [record(title=query, text=answer.text)]

    server.on("/", Reply(200, "words"))
    plugged(monkeypatch, remote=remote)
    async with client() as shared:
        sources = registry.Sources(pointed_at(server, "remote"), shared)
        answer = await search(sources["remote"], Query(text="Q"))
    assert answer.records[0].text == "words"


def test_what_cannot_be_a_source_is_refused_when_declared() -> None:
    declare = source(name="bad", covers="x")

    async def no_query(limit: int) -> list[Evidence]:
        return []

    async def anything(query: str, **more: str) -> list[Evidence]:
        return []

    def not_async(query: str) -> list[Evidence]:
        return []

    for function in (no_query, anything, not_async):
        with pytest.raises(TypeError):
            declare(function)  # type: ignore[arg-type]


def test_a_broken_plug_in_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(settings: Settings, http: Http) -> Source:
        raise RuntimeError("no such database")

    plugged(monkeypatch, broken=broken, notes=notes, pubmed=notes)
    settings, sources = built()
    option = {o.info.name: o for o in registry.options(settings, sources)}["broken"]
    assert not option.enabled
    assert "no such database" in option.reason
    assert "notes" in registry.enabled(settings, sources)
    assert sources["pubmed"].info.title == "PubMed"  # a built-in name cannot be replaced
