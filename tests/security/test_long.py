"""The long ones (`make test-security`): documents fuzzed by the hundred."""

import asyncio
import gzip
import json
import random
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import httpx
import pytest

from activities.contracts.errors import Malformed
from activities.documents.readers import Readers
from activities.documents.text import Text, Unreadable
from activities.sources.http.reading import read_xml
from tests.security.test_reading import attributes, shared_stream_pdf

pytestmark = pytest.mark.security

MUTANTS = 60
"""Of each kind of document."""
SECONDS = 6.0
"""For one document."""


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


def succeeded(attacks: Iterable[bytes], read: Callable[[int, bytes], None]) -> Iterator[str]:
    """The documents that ended in anything but a text, a reason or one of our errors, or later than they
    may."""
    for number, body in enumerate(attacks):
        began = time.monotonic()
        try:
            read(number, body)
        except (Unreadable, Malformed):
            pass
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            yield f"{number}: {type(error).__name__}: {error}"[:200]
        if time.monotonic() - began > SECONDS + 10:
            yield f"{number}: slow"


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("kind", SEEDS)
def test_no_malicious_document_succeeds(kind: str, tmp_path: Path) -> None:
    how, seed = SEEDS[kind]
    way, _, what = how.partition(":")
    pool = Readers(processes=1)

    def read(number: int, body: bytes) -> None:
        if way == "page":
            function = "activities.documents.plain:read_page"
            asked = pool.read(Text, function, what, "http://x/", body=body, seconds=SECONDS)
            asyncio.run(asked).text.encode()
            return
        path = tmp_path / f"{number}{what}"
        path.write_bytes(body)
        function = "activities.sources.library.reading:read_file"
        for item in pool.stream(function, str(path), path.name, seconds=SECONDS):
            json.loads(item)
        path.unlink()

    try:
        assert list(succeeded((*MADE.get(kind, []), *mutants(seed, MUTANTS)), read)) == []
    finally:
        pool.close()


XML = (
    b'<?xml version="1.0"?><PubmedArticleSet><PubmedArticle><a b="c">text</a></PubmedArticle>'
    b"</PubmedArticleSet>"
)


def test_no_malicious_xml_succeeds() -> None:
    attacks = [
        b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        b"<a>" * 300_000,
        b"<a " + b" ".join(b"x%d='1'" % n for n in range(200_000)) + b"/>",
        b"<a>" + b"<b/>" * 4_000_000 + b"</a>",
        *mutants(XML, 400),
    ]

    def read(_: int, body: bytes) -> None:
        tree = read_xml(httpx.Response(200, content=body), "x")
        assert "root:" not in (tree.findtext(".") or "")

    assert list(succeeded(attacks, read)) == []
