"""Web search: engines give candidates, pages give evidence. The golden files hold what each engine
is asked and what is made of its answer; the pages are read the same whatever engine named them."""

import json

import pytest

from activities.contracts.errors import Refused
from activities.contracts.evidence import Query
from activities.sources.base import SearchResult, search
from activities.sources.http.pages import SafePages
from tests.activities.sources.conftest import Sourced
from tests.activities.sources.faults import JSON, PAGE, settings
from tests.replay import ReplayServer, Reply

SENTENCE = "Coffee drunk six hours before bedtime shortened sleep by more than one hour in this trial."
ARTICLE = f"""<html><head><title>Caffeine at night</title>
<meta name="citation_doi" content="10.5664/jcsm.3170"><meta name="citation_author" content="Drake, C">
<meta name="citation_publication_date" content="2013/11/15"></head><body><nav>Home About Login</nav>
<article><h1>Caffeine at night</h1><p>{SENTENCE}</p><p>{SENTENCE.replace("Coffee", "Tea")}</p>
<p>Participants kept diaries and wore monitors for the whole of the study.</p></article></body></html>"""


def names(server: ReplayServer, *pages: tuple[str, str]) -> None:
    """Have the engine name these pages, each with its snippet."""
    results = [
        {"url": f"{server.url}{path}", "title": "Engine's title", "content": snippet}
        for path, snippet in pages
    ]
    server.on("/search", Reply(200, json.dumps({"results": results}), JSON))


async def searched(source: Sourced, text: str = "x", **values: object) -> SearchResult:
    return await search(source("searxng", **{"private_pages": ["127.0.0.0/8"], **values}), Query(text=text))


async def test_the_text_is_the_pages_and_not_the_snippet(server: ReplayServer, source: Sourced) -> None:
    server.on("/caffeine", Reply(200, ARTICLE, PAGE))
    names(server, ("/caffeine", "Engine's words"))
    (record,) = (await searched(source, "caffeine AND sleep")).records
    assert SENTENCE in record.text
    assert "Engine's words" not in record.text
    assert "Login" not in record.text
    assert record.title == "Caffeine at night"
    assert (record.authors, record.year) == (("Drake, C",), 2013)
    assert record.evidence_id == "doi:10.5664/jcsm.3170"
    assert (record.evidence_type, record.full_text, record.facts["read"]) == ("web_page", True, "page")
    assert (record.source, record.provenance[0].query) == ("searxng", "caffeine AND sleep")


async def test_a_page_that_cannot_be_read_leaves_a_marked_snippet(
    server: ReplayServer, source: Sourced
) -> None:
    server.on("/gone", Reply(404, "gone"))
    names(server, ("/gone", "What the engine saw"), ("/nothing", ""))
    result = await searched(source)
    (record,) = result.records
    assert (record.text, record.full_text) == ("What the engine saw", False)
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
async def test_one_bad_page_voids_no_search(server: ReplayServer, source: Sourced, bad: bytes) -> None:
    server.on("/bad", Reply(200, bad, PAGE)).on("/good", Reply(200, ARTICLE, PAGE))
    names(server, ("/bad", "Of the bad page"), ("/good", "Of the good page"))
    result = await searched(source)
    assert result.status == "ok"
    assert any(SENTENCE in record.text for record in result.records if record.url == f"{server.url}/good")


async def test_an_inward_result_is_never_fetched(server: ReplayServer, source: Sourced) -> None:
    server.on("/admin", Reply(200, "secret"))
    names(server, ("/admin", "A snippet that leads inwards"))
    result = await searched(source, private_pages=[])
    assert server.count("/admin") == 0
    assert "not a public address" in result.records[0].facts["page_not_read"]


def test_private_pages_are_off_by_default() -> None:
    assert settings().private_pages == []
    with pytest.raises(Refused, match="private_pages"):
        SafePages.of(settings(private_pages=["localhost"]))
