"""Writing: the drafts of sections, the second reader, and the editor's pass.

A section is written, and a second reader is asked in one call about what code cannot decide. A whole
report is revised by its writer. What was refused is written once more while the editor works; what is
open after both is read in one last call.
"""

from collections.abc import Iterable, Mapping, Sequence

from activities.contracts.bounds import size, within
from activities.contracts.evidence import EvidenceRef, ReportPlanSection
from activities.contracts.judge import WorkJudgement
from activities.contracts.publish import PlannedSection
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    EditInput,
    SectionDraft,
    Verdicts,
    VerifyInput,
    WriteInput,
    named,
)
from activities.messages import plural
from activities.report.claims import draft_claims
from activities.role_steps import EDIT, VERIFY, WRITE
from activities.roles.allowances import MAX_WRITER_ITEMS
from activities.roles.assessment import MIN_ANSWERS
from activities.verification import gate, verdicts
from workflows.context import RunPart
from workflows.part_state import CandidatesState
from workflows.rules.payload_limits import ROOM, shown
from workflows.steps.judging import best_first
from workflows.steps.policy import run_all

MAX_BACKGROUND_ITEMS = 12
"""Items beside those that answer that a writer may use."""
JUDGEMENTS_ROOM = 40 * 1024
"""Bytes of judgements in one step's input."""
COMPUTED_ROOM = 20 * 1024
"""Bytes of computations that those who write once more are shown."""
MAX_READINGS = 3
"""Calls of the second reader for a draft whose sentences do not fit into one."""
REFUSED_ROOM = 40 * 1024
"""Bytes of refused sentences that a revision is shown."""
REWORD_ROOM = 160 * 1024
"""Bytes of sentences that are written once more, or read, in one call for the whole report."""


