"""Two terminals with different settings: a run keeps the worker, keys and plugins it began with."""

import asyncio
import json
import signal
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from client.embedded.workers import has_steps
from determinator import Determinator
from tests.client.harness import (
    Ran,
    begin,
    determinator,
    gate_of,
    inside,
    processes_of,
    wait_for_gate,
    wait_until,
)
from tests.fake_openai import sensible
from tests.papers import QUESTION
from tests.replay import Asked, ReplayServer, Reply

pytestmark = pytest.mark.xdist_group("e2e-two-terminals")

KEY = "hush-hush-of-the-first-terminal"


@pytest.fixture
def paid(file_home: Path, monkeypatch: pytest.MonkeyPatch) -> "dict[str, str]":
    """The environment of a terminal that has the key; its model is started by the test. Each of the many
    workers would load an encoder."""
    monkeypatch.setenv("DETERMINATOR_EMBEDDINGS", "off")
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


def in_need(run_id: str) -> bool:
    """Tell whether a run has a step for a worker with its settings."""

    async def asked() -> bool:
        async with Determinator() as client:
            run = await client.run(run_id, worker=False)
            return await has_steps(run.connection.client, run_id)

    return asyncio.run(asked())


@pytest.mark.invariant
def test_a_run_waits_for_its_key_and_takes_its_turn_after_the_runs_of_other_settings(
    file_home: Path, library: str, paid: "dict[str, str]"
) -> None:
    """The command that follows it is suspended while the other worker is looked at."""
    with ReplayServer() as model, ExitStack() as at_end:
        run_id = begun_with_key(library, paid, model)
        following = begin("watch", run_id, "--json", env=paid)
        at_end.callback(following.kill)
        wait_until(lambda: '"seq"' in following.stdout.readline(), what="the first event")
        following.send_signal(signal.SIGSTOP)
        second = determinator("ask", QUESTION, "--mode", "iterative", "--library", library)
        assert second.code in (0, 4), second
        (said,) = [line for line in second.err.splitlines() if "restarting the background worker" in line]
        assert (
            f"1 run waits for a worker with OPENAI_API_KEY, OPENAI_BASE_URL, as at the start ({run_id})"
            in said
        )
        for pid in processes_of(file_home)["worker"]:
            assert KEY.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
        report = inside("report", second.run_id, "--format", "json").json()
        assert report["methodology"]["models"] == ["extractive"]
        # it is read and decided on whatever the settings are; its steps wait
        assert gate_of(run_id) == "report"
        assert not in_need(run_id)
        asked = len(model.asked)
        approved = determinator("approve", run_id, "--gate", "report")
        assert approved.code == 0
        assert "OPENAI_API_KEY" in approved.err
        assert len(model.asked) == asked
        assert in_need(run_id)
        following.send_signal(signal.SIGCONT)
        out, said = following.communicate()
        assert following.returncode == 0, said
        assert "this run waits for OPENAI_API_KEY, OPENAI_BASE_URL" in said
        *events, outcome = [json.loads(line) for line in out.splitlines()]
        assert [event["seq"] for event in events] == list(range(2, len(events) + 2))
        assert outcome["stop_reason"] != "judge_unavailable"
        report = inside("report", run_id, "--format", "json").json()
        assert report["methodology"]["models"] == ["m1"]


@pytest.mark.invariant
def test_nothing_of_an_offline_run_reaches_the_model_of_another_terminal(
    file_home: Path, library: str, paid: "dict[str, str]"
) -> None:
    word = "Zanthoxylum"
    with ReplayServer() as model:
        model.on("/chat/completions", sensible)
        online = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": KEY, "DETERMINATOR_MODEL": "m1"}
        offline = {"DETERMINATOR_OFFLINE": "true"}
        question = f"Does {word} lower the risk of cancer?"
        first = inside("ask", question, "--mode", "iterative", "--library", library, "--detach", **offline)
        assert first.code == 0, first
        second = ask(library, env=online)
        assert inside("report", second.run_id, "--format", "json").json()["methodology"]["models"] == ["m1"]
        assert model.asked
        watched = determinator("watch", first.run_id, env=offline)
        assert watched.code in (0, 4), watched
        report = inside("report", first.run_id, "--format", "json", **offline).json()
        assert report["methodology"]["models"] == ["extractive"]
        assert {search["source"] for search in report["methodology"]["searches"]} == {"library"}
        assert not [request for request in model.asked if word.encode() in request.body]


@pytest.mark.invariant
def test_a_change_of_a_report_ends_although_another_command_took_its_worker(
    file_home: Path, library: str, paid: "dict[str, str]"
) -> None:
    """It has a worker with its settings again once the other run needs none."""
    called, answer = threading.Event(), threading.Event()

    def slow(asked: Asked) -> Reply:
        called.set()
        answer.wait(60)
        return sensible(asked)

    with ReplayServer() as model, ExitStack() as at_end:
        at_end.callback(answer.set)
        env = {**paid, "OPENAI_BASE_URL": model.url, "DETERMINATOR_MODEL": "m1"}
        model.on("/chat/completions", sensible)
        finished = ask(library, env=env)
        model.on("/chat/completions", slow)
        changing = begin("change", finished.run_id, "Make it shorter.", env=env)
        at_end.callback(changing.kill)
        wait_until(called.is_set, what="the call of its model")
        ask(library, "--max-iterations", "2")
        answer.set()
        _, said = changing.communicate()
        assert changing.returncode in (0, 4), said
        assert "this run waits for DETERMINATOR_MODEL, OPENAI_API_KEY, OPENAI_BASE_URL" in said
