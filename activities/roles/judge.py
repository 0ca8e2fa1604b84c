"""Quality judge: scores the evidence; whether the scores suffice is decided by code elsewhere."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, create_model, model_validator

from activities.iterations import Recommendation
from activities.roles.allowances import size_of
from activities.roles.prompt import compose
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.sentences import answering
from activities.roles.validation import (
    Loose,
    Score,
    Share,
    Text,
    Texts,
    clamped,
    items,
    limits,
    line,
    lines,
    names,
)
from activities.steps import JudgeAssessment, JudgeInput
from activities.text.ranking import Ranked, rank
from activities.types import Evidence

MOST_GAPS = 5
LEAST_CRITERIA = 3
"""Criteria from which equal scores for all of them are no judgement."""


MOST_CANDIDATES = 8
ADVICE: dict[str, Recommendation] = {"continue": "continue", "synthesize": "synthesize"}
"""What a judge may recommend: search on, or write."""


class ScoreAnswer(Loose):
    criterion: Text = limits(length=60)
    score: Score
    reason: Text = limits(length=90, default="")


def _entries(value: object) -> object:
    """`{"sources": 6}` as a list of entries."""
    if isinstance(value, dict) and not value.keys() & {"criterion", "score"}:
        return [{"criterion": name, "score": score} for name, score in value.items()]
    return value


class JudgeAnswer(Loose):
    scores: Annotated[list[ScoreAnswer], BeforeValidator(_entries)] = limits(items=8)
    confidence: Share
    recommendation: Text = limits(length=12, default="")
    candidates_found: Texts = limits(items=8, length=60, default_factory=list)
    gaps: Texts = limits(items=3, length=200, default_factory=list)
    recommended_searches: Texts = limits(items=3, length=100, default_factory=list)
    relevant: Texts = limits(items=12, default_factory=list)
    reasoning: Text = limits(length=300, default="")


class _Scores(Loose):
    """A score for each criterion, by its name."""

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        """A list of entries too, from a server that does not hold its model to a schema."""
        if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
            return {str(entry.get("criterion")): entry.get("score") for entry in value}
        return value


def short_answer(criteria: tuple[str, ...], most: int) -> type[BaseModel]:
    """What a small model is asked for: a score of every criterion, confidence, and the items that help,
    `most` of them. The schema has a field for each criterion, so that none is left out and none is given
    twice."""
    # by alias: a criterion of a user's profile may have a name that no field can have
    scored: dict[str, Any] = {f"c{n}": (Score, Field(alias=name)) for n, name in enumerate(criteria, 1)}
    fields: dict[str, Any] = {
        "scores": (create_model("Scores", __base__=_Scores, **scored), ...),
        "confidence": (Share, ...),
        "relevant": (Texts, limits(items=most, default_factory=list)),
    }
    return create_model("ShortJudgeAnswer", __base__=Loose, **fields)


def in_brief(question: str, documents: Sequence[Evidence], limit: int) -> list[Evidence]:
    """The documents; those longer than what is shown of each, with their sentences that answer best:
    the beginning of an abstract mostly says why a study was made, not what it found."""
    best = {item.document.evidence_id: answering(item) for item in rank(question, documents)}
    return [
        document.model_copy(update={"text": text})
        if len(document.text) > limit and (text := _best(best[document.evidence_id], limit))
        else document
        for document in documents
    ]


def _best(ranked: Sequence[Ranked], limit: int) -> str:
    """The best sentences that fit into so many characters, the best first: what does not fit into the prompt
    is cut off at the end."""
    kept: list[str] = []
    left = limit
    for quote in (one.sentence.quote for one in ranked):
        if len(quote) < left:
            kept.append(quote)
            left -= len(quote) + 1
    return " ".join(kept)


def render(step: JudgeInput, documents: Sequence[Evidence], room: int) -> Prompt:
    criteria = "\n".join(f"- {c.name}: {line(c.description, 200)}" for c in step.profile.criteria)
    size = size_of(step.model)
    prompt = compose(
        "judge",
        step,
        room=room,
        given=[f"Criteria:\n{criteria}"],
        documents=in_brief(step.question, documents, size.item_characters),
        per_item=size.item_characters,
        at_most=min(step.max_shown, size.items),
        task="Score every criterion by what the evidence says. Answer with JSON.",
    )
    whole = {document.evidence_id: document for document in documents}
    prompt = replace(prompt, shown={label: whole[e.evidence_id] for label, e in prompt.shown.items()})
    names = tuple(c.name for c in step.profile.criteria)
    labels = tuple(prompt.shown)
    if step.model.effort == "small":
        return replace(prompt, choices={"relevant": labels}, answer=short_answer(names, len(labels)))
    choices = {"scores.criterion": names, "relevant": labels, "recommendation": tuple(ADVICE)}
    return replace(prompt, choices=choices)


def accept(step: JudgeInput, prompt: Prompt, answer: JudgeAnswer) -> Accepted[JudgeAssessment]:
    """Scores of the profile's criteria only, within 0 and 10; one that is missing is 0. Only ids shown, and
    only drugs that the items shown name. Where items are from is counted, not believed."""
    given = {s.criterion.strip().casefold(): s.score for s in reversed(answer.scores)}
    why = {s.criterion.strip().casefold(): line(s.reason, 200) for s in reversed(answer.scores)}
    advice = ADVICE.get(answer.recommendation.strip().casefold(), "")
    corpus = "\n".join(f"{e.title}\n{e.text}" for e in prompt.shown.values())
    scores = {c.name: int(clamped(given.get(c.name.casefold(), 0), 0, 10)) for c in step.profile.criteria}
    missing = [c.name for c in step.profile.criteria if c.name.casefold() not in given]
    notes = (f"no score was given for {', '.join(missing)}: counted as 0",) if missing else ()
    assessment = JudgeAssessment(
        scores=scores,
        score_reasons={
            c.name: reason for c in step.profile.criteria if (reason := why.get(c.name.casefold(), ""))
        },
        confidence=clamped(answer.confidence, 0.0, 1.0),
        sufficient=advice == "synthesize" if advice else None,
        recommendation=advice,
        candidates_found=lines((n for n in answer.candidates_found if names(n, corpus)), MOST_CANDIDATES, 80),
        sources_breakdown=dict(Counter(item.source for item in prompt.shown.values()).most_common()),
        gaps=lines(answer.gaps, MOST_GAPS),
        recommended_searches=lines(answer.recommended_searches, MOST_GAPS, 200),
        relevant=items(answer.relevant, prompt),
        reasoning=line(answer.reasoning, 800),
        shown=len(prompt.shown),
    )
    return Accepted(assessment, notes)


def weighed(
    step: JudgeInput,
    _prompt: Prompt,
    accepted: Accepted[JudgeAssessment],
    alone: Callable[[JudgeInput], JudgeAssessment],
) -> Accepted[JudgeAssessment]:
    """The model is not the only judge: code's confidence is kept beside its own, and the lower of the two is
    reported. A model that scores every criterion alike has not judged, and code's assessment stands in its
    place."""
    own, code = accepted.output, alone(step)
    if len(own.scores) >= LEAST_CRITERIA and len(set(own.scores.values())) == 1:
        note = "the model scored every criterion alike: its vote was not used"
        return Accepted(code.model_copy(update={"shown": own.shown}), (*accepted.notes, note))
    beside = {"confidence_by_code": code.confidence, "confidence_reasons": code.confidence_reasons}
    return Accepted(own.model_copy(update=beside), accepted.notes)


def by_code(step: JudgeInput, documents: Sequence[Evidence]) -> JudgeAssessment | None:
    if documents:
        return None
    return JudgeAssessment(
        scores={c.name: 0 for c in step.profile.criteria},
        sufficient=False,
        recommendation="continue",
        gaps=(line(step.question, 300),),
        reasoning="No evidence has been found yet.",
    )


SPEC = RoleSpec[JudgeInput, JudgeAnswer, JudgeAssessment](
    "judge", JudgeAnswer, render, accept, lambda step: step.evidence, by_code, combine=weighed
)
