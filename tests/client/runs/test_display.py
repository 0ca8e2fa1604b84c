import io
import re
import time
from datetime import UTC, datetime

import pytest
from rich.console import Console

from client.listing import Row
from client.run import RunStatus
from client.runs import display
from client.runs.display import LivePanel, PlainLines, panel
from client.runs.run_state import RunState
from tests.client.seen import progress
from workflows.amounts import Limits
from workflows.details import progress_rows
from workflows.event_types import AgentEvent
from workflows.types import BudgetStatus


@pytest.mark.parametrize("kind", ["error", "waiting_for_model", "stopping"])
def test_the_live_panel_says_why_a_run_does_not_get_on(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    why = "the key was refused"
    LivePanel("ask-1").events([AgentEvent.model_validate({"seq": 1, "type": kind, "message": why})])
    assert why in capsys.readouterr().err


def test_the_clock_runs_while_a_run_goes_on_and_counts_each_second_once() -> None:
    budget = BudgetStatus(limits=Limits(max_seconds=600), elapsed_seconds=60.0, as_of=time.time() - 65)
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(panel(progress(budget=budget)))
    assert re.search(r"2:0[5-9] of 10:00", console.export_text())


def test_plain_lines_show_that_a_run_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = progress(message="reading 12 works")
    with PlainLines() as lines:
        lines.progress(seen)
        assert capsys.readouterr().err == "", "an event was printed a moment ago"
        monkeypatch.setattr(display, "QUIET_SECONDS", 0.0)
        lines.progress(seen)
        assert capsys.readouterr().err.startswith("phase: judging: reading 12 works; time: ")
        lines.progress(seen.replace(phase="waiting_for_approval"))
        assert capsys.readouterr().err == ""


def test_terminal_page_web_ui_and_mcp_show_the_same_rows() -> None:
    seen = progress(
        message="reading 12 works",
        iteration=2,
        max_iterations=5,
        evidence=12,
        searches_total=3,
        scores={"relevance": 7},
        budget=BudgetStatus(limits=Limits(max_tokens=1000), elapsed_seconds=75.0),
    )
    lines = [row.line for row in progress_rows(seen)]
    assert lines[:3] == [
        "phase: judging: reading 12 works",
        "rounds: 2 of 5",
        "found: 12 items in 3 searches",
    ]
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(panel(seen))
    terminal = console.export_text()
    known = Row(seen.run_id, "running", seen.question, "iterative", "judging", "", datetime.now(UTC), None)
    status = RunStatus(known, seen, None)
    assert RunState.of(status, None).progress == lines
    for row in progress_rows(seen):
        assert row.text in terminal
