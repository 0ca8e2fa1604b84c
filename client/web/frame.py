"""Parts that every route of the page shares: who asks, whose run it is, how an answer is written.

A page is whole HTML and works without scripts. A request of htmx (`HX-Request`) gets the part that changes,
and where a form was sent without scripts the answer leads back to the page of the run.
"""

import asyncio
from functools import partial
from urllib.parse import quote

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException as HTTPError
from starlette.requests import ClientDisconnect

from client.access import Access, line_of, status_of
from client.api import EXPECTED
from client.failures import faults_of
from client.run import Run
from client.sign_in.signing_in import SignIn
from client.web.rendering import rendered, run_url

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
            await asyncio.to_thread(partial(rendered, name, shared=self.access.shared, **values)), status
        )

    async def part(self, name: str, status: int = 200, /, **values: object) -> HTMLResponse:
        """Return a part that htmx puts into a page."""
        return HTMLResponse(await asyncio.to_thread(partial(rendered, name, **values)), status)

    async def either(self, request: Request, page: str, part: str, /, **values: object) -> HTMLResponse:
        """Return the part for htmx, a whole page for a browser that loads its address."""
        return await (self.part(part, **values) if is_part(request) else self.page(page, **values))

    async def answer(self, request: Request, run_id: str, text: str) -> Response:
        """Return what came of a message to a run: a line for htmx, else the page of the run."""
        if is_part(request):
            return await self.part("said", text=text, wrong=False)
        return RedirectResponse(run_url(run_id), SEE_OTHER)

    async def failed(self, request: Request, error: Exception) -> Response:
        """Return the answer to a request that cannot be met, in one line."""
        status, line = described(error)
        if status == 401 and self.sign_in.user(request) is None:
            return signed_out(request)
        if is_part(request):
            return await self.part("said", status, text=line, wrong=True)
        if "text/html" not in request.headers.get("accept", ""):
            return HTMLResponse(rendered("said", text=line, wrong=True), status)
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
        return HTMLResponse(rendered("said", text="sign in first", wrong=True), 401)
    return RedirectResponse(address, SEE_OTHER)


def described(error: Exception) -> tuple[int, str]:
    """Return the HTTP status of an error, and one line on it for people."""
    match error:
        case HTTPError():
            return error.status_code, str(error.detail)
        case ValidationError():
            return 400, faults_of(error, "the form")
        case RequestValidationError():
            return 400, "; ".join(f"{fault['loc'][-1]}: {fault['msg']}" for fault in error.errors())
        case ClientDisconnect():
            return 413, "the request is too large or was not sent whole"
    return status_of(error), line_of(error)


HANDLED = (*EXPECTED, HTTPError, ValidationError, RequestValidationError, ClientDisconnect)
"""Errors that `Frame.failed` answers."""
