"""Two terminals with different settings: a run keeps the worker, keys and plugins it began with."""

import json
from pathlib import Path

import pytest

from client.embedded.home import Places, WorkerNote, read_note
from tests.client.harness import (
    Ran,
    determinator,
    gate_of,
    inside,
    processes_of,
    wait_for_gate,
    wait_until,
)
from tests.fake_openai import sensible
from tests.papers import QUESTION
from tests.replay import ReplayServer

pytestmark = pytest.mark.xdist_group("e2e-two-terminals")

KEY = "hush-hush-of-the-first-terminal"


@pytest.fixture
def paid(home: Path) -> "dict[str, str]":
    """The environment of a terminal that has the key; its model is started by the test."""
    return {"OPENAI_API_KEY": KEY}


def ask(library: str, *flags: str, env: "dict[str, str] | None" = None) -> Ran:
    ran = determinator("ask", QUESTION, "--mode", "iterative", "--library", library, *flags, env=env)
    assert ran.code in (0, 4), ran
    return ran


def begun_with_key(library: str, paid: "dict[str, str]", model: ReplayServer) -> str:
    """The id of a run with a key that waits at its report gate."""
    model.on("/chat/completions", sensible)
    paid["OPENAI_BASE_URL"] = model.url
    first = ask(library, "--model", "m1", "--approve", "report", "--detach", env=paid)
    wait_for_gate(first.run_id, "report", **paid)
    return first.run_id


def workers(home: Path) -> set[int]:
    """The worker of each settings, without the processes that help one while it is busy."""
    notes = (read_note(file, WorkerNote) for file in Places(home).state.glob("worker*.json"))
    return {note.pid for note in notes if note is not None and not note.ended}


@pytest.mark.invariant
def test_a_waiting_run_keeps_its_worker_and_other_settings_get_one_beside_it(
    home: Path, library: str, paid: "dict[str, str]"
) -> None:
    with ReplayServer() as model:
        run_id = begun_with_key(library, paid, model)
        before = workers(home)
        second = determinator("ask", QUESTION, "--mode", "iterative", "--library", library)
        assert second.code in (0, 4), second
        (beside,) = workers(home) - before
        assert KEY.encode() not in Path(f"/proc/{beside}/environ").read_bytes()
        report = inside("report", second.run_id, "--format", "json").json()
        assert report["methodology"]["models"] == ["extractive"]
        assert workers(home) == {*before, beside}

        assert determinator("approve", run_id, "--gate", "report").code == 0
        watched = determinator("watch", run_id, "--json")
        assert watched.code == 0, watched
        *events, outcome = [json.loads(line) for line in watched.out.splitlines()]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert outcome["stop_reason"] != "judge_unavailable"
        report = inside("report", run_id, "--format", "json").json()
        assert report["methodology"]["models"] == ["m1"]
        # the two terminals in turns restart nothing
        both = workers(home)
        for number, env in enumerate((None, paid, None)):
            asked = ask(library, "--max-iterations", str(number + 1), env=env)
            assert "restarting" not in asked.err
        assert workers(home) == both
        assert both <= set(processes_of(home)["worker"])


def test_a_busy_worker_is_replaced_when_that_is_asked_for_and_runs_without_one_wait_for_their_key(
    home: Path, library: str, paid: "dict[str, str]"
) -> None:
    with ReplayServer() as model:
        run_id = begun_with_key(library, paid, model)
        before = workers(home)
        paid["NCBI_API_KEY"] = "x"
        assert determinator("up", env=paid).code == 0
        wait_until(lambda: before < workers(home))
        assert determinator("up", "--restart", env=paid).code == 0
        wait_until(lambda: not before & set(processes_of(home)["worker"]))

        assert determinator("down").code == 0
        looked = inside("status", run_id)
        assert looked.code == 0
        assert "a worker with NCBI_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL" in looked.err
        assert processes_of(home)["worker"] == []
        asked = determinator("ask", QUESTION, "--mode", "iterative", "--library", library)
        assert asked.code in (0, 4), asked
        assert "OPENAI_API_KEY" in asked.err
        assert gate_of(run_id, **paid)

        assert determinator("approve", run_id, "--gate", "report", env=paid).code == 0
        assert determinator("watch", run_id, env=paid).code == 0
        report = inside("report", run_id, "--format", "json").json()
        assert report["methodology"]["models"] == ["m1"]
