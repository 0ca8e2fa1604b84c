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
from activities.roles.prompt import compose, fenced, one_line
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of, sentence_text
from activities.verification import gate
from activities.verification.gate import MAX_CLAIM_CHARS, Decision
from activities.verification.verdicts import in_place, refused

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
    labels = {f"C{n}": one.id for n, one in enumerate((*step.edited, *step.lines, *step.sentences), 1)}
    label_of = {name: label for label, name in labels.items()}
    above = (*step.edited, *step.lines)
    parts = ["Answer and summary:", *(_row(label_of[one.id], one, works) for one in above)]
    for section, title in step.sections.items():
        parts.append(f"\nSection {section}: {one_line(title)}")
        own = (one for one in step.sentences if one.id.startswith(f"{section}."))
        parts += (_row(label_of[one.id], one, works) for one in own)
    listed = [
        f"{label} {one_line(held[name].title)[:120]} ({held[name].year or 'no year'}, {held[name].standing})"
        for name, label in works.items()
    ]
    prompt = compose(
        "reviser",
        step,
        room=room,
        inputs=[
            "Report:\n" + fenced("report", "\n".join(parts if above else parts[1:])),
            "Works (E1 is [1] in the report):\n" + fenced("works", "\n".join(listed)),
            "Read for this, to be written about: " + ", ".join(step.by_identifier)
            if step.by_identifier
            else "",
            f"Its reader asks: {one_line(step.wanted)}",
        ],
        task="What does this touch? Answer with JSON.",
    )
    choices = {"ClaimLabel": tuple(labels), "WorkLabel": tuple(works.values()), "length": ("", *LENGTHS)}
    shown = {label: held[name] for name, label in works.items()}
    return replace(prompt, claims=labels, shown=shown, choices={n: v for n, v in choices.items() if v})


def _row(label: str, one: DraftClaim, works: Mapping[str, str]) -> str:
    cited = dict.fromkeys(works[s.evidence_id] for s in one.support if s.evidence_id in works)
    rests = f" [{', '.join(cited)}]" if cited else ""
    mark = " (leans)" if one.leans else " (a row)" if one.is_row else ""
    return f"{label}{rests}{mark}: {one_line(one.text)}"


def accept(step: ReviseInput, prompt: Prompt, answer: ReviserAnswer) -> Accepted[Revised]:
    """Accept what was named, and what follows from it; ids that were not shown are left out."""
    documents = {document.evidence_id: document for document in prompt.shown.values()}
    works = {prompt.shown[label].evidence_id for label in answer.leave_out if label in prompt.shown}
    sections = tuple(name for name in dict.fromkeys(answer.remove_sections) if name in step.sections)
    texts: dict[str, Reworded] = {
        prompt.claims[one.claim]: one for one in answer.reword if one.claim in prompt.claims
    }
    gone = {prompt.claims[label] for label in answer.remove if label in prompt.claims}
    gone |= {one.id for one in step.sentences if one.id.partition(".")[0] in sections}

    def decide(one: DraftClaim) -> Decision:
        return gate.sentence(
            one.text,
            one.kind,
            one.support,
            documents,
            step.question,
            shown=one.computed,
            is_row=one.is_row,
        )

    for before, one in pairwise(step.sentences):
        if before.id in gone and one.leans and one.id not in texts:
            gone.add(one.id)
    no: list[Refused] = []

    def again(one: C, by: Callable[[C], Decision]) -> C | None:
        """Return a touched sentence as it is to be read; None where it stays, or goes (`gone`)."""
        support = tuple(s for s in one.support if s.evidence_id not in works)
        if one.support and not support:
            gone.add(one.id)
        said: Reworded = texts.get(one.id, Reworded())
        changed = one
        if said.text or said.cells:
            changed = one.worded(sentence_text(said.text), [*map(sentence_text, said.cells)])
        if one.id in gone or (changed.text == one.text and support == one.support):
            return None
        changed = changed.replace(support=support, reworded=changed.text != one.text)
        decided = gate.decided(changed, by(changed))
        if decided.state == "refused":
            no.append(refused(decided))
            if support != one.support:
                gone.add(one.id)
            return None
        return decided

    sentences = tuple(new for one in in_place(step.sentences) if (new := again(one, decide)))
    gone -= {one.id for one in step.lines}
    lines = tuple(new for one in step.lines if (new := again(one, decide)))
    held = {one.id: one for one in (*step.sentences, *sentences)}

    def edited(one: EditedSentence) -> EditedSentence | None:
        """Have a sentence of the editor go with all the sentences it rests on.

        It is read again where some of them go or read otherwise.
        """
        left = tuple(name for name in one.claims if name not in gone)
        if one.claims and not left:
            gone.add(one.id)
        on = [
            Claim(id=name, text=held[name].text, support=held[name].support) for name in left if name in held
        ]
        narrowed = one.replace(claims=left)
        new = again(narrowed, lambda c: gate.edited(c.text, on, step.question))
        if new is None and left != one.claims and one.id not in gone:
            new = gate.decided(narrowed, gate.edited(one.text, on, step.question))
            if new.state == "refused":
                no.append(refused(new, "summary"))
                gone.add(one.id)
                new = None
        return new

    others = tuple(new for one in step.edited if (new := edited(one)))
    # a title states nothing which the question, the outline and the instruction do not
    passages = [step.question, step.wanted, *step.sections.values(), *(c.text for c in step.sentences)]
    titled = bool(answer.title.strip()) and gate.title(answer.title, passages).stands
    new_text = next(iter(answer.write), NewText())
    question = line(new_text.question, 300)
    section = new_text.section if new_text.section in step.sections else ""
    return Accepted(
        Revised(
            removed=tuple(one.id for one in (*step.edited, *step.sentences) if one.id in gone),
            sections=sections,
            works=tuple(sorted(works)),
            sentences=sentences,
            edited=others,
            lines=lines,
            title=line(answer.title, 160) if titled else "",
            length=one_of(answer.length, LENGTHS),
            write=Wanted(question=question, section=section) if question else None,
            refused=tuple(no),
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
