"""Reading answers of APIs, large ones in XML in a process that can be killed.

A tree of XML is walked in Python, and the depth and the repetitions of a malicious one multiply the work. A
small answer costs little even then and is read in a thread of the worker; a large one is read in a process
with limits on memory and time (`activities.documents.readers`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

import httpx

from activities.contracts.errors import Malformed
from activities.documents.readers import readers
from activities.documents.text import Unreadable
from activities.sources.http.reading import sound

LARGE_BYTES = 256 * 1024
"""From this size on, an answer is read in a thread: the event loop goes on with heartbeats meanwhile. XML and
HTML of any size are: little of it may mean much work."""
LARGE_XML_BYTES = 1024 * 1024
"""From this size on. The worst that was found below it (marks nested 120 deep) needs 1.6 s in a thread, of
which the interpreter's lock is held for 0.08 s at a time."""
COUNT_ELEMENTS = "activities.sources.http.reading:count_elements"
SECONDS = 30.0
"""For one answer."""

T = TypeVar("T")


def start_of(response: httpx.Response) -> bytes:
    """How an answer begins, which tells XML and HTML: the media type is only the sender's claim."""
    return response.content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower()


def is_large_xml(response: httpx.Response) -> bool:
    """Whether an answer is read in a process of its own."""
    start = start_of(response)
    is_html = start.startswith((b"<!doctype html", b"<html"))
    return len(response.content) >= LARGE_XML_BYTES and start[:1] in (b"<", b"") and not is_html


@dataclass(frozen=True, slots=True)
class XmlReader(Generic[T]):
    """Reads an answer in XML by a function of a module, in another process where the answer is large."""

    kind: type[T]
    function: Callable[..., T]
    args: tuple[object, ...] = ()
    """Its arguments after the answer; JSON."""
    apart: bool = False
    """Whether a small answer is read in another process too, as an article is: its tables and formulas make
    more of it than its size says."""

    def __call__(self, response: httpx.Response) -> T:
        return self.function(response, *self.args)


async def read_answer(response: httpx.Response, source: str, read: Callable[[httpx.Response], T]) -> T:
    """Return what `read` makes of an answer, in a thread where that may take a while.

    Raises Malformed for one that is broken in itself, and what `read` raises.
    """
    is_large = is_large_xml(response)
    if isinstance(read, XmlReader) and (is_large or (read.apart and response.is_success)):
        name = f"{read.function.__module__}:{read.function.__qualname__}"
        kind: type[T] = read.kind
        return await _in_process(kind, f"{__name__}:call", source, response, name, *read.args)
    if is_large:
        await _in_process(int, COUNT_ELEMENTS, source, response)
    if len(response.content) < LARGE_BYTES and start_of(response)[:1] != b"<":
        return _read(response, source, read)
    return await readers().in_thread(lambda _: _read(response, source, read))


def _read(response: httpx.Response, source: str, read: Callable[[httpx.Response], T]) -> T:
    if response.is_success and not response.extensions.get("from_cache"):
        sound(response, source)
    return read(response)


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
