"""What a server may send: bodies, codings and headers made to exhaust, and answers that are no answers."""

import gzip
import ipaddress
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from activities.contracts.errors import RETRY_AFTER_CAP, Malformed, RateLimited, next_delay
from activities.sources.http.cache import HttpCache
from activities.sources.http.client import Http, TooLarge, read_body
from activities.sources.http.pages import is_public
from activities.sources.http.reading import read_xml

MIB = 1024 * 1024
JSON = {"content-type": "application/json"}
Handler = Callable[[httpx.Request], httpx.Response]


async def chunks(data: bytes, size: int = 4096) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def http(handler: Handler, cache: HttpCache | None = None) -> Http:
    def streamed(request: httpx.Request) -> httpx.Response:
        made = handler(request)
        if made.is_stream_consumed:
            made = httpx.Response(made.status_code, headers=made.headers, stream=Raw(made.content))
        return made

    return Http(httpx.AsyncClient(transport=httpx.MockTransport(streamed)), cache)


class Raw(httpx.AsyncByteStream):
    """A body as it is on the wire."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in chunks(self._data):
            yield chunk


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(b"abc" * 9), zlib.compress(b"abc" * 9), b"abc" * 9],
    ids=["gzip", "deflate", "plain"],
)
async def test_a_body_in_one_coding_is_read(packed: bytes) -> None:
    coding = {b"\x1f": "gzip", b"x": "deflate"}.get(packed[:1], "")
    assert await read_body(chunks(packed, 5), coding, MIB) == b"abc" * 9


@pytest.mark.parametrize("coding", ["gzip, gzip", "gzip,deflate", "br", "zstd", "deflate, identity, gzip"])
async def test_nested_and_unknown_codings_are_refused(coding: str) -> None:
    with pytest.raises(Malformed):
        await read_body(chunks(gzip.compress(b"x")), coding, MIB)


async def test_a_bomb_is_noticed_before_it_fills_the_memory() -> None:
    bomb = gzip.compress(b"\0" * (64 * MIB))
    tracemalloc.start()
    with pytest.raises(TooLarge):
        await read_body(chunks(bomb, len(bomb)), "gzip", MIB)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * MIB


async def test_an_api_that_packs_twice_is_malformed() -> None:
    twice = gzip.compress(gzip.compress(b"{}" * 9))

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={**JSON, "content-encoding": "gzip, gzip"}, stream=Raw(twice))

    async with http(answer) as client:
        with pytest.raises(Malformed, match=r"^test: a body in the coding"):
            await client.get("test", "https://api.example/")


async def test_an_empty_answer_is_said_to_be_empty() -> None:
    async with http(lambda _: httpx.Response(200, headers=JSON, stream=Raw(b""))) as client:
        with pytest.raises(Malformed, match="test sent something that is not JSON: it is empty"):
            await client.get("test", "https://api.example/")


async def test_a_header_that_is_not_ascii_fails_no_source() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raw = [(b"content-type", b"application/json"), (b"x-served-by", "Zürich".encode())]
        return httpx.Response(200, headers=[*raw, (b"x-other", b"caf\xe9")], stream=Raw(b'{"a": 1}'))

    async with http(answer) as client:
        assert (await client.get("test", "https://api.example/")).json() == {"a": 1}


@pytest.mark.parametrize("wait", ["1" + "0" * 20, "1e300", "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_a_retry_after_without_end_is_capped(wait: str) -> None:
    async with http(lambda _: httpx.Response(429, headers={"retry-after": wait})) as client:
        with pytest.raises(RateLimited) as caught:
            await client.get("test", "https://api.example/")
    assert next_delay(caught.value) == RETRY_AFTER_CAP


async def test_deep_json_is_malformed() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    async with http(lambda _: httpx.Response(200, headers=JSON, content=deep)) as client:
        with pytest.raises(Malformed):
            await client.get("test", "https://api.example/")


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        b'<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1/x"> %p;]><a/>',
        b"<a>" * 100_000,
        b"<a",
        b"<!doctype html><html></html>",
    ],
)
def test_xml_that_declares_entities_or_is_broken_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        read_xml(httpx.Response(200, content=body), "test")


def test_xml_is_parsed_once() -> None:
    response = httpx.Response(200, content=b"<a><b/></a>")
    assert read_xml(response, "test") is read_xml(response, "test")


@pytest.mark.parametrize("address", ["192.0.0.9", "192.0.0.10", "192.0.0.170", "fec0::1", "feff::1"])
def test_reserved_ranges_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
