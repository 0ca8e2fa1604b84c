"""Keys of this process, so that no message, event, log, report or error holds one.

Besides the keys that are settings of their own, addresses carry them: as user and password, and in queries
(signed addresses). What is registered here is replaced in the message of each of our errors when it is made
(`activities.contracts.errors`), in every record of a log, and in what the command line prints.
"""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

MIN_CHARS = 6
"""Shorter values are stand-ins for a key (`none`); replacing them would damage ordinary words."""
REMOVED = "***"
_secrets: set[str] = set()


def without_credentials(url: str) -> str:
    """Return an address without user, password, query and fragment, where keys are carried."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return re.sub(r"//[^/@]*@", "//", url.partition("?")[0])
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, f"...={REMOVED}" if parts.query else "", ""))


def carried_by(address: str) -> set[str]:
    """Return what of an address is secret.

    `user:password@`, the values of its query, and the query as a whole.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return set()
    secrets: set[str] = set()
    user, at, _ = parts.netloc.rpartition("@")
    if at:
        secrets |= {f"{user}@", parts.password or "", unquote(parts.password or ""), unquote(user)}
        # a user alone is a token; beside a password it is a name, and may be an ordinary word
        secrets |= set() if parts.password else {parts.username or ""}
    if parts.query:
        values = [value for _, value in parse_qsl(parts.query, keep_blank_values=True)]
        secrets |= {parts.query, *values, *(quote(value, safe="") for value in values)}
    return {value for value in secrets if value}


def register(secrets: Iterable[str], addresses: Iterable[str] = ()) -> None:
    """Replace these keys, and what these addresses carry, from now on."""
    for address in addresses:
        if "://" in address:
            _secrets.update(carried_by(address))
    _secrets.update(secrets)


def redacted(text: str) -> str:
    """Return the text with everything that was registered replaced."""
    for secret in sorted(_secrets, key=len, reverse=True):
        if len(secret) >= MIN_CHARS or secret.endswith("@"):
            text = text.replace(secret, "***@" if secret.endswith("@") else REMOVED)
    return text
