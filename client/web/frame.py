"""Parts that every route of the page shares: who asks, whose run it is, how an answer is written.

A page is whole HTML and works without scripts. A request of htmx (`HX-Request`) gets the part that changes,
and where a form was sent without scripts the answer leads back to the page of the run.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote, urlencode

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pydantic import ValidationError
from starlette.exceptions import HTTPException as HTTPError
from starlette.requests import ClientDisconnect

from activities.report.formats.blocks import Quote
from activities.report.formats.html import body, style
from activities.report.formats.references import anchor_of
from activities.report.schema import Report
from activities.text.normal_form import normalise
from client.access import Access, line_of, status_of, wrong_fields
from client.api import EXPECTED
from client.failures import faults_of
from client.run import Run
from client.sign_in.signing_in import SignIn
from workflows.event_types import AgentEvent

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
MAX_CHARS = 400_000
"""Characters of a stored text that a page shows, around the quote."""


@cache
def environment() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals.update(version=_version(), run_url=run_url, anchor_of=anchor_of)
    return templates


def render_template(name: str, **values: object) -> str:
    return environment().get_template(f"{name}.html.jinja").render(values)


@cache
def stylesheet() -> str:
    """Return the style of reports, and what the page around them has beyond it."""
    return f"{style()}\n{(FOLDER / 'page.css').read_text(encoding='utf-8')}"


def _version() -> str:
    """Return a text that changes with the files, by which a browser takes them anew after an update."""
    files = (*sorted(STATIC.iterdir()), FOLDER / "page.css")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def run_url(run_id: str, *parts: str, **query: str) -> str:
    """Return the address of a run, or of something of it."""
    path = "/".join(quote(part, safe="") for part in ("run", run_id, *parts))
    return f"/{path}?{urlencode(query)}" if query else f"/{path}"


def report_body(report: Report, at: str) -> Markup:
    """Return the report at an address; each citation leads to its quote in the stored text of its work."""

    def address(source: Quote) -> str:
        return f"{at}/source/{quote(source.evidence_id, safe='')}?{urlencode({'quote': source.text})}#quote"

    return body(report, address)


def drafts_of(events: Sequence[AgentEvent], titles: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Return the paragraphs that are being written, by section: of each paragraph the latest event counts."""
    drafts: dict[str, dict[int, str]] = {}
    for event in events:
        if event.type == "streaming":
            drafts.setdefault(event.text("section_id"), {})[event.number("paragraph")] = event.text("text")
    return [
        (titles.get(section, "Report"), [text for _, text in sorted(paragraphs.items()) if text])
        for section, paragraphs in drafts.items()
        if any(paragraphs.values())
    ]


def parts_of(text: str, quote: str) -> tuple[list[tuple[str, bool]], bool]:
    """Return the text in pieces, each with whether it is the quote, and whether the quote was found.

    A quote that differs from the text in white space or in the form of characters is found in the normal form
    of both, in which the text is then shown.
    """
    start = text.find(quote) if quote else -1
    if quote and start < 0:
        normal_text, normal_quote = normalise(text), normalise(quote)
        if (start := normal_text.find(normal_quote)) >= 0:
            text, quote = normal_text, normal_quote
    if start < 0:
        return [(text[:MAX_CHARS], False)], False
    end = start + len(quote)
    begin = max(0, start - MAX_CHARS // 2)
    pieces = [(text[begin:start], False), (quote, True), (text[end : begin + MAX_CHARS], False)]
    return [piece for piece in pieces if piece[0]], True


SEE_OTHER = 303


class Frame:
    def __init__(self, access: Access, sign_in: SignIn) -> None:
        self.access = access
        self.sign_in = sign_in
        self.client = access.client
        self.settings = access.client.settings

    def user(self, request: Request) -> str:
        """Return who is signed in. Raises HTTPException 401."""
        if (user := self.sign_in.user(request)) is None:
            raise HTTPException(401, "sign in first")
        return user

    async def run(self, request: Request, run_id: str) -> Run:
        """Return a run of who is signed in. Raises NoSuchRun, HTTPException 401."""
        return await self.access.run(run_id, self.user(request))

    async def page(self, name: str, status: int = 200, /, **values: object) -> HTMLResponse:
        """Return a whole page. It is rendered in a thread: a long report takes a second of a processor."""
        return HTMLResponse(
            await asyncio.to_thread(partial(render_template, name, shared=self.access.is_shared, **values)),
            status,
        )

    async def part(self, name: str, status: int = 200, /, **values: object) -> HTMLResponse:
        """Return a part that htmx puts into a page."""
        return HTMLResponse(await asyncio.to_thread(partial(render_template, name, **values)), status)

    async def part_or_page(self, request: Request, page: str, part: str, /, **values: object) -> HTMLResponse:
        """Return the part for htmx, a whole page for a browser that loads its address."""
        return await (self.part(part, **values) if is_part(request) else self.page(page, **values))

    async def answer(self, request: Request, run_id: str, text: str) -> Response:
        """Return what came of a message to a run: a line for htmx, else the page of the run."""
        if is_part(request):
            return await self.part("said", text=text, wrong=False)
        return RedirectResponse(run_url(run_id), SEE_OTHER)

    async def error_response(self, request: Request, error: Exception) -> Response:
        """Return the answer to a request that cannot be met, in one line."""
        status, line = describe(error)
        if status == 401 and self.sign_in.user(request) is None:
            return signed_out(request)
        if is_part(request):
            return await self.part("said", status, text=line, wrong=True)
        if "text/html" not in request.headers.get("accept", ""):
            return HTMLResponse(render_template("said", text=line, wrong=True), status)
        return await self.page("error", status, line=line, signed_in=self.sign_in.user(request) is not None)


def is_part(request: Request) -> bool:
    """Tell whether htmx asks, which puts the answer into the page that is open."""
    return request.headers.get("hx-request") == "true"


def signed_out(request: Request) -> Response:
    """Leads to the form for signing in, and back from there to what was asked for."""
    path = request.url.path if request.method == "GET" and not is_part(request) else "/"
    address = f"/sign-in?then={quote(path)}" if path != "/" else "/sign-in"
    if is_part(request):
        return Response(status_code=401, headers={"HX-Redirect": address})
    if "text/html" not in request.headers.get("accept", ""):
        return HTMLResponse(render_template("said", text="sign in first", wrong=True), 401)
    return RedirectResponse(address, SEE_OTHER)


def describe(error: Exception) -> tuple[int, str]:
    """Return the HTTP status of an error, and one line on it for people."""
    match error:
        case HTTPError():
            return error.status_code, str(error.detail)
        case ValidationError():
            return 400, faults_of(error, "the form")
        case RequestValidationError():
            return 400, wrong_fields(error.errors())
        case ClientDisconnect():
            return 413, "the request is too large or was not sent whole"
    return status_of(error), line_of(error)


HANDLED = (*EXPECTED, HTTPError, ValidationError, RequestValidationError, ClientDisconnect)
"""Errors that `Frame.failed` answers."""
