"""Reading untrusted bytes in a process that can be killed: the worker's side.

A few processes (`activities.documents.reader_process`) read one document after the other. A job ends by its
result, by its time limit, by a result that is too large, or because its caller went away; the process is
killed in all cases but the first and the next job gets a new one. The threads that wait for them are this
module's own: no other part of the worker waits for a document.
"""

import asyncio
import atexit
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from activities.documents.reader_process import DONE, ENDING, FRAME, IDLE_SECONDS, ITEM, UNREADABLE
from activities.documents.text import Unreadable
from activities.processes import ROOT, for_python, python, start

MEMORY_BYTES = 2 * 1024**3
"""Address space of a reading process, the interpreter and its libraries (about 400 MB) included."""
RESULT_BYTES = 64 * 1024 * 1024
"""Bytes of one item that comes back: the text of a document has at most four million characters."""
LOAD = 4
"""Seconds that may pass for each second of processor time: other work may load the machine."""
PROCESSOR_TIME = 24
"""The signal that ends a process whose processor time is over."""
PROCESSES = min(max(os.cpu_count() or 1, 2), 4)

T = TypeVar("T")


class Stop:
    """Ends the job it was given to, from any thread, now or as soon as it begins."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None
        self.is_asked = False

    def ask(self) -> None:
        """End the job under way, and any that begins later."""
        with self._lock:
            self.is_asked = True
            if self._end is not None:
                self._end()

    @contextmanager
    def ends(self, end: Callable[[], None]) -> Iterator[None]:
        """While the body runs, `ask` calls `end`."""
        with self._lock:
            if self.is_asked:
                raise Stopped
            self._end = end
        try:
            yield
        finally:
            with self._lock:
                self._end = None


class Stopped(Exception):
    """The caller no longer waits for the result."""


class ProcessEnded(Unreadable):
    """A reading process ended: by what it read, or killed by somebody, so that a second may read it."""


class Readers:
    """A few reading processes, started when they are needed."""

    def __init__(self, processes: int = PROCESSES, memory: int = MEMORY_BYTES) -> None:
        self._free = threading.BoundedSemaphore(processes)
        self._idle: list[_Process] = []
        self._lock = threading.Lock()
        self._memory = memory
        self._threads = ThreadPoolExecutor(4 * processes, thread_name_prefix="reading")

    def stream(
        self,
        function: str,
        *args: object,
        body: bytes = b"",
        seconds: float,
        stop: Stop | None = None,
        memory: int | None = None,
    ) -> Iterator[bytes]:
        """Yield the items that `module:name` yields for a body, as JSON, one at a time.

        `seconds` limits processor time, `LOAD` times as much the time that passes. `memory`: bytes of address
        space, where a job needs more than most. Raises Unreadable with the reason, Stopped.
        """
        stop = stop or Stop()
        limits = {"seconds": seconds, "memory": memory or self._memory}
        job = {"function": function, "args": args, **limits}
        with self._free:
            try:
                yield from self._attempt(job, body, seconds, stop)
            except ProcessEnded:
                yield from self._attempt(job, body, seconds, stop)

    def _attempt(self, job: dict[str, Any], body: bytes, seconds: float, stop: Stop) -> Iterator[bytes]:
        """Yield the items of a job. Raises ProcessEnded where its process ended before it gave any."""
        process, has_given = self._take(), False
        try:
            with stop.ends(process.end):
                for item in process.run(job, body, seconds):
                    has_given = True
                    yield item
        except Unreadable as error:
            if stop.is_asked:
                raise Stopped from None
            if has_given and isinstance(error, ProcessEnded):
                raise Unreadable(str(error)) from error
            raise
        finally:
            if process.is_free:
                with self._lock:
                    self._idle.append(process)
            else:
                process.kill()

    async def read(self, kind: type[T], function: str, *args: object, body: bytes = b"", seconds: float) -> T:
        """Return the one result of `module:name`; a cancelled caller ends the job. Raises Unreadable."""

        def work(stop: Stop) -> T:
            (result,) = self.stream(function, *args, body=body, seconds=seconds, stop=stop)
            return TypeAdapter(kind).validate_json(result)

        return await self.in_thread(work)

    async def in_thread(self, work: Callable[[Stop], T]) -> T:
        """Run something that uses these processes in a thread of theirs; a cancelled caller stops it."""
        stop = Stop()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, stop)
        except asyncio.CancelledError:
            stop.ask()
            raise

    def close(self) -> None:
        """End the processes that wait for work."""
        with self._lock:
            while self._idle:
                self._idle.pop().kill()

    def _take(self) -> "_Process":
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.is_fresh():
                    return process
                process.kill()
        return _Process()


class _Process:
    def __init__(self) -> None:
        self._process = start(
            python("activities.documents.reader_process"),
            for_python(PYTHONPATH=ROOT, OPENBLAS_NUM_THREADS="1"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.is_free = False
        """Whether its last job has ended and it waits for the next."""
        self._idle_since = time.monotonic()

    def is_fresh(self) -> bool:
        """Tell whether it still waits, and is not about to end by itself."""
        return self._process.poll() is None and time.monotonic() - self._idle_since < IDLE_SECONDS / 2

    def end(self) -> None:
        """End it at once, from any thread; its job then fails."""
        self._process.kill()

    def kill(self) -> None:
        """End it and close what leads to it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError, ValueError, AttributeError):
                pipe.close()  # type: ignore[union-attr]

    def run(self, job: dict[str, Any], body: bytes, seconds: float) -> Iterator[bytes]:
        """Yield the items of one job. Raises Unreadable."""
        assert self._process.stdin is not None
        self.is_free = False
        timed_out = threading.Event()

        def end() -> None:
            timed_out.set()
            self._process.kill()

        timer = threading.Timer(LOAD * seconds, end)
        timer.daemon = True
        timer.start()
        try:
            self._process.stdin.write(json.dumps({**job, "body": len(body)}).encode() + b"\n" + body)
            self._process.stdin.flush()
            while True:
                kind, data = self._frame()
                if kind == ITEM:
                    yield data
                    continue
                self.is_free, self._idle_since = kind in (DONE, UNREADABLE), time.monotonic()
                if kind in (UNREADABLE, ENDING):
                    raise Unreadable(data.decode(errors="replace"))
                return
        except (OSError, ValueError, EOFError) as error:
            if timed_out.is_set():
                raise Unreadable(f"reading it needs more than {seconds:g} seconds") from error
            with suppress(subprocess.TimeoutExpired):
                if self._process.wait(1) == -PROCESSOR_TIME:
                    raise Unreadable(f"reading it needs more than {seconds:g} seconds") from error
            raise ProcessEnded("reading it ended the process that read it") from error
        finally:
            timer.cancel()

    def _frame(self) -> tuple[bytes, bytes]:
        assert self._process.stdout is not None
        head = self._process.stdout.read(FRAME.size)
        if len(head) < FRAME.size:
            raise EOFError
        kind, length = FRAME.unpack(head)
        if length > RESULT_BYTES:
            raise Unreadable(f"what was read from it is larger than {RESULT_BYTES >> 20} MiB")
        data = self._process.stdout.read(length)
        if len(data) < length:
            raise EOFError
        return kind, data


@cache
def readers() -> Readers:
    """Return the reading processes of this process, which end with it."""
    pool = Readers()
    atexit.register(pool.close)
    return pool
