"""Writing: the drafts of sections, the second reader, and the editor's pass.

A section is written, and a second reader is asked in one call about what code cannot decide. A whole
report is first answered plainly; its writer criticises the answer, mends and labels it. What was refused is
written once more while the editor works; what is open after both is read in one last call.
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
    with_ids,
)
from activities.messages import plural
from activities.report.claims import draft_claims
from activities.role_calls import EDIT, VERIFY, WRITE
from activities.roles.allowances import MAX_WRITER_ITEMS
from activities.roles.assessment import MIN_ANSWERS
from activities.text.tokens import is_named
from activities.verification import gate, verdicts
from activities.verification.quotes import is_prose
from workflows.amounts import needs
from workflows.context import RunPart
from workflows.part_state import CandidatesState
from workflows.rules.payload_limits import ROOM, input_refs
from workflows.steps.judging import best_first
from workflows.steps.policy import run_all

MAX_BACKGROUND_ITEMS = 12
"""Items beside those that answer that a writer may use."""
JUDGEMENTS_ROOM = 40 * 1024
"""Bytes of judgements in one step's input."""
COMPUTED_ROOM = 20 * 1024
"""Bytes of computations that those who write once more are shown."""
MAX_WRITER_CALLS = 3
"""Calls of the writer for a whole report: an answer, what is made of it, and a draft if that fails."""
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
        refs = state.evidence.usable_refs
        relevant = [refs[name] for name in state.evidence.relevant if name in refs]
        # what other sections found must be relevant here
        known_ids = {*state.evidence.relevant, *state.sections.taken_over}
        background = [ref for name, ref in refs.items() if name not in known_ids]
        judged, loop = state.evidence.judgements, state.loop
        has_judge = state.question.prepared is not None and self.models.asks_model("judge")
        has_judged_all = has_judge and not (loop.unjudged or loop.judge_failures)
        if judged or has_judged_all:
            background = [r for r in background if (row := judged.get(r.evidence_id)) and row.answers]
        return (*relevant, *background[:MAX_BACKGROUND_ITEMS])[:MAX_WRITER_ITEMS]

    async def write_single(self, section: ReportPlanSection, use_model: bool) -> SectionDraft:
        """Draft the one section of a report; an empty draft when there is no evidence."""
        state = self.state
        evidence = input_refs(self.citable(), MAX_WRITER_ITEMS)
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
        drafts, key = self.state.draft.begun, "" if step.outline else step.section_id
        if use_model or key not in drafts:
            await self._begin(key, step, use_model)
        draft = drafts.pop(key)
        if not (draft.claims or draft.passages):
            draft = with_ids(step.section_id, draft.replace(paragraphs=quoted_paragraphs(step.judgements)))
        draft = self.without_left_out(draft)
        self.events.stream_draft(step.section_id, verdicts.printable_draft(draft))
        return draft

    async def _begin(self, key: str, step: WriteInput, use_model: bool) -> None:
        """Draft a section, and have a model's draft read and revised; what is done of that is kept."""
        drafts, items = self.state.draft.begun, len(step.evidence)
        section = step.section_id if step.section else ""
        self.events.emit(
            "synthesizing",
            f"writing {step.title} from {plural(items, 'item')}",
            items=items,
            section_id=section,
        )
        draft = await self._answered_first(step) if use_model else None
        if draft is None:
            draft = await self.models.execute(WRITE, step, use_model=use_model)
        drafts[key] = with_ids(step.section_id, draft)
        if use_model:
            drafts[key] = await self._read_draft(step, drafts[key], section)
            drafts[key] = await self.run.ordering.order(step, drafts[key])

    async def _answered_first(self, step: WriteInput) -> SectionDraft | None:
        """Have a whole report answered plainly, and the answer criticised, mended and labelled.

        None where the budget does not hold that, a small model or a prompt of one's own writes, or a call
        fails."""
        is_small = self.models.choice("writer").effort == "small"
        if step.other_sections or is_small or "writer" in self.context.prompts:
            return None
        writer = needs(self.models.allowance("writer"), self.models.price("writer"))
        calls = writer.map_kinds(lambda _, amount: MAX_WRITER_CALLS * amount)
        if not self.models.asks_model("writer") or self.context.budget.refusal(calls, writing=True):
            return None
        plain = await self.models.execute_once(WRITE, step.replace(is_plain=True))
        if plain is None or not plain.plain_answer:
            return None
        self.events.emit("synthesizing", f"revising {step.title}", items=len(step.evidence))
        labelled = await self.models.execute_once(WRITE, step.replace(plain_answer=plain.plain_answer))
        return labelled if labelled and labelled.claims else None

    # the second reader

    async def _read_draft(self, step: WriteInput, draft: SectionDraft, section: str) -> SectionDraft:
        """Return the draft with the second reader's verdicts, who sees what its writer saw."""
        check = VerifyInput(
            **self.context.step_inputs(question=step.question),
            section=step.section,
            section_id=step.section_id,
            sentences=verdicts.open_sentences(verdicts.sentences_with_context(draft)),
            evidence=step.evidence,
            judgements=step.judgements,
            works_room=draft.works_room,
            near_misses=draft.near_misses,
        )
        for _ in range(MAX_READINGS):
            draft = verdicts.with_verdicts(draft, reading := await self._read(check, section))
            unread = verdicts.open_sentences(verdicts.sentences_with_context(draft))
            if not (reading.verdicts and unread) or self.models.refusal("verifier", writing=True):
                break
            check = check.replace(sentences=unread, near_misses=())
        return draft

    async def _read(self, check: VerifyInput, section: str = "") -> Verdicts:
        """Return what the second reader says; nothing where there is none."""
        if not check.sentences or not self.models.asks_model("verifier"):
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
            draft = with_ids(name, self._with_quotes(drafts[name].draft))
            drafts[name] = drafts[name].replace(draft=draft)
            self.events.stream_draft(name, verdicts.printable_draft(draft))
            self._state_loss(name, draft)

    async def _reword(self, names: Sequence[str]) -> None:
        """Have what was refused written once more, all of it in one call."""
        drafts = self._drafts(names)
        rows = (row for d in drafts.values() for row in verdicts.rewordable_paragraphs(d))
        paragraphs = within(rows, REWORD_ROOM)
        foreign_quotes = dict.fromkeys(quote for draft in drafts.values() for quote in draft.untranslated)
        quotes = within(foreign_quotes, REWORD_ROOM)
        if not (paragraphs or quotes) or not self.models.asks_model("writer"):
            return
        if self.models.refusal("writer", writing=True):
            return
        step = WriteInput(
            **self.context.step_inputs(question=self.context.run_question),
            evidence=self._cited(claim for d in drafts.values() for claim in d.claims),
            failed=paragraphs,
            untranslated=quotes,
            computed=within(
                dict.fromkeys(
                    row for draft in drafts.values() for claim in draft.claims for row in claim.computed
                ),
                COMPUTED_ROOM,
            ),
        )
        rewordings = await self.models.execute(WRITE, step)
        for place, (name, draft) in enumerate(drafts.items()):
            share = rewordings if not place else rewordings.replace(translations=())
            self._set_draft(name, with_ids(name, verdicts.with_rewordings(draft, share)))

    async def _read_open(self, names: Sequence[str]) -> None:
        """Ask the second reader about all that is open still: second wordings and sentences of the editor."""
        state, drafts = self.state, self._drafts(names)
        claims = [
            claim
            for draft in drafts.values()
            for claim in verdicts.sentences_with_context(draft)
            if claim.reworded or claim.kind == "translation"
        ]
        editor_sentences = state.draft.edited.sentences if state.draft.edited else ()
        sentences = within(verdicts.open_sentences([*claims, *editor_sentences]), REWORD_ROOM)
        # what cites nothing follows from the rest of the text
        every_claim = (claim for draft in drafts.values() for claim in draft.claims)
        check = VerifyInput(
            **self.context.step_inputs(question=self.context.run_question),
            sentences=sentences,
            evidence=self._cited(sentences if all(map(gate.works_of, sentences)) else every_claim),
        )
        reading = await self._read(check)
        for place, (name, draft) in enumerate(drafts.items()):
            self._set_draft(name, verdicts.with_verdicts(draft, reading, is_counted=not place))
        if state.draft.edited is not None:
            state.draft.edited = state.draft.edited.changed(verdicts.by_verdict(reading))

    def _with_quotes(self, draft: SectionDraft) -> SectionDraft:
        """Return a draft; with the sentences that its works were judged by where nothing of it stands."""
        if draft.passages or not draft.claims or verdicts.printable_draft(draft).claims:
            return draft
        works = {name for claim in draft.claims for name in gate.works_of(claim)}
        judgements = [j for name, j in self.state.evidence.judgements.items() if name in works]
        return draft.replace(paragraphs=(*draft.paragraphs, *quoted_paragraphs(judgements)))

    def _drafts(self, names: Sequence[str]) -> dict[str, SectionDraft]:
        return {name: self.state.draft.sections[name].draft for name in names}

    def _set_draft(self, name: str, draft: SectionDraft) -> None:
        drafts = self.state.draft.sections
        drafts[name] = drafts[name].replace(draft=self.without_left_out(draft))

    def _cited(self, sentences: Iterable[DraftClaim]) -> tuple[EvidenceRef, ...]:
        """Return the works of sentences, in the order in which their writer was shown them."""
        works = {name for sentence in sentences for name in gate.works_of(sentence)}
        refs = {ref.evidence_id: ref for ref in (*self.citable(), *self.state.evidence.refs)}
        return input_refs((ref for name, ref in refs.items() if name in works), MAX_WRITER_ITEMS)

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
        """Edit all that stands in one pass: title, summary, mechanism, transitions, repetition."""
        state = self.state
        parts = {planned.section.id: draft_claims(planned.draft) for planned in sections}
        claims = {name: section_claims for name, (_, section_claims) in parts.items() if section_claims}
        if not claims or state.draft.edited is not None or not self.models.asks_model("editor"):
            return
        best = best_first(state.evidence.judgements.values())
        judgements = (work.replace(support=()) for work in best if work.answers >= MIN_ANSWERS)
        step = EditInput(
            **self.context.step_inputs(question=self.context.run_question, instruction=self.instructions()),
            title=state.question.plan.report_title if state.question.plan else "",
            outline={planned.section.id: planned.section.title for planned in sections},
            claims=claims,
            answers={name: answer for name, (answer, _) in parts.items() if name in claims},
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
        printable = edited.changed(lambda row: None if self._names_left_out(row.text) else row)
        title = "" if self._names_left_out(edited.title) else edited.title
        state.draft.edited = printable.replace(title=title)

    def instructions(self) -> str:
        """Return what managers asked of the report: that of the run, and those of its sections."""
        texts = dict.fromkeys(findings.instruction for findings in self.state.sections.findings.values())
        return "\n".join(filter(None, (self.context.instruction, *texts)))

    # candidates that a reviewer left out

    def _names_left_out(self, text: str) -> bool:
        return _names(text, self.state.people.left_out)

    def without_left_out(self, draft: SectionDraft) -> SectionDraft:
        """Return a draft without what is about a candidate that a reviewer left out.

        The answer names none, and a claim below it only beside one that was chosen.
        """
        candidates = self.state.people.chosen
        if not self.state.people.left_out:
            return draft

        def keep(claim: DraftClaim) -> tuple[DraftClaim, ...]:
            is_beside = claim not in draft.answer and _names(claim.text, candidates)
            return (claim,) if is_beside or not self._names_left_out(claim.text) else ()

        passages = tuple(
            passage
            for passage in draft.passages
            if not self._names_left_out(text := " ".join(passage.quotes)) or _names(text, candidates)
        )
        return draft.changed(keep).replace(passages=passages)


def judgements_of(
    evidence: Iterable[EvidenceRef], judgements: Mapping[str, WorkJudgement]
) -> tuple[WorkJudgement, ...]:
    """Return the judgements of works, in the order of the works, as far as there is room."""
    in_order = (judgements[ref.evidence_id] for ref in evidence if ref.evidence_id in judgements)
    return within(in_order, JUDGEMENTS_ROOM)


def quoted_paragraphs(judgements: Iterable[WorkJudgement]) -> tuple[DraftParagraph, ...]:
    """Return the sentences by which works were judged to answer, word for word.

    What a section says when nothing that was written of it stood.
    """
    supports = [row for work in judgements if work.answers >= MIN_ANSWERS for row in work.support]
    prose = (support for support in dict.fromkeys(supports) if is_prose(support.quote))
    claims = tuple(DraftClaim(text=support.quote, support=(support,)) for support in prose)
    return (DraftParagraph(claims=claims),) if claims else ()


def _names(text: str, names: Iterable[str]) -> bool:
    return any(is_named(name, text) for name in names)
