"""Reading pages with untrusted addresses."""

import asyncio
import gzip
import ipaddress
import socket
import zlib
from pathlib import Path

import pytest

from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.sources.http.cache import HttpCache
from activities.sources.http.pages import MAX_REDIRECTS, SafePages, check_url, is_public, networks, resolve
from tests.replay import ReplayServer, Reply

LOOPBACK = networks(["127.0.0.0/8"])
HTML = {"content-type": "text/html; charset=utf-8"}
SENTENCE = "The trial enrolled two hundred adults with moderate disease and followed them for a year."
PAGE = f"<html><head><title>A trial</title></head><body><article><p>{SENTENCE}</p></article></body></html>"


def reader(**limits: float) -> SafePages:
    return SafePages(LOOPBACK, **limits)  # type: ignore[arg-type]


async def test_a_page_is_read(server: ReplayServer) -> None:
    server.on("/a", Reply(200, PAGE, HTML))
    page = await reader().read(f"{server.url}/a#part")
    assert page.text.title == "A trial"
    assert SENTENCE in page.text.text
    assert page.url == f"{server.url}/a"
    sent = server.asked[0].headers
    assert "cookie" not in sent
    assert "authorization" not in sent
    assert sent["host"] == f"127.0.0.1:{server.port}"


async def test_this_machine_is_not_read_by_default(server: ReplayServer) -> None:
    server.on("/*", Reply(200, PAGE, HTML))
    for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[::1]"):
        with pytest.raises(Refused, match="not a public address"):
            await SafePages().read(f"http://{host}:{server.port}/admin")
    assert server.asked == []


async def test_a_redirect_inwards_is_not_followed() -> None:
    """The first hop is allowed, the second leads to an address that is not."""
    with ReplayServer() as server, socket.create_server(("127.0.0.2", 0)) as inward:
        port = inward.getsockname()[1]
        pages = SafePages(networks(["127.0.0.1/32"]))
        for target in (
            f"http://127.0.0.2:{port}/",
            f"http://[::ffff:127.0.0.2]:{port}/",
            f"http://2130706434:{port}/",
            f"//127.0.0.2:{port}/",
        ):
            server.on("/a", Reply(302, "", {"location": target}))
            with pytest.raises(Refused, match="not a public address"):
                await pages.read(f"{server.url}/a")
        inward.setblocking(False)
        with pytest.raises(BlockingIOError):
            inward.accept()


@pytest.mark.parametrize(
    "target", ["http://[::1", "file:///etc/passwd", "ftp://x.example/", "http://me:word@127.0.0.1/"]
)
async def test_a_redirect_to_something_else_than_a_page_is_not_followed(
    server: ReplayServer, target: str
) -> None:
    server.on("/a", Reply(302, "", {"location": target}))
    with pytest.raises(Refused):
        await reader().read(f"{server.url}/a")


async def test_redirects_are_followed_to_where_the_page_is_and_end(server: ReplayServer) -> None:
    server.on("/a", Reply(301, "", {"location": "/b?x=1"})).on("/b", Reply(200, PAGE, HTML))
    assert (await reader().read(f"{server.url}/a")).url == f"{server.url}/b?x=1"
    server.on("/loop", Reply(302, "", {"location": "/loop"}))
    with pytest.raises(Refused, match="redirects more than"):
        await reader().read(f"{server.url}/loop")
    assert server.count("/loop") == MAX_REDIRECTS + 1


async def test_a_page_that_is_kept_is_read_again_as_it_was(server: ReplayServer, tmp_path: Path) -> None:
    server.on("/b", Reply(301, "", {"location": "/ä"})).on("/%C3%A4", Reply(200, PAGE, HTML))
    pages = SafePages(LOOPBACK, cache=HttpCache(tmp_path))
    read = await pages.read(f"{server.url}/b")
    assert await pages.read(f"{server.url}/b") == read
    assert server.count("/b") == 1


