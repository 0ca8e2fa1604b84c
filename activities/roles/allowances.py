"""What one step of each role may spend at most, its repair turn included.

Workflows reserve these before they start a step, so this module is pure data. Sized by the client's
cautious estimate (`activities.models.tokens`), which reads English about a third too high: what providers
report, and what a reservation is settled to, is usually well under. A deep run of five sections with one
round each (38 calls) reserves 217,500 tokens in all.
"""

from activities.steps import Role
from activities.types import Allowance

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
