"""`determinator serve` as a person starts it: a process of its own, on a port of its own."""

import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from client.embedded.binary import free_port
from tests.client.harness import Begun, begin, wait_until

if TYPE_CHECKING:
    from openai import OpenAI


@dataclass
class Served:
    """A server, and the token it printed."""

    url: str
    token: str
    process: Begun

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@contextmanager
def serving(*options: str, port: int | None = None, env: dict[str, str] | None = None) -> Iterator[Served]:
    """A server that is stopped at the end, unless it was killed meanwhile."""
    port = port or free_port()
    process = begin("serve", "--listen", f"127.0.0.1:{port}", *options, env=env)
    try:
        wait_until(lambda: is_up(port) or process.poll() is not None, what="the HTTP server")
        token = ""
        if "--tokens" not in options:
            line = process.stderr.readline()
            match = re.search(r"token: (\S+)", line)
            assert match, line
            token = match[1]
        yield Served(f"http://127.0.0.1:{port}", token, process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def is_up(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/v1/models").status_code == 401
    except httpx.HTTPError:
        return False


def ids(lines: Sequence[str]) -> list[int]:
    """The ids of server-sent events, in the order they came."""
    return [int(line.removeprefix("id: ")) for line in lines if line.startswith("id: ")]


def client_of(served: Served) -> "OpenAI":
    """The unmodified client of OpenAI."""
    from openai import OpenAI

    return OpenAI(base_url=f"{served.url}/v1", api_key=served.token, timeout=180, max_retries=0)
