"""Large answers of APIs are read in a process that can be killed, and say the same as when read here."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import httpx
import pytest

from activities.contracts.errors import Malformed
from activities.contracts.evidence import Query
from activities.documents.readers import readers
from activities.settings import Settings
from activities.sources import arxiv, pmc, pubmed
from activities.sources.http import reading
from activities.sources.http.client import Http
from activities.sources.http.reading import MAX_VALUES, read_json
from activities.sources.standing_lookup import StandingLookup
from tests.replay import RECORDED
from tests.security.test_bodies import http

Reading = Callable[[Http], Awaitable[object]]
READINGS: dict[str, tuple[str, Reading]] = {
    "pubmed": (
        "pubmed/efetch_structured_abstract_rct_22663011.xml",
        lambda http: pubmed.PubMed(Settings(), http).fetch(["22663011"]),
    ),
    "pmc": ("pmc/efetch_pmc_6329583.xml", lambda http: pmc.Pmc(Settings(), http).fetch(["1"])),
    "standing": (
        "standing/efetch_retracted_993.xml",
        lambda http: StandingLookup(http, Settings()).ask_pubmed(["993"]),
    ),
    "arxiv": (
        "arxiv/search_10.xml",
        lambda http: anext(arxiv.ArXiv(Settings(), http).exchanges(Query(text="aspirin", limit=10))),
    ),
}


def serving(body: bytes) -> Http:
    return http(lambda _: httpx.Response(200, headers={"content-type": "text/xml"}, content=body))


@pytest.mark.parametrize("name", READINGS)
async def test_a_large_answer_says_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, read = READINGS[name]
    body = (RECORDED / file).read_bytes()
    async with serving(body) as http:
        here = await read(http)
    monkeypatch.setattr(reading, "LARGE_XML_BYTES", 100)
    used: list[str] = []
    process = readers().read

    async def spied(kind: type, function: str, *args: object, **more: object) -> object:
        used.append(function)
        return await process(kind, function, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(readers(), "read", spied)
    async with serving(body) as http:
        there = await read(http)
    assert there == here
    assert [function.rpartition(":")[2] for function in used] == ["call"]


def nested(depth: int, size: int) -> bytes:
    """JATS whose marks are nested, so that the text below each is collected again at each level."""
    marks = b'<sup><xref ref-type="bibr">1</xref>'
    text = b"1, " * (size // 3) + b"x"
    body = marks * depth + text + b"</sup>" * depth
    return (
        b"<pmc-articleset><article><front><article-meta><title-group><article-title>T</article-title>"
        b"</title-group></article-meta></front><body><p>" + body + b"</p></body></article></pmc-articleset>"
    )


async def test_a_malicious_large_answer_blocks_only_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SECONDS", 1.0)
    async with serving(nested(120, 31 * 1024 * 1024)) as http:
        task = asyncio.create_task(pmc.Pmc(Settings(), http).fetch(["1"]))
        slowest, began = 0.0, time.monotonic()
        while not task.done():
            before = time.monotonic()
            await asyncio.sleep(0.01)
            slowest = max(slowest, time.monotonic() - before)
        with pytest.raises(Malformed):
            await task
    assert time.monotonic() - began < 60
    assert slowest < 5.0


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<a>" + b"<b/>" * 2_100_000 + b"</a>", id="tags"),
        pytest.param(b" " * 2_000_000 + b"<a/>", id="space"),
        pytest.param(b"<a>" + b"x" * 11_000_000 + b"</a>", id="text"),
        pytest.param(b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>" + b"&b;" * 500_000 + b"</a>", id="entities"),
        pytest.param(b"<other>" + b"x" * 1_100_000 + b"</other>", id="another root"),
    ],
)
async def test_a_large_answer_that_is_none_is_malformed(body: bytes) -> None:
    async with serving(body) as http:
        with pytest.raises(Malformed):
            await pmc.Pmc(Settings(), http).fetch(["1"])


def test_json_of_too_many_values_is_not_read() -> None:
    body = b"[" + b"[]," * (MAX_VALUES // 2 + 1) + b"[]]"
    with pytest.raises(Malformed):
        read_json(httpx.Response(200, content=body), "x")
    assert len(read_json(httpx.Response(200, content=b"[" + b"1," * 1_000_000 + b"1]"), "x")) == 1_000_001
