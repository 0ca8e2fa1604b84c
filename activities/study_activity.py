"""The later steps of a systematic review as activities: works read in full, values compared, changes told.

A model's answer is kept under its step like every paid answer; what it read goes to the evidence store.
"""

import asyncio
from typing import TYPE_CHECKING

from temporalio import activity

from activities.contracts.evidence import Frozen
from activities.contracts.step import Role
from activities.evidence_store import EvidenceStore
from activities.heartbeat import reporting_errors, seconds_left
from activities.logs import log
from activities.profiles.loader import load_profile
from activities.review.archive import Archive
from activities.review.decisions import LETTERS, Decision
from activities.review.extraction import asked_fields
from activities.review.living import Notice
from activities.review.notices import pipe, post, write_feed
from activities.review.protocol import Protocol
from activities.review.publishing import field_decisions, settled_fields
from activities.review.records import Records
from activities.review.steps import RecordDecision
from activities.review.studies import BiasInput, BiasProposal, ExtractDataInput, Extraction, FullTextInput
from activities.review.study_steps import (
    ReadStudyStep,
    RecordRefs,
    RecordsStep,
    SettledFields,
    SettleStep,
    StudyRead,
    StudyStage,
    TellStep,
)
from activities.roles.allowances import allowance_of
from activities.settings import Settings

if TYPE_CHECKING:
    from activities.roles.runner import RoleThinker

ROLES: dict[StudyStage, Role] = {
    "full_texts": "full_text_screener",
    "extraction": "data_extractor",
    "bias": "bias_assessor",
}


class Notices(Frozen):
    """All notices of a review, for its feed."""

    notices: tuple[Notice, ...] = ()


class StudyActivities:
    def __init__(self, settings: Settings, store: EvidenceStore, thinker: "RoleThinker") -> None:
        self._settings = settings
        self._store = store
        self._archive = Archive(store)
        self._thinker = thinker

    @activity.defn
    async def look_up_records(self, step: RecordsStep) -> RecordRefs:
        """Look up records by their numbers."""
        async with reporting_errors(run_id=step.run_id):
            records = (await self._archive.get(step.records, Records)).records
            return RecordRefs(refs=tuple(records[number] for number in step.numbers))

    @activity.defn
    async def read_study(self, step: ReadStudyStep) -> StudyRead:
        """Have a model read one work: a verdict on its full text, its data, or its risk of bias."""
        async with reporting_errors("study_not_read", run_id=step.run_id):
            protocol = await self._archive.get(step.protocol, Protocol)
            role = ROLES[step.stage]
            info = activity.info()
            common = {
                "run_id": step.run_id,
                "question": protocol.question.text(),
                "profile": load_profile("general"),
                "model": step.model,
                "fallbacks": step.fallbacks,
                "allowance": allowance_of(role, step.model),
                "evidence": (step.text,),
                "scope": f"{info.workflow_id}/{step.stage}/{step.reader}/{step.version}/{step.outcome}",
                "seconds": seconds_left(info),
            }
            asked: FullTextInput | ExtractDataInput | BiasInput
            if step.stage == "full_texts":
                asked = FullTextInput.model_validate({**common, "criteria": protocol.criteria})
            elif step.stage == "extraction":
                asked = ExtractDataInput.model_validate({**common, "fields": asked_fields(protocol)})
            else:
                asked = BiasInput.model_validate({**common, "outcome": step.outcome})
            done = await self._thinker.think(role, asked)
            letter, output = "", done.output
            if isinstance(output, RecordDecision):
                letter = LETTERS[output.verdict]
                decision = Decision(
                    record=step.record,
                    stage="full_texts",
                    by=step.reader,
                    verdict=output.verdict,
                    criterion=output.criterion,
                    words=output.words,
                    reason=output.reason,
                    at=step.at,
                    protocol=step.version,
                    model=done.model,
                    prompt=done.prompt_version,
                )
                key = await self._archive.put_lines([decision])
            elif isinstance(output, Extraction):
                key = await self._archive.put(output.replace(extractor=step.reader))
            else:
                assert isinstance(output, BiasProposal)
                key = await self._archive.put(output)
            return StudyRead(
                key=key, letter=letter, usage=done.usage, model=done.model, prompt=done.prompt_version
            )

    @activity.defn
    async def settle_fields(self, step: SettleStep) -> SettledFields:
        """Compare the extractions of each study, and apply what people decided."""
        async with reporting_errors("extraction_not_settled", run_id=step.run_id):
            fields = asked_fields(await self._archive.get(step.protocol, Protocol))
            decisions = await field_decisions(self._archive, step.decisions)
            decisions += step.added
            pending = {}
            for record, keys in step.extracted.items():
                if len(keys) == 2 and all(keys):
                    _, left = await settled_fields(self._archive, fields, keys, decisions)
                    if left:
                        pending[record] = tuple(one.field for one in left)
            key = await self._archive.put_lines(decisions)
            return SettledFields(decisions=key, pending=pending)

    @activity.defn
    async def tell_changes(self, step: TellStep) -> None:
        """Tell that conclusions have changed, by each way that is set."""
        async with reporting_errors("changes_not_told", run_id=step.run_id):
            notice = await self._archive.get(step.notice, Notice)
            name = f"reviews/{step.run_id}/notices.json"
            data = await self._store.get_named(name)
            before = Notices.model_validate_json(data).notices if data else ()
            notices = (*(one for one in before if one.version != notice.version), notice)
            await self._store.put_named(name, Notices(notices=notices).model_dump_json().encode())
            folder = self._settings.reports_dir or self._settings.home / "reports"
            write_feed(notices, folder / f"{step.run_id}.rss")
            if self._settings.review_webhook and not self._settings.offline:
                await post(notice, self._settings.review_webhook)
            if self._settings.review_command:
                await asyncio.to_thread(pipe, notice, self._settings.review_command)
            log.info("changes_told", run_id=step.run_id, version=notice.version)
