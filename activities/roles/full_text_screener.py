"""Full-text screener: one work, read whole, against the criteria of a review.

An exclusion names a criterion of the protocol and rests on a quote that stands in the text; one that does not
is `unsure`, so that a person decides. Without a model everything is unsure: nothing is excluded by default.
"""

from collections.abc import Sequence
from typing import get_args

from activities.contracts.evidence import Evidence
from activities.review.decisions import Verdict
from activities.review.steps import RecordDecision, ScreenInput
from activities.roles.fields import Text, limits
from activities.roles.full_texts import MAX_REASON_CHARS, QuotedAnswer, compose_full_text
from activities.roles.prompt import listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of

TASK = "Decide on the work shown by its full text. Answer with JSON."


class VerdictAnswer(QuotedAnswer):
    decision: Text = ""
    criterion: Text = limits(length=40, default="")


def render(step: ScreenInput, documents: Sequence[Evidence], room: int) -> Prompt:
    rules = [f"{rule.id} ({rule.kind}): {rule.text}" for rule in step.criteria]
    prompt = compose_full_text(
        "full_text_screener",
        step,
        documents[:1],
        room=room,
        inputs=[listed("Criteria", rules, len(rules), 1_000)],
        about=[step.question, *(rule.text for rule in step.criteria)],
        task=TASK,
    )
    prompt.choices["decision"] = get_args(Verdict)
    prompt.choices["criterion"] = ("", *(rule.id for rule in step.criteria))
    return prompt


def accept(step: ScreenInput, prompt: Prompt, answer: VerdictAnswer) -> Accepted[RecordDecision]:
    document = next(iter(prompt.shown.values()), None)
    if document is None:
        return Accepted(fallback(step, ()))
    verdict: Verdict = one_of(answer.decision, get_args(Verdict)) or "unsure"
    criterion = one_of(answer.criterion, [rule.id for rule in step.criteria]) or ""
    support = answer.quotes(prompt, document)
    if verdict == "exclude" and not (criterion and support):
        verdict = "unsure"
    return Accepted(
        RecordDecision(
            evidence_id=document.evidence_id,
            verdict=verdict,
            criterion=criterion if verdict != "include" else "",
            words=tuple(one.quote for one in support),
            reason=line(answer.reason, MAX_REASON_CHARS),
        )
    )


def fallback(step: ScreenInput, documents: Sequence[Evidence]) -> RecordDecision:
    names = [one.evidence_id for one in documents] + [one.evidence_id for one in step.evidence]
    return RecordDecision(evidence_id=next(iter(names), ""), verdict="unsure")


FULL_TEXT_SCREENER = RoleSpec(
    "full_text_screener", "Screening the full texts", VerdictAnswer, render, accept, fallback, reads=True
)
