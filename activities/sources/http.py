"""HTTP as every source uses it: one request, and a failure that says what kind it is.

404 is not raised by `get` when the caller says it means something (`accept`). Nothing is retried here:
retries belong to Temporal.
"""

import email.utils
import json
import time
from collections.abc import Collection, Mapping
from typing import Any

import httpx
from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException
from lxml import etree

from activities.errors import Malformed, RateLimited, Refused, SourceError, Unavailable

USER_AGENT = "determinator (+https://pypi.org/project/determinator/)"
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
MAX_BYTES = 32 * 1024 * 1024
"""Largest answer of an API that is read."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header: a number or an HTTP date (RFC 9110, 10.2.3); None without one."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except ValueError:
        return None


def failure(response: httpx.Response, source: str) -> SourceError:
    """The error a response with a failing status stands for."""
    status = response.status_code
    wait = retry_after(response.headers)
    text = f"{source} answered {status}: {summary(response)}"
    if status == 429:
        return RateLimited(text, retry_after=wait)
    if status in (408, 425) or status >= 500:
        return Unavailable(text, retry_after=wait)
    return Refused(text)


def summary(response: httpx.Response, limit: int = 200) -> str:
    """The start of a body on one line, for a message."""
    return " ".join(response.text[: limit * 4].split())[:limit] or response.reason_phrase


class Http:
    """A source's way to the world, shared by all sources of a worker."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def get(
        self,
        source: str,
        url: str,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
    ) -> httpx.Response:
        """GET with every failure translated. Statuses in `accept` are returned to the caller.

        Raises RateLimited, Unavailable or Refused.
        """
        return await self.send(source, "GET", url, params=params, headers=headers, accept=accept)

    async def send(
        self,
        source: str,
        method: str,
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        json_body: object = None,
        form: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
    ) -> httpx.Response:
        """Any request; see `get`."""
        try:
            response = await self.client.request(
                method,
                url,
                params=dict(params) if params else None,
                headers=dict(headers) if headers else None,
                json=json_body,
                data=dict(form) if form else None,
            )
        except httpx.TimeoutException as error:
            raise Unavailable(f"{source} did not answer in time ({type(error).__name__})") from error
        except httpx.InvalidURL as error:
            raise Refused(f"{source} has an unusable address {url}: {error}") from error
        except httpx.HTTPError as error:
            raise Unavailable(f"{source} cannot be reached: {error or type(error).__name__}") from error
        if response.is_success or response.status_code in accept:
            return response
        raise failure(response, source)


def read_json(response: httpx.Response, source: str) -> Any:  # noqa: ANN401 - JSON has no static type
    """The body as JSON. Raises Malformed when it is something else (an HTML page, a cut body)."""
    try:
        return json.loads(response.content)
    except ValueError as error:
        raise Malformed(f"{source} sent something that is not JSON: {summary(response)}") from error


def read_xml(response: httpx.Response, source: str) -> etree._Element:
    """The body as an XML tree, parsed without entities, DTDs or network.

    Raises Malformed for HTML in place of XML, cut XML, and for entity declarations.
    """
    content = response.content
    if content.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        raise Malformed(f"{source} sent an HTML page in place of XML: {summary(response)}")
    try:
        ElementTree.fromstring(content, forbid_dtd=False, forbid_entities=True, forbid_external=True)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ElementTree.ParseError, DefusedXmlException, ValueError) as error:
        raise Malformed(f"{source} sent XML that cannot be read: {error}") from error
