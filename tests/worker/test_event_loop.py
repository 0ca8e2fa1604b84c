"""The event loop of a worker: uvloop's where it is installed."""

import asyncio
import importlib.util
import sys

import pytest

from worker.daemon import run


async def kind() -> str:
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]


def test_a_worker_uses_uvloop_where_it_is_installed() -> None:
    assert run(kind()) == ("uvloop" if importlib.util.find_spec("uvloop") else "asyncio")


def test_a_worker_uses_asyncios_own_loop_where_uvloop_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert run(kind()) == "asyncio"
