"""A role and a step of one's own for graphs: a critic that asks for what would refute, and a count of trials
without a model (entry points `critic` and `count_trials`; `critic.toml` is a graph with both)."""

from collections.abc import Sequence

from pydantic import BaseModel

from determinator import Evidence, OwnStepInput, OwnStepOutput, role, step

PROMPT = """# Critic

You look for what would refute what was found. `searches`: at most two things to search for. `doubt`:
the weakest point of the evidence, in a sentence."""


class Doubts(BaseModel):
    searches: list[str] = []
    doubt: str = ""


@role(name="critic", prompt=PROMPT)
def critic(_step: OwnStepInput, answer: Doubts) -> OwnStepOutput:
    """The searches become the gaps of the next round; the doubt is told to the writer."""
    return OwnStepOutput(
        said=f"{len(answer.searches)} objections",
        gaps=tuple(answer.searches[:2]),
        facts=(f"A critic doubts: {answer.doubt}",) if answer.doubt else (),
    )


@step(name="count_trials")
async def count_trials(_step: OwnStepInput, works: Sequence[Evidence]) -> OwnStepOutput:
    """How many of the works are randomized trials, by their texts."""
    trials = sum("randomized trial" in work.text.casefold() for work in works)
    said = f"{trials} of {len(works)} works report a randomized trial"
    return OwnStepOutput(said=said, facts=(said,))
