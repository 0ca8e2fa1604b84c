"""The code of `docs/integrations.md` runs as it is shown."""

import asyncio
import re
import subprocess
import types
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from determinator import Determinator
from tests.client.http.served import Served

pytestmark = pytest.mark.xdist_group("http")

TEXT = (Path(__file__).parents[3] / "docs/integrations.md").read_text()
QUESTIONS = [f"Does metformin lower the risk of colorectal cancer in {who}?" for who in ("men", "women")]
TOKENS = 10_000


def blocks(title: str, language: str) -> list[str]:
    """The code of a chapter."""
    chapter = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    matches = re.findall(rf"^```{language}\n(.*?)^```", chapter, re.DOTALL | re.MULTILINE)
    assert matches, title
    return matches


def executed(*code: str) -> dict[str, Any]:
    module = types.ModuleType("integrations")
    for block in code:
        exec(compile(block, "integrations.md", "exec"), module.__dict__)  # what a reader would copy
    return module.__dict__


def test_the_code_for_python_and_a_notebook_runs(library: Path, tmp_path: Path) -> None:
    (tmp_path / "papers").symlink_to(library)  # in the current folder, as the documents name it
    names = executed(*blocks("Python", "python"), *blocks("A notebook", "python"))
    assert names["works"]
    assert names["quotes"]


def test_the_code_for_http_runs(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVED", served.url)
    monkeypatch.setenv("TOKEN", served.token)
    names = executed(*blocks("HTTP", "python"))
    assert names["event"].type == "response.completed"
    assert names["event"].response.output_text
    (script,) = blocks("HTTP", "bash")
    ran = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert "event: complete" in ran.stdout
    assert "# " in ran.stdout


async def test_the_workflow_of_the_documents_hires_runs_under_one_budget(library: Path) -> None:
    """Its worker is ended once it has hired them, and another one takes over: no run is hired twice."""
    survey = executed(*blocks("Temporal", "python"))["Survey"]
    async with Determinator() as client:
        connection = await client.connect()

        def worker() -> Worker:
            return Worker(
                connection.client,
                task_queue="theirs",
                workflows=[survey],
                workflow_runner=UnsandboxedWorkflowRunner(),
            )

        async with worker():
            handle = await connection.client.start_workflow(
                survey.run, args=[QUESTIONS, TOKENS, ["library"]], id="survey-1", task_queue="theirs"
            )
            while (now := await handle.describe()).status == WorkflowExecutionStatus.RUNNING:
                if len(now.raw_description.pending_children) == len(QUESTIONS):
                    break
                await asyncio.sleep(0.02)
        async with worker():
            reports = await handle.result()
        assert [report["run"] for report in reports] == ["survey-1-0", "survey-1-1"]
        hired = [row.run_id for row in await client.runs() if row.run_id.startswith("survey-1")]
        assert len(hired) == len(QUESTIONS)
        budgets = []
        for report in reports:
            run = await client.run(report["run"])
            assert (await run.report()).references
            seen = await run.progress()
            assert seen is not None
            budgets.append(seen.budget.limits.max_tokens)
        assert budgets == [TOKENS // len(QUESTIONS)] * len(QUESTIONS)
