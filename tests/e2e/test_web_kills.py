"""`kill -9` while the pages of a round are read: what had answered is not requested again."""

import os
import signal
import time
from pathlib import Path

import pytest

from benchmarks.end_to_end import Model
from benchmarks.pages import Web
from tests.client.harness import begin, processes_of, wait_until
from tests.fake_openai import PATH, FakeOpenAI

pytestmark = pytest.mark.chaos

FIRST = 8
"""Pages that are requested before the worker dies."""
ANSWERED = 0.5
"""Seconds after which these pages have answered and were kept."""


def test_a_page_that_was_read_before_a_kill_is_not_read_again(home: Path) -> None:
    with FakeOpenAI() as model, Web() as web:
        model.on(PATH, Model(0.2, 3, 1))
        env = model.settings(
            DETERMINATOR_HOME=str(home),
            DETERMINATOR_OFFLINE="false",
            DETERMINATOR_PRIVATE_PAGES='["127.0.0.0/8"]',
            SEARXNG_URL=web.engine,
        )
        question = "Does metformin lower the risk of colorectal cancer after 1 years of treatment?"
        asking = begin("ask", question, "--mode", "deep", "--source", "searxng", env=env)
        wait_until(lambda: web.pages_read >= FIRST, 60, every=0.01)
        read = set(web.addresses())
        time.sleep(ANSWERED)
        for pid in processes_of(home)["worker"]:
            os.kill(pid, signal.SIGKILL)
        out, err = asking.communicate(timeout=200)
        assert asking.returncode == 0, f"{out[-500:]} {err[-1500:]}"
        after = web.addresses()
        assert [name for name in read if after[name] > 1] == []
        assert len(after) > len(read)
