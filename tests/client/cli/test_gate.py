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


async def test_candidates_are_chosen_at_the_prompt_by_number_or_name(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = await at_the_candidates(stage)
    left = types(monkeypatch, "?", "e", "penicillin", "e", "3, Aspirin")
    connection = Connection(stage.client, embedded=False, address="")
    await ask_at_gate(Run(Settings(), connection, run.handle.id), await run.progress())
    assert not list(left)
    shown = capsys.readouterr().err
    assert "  1  metformin" in shown
    assert "[a]pprove [e]dit [r]eject [d]etach" in shown
    assert "penicillin" in shown.split("Error: the run refused: ")[1]
    await run.outcome()
    assert {candidate.name for candidate in CANDIDATES.shown(await run.report())} == {"aspirin", "sirolimus"}
