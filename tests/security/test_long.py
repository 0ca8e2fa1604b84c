"""The long ones (`make test-security`): documents fuzzed by the hundred.

Prints what was tried and what succeeded: a document that ended in anything but a text, a reason or one of our
errors, or later than it may.
"""

import asyncio
import gzip
import json
import random
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

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
                    asked = pool.read(Text, function, what, "http://x/", body=body, seconds=SECONDS)
                    found = asyncio.run(asked)
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
