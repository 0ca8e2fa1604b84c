"""What a person asks of a finished report, as activities: what is read and written for it, and keeping it.

Between the two the workflow asks the same roles as a run (`workflows.refresh`). Nothing that a run
published is overwritten: a change is a later version, published from what the one before was.
"""

import re
from collections.abc import Mapping, Sequence

from temporalio import activity

from activities.contracts.bounds import within
from activities.contracts.errors import DeterminatorError
from activities.contracts.evidence import EvidenceRef, Frozen, ReportPlanSection, Statement, Usage
from activities.contracts.identifiers import normal_doi, normal_nct
from activities.contracts.prepare import Continued
from activities.contracts.profile import Profile
from activities.contracts.publish import PlannedSection, PublishInput
from activities.contracts.revise import Instruction, Revised, ReviseInput
from activities.contracts.write import (
    DraftClaim,
    EditedSentence,
    SectionDraft,
    Verdicts,
    VerifyInput,
    WriteInput,
)
from activities.heartbeat import reporting_errors
from activities.messages import ENGLISH
from activities.refresh_activity import (
    RefreshOutcome,
    RefreshRequest,
    RepeatedSearch,
    first_of,
    repeat_search,
)
from activities.report.archive import Archive, Version, load_latest, refs_in, standings
from activities.report.schema import Report
from activities.settings import Settings
from activities.sources.base import Source
from activities.sources.registry import options

MAX_REFS_BYTES = 110 * 1024
MAX_NEW_WORKS = 3
"""Works that one instruction can name to be read."""
_PMID = re.compile(r"\bPMID:?\s{0,3}(\d{1,9})\b", re.IGNORECASE)
_NAMED = re.compile(r"\bs\d{1,3}\.[ar]?\d{1,4}\b|\b[axm]\d{1,3}\b")
_NUMBERED = re.compile(r"\b\d{1,3}\b")


class NoSuchSentence(DeterminatorError):
    """The report has no sentence of that id, or no open dispute of it; never retried."""


class RevisionRequest(Frozen):
    request: RefreshRequest
    profile: Profile


class RevisionPlan(Frozen):
    question: str
    known: tuple[EvidenceRef, ...] = ()
    """The works of the run, without those that are retracted."""
    searches: tuple[RepeatedSearch, ...] = ()
    """For the works that the instruction names."""
    write: WriteInput | None = None
    revise: ReviseInput | None = None
    read: VerifyInput | None = None


