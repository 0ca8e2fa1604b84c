"""Which requests leave this machine: none to itself through a proxy, none while offline, and no telemetry.

`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` are read by the HTTP libraries themselves. A client of
one address is made without them where `reads_proxies` says no.
"""

import os
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies

SCHEMES = ("http", "https", "socks5", "socks5h")
"""Of proxies that the HTTP libraries can use."""
ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AZURE_STORAGE_ENDPOINT")
"""Variables of the evidence store's library that name a server other than the cloud's own."""
THIS_MACHINE = ("localhost", "127.0.0.0/8", "::1")
"""As `NO_PROXY` spells it."""


def reads_proxies(url: str, *, offline: bool) -> bool:
    """Return whether a client of this address may use a proxy of the environment."""
    return not offline and not is_this_machine(urlsplit(url).hostname or "")


def is_this_machine(host: str) -> bool:
    """Return whether a host is this machine: loopback in any spelling, an address of its own, or its name."""
    host = host.strip("[]").rstrip(".").casefold()
    if host in ("localhost", socket.gethostname().casefold()) or host.endswith(".localhost"):
        return True
    address = _address(host.partition("%")[0])
    if address is None:
        return False
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    return address.is_loopback or address.is_unspecified or _is_own(address)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))  # 127.1, 2130706433, 0x7f000001
    except (OSError, UnicodeError):
        return None


def _is_own(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an interface of this machine has the address: only then a socket can be bound to it."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def is_here(url: str) -> bool:
    """Return whether an evidence store is on this machine: a folder, or a server that listens here."""
    if "://" not in url:
        return True
    parts = urlsplit(url)
    if parts.scheme in ("http", "https"):
        return is_this_machine(parts.hostname or "")
    addresses = (os.environ[name] for name in ENDPOINTS if os.environ.get(name))
    return parts.scheme == "file" or any(
        is_this_machine(urlsplit(address).hostname or "") for address in addresses
    )


def spare_this_machine() -> None:
    """Add this machine to `NO_PROXY`.

    Libraries that read the environment and take no setting (that of the evidence store, that of traces)
    follow it.
    """
    names = [name for name in ("no_proxy", "NO_PROXY") if name in os.environ] or ["NO_PROXY"]
    for name in names if getproxies() else ():
        hosts = [entry.strip() for entry in os.environ.get(name, "").split(",") if entry.strip()]
        os.environ[name] = ",".join([*hosts, *(host for host in THIS_MACHINE if host not in hosts)])


def refuse_telemetry() -> None:
    """Keep onnxruntime from sending telemetry; call before it is imported.

    Version 1.32 sends it from Linux some 10 s after the first session is made. It follows this variable, not
    `disable_telemetry_events`.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def proxy_fault() -> str:
    """Return what is wrong with a proxy that the environment names, in one line without its password.

    Empty when nothing is.
    """
    for kind, address in getproxies().items():
        if kind not in ("http", "https", "all"):
            continue
        try:
            parts = urlsplit(address if "://" in address else f"http://{address}")
            is_usable = (
                parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port is None or parts.port > 0)
            )
        except ValueError:
            is_usable = False
        if not is_usable:
            return (
                f"{kind.upper()}_PROXY names no proxy that can be used: write it as http://HOST:PORT or "
                "socks5://HOST:PORT, or unset it"
            )
    return ""
