"""Analyst: a program for effects that the fixed analysis lists and does not pool.

Where it runs and what its numbers mean is not up to it (`activities.analysis.sandbox`).
"""

import re
from collections.abc import Sequence

from activities.analysis.meta_analysis import REASONS
from activities.contracts.effects import MAX_ANALYST_EFFECTS, AnalystInput, Effect, Program
from activities.contracts.evidence import Evidence
from activities.roles.fields import Loose, Text, limits
from activities.roles.prompt import compose, listing
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line

MAX_METHOD_CHARS = 300
MAX_PROGRAM_CHARS = 8_000
"""What its allowance of output holds."""
FENCE = re.compile(r"\A\s*```(?:python)?[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
"""A block of Markdown around the whole program."""
TASK = "Write the program, or leave it empty. Answer with JSON."
EXPECTED = {
    "lower": "the effect is below no effect",
    "higher": "the effect is above no effect",
    "different": "there is an effect in either direction",
}


class AnalystAnswer(Loose):
    code: Text = limits(length=MAX_PROGRAM_CHARS, default="")
    method: Text = limits(length=MAX_METHOD_CHARS, default="")


def render(step: AnalystInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    rows = [
        f"{effect.outcome}, {effect.measure} {_numbers(effect)} ({effect.study}): {REASONS[reason]}"
        for effect, reason in ((row.effect, row.reason) for row in step.not_pooled)
    ]
    return compose(
        "analyst",
        step,
        room=room,
        inputs=[
            f"The hypothesis: {EXPECTED[step.expected]}.",
            listing("Found by the fixed analysis", step.findings, 8, 300),
            listing("Effects listed and not pooled", rows, MAX_ANALYST_EFFECTS, 300),
        ],
        task=TASK,
    )


def _numbers(effect: Effect) -> str:
    parts = []
    if effect.estimate is not None:
        parts.append(f"{effect.estimate:g}")
    if effect.low is not None and effect.high is not None:
        parts.append(f"[{effect.low:g}, {effect.high:g}] at {effect.level:g}")
    if effect.n is not None:
        parts.append(f"n={effect.n}")
    if (arms := effect.arms) is not None:
        counts = f"{arms.events}/{arms.total} against {arms.control_events}/{arms.control_total}"
        parts.append(f"events {counts}")
    return ", ".join(parts)


def accept(_step: AnalystInput, _prompt: Prompt, answer: AnalystAnswer) -> Accepted[Program]:
    """Strip the block of Markdown around the program; only the sandbox reads it."""
    block = FENCE.match(answer.code)
    code = (block[1] if block else answer.code).strip()
    return Accepted(Program(code=code, method=line(answer.method, MAX_METHOD_CHARS)))


ANALYST = RoleSpec(
    "analyst", AnalystAnswer, render, accept, lambda *_: Program(), idle=lambda step, _: not step.not_pooled
)
