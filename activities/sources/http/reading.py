"""The body of an answer as JSON or XML, within limits; a successful answer may be broken in itself."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

import httpx
from lxml import etree

from activities.contracts.errors import Malformed, RateLimited
from activities.documents.readers import readers
from activities.documents.text import Unreadable
from activities.sources.http.failures import retry_after, summary

MAX_TAGS = 2_000_000
"""Tags of an XML answer: a tree needs some 150 bytes of memory per tag. 200 records of PubMed have about
200,000."""
MAX_VALUES = 2_000_000
"""Values of a JSON answer, by its commas and brackets: a value needs some 100 bytes of memory. 100 labels of
openFDA have about 200,000."""


def check_body(response: httpx.Response, source: str) -> None:
    """Refuse a successful answer that is broken in itself: JSON or XML that was cut, or `{"error": ...}`.

    Raises Malformed; RateLimited when the error names a rate.
    """
    kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
    is_xml = kind.endswith("xml") and not kind.endswith("html+xml")
    if kind.endswith("json") or (is_xml and response.content.lstrip()[:1] == b"{"):
        body = read_json(response, source)
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, str) and error:
            if "rate limit" in error.lower():
                raise RateLimited(f"{source} said: {error[:200]}", retry_after=retry_after(response.headers))
            raise Malformed(f"{source} said: {error[:200]}")
    elif is_xml:
        read_xml(response, source)


def read_json(response: httpx.Response, source: str) -> Any:  # noqa: ANN401 - JSON has no static type
    """Return the body as JSON.

    Raises Malformed when it is something else (an HTML page, a cut body), or more than is read at once.
    """
    if sum(response.content.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
        raise Malformed(f"{source} sent JSON of more than {MAX_VALUES:,} values; it is not read")
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{source} sent something that is not JSON: {summary(response)}") from error


def read_xml(response: httpx.Response, source: str) -> etree._Element:
    """Return the body as an XML tree, parsed once, without entities, DTDs or network.

    Raises Malformed for HTML in place of XML, cut XML, and for entity declarations.
    """
    tree = response.extensions.get(_TREE)
    if isinstance(tree, etree._Element):  # noqa: SLF001 - the only name lxml has for it
        return tree
    content = response.content
    if content.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        raise Malformed(f"{source} sent an HTML page in place of XML: {summary(response)}")
    if content.count(b"<") > MAX_TAGS:
        raise Malformed(f"{source} sent XML of more than {MAX_TAGS:,} tags; it is not read")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Malformed(f"{source} sent XML that cannot be read: {error}") from error
    dtd: Any = tree.getroottree().docinfo.internalDTD
    if dtd is not None and next(dtd.iterentities(), None) is not None:
        raise Malformed(f"{source} sent XML that cannot be read: it declares entities")
    response.extensions = {**response.extensions, _TREE: tree}
    return tree


_TREE = "determinator_xml"
"""The place where a response keeps its tree, so that it is parsed only once."""


LARGE_BYTES = 256 * 1024
"""From this size on, an answer is read in a thread: the event loop goes on with heartbeats meanwhile. XML and
HTML of any size are: little of it may mean much work."""
LARGE_XML_BYTES = 1024 * 1024
"""From this size on. The worst that was found below it (marks nested 120 deep) needs 1.6 s in a thread, of
which the interpreter's lock is held for 0.08 s at a time."""
SECONDS = 30.0
"""For one answer."""

T = TypeVar("T")


def start_of(response: httpx.Response) -> bytes:
    """Return the start of an answer, which tells XML from HTML: the media type is only a claim."""
    return response.content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower()


def is_large_xml(response: httpx.Response) -> bool:
    """Tell whether an answer is read in a process of its own."""
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


async def read_answer(response: httpx.Response, source: str, reader: Callable[[httpx.Response], T]) -> T:
    """Return what `reader` makes of an answer, in a thread where that may take a while.

    Raises Malformed for one that is broken in itself, and what `reader` raises.
    """
    if isinstance(reader, XmlReader) and (is_large_xml(response) or (reader.apart and response.is_success)):
        name = f"{reader.function.__module__}:{reader.function.__qualname__}"
        return await _read_in_process(reader.kind, source, response, name, *reader.args)
    if len(response.content) < LARGE_BYTES and start_of(response)[:1] != b"<":
        return _read(response, source, reader)
    return await readers().in_thread(lambda _: _read(response, source, reader))


def _read(response: httpx.Response, source: str, reader: Callable[[httpx.Response], T]) -> T:
    if response.is_success and not response.extensions.get("from_cache"):
        check_body(response, source)
    return reader(response)


async def _read_in_process(kind: type[T], source: str, response: httpx.Response, *args: object) -> T:
    if not response.is_success:
        raise Malformed(f"{source} answered {response.status_code} with {len(response.content):,} bytes")
    try:
        return await readers().read(
            kind, f"{__name__}:call", source, *args, body=response.content, seconds=SECONDS
        )
    except Unreadable as error:
        raise Malformed(f"{source} sent XML that is not read: {error}") from error


def call(body: bytes, _: str, name: str, *args: object) -> object:
    """Call `module:function` with an answer of this body; runs in the other process."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)(httpx.Response(200, content=body), *args)
