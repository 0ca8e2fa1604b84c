"""Callers that hire research from workflows of their own: a survey that is killed, and an agent."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from client.embedded.binary import find_temporal
from tests.client.harness import COMMAND, determinator
from tests.conftest import dev_server_of
from tests.fake_openai import PATH, FakeOpenAI, says, sensible
from tests.papers import papers
from tests.replay import Asked, Reply

EXAMPLES = Path(__file__).parents[2] / "examples"
ROOT = str(EXAMPLES.parent)
TOKENS = 60_000
KILLS = 20
TOPIC = "Does metformin lower the risk of colorectal cancer"
TOTAL = re.compile(rb'"total_tokens": (\d+)')


@contextmanager
def scripted(
    monkeypatch: pytest.MonkeyPatch, library: Path, answer: Callable[[Asked], Reply]
) -> Iterator[FakeOpenAI]:
    """A model server as the only one, and a folder as the only source."""
    with FakeOpenAI() as model:
        path = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH", ""))))
        settings = {"DETERMINATOR_LIBRARY": str(library), "PYTHONPATH": path}
        model.on(PATH, answer).serve(monkeypatch, DETERMINATOR_MODEL="scripted", **settings)
        yield model


@pytest.mark.invariant
@pytest.mark.chaos
@pytest.mark.timeout(600)
def test_a_caller_that_is_killed_buys_nothing_twice_and_stays_within_its_budget(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = [f"{TOPIC} in {who}?" for who in ("men", "women", "adults", "trials", "cohorts")]
    command = [sys.executable, str(EXAMPLES / "survey.py"), "survey-1", str(TOKENS), *questions]
    killed = False
    bought: list[int] = []

    def slow(asked: Asked) -> Reply:
        if not killed:
            time.sleep(random.uniform(0.5, 1.5))
        reply = sensible(asked)
        bought.extend(map(int, TOTAL.findall(b"".join(reply.chunks))))
        return reply

    with scripted(monkeypatch, papers(tmp_path), slow) as model:
        for _ in range(KILLS):
            caller = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0.5, 4))
            caller.send_signal(signal.SIGKILL)
            caller.wait()
        killed = True
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert ended.returncode == 0, ended.stderr
        answer = json.loads(ended.stdout)
        assert len(answer["answers"]) == len(questions)
        asked = Counter(request.body for request in model.asked if request.path == PATH)
        assert set(asked.values()) == {1}, "nothing is bought twice"
        assert answer["tokens"] == sum(bought) <= TOKENS
        assert len(determinator("list", "--json").json()) == len(questions)


@pytest.mark.npm
@pytest.mark.timeout(600)
def test_an_agent_of_pydantic_ai_has_research_as_a_tool(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    install = ["pip", "install", "-q", "--target", str(packages), "pydantic-ai-slim[openai,temporal]"]
    subprocess.run([sys.executable, "-m", *install], check=True, timeout=400)
    told: list[Any] = []

    def answer(asked: Asked) -> Reply:
        body: Any = asked.json()
        if not any(tool["function"]["name"] == "research" for tool in body.get("tools", ())):
            return sensible(asked)
        told[:] = [turn["content"] for turn in body["messages"] if turn["role"] == "tool"]
        if told:
            return says(f"As research says: {told[0]}")(asked)
        function = {"name": "research", "arguments": json.dumps({"question": f"{TOPIC}?"})}
        call = {"id": "call-1", "type": "function", "function": function}
        return says(None, finish="tool_calls", tool_calls=[call])(asked)

    (tmp_path / "temporal").mkdir()
    with (
        dev_server_of(find_temporal(), tmp_path / "temporal") as address,
        scripted(monkeypatch, papers(tmp_path), answer),
    ):
        monkeypatch.setenv("TEMPORAL_ADDRESS", address)
        worker = subprocess.Popen([*COMMAND, "worker"], stderr=subprocess.DEVNULL)
        try:
            path = os.pathsep.join((ROOT, os.environ["PYTHONPATH"], str(packages)))
            ran = subprocess.run(
                [sys.executable, str(EXAMPLES / "agent.py"), "agent-1", "scripted", f"{TOPIC}?"],
                capture_output=True,
                text=True,
                timeout=200,
                env=os.environ | {"PYTHONPATH": path},
            )
        finally:
            worker.terminate()
            worker.wait(60)
    assert ran.returncode == 0, ran.stderr
    assert "metformin" in told[0].casefold()
    assert "Run: agent-1-" in ran.stdout
