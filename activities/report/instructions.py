"""A finished report with what a person asked of it: what it was published from, changed where it was touched.

Invariants:

- a sentence that was not touched keeps its id, its text and its quotes, letter by letter;
- a new wording that does not stand leaves the old one in its place, unless a work that it rests on goes;
- a disputed sentence is printed as before until somebody decides.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count

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
    section_of,
)
from activities.report.parts import part_of
from activities.report.schema import Report
from activities.text.normal_form import normalise
from activities.verification.verdicts import C, by_verdict


def apply_change(
    step: PublishInput,
    revision: Revised,
    draft: SectionDraft,
    verdicts: Verdicts,
    new_works: Sequence[EvidenceRef],
) -> PublishInput:
    """Apply an instruction to what a report is published from.

    `draft`: what was written for it; `verdicts`: of the second reader; `new_works`: those that were read
    for it.
    """
    removed_ids, works = set(revision.removed), set(revision.works)
    change = _edit(revision, verdicts, repetitions(step))

    sections = [
        section.replace(
            draft=section.draft.changed(change).replace(
                passages=tuple(p for p in section.draft.passages if p.evidence_id not in works)
            )
        )
        for section in step.sections
        if section.section.id not in revision.sections
    ]
    answers = [section.draft for section in step.sections if section.draft.answer]
    if len(answers) == 1 and sections and not any(section.draft.answer for section in sections):
        # the only answer is that of the report and outlives its section
        answer = answers[0].changed(change).answer
        sections[0] = sections[0].replace(draft=sections[0].draft.replace(answer=answer))
    edit = step.edited
    if edit is not None:
        edit = edit.changed(lambda sentence: next(iter(change(sentence)), None))
        edit = edit.replace(
            title=revision.title or edit.title,
            repeated=tuple(pair for pair in edit.repeated if not removed_ids & set(pair)),
        )
    text_draft = draft.changed(lambda claim: (by_verdict(verdicts)(claim),))
    if sections:
        first, vigilance = sections[0].draft, verdicts.vigilance
        sections[0] = sections[0].replace(draft=first.replace(vigilance=first.vigilance + vigilance))
    if revision.write is not None and (text_draft.claims or text_draft.passages):
        sections = _with_text(sections, revision.write.section, revision.write.question, text_draft)
    ids = {ref.evidence_id for ref in step.evidence}
    lines = [by_verdict(verdicts)(line) for line in revision.lines]
    texts = {line.id: line.text for line in lines if line.state == "stands"}
    for name in step.parts if texts else ():
        if any(text.startswith(f"{name}:") for text in texts):
            step = step.replace(**{name: part_of(name).reword(step, texts)})
    return step.replace(
        sections=tuple(sections),
        edited=edit,
        title=revision.title or step.title,
        length=revision.length or step.length,
        refused=(*step.refused, *revision.refused),
        evidence=(*step.evidence, *(ref for ref in new_works if ref.evidence_id not in ids)),
        judgements=tuple(j for j in step.judgements if j.evidence_id not in works),
        **{name: part_of(name).without_works(step, works) for name in step.parts},
    )


def repetitions(step: PublishInput) -> dict[str, str]:
    """Map the id of a sentence that is not printed to that of the one which says the same.

    It follows that one: else what was taken out or reworded would be printed in its next place.
    """
    ids_by_text: dict[str, str] = {}
    follows: dict[str, str] = {}
    for sentence in (claim for plan in step.sections for claim in plan.draft.claims):
        first_id = ids_by_text.setdefault(normalise(sentence.text).casefold(), sentence.id)
        if sentence.state == "stands" and first_id != sentence.id:
            follows[sentence.id] = first_id
    return {**follows, **dict(step.edited.repeated if step.edited else ())}


def _edit(revision: Revised, verdicts: Verdicts, follows: Mapping[str, str]) -> Callable[[C], tuple[C, ...]]:
    removed_ids, works = set(revision.removed), set(revision.works)
    rewordings: dict[str, DraftClaim] = {
        sentence.id: sentence for sentence in (*revision.sentences, *revision.edited)
    }
    decide = by_verdict(verdicts)

    def become(sentence: C) -> tuple[C, ...]:
        name = base_of(sentence.id, follows)
        if name != sentence.id:
            if any(support.evidence_id in works for support in sentence.support):
                return ()
            if section_of(name) in revision.sections or (works and name in removed_ids):
                name = sentence.id  # the other went with its section or its works: this one is printed
        if name in removed_ids:
            return ()
        rewording = rewordings.get(name)
        if rewording is None:
            return (sentence,)
        result = decide(rewording)
        if result.state == "stands":
            names = (*_CHANGED, "claims") if isinstance(result, EditedSentence) else _CHANGED
            return (sentence.replace(**{name: getattr(result, name) for name in names}, problem=None),)
        is_left_out = any(support.evidence_id in works for support in sentence.support)
        is_narrowed = isinstance(sentence, EditedSentence) and set(sentence.claims) & removed_ids
        return () if is_left_out or is_narrowed else (sentence,)

    return become


def base_of(name: str, follows: Mapping[str, str]) -> str:
    """Return the sentence that is printed in the place of this one; itself where it is printed."""
    seen = {name}
    while (next_one := follows.get(name, name)) not in seen:
        seen.add(name := next_one)
    return name


_CHANGED = (
    *("text", "cells", "marks", "emphasis", "kind", "state", "stands_by", "reworded", "computed"),
    "support",
)


def _with_text(
    sections: list[PlannedSection], name: str, question: str, text_draft: SectionDraft
) -> list[PlannedSection]:
    """Put new text at the end of a section, or in a section of its own; ids go on from the last."""
    if len(sections) == 1:  # a second section would change what is printed as the answer
        name = sections[0].section.id
    if not any(section.section.id == name for section in sections):
        ids = {section.section.id for section in sections}
        name = next(f"s{n}" for n in range(1, len(sections) + 100) if f"s{n}" not in ids)
        plan = ReportPlanSection(id=name, title=text_draft.title or question, key_question=question)
        sections = [*sections, PlannedSection(section=plan)]
    place = next(place for place, section in enumerate(sections) if section.section.id == name)
    draft, addition = sections[place].draft, _with_new_ids(text_draft, name, sections[place].draft)
    claims = (DraftParagraph(claims=addition.claims),) if addition.claims else ()
    passages = (*draft.passages, *addition.passages)
    draft = draft.replace(paragraphs=(*draft.paragraphs, *claims), passages=passages)
    return [*sections[:place], sections[place].replace(draft=draft), *sections[place + 1 :]]


def _with_new_ids(draft: SectionDraft, section: str, base_draft: SectionDraft) -> SectionDraft:
    """Give the sentences of a draft ids of a section that none of it has; they go on from the last."""
    numbers = (re.sub(r"\D", "", sentence.id.rpartition(".")[2]) for sentence in base_draft.sentences)
    places = count(max((int(number or 0) for number in numbers), default=0) + 1)
    return draft.changed(lambda claim: (claim.replace(id=f"{section}.{next(places)}"),))


# disputes


def sentence_of(step: PublishInput, name: str) -> DraftClaim | None:
    sentences = [sentence for plan in step.sections for sentence in plan.draft.sentences]
    edits = step.edited.sentences if step.edited else ()
    return next((claim for claim in (*sentences, *edits) if claim.id == name), None)


def add_dispute(step: PublishInput, instruction: Instruction, time: str, verdicts: Verdicts) -> PublishInput:
    """Add the dispute of a sentence, which is printed as before.

    A reader that missed planted errors confirms nothing.
    """
    verdict = next((row for row in verdicts.verdicts if row.id == instruction.sentence), None)
    if verdict is not None and verdict.problem is None and not verdicts.vigilance.is_believed:
        verdict = None
    sentence = sentence_of(step, instruction.sentence)
    dispute = Dispute(
        sentence=instruction.sentence,
        text=sentence.text if sentence else "",
        reason=instruction.text,
        by=instruction.by,
        at=time,
        reader="" if verdict is None else "stands" if verdict.problem is None else "falls",
        problem=verdict.problem if verdict else None,
    )
    return step.replace(disputes=(*step.disputes, dispute))


def decide_disputes(step: PublishInput, instruction: Instruction) -> PublishInput:
    """Decide the open disputes of a sentence; where they are upheld, its quote stands in its place."""
    open_disputes = [d for d in step.disputes if d.sentence == instruction.sentence and not d.decision]
    decision = "upheld" if instruction.upheld else "rejected"
    values = {"decision": decision, "decided_by": instruction.by, "note": instruction.text}
    disputes = (d.replace(**values) if d in open_disputes else d for d in step.disputes)
    step = step.replace(disputes=tuple(disputes))
    if not instruction.upheld or not open_disputes:
        return step
    problem = Statement.of("dispute_upheld", by=open_disputes[-1].by, reason=open_disputes[-1].reason)
    follows = repetitions(step)

    def fall(sentence: C) -> C:
        is_disputed = base_of(sentence.id, follows) == instruction.sentence
        return sentence.replace(state="refused", problem=problem) if is_disputed else sentence

    drafts = (plan.draft.changed(lambda claim: (fall(claim),)) for plan in step.sections)
    sections = tuple(part.replace(draft=draft) for part, draft in zip(step.sections, drafts, strict=True))
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
