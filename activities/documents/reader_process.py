"""The process in which untrusted bytes are read: one job after the other, each within limits.

A malicious document can make a parser of HTML, PDF, XML or archives loop, recurse without end or request all
memory. Here that affects this process only: it has no keys in its environment, may not write files, and its
memory and processor time are limited. `activities.documents.readers` starts it, and kills it when a job
exceeds its time limit or its caller is gone.

A job comes on stdin as one JSON line, `{"function": "module:name", "args": [...], "body": bytes, ...}`, and
`body` bytes after it. Results go to stdout as frames: a kind (one byte), a length (four bytes, big endian),
the bytes. Kinds: `i` an item, `u` the reason why it is unreadable, `x` the same from a process that ends now,
`d` done.
"""

import contextlib
import importlib
import json
import os
import select
import struct
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from pydantic_core import to_json

IDLE_SECONDS = 60.0
"""Seconds without a job after which a process ends itself."""
HAND_OVER_SECONDS = 10.0
"""Seconds of processor time for receiving a job: what the job before it left over is not its limit."""
OWN_PACKAGES = ("activities.", "client.reports.")
"""Only functions of these packages are called."""
ITEM, UNREADABLE, ENDING, DONE = b"i", b"u", b"x", b"d"
FRAME = struct.Struct(">cI")


def main() -> None:
    jobs, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not be mistaken for a result
    sys.setrecursionlimit(2_000)
    while _has_work(jobs):
        line = jobs.readline()
        if not line:
            return
        job = json.loads(line)
        body = jobs.read(job["body"])
        _limit(memory=job["memory"], seconds=job["seconds"])
        try:
            for item in _items(job, body):
                _send(results, ITEM, to_json(item))
            _send(results, DONE, b"")
        except (MemoryError, RecursionError) as error:
            _send(results, ENDING, _reason(error).encode())
            return  # such a process cannot be relied on any more
        except Exception as error:  # noqa: BLE001 - a parser fails with whatever the broken part leads to
            _send(results, UNREADABLE, _reason(error).encode(errors="replace"))
        results.flush()
        _limit(memory=job["memory"], seconds=HAND_OVER_SECONDS)
        del job, body


def _has_work(jobs: BinaryIO) -> bool:
    """Wait for a job or the end of stdin; False when none came for long."""
    if sys.platform == "win32":
        return True  # pipes cannot be waited for there: stdin ends with the worker
    return bool(select.select([jobs], [], [], IDLE_SECONDS)[0])


def _items(job: dict[str, Any], body: bytes) -> Iterator[object]:
    module, _, name = job["function"].partition(":")
    if not module.startswith(OWN_PACKAGES):
        raise ValueError(f"{module} is not read with")
    function = getattr(importlib.import_module(module), name)
    result = function(body, *job["args"])
    if isinstance(result, Iterator):
        yield from result
    else:
        yield result


def _reason(error: BaseException) -> str:
    from activities.contracts.errors import DeterminatorError
    from activities.documents.text import Unreadable

    if isinstance(error, (Unreadable, DeterminatorError)):
        return str(error)
    if isinstance(error, MemoryError):
        return "reading it needs more memory than a document may use"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"it cannot be read: {type(error).__name__} {error}"[:300]


def _send(results: BinaryIO, kind: bytes, data: bytes) -> None:
    results.write(FRAME.pack(kind, len(data)) + data)
    results.flush()


def _limit(*, memory: int, seconds: float) -> None:
    """Limit the memory of this process and the processor time of its next job, where the system can."""
    if sys.platform == "win32":
        return
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(usage.ru_utime + usage.ru_stime + seconds) + 1
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        with contextlib.suppress(ValueError, OSError):  # macOS knows no limit of the address space
            resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


if __name__ == "__main__":
    main()
