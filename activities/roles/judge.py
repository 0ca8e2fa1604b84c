"""Quality judge: scores the evidence; whether the scores suffice is decided by code elsewhere."""

from collections.abc import Sequence

from pydantic import Field

from activities.roles.prompt import compose
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Score, Share, Text, Texts, clamped, items, line, lines
from activities.steps import JudgeAssessment, JudgeInput
from activities.types import Evidence

MOST_GAPS = 5


class ScoreAnswer(Loose):
    criterion: Text
    score: Score


class JudgeAnswer(Loose):
    scores: list[ScoreAnswer]
    confidence: Share
    gaps: Texts = Field(default_factory=list)
    recommended_searches: Texts = Field(default_factory=list)
    relevant: Texts = Field(default_factory=list)
    reasoning: Text = ""


def render(step: JudgeInput, documents: Sequence[Evidence], room: int) -> Prompt:
    criteria = "\n".join(f"- {c.name}: {line(c.description, 200)}" for c in step.profile.criteria)
    return compose(
        "judge",
        step,
        room=room,
        given=[f"Criteria:\n{criteria}"],
        documents=documents,
        per_item=600,
        at_most=step.max_shown,
        task="Score every criterion by what the evidence says. Answer with JSON.",
    )


def accept(step: JudgeInput, prompt: Prompt, answer: JudgeAnswer) -> Accepted[JudgeAssessment]:
    """Scores of the profile's criteria only, within 0 and 10; one that is missing is 0. Only ids shown."""
    given = {s.criterion.strip().casefold(): s.score for s in reversed(answer.scores)}
    scores = {c.name: int(clamped(given.get(c.name.casefold(), 0), 0, 10)) for c in step.profile.criteria}
    missing = [c.name for c in step.profile.criteria if c.name.casefold() not in given]
    notes = (f"no score was given for {', '.join(missing)}: counted as 0",) if missing else ()
    assessment = JudgeAssessment(
        scores=scores,
        confidence=clamped(answer.confidence, 0.0, 1.0),
        gaps=lines(answer.gaps, MOST_GAPS),
        recommended_searches=lines(answer.recommended_searches, MOST_GAPS, 200),
        relevant=items(answer.relevant, prompt),
        reasoning=line(answer.reasoning, 800),
        shown=len(prompt.shown),
    )
    return Accepted(assessment, notes)


def by_code(step: JudgeInput, documents: Sequence[Evidence]) -> JudgeAssessment | None:
    if documents:
        return None
    return JudgeAssessment(
        scores={c.name: 0 for c in step.profile.criteria},
        gaps=(line(step.question, 300),),
        reasoning="No evidence has been found yet.",
    )


SPEC = RoleSpec[JudgeInput, JudgeAnswer, JudgeAssessment](
    "judge", JudgeAnswer, render, accept, lambda step: step.evidence, by_code
)
