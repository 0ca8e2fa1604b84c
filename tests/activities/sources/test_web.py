"""Web search: engines give candidates, pages give evidence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from activities.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.settings import Settings
from activities.sources import brave, duckduckgo, searxng, serper, tavily
from activities.sources.base import Source, search
from activities.sources.http.client import Http, open_http
from activities.sources.http.pages import SafePages
from activities.sources.registry import build_sources, options
from activities.types import Filters, Query
from tests.activities.sources.faults import FAULTS, JSON, PAGE, check_retry, client, pointed_at, settings
from tests.replay import ReplayServer, Reply, recorded

LOOPBACK = ["127.0.0.0/8"]
KEYS = {"brave_api_key": "BRAVE-SECRET", "tavily_api_key": "TAVILY-SECRET", "serper_api_key": "SERPER-SECRET"}
SENTENCE = "Coffee drunk six hours before bedtime shortened sleep by more than one hour in this trial."
ARTICLE = f"""<html><head><title>Caffeine at night</title>
<meta name="citation_doi" content="10.5664/jcsm.3170"><meta name="citation_author" content="Drake, C">
<meta name="citation_publication_date" content="2013/11/15"></head><body><nav>Home About Login</nav>
<article><h1>Caffeine at night</h1><p>{SENTENCE}</p><p>{SENTENCE.replace("Coffee", "Tea")}</p>
<p>Participants kept diaries and wore monitors for the whole of the study.</p></article></body></html>"""

Build = Callable[[Settings, Http], Source]
ENGINES: list[tuple[str, Build, str]] = [
    ("brave", brave.BraveSource, "/web/search"),
    ("tavily", tavily.TavilySource, "/search"),
    ("serper", serper.SerperSource, "/search"),
    ("searxng", searxng.SearxngSource, "/search"),
    ("duckduckgo", duckduckgo.DuckDuckGoSource, "/html/"),
]


def answer_of(name: str, results: list[dict[str, str]]) -> Reply:
    """An answer of an engine with these results, each with url, title and snippet."""
    if name == "duckduckgo":
        rows = "".join(
            f'<div class="result web-result"><a class="result__a" href="{r["url"]}">{r["title"]}</a>'
            f'<a class="result__snippet">{r["snippet"]}</a></div>'
            for r in results
        )
        return Reply(200, f"<html><body>{rows}</body></html>", PAGE)
    if name == "serper":
        organic = [{"link": r["url"], "title": r["title"], "snippet": r["snippet"]} for r in results]
        return Reply(200, json.dumps({"searchParameters": {"q": "x"}, "organic": organic}), JSON)
    word = "description" if name == "brave" else "content"
    rows_of = [{"url": r["url"], "title": r["title"], word: r["snippet"]} for r in results]
    body: dict[str, Any] = {"results": rows_of}
    if name == "brave":
        body = {"type": "search", "web": body}
    return Reply(200, json.dumps(body), JSON)


def of(server: ReplayServer, name: str, **values: object) -> Settings:
    return pointed_at(server, name, private_pages=LOOPBACK, **KEYS, **values)


@pytest.mark.parametrize(("name", "build", "path"), ENGINES)
async def test_the_text_is_the_pages_and_not_the_snippet(name: str, build: Build, path: str) -> None:
    with ReplayServer() as server:
        server.on("/caffeine", Reply(200, ARTICLE, PAGE))
        found = [{"url": f"{server.url}/caffeine", "title": "Engine's title", "snippet": "Engine's words"}]
        server.on(path, answer_of(name, found))
        async with client() as http:
            result = await search(build(of(server, name), http), Query(text="caffeine AND sleep"))
        assert result.status == "ok"
        (record,) = result.records
        assert SENTENCE in record.text
        assert "Engine's words" not in record.text
        assert "Login" not in record.text
        assert record.title == "Caffeine at night"
        assert record.authors == ("Drake, C",)
        assert record.year == 2013
        assert record.identifiers.doi == "10.5664/jcsm.3170"
        assert record.evidence_id == "doi:10.5664/jcsm.3170"
        assert record.evidence_type == "web_page"
        assert record.full_text is True
        assert record.facts["read"] == "page"
        assert record.source == name
        assert record.provenance[0].query == "caffeine AND sleep"


@pytest.mark.parametrize(("name", "build", "path"), ENGINES)
async def test_a_page_that_cannot_be_read_leaves_a_marked_snippet(name: str, build: Build, path: str) -> None:
    with ReplayServer() as server:
        server.on("/gone", Reply(404, "gone"))
        found = [
            {"url": f"{server.url}/gone", "title": "Lost", "snippet": "What the engine saw"},
            {"url": f"{server.url}/nothing", "title": "No snippet", "snippet": ""},
        ]
        server.on(path, answer_of(name, found))
        async with client() as http:
            result = await search(build(of(server, name), http), Query(text="x"))
        (record,) = result.records
        assert record.text == "What the engine saw"
        assert record.full_text is False
        assert record.facts["read"] == "snippet"
        assert "404" in record.facts["page_not_read"]
        assert result.set_aside == 1
        assert result.details[-1] == "2 of 2 pages could not be read"


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(
            ARTICLE.replace("<head>", "<head><meta charset=undefined>").encode(), id="character set"
        ),
        pytest.param(ARTICLE.replace("<head>", "<head><meta charset=zlib>").encode(), id="no character set"),
        pytest.param(b"<div>" * 100_000 + b"\xed\xa0\x80", id="deep, with a lone surrogate"),
        pytest.param(b"\x00\xff" * 2_000, id="binary"),
    ],
)
async def test_one_bad_page_voids_no_search(bad: bytes) -> None:
    with ReplayServer() as server:
        server.on("/bad", Reply(200, bad, PAGE)).on("/good", Reply(200, ARTICLE, PAGE))
        found = [
            {"url": f"{server.url}/{name}", "title": name, "snippet": f"Of the {name} page"}
            for name in ("bad", "good")
        ]
        server.on("/search", answer_of("searxng", found))
        async with client() as http:
            result = await search(searxng.SearxngSource(of(server, "searxng"), http), Query(text="x"))
    assert result.status == "ok"
    assert any(SENTENCE in record.text for record in result.records if record.url == f"{server.url}/good")


@pytest.mark.parametrize(("name", "build", "path"), ENGINES)
async def test_an_inward_result_is_never_fetched(name: str, build: Build, path: str) -> None:
    with ReplayServer() as server:
        found = [{"url": f"{server.url}/admin", "title": "t", "snippet": "A snippet that leads inwards"}]
        server.on(path, answer_of(name, found)).on("/admin", Reply(200, "secret"))
        async with client() as http:
            source = build(pointed_at(server, name, **KEYS), http)
            result = await search(source, Query(text="x"))
        assert server.count("/admin") == 0
        assert "not a public address" in result.records[0].facts["page_not_read"]


@pytest.mark.parametrize(("name", "build", "path"), ENGINES)
async def test_a_search_is_one_request_and_then_pages_up_to_the_limit(
    name: str, build: Build, path: str
) -> None:
    with ReplayServer() as server:
        server.on(
            "/page*", lambda asked: Reply(200, ARTICLE.replace("10.5664", "10.5664" + asked.path), PAGE)
        )
        urls = [f"{server.url}/page{n}" for n in range(12)]
        urls.insert(1, urls[0] + "#again")
        server.on(path, answer_of(name, [{"url": u, "title": u, "snippet": "s"} for u in urls]))
        async with client() as http:
            source = build(of(server, name), http)
            first = await source.exchange(Query(text="x", limit=6))
            assert first.records == ()
            assert first.hits == 12
            assert first.cursor is not None
            assert len(json.dumps(dict(first.cursor))) < 10_000
            second = await source.exchange(Query(text="x", limit=6), first.cursor)
            assert len(second.records) == 6
            assert second.cursor is None
        assert server.count(path) == 1
        assert server.count("/page*") == 6
        assert server.count("/page0") == 1


@pytest.mark.parametrize(("name", "build", "path"), ENGINES)
async def test_no_results_is_empty(name: str, build: Build, path: str) -> None:
    empty = {
        "brave": Reply(200, '{"type": "search", "query": {"original": "zxqv"}}', JSON),
        "serper": Reply(200, '{"searchParameters": {"q": "zxqv"}, "organic": []}', JSON),
        "duckduckgo": Reply(200, '<html><body><div class="no-results">No results.</div></body></html>', PAGE),
    }
    with ReplayServer() as server:
        server.on(path, empty.get(name, Reply(200, '{"results": [], "unresponsive_engines": []}', JSON)))
        async with client() as http:
            result = await search(build(of(server, name), http), Query(text="zxqv"))
        assert (result.status, result.hits, result.records) == ("empty", 0, ())


@pytest.mark.parametrize(("reply", "kind"), FAULTS)
@pytest.mark.parametrize(("name", "build", "path"), ENGINES)
async def test_every_fault_is_called_by_its_name(
    name: str, build: Build, path: str, reply: Reply, kind: type[SourceError]
) -> None:
    """The same faults as any API's, but for two: SearXNG's page is an outage (a check for robots), and
    DuckDuckGo answers in HTML, where everything else is another page."""
    if name == "searxng" and reply.status == 200 and b"<html" in str(reply.body).encode():
        kind = Unavailable if reply.headers == PAGE else kind
    if name == "duckduckgo" and reply.status == 200:
        reply, kind = Reply(200, reply.body, PAGE), Malformed
    with ReplayServer() as server:
        server.on(path, reply)
        async with client() as http:
            with pytest.raises(kind) as raised:
                await build(of(server, name), http).exchange(Query(text="x"))
        assert type(raised.value) is kind
        check_retry(raised.value)


@pytest.mark.parametrize(("name", "build", "path"), ENGINES[:3])
async def test_a_key_is_needed_sent_and_never_shown(name: str, build: Build, path: str) -> None:
    secret = f"{name.upper()}-SECRET"
    with ReplayServer() as server:
        server.on(path, Reply(401, f'{{"message": "bad key {secret}"}}', JSON))
        async with client() as http:
            keyless = build(pointed_at(server, name), http)
            with pytest.raises(Refused, match=f"set {name.upper()}_API_KEY"):
                await keyless.exchange(Query(text="x"))
            assert server.asked == []
            with pytest.raises(Refused) as raised:
                await build(of(server, name), http).exchange(Query(text="x"))
        sent = server.asked[0].headers
        assert secret in (
            sent.get("x-subscription-token"),
            sent.get("x-api-key"),
            sent.get("authorization", "").split(" ")[-1],
        )
        assert secret not in str(raised.value)


async def test_braves_recorded_answer_is_read() -> None:
    with ReplayServer() as server:
        server.on("/web/search", recorded("brave/web_search_laravel_news.json"))
        async with client() as http:
            source = brave.BraveSource(of(server, "brave"), http)
            results = await source.ask(
                Query(text='"Laravel news" AND x', filters=Filters(year_from=2020)), 30
            )
        asked = server.asked[0].query
        assert asked["q"] == ['"Laravel news" AND x']
        assert asked["count"] == ["20"]
        assert asked["freshness"] == ["2020-01-01to2100-12-31"]
    assert len(results.candidates) == 18
    assert results.set_aside == 0
    first = results.candidates[0]
    assert first.url == "https://laravel-news.com/"
    assert first.title == "Laravel News"
    assert first.snippet == (
        "Every day bringing you the latest news, tutorials, and packages for the Laravel framework."
    )
    assert first.date == "2023-09-04T08:00:03"
    assert not any("<strong>" in c.snippet or "&#" in c.snippet for c in results.candidates)


async def test_tavilys_recorded_answer_is_read() -> None:
    with ReplayServer() as server:
        server.on("/search", recorded("tavily/search_basic.json"))
        async with client() as http:
            source = tavily.TavilySource(of(server, "tavily"), http)
            results = await source.ask(Query(text="What is Pydantic AI?", filters=Filters(year_to=2024)), 5)
        assert server.asked[0].json() == {
            "query": "What is Pydantic AI?",
            "search_depth": "basic",
            "max_results": 5,
            "end_date": "2024-12-31",
        }
    raw = json.loads(recorded("tavily/search_basic.json").body)["results"]
    assert [c.url for c in results.candidates] == [r["url"] for r in raw]
    assert [c.title for c in results.candidates] == [" ".join(r["title"].split()) for r in raw]
    assert all(len(c.snippet) <= 600 for c in results.candidates)


@pytest.mark.parametrize("status", [432, 433])
async def test_tavilys_used_up_plan_is_a_rate_limit(status: int) -> None:
    with ReplayServer() as server:
        server.on("/search", Reply(status, '{"detail": {"error": "exceeds your plan"}}', JSON))
        async with client() as http:
            with pytest.raises(RateLimited, match="plan's limit"):
                await tavily.TavilySource(of(server, "tavily"), http).exchange(Query(text="x"))


async def test_tavily_refuses_a_query_it_would_cut() -> None:
    with ReplayServer() as server:
        async with client() as http:
            with pytest.raises(Refused, match="400 characters"):
                await tavily.TavilySource(of(server, "tavily"), http).exchange(Query(text="x" * 401))
        assert server.asked == []


async def test_searxngs_recorded_answers_are_read() -> None:
    with ReplayServer() as server:
        server.on("/search", recorded("searxng/search_general_with_unresponsive.json"))
        async with client() as http:
            source = searxng.SearxngSource(of(server, "searxng"), http)
            results = await source.ask(Query(text="laravel news"), 10)
            assert len(results.candidates) == 59
            assert results.detail == (
                "engines that did not answer: down engine, slow engine, throttled engine"
            )
            assert results.candidates[0].url == "https://doi.org/10.1016/s0140-6736(24)02600-x"
            assert results.candidates[0].title.startswith("Abscopal response in a patient")
            server.on("/search", recorded("searxng/search_science.json"))
            science = Query(text="cancer", filters=Filters(options={"categories": "science"}))
            results = await source.ask(science, 10)
            assert len(results.candidates) == 24
            assert results.detail == ""
        assert server.asked[0].query == {"q": ["laravel news"], "format": ["json"]}
        assert server.asked[1].query["categories"] == ["science"]


async def test_searxng_with_every_engine_down_is_an_outage_and_is_asked_again(tmp_path: Path) -> None:
    with ReplayServer() as server:
        server.on("/search", recorded("searxng/search_all_engines_down.json"))
        configured = of(server, "searxng", home=tmp_path)
        async with open_http(configured) as http:
            source = searxng.SearxngSource(configured, http)
            for _ in range(2):
                with pytest.raises(Unavailable, match="down engine: Suspended"):
                    await source.exchange(Query(text="x"))
        assert server.count("/search") == 2, "an outage must not be stored as the answer"


async def test_searxng_with_every_engine_throttled_is_a_rate_limit() -> None:
    body = '{"results": [], "unresponsive_engines": [["a", "too many requests"]]}'
    with ReplayServer() as server:
        server.on("/search", Reply(200, body, JSON))
        async with client() as http:
            with pytest.raises(RateLimited):
                await searxng.SearxngSource(of(server, "searxng"), http).exchange(Query(text="x"))


async def test_searxng_without_json_says_how_to_fix_it() -> None:
    with ReplayServer() as server:
        server.on("/search", recorded("searxng/error_403_json_format_disabled.html", 403))
        async with client() as http:
            with pytest.raises(Refused, match=r"search\.formats in the instance's settings\.yml"):
                await searxng.SearxngSource(of(server, "searxng"), http).exchange(Query(text="x"))


async def test_searxngs_check_for_robots_is_not_no_results() -> None:
    with ReplayServer() as server:
        server.on("/search", recorded("searxng/instance_antibot_page.html"))
        async with client() as http:
            with pytest.raises(Unavailable, match="check for robots"):
                await searxng.SearxngSource(of(server, "searxng"), http).exchange(Query(text="x"))


async def test_searxngs_400_is_not_asked_again() -> None:
    with ReplayServer() as server:
        server.on("/search", recorded("searxng/error_400_no_query.json", 400))
        async with client() as http:
            with pytest.raises(Refused, match="No query"):
                await searxng.SearxngSource(of(server, "searxng"), http).exchange(Query(text="x"))


async def test_duckduckgos_recorded_page_is_read() -> None:
    with ReplayServer() as server:
        server.on("/html/", recorded("duckduckgo/html_results_caffeine_sleep.html"))
        async with client() as http:
            source = duckduckgo.DuckDuckGoSource(of(server, "duckduckgo"), http)
            results = await source.ask(Query(text="caffeine & sleep"), 10)
        assert server.asked[0].method == "POST"
        assert b"q=caffeine+%26+sleep" in server.asked[0].body
    assert len(results.candidates) == 9
    first = results.candidates[0]
    assert first.url == "https://www.sleepfoundation.org/nutrition/caffeine-and-sleep"
    assert first.title == "Caffeine and Sleep Problems"
    assert first.snippet.startswith("Drinking caffeine too close to bedtime can keep you awake.")
    assert first.date.startswith("2025-07-16")
    assert not any("duckduckgo.com" in c.url for c in results.candidates)


@pytest.mark.parametrize("status", [200, 202])
async def test_duckduckgos_puzzle_is_a_rate_limit(status: int) -> None:
    page = (
        '<html><body><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></body>'
    )
    with ReplayServer() as server:
        server.on("/html/", Reply(status, page, PAGE))
        async with client() as http:
            with pytest.raises(RateLimited, match="robot"):
                await duckduckgo.DuckDuckGoSource(of(server, "duckduckgo"), http).exchange(Query(text="x"))


async def test_duckduckgos_advertisements_are_passed_over() -> None:
    page = (
        '<html><body><div class="result result--ad"><a class="result__a" href="https://ad.example/">Buy</a></div>'
        '<div class="result"><a class="result__a" href="//duckduckgo.com/y.js?ad_domain=x">Buy too</a></div>'
        '<div class="result"><a class="result__a" href="https://a.example/">Found</a></div></body></html>'
    )
    with ReplayServer() as server:
        server.on("/html/", Reply(200, page, PAGE))
        async with client() as http:
            results = await duckduckgo.DuckDuckGoSource(of(server, "duckduckgo"), http).ask(
                Query(text="x"), 10
            )
    assert [c.url for c in results.candidates] == ["https://a.example/"]
    assert results.set_aside == 1


async def test_bad_results_are_set_aside_and_the_others_kept() -> None:
    rows = '[null, {"title": "no url"}, {"url": "javascript:alert(1)"}, {"url": "https://a.example/x"}]'
    with ReplayServer() as server:
        server.on("/search", Reply(200, f'{{"results": {rows}}}', JSON))
        async with client() as http:
            results = await searxng.SearxngSource(of(server, "searxng"), http).ask(Query(text="x"), 10)
    assert [c.url for c in results.candidates] == ["https://a.example/x"]
    assert results.set_aside == 3


async def test_what_is_not_configured_says_how_to_enable_it() -> None:
    async with client() as http:
        configured = settings()
        reasons = {o.info.name: o.reason for o in options(configured, build_sources(configured, http))}
    assert "BRAVE_API_KEY" in reasons["brave"]
    assert "TAVILY_API_KEY" in reasons["tavily"]
    assert "SEARXNG_URL" in reasons["searxng"]
    assert reasons["duckduckgo"] == ""


def test_private_pages_are_off_by_default() -> None:
    assert settings().private_pages == []
    with pytest.raises(Refused, match="private_pages"):
        SafePages.of(settings(private_pages=["localhost"]))
