"""Reading large XML answers of APIs in a process that can be killed.

A tree of XML is walked in Python, and the depth and the repetitions of a malicious one multiply the work. A
small answer costs little even then and is read in a thread of the worker; a large one is checked, and later
read, in a process with limits on memory and time (`activities.documents.readers`).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import httpx

from activities.contracts.errors import Malformed
from activities.documents.read import Unreadable
from activities.documents.readers import readers

LARGE_XML_BYTES = 1024 * 1024
"""From this size on. The worst that was found below it (marks nested 120 deep) needs 1.6 s in a thread, of
which the interpreter's lock is held for 0.08 s at a time."""
COUNT_ELEMENTS = "activities.sources.http.reading:count_elements"
SECONDS = 30.0
"""For one answer."""

T = TypeVar("T")


def is_marked_up(response: httpx.Response) -> bool:
    """Whether an answer is XML or HTML, by its content: the media type is only the sender's claim."""
    return response.content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"


def is_large_xml(response: httpx.Response) -> bool:
    """Whether an answer is read in a process of its own."""
    content = response.content
    if len(content) < LARGE_XML_BYTES:
        return False
    # by its content: the media type is only the sender's claim
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower()
    return start[:1] in (b"<", b"") and not start.startswith((b"<!doctype html", b"<html"))


async def check_large_xml(response: httpx.Response, source: str) -> None:
    """Parse a large answer in a separate process. Raises Malformed for what is no XML or beyond limits."""
    await _in_process(int, COUNT_ELEMENTS, source, response)


async def read_answer(response: httpx.Response, kind: type[T], function: Callable[..., T], *args: Any) -> T:  # noqa: ANN401 - the arguments are those of the function
    """What `function(response, *args)` reads from an answer that `Http` has checked.

    `function` is a function of a module and `args` are JSON, because a large answer is read in another
    process, which returns a `kind`. Raises Malformed, and for small answers what the function raises.
    """
    if not is_large_xml(response):
        return await readers().in_thread(lambda _: function(response, *args))
    source = function.__module__.rpartition(".")[2]
    name = f"{function.__module__}:{function.__qualname__}"
    return await _in_process(kind, f"{__name__}:call", source, response, name, *args)


async def _in_process(kind: type[T], function: str, source: str, response: httpx.Response, *args: Any) -> T:  # noqa: ANN401 - see above
    if not response.is_success:
        raise Malformed(f"{source} answered {response.status_code} with {len(response.content):,} bytes")
    try:
        return await readers().read(kind, function, source, *args, body=response.content, seconds=SECONDS)
    except Unreadable as error:
        raise Malformed(f"{source} sent XML that is not read: {error}") from error


def call(body: bytes, _: str, name: str, *args: object) -> object:
    """Call `module:function` with an answer of this body; runs in the other process."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)(httpx.Response(200, content=body), *args)
