"""A search by hand of a strictly limited API."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from activities.private_files import write_whole
from activities.settings import user_config_path
from tests.client.harness import inside, processes_of
from tests.replay import ReplayServer, Reply, recorded


@pytest.fixture
def ncbi() -> Iterator[ReplayServer]:
    found = {"esearchresult": {"count": "1", "idlist": ["22663011"]}}
    with ReplayServer() as server:
        server.on("/esearch.fcgi", Reply(200, json.dumps(found), {"content-type": "application/json"}))
        server.on("/efetch.fcgi", recorded("pubmed/efetch_structured_abstract_rct_22663011.xml"))
        yield server


def test_a_limited_api_is_searched_by_runs_alone_where_a_server_is_configured(
    home: Path, ncbi: ReplayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETERMINATOR_PUBMED_URL", ncbi.url)
    ran = inside("search", "pubmed", "trametinib", "--json", "--address", "temporal.example")
    assert ran.code == 1
    assert "only a run searches it" in ran.err
    assert not ncbi.asked
    ncbi.on("/esearch.fcgi", Reply(400, "bad"))
    refused = inside("search", "pubmed", "another")
    assert refused.code == 2
    assert "pubmed answered 400" in refused.err
    assert "Traceback" not in refused.err


def test_settings_given_for_a_search_hold(home: Path, ncbi: ReplayServer) -> None:
    text = f"[sources.pubmed]\nurl = '{ncbi.url}'\nmax_results = 3\nfilters = {{ year_from = 2011 }}\n"
    write_whole(user_config_path(), text.encode())
    ran = inside(
        "search", "pubmed", "selumetinib", DETERMINATOR_PUBMED_URL="", NCBI_API_KEY="for-this-command"
    )
    assert ran.code == 0, ran.err
    asked = next(asked for asked in reversed(ncbi.asked) if asked.path == "/esearch.fcgi")
    assert asked.query["api_key"] == ["for-this-command"]
    assert "2011" in str(asked.query)


def test_with_nothing_running_it_is_asked_directly_and_nothing_is_started(
    home: Path, ncbi: ReplayServer
) -> None:
    ran = inside("search", "pubmed", "trametinib", DETERMINATOR_PUBMED_URL=ncbi.url)
    assert ran.code == 0, ran.err
    assert "pmid:22663011" in ran.out
    assert processes_of(home) == {"server": [], "worker": []}
