"""The parts of a run: each is declared in one row, and imported when it is asked for."""

import importlib
import subprocess
import sys
from typing import get_args

import pytest

from activities.contracts.judge import JudgeBatch, JudgeInput
from activities.contracts.parts import part_data
from activities.contracts.plan import ParsedQuery
from activities.contracts.write import WriteInput
from activities.report.parts import part_of
from tests.workflows.conftest import Stage, a_request
from workflows.part_state import AnalysisState, CandidatesState
from workflows.parts import rows
from workflows.parts.rows import PARTS, OptionalPart
from workflows.state import RunState

WORKER = "import sys, worker.build, worker.resources, workflows.modes as m; m.workflow_classes()"
COMMAND = "import sys, client.cli.ask, client.runs.follow, client.reports.answer"
LOADED = "; print(*sys.modules)"
OF_PARTS = ("activities.candidates", "activities.analysis", "activities.report.parts")
"""Folders of parts."""
OF_GATE = {f"activities.analysis.{name}" for name in ("cells", "figures", "scale")}
"""What the gate reads the numbers of any cell with."""
OF_RUNS = {"workflows.parts.rows"}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_acts_at_the_stages_that_its_row_names_and_at_no_other(name: str) -> None:
    made = importlib.import_module(f"workflows.parts.{name}").PART
    assert issubclass(made, OptionalPart)
    acts = {
        stage for stage in get_args(rows.Stage) if getattr(made, stage) is not getattr(OptionalPart, stage)
    }
    assert acts == set(PARTS[name].acts)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_keeps_its_state_under_its_name_and_publishes_what_its_row_says(name: str) -> None:
    row, made = PARTS[name], importlib.import_module(f"workflows.parts.{name}").PART
    assert row.state is None or row.state.name == name
    assert bool(row.value) == (made.published_value is not OptionalPart.published_value)
    if row.value:
        shown = part_of(row.value)
        assert (shown.name, part_data(row.value).name) == (row.value, row.value)


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
    assert "networkx" not in loaded


def test_the_state_of_a_part_is_carried_over_with_the_state_of_the_run() -> None:
    state = RunState()
    state.part(AnalysisState).requested = True
    state.part(CandidatesState).named = True
    again = RunState.unpack(state.pack())
    assert again.parts == state.parts
    restored = RunState.model_validate_json(state.model_dump_json())
    assert restored.part(AnalysisState).requested
    assert restored.part(CandidatesState).named


def asking(stage: Stage, *asks: str) -> None:
    """The parser says that the question asks for this."""
    stage.script.answers["query_parser"] = lambda step: ParsedQuery.model_validate(
        {"improved_query": step.question, "profile": "biomedical", "asks": asks}
    )


@pytest.mark.parametrize(
    ("asks", "side", "calls"),
    [(("overview",), "not_asked", 0), (("overview", "comparison"), "yes", 1), ((), "yes", 1)],
)
async def test_an_overview_is_not_read_for_effects_and_has_no_works_that_say_yes(
    stage: Stage, asks: tuple[str, ...], side: str, calls: int
) -> None:
    def answer(step: JudgeInput) -> JudgeBatch:
        batch = stage.fakes.judged(step, enough=True)
        judged = (j.replace(direction="yes", compares=True) for j in batch.judgements)
        return batch.replace(judgements=tuple(judged))

    asking(stage, *asks)
    stage.script.answers["judge"] = answer
    await stage.play(a_request())
    writer, *_ = stage.fakes.of("writer")
    assert isinstance(writer.step, WriteInput)
    assert {judgement.direction for judgement in writer.step.judgements} == {side}
    assert len(stage.fakes.of("appraiser")) == calls
