import pytest

from client.runs.display import LivePanel
from workflows.types import AgentEvent


@pytest.mark.parametrize("kind", ["model_failed", "step_failed", "waiting_for_model", "stopping"])
def test_the_live_panel_says_why_a_run_does_not_get_on(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    why = "the key was refused"
    LivePanel("ask-1").events([AgentEvent(seq=1, type=kind, message=why, timestamp="2026-01-01T00:00:00Z")])
    assert why in capsys.readouterr().err
