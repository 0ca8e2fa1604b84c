from typing import Any

from activities.types import SearchRecord, Usage
from client.runs.sections import combined
from workflows.types import BudgetStatus, Limits, Progress, SectionProgress


def progress(name: str, tokens: int, **more: Any) -> Progress:
    used = Usage(calls=1, input_tokens=tokens)
    budget = BudgetStatus(limits=Limits(), used=used)
    return Progress(run_id=name, question="Q?", mode="deep", profile="general", budget=budget, **more)


def search(query: str) -> SearchRecord:
    return SearchRecord(source="alpha", query=query, status="ok", hits=2, kept=1, seconds=0.1, attempts=1)


RUN = progress(
    "ask-1",
    100,
    evidence=4,
    searches=(search("of the first"),),
    searches_total=1,
    sections=(
        SectionProgress(id="s1", title="One", status="complete", phase="done", iteration=2, evidence=4),
        SectionProgress(id="s2", title="Two", status="running", workflow_id="ask-1/s2"),
        SectionProgress(id="s3", title="Three", status="running", workflow_id="ask-1/s3"),
    ),
)


def test_a_running_section_is_shown_by_its_own_progress() -> None:
    second = progress(
        "ask-1/s2",
        30,
        phase="judging",
        iteration=3,
        evidence=7,
        searches=(search("of the second"),),
        searches_total=5,
    )
    seen = combined(RUN, {"s2": second})
    assert [(s.id, s.phase, s.iteration, s.evidence) for s in seen.sections] == [
        ("s1", "done", 2, 4),
        ("s2", "judging", 3, 7),
        ("s3", "starting", 0, 0),
    ]
    assert (seen.evidence, seen.searches_total, seen.budget.used.tokens) == (4, 6, 130)
    assert [record.query for record in seen.searches] == ["of the first", "of the second"]


def test_a_run_whose_sections_do_not_answer_is_shown_as_it_is() -> None:
    assert combined(RUN, {}) == RUN
