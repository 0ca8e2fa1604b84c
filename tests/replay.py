"""A local HTTP server that replays recordings, plays scripts of faults, and counts what it was asked."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

RECORDED = Path(__file__).parent / "recorded"


@dataclass(frozen=True)
class Asked:
    """A request as the server saw it."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes
    at: float
    """Seconds of the monotonic clock."""

    def json(self) -> dict[str, object]:
        parsed = json.loads(self.body)
        assert isinstance(parsed, dict)
        return parsed


@dataclass(frozen=True)
class Reply:
    """What to answer. `delay` in seconds; `hang_up` closes the connection without an answer."""

    status: int = 200
    body: bytes | str = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hang_up: bool = False
    chunks: tuple[bytes, ...] = ()
    """Sent one by one, `delay` seconds apart, in place of `body`: for server-sent events."""
    keep_open: bool = False
    """Send `chunks` in a transfer coding that says where they end, as providers do; the connection stays."""


Answer = Reply | Callable[[Asked], Reply]


def recorded(name: str, status: int = 200, **headers: str) -> Reply:
    """A file under tests/recorded as a reply; the content type follows the ending."""
    path = RECORDED / name
    kinds = {".json": "application/json", ".xml": "text/xml", ".html": "text/html", ".txt": "text/plain"}
    kind = {"content-type": kinds.get(path.suffix, "application/octet-stream")}
    return Reply(status, path.read_bytes(), {**kind, **{k.replace("_", "-"): v for k, v in headers.items()}})


class ReplayServer:
    """Answers by path. The answers given for a path are used in turn; the last one goes on for ever.

    with ReplayServer() as server:
        server.on("/esearch.fcgi", recorded("pubmed/esearch1.xml"))
        ... server.url ... server.asked ...
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._answers: dict[str, list[Answer]] = {}
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                outer._serve(self)

            do_GET = do_POST = do_HEAD = _serve  # noqa: N815 - names fixed by http.server

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - fixed by http.server
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: object, client_address: object) -> None:
                return  # a client that hangs up is part of the tests

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def on(self, path: str, *answers: Answer) -> Self:
        """Answer a path (exact, or ending in `*` for a prefix); replaces the earlier answer."""
        with self._lock:
            self._answers[path] = list(answers)
        return self

    def forget(self) -> Self:
        """Forget what was asked, and what was to be answered."""
        with self._lock:
            self.asked.clear()
            self._answers.clear()
        return self

    def count(self, path: str) -> int:
        """How often a path was asked (a trailing `*` counts a prefix)."""
        if path.endswith("*"):
            return sum(a.path.startswith(path[:-1]) for a in self.asked)
        return sum(a.path == path for a in self.asked)

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        length = int(handler.headers.get("content-length") or 0)
        asked = Asked(
            handler.command,
            parts.path,
            parse_qs(parts.query, keep_blank_values=True),
            {k.lower(): v for k, v in handler.headers.items()},
            handler.rfile.read(length),
            time.monotonic(),
        )
        reply = self._reply(asked)
        if reply.hang_up:
            handler.close_connection = True
            return
        if reply.chunks:
            handler.send_response(reply.status)
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            if reply.keep_open:
                handler.send_header("transfer-encoding", "chunked")
            else:
                handler.send_header("connection", "close")
                handler.close_connection = True
            handler.end_headers()
            for chunk in reply.chunks:
                framed = b"%x\r\n%s\r\n" % (len(chunk), chunk) if reply.keep_open else chunk
                handler.wfile.write(framed)
                handler.wfile.flush()
                time.sleep(reply.delay)
            if reply.keep_open:
                handler.wfile.write(b"0\r\n\r\n")
            return
        if reply.delay:
            time.sleep(reply.delay)
        body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in ("content-length", "content-encoding", "transfer-encoding"):
                handler.send_header(name, value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _reply(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            key = asked.path if asked.path in self._answers else None
            if key is None:
                prefixes = [k for k in self._answers if k.endswith("*") and asked.path.startswith(k[:-1])]
                key = max(prefixes, key=len, default=None)
            if key is None:
                return Reply(404, f"nothing is recorded for {asked.path}")
            answers = self._answers[key]
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return answer(asked) if callable(answer) else answer
