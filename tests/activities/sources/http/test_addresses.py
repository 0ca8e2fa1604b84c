"""Only public addresses, in any spelling."""

import asyncio
import ipaddress
import socket

import pytest

from activities.contracts.errors import Refused, Unavailable
from activities.sources.http.pages import check_url, is_public, networks, resolve

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


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "::1", "::ffff:7f00:1"],
)
async def test_every_spelling_of_this_machine_is_refused(host: str) -> None:
    with pytest.raises(Refused, match="not a public address"):
        await resolve(host, 80)


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
