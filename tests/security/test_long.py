"""The long ones (`make test-security`): documents fuzzed by the hundred, and every fault for every source.

Prints what was tried and what succeeded: a document or an answer that ended in anything but a text, a reason
or one of our errors, or later than it may.
"""

import asyncio
import gzip
import json
import random
import sys
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import httpx
import pytest
from pydantic import SecretStr

from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.contracts.evidence import Query
from activities.documents.read import Text, Unreadable
from activities.documents.readers import Readers
from activities.settings import Settings
from activities.sources.base import search
from activities.sources.http.client import Http
from activities.sources.http.reading import read_xml
from activities.sources.names import SOURCES
from activities.sources.registry import build_sources
from tests.security.test_reading import attributes, shared_stream_pdf

pytestmark = pytest.mark.security

MUTANTS = 60
"""Of each kind of document."""
SECONDS = 6.0
"""For one document."""


@dataclass
class Table:
    """What was tried, and what succeeded, by kind."""

    tried: dict[str, int] = field(default_factory=dict)
    through: dict[str, list[str]] = field(default_factory=dict)

    def count(self, kind: str, problem: str = "") -> None:
        self.tried[kind] = self.tried.get(kind, 0) + 1
        if problem:
            self.through.setdefault(kind, []).append(problem)

    def print(self) -> None:
        sys.stdout.write(f"\n{'kind':34} {'tried':>6} {'through':>8}\n")
        for kind, tried in self.tried.items():
            sys.stdout.write(f"{kind:34} {tried:6} {len(self.through.get(kind, [])):8}\n")
            for problem in self.through.get(kind, [])[:5]:
                sys.stdout.write(f"    {problem}\n")
        total = sum(len(found) for found in self.through.values())
        sys.stdout.write(f"{'all':34} {sum(self.tried.values()):6} {total:8}\n")


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    made = Table()
    yield made
    made.print()


HTML = (
    b"<html><head><title>Aspirin</title><meta name=citation_doi content='10.1/x'></head><body><p>"
    + b"Aspirin lowered the risk of colorectal cancer in this cohort. " * 20
    + b"</p><table><tr><td>1</td></tr></table><script>x</script></body></html>"
)
MARKDOWN = (
    b"---\ntitle: T\n---\n# Heading\n\nText with [a link](http://x) and *stress*.\n\n| a | b |\n|---|---|\n"
    * 9
)
JSONL = b'{"title": "T", "abstract": "A text of a record.", "pmid": 1, "authors": ["A B"]}\n' * 30
SEEDS: dict[str, tuple[str, bytes]] = {
    "HTML": ("page:text/html", HTML),
    "PDF": ("page:application/pdf", shared_stream_pdf(12, 40)),
    "plain text": ("page:text/plain", HTML),
    "Markdown": ("file:.md", MARKDOWN),
    "JSON lines": ("file:.jsonl", JSONL),
    "packed JSON lines": ("file:.jsonl.gz", gzip.compress(JSONL)),
}
MADE: dict[str, list[bytes]] = {
    "HTML": [
        attributes(500_000),
        b"<div>" * 300_000,
        b"<table><tr><td>" * 60_000,
        b"<a href='" + b"x" * 5_000_000,
        b"<!--" * 500_000,
        b"<meta charset=undefined>" + HTML,
        b"&" * 2_000_000,
        HTML * 3_000,
    ],
    "PDF": [
        shared_stream_pdf(2_000, 20_000),
        b"%PDF-1.7\n" + b"1 0 obj <<" * 100_000,
        b"%PDF-" + b"[" * 900_000,
    ],
    "Markdown": [
        b"[" * 100_000,
        b"*a " * 100_000,
        b"> " * 50_000,
        b"`" * 100_001,
        b"- " * 50_000 + b"x",
        b"|" * 90_000,
    ],
    "JSON lines": [
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b'{"text": "\\ud800"}\n' * 100,
        b"\xff\xfe" + b"\x00" * 99,
    ],
    "packed JSON lines": [gzip.compress(b" " * 600_000_000, 1), b"\x1f\x8b\x08" + b"\0" * 99],
    "plain text": [b"\n" * 4_000_000, b"a\r" * 2_000_000, "\ufeff\u202e".encode() * 300_000],
}


def mutants(seed: bytes, count: int) -> Iterator[bytes]:
    """Copies of a document with bytes changed, cut, repeated and moved; the same ones each time."""
    rnd = random.Random(zlib.crc32(seed))
    for _ in range(count):
        data = bytearray(seed)
        for _ in range(rnd.randint(1, 12)):
            at = rnd.randrange(len(data) or 1)
            match rnd.randrange(5):
                case 0:
                    data[at : at + 1] = rnd.randbytes(1)
                case 1:
                    del data[at : at + rnd.randint(1, 400)]
                case 2:
                    data[at:at] = data[at : at + 60] * rnd.randint(1, 300)
                case 3:
                    data[at:at] = rnd.choice(
                        [b"\0", b"\xff\xfe", b"<", b">>", b"]]>", b"\xed\xa0\x80", b"9" * 400]
                    )
                case _:
                    data += data[: rnd.randint(0, len(data))]
        yield bytes(data)


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("kind", SEEDS)
def test_no_malicious_document_succeeds(
    kind: str, table: Table, tmp_path_factory: pytest.TempPathFactory
) -> None:
    how, seed = SEEDS[kind]
    way, _, what = how.partition(":")
    folder = tmp_path_factory.mktemp("fuzz")
    pool = Readers(processes=1)
    try:
        for number, body in enumerate((*MADE.get(kind, []), *mutants(seed, MUTANTS))):
            began, problem = time.monotonic(), ""
            try:
                if way == "page":
                    function = "activities.documents.read:read_page"
                    found = pool.call(Text, function, what, "http://x/", body=body, seconds=SECONDS)
                    found.text.encode()
                else:
                    path = folder / f"{number}{what}"
                    path.write_bytes(body)
                    function = "activities.sources.library.reading:read_file"
                    for item in pool.stream(function, str(path), path.name, seconds=SECONDS):
                        json.loads(item)
                    path.unlink()
            except Unreadable:
                pass
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                problem = f"{number}: {type(error).__name__}: {error}"[:200]
            took = time.monotonic() - began
            table.count(kind, problem or (f"{number}: {took:.1f} s" if took > SECONDS + 10 else ""))
    finally:
        pool.close()
    assert not table.through.get(kind)


