"""Screeners: the criteria of a review that works meet, by titles and abstracts, or by one full text.

Several records are read in a call, or one work whole; each decision names the criterion and the sentences of
its own work that it rests on. An exclusion that does not is `unsure`, so that a person decides. Without a
model nothing is decided, and so nothing excluded.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

from activities.contracts.evidence import Evidence
from activities.review.decisions import Verdict
from activities.review.steps import RecordDecision, ScreenedBatch, ScreenInput
from activities.roles.fields import Loose, OneWork, SentenceLabels, Text, limits
from activities.roles.full_texts import MAX_REASON_CHARS, QuotedAnswer, compose_full_text
from activities.roles.prompt import compose, listing, notes_on_missing, one_line
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of, resolve
from activities.roles.works import lay_out

MAX_RECORDS = 40
MAX_CHARS = 4_000
"""Characters of an abstract that is shown whole."""
FULL_TEXT_TASK = "Decide on the work shown by its full text. Answer with JSON."
TASK = "Decide on every record shown, each by itself. Answer with JSON."


class RecordAnswer(Loose):
    work: OneWork = ""
    criterion: Text = limits(length=60, default="")
    sentences: SentenceLabels = limits(items=3, default_factory=list)
    verdict: Text = ""


class ScreenAnswer(Loose):
    decisions: list[RecordAnswer] = limits(items=MAX_RECORDS, default_factory=list)


def render(step: ScreenInput, documents: Sequence[Evidence], room: int) -> Prompt:
    criteria = "\n".join(f"- {rule.id} ({rule.kind}): {one_line(rule.text)}" for rule in step.criteria)
    inputs = [f"Criteria:\n{criteria}"]
    works = partial(lay_out, step.question, documents, chars=MAX_CHARS)
    prompt = compose("screener", step, room=room, task=TASK, inputs=inputs, works=works)
    prompt.choices["decisions.verdict"] = get_args(Verdict)
    prompt.choices["decisions.criterion"] = tuple(rule.id for rule in step.criteria)
    return replace(prompt, notes=notes_on_missing(len(prompt.works), len(documents)))


def accept(step: ScreenInput, prompt: Prompt, answer: ScreenAnswer) -> Accepted[ScreenedBatch]:
    """Take the decisions on records that were shown.

    A record without a decision stays unscreened; an exclusion that names no criterion, or rests on sentences
    of other records alone, is unsure.
    """
    decisions: dict[str, RecordDecision] = {}
    for row in answer.decisions:
        document, verdict = prompt.works.get(row.work), one_of(row.verdict, get_args(Verdict))
        if document is None or verdict is None or document.evidence_id in decisions:
            continue
        all_sentences, unknown = resolve(row.sentences, prompt)
        sentences = [s for s in all_sentences if s.evidence_id == document.evidence_id]
        is_based = bool(sentences) or not (all_sentences or unknown)
        words = tuple(dict.fromkeys(s.quote for s in sentences))
        decisions[document.evidence_id] = decide(
            step, document, verdict, row.criterion, words, is_based=is_based
        )
    return Accepted(ScreenedBatch(decisions=tuple(decisions.values())))


def decide(
    step: ScreenInput,
    document: Evidence,
    verdict: Verdict,
    name: str,
    words: Sequence[str],
    *,
    is_based: bool,
    reason: str = "",
) -> RecordDecision:
    """Return a decision; an exclusion without a criterion, or that does not rest on the work, is unsure."""
    criterion = one_of(name, [rule.id for rule in step.criteria]) or ""
    if verdict == "exclude" and not (criterion and is_based):
        verdict = "unsure"
        fault = "it rests on no sentence of the record" if criterion else line(name, 60) or "no criterion"
        reason = reason or fault
    return RecordDecision(
        evidence_id=document.evidence_id,
        verdict=verdict,
        criterion=criterion,
        words=tuple(words),
        reason=line(reason, MAX_REASON_CHARS),
    )


SCREENER = RoleSpec(
    "screener",
    ScreenAnswer,
    render,
    accept,
    lambda *_: ScreenedBatch(),
    reads=True,
    idle=lambda _, documents: not documents,
)


class VerdictAnswer(QuotedAnswer):
    decision: Text = ""
    criterion: Text = limits(length=40, default="")


def render_full_text(step: ScreenInput, documents: Sequence[Evidence], room: int) -> Prompt:
    rules = [f"{rule.id} ({rule.kind}): {rule.text}" for rule in step.criteria]
    prompt = compose_full_text(
        "full_text_screener",
        step,
        documents[:1],
        room=room,
        inputs=[listing("Criteria", rules, len(rules), 1_000)],
        questions=[step.question, *(rule.text for rule in step.criteria)],
        task=FULL_TEXT_TASK,
    )
    prompt.choices["decision"] = get_args(Verdict)
    prompt.choices["criterion"] = ("", *(rule.id for rule in step.criteria))
    return prompt


def accept_full_text(step: ScreenInput, prompt: Prompt, answer: VerdictAnswer) -> Accepted[ScreenedBatch]:
    document = next(iter(prompt.works.values()), None)
    if document is None:
        return Accepted(ScreenedBatch())
    verdict: Verdict = one_of(answer.decision, get_args(Verdict)) or "unsure"
    words = [support.quote for support in answer.quotes(prompt, document)]
    criterion = answer.criterion if verdict == "exclude" else ""
    decision = decide(step, document, verdict, criterion, words, is_based=bool(words), reason=answer.reason)
    return Accepted(ScreenedBatch(decisions=(decision,)))


FULL_TEXT_SCREENER = RoleSpec(
    "full_text_screener",
    VerdictAnswer,
    render_full_text,
    accept_full_text,
    lambda *_: ScreenedBatch(),
    reads=True,
)
