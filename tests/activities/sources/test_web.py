"""Web search: engines give candidates, pages give evidence."""

import json
from typing import Any

import pytest

from activities.contracts.errors import Refused
from activities.contracts.evidence import Query
from activities.settings import Settings
from activities.sources.base import search
from activities.sources.http.pages import SafePages
from tests.activities.sources.faults import JSON, PAGE, build, client, pointed_at, settings
from tests.replay import ReplayServer, Reply

LOOPBACK = ["127.0.0.0/8"]
KEYS = {"brave_api_key": "BRAVE-SECRET", "tavily_api_key": "TAVILY-SECRET", "serper_api_key": "SERPER-SECRET"}
SENTENCE = "Coffee drunk six hours before bedtime shortened sleep by more than one hour in this trial."
ARTICLE = f"""<html><head><title>Caffeine at night</title>
<meta name="citation_doi" content="10.5664/jcsm.3170"><meta name="citation_author" content="Drake, C">
<meta name="citation_publication_date" content="2013/11/15"></head><body><nav>Home About Login</nav>
<article><h1>Caffeine at night</h1><p>{SENTENCE}</p><p>{SENTENCE.replace("Coffee", "Tea")}</p>
<p>Participants kept diaries and wore monitors for the whole of the study.</p></article></body></html>"""

ENGINES = {
    "brave": "/web/search",
    "tavily": "/search",
    "serper": "/search",
    "searxng": "/search",
    "duckduckgo": "/html/",
}
"""Engine -> where it is asked."""


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


@pytest.mark.parametrize(("name", "path"), ENGINES.items())
async def test_the_text_is_the_pages_and_not_the_snippet(name: str, path: str) -> None:
    with ReplayServer() as server:
        server.on("/caffeine", Reply(200, ARTICLE, PAGE))
        found = [{"url": f"{server.url}/caffeine", "title": "Engine's title", "snippet": "Engine's words"}]
        server.on(path, answer_of(name, found))
        async with client() as http:
            result = await search(build(name, of(server, name), http), Query(text="caffeine AND sleep"))
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


@pytest.mark.parametrize(("name", "path"), ENGINES.items())
async def test_a_page_that_cannot_be_read_leaves_a_marked_snippet(name: str, path: str) -> None:
    with ReplayServer() as server:
        server.on("/gone", Reply(404, "gone"))
        found = [
            {"url": f"{server.url}/gone", "title": "Lost", "snippet": "What the engine saw"},
            {"url": f"{server.url}/nothing", "title": "No snippet", "snippet": ""},
        ]
        server.on(path, answer_of(name, found))
        async with client() as http:
            result = await search(build(name, of(server, name), http), Query(text="x"))
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
            result = await search(build("searxng", of(server, "searxng"), http), Query(text="x"))
    assert result.status == "ok"
    assert any(SENTENCE in record.text for record in result.records if record.url == f"{server.url}/good")


@pytest.mark.parametrize(("name", "path"), ENGINES.items())
async def test_an_inward_result_is_never_fetched(name: str, path: str) -> None:
    with ReplayServer() as server:
        found = [{"url": f"{server.url}/admin", "title": "t", "snippet": "A snippet that leads inwards"}]
        server.on(path, answer_of(name, found)).on("/admin", Reply(200, "secret"))
        async with client() as http:
            source = build(name, pointed_at(server, name, **KEYS), http)
            result = await search(source, Query(text="x"))
        assert server.count("/admin") == 0
        assert "not a public address" in result.records[0].facts["page_not_read"]


@pytest.mark.parametrize(("name", "path"), ENGINES.items())
async def test_a_search_is_one_request_and_then_pages_up_to_the_limit(name: str, path: str) -> None:
    with ReplayServer() as server:
        server.on(
            "/page*", lambda asked: Reply(200, ARTICLE.replace("10.5664", "10.5664" + asked.path), PAGE)
        )
        urls = [f"{server.url}/page{n}" for n in range(12)]
        urls.insert(1, urls[0] + "#again")
        server.on(path, answer_of(name, [{"url": u, "title": u, "snippet": "s"} for u in urls]))
        async with client() as http:
            source = build(name, of(server, name), http)
            first, second = [one async for one in source.exchanges(Query(text="x", limit=6))]
            assert (first.records, first.hits) == ((), 12)
            assert len(second.records) == 6
        assert server.count(path) == 1
        assert server.count("/page*") == 6
        assert server.count("/page0") == 1


@pytest.mark.parametrize(("name", "path"), ENGINES.items())
async def test_no_results_is_empty(name: str, path: str) -> None:
    empty = {
        "brave": Reply(200, '{"type": "search", "query": {"original": "zxqv"}}', JSON),
        "serper": Reply(200, '{"searchParameters": {"q": "zxqv"}, "organic": []}', JSON),
        "duckduckgo": Reply(200, '<html><body><div class="no-results">No results.</div></body></html>', PAGE),
    }
    with ReplayServer() as server:
        server.on(path, empty.get(name, Reply(200, '{"results": [], "unresponsive_engines": []}', JSON)))
        async with client() as http:
            result = await search(build(name, of(server, name), http), Query(text="zxqv"))
        assert (result.status, result.hits, result.records) == ("empty", 0, ())


def test_private_pages_are_off_by_default() -> None:
    assert settings().private_pages == []
    with pytest.raises(Refused, match="private_pages"):
        SafePages.of(settings(private_pages=["localhost"]))
