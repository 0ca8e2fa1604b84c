"""Verifier: the second reader. It says whether the works say what a sentence says.

Its prompt begins as the writer's does, with the same works in the same order and under the same labels; the
sentences follow, each with the labels it rests on and with what code noticed of its wording.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from activities.contracts.evidence import Evidence
from activities.contracts.write import DraftClaim, SentenceKind, SentenceVerdict, Verdicts, VerifyInput
from activities.models.tokens import BYTES_PER_TOKEN
from activities.roles.prompt import fenced, one_line
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, OneClaim, Text, limits, line, one_of
from activities.roles.works import compose_works
from activities.text.sentences import Sentence
from activities.verification import gate
from activities.verification.warnings import warning_text

Supported = Literal["yes", "partly", "no"]
SUPPORTED: tuple[Supported, ...] = get_args(Supported)
SHARE_OF_SENTENCES = 0.4
"""The share of the prompt's room, for the sentences; the rest is for the works."""
MAX_LAYOUTS = 4
"""Times that a prompt is laid out: sentences are named by the labels of what is shown, and take its room."""
TASK = "Give a verdict on every sentence (C1, C2 ...). Answer with JSON."
MARKS: dict[SentenceKind, str] = {
    "missing": " (says what no work has)",
    "reservation": " (a reservation)",
    "transition": " (leads into a section)",
}
"""Behind the label of a sentence that rests on no quote."""


class VerdictAnswer(Loose):
    claim: OneClaim = ""
    supported: Text = ""
    words: Text = limits(length=300, default="")
    reason: Text = limits(length=120, default="")


class VerdictsAnswer(Loose):
    verdicts: list[VerdictAnswer]


def render(step: VerifyInput, documents: Sequence[Evidence], room: int) -> Prompt:
    rows: list[str] = []
    for _ in range(MAX_LAYOUTS):
        prompt = compose_works(
            "verifier",
            step,
            documents,
            room=room,
            inputs=["Sentences:\n" + fenced("claims", "\n".join(rows))],
            judged=step.judgements,
            task=TASK,
            most=step.works_room or int(room * (1 - SHARE_OF_SENTENCES)),
        )
        before = rows
        rows, labels = _rows(step.sentences, prompt.sentences, int(room * SHARE_OF_SENTENCES))
        if rows == before:
            break
    choices = {"ClaimLabel": tuple(labels), "verdicts.supported": SUPPORTED}
    return replace(prompt, claims=labels, choices=choices, notes=())


def _rows(
    sentences: Sequence[DraftClaim], shown: dict[str, Sentence], room: int
) -> tuple[list[str], dict[str, str]]:
    """The sentences as lines, as many as there is room for in tokens, and the id behind each label."""
    label_of = {(one.evidence_id, one.quote): label for label, one in shown.items()}
    left = int(room * BYTES_PER_TOKEN)
    rows: list[str] = []
    labels: dict[str, str] = {}
    for sentence in sentences:
        label = f"C{len(labels) + 1}"
        row = _row(label, sentence, label_of)
        if (left := left - len(row.encode()) - 1) < 0:
            break
        rows.append(row)
        labels[label] = sentence.id
    return rows, labels


def _row(label: str, sentence: DraftClaim, label_of: dict[tuple[str, str], str]) -> str:
    marks = [label_of.get((one.evidence_id, one.quote), "") for one in sentence.support]
    rests = f" [{', '.join(mark for mark in marks if mark)}]" if any(marks) else ""
    hidden = (
        f'   quoted: "{one_line(one.quote)}"'
        for one, mark in zip(sentence.support, marks, strict=True)
        if not mark
    )
    noticed = (f"   noticed: {one_line(warning_text(warning))}" for warning in sentence.warnings)
    computed = (f"   computed: {one_line(one)}" for one in sentence.computed)
    first = f"{label}{rests}{MARKS.get(sentence.kind, '')}: {one_line(sentence.text)}"
    return "\n".join([first, *hidden, *computed, *noticed])


def accept(step: VerifyInput, prompt: Prompt, answer: VerdictsAnswer) -> Accepted[Verdicts]:
    """Verdicts on the sentences that were asked about, as far as code can bear them out; of two on one
    sentence the stricter one. A sentence without a verdict stays open."""
    sentences = {sentence.id: sentence for sentence in step.sentences}
    works = {work.evidence_id: f"{work.title}\n{work.text}" for work in prompt.shown.values()}
    strictest: dict[str, tuple[int, VerdictAnswer]] = {}
    for verdict in answer.verdicts:
        name, supported = prompt.claims.get(verdict.claim), one_of(verdict.supported, SUPPORTED)
        if name is not None and supported is not None:
            severity = SUPPORTED.index(supported)
            if name not in strictest or strictest[name][0] < severity:
                strictest[name] = severity, verdict
    verdicts = []
    for name, (severity, verdict) in strictest.items():
        sentence = sentences[name]
        cited = [works[one.evidence_id] for one in sentence.support if one.evidence_id in works]
        quotes = [one.quote for one in sentence.support]
        texts = [*quotes, *cited] if sentence.support else list(works.values())
        reason = line(verdict.reason, 160)
        problem = gate.confirmed(sentence, SUPPORTED[severity], verdict.words, reason, texts)
        verdicts.append(SentenceVerdict(id=name, problem=problem))
    return Accepted(Verdicts(verdicts=tuple(verdicts)))


SPEC = RoleSpec[VerifyInput, VerdictsAnswer, Verdicts](
    "verifier",
    "Verifying sentences",
    VerdictsAnswer,
    render,
    accept,
    lambda _step, _documents: Verdicts(),
    lambda step: step.evidence,
    lambda step, _: not step.sentences,
)
