"""The prompt at a gate, without a terminal: what a person types is given line by line."""

from collections.abc import Iterator

import pytest

from activities.contracts.candidates import PART as CANDIDATES
from activities.settings import Settings
from client.cli import gate
from client.cli.gate import ask_at_gate
from client.connection import Connection
from client.run import Run
from tests.workflows.conftest import Stage
from tests.workflows.conftest import stage as stage  # the fixture
from tests.workflows.test_people import at_the_candidates


def types(monkeypatch: pytest.MonkeyPatch, *lines: str) -> Iterator[str]:
    """Give these lines to the dialog; what is left of them was not asked for."""
    left = iter(lines)

    async def read_line() -> str:
        return next(left) + "\n"

    monkeypatch.setattr(gate, "read_line", read_line)
    return left


async def test_candidates_are_shown_at_the_prompt_and_approved(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = await at_the_candidates(stage)
    left = types(monkeypatch, "?", "a")
    connection = Connection(stage.client, embedded=False, address="")
    await ask_at_gate(Run(Settings(), connection, run.handle.id), await run.progress())
    assert not list(left)
    shown = capsys.readouterr().err
    assert "\nmetformin " in shown
    assert f"determinator candidates {run.handle.id} --keep NAME" in shown
    assert shown.count("[a]pprove [r]eject [d]etach") == 2
    await run.outcome()
    assert "metformin" in {candidate.name for candidate in CANDIDATES.of_report(await run.report())}
