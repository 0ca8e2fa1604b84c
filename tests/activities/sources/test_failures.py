"""How each source fails: what an answer that is none is called, what is stored, and what no message shows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.contracts.evidence import Query
from activities.sources.base import search
from tests.activities.sources.conftest import Sourced
from tests.activities.sources.faults import FAULTS, HTML, JSON, PAGE, build, client, pointed_at
from tests.activities.sources.recordings import EFETCH, ESEARCH, FOUND_IN_PMC, KEYS, ONLINE, RECORDINGS
from tests.replay import RECORDED, ReplayServer, Reply, recorded

XML = {"content-type": "text/xml"}
ARTICLE = (RECORDED / "pubmed/efetch_structured_abstract_rct_22663011.xml").read_bytes()
FEED = (RECORDED / "arxiv/search_10.xml").read_bytes()
NO_ENTRIES = FEED.split(b"<entry>")[0] + b"</feed>"
NO_TOTAL = NO_ENTRIES.replace(b":totalResults", b":x")
OUTAGE = '{"error": {"code": "SERVER_ERROR", "message": "later"}}'
THROTTLED = '{"results": [], "unresponsive_engines": [["a", "too many requests"]]}'
S2 = "semanticscholar"
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><PubmedArticleSet>&b;</PubmedArticleSet>'
ROBOTS = '<html><body><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></body>'


async def fails(
    name: str, kind: type[SourceError], answers: dict[str, Reply], words: str | None = None
) -> SourceError:
    """The error of a search with these answers by path."""
    with ReplayServer() as server:
        for path, reply in answers.items():
            server.on(path, reply)
        async with client(paced=False) as http:
            source = build(name, pointed_at(server, name, **KEYS), http)
            with pytest.raises(kind, match=words) as raised:
                await search(source, Query(text="sildenafil"))
        assert len(server.asked) == len(answers)
    assert type(raised.value) is kind
    assert raised.value.retryable is not isinstance(raised.value, Refused)
    if isinstance(raised.value, RateLimited):
        waits = [reply.headers.get("retry-after") for reply in answers.values()]
        assert raised.value.retry_after == next((int(wait) for wait in waits if wait), None)
    assert name in str(raised.value).lower().replace(" ", "")
    return raised.value


@pytest.mark.parametrize("name", ONLINE)
async def test_an_outage_is_never_no_results(name: str) -> None:
    """Three are special: a page of SearXNG is a check for robots, DuckDuckGo answers in HTML and arXiv in
    XML, so that an answer of another kind is malformed."""
    for fault in FAULTS:
        await fails_as(name, *fault.values)  # type: ignore[arg-type]  # a reply and an error


async def fails_as(name: str, reply: Reply, kind: type[SourceError]) -> None:
    if name == "searxng" and reply.status == 200 and reply.headers == PAGE:
        kind = Unavailable
    if name in ("duckduckgo", "arxiv") and reply.status == 200:
        kind = kind if reply.hang_up else Malformed
        reply = replace(reply, headers=PAGE if name == "duckduckgo" else XML)
    if name == "arxiv" and reply.status == 400:
        kind = Malformed
    await fails(name, kind, {"/*": reply})


def own(name: str, reply: Reply, kind: type[SourceError], words: str | None) -> Any:
    return pytest.param(name, reply, kind, words, id=f"{name} {reply.status}: {words}")


def body(text: str, status: int = 200, headers: dict[str, str] = JSON) -> Reply:
    return Reply(status, text, headers)


@pytest.mark.parametrize(
    ("name", "reply", "kind", "words"),
    [
        own("pubmed", recorded("pubmed/error_429_rate_limit.json"), RateLimited, "rate limit"),
        own("pubmed", recorded("pubmed/error_414_uri_too_long.html", 414), Refused, "414"),
        own("pubmed", body('{"esearchresult":{"ERROR":"Invalid db name"}}'), Refused, "Invalid db"),
        own("pubmed", body('{"esearchresult":{"ERROR":"Backend failed: timeout"}}'), Unavailable, "Backend"),
        *(own("pubmed", body(f'{{"esearchresult":{{"count":{count},"idlist":{ids}}}}}'), Malformed, None)
          for count, ids in (('"many"', "[]"), ('"0"', '"none"'), ('"0"', "null"), ('"0"', '[{"id":1}]'),
                             ('"\u00b2"', "[]"))),
        *(own("europepmc", body(f'{{"hitCount":{count},"resultList":{{"result":{rows}}}}}'), Malformed, None)
          for count, rows in (('"many"', "[]"), ("0", '{"a":1}'), ("2", "[1,2]"))),
        own("europepmc", body('{"errCode":404,"errMsg":"bad query"}'), Refused, "bad query"),
        own("clinicaltrials", body("<html>403 Forbidden</html>", 403), Refused, "TLS handshake"),
        own("clinicaltrials", body("x", 403), Refused, "CLINICALTRIALS_URL.*DETERMINATOR_DISABLED"),
        own("openfda", recorded("openfda/error_400_bad_sort.json", 400), Refused, "Sorting allowed"),
        own("openfda", recorded("openfda/error_403_invalid_key.json", 403), Refused, "API_KEY_INVALID"),
        own("openfda", recorded("openfda/error_500_server.json", 500), Refused, "cannot be parsed"),
        own("openfda", body(OUTAGE, 500), Unavailable, "later"),
        own("openfda", body(OUTAGE), Unavailable, "later"),
        own("openfda", body("{", 500), Unavailable, None),
        own("openfda", body('{"error":{"code":"S","message":"m","details":"parse_exception"}}', 500),
            Refused, "m"),
        own("openfda", body('{"error":{"code":"WRONG","message":"m"}}', 404), Refused, "m"),
        own("openfda", body('{"error": {"code": "OVER_RATE_LIMIT"}}'), RateLimited, "OVER_RATE"),
        own("openfda", body('{"error": {"code": "API_KEY_MISSING"}}'), Refused, "API_KEY_MISS"),
        own("opentargets", recorded("opentargets/error_field.json"), Refused, "maximumClinicalStage"),
        own("openalex", recorded("openalex/error_404_not_found.html", 404), Refused, "404"),
        own("crossref", body('{"status": "failed", "message-type": "validation-failure", "message": '
                             '[{"message": "bad filter"}]}'), Refused, "bad filter"),
        own(S2, recorded("semanticscholar/error_400_bad_fields.json", 400), Refused, "unsupported"),
        own(S2, recorded("semanticscholar/error_403_forbidden.json", 403), Refused, "Forbidden"),
        own(S2, recorded("semanticscholar/error_404_not_found.json", 404), Refused, "not found"),
        own(S2, body('{"code": "429", "message": "Too Many Requests."}'), RateLimited, "Too Many"),
        own(S2, body('{"total": 5, "offset": 0}'), Malformed, "without data"),
        own("arxiv", recorded("arxiv/error_400_bad_id.xml", 400), Refused, "incorrect id"),
        own("arxiv", recorded("arxiv/error_400_bad_id.xml"), Refused, "incorrect id"),
        own("arxiv", body(HTML, 400), Malformed, "HTML page"),
        own("arxiv", Reply(200, HTML), Malformed, "HTML page"),
        own("arxiv", Reply(200, FEED[:3000], XML), Malformed, "cannot be read"),
        own("arxiv", body("<rss/>", headers=XML), Malformed, "no Atom feed"),
        own("arxiv", Reply(200, NO_ENTRIES, XML), Malformed, "sent none"),
        own("arxiv", Reply(200, NO_TOTAL, XML), Malformed, "how many match"),
        own("arxiv", Reply(200, NO_ENTRIES.replace(b"214881", b"\xc2\xb2"), XML), Malformed, None),
        own("arxiv", Reply(200, BOMB, XML), Malformed, "cannot be read"),
        own("tavily", body('{"detail": {"error": "exceeds your plan"}}', 432), RateLimited, "plan's limit"),
        own("tavily", body('{"detail": {"error": "exceeds your plan"}}', 433), RateLimited, "plan's limit"),
        own("searxng", recorded("searxng/search_all_engines_down.json"), Unavailable, "engine: Suspended"),
        own("searxng", body(THROTTLED), RateLimited, None),
        own("searxng", recorded("searxng/error_403_json_format_disabled.html", 403), Refused,
            r"search\.formats in the instance's settings\.yml"),
        own("searxng", recorded("searxng/instance_antibot_page.html"), Unavailable, "check for robots"),
        own("searxng", recorded("searxng/error_400_no_query.json", 400), Refused, "No query"),
        own("duckduckgo", body(ROBOTS, 200, PAGE), RateLimited, "robot"),
        own("duckduckgo", body(ROBOTS, 202, PAGE), RateLimited, "robot"),
    ],
)  # fmt: skip
async def test_its_own_error_bodies_are_understood(
    name: str, reply: Reply, kind: type[SourceError], words: str | None
) -> None:
    await fails(name, kind, {"/*": reply}, words)


@pytest.mark.parametrize("name", ["pubmed", "pmc"])
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        *(fault for fault in FAULTS if fault.values[0].status != 200 or fault.values[0].hang_up),  # type: ignore[union-attr]
        pytest.param(recorded("pubmed/error_429_rate_limit.json"), RateLimited, id="200 that means 429"),
        pytest.param(
            body('{"error":"API rate limit exceeded"}', 200, XML), RateLimited, id="JSON called XML"
        ),
        pytest.param(recorded("pubmed/error_legacy_html_instead_of_xml.html"), Malformed, id="a page"),
        pytest.param(recorded("pubmed/error_414_uri_too_long.html"), Malformed, id="a page that is XML"),
        pytest.param(recorded("pubmed/klortho_esearch.baderror.xml"), Refused, id="ERROR"),
        pytest.param(Reply(200, ARTICLE[:9000], XML), Malformed, id="cut XML"),
        pytest.param(Reply(200, b"<other/>", XML), Malformed, id="another root"),
        pytest.param(Reply(200, BOMB, XML), Malformed, id="XML with entities"),
    ],
)
async def test_a_fetch_that_fails_is_never_an_empty_search(
    name: str, reply: Reply, kind: type[SourceError]
) -> None:
    await fails(name, kind, {ESEARCH: FOUND_IN_PMC, EFETCH: reply})


SOUND = {case.source: case for case in reversed(RECORDINGS)}
"""The first recording of each source."""


@pytest.mark.parametrize("name", SOUND)
async def test_a_page_in_place_of_an_answer_is_not_stored(
    server: ReplayServer, tmp_path: Path, name: str
) -> None:
    recording = SOUND[name]
    settings = pointed_at(server, name, **KEYS)
    async with client(tmp_path, paced=False) as http:
        source = build(name, settings, http)
        server.on("/*", Reply(200, HTML, PAGE))
        with pytest.raises(SourceError):
            await anext(source.exchanges(recording.query))
        for path, answers in recording.answers.items():
            server.on(path, *(answers if isinstance(answers, tuple) else (answers,)))
        answer = await anext(source.exchanges(recording.query))
        asked = len(server.asked)
        assert asked == 2
        assert (await anext(source.exchanges(recording.query))).hits == answer.hits > 0
        assert len(server.asked) == asked  # the sound answer was stored


@pytest.mark.parametrize(
    ("name", "reply", "kind"),
    [
        ("arxiv", Reply(200, NO_ENTRIES, XML), Malformed),
        ("pubmed", Reply(200, '{"esearchresult":{"count":"many","idlist":[]}}', JSON), Malformed),
        ("europepmc", Reply(200, '{"hitCount":"many","resultList":{"result":[]}}', JSON), Malformed),
        ("searxng", recorded("searxng/search_all_engines_down.json"), Unavailable),
    ],
)
async def test_an_outage_that_looks_like_an_answer_is_not_stored(
    server: ReplayServer, tmp_path: Path, name: str, reply: Reply, kind: type[SourceError]
) -> None:
    server.on("/*", reply)
    async with client(tmp_path, paced=False) as http:
        for _ in range(2):
            with pytest.raises(kind):
                await anext(build(name, pointed_at(server, name), http).exchanges(Query(text="x")))
    assert len(server.asked) == 2


@pytest.mark.parametrize("name", [key.removesuffix("_api_key") for key in KEYS])
async def test_a_key_is_sent_and_never_shown(name: str) -> None:
    """An API may repeat the key it was sent. The golden files hold where each is sent."""
    source, secret = {"ncbi": "pubmed"}.get(name, name), f"SECRET-{name}"
    error: BaseException | None = await fails(
        source, Refused, {"/*": body(json.dumps({"error": f"key {secret} is bad", "message": secret}), 400)}
    )
    while error is not None:
        assert secret not in str(error)
        error = error.__cause__


@pytest.mark.parametrize("name", ["brave", "tavily"])
async def test_without_its_key_nothing_is_asked(server: ReplayServer, source: Sourced, name: str) -> None:
    with pytest.raises(Refused, match=f"set {name.upper()}_API_KEY"):
        await anext(source(name).exchanges(Query(text="x")))
    assert server.asked == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("pubmed", "  ", "empty"),
        ("tavily", "x" * 401, "400 characters"),
        *((name, '"()"', None) for name in ("chembl", "opentargets", "uniprot")),
    ],
)
async def test_a_query_that_cannot_be_sent_is_refused(
    server: ReplayServer, source: Sourced, name: str, text: str, words: str
) -> None:
    with pytest.raises(Refused, match=words):
        await search(source(name, **KEYS), Query(text=text))
    assert server.asked == []
