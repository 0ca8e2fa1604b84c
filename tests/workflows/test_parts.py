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

LOADED = (
    "import sys, workflows.deep, workflows.team, workflows.graph.workflow; "
    "print(*(name for name in sys.modules if name.startswith('workflows.parts.')))"
)


@pytest.mark.parametrize("name", get_args(PartName))
def test_a_part_acts_at_the_stages_that_its_row_names_and_at_no_other(name: PartName) -> None:
    module, kind = PARTS[name].entry
    made = getattr(importlib.import_module(module), kind)
    assert issubclass(made, Part)
    acts = {stage for stage in get_args(Stage) if getattr(made, stage) is not getattr(Part, stage)}
    assert acts == set(PARTS[name].acts)


def test_a_worker_imports_no_part_before_a_run_asks_for_it() -> None:
    ran = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) == {f"workflows.parts.{name}" for name in ("active", "part", "rows")}


def test_the_state_of_a_part_is_carried_over_with_the_state_of_the_run() -> None:
    state = RunState()
    state.part(AnalysisState).requested = True
    state.part(CandidatesState).named = True
    again = RunState.received(state.carried())
    assert again.parts == state.parts
    restored = RunState.model_validate_json(state.model_dump_json())
    assert restored.part(AnalysisState).requested
    assert restored.part(CandidatesState).named
