"""The HTTP interface: Responses, chat completions and `/runs`.

It is a client only, without a state of its own: the id of a response is that of its run, so nothing is lost
when it ends. There are no CORS headers: pages of other sites cannot read it.
"""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from activities.credentials import redacted
from client.access import Folders, line_of, status_of, wrong_fields
from client.api import EXPECTED, Determinator
from client.guard import MAX_BODY_BYTES, limit_body
from client.http.chat import chat
from client.http.desk import Desk
from client.http.response_routes import responses
from client.http.rest import rest
from client.http.reviews import reviews
from client.http.tokens import TokenFile

KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found",
    429: "rate_limit_error",
}
CODES = {
    400: "invalid_request",
    401: "invalid_api_key",
    403: "insufficient_scope",
    404: "not_found",
    405: "method_not_allowed",
    413: "request_too_large",
    429: "rate_limit_exceeded",
    500: "server_error",
    503: "server_unavailable",
}
"""Status -> the code of its error, for programs."""
RETRY_SECONDS = "5"


def build_app(client: Determinator, tokens: TokenFile, folders: Sequence[Path] = ()) -> FastAPI:
    """Return the application.

    `folders`: those whose documents a caller may name. Raises BadInput.
    """
    app = FastAPI(title="Determinator", version=version("determinator"), docs_url=None, redoc_url=None)
    desk = Desk(client, tokens, Folders(folders))
    app.include_router(responses(desk))
    app.include_router(chat(desk))
    app.include_router(rest(desk))
    app.include_router(reviews(desk))
    for kind in EXPECTED:
        app.add_exception_handler(kind, refusal)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_middleware(Limited)
    return app


class Limited:
    """ASGI middleware: a body has `MAX_BODY_BYTES` at most."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            length = dict(scope["headers"]).get(b"content-length", b"0")
            if not length.isdigit() or int(length[:20]) > MAX_BODY_BYTES:
                await error_of(413, f"a request may have {MAX_BODY_BYTES} bytes")(scope, receive, send)
                return
            receive = limit_body(receive)
        await self._app(scope, receive, send)


def error_of(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return an error as clients of the protocols read it: one line, without secrets."""
    kind = KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    body = {
        "message": redacted(" ".join(message.split())),
        "type": kind,
        "param": None,
        "code": CODES.get(status),
    }
    return JSONResponse({"error": body}, status, headers)


async def refusal(_: Request, error: Exception) -> JSONResponse:
    status = status_of(error)
    return error_of(status, line_of(error), {"Retry-After": RETRY_SECONDS} if status == 503 else None)


async def http_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return error_of(error.status_code, str(error.detail), dict(error.headers or {}))


async def invalid(_: Request, error: Exception) -> JSONResponse:
    """Return the answer to a body that is not what its route takes."""
    assert isinstance(error, RequestValidationError)
    return error_of(400, wrong_fields(error.errors()))
