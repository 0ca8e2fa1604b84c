"""Proofreader: one pass over the claims of all sections that settles overlap, contradictions and order.

Repetition that code can find is removed before; quotes stay as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from activities.drafts import DraftClaim, DraftParagraph, Proofread, ProofreadInput, SectionDraft
from activities.models.tokens import BYTES_PER_TOKEN, estimate
from activities.roles.prompt import compose, fenced
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Text, Texts, limits, line, plural
from activities.text.repetition import remove_repetition, with_repeated
from activities.types import Evidence

SAME = 65.0
"""Likeness (0 to 100, words in any order) from which a claim may be a repetition of an earlier one. A model's
request to remove a claim unlike any other is ignored."""
CLAIM_CHARS = 260


class PairAnswer(Loose):
    one: Text = limits(length=6, default="")
    other: Text = limits(length=6, default="")


class ProofreadAnswer(Loose):
    drop: Texts = limits(items=20, length=6, default_factory=list)
    contradictions: list[PairAnswer] = limits(items=10, default_factory=list)
    lead: Texts = limits(items=8, length=6, default_factory=list)
    """Of each section the claim that should open it."""


def compared(step: ProofreadInput) -> ProofreadInput:
    """The drafts as the model reads them: without the repetition that code can find."""
    return step.model_copy(update={"drafts": remove_repetition(step.drafts, step.owners)})


def labelled(step: ProofreadInput) -> Iterator[tuple[str, str, DraftClaim]]:
    """(label, section id, claim) of every claim in reading order."""
    number = 0
    for section, draft in step.drafts.items():
        for paragraph in draft.paragraphs:
            for claim in paragraph.claims:
                number += 1
                yield f"C{number}", section, claim


def render(step: ProofreadInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    step = compared(step)
    task = "Name repetitions, contradictions and the claims that should lead. Answer with JSON."
    frame = compose("proofreader", step, room=room, task=task)
    left = int((room - estimate(frame.system, frame.user)) * BYTES_PER_TOKEN) - 120
    rows: list[str] = []
    before = ""
    claims = list(labelled(step))
    for label, section, claim in claims:
        row = f"{label}: {line(claim.text, CLAIM_CHARS)}"
        if section != before:
            row = f"Section {line(step.titles.get(section, section), 120)}\n{row}"
        if (left := left - len(row.encode()) - 1) < 0:
            break
        before = section
        rows.append(row)
    shown = "Claims:\n" + fenced("claims", "\n".join(rows))
    prompt = compose("proofreader", step, room=room, given=[shown], task=task)
    notes: tuple[str, ...] = ()
    if len(rows) < len(claims):
        unread = len(claims) - len(rows)
        notes = (f"{plural(unread, 'claim')} at the end were not proofread, so that the prompt would fit",)
    known = tuple(label for label, _, _ in claims[: len(rows)])
    choices = {"drop": known, "lead": known, "contradictions.one": known, "contradictions.other": known}
    return replace(prompt, choices=choices, notes=notes)


def accept(step: ProofreadInput, _prompt: Prompt, answer: ProofreadAnswer) -> Accepted[Proofread]:
    """A claim goes only if an earlier one that stays says nearly the same; contradicting claims both stay."""
    given = step.drafts
    step = compared(step)
    claims = {label: claim for label, _, claim in labelled(step)}
    against: dict[str, list[str]] = {label: list(claim.contradicts) for label, claim in claims.items()}
    protected: set[str] = set()
    for pair in answer.contradictions:
        one, other = pair.one.strip().upper(), pair.other.strip().upper()
        if one in claims and other in claims and one != other:
            protected |= {one, other}
            against[one].append(claims[other].text)
            against[other].append(claims[one].text)
    kept: dict[str, str] = {}
    asked = {label.strip().upper() for label in answer.drop}
    for label, claim in claims.items():
        repeats = any(fuzz.token_sort_ratio(claim.text, text) >= SAME for text in kept.values())
        if label not in asked or label in protected or not repeats:
            kept[label] = claim.text
    unheeded = len((asked & claims.keys()) & kept.keys())
    leading = {label.strip().upper() for label in answer.lead}
    labels = iter(claims)
    drafts: dict[str, SectionDraft] = {}
    for section, draft in step.drafts.items():
        paragraphs: list[tuple[bool, DraftParagraph]] = []
        for paragraph in draft.paragraphs:
            # `labels` comes second: zip consumes its first argument before it notices that another is
            # exhausted
            labelled_claims = list(zip(paragraph.claims, labels, strict=False))
            left = [
                (label, claim.model_copy(update={"contradicts": tuple(dict.fromkeys(against[label]))}))
                for claim, label in labelled_claims
                if label in kept
            ]
            left.sort(key=lambda pair: pair[0] not in leading)
            if left:
                leads = left[0][0] in leading
                paragraphs.append((leads, DraftParagraph(claims=tuple(claim for _, claim in left))))
        paragraphs.sort(key=lambda pair: not pair[0])
        ordered = tuple(paragraph for _, paragraph in paragraphs)
        drafts[section] = with_repeated(given[section], draft.model_copy(update={"paragraphs": ordered}))
    notes = (f"{plural(unheeded, 'claim')} kept that repeat no earlier one",) if unheeded else ()
    return Accepted(Proofread(drafts=drafts), notes)


def by_code(step: ProofreadInput, _documents: Sequence[Evidence]) -> Proofread | None:
    """One claim cannot repeat or contradict another."""
    step = compared(step)
    return Proofread(drafts=step.drafts) if sum(1 for _ in labelled(step)) < 2 else None


SPEC = RoleSpec[ProofreadInput, ProofreadAnswer, Proofread](
    "proofreader", ProofreadAnswer, render, accept, by_code=by_code
)
