"""A run that chooses its sources leaves out what cannot be reached, and says so."""

import socket
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.contracts.prepare import PrepareInput
from activities.prepare_activity import PrepareActivities
from activities.settings import Settings
from activities.sources.http.client import open_http
from activities.sources.registry import Sources, unreachable
from tests.replay import ReplayServer


def closed_port() -> int:
    """A port without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


async def test_a_host_that_listens_is_reached_and_one_that_does_not_is_named(server: ReplayServer) -> None:
    found = await unreachable(
        {"here": server.url, "gone": f"http://127.0.0.1:{closed_port()}/api", "nowhere": "http://x.invalid"}
    )
    assert set(found) == {"gone", "nowhere"}
    assert "127.0.0.1" in found["gone"]
    assert "x.invalid" in found["nowhere"]


async def test_behind_a_proxy_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert await unreachable({"gone": f"http://127.0.0.1:{closed_port()}"}) == {}


async def test_what_cannot_be_reached_is_closed_for_the_run_unless_it_was_asked_for_by_name(
    server: ReplayServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETERMINATOR_PUBMED_URL", server.url)
    monkeypatch.setenv("DETERMINATOR_EUROPEPMC_URL", f"http://127.0.0.1:{closed_port()}")
    settings = Settings(home=home)
    run = ActivityEnvironment().run
    async with open_http(settings) as http:
        prepare = PrepareActivities(settings, Sources(settings, http))
        free = await run(prepare.prepare, PrepareInput(profile="biomedical"))
        named = await run(prepare.prepare, PrepareInput(profile="biomedical", sources=("europepmc",)))
    enabled = {option.info.name: option.enabled for option in free.sources}
    assert enabled["pubmed"]
    assert enabled["library"]
    assert not enabled["europepmc"]
    assert next(o for o in free.sources if o.info.name == "europepmc").reason.startswith("cannot be reached")
    assert [o.enabled for o in named.sources] == [True]
