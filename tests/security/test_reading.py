"""Documents made to loop, to fill the memory or to break a parser: each costs a process, no more."""

import asyncio
import contextlib
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from activities.contracts.evidence import Query
from activities.documents.readers import Readers
from activities.documents.text import Text, Unreadable
from activities.processes import start
from activities.settings import Settings
from activities.sources.base import search
from activities.sources.library.source import LibrarySource

READ_PAGE = "activities.documents.plain:read_page"


@pytest.fixture
def pool() -> Iterator[Readers]:
    made = Readers(processes=1)
    yield made
    made.close()


def page(pool: Readers, body: bytes, kind: str = "text/html", seconds: float = 20.0) -> Text:
    return asyncio.run(pool.read(Text, READ_PAGE, kind, "https://example.org/", body=body, seconds=seconds))


def attributes(count: int) -> bytes:
    many = " ".join(f"a{n}=1" for n in range(count))
    return f"<html><body><p {many}>Words enough to be read as a page.</p></body></html>".encode()


def shared_stream_pdf(pages: int, repeats: int) -> bytes:
    """A PDF whose pages all show one large content stream."""
    content = zlib.compress(b"BT /F1 9 Tf " + b"(the same words again) Tj 1 0 Td " * repeats + b"ET")
    kids = " ".join(f"{n} 0 R" for n in range(5, 5 + pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {pages} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    shown = b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
    objects += [shown] * pages
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start, size = len(out), len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (size, table, size, start)
    )


def test_a_page_is_read_and_the_process_used_again(pool: Readers) -> None:
    for word in ("one", "two"):
        body = f"<html><body><p>{word} {'Plain words of a page. ' * 20}</p></body></html>".encode()
        assert word in page(pool, body).text
    assert len(pool._idle) == 1


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: attributes(500_000), id="500,000 attributes"),
        pytest.param(lambda: b"<div>" * 200_000 + b"x", id="200,000 open elements"),
        pytest.param(lambda: b"<svg>" + b"<![CDATA[" * 100_000, id="cdata"),
    ],
)
def test_html_that_is_made_to_hang_ends_in_time(pool: Readers, made: Callable[[], bytes]) -> None:
    body = made()
    began = time.monotonic()
    with contextlib.suppress(Unreadable):
        page(pool, body, seconds=1)
    assert time.monotonic() - began < 10
    assert page(pool, b"<p>" + b"The next page is read. " * 20).text


def test_a_pdf_whose_pages_share_one_stream_is_cut(pool: Readers) -> None:
    body = shared_stream_pdf(2_000, 20_000)
    found = asyncio.run(pool.read(Text, "activities.documents.pdf:read_pdf", 1.0, body=body, seconds=30))
    assert "of 2,000 pages" in found.cut
    assert "the same words again" in found.text


def test_memory_is_limited() -> None:
    small = Readers(processes=1, memory=700 * 1024 * 1024)
    body = b"<html><body>" + b"<p>a</p>" * 4_000_000 + b"</body></html>"
    with pytest.raises(Unreadable):
        page(small, body)
    assert page(small, b"<p>" + b"The next page is read. " * 20).text
    small.close()


def test_a_reading_process_has_no_keys_and_writes_no_files(
    pool: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    page(pool, b"<p>" + b"Any page. " * 20)
    process = pool._idle[0]._process
    assert b"sk-secret" not in Path(f"/proc/{process.pid}/environ").read_bytes()
    limits = Path(f"/proc/{process.pid}/limits").read_text()
    assert [line.split()[3] for line in limits.splitlines() if line.startswith("Max file size")] == ["0"]


@pytest.mark.parametrize("kills", [1, 2])
async def test_a_reading_process_that_is_killed_is_replaced_once(
    pool: Readers, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    """A file that ends two reading processes is not read again until it changes."""
    started: list[subprocess.Popen[bytes]] = []

    def killed(*args: Any, **more: Any) -> subprocess.Popen[bytes]:
        started.append(start(*args, **more))
        if len(started) <= kills:
            started[-1].kill()
        return started[-1]

    monkeypatch.setattr("activities.documents.readers.start", killed)
    body = b"<p>" + b"Any page. " * 20
    reading = pool.read(Text, READ_PAGE, "text/html", "", body=body, seconds=60)
    if kills == 1:
        assert "Any page." in (await reading).text
    else:
        with pytest.raises(Unreadable, match="ended the process"):
            await reading
    assert len(started) == 2


async def test_a_caller_that_is_cancelled_ends_the_reading(pool: Readers) -> None:
    reading = asyncio.create_task(
        pool.read(Text, READ_PAGE, "text/html", "", body=attributes(500_000), seconds=120)
    )
    await asyncio.sleep(1.5)
    began = time.monotonic()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    after = await pool.read(Text, READ_PAGE, "text/html", "", body=b"<p>" + b"Next. " * 50, seconds=20)
    assert after.text
    assert time.monotonic() - began < 10


async def test_nothing_else_waits_while_documents_are_read(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    for number in range(3):
        (library / f"{number}.html").write_bytes(attributes(400_000 + number))
    source = LibrarySource(Settings(home=tmp_path / "home", library=library))
    searching = asyncio.create_task(search(source, Query(text="words")))
    await asyncio.sleep(0.5)
    slowest = 0.0
    for _ in range(20):
        began = time.monotonic()
        await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.001) for _ in range(8)))
        slowest = max(slowest, time.monotonic() - began)
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    assert slowest < 2.0


async def test_a_search_says_that_a_document_is_cut(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "long.txt").write_text("words of a very long text " * 200_000)
    source = LibrarySource(Settings(home=tmp_path / "home", library=library))
    result = await anext(source.exchanges(Query(text="very long text")))
    assert "not read whole" in result.detail
