"""The address of a model server: what is sent with a request, and what may be shown of it.

A base URL may carry credentials (a user and a password, or a query such as `?key=...`). They are sent to the
server and appear nowhere else: not in messages, logs, stored answers or the names these are stored under.
"""

import base64
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from activities.contracts.errors import ModelRefused
from activities.credentials import register


@dataclass(frozen=True, slots=True)
class Address:
    public_url: str
    """Without credentials, query and fragment: for messages, and as the name of the server."""
    query: tuple[tuple[str, str], ...] = ()
    authorization: str = ""
    """Value of the `Authorization` header that the user and password stand for; empty without them."""

    @property
    def local(self) -> bool:
        """Tell whether the server is on this machine or in a private network.

        A request for its facts costs nothing there.
        """
        host = urlsplit(self.public_url).hostname or ""
        if host == "localhost" or ("." not in host and ":" not in host):
            return True
        try:
            number = ip_address(host)
        except ValueError:
            return host.endswith((".local", ".internal", ".lan"))
        return number.is_private or number.is_loopback

    @property
    def root(self) -> str:
        """The address without the `/v1` at its end: where a server's own, non-OpenAI paths begin."""
        return self.public_url.removesuffix("/v1")


def parse(url: str) -> Address:
    """Read a base URL, whose credentials are in no message from now on.

    Raises ModelRefused when it is not an http address.
    """
    try:
        parts = urlsplit(url.strip())
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelRefused(
            "the address of the model server is not one: it begins with http:// or https:// and names a host",
            category="bad_request",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    public_url = urlunsplit((parts.scheme, f"{host}{port}", parts.path.rstrip("/"), "", ""))
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    query = tuple(parse_qsl(parts.query))
    authorization = ""
    if user or password:
        authorization = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    register([authorization.removeprefix("Basic ")], [url.strip()])
    return Address(public_url, query, authorization)
