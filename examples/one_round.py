"""A mode of one's own (entry point `one_round`). Every command reads this table, so the workflow is in a
file of its own, which only a worker imports."""

from determinator import ModeInfo

ONE_ROUND = ModeInfo(
    name="one_round",
    workflow="OneRound",
    location="one_round_workflow:OneRound",
    good_for="a first look: one round of searches, judged once",
)
