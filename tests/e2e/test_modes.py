"""Each of the modes beside iterative and deep, through the command line: on recorded answers of PubMed with a
scripted model. `test_one_question` has them without one."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from client.failures import Exit
from tests.client.harness import Ran, determinator, inside, wait_for_gate
from tests.e2e.stage import Clock, Thorough, evidence_of, faults, pubmed, recorded_sources, report_of
from tests.fake_openai import PATH, FakeOpenAI, role_of
from tests.replay import ReplayServer
from workflows.team import TEMPERATURES

pytestmark = pytest.mark.xdist_group("e2e-modes")

QUESTION = "Does trametinib prolong survival in melanoma?"
TWO_PARTS = "Does trametinib improve survival, and do antidepressants have cardiac side effects?"
TOPICS = (
    "Does trametinib improve survival in melanoma?",
    "Do antidepressants have cardiac side effects in the elderly?",
)
"""What the sections of a plan are about: the first and the third of the recorded works."""
ASKED_OF = {
    "simple": QUESTION,
    "team": "Does trametinib delay the progression of melanoma?",
    "hierarchical": TWO_PARTS,
    "graph": "Is trametinib better than chemotherapy in melanoma?",
}
"""A question for each mode: what one of them judged would be known to the next."""
COMPARED = "Do patients with melanoma live longer with trametinib?"


@dataclass(frozen=True)
class Servers:
    """A model that is satisfied after two rounds, and PubMed as it was recorded."""

    model: FakeOpenAI
    sources: ReplayServer
    clock: Clock
    """Of PubMed."""


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with FakeOpenAI() as model, ReplayServer() as sources:
        model.on(PATH, Thorough(2, TOPICS, recommends_on=[QUESTION, COMPARED]))
        clock = Clock(0)
        pubmed(sources, clock)
        yield Servers(model, sources, clock)


@pytest.fixture
def model(servers: Servers, file_home: Path, monkeypatch: pytest.MonkeyPatch) -> FakeOpenAI:
    """The model, asked nothing yet. The servers stay, so that the worker need not start again."""
    servers.model.serve(monkeypatch, **recorded_sources(servers.sources))
    return servers.model


def ask(*flags: str, question: str = QUESTION) -> Ran:
    return determinator("ask", question, "--profile", "biomedical", "--source", "pubmed", *flags)


def events_of(run: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in inside("events", run, "--json").out.splitlines()]


def turns_of(run: str) -> list[str]:
    """The members or nodes that had a turn, in order."""
    return [event["data"]["member"] for event in events_of(run) if event["type"] == "turn"]


@pytest.mark.parametrize("mode", ASKED_OF)
def test_a_mode_answers_from_recorded_sources_with_quotes_that_hold(model: FakeOpenAI, mode: str) -> None:
    ran = ask("--mode", mode, question=ASKED_OF[mode])
    assert ran.code == Exit.DONE, ran
    report = report_of(ran.run_id)
    assert (report["mode"], report["stop_reason"]) == (mode, "sufficient_evidence")
    assert not faults(report, evidence_of(ran.run_id))
    check = report["verification"]
    assert {dropped["statement"]["code"] for dropped in check["dropped"]} <= {"repeats_claim"}
    assert check["verified"] == check["claims"] - len(check["dropped"]) >= 4
    assert report["methodology"]["counts"]["identified"] >= 4
    assert {search["status"] for search in report["methodology"]["searches"]} == {"ok"}
    assert [event["type"] for event in events_of(ran.run_id)].count("complete") == 1
    OWN[mode](ran.run_id, report, model)


def simple_asks_five_roles_and_has_no_nodes(run: str, report: dict[str, Any], model: FakeOpenAI) -> None:
    roles = {role_of(asked) for asked in model.asked if asked.body}
    assert roles == {"clarifier", "query_parser", "judge", "writer", "verifier"}
    assert report["methodology"]["iterations"] >= 2
    assert inside("status", run, "--json").json()["graph"] is None


def members_of_a_team_have_temperatures(run: str, _report: dict[str, Any], model: FakeOpenAI) -> None:
    turns = turns_of(run)
    assert turns == ["searcher", "judge", "searcher", "judge", "reporter"]
    sent = {role_of(asked): asked.json()["temperature"] for asked in model.asked if asked.body}
    assert {role: sent[role] for role in TEMPERATURES if role in sent} == {
        role: TEMPERATURES[role] for role in ("manager", "tool_selector", "judge", "writer")
    }


def sub_teams_write_a_section_each(_run: str, report: dict[str, Any], _model: FakeOpenAI) -> None:
    assert len(report["sections"]) == 2
    assert all(section["status"] == "complete" and section["claims"] for section in report["sections"])


def a_graph_ends_at_its_exit(run: str, _report: dict[str, Any], _model: FakeOpenAI) -> None:
    seen = inside("status", run, "--json").json()["graph"]
    assert (seen["name"], seen["at"], seen["running"]) == ("iterative", "write", [])
    assert set(seen["visits"]) >= {"begin", "select_tools", "search", "judge", "write"}
    assert seen["state"]["sufficient"] is True
    assert turns_of(run)[-1] == "write"


OWN: dict[str, Callable[[str, dict[str, Any], FakeOpenAI], None]] = {
    "simple": simple_asks_five_roles_and_has_no_nodes,
    "team": members_of_a_team_have_temperatures,
    "hierarchical": sub_teams_write_a_section_each,
    "graph": a_graph_ends_at_its_exit,
}
"""What a mode promises beside."""


def test_a_graph_of_ones_own_travels_with_its_run_and_says_where_it_is(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    """`--mode auto` walks a graph that is given; the file is damaged while the run waits."""
    built_in = resources.files("workflows.graph") / "graphs" / "deep.toml"
    file = tmp_path / "own.toml"
    file.write_text(built_in.read_text().replace('name = "deep"', 'name = "own"'))
    flags = ("--mode", "auto", "--graph", str(file), "--approve", "plan", "--detach", "--json")
    run = ask(*flags, question=TWO_PARTS).json()["run_id"]
    wait_for_gate(run, "plan")
    file.write_text("nonsense")
    assert inside("graph", "check", str(file)).code == Exit.BAD_INPUT

    seen = inside("status", run, "--json").json()
    assert seen["progress"]["mode"] == "graph"
    assert seen["graph"]["running"] == ["plan"]
    assert "plan running" in inside("status", run).out
    assert inside("approve", run).code == Exit.DONE
    assert determinator("watch", run).code == Exit.DONE

    ended = inside("status", run, "--json").json()["graph"]
    assert (ended["name"], ended["at"]) == ("own", "synthesize")
    assert ended["nodes"] == ["plan", "research", "synthesize"]
    report = report_of(run)
    assert (report["mode"], len(report["sections"])) == ("graph", 2)
    chosen = [event["data"] for event in events_of(run) if event["type"] == "mode_chosen"]
    assert [data["mode"] for data in chosen] == ["graph"]
