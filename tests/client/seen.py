"""A run and a report as the client is told of them, with what a test says and no more."""

from activities.report.schema import Report
from workflows.amounts import Limits
from workflows.types import BudgetStatus, Progress

BARE_REPORT: dict[str, object] = {
    "run_id": "x",
    "question": "Does it?",
    "mode": "iterative",
    "profile": "general",
    "title": "T",
    "executive_summary": "S",
    "sections": [],
    "stop_reason": "cancelled",
    "generated_at": "2026-01-01T00:00:00Z",
}
"""A report of nothing, as JSON."""
BARE_PROGRESS = {
    "run_id": "r",
    "question": "Does it work?",
    "mode": "iterative",
    "profile": "general",
    "phase": "judging",
    "budget": BudgetStatus(limits=Limits(max_seconds=600), elapsed_seconds=60.0),
}


def a_report(**fields: object) -> Report:
    return Report.model_validate({**BARE_REPORT, **fields})


def progress(**values: object) -> Progress:
    return Progress.model_validate({**BARE_PROGRESS, **values})
