"""Gap evaluator: what is still missing. It reads what was judged of the works, not their texts."""

from collections.abc import Sequence

from activities.contracts.evidence import Evidence
from activities.contracts.plan import GapsInput, KnowledgeGapOutput
from activities.extractive import searching
from activities.roles.prompt import compose, earlier, fenced, findings, listed, tried
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Texts, limits, line, lines

MAX_OBSERVATION_CHARS = 1_000


class GapsAnswer(Loose):
    research_complete: bool = False
    outstanding_gaps: Texts = limits(items=5, length=220)


def render(step: GapsInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    observation = line(step.observation, MAX_OBSERVATION_CHARS)
    return compose(
        "gap_evaluator",
        step,
        room=room,
        inputs=[
            listed("Smaller questions", step.research_questions, limit=6),
            listed("Gaps the judge named", step.judged_gaps, limit=5),
            tried(step.tried, limit=12),
            earlier(step.earlier),
            f"What is known so far:\n{fenced('observation', observation)}" if observation else "",
            findings(step.judgements, step.titles, most=12, each=240),
        ],
        task=f"Name at most {step.max_gaps} gaps. Answer with JSON.",
    )


def accept(step: GapsInput, _prompt: Prompt, answer: GapsAnswer) -> Accepted[KnowledgeGapOutput]:
    """Complete only without gaps. An answer that says neither falls back to what the judge missed."""
    gaps = lines(answer.outstanding_gaps, step.max_gaps)
    if not gaps and not answer.research_complete:
        gaps = lines(step.judged_gaps or (step.question,), step.max_gaps)
    return Accepted(KnowledgeGapOutput(research_complete=not gaps, outstanding_gaps=gaps))


SPEC = RoleSpec[GapsInput, GapsAnswer, KnowledgeGapOutput](
    "gap_evaluator",
    "Finding what is missing",
    GapsAnswer,
    render,
    accept,
    lambda step, _: searching.evaluate_gaps(step),
    idle=lambda step, _: not step.titles,
)
