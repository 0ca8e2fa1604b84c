"""The body of an answer as JSON or XML, within limits; a successful answer may be broken in itself."""

import json
from typing import Any

import httpx
from lxml import etree

from activities.contracts.errors import Malformed, RateLimited
from activities.sources.http.failures import retry_after, summary

MAX_TAGS = 2_000_000
"""Tags of an XML answer: a tree needs some 150 bytes of memory per tag. 200 records of PubMed have about
200,000."""
MAX_VALUES = 2_000_000
"""Values of a JSON answer, by its commas and brackets: a value needs some 100 bytes of memory. 100 labels of
openFDA have about 200,000."""


def sound(response: httpx.Response, source: str) -> None:
    """Refuse a successful answer that is broken in itself: JSON or XML that was cut, or `{"error": ...}`.

    Raises Malformed; RateLimited when the error names a rate.
    """
    kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
    xml = kind.endswith("xml") and not kind.endswith("html+xml")
    if kind.endswith("json") or (xml and response.content.lstrip()[:1] == b"{"):
        body = read_json(response, source)
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, str) and error:
            if "rate limit" in error.lower():
                raise RateLimited(f"{source} said: {error[:200]}", retry_after=retry_after(response.headers))
            raise Malformed(f"{source} said: {error[:200]}")
    elif xml:
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
    earlier = response.extensions.get(_TREE)
    if isinstance(earlier, etree._Element):  # noqa: SLF001 - the only name lxml has for it
        return earlier
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
    declared: Any = tree.getroottree().docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:
        raise Malformed(f"{source} sent XML that cannot be read: it declares entities")
    response.extensions = {**response.extensions, _TREE: tree}
    return tree


_TREE = "determinator_xml"
"""Where a response keeps its tree, so that it is parsed only once."""


def count_elements(body: bytes, source: str) -> int:
    """How many elements an XML answer has, parsed in a process of its own (`answers.check_large_xml`).

    Raises Malformed.
    """
    return sum(1 for _ in read_xml(httpx.Response(200, content=body), source).iter())