async def test_the_connection_goes_to_the_address_that_was_checked(
    server: ReplayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that answers differently the second time leads nowhere else: it is asked once."""
    loop = asyncio.get_running_loop()
    real = loop.getaddrinfo
    asked: list[object] = []

    async def two_faced(host: object, *rest: object, **named: object) -> object:
        if host != "rebind.example":
            return await real(host, *rest, **named)  # type: ignore[arg-type]
        asked.append(host)
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, ("127.0.0.1" if len(asked) == 1 else "127.0.0.2", 0))]

    monkeypatch.setattr(loop, "getaddrinfo", two_faced)
    server.on("/a", Reply(200, PAGE, HTML))
    page = await SafePages(networks(["127.0.0.1/32"])).read(f"http://rebind.example:{server.port}/a")
    assert SENTENCE in page.text.text
    assert server.asked[0].headers["host"] == f"rebind.example:{server.port}"
    with pytest.raises(Refused):
        await SafePages(networks(["127.0.0.1/32"])).read(f"http://rebind.example:{server.port}/a")
    assert len(asked) == 2


async def test_a_huge_body_is_refused_by_what_it_says_and_by_what_it_is(server: ReplayServer) -> None:
    server.on("/honest", Reply(200, b"x" * 200_000, HTML))
    server.on("/silent", Reply(200, headers=HTML, chunks=(b"x" * 60_000,) * 4))
    for path in ("/honest", "/silent"):
        with pytest.raises(Refused, match="larger than"):
            await reader(max_bytes=100_000).read(server.url + path)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_body_that_unfolds_to_something_huge_is_refused(server: ReplayServer, encoding: str) -> None:
    flat = b"<p>" + b"a" * 50_000_000
    packed = gzip.compress(flat) if encoding == "gzip" else zlib.compress(flat)
    assert len(packed) < 100_000
    headers = {**HTML, "Content-Encoding": encoding}
    server.on("/bomb", Reply(200, headers=headers, chunks=(packed,)))
    with pytest.raises(Refused, match="larger than"):
        await reader().read(f"{server.url}/bomb")


async def test_a_packed_page_is_read(server: ReplayServer) -> None:
    headers = {**HTML, "content-encoding": "gzip"}
    server.on("/a", Reply(200, headers=headers, chunks=(gzip.compress(PAGE.encode()),)))
    assert SENTENCE in (await reader().read(f"{server.url}/a")).text.text
    server.on("/a", Reply(200, headers=headers, chunks=(b"not gzip at all",)))
    with pytest.raises(Malformed, match="decompressed"):
        await reader().read(f"{server.url}/a")
    packed = gzip.compress(PAGE.encode())
    server.on("/a", Reply(200, headers=headers, chunks=(packed[: len(packed) // 2],)))
    with pytest.raises(Malformed, match="cut"):  # else half a sentence would be quoted
        await reader().read(f"{server.url}/a")


async def test_an_empty_page_is_not_said_to_be_too_large(server: ReplayServer) -> None:
    server.on("/a", Reply(200, b"", {**HTML, "content-length": "0"}))
    with pytest.raises(Malformed, match="no text"):
        await reader().read(f"{server.url}/a")


async def test_the_encoding_that_a_server_names_holds(server: ReplayServer) -> None:
    page = f"<html><body><p>{SENTENCE}</p><p>Wejście jest zamknięte.</p></body></html>"
    for kind in ("text/html", "text/plain"):
        headers = {"content-type": f'{kind}; charset="ISO-8859-2"'}
        server.on("/a", Reply(200, headers=headers, chunks=(page.encode("iso8859-2"),)))
        assert "Wejście jest zamknięte" in (await reader().read(f"{server.url}/a")).text.text


async def test_a_body_that_drips_is_cut_off(server: ReplayServer) -> None:
    server.on("/slow", Reply(200, headers=HTML, chunks=(b"<p>",) * 40, delay=0.1))
    with pytest.raises(Unavailable, match=r"within 0\.5 seconds"):
        await reader(max_seconds=0.5).read(f"{server.url}/slow")


@pytest.mark.parametrize("kind", ["image/png", "application/zip", "video/mp4", "application/octet-stream"])
async def test_other_types_are_refused(server: ReplayServer, kind: str) -> None:
    server.on("/a", Reply(200, PAGE, {"content-type": kind}))
    with pytest.raises(Refused, match="only HTML, plain text and PDF"):
        await reader().read(f"{server.url}/a")


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, Refused), (403, Refused), (404, Refused), (410, Refused), (429, RateLimited), (503, Unavailable)],
)
async def test_a_failing_status_is_called_by_its_name(
    server: ReplayServer, status: int, kind: type[SourceError]
) -> None:
    server.on("/a", Reply(status, PAGE, {**HTML, "retry-after": "9"}))
    with pytest.raises(kind, match=str(status)) as raised:
        await reader().read(f"{server.url}/a")
    assert type(raised.value) is kind
    assert raised.value.retry_after == (9 if kind is not Refused else None)


async def test_a_server_that_hangs_up_or_is_not_there_is_an_outage(server: ReplayServer) -> None:
    server.on("/a", Reply(hang_up=True))
    with pytest.raises(Unavailable):
        await reader().read(f"{server.url}/a")
    url = server.url
    with pytest.raises(Unavailable):
        await reader().read(f"{url}/a")


INWARD = """
127.0.0.1 127.8.9.10 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 100.64.0.1 169.254.169.254 168.63.129.16
192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1
::ffff:127.0.0.1 ::ffff:169.254.169.254 ::ffff:0a00:0001 64:ff9b::7f00:1 64:ff9b:1::7f00:1 2002:7f00:1::
2001:0:53aa:64c:0:0:80ff:fffe fc00::1 fd00:ec2::254 fe80::1 ff02::1 2001:db8::1
"""
OUTWARD = "93.184.216.34 8.8.8.8 2606:2800:220:1:248:1893:25c8:1946 ::ffff:8.8.8.8"


@pytest.mark.parametrize(
    ("address", "public"), [*((a, False) for a in INWARD.split()), *((a, True) for a in OUTWARD.split())]
)
def test_a_public_address_is_distinguished_from_every_other(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public


WRONG = """
file:///etc/passwd ftp://example.org/x gopher://example.org/ //example.org/x example.org javascript:alert(1)
http:// http:///path http://user@example.org/ http://user:word@example.org/ http://example.org@127.0.0.1/
http://example.org:99999/ http://example.org:x/ http://[::1/ http://example.org\\@127.0.0.1/
"""
SPACED = (
    "http://example.org/a b",
    "http://example.org/\r\nHost: other",
    "http://example.org/" + "a" * 3000,
    "",
)


@pytest.mark.parametrize("url", [*WRONG.split(), *SPACED])
def test_an_address_that_is_not_a_plain_web_page_is_refused(url: str) -> None:
    with pytest.raises(Refused):
        check_url(url)


def test_a_plain_web_page_passes_and_a_password_is_not_repeated() -> None:
    assert check_url("https://Example.org:8443/a?b=c#d") == "example.org"
    with pytest.raises(Refused) as raised:
        check_url("https://me:hunter2@example.org/")
    assert "hunter2" not in str(raised.value)


async def test_what_is_allowed_passes() -> None:
    assert await resolve("127.0.0.1", 80, networks(["127.0.0.0/8"])) == ["127.0.0.1"]
    with pytest.raises(Refused):
        await resolve("127.0.0.1", 80, networks(["10.0.0.0/8"]))


async def test_one_inward_address_among_public_ones_is_a_trap(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(*_: object, **__: object) -> list[tuple[object, ...]]:
        family = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*family, ("93.184.216.34", 80)), (*family, ("10.0.0.1", 80))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", answer)
    with pytest.raises(Refused, match=r"10\.0\.0\.1"):
        await resolve("two-faced.example", 80)


async def test_a_name_that_does_not_resolve_is_an_outage() -> None:
    with pytest.raises(Unavailable, match="cannot be resolved"):
        await resolve("no-such-host.invalid", 80)
    with pytest.raises(Unavailable, match="cannot be resolved"):
        await resolve("a" * 70 + ".example", 80)