XML = (
    b'<?xml version="1.0"?><PubmedArticleSet><PubmedArticle><a b="c">text</a></PubmedArticle>'
    b"</PubmedArticleSet>"
)


def test_no_malicious_xml_succeeds(table: Table) -> None:
    attacks = [
        b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        b"<a>" * 300_000,
        b"<a " + b" ".join(b"x%d='1'" % n for n in range(200_000)) + b"/>",
        b"<a>" + b"<b/>" * 4_000_000 + b"</a>",
        *mutants(XML, 400),
    ]
    for number, body in enumerate(attacks):
        began, problem = time.monotonic(), ""
        try:
            tree = read_xml(httpx.Response(200, content=body), "x")
            assert "root:" not in (tree.findtext(".") or "")
        except Malformed:
            pass
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            problem = f"{number}: {type(error).__name__}"
        table.count("XML", problem or (f"{number}: slow" if time.monotonic() - began > SECONDS else ""))
    assert not table.through.get("XML")


JSON_KIND = {"content-type": "application/json"}
DEEP = b"[" * 200_000 + b"]" * 200_000
NESTED = gzip.compress(gzip.compress(b"{}"))
ANY = (Malformed, Unavailable, Refused, RateLimited)
Answer = Callable[[], httpx.Response]


class Body(httpx.AsyncByteStream):
    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._data


def made(status: int, body: bytes, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.Response(status, headers={**JSON_KIND, **(headers or {})}, stream=Body(body))


FAULTS: dict[str, tuple[int, bytes, dict[str, str], tuple[type[SourceError], ...]]] = {
    "400": (400, b"{}", {}, ANY),
    "401": (401, b"{}", {}, (Refused,)),
    "403": (403, b"{}", {}, (Refused,)),
    "429, wait without end": (429, b"{}", {"retry-after": "9" * 24}, (RateLimited,)),
    "500": (500, b'{"error": {"code": "X", "message": "y"}}', {}, (Unavailable,)),
    "503": (503, b"", {}, (Unavailable,)),
    "a redirect": (302, b"", {"location": "http://127.0.0.1/"}, ANY),
    "no body": (200, b"", {}, (Malformed,)),
    "cut JSON": (200, b'{"a": [', {}, (Malformed,)),
    "deep JSON": (200, DEEP, {}, (Malformed,)),
    "a list": (200, b"[]", {}, ANY),
    "a number": (200, b"7", {}, (Malformed,)),
    "null": (200, b"null", {}, (Malformed,)),
    "another object": (200, b'{"x": 1}', {}, ANY),
    "a page": (200, b"<!doctype html><html><body>Sorry</body></html>", {}, (Malformed,)),
    "binary": (200, bytes(range(256)) * 40, {}, (Malformed,)),
    "packed twice": (200, NESTED, {"content-encoding": "gzip, gzip"}, (Malformed,)),
    "not packed": (200, b"{}", {"content-encoding": "gzip"}, (Malformed,)),
    "a bomb": (200, gzip.compress(b"\0" * 200_000_000, 1), {"content-encoding": "gzip"}, (Malformed,)),
}


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("fault", FAULTS)
async def test_no_fault_of_a_source_comes_through(
    fault: str, table: Table, tmp_path_factory: pytest.TempPathFactory
) -> None:
    status, body, headers, kinds = FAULTS[fault]
    key = SecretStr("a-key-of-a-test")
    settings = Settings.model_validate(
        {
            "home": tmp_path_factory.mktemp("home"),
            "email": "a@example.org",
            "searxng_url": "http://searxng.example",
            "brave_api_key": key,
            "tavily_api_key": key,
            "serper_api_key": key,
        }
    )
    transport = httpx.MockTransport(lambda _: made(status, body, headers))
    # the sources that are left out send no request over HTTP
    for name in (name for name, _ in SOURCES if name not in ("library", "evidence", "neo4j")):
        # connections of its own: sources that share a rate would wait for each other after a 429
        async with Http(httpx.AsyncClient(transport=transport)) as http:
            source = build_sources(settings, http)[name]
            problem = ""
            try:
                async with asyncio.timeout(60):
                    found = await search(source, Query(text="aspirin", limit=3))
                problem = f"{name}: {found.status}"
            except kinds:
                pass
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                problem = f"{name}: {type(error).__name__}: {error}"[:160]
            table.count(f"source: {fault}", problem)
    assert not table.through.get(f"source: {fault}")
