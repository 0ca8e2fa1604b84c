"""A finished report with what a person asked of it: what it was published from, changed where it was touched.

Invariants:

- a sentence that was not touched keeps its id, its text and its quotes, letter by letter;
- a new wording that does not stand leaves the old one in its place, unless a work that it rests on goes;
- a disputed sentence is printed as before until somebody decides.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TypeVar

from pydantic import Field

from activities.contracts.evidence import EvidenceRef, Frozen, ReportPlanSection, Statement
from activities.contracts.publish import Dispute, PlannedSection, PublishInput
from activities.contracts.revise import Instruction, Revised
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    EditedSentence,
    SectionDraft,
    Verdicts,
)
from activities.report.parts import part_of
from activities.report.schema import Report
from activities.text.normal_form import normalise
from activities.verification.verdicts import by_verdict

C = TypeVar("C", DraftClaim, EditedSentence)


def changed(
    step: PublishInput, revised: Revised, draft: SectionDraft, verdicts: Verdicts, new: Sequence[EvidenceRef]
) -> PublishInput:
    """Apply an instruction to what a report is published from.

    `draft`: what was written for it; `verdicts`: of the second reader; `new`: the works that were read
    for it.
    """
    gone, works = set(revised.removed), set(revised.works)
    on = _onto(revised, verdicts, repetitions(step))

    sections = [
        section.replace(
            draft=section.draft.changed(on).replace(
                passages=tuple(p for p in section.draft.passages if p.evidence_id not in works)
            )
        )
        for section in step.sections
        if section.section.id not in revised.sections
    ]
    answers = [section.draft for section in step.sections if section.draft.answer]
    if len(answers) == 1 and sections and not any(section.draft.answer for section in sections):
        # the only answer is that of the report and outlives its section
        answer = answers[0].changed(on).answer
        sections[0] = sections[0].replace(draft=sections[0].draft.replace(answer=answer))
    edited = step.edited
    if edited is not None:
        edited = edited.changed(lambda sentence: next(iter(on(sentence)), None))
        edited = edited.replace(
            title=revised.title or edited.title,
            repeated=tuple(pair for pair in edited.repeated if not gone & set(pair)),
        )
    written = draft.changed(lambda claim: (by_verdict(verdicts)(claim),))
    if sections:
        first, read = sections[0].draft, verdicts.vigilance
        sections[0] = sections[0].replace(draft=first.replace(vigilance=first.vigilance + read))
    if revised.write is not None and (written.claims or written.passages):
        sections = _with_text(sections, revised.write.section, revised.write.question, written)
    ids = {ref.evidence_id for ref in step.evidence}
    lines = [by_verdict(verdicts)(line) for line in revised.lines]
    texts = {line.id: line.text for line in lines if line.state == "stands"}
    for name in step.parts if texts else ():
        if any(text.startswith(f"{name}:") for text in texts):
            step = step.replace(**{name: part_of(name).reworded(step, texts)})
    return step.replace(
        sections=tuple(sections),
        edited=edited,
        title=revised.title or step.title,
        length=revised.length or step.length,
        refused=(*step.refused, *revised.refused),
        evidence=(*step.evidence, *(ref for ref in new if ref.evidence_id not in ids)),
        judgements=tuple(j for j in step.judgements if j.evidence_id not in works),
        **{name: part_of(name).without(step, works) for name in step.parts},
    )


def repetitions(step: PublishInput) -> dict[str, str]:
    """Map the id of a sentence that is not printed to that of the one which says the same.

    It follows that one: else what was taken out or reworded would be printed in its next place.
    """
    printed: dict[str, str] = {}
    follows: dict[str, str] = {}
    for sentence in (claim for planned in step.sections for claim in planned.draft.claims):
        first = printed.setdefault(normalise(sentence.text).casefold(), sentence.id)
        if sentence.state == "stands" and first != sentence.id:
            follows[sentence.id] = first
    return {**follows, **dict(step.edited.repeated if step.edited else ())}


def _onto(revised: Revised, verdicts: Verdicts, follows: Mapping[str, str]) -> Callable[[C], tuple[C, ...]]:
    gone, works = set(revised.removed), set(revised.works)
    again: dict[str, DraftClaim] = {
        sentence.id: sentence for sentence in (*revised.sentences, *revised.edited)
    }
    read = by_verdict(verdicts)

    def become(sentence: C) -> tuple[C, ...]:
        name = followed(sentence.id, follows)
        if name != sentence.id:
            if any(support.evidence_id in works for support in sentence.support):
                return ()
            if name.partition(".")[0] in revised.sections or (works and name in gone):
                name = sentence.id  # the other went with its section or its works: this one is printed
        if name in gone:
            return ()
        new = again.get(name)
        if new is None:
            return (sentence,)
        decided = read(new)
        if decided.state == "stands":
            names = (*_CHANGED, "claims") if isinstance(decided, EditedSentence) else _CHANGED
            return (sentence.replace(**{name: getattr(decided, name) for name in names}, problem=None),)
        left_out = any(support.evidence_id in works for support in sentence.support)
        narrowed = isinstance(sentence, EditedSentence) and set(sentence.claims) & gone
        return () if left_out or narrowed else (sentence,)

    return become


def followed(name: str, follows: Mapping[str, str]) -> str:
    """Return the sentence that is printed in the place of this one; itself where it is printed."""
    seen = {name}
    while (next_one := follows.get(name, name)) not in seen:
        seen.add(name := next_one)
    return name


_CHANGED = ("text", "cells", "kind", "state", "stands_by", "reworded", "computed", "support")


def _with_text(
    sections: list[PlannedSection], name: str, question: str, written: SectionDraft
) -> list[PlannedSection]:
    """Put new text at the end of a section, or in a section of its own; ids go on from the last."""
    if len(sections) == 1:  # a second section would change what is printed as the answer
        name = sections[0].section.id
    if not any(section.section.id == name for section in sections):
        taken = {section.section.id for section in sections}
        name = next(f"s{n}" for n in range(1, len(sections) + 100) if f"s{n}" not in taken)
        planned = ReportPlanSection(id=name, title=written.title or question, key_question=question)
        sections = [*sections, PlannedSection(section=planned)]
    place = next(place for place, section in enumerate(sections) if section.section.id == name)
    draft, more = sections[place].draft, _renamed(written, name, sections[place].draft)
    claims = (DraftParagraph(claims=more.claims),) if more.claims else ()
    passages = (*draft.passages, *more.passages)
    draft = draft.replace(paragraphs=(*draft.paragraphs, *claims), passages=passages)
    return [*sections[:place], sections[place].replace(draft=draft), *sections[place + 1 :]]


def _renamed(draft: SectionDraft, section: str, before: SectionDraft) -> SectionDraft:
    """Give the sentences of a draft ids of a section that none of it has; they go on from the last."""
    numbers = (re.sub(r"\D", "", sentence.id.rpartition(".")[2]) for sentence in before.sentences)
    places = count(max((int(number or 0) for number in numbers), default=0) + 1)
    return draft.changed(lambda claim: (claim.replace(id=f"{section}.{next(places)}"),))


# disputes


def sentence_of(step: PublishInput, name: str) -> DraftClaim | None:
    drafted = [sentence for planned in step.sections for sentence in planned.draft.sentences]
    edited = step.edited.sentences if step.edited else ()
    return next((claim for claim in (*drafted, *edited) if claim.id == name), None)


def disputed(step: PublishInput, asked: Instruction, at: str, verdicts: Verdicts) -> PublishInput:
    """Add the dispute of a sentence, which is printed as before.

    A reader that missed planted errors confirms nothing.
    """
    verdict = next((one for one in verdicts.verdicts if one.id == asked.sentence), None)
    if verdict is not None and verdict.problem is None and not verdicts.vigilance.is_believed:
        verdict = None
    sentence = sentence_of(step, asked.sentence)
    dispute = Dispute(
        sentence=asked.sentence,
        text=sentence.text if sentence else "",
        reason=asked.text,
        by=asked.by,
        at=at,
        reader="" if verdict is None else "stands" if verdict.problem is None else "falls",
        problem=verdict.problem if verdict else None,
    )
    return step.replace(disputes=(*step.disputes, dispute))


def decided(step: PublishInput, asked: Instruction) -> PublishInput:
    """Decide the open disputes of a sentence; where they are upheld, its quote stands in its place."""
    open_ones = [d for d in step.disputes if d.sentence == asked.sentence and not d.decision]
    decision = "upheld" if asked.upheld else "rejected"
    step = step.replace(
        disputes=tuple(
            d.replace(decision=decision, decided_by=asked.by, note=asked.text) if d in open_ones else d
            for d in step.disputes
        )
    )
    if not asked.upheld or not open_ones:
        return step
    problem = Statement.of("dispute_upheld", by=open_ones[-1].by, reason=open_ones[-1].reason)
    follows = repetitions(step)

    def fall(sentence: C) -> C:
        falls = followed(sentence.id, follows) == asked.sentence
        return sentence.replace(state="refused", problem=problem) if falls else sentence

    drafts = (planned.draft.changed(lambda claim: (fall(claim),)) for planned in step.sections)
    sections = tuple(one.replace(draft=draft) for one, draft in zip(step.sections, drafts, strict=True))
    return step.replace(sections=sections, edited=step.edited.changed(fall) if step.edited else None)


# what is different


class SentenceChange(Frozen):
    """A sentence by which two versions of a report differ."""

    id: str
    before: str = Field(description="Empty for a new sentence")
    after: str = Field(description="Empty for one that is gone")


def differences(before: Report, after: Report) -> list[SentenceChange]:
    """List the sentences by which two versions differ, in the order of the page."""
    # a sentence of the answer may stand in its section again, under its id
    old, new = (
        {sentence.id: sentence.text for sentence in reversed([*r.sentences()])} for r in (before, after)
    )
    names = dict.fromkeys(claim.id for report in (before, after) for claim in report.sentences())
    return [
        SentenceChange(id=name, before=old.get(name, ""), after=new.get(name, ""))
        for name in names
        if old.get(name) != new.get(name)
    ]
