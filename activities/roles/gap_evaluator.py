"""Gap evaluator: what is still missing."""

from collections.abc import Sequence

from activities.roles.prompt import compose, earlier, fenced, listed, tried
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Texts, limits, lines
from activities.steps import GapsInput, KnowledgeGapOutput
from activities.types import Evidence

HEAD = 260
"""Characters of each item: the observation has read them already."""


class GapsAnswer(Loose):
    research_complete: bool = False
    outstanding_gaps: Texts = limits(items=5, length=220)


def render(step: GapsInput, documents: Sequence[Evidence], room: int) -> Prompt:
    given = [
        listed("Smaller questions", step.research_questions, limit=6),
        listed("Gaps the judge named", step.judged_gaps, limit=5),
        tried(step.tried, limit=12),
        earlier(step.earlier),
    ]
    if step.observation:
        given.append(f"What is known so far:\n{fenced('observation', step.observation[:1_200])}")
    return compose(
        "gap_evaluator",
        step,
        room=room,
        given=given,
        documents=documents,
        per_item=HEAD,
        at_most=8,
        task=f"Name at most {step.max_gaps} gaps. Answer with JSON.",
    )


def accept(step: GapsInput, _prompt: Prompt, answer: GapsAnswer) -> Accepted[KnowledgeGapOutput]:
    """Complete only without gaps. An answer that says neither falls back to what the judge missed."""
    gaps = lines(answer.outstanding_gaps, step.max_gaps)
    if not gaps and not answer.research_complete:
        gaps = lines(step.judged_gaps or (step.question,), step.max_gaps)
    return Accepted(KnowledgeGapOutput(research_complete=not gaps, outstanding_gaps=gaps))


def by_code(step: GapsInput, documents: Sequence[Evidence]) -> KnowledgeGapOutput | None:
    """Before anything was found the question's own parts are the gaps."""
    if documents:
        return None
    wanted = (*reversed(step.steering), *(step.judged_gaps or step.research_questions or (step.question,)))
    return KnowledgeGapOutput(outstanding_gaps=lines(wanted, step.max_gaps))


SPEC = RoleSpec[GapsInput, GapsAnswer, KnowledgeGapOutput](
    "gap_evaluator", GapsAnswer, render, accept, lambda step: step.evidence, by_code
)
