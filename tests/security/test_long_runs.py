"""Whole runs in which every source answers with one fault (`make test-security`)."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from activities.sources.names import SOURCES
from tests.client.harness import determinator
from tests.replay import ReplayServer, Reply

JSON = {"content-type": "application/json"}
FAULTS = {
    "403": Reply(403, "{}", JSON),
    "429, wait without end": Reply(429, "{}", {**JSON, "retry-after": "9" * 24}),
    "500": Reply(500, '{"error": {"code": "X", "message": "y"}}', JSON),
    "deep JSON": Reply(200, "[" * 200_000, JSON),
    "another object": Reply(200, '{"x": 1}', JSON),
    "packed twice": Reply(
        200, gzip.compress(gzip.compress(b"{}")), {**JSON, "content-encoding": "gzip, gzip"}
    ),
    "a bomb": Reply(200, gzip.compress(b"\0" * 200_000_000, 1), {**JSON, "content-encoding": "gzip"}),
    "no answer": Reply(hang_up=True),
}
ASKED = [name for name, _ in SOURCES if name not in ("library", "evidence", "neo4j")]
"""The sources that are asked over HTTP."""


@pytest.mark.security
@pytest.mark.timeout(900)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_whose_sources_all_fail_says_so(fault: str, home: Path) -> None:
    with ReplayServer() as server:
        server.on("/*", FAULTS[fault])
        env = {f"DETERMINATOR_{name.upper()}_URL": server.url for name in ASKED}
        env |= {f"{name}_API_KEY": "a-key" for name in ("BRAVE", "TAVILY", "SERPER")}
        env |= {"SEARXNG_URL": server.url}
        named = [word for name in ASKED for word in ("--source", name)]
        question = "Does aspirin lower the risk of colorectal cancer?"
        limits = ("--mode", "iterative", "--max-iterations", "1", "--max-time", "180")
        ran = determinator("ask", question, *limits, *named, env=env)
        assert ran.code == 4, ran
        report = json.loads(determinator("report", "last", "--format", "json", env=env).out)
    searches = report["methodology"]["searches"]
    assert searches
    wrong = {search["status"] for search in searches} & {"ok", "empty"}
    sys.stdout.write(f"\nrun: {fault:26} {len(searches):4} searches {len(wrong):4} through\n")
    assert not wrong
    assert report["stop_reason"] in ("all_sources_failed", "timeout")
    assert report["verification"]["claims"] == 0
