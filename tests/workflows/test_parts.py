"""The parts of a run: each is declared in one row, and imported when it is asked for."""

import importlib
import subprocess
import sys
from typing import get_args

import pytest

from activities.contracts.parts import PartName
from workflows.part_state import AnalysisState, CandidatesState
from workflows.parts.part import Part
from workflows.parts.rows import PARTS, Stage
from workflows.state import RunState

WORKER = "import sys, worker.build, worker.resources, workflows.modes as m; m.workflow_classes()"
COMMAND = "import sys, client.cli.ask, client.cli.watch, client.runs.follow, client.reports.answer"
LOADED = "; print(*(name for name in sys.modules if name.split('.')[0] in ('activities', 'workflows')))"
OF_PARTS = ("activities.candidates", "activities.analysis", "activities.report.parts")
"""Folders of parts."""
OF_GATE = {"activities.analysis.cells", "activities.analysis.stated"}
"""What the gate reads the numbers of any cell with."""
OF_RUNS = {f"workflows.parts.{name}" for name in ("active", "part", "rows")}


@pytest.mark.parametrize("name", get_args(PartName))
def test_a_part_acts_at_the_stages_that_its_row_names_and_at_no_other(name: PartName) -> None:
    module, kind = PARTS[name].entry
    made = getattr(importlib.import_module(module), kind)
    assert issubclass(made, Part)
    acts = {stage for stage in get_args(Stage) if getattr(made, stage) is not getattr(Part, stage)}
    assert acts == set(PARTS[name].acts)


@pytest.mark.parametrize("program", [WORKER, COMMAND])
def test_neither_worker_nor_command_imports_a_part_that_nobody_asked_for(program: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", f"{program}{LOADED}"], capture_output=True, text=True, check=True
    )
    loaded = set(ran.stdout.split())
    assert {name for name in loaded if name.startswith("workflows.parts.")} <= OF_RUNS
    within = {name for name in loaded - OF_GATE if name.startswith(tuple(f"{one}." for one in OF_PARTS))}
    activities = {
        f"activities.{name}_activity" for name in ("analysis", "candidate", "full_text", "follow_up")
    }
    assert not within | (loaded & activities)


def test_the_state_of_a_part_is_carried_over_with_the_state_of_the_run() -> None:
    state = RunState()
    state.part(AnalysisState).requested = True
    state.part(CandidatesState).named = True
    again = RunState.received(state.carried())
    assert again.parts == state.parts
    restored = RunState.model_validate_json(state.model_dump_json())
    assert restored.part(AnalysisState).requested
    assert restored.part(CandidatesState).named