class RevisionFindings(Frozen):
    request: RefreshRequest
    at: str
    """ISO time, from the workflow's clock."""
    revised: Revised = Revised()
    draft: SectionDraft = SectionDraft()
    verdicts: Verdicts = Verdicts()
    new: tuple[EvidenceRef, ...] = ()
    written_from: tuple[EvidenceRef, ...] = ()
    by_model: bool = True
    usage: Usage = Usage()
    models: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be done."""


class RevisionActivities:
    def __init__(self, settings: Settings, sources: Mapping[str, Source]) -> None:
        self._settings = settings
        self._sources = sources

    @activity.defn
    async def plan_revision(self, step: RevisionRequest) -> RevisionPlan:
        """Read the report and what it was published from, and prepare what is asked."""
        async with reporting_errors("revision_not_planned", run_id=step.request.run_id):
            return await self._plan(step)

    @activity.defn
    async def keep_revision(self, findings: RevisionFindings) -> RefreshOutcome:
        """Publish the answer, or the next version of the report."""
        async with reporting_errors("revision_not_kept", run_id=findings.request.run_id):
            return await self.keep(findings)

    async def _plan(self, step: RevisionRequest) -> RevisionPlan:
        request, archive = step.request, Archive(self._settings.evidence_url)
        instruction = _instruction(request)
        first = await first_of(archive, request.run_id)
        report, versions = await load_latest(archive, first)
        inputs = await archive.inputs_of(report)
        standing = standings(report, versions)
        refs = list(await refs_in(archive.store, request.known_blob)) or list(inputs.evidence)
        current = (
            ref.bare().replace(standing=standing.get(ref.evidence_id, ref.standing))
            for ref in {ref.evidence_id: ref for ref in (*refs, *inputs.evidence)}.values()
        )
        corpus = within((ref for ref in current if ref.standing != "retracted"), MAX_REFS_BYTES)
        values = {
            "run_id": request.run_id,
            "question": report.question,
            "profile": step.profile,
            "language": report.language,
            "is_foreign": report.language != ENGLISH or any(context.language for context in report.contexts),
        }
        plan = RevisionPlan(question=report.question, known=corpus)
        if instruction.kind == "tell":
            background = "\n".join(
                (f"An earlier report answers: {report.question}", *_sentences_meant(report, instruction.text))
            )
            write = {**values, "question": instruction.text, "background": background, "section_id": "s1"}
            return plan.replace(write=WriteInput.model_validate(write))
        if instruction.kind == "change":
            searches = self._searches(instruction.text, request.run_id)
            return plan.replace(revise=_to_revise(report, inputs, instruction, values), searches=searches)
        sentence = _sentence(report, inputs, instruction)
        if instruction.kind == "decide":
            return plan
        disputed_sentence = sentence.replace(state="ask", disputed=instruction.text)
        cited_ids = {support.evidence_id for support in sentence.support}
        works = tuple(ref for ref in inputs.evidence if ref.evidence_id in cited_ids)
        check = VerifyInput.model_validate({**values, "sentences": (disputed_sentence,), "evidence": works})
        return plan.replace(read=check)

    def _searches(self, text: str, run_id: str) -> tuple[RepeatedSearch, ...]:
        """Return searches for the works that an instruction names by PMID, registry number or DOI."""
        options_by_name = {option.info.name: option for option in options(self._settings, self._sources)}
        pairs = [("pubmed", f"{number}[pmid]") for number in _PMID.findall(text)]
        words = text.split()
        pairs += [("clinicaltrials", name) for word in words if (name := normal_nct(word))]
        pairs += [("europepmc", f'DOI:"{doi}"') for word in words if (doi := normal_doi(word))]
        return tuple(
            repeat_search(options_by_name, source, query, run_id, limit=1)
            for source, query in list(dict.fromkeys(pairs))[:MAX_NEW_WORKS]
        )

    async def keep(self, findings: RevisionFindings) -> RefreshOutcome:
        request, instruction = findings.request, _instruction(findings.request)
        archive = Archive(self._settings.evidence_url)
        first = await first_of(archive, request.run_id)
        # with what builds reports; see `worker.daemon`
        from activities.report import versions as made_again
        from activities.report.instructions import differences

        report, versions = await load_latest(archive, first)
        outcome = RefreshOutcome(
            run_id=request.run_id,
            since=report.generated_at,
            calls=findings.usage.calls,
            tokens=findings.usage.tokens,
            cost_microusd=findings.usage.cost_microusd,
            notes=findings.notes,
            version=len(versions) + 1,
        )
        if instruction.kind == "tell":
            step = _answer(await archive.inputs_of(report), findings)
            message = await made_again.publish_again(
                archive, step, standings(report, versions), at=findings.at
            )
            blob = await archive.store.put_bytes(message.model_dump_json(indent=2).encode(), "json")
            return outcome.replace(blob=blob)
        if instruction.kind == "change" and not findings.revised.touches:
            return outcome
        new_version = next((v for v in versions if (v.made_at, v.asked) == (findings.at, instruction)), None)

        async def make(report: Report, _versions: object) -> made_again.Next:
            step = _next(await archive.inputs_of(report), findings)

            def describe(new_report: Report, version: Version) -> tuple[Statement, Version]:
                changes = differences(report, new_report)
                opening = Statement.of(
                    "revised_version",
                    version=version.number,
                    at=findings.at,
                    by=instruction.by,
                    kind=instruction.kind,
                    text=instruction.text,
                )
                return opening, version.replace(
                    claims_lost=tuple(change.id for change in changes if not change.after),
                    claims_changed=tuple(change.id for change in changes if change.after),
                    asked=instruction,
                    calls=findings.usage.calls,
                )

            blob = await archive.store.put_bytes(step.model_dump_json().encode(), "json")
            return made_again.Next(step, blob, describe)

        if new_version is None:  # else an attempt before this one wrote it, and died before it could say so
            new_version = (await made_again.add_version(archive, first, make, at=findings.at)).version
            assert new_version is not None
        lost_ids, changed_ids = new_version.claims_lost, new_version.claims_changed
        return outcome.replace(
            version=new_version.number, made=True, claims_lost=lost_ids, claims_changed=changed_ids
        )


def _instruction(request: RefreshRequest) -> Instruction:
    assert request.instruction is not None
    return request.instruction


def _sentences_meant(report: Report, text: str) -> list[str]:
    """Return the sentences that a question about a report names by their id or place, then its answer."""
    by_id = {claim.id: claim for claim in report.sentences()}
    claims = list(report.claims())
    ids = [name for name in _NAMED.findall(text) if name in by_id]
    places = [int(number) for number in _NUMBERED.findall(text)]
    sentences = [by_id[name] for name in ids] or [claims[n - 1] for n in places if 0 < n <= len(claims)]
    return [f"{sentence.id}: {sentence.text}" for sentence in dict.fromkeys((*sentences, *report.answer))]


def _sentences_on_page(report: Report, sentences: Sequence[DraftClaim]) -> list[DraftClaim]:
    """Return the sentences that the page shows in their own words."""
    ids = {claim.id for claim in report.sentences()}
    return [sentence for sentence in sentences if sentence.state == "stands" and sentence.id in ids]


def _to_revise(
    report: Report, inputs: PublishInput, instruction: Instruction, values: Mapping[str, object]
) -> ReviseInput:
    from activities.report.parts import parts_of

    sentences = [sentence for plan in inputs.sections for sentence in plan.draft.sentences]
    edited: Sequence[EditedSentence] = inputs.edited.sentences if inputs.edited else ()
    number = {reference.evidence_id: reference.number for reference in report.references}
    standing = {reference.evidence_id: reference.standing for reference in report.references}
    return ReviseInput.model_validate(
        {
            **values,
            "wanted": instruction.text,
            "sections": {section.id: section.title for section in report.sections},
            "sentences": tuple(_sentences_on_page(report, sentences)),
            "edited": tuple(sentence for sentence in edited if sentence.state == "stands"),
            "lines": tuple(line for part in parts_of(report) for line in part.sentences(report)),
            "evidence": tuple(
                ref.replace(standing=standing[ref.evidence_id])
                for ref in sorted(inputs.evidence, key=lambda ref: number.get(ref.evidence_id, 0))
                if ref.evidence_id in number
            ),
        }
    )


def _sentence(report: Report, inputs: PublishInput, instruction: Instruction) -> DraftClaim:
    """Return the sentence of a dispute.

    Raises NoSuchSentence.
    """
    from activities.report.instructions import sentence_of

    ids = dict.fromkeys(claim.id for claim in report.sentences())
    sentence = sentence_of(inputs, instruction.sentence)
    if sentence is None and report.written_by == "extractive":
        raise NoSuchSentence(
            f"{report.run_id} has quotes only, word for word as they stand in their works: no sentence of a "
            "model is there to be disputed"
        )
    if sentence is None or instruction.sentence not in ids:
        raise NoSuchSentence(
            f"{report.run_id} has no sentence {instruction.sentence!r}; it has {', '.join(ids)}"[:600]
        )
    if instruction.kind == "decide" and not any(
        d.sentence == instruction.sentence and not d.decision for d in inputs.disputes
    ):
        raise NoSuchSentence(f"no dispute of {instruction.sentence} in {report.run_id} waits for a decision")
    return sentence


def _answer(inputs: PublishInput, findings: RevisionFindings) -> PublishInput:
    """Return the answer to a question about a report, as a report of one section."""
    from activities.verification.verdicts import with_verdicts

    text = _instruction(findings.request).text
    return PublishInput(
        run_id=inputs.run_id,
        question=text,
        mode=inputs.mode,
        profile=inputs.profile,
        title=text,
        sections=(
            PlannedSection(
                section=ReportPlanSection(id="s1", title=text, key_question=text),
                draft=with_verdicts(findings.draft, findings.verdicts),
            ),
        ),
        evidence=findings.written_from,
        searches=inputs.searches,
        usage=findings.usage,
        models=findings.models,
        written_by="model" if findings.by_model else "extractive",
        continues=Continued(run_id=inputs.run_id, question=inputs.question),
        words=inputs.words,
        language=inputs.language,
        generated_at=findings.at,
    )


def _next(inputs: PublishInput, findings: RevisionFindings) -> PublishInput:
    from activities.report import instructions

    instruction = _instruction(findings.request)
    models = tuple(dict.fromkeys((*inputs.models, *findings.models)))
    inputs = inputs.replace(usage=inputs.usage + findings.usage, models=models)
    if instruction.kind == "change":
        ids = {
            name
            for sentence in findings.draft.sentences
            for name in (s.evidence_id for s in sentence.support)
        }
        works = (*findings.new, *(ref for ref in findings.written_from if ref.evidence_id in ids))
        return instructions.apply_change(inputs, findings.revised, findings.draft, findings.verdicts, works)
    if instruction.kind == "dispute":
        return instructions.add_dispute(inputs, instruction, findings.at, findings.verdicts)
    return instructions.decide_disputes(inputs, instruction)
