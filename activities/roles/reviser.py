"""Reviser: the sentences of a finished report that an instruction touches, and how they read then.

It names labels; code finds what follows from them (sentences on works that go, sentences of the editor on
sentences that go), and the gate decides of every new wording.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar, get_args

from activities.contracts.evidence import Claim, Evidence, Length
from activities.contracts.judge import Refused
from activities.contracts.revise import Revised, ReviseInput, Wanted
from activities.contracts.write import DraftClaim, EditedSentence
from activities.roles.fields import ClaimLabels, Fields, Loose, OneClaim, Text, Texts, WorkLabels, limits
from activities.roles.prompt import compose, fence, one_line
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of, sentence_text
from activities.verification import gate
from activities.verification.computed import Computations
from activities.verification.gate import MAX_CLAIM_CHARS, Decision
from activities.verification.verdicts import refusal_of, with_context

MAX_REWORDED = 60
MAX_FIELDS, MAX_FIELD_CHARS = 7, 300
"""Of a row."""
LENGTHS: tuple[Length, ...] = get_args(Length)

C = TypeVar("C", DraftClaim, EditedSentence)


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
    held = {document.evidence_id: document for document in documents}
    works = {name: f"E{n}" for n, name in enumerate(held, 1)}
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
    listed = [
        f"{label} {one_line(held[name].title)[:120]} ({held[name].year or 'no year'}, {held[name].standing})"
        for name, label in works.items()
    ]
    prompt = compose(
        "reviser",
        step,
        room=room,
        inputs=[
            "Report:\n" + fence("report", "\n".join(parts if above else parts[1:])),
            "Works (E1 is [1] in the report):\n" + fence("works", "\n".join(listed)),
            "Read for this, to be written about: " + ", ".join(step.by_identifier)
            if step.by_identifier
            else "",
            f"Its reader asks: {one_line(step.wanted)}",
        ],
        task="What does this touch? Answer with JSON.",
    )
    choices = {"ClaimLabel": tuple(labels), "WorkLabel": tuple(works.values()), "length": ("", *LENGTHS)}
    shown = {label: held[name] for name, label in works.items()}
    return replace(prompt, claims=labels, works=shown, choices=choices)


def _row(label: str, claim: DraftClaim, works: Mapping[str, str]) -> str:
    cited = dict.fromkeys(works[s.evidence_id] for s in claim.support if s.evidence_id in works)
    rests = f" [{', '.join(cited)}]" if cited else ""
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
    gone = {prompt.claims[label] for label in answer.remove if label in prompt.claims}
    answering = {s.id for s in step.sentences if s.id.partition(".")[2].startswith("a")}
    if len({name.partition(".")[0] for name in answering}) > 1:
        answering = set()  # of the sections, each with its own: that of the report stays with none of them
    gone |= {s.id for s in step.sentences if s.id.partition(".")[0] in sections and s.id not in answering}

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
        if before.id in gone and claim.leans and claim.id not in texts:
            gone.add(claim.id)
    refusals: list[Refused] = []

    def again(sentence: C, by: Callable[[C], Decision]) -> C | None:
        """Return a touched sentence as it is to be read; None where it stays, or goes (`gone`)."""
        support = tuple(s for s in sentence.support if s.evidence_id not in works)
        if sentence.support and not support:
            gone.add(sentence.id)
        reworded: Reworded = texts.get(sentence.id, Reworded())
        changed = sentence
        if reworded.text or reworded.cells:
            changed = sentence.worded(sentence_text(reworded.text), [*map(sentence_text, reworded.cells)])
        if sentence.id in gone or (changed.text == sentence.text and support == sentence.support):
            return None
        changed = changed.replace(support=support, reworded=changed.text != sentence.text)
        decided = gate.with_decision(changed, by(changed))
        if decided.state == "refused":
            refusals.append(refusal_of(decided))
            if support != sentence.support:
                gone.add(sentence.id)
            return None
        return decided

    sentences = tuple(new for claim in with_context(step.sentences) if (new := again(claim, decide)))
    gone -= {row.id for row in step.lines}
    lines = tuple(new for row in step.lines if (new := again(row, decide)))
    held = {sentence.id: sentence for sentence in (*step.sentences, *sentences)}

    def edited(sentence: EditedSentence) -> EditedSentence | None:
        """Have a sentence of the editor go with all the sentences it rests on.

        It is read again where some of them go or read otherwise.
        """
        left = tuple(name for name in sentence.claims if name not in gone)
        if sentence.claims and not left:
            gone.add(sentence.id)
        on = [
            Claim(id=name, text=held[name].text, support=held[name].support) for name in left if name in held
        ]
        narrowed = sentence.replace(claims=left)
        new = again(narrowed, lambda c: gate.editor_sentence(c.text, on, step.question))
        if new is None and left != sentence.claims and sentence.id not in gone:
            new = gate.with_decision(narrowed, gate.editor_sentence(sentence.text, on, step.question))
            if new.state == "refused":
                refusals.append(refusal_of(new, "summary"))
                gone.add(sentence.id)
                new = None
        return new

    others = tuple(new for sentence in step.edited if (new := edited(sentence)))
    # a title states nothing which the question, the outline and the instruction do not
    passages = [step.question, step.wanted, *step.sections.values(), *(c.text for c in step.sentences)]
    titled = bool(answer.title.strip()) and gate.title(answer.title, passages).stands
    new_text = next(iter(answer.write), NewText())
    question = line(new_text.question, 300)
    section = new_text.section if new_text.section in step.sections else ""
    return Accepted(
        Revised(
            removed=tuple(sentence.id for sentence in (*step.edited, *step.sentences) if sentence.id in gone),
            sections=sections,
            works=tuple(sorted(works)),
            sentences=sentences,
            edited=others,
            lines=lines,
            title=line(answer.title, 160) if titled else "",
            length=one_of(answer.length, LENGTHS),
            write=Wanted(question=question, section=section) if question else None,
            refused=tuple(refusals),
            cannot=line(answer.cannot, 300),
        )
    )


REVISER = RoleSpec(
    "reviser",
    "Changing the report",
    ReviserAnswer,
    render,
    accept,
    lambda *_: Revised(cannot="no language model is connected"),
    reads=True,
    idle=lambda *_: False,
)
