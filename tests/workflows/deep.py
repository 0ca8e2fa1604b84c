"""Helpers for tests of deep runs."""

from typing import Any

from activities.contracts.evidence import ReportPlan, ReportPlanSection
from tests.workflows.conftest import Run, Stage, a_request

DAY = 86_400.0


def question_of(section: str) -> str:
    """The key question the scripted planner gives a section."""
    return f"question number {section[1:]}"


def a_plan(*sections: ReportPlanSection, title: str = "Edited") -> ReportPlan:
    return ReportPlan(report_title=title, report_outline=sections)


def a_section(number: int, **more: str) -> ReportPlanSection:
    return ReportPlanSection.model_validate({"title": f"T{number}", "key_question": f"Why {number}?", **more})


async def at_the_plan(stage: Stage, **request: Any) -> Run:
    run = await stage.start(a_request("deep", approve=("plan",), **request))
    await run.until(lambda p: p.waiting_for == "plan")
    return run


async def all_judging(stage: Stage, run: Run, *sections: str) -> None:
    """Wait until every section has come to its judge, and a second more: the server that skips time loses a
    cancel while a first attempt ends."""
    for section in sections or ("s1", "s2", "s3"):
        await stage.child(run, section).until(lambda p: p.phase == "judging")
    if stage.skipping is not None:
        await stage.skipping.sleep(1)
