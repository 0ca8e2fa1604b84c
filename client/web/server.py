"""The application of the page: sign-in, runs and reports."""

import secrets
from collections.abc import Sequence
from functools import cache

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp

from activities.report.formats.html import script
from client.access import Access
from client.api import Determinator
from client.guard import Guard
from client.sign_in.signing_in import SESSION_SECONDS, SignIn
from client.web.frame import HANDLED, STATIC, Frame, render_template, stylesheet
from client.web.home import Home
from client.web.reading import Reading, Talking
from client.web.running import Running
from client.web.screening import Screening

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".LICENSE": "text/plain"}
SCRIPTS = ("htmx.min.js", "hx-sse.min.js", "page.js")
MIN_GZIP_BYTES = 1_000


def build_app(
    client: Determinator, sign_in: SignIn, hosts: Sequence[str] = LOOPBACK, *, https: bool = False
) -> ASGIApp:
    """Return the whole page.

    `hosts` are the names it may be reached by: a page of another site cannot reach it by a name of its
    own. `https`: cookies are sent over TLS only.
    """
    page = page_app(Access(client, is_shared=sign_in.is_needed), sign_in)
    guarded = Guard(with_sessions(page, https=https), https=https)
    return TrustedHostMiddleware(guarded, allowed_hosts=[*hosts])


def with_sessions(app: ASGIApp, *, https: bool = False) -> ASGIApp:
    """Return the same with the cookie of a session, whose key is of this process and ends with it."""
    key = secrets.token_hex(32)
    return SessionMiddleware(app, key, max_age=SESSION_SECONDS, same_site="lax", https_only=https)


def page_app(access: Access, sign_in: SignIn) -> FastAPI:
    """Return the routes of the page, without what guards them."""
    app = FastAPI(title="Determinator", docs_url=None, redoc_url=None, openapi_url=None)
    frame = Frame(access, sign_in)
    home = Home(frame)
    talking = Talking(frame, home)
    reading = Reading(frame, talking)
    sign_in.add_to(app, render_template)
    running = Running(frame, home, reading, talking)
    for part in (home, reading, talking, running, Screening(frame)):
        app.include_router(part.router())
    for kind in HANDLED:
        app.add_exception_handler(kind, frame.error_response)

    @app.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        data, kind = file_of(name)
        caching = "public, max-age=31536000, immutable" if "v" in request.query_params else "no-cache"
        return Response(data, media_type=kind, headers={"Cache-Control": caching})

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    app.add_middleware(GZipMiddleware, minimum_size=MIN_GZIP_BYTES)
    return app


@cache
def file_of(name: str) -> tuple[bytes, str]:
    """Return a file that the page loads, and its type. Raises HTTPException."""
    if name == "style.css":
        return stylesheet().encode(), TYPES[".css"]
    if name == "script.js":
        # one file: htmx looks at the page once it is there, and its extension must be by then
        files = [(STATIC / part).read_text(encoding="utf-8") for part in SCRIPTS]
        return ";\n".join((*files, script())).encode(), TYPES[".js"]
    path = STATIC / name
    if path.parent != STATIC or not path.is_file():
        raise HTTPException(404, "there is nothing at this address")
    return path.read_bytes(), TYPES[path.suffix]
