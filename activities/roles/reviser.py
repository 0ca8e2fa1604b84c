"""Reviser: the sentences of a finished report that an instruction touches, and how they read then.

It names labels; code finds what follows from them (sentences on works that go, sentences of the editor on
sentences that go), and the gate decides of every new wording.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import get_args

from activities.contracts.evidence import Claim, Evidence, Length
from activities.contracts.judge import Refused
from activities.contracts.revise import Revised, ReviseInput, Wanted
from activities.contracts.write import DraftClaim, EditedSentence, section_of
from activities.roles.fields import ClaimLabels, Fields, Loose, OneClaim, Text, Texts, WorkLabels, limits
from activities.roles.prompt import compose, fence, one_line
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of, sentence_text
from activities.verification import gate
from activities.verification.computed import Computations
from activities.verification.gate import MAX_CLAIM_CHARS, Decision
from activities.verification.verdicts import C, refusal_of, with_context

MAX_REWORDED = 60
MAX_FIELDS, MAX_FIELD_CHARS = 7, 300
"""Of a row."""
LENGTHS: tuple[Length, ...] = get_args(Length)


class Reworded(Loose):
    claim: OneClaim = ""
    text: Text = limits(length=MAX_CLAIM_CHARS, default="")
    cells: Fields = limits(items=MAX_FIELDS, length=MAX_FIELD_CHARS, default_factory=list)


class NewText(Loose):
    question: Text = limits(length=300, default="")
    section: Text = limits(length=20, default="")


class ReviserAnswer(Loose):
    remove: ClaimLabels = limits(default_factory=list)
    remove_sections: Texts = limits(items=20, length=20, default_factory=list)
    reword: list[Reworded] = limits(items=MAX_REWORDED, default_factory=list)
    leave_out: WorkLabels = limits(default_factory=list)
    write: list[NewText] = limits(items=1, default_factory=list)
    title: Text = limits(length=160, default="")
    length: Text = ""
    cannot: Text = limits(length=240, default="")


def render(step: ReviseInput, documents: Sequence[Evidence], room: int) -> Prompt:
    by_id = {document.evidence_id: document for document in documents}
    works = {name: f"E{n}" for n, name in enumerate(by_id, 1)}
    labels = {
        f"C{n}": sentence.id for n, sentence in enumerate((*step.edited, *step.lines, *step.sentences), 1)
    }
    label_of = {name: label for label, name in labels.items()}
    above = (*step.edited, *step.lines)
    parts = ["Answer and summary:", *(_row(label_of[claim.id], claim, works) for claim in above)]
    for section, title in step.sections.items():
        parts.append(f"\nSection {section}: {one_line(title)}")
        sentences = (sentence for sentence in step.sentences if sentence.id.startswith(f"{section}."))
        parts += (_row(label_of[claim.id], claim, works) for claim in sentences)
    by_label = dict(zip(works.values(), by_id.values(), strict=True))
    rows = [
        f"{label} {one_line(work.title)[:120]} ({work.year or 'no year'}, {work.standing})"
        for label, work in by_label.items()
    ]
    prompt = compose(
        "reviser",
        step,
        room=room,
        inputs=[
            "Report:\n" + fence("report", "\n".join(parts if above else parts[1:])),
            "Works (E1 is [1] in the report):\n" + fence("works", "\n".join(rows)),
            "Read for this, to be written about: " + ", ".join(step.by_identifier)
            if step.by_identifier
            else "",
            f"Its reader asks: {one_line(step.wanted)}",
        ],
        task="What does this touch? Answer with JSON.",
    )
    choices = {"ClaimLabel": tuple(labels), "WorkLabel": tuple(works.values()), "length": ("", *LENGTHS)}
    return replace(prompt, claims=labels, works=by_label, choices=choices)


def _row(label: str, claim: DraftClaim, works: Mapping[str, str]) -> str:
    labels = dict.fromkeys(works[s.evidence_id] for s in claim.support if s.evidence_id in works)
    rests = f" [{', '.join(labels)}]" if labels else ""
    mark = " (leans)" if claim.leans else " (a row)" if claim.is_row else ""
    return f"{label}{rests}{mark}: {one_line(claim.text)}"


def accept(step: ReviseInput, prompt: Prompt, answer: ReviserAnswer) -> Accepted[Revised]:
    """Accept what was named, and what follows from it; ids that were not shown are left out."""
    documents = {document.evidence_id: document for document in prompt.works.values()}
    works = {prompt.works[label].evidence_id for label in answer.leave_out if label in prompt.works}
    sections = tuple(name for name in dict.fromkeys(answer.remove_sections) if name in step.sections)
    texts: dict[str, Reworded] = {
        prompt.claims[reworded.claim]: reworded
        for reworded in answer.reword
        if reworded.claim in prompt.claims
    }
    removed = {prompt.claims[label] for label in answer.remove if label in prompt.claims}
    answer_ids = {s.id for s in step.sentences if s.id.partition(".")[2].startswith("a")}
    if len({*map(section_of, answer_ids)}) > 1:
        answer_ids = set()  # of the sections, each with its own: that of the report stays with none of them
    removed |= {s.id for s in step.sentences if section_of(s.id) in sections and s.id not in answer_ids}

    works_at_hand = [*map(gate.text_of, documents.values()), step.question]

    def decide(claim: DraftClaim) -> Decision:
        if claim.kind == "background":
            return gate.background(claim.text, step.question)
        return gate.sentence(
            claim.text,
            gate.works_of(claim),
            documents,
            step.question,
            quotes=[support.quote for support in claim.support],
            computations=Computations(claim.computed, works_at_hand, works_at_hand),
            is_row=claim.is_row,
        )

    for before, claim in pairwise(step.sentences):
        if before.id in removed and claim.leans and claim.id not in texts:
            removed.add(claim.id)
    refusals: list[Refused] = []

    def revise(sentence: C, by: Callable[[C], Decision]) -> C | None:
        """Return a touched sentence as it is to be read; None where it stays, or goes (`removed`)."""
        support = tuple(s for s in sentence.support if s.evidence_id not in works)
        if sentence.support and not support:
            removed.add(sentence.id)
        reworded: Reworded = texts.get(sentence.id, Reworded())
        revision = sentence
        if reworded.text or reworded.cells:
            revision = sentence.worded(sentence_text(reworded.text), [*map(sentence_text, reworded.cells)])
        if sentence.id in removed or (revision.text == sentence.text and support == sentence.support):
            return None
        revision = revision.replace(support=support, reworded=revision.text != sentence.text)
        revised = gate.with_decision(revision, by(revision))
        if revised.state == "refused":
            refusals.append(refusal_of(revised))
            if support != sentence.support:
                removed.add(sentence.id)
            return None
        return revised

    sentences = tuple(new for claim in with_context(step.sentences) if (new := revise(claim, decide)))
    removed -= {row.id for row in step.lines}
    lines = tuple(new for row in step.lines if (new := revise(row, decide)))
    by_id = {sentence.id: sentence for sentence in (*step.sentences, *sentences)}

    def revise_edited(sentence: EditedSentence) -> EditedSentence | None:
        """Have a sentence of the editor go with all the sentences it rests on.

        It is read again where some of them go or read otherwise.
        """
        claim_ids = tuple(name for name in sentence.claims if name not in removed)
        if sentence.claims and not claim_ids:
            removed.add(sentence.id)
        claims = [Claim(id=s.id, text=s.text, support=s.support) for s in map(by_id.get, claim_ids) if s]
        narrowed = sentence.replace(claims=claim_ids)
        new = revise(narrowed, lambda c: gate.editor_sentence(c.text, claims, step.question))
        if new is None and claim_ids != sentence.claims and sentence.id not in removed:
            new = gate.with_decision(narrowed, gate.editor_sentence(sentence.text, claims, step.question))
            if new.state == "refused":
                refusals.append(refusal_of(new, "summary"))
                removed.add(sentence.id)
                new = None
        return new

    edited_sentences = tuple(new for sentence in step.edited if (new := revise_edited(sentence)))
    # a title states nothing which the question, the outline and the instruction do not
    passages = [step.question, step.wanted, *step.sections.values(), *(c.text for c in step.sentences)]
    has_title = bool(answer.title.strip()) and gate.title(answer.title, passages).stands
    new_text = next(iter(answer.write), NewText())
    question = line(new_text.question, 300)
    section = new_text.section if new_text.section in step.sections else ""
    return Accepted(
        Revised(
            removed=tuple(s.id for s in (*step.edited, *step.sentences) if s.id in removed),
            sections=sections,
            works=tuple(sorted(works)),
            sentences=sentences,
            edited=edited_sentences,
            lines=lines,
            title=line(answer.title, 160) if has_title else "",
            length=one_of(answer.length, LENGTHS),
            write=Wanted(question=question, section=section) if question else None,
            refused=tuple(refusals),
            cannot=line(answer.cannot, 300),
        )
    )


REVISER = RoleSpec(
    "reviser",
    ReviserAnswer,
    render,
    accept,
    lambda *_: Revised(cannot="no language model is connected"),
    reads=True,
    idle=lambda *_: False,
)
