"""A mode of one's own (entry point `one_round`). Every command reads its declaration, so the workflow is in a
file of its own, which only a worker imports."""

from determinator import mode


@mode(
    name="one_round",
    workflow="OneRound",
    good_for="a first look: one round of searches, judged once",
)
def one_round() -> type:
    from one_round_workflow import OneRound

    return OneRound