class WritingSteps(RunPart):
    """Writes and checks sections, and edits the report."""

    def citable(self) -> tuple[EvidenceRef, ...]:
        """Return what a writer may cite, best first; never retracted work.

        Where a model judges, works on another subject are left out, and what it has not read; where it did
        not, all that was found may be cited.
        """
        state = self.state
        usable = state.evidence.usable_refs
        relevant = [usable[name] for name in state.evidence.relevant if name in usable]
        # what other sections found must be relevant here
        ranked = {*state.evidence.relevant, *state.sections.taken_over}
        others = [ref for name, ref in usable.items() if name not in ranked]
        judged, loop = state.evidence.judgements, state.loop
        judges = state.question.prepared is not None and self.models.is_paid("judge")
        read = judges and not (loop.unjudged or loop.judge_failures)
        if judged or read:
            others = [r for r in others if r.evidence_id in judged and judged[r.evidence_id].answers]
        return (*relevant, *others[:MAX_BACKGROUND_ITEMS])[:MAX_WRITER_ITEMS]

    async def write_single(self, section: ReportPlanSection, use_model: bool) -> SectionDraft:
        """Draft the one section of a report; an empty draft when there is no evidence."""
        state = self.state
        evidence = shown(self.citable(), MAX_WRITER_ITEMS)
        if not evidence or state.question.prepared is None:
            return SectionDraft(title=section.title)
        self.events.set_phase("writing", f"writing from {plural(len(evidence), 'item')}")
        judged = state.loop.judged
        step = WriteInput(
            **self.context.step_inputs(),
            section_id=section.id,
            title=section.title,
            evidence=evidence,
            judged=judged.relevant if judged and judged.by_code and not state.loop.unjudged else None,
            stop_reason=state.stop_reason or "sufficient_evidence",
            hypotheses=tuple(state.part(CandidatesState).hypotheses),
            judgements=judgements_of(evidence, state.evidence.judgements),
            left_open=state.left_open(),
        )
        return await self.write(step, use_model)

    async def write(self, step: WriteInput, use_model: bool) -> SectionDraft:
        """Draft a section, and ask the second reader about what code cannot decide.

        Without a model a draft that one has begun is taken as it is.
        """
        begun, name = self.state.draft.begun, "" if step.outline else step.section_id
        if use_model or name not in begun:
            await self._begin(name, step, use_model)
        draft = begun.pop(name)
        if not (draft.claims or draft.passages):
            draft = named(step.section_id, draft.replace(paragraphs=quoted(step.judgements)))
        draft = self.without_left_out(draft)
        self.events.stream_draft(step.section_id, verdicts.printed(draft))
        return draft

    async def _begin(self, name: str, step: WriteInput, use_model: bool) -> None:
        """Draft a section, and have a model's draft read and revised; what is done of that is kept."""
        begun, items = self.state.draft.begun, len(step.evidence)
        section = step.section_id if step.section else ""
        self.events.emit(
            "synthesizing",
            f"writing {step.title} from {plural(items, 'item')}",
            items=items,
            section_id=section,
        )
        written = named(step.section_id, await self.models.execute(WRITE, step, use_model=use_model))
        begun[name] = written.replace(written=None)
        if use_model:
            begun[name] = await self._read_draft(step, begun[name], section)
            begun[name] = await self._revise(step, written, begun[name])
            begun[name] = await self.run.ordering.order(step, begun[name])

    async def _revise(self, step: WriteInput, written: SectionDraft, read: SectionDraft) -> SectionDraft:
        """Have a whole text criticised and written once more by its writer, and what is new in it read.

        `written`: the draft as it came; `read`: after its second reader, which is returned where there is no
        revision or less of it stands."""
        if written.written is None or step.other_sections:
            return read
        self.events.emit("synthesizing", f"revising {step.title}", items=len(step.evidence))
        refused = (verdicts.refused(claim) for claim in read.claims if claim.state == "refused")
        revision = step.replace(
            first=written.written,
            refused=(*read.refused, *within(refused, REFUSED_ROOM)),
            works_room=read.works_room,
        )
        if (answer := await self.models.attempt(WRITE, revision)) is None:
            return read
        second = verdicts.revised(written, read, named(step.section_id, answer))
        return verdicts.better(read, await self._read_draft(step, second, ""))

    # the second reader

    async def _read_draft(self, step: WriteInput, draft: SectionDraft, section: str) -> SectionDraft:
        """Return the draft with the second reader's verdicts, who sees what its writer saw."""
        check = VerifyInput(
            **self.context.step_inputs(question=step.question),
            section=step.section,
            section_id=step.section_id,
            sentences=verdicts.to_read(verdicts.placed(draft)),
            evidence=step.evidence,
            judgements=step.judgements,
            works_room=draft.works_room,
            near_misses=draft.near_misses,
        )
        for _ in range(MAX_READINGS):
            draft = verdicts.with_verdicts(draft, read := await self._read(check, section))
            left = verdicts.to_read(verdicts.placed(draft))
            if not (read.verdicts and left) or self.models.refusal("verifier", writing=True):
                break
            check = check.replace(sentences=left, near_misses=())
        return draft

    async def _read(self, check: VerifyInput, section: str = "") -> Verdicts:
        """Return what the second reader says; nothing where there is none."""
        if not check.sentences or not self.models.is_paid("verifier"):
            return Verdicts()
        count = len(check.sentences)
        self.events.emit(
            "verifying", f"verifying {plural(count, 'sentence')}", items=count, section_id=section
        )
        return await self.models.execute(VERIFY, check)

    async def finish(self, names: Sequence[str], use_model: bool) -> None:
        """Edit the drafts of sections, and write once more what was refused of them.

        Both happen at the same time; then the second reader reads what is open.
        """
        drafts = self.state.draft.sections
        if use_model:
            await run_all((self.edit([drafts[name] for name in names]), self._reword(names)))
            await self._read_open(names)
        for name in names:
            draft = named(name, self._in_place(drafts[name].draft))
            drafts[name] = drafts[name].replace(draft=draft)
            self.events.stream_draft(name, verdicts.printed(draft))
            self._state_loss(name, draft)

    async def _reword(self, names: Sequence[str]) -> None:
        """Have what was refused written once more, all of it in one call."""
        drafts = self._drafts(names)
        rows = (row for d in drafts.values() for row in verdicts.to_reword(d))
        failed = within(rows, REWORD_ROOM)
        foreign = dict.fromkeys(quote for draft in drafts.values() for quote in draft.untranslated)
        untranslated = within(foreign, REWORD_ROOM)
        if not (failed or untranslated) or not self.models.is_paid("writer"):
            return
        if self.models.refusal("writer", writing=True):
            return
        step = WriteInput(
            **self.context.step_inputs(question=self.context.run_question),
            evidence=self._cited(claim for d in drafts.values() for claim in d.claims),
            failed=failed,
            untranslated=untranslated,
            computed=within(
                dict.fromkeys(
                    row for draft in drafts.values() for claim in draft.claims for row in claim.computed
                ),
                COMPUTED_ROOM,
            ),
        )
        new = await self.models.execute(WRITE, step)
        for place, (name, draft) in enumerate(drafts.items()):
            kept = new if not place else new.replace(translations=())
            self._keep(name, named(name, verdicts.with_rewordings(draft, kept)))

    async def _read_open(self, names: Sequence[str]) -> None:
        """Ask the second reader about all that is open still: second wordings and sentences of the editor."""
        state, drafts = self.state, self._drafts(names)
        again = [
            claim
            for draft in drafts.values()
            for claim in verdicts.placed(draft)
            if claim.reworded or claim.kind == "translation"
        ]
        edited = state.draft.edited.sentences if state.draft.edited else ()
        sentences = within(verdicts.to_read([*again, *edited]), REWORD_ROOM)
        # what cites nothing follows from the rest of the text
        everything = (claim for draft in drafts.values() for claim in draft.claims)
        check = VerifyInput(
            **self.context.step_inputs(question=self.context.run_question),
            sentences=sentences,
            evidence=self._cited(sentences if all(map(gate.works_of, sentences)) else everything),
        )
        read_again = await self._read(check)
        for place, (name, draft) in enumerate(drafts.items()):
            self._keep(name, verdicts.with_verdicts(draft, read_again, counted=not place))
        if state.draft.edited is not None:
            state.draft.edited = state.draft.edited.changed(verdicts.by_verdict(read_again))

    def _in_place(self, draft: SectionDraft) -> SectionDraft:
        """Return a draft; with the sentences that its works were judged by where nothing of it stands."""
        if draft.passages or not draft.claims or verdicts.printed(draft).claims:
            return draft
        cited = {name for claim in draft.claims for name in gate.works_of(claim)}
        judged = [j for name, j in self.state.evidence.judgements.items() if name in cited]
        return draft.replace(paragraphs=(*draft.paragraphs, *quoted(judged)))

    def _drafts(self, names: Sequence[str]) -> dict[str, SectionDraft]:
        return {name: self.state.draft.sections[name].draft for name in names}

    def _keep(self, name: str, draft: SectionDraft) -> None:
        drafts = self.state.draft.sections
        drafts[name] = drafts[name].replace(draft=self.without_left_out(draft))

    def _cited(self, sentences: Iterable[DraftClaim]) -> tuple[EvidenceRef, ...]:
        cited = {name for sentence in sentences for name in gate.works_of(sentence)}
        refs = (ref for ref in self.state.evidence.refs if ref.evidence_id in cited)
        return shown(tuple(refs), MAX_WRITER_ITEMS)

    def _state_loss(self, section_id: str, draft: SectionDraft) -> None:
        """Say so where a notable part of a draft does not stand."""
        share = verdicts.loss(draft)
        if share > verdicts.NOTABLE_LOSS:
            refused = sum(claim.state != "stands" for claim in draft.claims)
            message = f"{share:.0%} of the draft does not stand; the quotes stand in its place"
            data = {"section_id": section_id, "refused": refused, "share": round(share, 3)}
            self.events.emit("refused", message, **data)

    # the editor

    async def edit(self, sections: Sequence[PlannedSection]) -> None:
        """One pass over all that stands: title, summary, mechanism, transitions, repetition."""
        state = self.state
        stated = {planned.section.id: draft_claims(planned.draft) for planned in sections}
        claims = {name: made for name, (_, made) in stated.items() if made}
        if not claims or state.draft.edited is not None or not self.models.is_paid("editor"):
            return
        judged = best_first(state.evidence.judgements.values())
        judgements = (work.replace(support=()) for work in judged if work.answers >= MIN_ANSWERS)
        step = EditInput(
            **self.context.step_inputs(question=self.context.run_question, instruction=self.instructions()),
            title=state.question.plan.report_title if state.question.plan else "",
            outline={planned.section.id: planned.section.title for planned in sections},
            claims=claims,
            answers={name: answer for name, (answer, _) in stated.items() if name in claims},
            judgements=within(judgements, JUDGEMENTS_ROOM),
            asks_mechanism=any(c.name == "mechanism" and c.minimum for c in self.context.profile.criteria),
        )
        if step.asks_nothing and len(claims) > 1:
            return
        if size(step) > ROOM:
            self.events.add_limitation("sections_not_compared")
            return
        message = f"editing {plural(len(claims), 'section')}"
        self.events.set_phase("editing", message)
        self.events.emit("editing", message, items=len(claims))
        edited = await self.models.execute(EDIT, step)
        shown = edited.changed(lambda row: None if self._names_left_out(row.text) else row)
        state.draft.edited = shown.replace(title="" if self._names_left_out(edited.title) else edited.title)

    def instructions(self) -> str:
        """Return what managers asked of the report: that of the run, and those of its sections."""
        asked = dict.fromkeys(findings.instruction for findings in self.state.sections.findings.values())
        return "\n".join(filter(None, (self.context.instruction, *asked)))

    # candidates that a reviewer left out

    def _names_left_out(self, text: str) -> bool:
        return _names(text, self.state.people.left_out)

    def without_left_out(self, draft: SectionDraft) -> SectionDraft:
        """Return a draft without what is about a candidate that a reviewer left out.

        The answer names none, and a claim below it only beside one that was chosen.
        """
        chosen = self.state.people.chosen
        if not self.state.people.left_out:
            return draft

        def checked(claim: DraftClaim) -> tuple[DraftClaim, ...]:
            beside = claim not in draft.answer and _names(claim.text, chosen)
            return (claim,) if beside or not self._names_left_out(claim.text) else ()

        passages = tuple(
            passage
            for passage in draft.passages
            if not self._names_left_out(text := " ".join(passage.quotes)) or _names(text, chosen)
        )
        return draft.changed(checked).replace(passages=passages)


def judgements_of(
    evidence: Iterable[EvidenceRef], judged: Mapping[str, WorkJudgement]
) -> tuple[WorkJudgement, ...]:
    """Return the judgements of works, in the order of the works, as far as there is room."""
    in_order = (judged[ref.evidence_id] for ref in evidence if ref.evidence_id in judged)
    return within(in_order, JUDGEMENTS_ROOM)


def quoted(judgements: Iterable[WorkJudgement]) -> tuple[DraftParagraph, ...]:
    """Return the sentences by which works were judged to answer, word for word.

    What a section says when nothing that was written of it stood.
    """
    supports = [row for judged in judgements if judged.answers >= MIN_ANSWERS for row in judged.support]
    prose = (support for support in dict.fromkeys(supports) if gate.is_prose(support.quote))
    claims = tuple(DraftClaim(text=support.quote, support=(support,)) for support in prose)
    return (DraftParagraph(claims=claims),) if claims else ()


def _names(text: str, names: Iterable[str]) -> bool:
    return any(gate.names(name, text) for name in names)
