"""A run as programs of others read it, over MCP and HTTP."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from activities.contracts.evidence import ReportPlan
from client.listing import Row
from client.run import Run, RunStatus
from workflows.details import progress_rows

RunId = Annotated[str, Field(description="The run's id, by which every tool takes it")]


class Spent(BaseModel):
    tokens: int
    cost_usd: float | None = Field(description="null when the price of a model is not known")
    seconds: float


class RunState(BaseModel):
    run: RunId
    question: str
    status: str = Field(description="running, completed, failed, canceled, terminated or timed_out")
    phase: str
    message: str = ""
    iteration: int = 0
    max_iterations: int = 0
    evidence: int = Field(0, description="Works found so far")
    waiting_for: str | None = Field(None, description="The gate that waits for a decision")
    plan: ReportPlan | None = Field(None, description="What waits at the gate `plan`")
    paused: bool = False
    progress: list[str] = Field([], description="Its progress, line by line, as a person sees it")
    stop_reason: str | None = None
    spent: Spent | None = None
    link: str | None = Field(None, description="Its page in Temporal's Web UI")

    @classmethod
    def of(cls, status: RunStatus, link: str | None) -> "RunState":
        """Return the state of a run as it reports it or, when no worker answers, as the server knows it."""
        row, progress = status.row, status.progress
        if progress is None:
            return cls(
                run=row.run_id,
                question=row.question,
                status=row.status,
                phase=row.phase,
                message="no worker answers; this is what the server knows",
                stop_reason=row.stop_reason or None,
                link=link,
            )
        usage = progress.budget.used
        return cls(
            run=row.run_id,
            question=row.question or progress.question,
            status=row.status,
            phase=progress.phase,
            message=progress.message,
            iteration=progress.iteration,
            max_iterations=progress.max_iterations,
            evidence=progress.evidence,
            waiting_for=progress.waiting_for,
            paused=progress.paused,
            progress=[row.line for row in progress_rows(progress)],
            stop_reason=progress.stop_reason or row.stop_reason or None,
            spent=Spent(
                tokens=usage.tokens,
                cost_usd=None if usage.cost_microusd is None else usage.cost_microusd / 1e6,
                seconds=progress.budget.elapsed_seconds,
            ),
            link=link,
        )


class ListedRun(BaseModel):
    run: RunId
    question: str
    status: str
    mode: str
    started: datetime

    @classmethod
    def of(cls, row: Row) -> "ListedRun":
        return cls(
            run=row.run_id, question=row.question, status=row.status, mode=row.mode, started=row.started
        )


async def state_of(run: Run) -> RunState:
    """Return how a run is, with the plan that waits for approval."""
    state = RunState.of(await run.status(), run.link)
    plan = (await run.plan()).plan if state.waiting_for == "plan" else None
    return state.model_copy(update={"plan": plan})
