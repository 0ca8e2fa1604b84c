"""Bias assessor: proposes answers to the signalling questions of RoB 2 for one result of one trial.

A plain yes or no rests on a quote of the work; an answer that is only probable may rest on a reason alone.
What is not answered so is left to the person, who decides every question.
"""

from collections.abc import Sequence
from typing import get_args

from activities.contracts.evidence import Evidence
from activities.review.bias import QUESTIONS, Answer, BiasProposal, SignallingAnswer, allowed
from activities.review.steps import BiasInput
from activities.roles.fields import Loose, Text, limits
from activities.roles.full_texts import MAX_REASON_CHARS, QuotedAnswer, compose_full_text
from activities.roles.prompt import listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of

FIRM: frozenset[Answer] = frozenset({"Y", "N"})
TASK = "Answer the questions for the work shown. Answer with JSON."


class SignalAnswer(QuotedAnswer):
    question: Text = ""
    answer: Text = ""


class SignalAnswers(Loose):
    answers: list[SignalAnswer] = limits(items=len(QUESTIONS), default_factory=list)


def render(step: BiasInput, documents: Sequence[Evidence], room: int) -> Prompt:
    rows = [f"{number}: {text} ({', '.join(allowed(number))})" for number, text in QUESTIONS.items()]
    prompt = compose_full_text(
        "bias_assessor",
        step,
        documents[:1],
        room=room,
        inputs=[
            listed("The result", [step.outcome or "the main outcome of the review"]),
            listed("Questions", rows, len(rows), 300),
        ],
        about=[*QUESTIONS.values(), step.outcome],
        task=TASK,
    )
    prompt.choices["answers.question"] = tuple(QUESTIONS)
    prompt.choices["answers.answer"] = get_args(Answer)
    return prompt


def accept(step: BiasInput, prompt: Prompt, answer: SignalAnswers) -> Accepted[BiasProposal]:
    document = next(iter(prompt.shown.values()), None)
    if document is None:
        return Accepted(fallback(step, ()))
    answers: dict[str, SignallingAnswer] = {}
    for row in answer.answers:
        number = row.question.strip()
        if number not in QUESTIONS or number in answers:
            continue
        value = one_of(row.answer, allowed(number))
        support = row.quotes(prompt, document)
        reason = line(row.reason, MAX_REASON_CHARS)
        unsupported = not support and (value in FIRM or (value != "NI" and not reason))
        if value is not None and not unsupported:
            answers[number] = SignallingAnswer(question=number, answer=value, reason=reason, support=support)
    return Accepted(
        BiasProposal(
            evidence_id=document.evidence_id,
            outcome=step.outcome,
            answers=tuple(answers[number] for number in QUESTIONS if number in answers),
        )
    )


def fallback(step: BiasInput, documents: Sequence[Evidence]) -> BiasProposal:
    """Without a model nothing is proposed: a person answers."""
    return BiasProposal(evidence_id=step.evidence[0].evidence_id, outcome=step.outcome)


BIAS_ASSESSOR = RoleSpec(
    "bias_assessor", "Proposing the risk of bias", SignalAnswers, render, accept, fallback, reads=True
)
