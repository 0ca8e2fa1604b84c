"""A hundred runs through the real workflows with random answers, failures, limits and people: every one ends
once, within its limits, with a report.

No run is cancelled here: the server that skips time rejects a cancel that meets an activity at the wrong
moment (ACTIVITY_UNKNOWN), which the real one does not. `test_dev_server` cancels at any moment.
"""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from activities.contracts.errors import Malformed, RateLimited, Refused, Unavailable
from activities.contracts.evidence import Evidence, Usage
from activities.contracts.judge import JudgeAssessment
from activities.contracts.plan import KnowledgeGapOutput, TeamLedger
from activities.contracts.search import SearchTask
from activities.contracts.step import Role, StepContext
from activities.roles.allowances import ALLOWANCES
from tests.workflows.conftest import Run, Stage, a_request, a_stage
from tests.workflows.script import document, down, outage, refused, takes
from workflows.modes import MODES
from workflows.team import MEMBERS
from workflows.types import ResearchRequest

pytestmark = pytest.mark.invariant

RUNS = 100
BATCH = 10
USUAL_RUNS = 10
"""Runs that every test run makes; the others belong to `make test-chaos`."""
SLACK = 5.0
"""Seconds the last steps may last beyond a time limit: each of them gets at least one."""


class Weather:
    """What happens in one run, drawn from its seed; the same for every attempt at a step of the same kind."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.failing = self.draw.choice([0.0, 0.1, 0.4, 0.9])
        self.outages = self.draw.choice([0.0, 0.2, 0.6, 1.0])
        self.slow = self.draw.choice([0.0, 0.0, 0.3])

    def before(self, _: Any) -> None:
        if self.draw.random() < self.failing:
            raise self.draw.choice([down(), refused("content_filter"), refused("bad_request")])
        if self.draw.random() < self.slow:
            takes(self.draw.uniform(1, 200))

    def usage(self, role: Role, _: StepContext) -> Usage:
        allowance = ALLOWANCES[role]
        tokens_in = self.draw.randint(0, allowance.input_tokens)
        tokens_out = self.draw.randint(0, allowance.output_tokens)
        cost = None if self.draw.random() < 0.05 else tokens_in + 4 * tokens_out
        return Usage(calls=1, input_tokens=tokens_in, output_tokens=tokens_out, cost_microusd=cost)

    def search(self, task: SearchTask) -> list[Evidence]:
        if self.draw.random() < self.outages:
            raise outage(self.draw.choice([Unavailable, RateLimited, Malformed, Refused]))
        return [document(task.source, task.query.text, n) for n in range(self.draw.choice([0, 0, 1, 3]))]

    def gaps(self, step: Any) -> KnowledgeGapOutput:
        number = self.draw.choice([0, 1, 2, 3])
        return KnowledgeGapOutput(outstanding_gaps=tuple(f"{step.iteration} gap {n}" for n in range(number)))

    def manager(self, _: Any) -> TeamLedger:
        return TeamLedger(
            satisfied=self.draw.random() < 0.3,
            looping=self.draw.random() < 0.2,
            progress=self.draw.random() < 0.6,
            next_speaker=self.draw.choice([*MEMBERS, ""]),
            instruction=self.draw.choice(["search", ""]),
        )

    def judge(self, step: Any) -> JudgeAssessment:
        score = self.draw.randint(0, 10)
        shown = [ref.evidence_id for ref in step.evidence]
        return JudgeAssessment(
            scores={c.name: score for c in step.profile.criteria},
            confidence=self.draw.random(),
            gaps=("another",),
            relevant=tuple(self.draw.sample(shown, min(len(shown), 4))),
        )


def a_random_request(draw: random.Random, seed: int) -> ResearchRequest:
    limits = {
        "max_iterations": draw.randint(1, 4),
        "max_tokens": draw.choice([None, 0, 10_000, 60_000, 150_000]),
        "max_cost_microusd": draw.choice([None, None, 50_000, 200_000]),
        "max_seconds": draw.choice([None, 60.0, 600.0, 3_600.0]),
        "max_sections": draw.randint(1, 4),
        "max_parallel_sections": draw.randint(1, 4),
    }
    return a_request(
        draw.choice([*MODES, "auto"]),
        limits=limits,
        wait_for_model=draw.random() < 0.2,
        approve=draw.choice([(), (), ("plan",), ("report",), ("plan", "candidates", "report")]),
        approval_timeout_seconds=3_600.0,
        approval_default=draw.choice(["approve", "approve", "reject"]),
        history_events=draw.choice([60, 8_000]),
        question=f"What is known of question {seed}?",
    )


async def people(stage: Stage, run: Run, draw: random.Random) -> None:
    """Send messages at random moments."""
    for _ in range(draw.choice([0, 0, 1, 3])):
        await asyncio.sleep(draw.uniform(0, 0.15))
        what = draw.choice(["pause", "resume", "steer", "finish_now", "approve", "add_source"])
        said = {
            "steer": {"text": "older people"},
            "approve": {"gate": "plan"},
            "add_source": {"source": "gamma"},
        }
        if what == "pause":
            async with stage.held():
                await run.handle.signal("pause")
                await run.resume()
        else:
            await run.handle.signal(what, args=[said[what]] if what in said else [])


def play(stage: Stage, weather: Weather) -> None:
    """Script a stage from the drawn events."""
    script = stage.script
    script.mode = weather.draw.choice([*MODES])
    script.sections = weather.draw.randint(1, 4)
    script.profile = script.profile.model_copy(update={"candidates": weather.draw.random() < 0.5})
    script.before = dict.fromkeys(ALLOWANCES, weather.before)
    script.answers = {"gap_evaluator": weather.gaps, "judge": weather.judge, "manager": weather.manager}
    script.usage = weather.usage
    script.search = weather.search


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=pytest.mark.chaos if first >= USUAL_RUNS else ())
        for first in range(0, RUNS, BATCH)
    ],
)
async def test_any_run_ends_once_within_its_limits_and_with_a_report(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + BATCH):
        async with a_stage(tmp_path / str(seed)) as stage:
            draw = random.Random(seed + 10_000)
            play(stage, Weather(seed))
            run = await stage.start(a_random_request(draw, seed))
            speaking = asyncio.create_task(people(stage, run, draw))
            stop = (await run.outcome()).stop_reason
            speaking.cancel()
            await asyncio.wait([speaking])
            await holds(stage, run, stop, seed)


async def holds(stage: Stage, run: Run, stop: str, seed: int) -> None:
    """What every run promises when it is over."""
    report, progress = await run.report(), await run.progress()
    assert report.stop_reason == stop, seed
    assert report.executive_summary.strip(), seed
    assert report.title, seed
    assert [e.type for e in await run.events()].count("complete") == 1, seed
    assert progress.phase == "done", seed
    budget = progress.budget
    assert budget.reserved_tokens == 0, seed
    real = sum((call.usage for call in stage.fakes.calls), Usage())
    assert budget.used.tokens == real.tokens, seed
    assert budget.limits.max_tokens is None or real.tokens <= budget.limits.max_tokens, seed
    if budget.limits.max_cost_microusd is not None:
        known = sum(call.usage.cost_microusd or 0 for call in stage.fakes.calls)
        assert known <= budget.limits.max_cost_microusd, seed
    assert budget.iterations <= budget.limits.max_iterations, seed
    if budget.limits.max_seconds is not None:
        assert budget.elapsed_seconds <= budget.limits.max_seconds + SLACK, seed
    numbers = [reference.number for reference in report.references]
    assert numbers == list(range(1, len(numbers) + 1)), seed
