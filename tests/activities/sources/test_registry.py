"""Which sources there are, and which of them can be reached."""

import socket
import sys
from collections.abc import AsyncIterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from pydantic import ValidationError
from temporalio.testing import ActivityEnvironment

from activities import plugins
from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.contracts.evidence import Evidence, Filters, Query
from activities.contracts.prepare import PrepareInput
from activities.prepare_activity import PrepareActivities
from activities.settings import Settings
from activities.sources import registry
from activities.sources.base import Exchange, Source, exchanges_of, search
from activities.sources.declared import record, source
from activities.sources.http.client import Http, open_http
from activities.sources.registry import Sources, unreachable_sources
from tests.activities.sources.faults import client, pointed_at
from tests.replay import ReplayServer, Reply, recorded


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
    enabled = {
        option.info.name: option.info for option in registry.options(settings, sources) if option.enabled
    }
    assert "notes" in enabled
    assert all("local" in info.domains for info in enabled.values())


async def test_a_wrong_option_is_refused_with_its_name() -> None:
    with pytest.raises(Refused, match="option depth: 'deep' is not a whole number"):
        await anext(notes.exchanges(Query(text="q", filters=Filters(options={"depth": "deep"}))))


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (KeyError("a"), Malformed),
        (SystemExit(3), Malformed),
        (KeyboardInterrupt(), Malformed),
        (ConnectionError("down"), Unavailable),
        (httpx.ReadTimeout("slow"), Unavailable),
        (RateLimited("wait"), RateLimited),
    ],
)
async def test_whatever_a_function_raises_is_a_failure_of_its_source(
    raised: BaseException, kind: type[SourceError]
) -> None:
    @source(name="broken", covers="x")
    async def broken(query: str) -> list[Evidence]:
        raise raised

    with pytest.raises(kind):
        await anext(broken.exchanges(Query(text="q")))


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt()])
async def test_a_source_of_others_ends_no_process(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker ended, with every other run."""

    def factory(settings: Settings, http: Http) -> Source:
        raise raised

    class Ending:
        info = notes.info.model_copy(update={"name": "ending"})

        async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
            yield Exchange()
            raise raised

    plugged(monkeypatch, factory=factory, ending=Ending())
    settings, sources = built()
    (option,) = registry.options(settings, sources, ["factory"])
    assert option.fault == "not_loaded"
    with pytest.raises(RuntimeError):
        await search(sources["ending"], Query(text="q"))


def test_what_a_source_of_others_says_of_itself_is_printed_stored_and_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lone surrogate ended `determinator sources`, and each run whose worker has the source."""

    @source(name="notes", title="Our \ud800 notes", covers="Those of the \udfff laboratory.")
    async def odd(query: str) -> list[Evidence]:
        return []

    def broken(settings: Settings, http: Http) -> Source:
        raise ValueError("\ud800")

    plugged(monkeypatch, notes=odd, broken=broken)
    for option in registry.options(*built(), ["notes", "broken"]):
        assert option.model_dump_json().encode()
        assert f"{option.info.title} {option.info.covers} {option.reason}".encode()


async def test_hits_at_openfda_are_those_of_all_its_endpoints(server: ReplayServer) -> None:
    server.on("/drug/label.json", recorded("openfda/label_sildenafil.json"))
    server.on("/drug/drugsfda.json", recorded("openfda/drugsfda_sildenafil.json"))
    server.on("/drug/event.json", recorded("openfda/event_count_pembrolizumab.json"))
    async with client() as shared:
        sources = registry.Sources(pointed_at(server, "openfda"), shared)
        exchanges = [
            exchange async for exchange in exchanges_of(sources["openfda"], Query(text="sildenafil"))
        ]
    assert max(exchange.hits for exchange in exchanges) >= sum(len(e.records) for e in exchanges) == 5


async def test_a_record_that_a_function_cannot_make_is_told_in_plain_words() -> None:
    @source(name="broken", covers="x")
    async def broken(query: str) -> list[Evidence]:
        return [record(title=query, text="t", year="last")]  # type: ignore[arg-type]

    with pytest.raises(Malformed, match="broken failed: Evidence: year: 'last' is not a whole number"):
        await anext(broken.exchanges(Query(text="q")))


async def test_the_only_record_of_a_source_that_cannot_be_read_is_told_as_one() -> None:
    @source(name="broken", covers="x")
    async def broken(query: str) -> list[Evidence]:
        return [record(title=query, text="\ud800")]

    with pytest.raises(Malformed, match="broken sent 1 record and none that can be read"):
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
    options = {o.info.name: o for o in registry.options(settings, sources)}
    option = options["broken"]
    assert not option.enabled
    assert "no such database" in option.reason
    assert options["notes"].enabled
    assert sources["pubmed"].info.title == "PubMed"  # a built-in name cannot be replaced


def closed_port() -> int:
    """A port without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


async def test_a_host_that_listens_is_reached_and_one_that_does_not_is_named(server: ReplayServer) -> None:
    found = await unreachable_sources(
        {"here": server.url, "gone": f"http://127.0.0.1:{closed_port()}/api", "nowhere": "http://x.invalid"}
    )
    assert set(found) == {"gone", "nowhere"}
    assert "127.0.0.1" in found["gone"]
    assert "x.invalid" in found["nowhere"]


async def test_behind_a_proxy_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert await unreachable_sources({"gone": f"http://127.0.0.1:{closed_port()}"}) == {}


async def test_what_cannot_be_reached_is_closed_for_the_run_unless_it_was_asked_for_by_name(
    server: ReplayServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETERMINATOR_PUBMED_URL", server.url)
    monkeypatch.setenv("DETERMINATOR_EUROPEPMC_URL", f"http://127.0.0.1:{closed_port()}")
    settings = Settings(home=home)
    run = ActivityEnvironment().run
    async with open_http(settings) as http:
        prepare = PrepareActivities(settings, Sources(settings, http))
        free = await run(prepare.prepare, PrepareInput(profile="biomedical"))
        named = await run(prepare.prepare, PrepareInput(profile="biomedical", sources=("europepmc",)))
    enabled = {option.info.name: option.enabled for option in free.sources}
    assert enabled["pubmed"]
    assert enabled["library"]
    assert not enabled["europepmc"]
    assert next(o for o in free.sources if o.info.name == "europepmc").reason.startswith("cannot be reached")
    assert [o.enabled for o in named.sources] == [True]


def test_a_fact_that_is_no_text_is_refused_where_the_record_is_made() -> None:
    facts: Any = {"patients": 3}
    with pytest.raises(ValidationError, match="valid string"):
        record(title="T", text="x", facts=facts)
