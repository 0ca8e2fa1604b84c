"""The requests that reach the page: of its own origin and of a small size.

It also says what a browser may do with the answers.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from client.runs.checks import MAX_BYTES

MAX_BODY_BYTES = 1_000_000
"""Bytes of a request: a form with a question, or an edited plan."""
QUESTION_FILE = "/question-file"
"""The route that reads a question from a file, which may be as large as `client.runs.checks` reads."""
TEXTS = "/texts"
"""The end of the route that takes the full texts of a review."""
MAX_TEXTS_BYTES = 64 * 2**20
FORM_BYTES = 100_000
"""Bytes that a form may have beside its file."""
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded from elsewhere, and no script stands in a page."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


class Guard:
    """ASGI middleware; see the module."""

    def __init__(self, app: ASGIApp, *, https: bool = False) -> None:
        """`https`: the page is reached over TLS, which a proxy ends."""
        self._app = app
        self._https = https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if refusal := refusal_of(scope["path"], Headers(scope=scope)):
            if scope["type"] == "http":
                await refusal(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        if self._https:
            scope = {**scope, "scheme": "https"}

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, limit_body(receive, max_bytes_of(scope["path"])), send_secured)


def refusal_of(path: str, headers: Headers) -> PlainTextResponse | None:
    """Return the answer to a request that is not for this page; None for one that is."""
    if not is_own_origin(headers):
        return PlainTextResponse("this request comes from a page of another address", 403)
    length, limit = headers.get("content-length", "0"), max_bytes_of(path)
    if not length.isdigit() or int(length[:20]) > limit:
        return PlainTextResponse(f"a request may have {limit} bytes", 413)
    return None


def max_bytes_of(path: str) -> int:
    if path.startswith("/review/") and path.endswith(TEXTS):
        return MAX_TEXTS_BYTES
    return MAX_BYTES + FORM_BYTES if path == QUESTION_FILE else MAX_BODY_BYTES


def is_own_origin(headers: Headers) -> bool:
    """Tell whether the page that sent a request is at the address that it was sent to.

    A browser names its page in each request of a script to another origin, and in each form that is sent.
    """
    origin = headers.get("origin")
    if origin is None:
        return True
    scheme, _, address = origin.partition("://")
    port = DEFAULT_PORTS.get(scheme, "")
    return bool(port) and address.removesuffix(port) == headers.get("host", "").removesuffix(port)


def limit_body(receive: Receive, max_bytes: int = MAX_BODY_BYTES) -> Receive:
    """Return the same body, cut off where it is longer than it may be: its length need not be announced."""
    size = 0

    async def receive_counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        return {"type": "http.disconnect"} if size > max_bytes else message

    return receive_counted
