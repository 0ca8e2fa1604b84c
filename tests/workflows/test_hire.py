"""Workflows of others run research as a child, by its name and in plain JSON."""

from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from tests.workflows.conftest import QUEUE, Stage

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"


async def test_the_workflow_of_the_documents_runs_research_by_its_name(stage: Stage) -> None:
    """Their client has another data converter, and their worker none of our types."""
    written: dict[str, Any] = {"__name__": "survey"}
    (block,) = (b for b in PAGE.read_text("utf-8").split("```python\n") if "class Survey" in b)
    exec(compile(block.partition("```")[0], "survey.py", "exec"), written)
    theirs = await Client.connect(stage.client.service_client.config.target_host)
    runner = UnsandboxedWorkflowRunner()
    async with Worker(theirs, task_queue="theirs", workflows=[written["Survey"]], workflow_runner=runner):
        ended = await theirs.execute_workflow(
            "Survey",
            args=[["question one?", "question two?"], 60_000, QUEUE],
            id=f"survey-{uuid4().hex[:8]}",
            task_queue="theirs",
        )
    assert [one["title"] for one in ended] == ["question one?", "question two?"]
    used = sum(one["used"]["input_tokens"] + one["used"]["output_tokens"] for one in ended)
    assert used == sum(call.usage.tokens for call in stage.fakes.calls)
