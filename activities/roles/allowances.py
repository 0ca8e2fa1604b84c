"""What one step of each role may spend at most, its repair turn included, and how much is asked of a model.

Workflows reserve allowances before they start a step, so this module is pure data. Sized by the client's
cautious estimate (`activities.models.tokens`), which reads English about a third too high: what providers
report, and what a reservation is settled to, is usually well under. A deep run of five sections with one
round each (38 calls) reserves 217,500 tokens in all.

A small local model copies well and writes badly, reads some 200 tokens a second and writes
20. It is therefore used only for choosing sentences and for a second judgement of the evidence, with short
prompts (`prompts/*.small.md`) and short answers, and code does the other steps. With the limits below an
iterative run makes at most 6 calls of 10,000 tokens in all, a deep one of three sections at most 15 of
30,000, repair turns included. Measured with a model of 1.5 billion parameters (4 bit): from 20 sentences and
for at most 8 entries it kept 8 of 8 claims; from whole items of evidence none of 21.
"""

from dataclasses import dataclass

from activities.steps import Role
from activities.types import Allowance, Effort, ModelChoice

ALLOWANCES: dict[Role, Allowance] = {
    "query_parser": Allowance(input_tokens=2_000, output_tokens=700),
    "planner": Allowance(input_tokens=2_000, output_tokens=800),
    "observer": Allowance(input_tokens=3_000, output_tokens=600),
    "gap_evaluator": Allowance(input_tokens=2_500, output_tokens=600),
    "tool_selector": Allowance(input_tokens=2_500, output_tokens=800),
    "judge": Allowance(input_tokens=8_000, output_tokens=900),
    "reflector": Allowance(input_tokens=2_500, output_tokens=600),
    "hypothesis_generator": Allowance(input_tokens=6_000, output_tokens=1_500),
    "writer": Allowance(input_tokens=9_000, output_tokens=2_500),
    "long_writer": Allowance(input_tokens=9_000, output_tokens=2_000),
    "proofreader": Allowance(input_tokens=8_000, output_tokens=1_500),
    "manager": Allowance(input_tokens=3_000, output_tokens=700),
}
"""Of a model of normal size."""
SMALL: dict[Role, Allowance] = {
    "judge": Allowance(input_tokens=1_900, output_tokens=600),
    "writer": Allowance(input_tokens=3_700, output_tokens=1_300),
    "long_writer": Allowance(input_tokens=3_700, output_tokens=1_300),
}
"""Of a small model; the roles that are not named are done by code."""
LARGE: dict[Role, Allowance] = {
    **ALLOWANCES,
    "judge": Allowance(input_tokens=16_000, output_tokens=1_200),
    "hypothesis_generator": Allowance(input_tokens=16_000, output_tokens=2_500),
    "writer": Allowance(input_tokens=28_000, output_tokens=4_000),
    "long_writer": Allowance(input_tokens=28_000, output_tokens=4_000),
}
"""Of a model that reads whole items."""
SMALL_JUDGE_ITERATIONS = 2
"""Iterations of a run in which a small model judges; in a section of a long report it judges the first."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is shown to a model of one effort and asked of it."""

    sentences: int
    """A writer chooses from."""
    sentences_an_item: int
    claims: int
    """A writer may make."""
    items: int
    """A judge is shown at most."""
    item_characters: int
    """Of each item a judge is shown."""
    share_filled: float
    """Of the claims that code alone would make: where fewer of the model's are kept, code adds the rest."""
    repairs_claims: bool
    """Whether a writer is asked once more for claims that fail a check."""


SIZES: dict[Effort, Size] = {
    "small": Size(20, 3, 8, 8, 300, share_filled=1.0, repairs_claims=False),
    "normal": Size(70, 8, 14, 30, 600, share_filled=0.5, repairs_claims=True),
    "large": Size(240, 60, 20, 30, 1_500, share_filled=0.5, repairs_claims=True),
}


def allowance_of(role: Role, choice: ModelChoice) -> Allowance:
    """What a step of a role may spend with the model that serves it; nothing where code does it."""
    table = {"small": SMALL, "large": LARGE}.get(choice.effort or "normal", ALLOWANCES)
    return table.get(role, Allowance(input_tokens=0, output_tokens=0))


def size_of(choice: ModelChoice) -> Size:
    """How much a model is shown and asked for."""
    return SIZES[choice.effort or "normal"]


def asks_model(role: Role, choice: ModelChoice, *, iteration: int = 1, section: str = "") -> bool:
    """Whether a step is worth a call to this model; code does the others."""
    if choice.effort != "small":
        return True
    if role == "judge":
        return iteration <= (1 if section else SMALL_JUDGE_ITERATIONS)
    return role in SMALL
