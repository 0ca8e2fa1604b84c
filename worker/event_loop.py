"""The event loop of a worker process: uvloop's where it is installed, else asyncio's own.

A worker is woken often: by the SDK's native threads, by its connections, by threads of its own. uvloop does
that in native code. It does not exist for Windows.
"""

import asyncio
import sys
from collections.abc import Coroutine
from typing import TypeVar

Result = TypeVar("Result")


def run(main: Coroutine[object, object, Result]) -> Result:
    """Run a coroutine to its end, as `asyncio.run` does, and return its result."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A new event loop of the kind that workers use."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    try:
        import uvloop
    except ImportError:  # for some processors and interpreters there is none
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
