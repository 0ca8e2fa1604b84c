"""Publishing as an activity: the last step of every run, whatever happened before it.

Invariants:

- A report is always published: nothing a model wrote can make this step fail. Only the store can, and then
  the step is tried again; an item that stays unreadable is left out and said to be.
- The standing of what is cited is looked up again here; what has been retracted since it was found supports
  nothing.
- What returns to the workflow stays small; the whole report is a blob.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from temporalio import activity

from activities.contracts.errors import DeterminatorError, StoreError
from activities.contracts.evidence import Evidence, EvidenceRef, Statement
from activities.contracts.publish import PublishInput, PubMedCheck, PubMedSaid
from activities.evidence_store import EvidenceStore
from activities.heartbeat import reporting_errors
from activities.logs import log
from activities.permits import NotPermitted
from activities.private_files import file_name, write_whole
from activities.report.archive import report_name
from activities.report.formats import render
from activities.report.parts import leaves_open, part_of, parts_of
from activities.report.schema import MAX_SUMMARY_CHARS, Published, Report
from activities.retractions.rules import worst

if TYPE_CHECKING:
    from activities.sources.standing_lookup import StandingLookup, StandingVerdict

CHECK_PUBMED = "check_pubmed"
"""The activity that asks PubMed (`PubMedStanding`)."""
GIVE_UP_ATTEMPT = 3
"""From this attempt on an item that cannot be read no longer delays the report."""


class StandingChecker(Protocol):
    """Looks up whether works have been retracted or corrected."""

    async def check_many(
        self, refs: Sequence[EvidenceRef], *, pubmed: PubMedSaid | None = None, library: bool = False
    ) -> "Mapping[str, StandingVerdict]":
        """Verdicts by evidence id; an item without one could not be looked up.

        `pubmed` is what PubMed said of them: only the process that holds NCBI's gate may ask it. `library`:
        ask about the user's own documents too.
        """
        ...


class PublishActivities:
    def __init__(
        self,
        store: EvidenceStore,
        standing: StandingChecker | None = None,
        *,
        copies: Path | None = None,
        form: str = "md",
    ) -> None:
        """Publish to a store, and to a folder of a person where one is named.

        `copies` is a folder in which each final report is left as a file too, in the format `form`.
        """
        self._store = store
        self._standing = standing
        self._copies = copies
        self._form = form

    @activity.defn
    async def publish_report(self, step: PublishInput) -> Published:
        """Check, number, render and store the report; see `activities.report.assemble`.

        A workflow publishes under its own id only.
        """
        async with reporting_errors("publish_failed", run_id=step.run_id):
            run_id = activity.info().workflow_id or "an activity without a run"
            if step.run_id != run_id:  # its owner trusts what is stored there
                raise NotPermitted(f"{run_id[:200]} publishes no report of another run")
            return await self.publish(step, patient=activity.info().attempt < GIVE_UP_ATTEMPT)

    async def publish(self, step: PublishInput, *, patient: bool = False) -> Published:
        """`patient`: raise StoreError when a cited item cannot be read rather than go on without it."""
        inputs_key = await self._store.put_bytes(step.model_dump_json().encode(), "json")
        documents, notes = await read_documents(self._store, step, patient=patient)
        verdicts, outages = await self._look_up(documents, step)
        report = await make_report(self._store, step, documents, verdicts, notes + outages, patient=patient)
        report = report.replace(made_from=inputs_key)
        data = await asyncio.to_thread(render, report, "json")
        text = await asyncio.to_thread(render, report, "md")
        blob, markdown_blob = await asyncio.gather(
            self._store.put_bytes(data, "json"), self._store.put_bytes(text, "md")
        )
        await self._store.put_named(report_name(step.run_id, "json"), data)
        await self._store.put_named(report_name(step.run_id, "md"), text)
        if self._copies is not None and not step.draft:
            await asyncio.to_thread(leave_copy, self._copies, report, self._form)
        log.info(
            "report_published",
            run_id=step.run_id,
            claims=report.verification.verified,
            dropped=len(report.verification.dropped),
            references=len(report.references),
        )
        return Published(
            blob=blob,
            markdown_blob=markdown_blob,
            title=report.title,
            summary=report.executive_summary[:MAX_SUMMARY_CHARS],
            mode=str(report.mode),
            stop_reason=report.stop_reason,
            written_by=report.written_by,
            confidence=report.confidence,
            references=len(report.references),
            answered=report.unanswered is None and not leaves_open(report),
            verified_claims=report.verification.verified,
        )

    async def _look_up(
        self, documents: Mapping[str, Evidence], step: PublishInput
    ) -> "tuple[Mapping[str, StandingVerdict], list[Statement]]":
        """Return the standing of works now, and what to state of those about which nobody answered."""
        refs = _refs(step, documents)
        if self._standing is None or not refs:
            return {}, []
        try:
            verdicts = await self._standing.check_many(refs, pubmed=step.pubmed, library=reaches_out(step))
        except DeterminatorError as error:
            log.warning("standing_not_checked", error=str(error))
            return {}, [Statement.of("standing_not_looked_up")]
        unasked = sum(bool(verdict.failures) for verdict in verdicts.values())
        note = Statement.of("authority_silent", works=unasked, of=len(refs))
        return verdicts, [note] if unasked else []


class PubMedStanding:
    """PubMed's notices on the works a report cites, before it is published.

    Registered on NCBI's queue only, since its rate holds for the whole fleet.
    """

    def __init__(self, lookup: "StandingLookup") -> None:
        self._lookup = lookup

    @activity.defn(name=CHECK_PUBMED)
    async def check(self, step: PubMedCheck) -> PubMedSaid:
        """Ask about all works at once. Fails like a search, and is retried like one."""
        async with reporting_errors("standing_not_checked", run_id=step.run_id, authority="pubmed"):
            return await self._lookup.ask_pubmed(step.pmids)


async def make_report(
    store: EvidenceStore,
    step: PublishInput,
    documents: Mapping[str, Evidence],
    verdicts: "Mapping[str, StandingVerdict]",
    notes: Sequence[Statement],
    *,
    patient: bool = False,
) -> Report:
    """Return the report of what publishing was given and of the works that `read_documents` read.

    The works have the standing that authorities say they have now. It is made when a run ends, and again for
    every later version. `patient`: raise StoreError when what was looked up cannot be read rather than go on
    without it.
    """
    from activities.report.assemble import build_report  # imported late: see `worker.daemon`

    if not documents and refs_to_read(step):
        # nothing of what the judge called sufficient can be shown any more
        step = step.replace(stop_reason="all_sources_failed")
    part_data, gaps = dict[str, object](), list[Statement]()
    for name in step.parts:
        part_data[name], notes_of_part = await part_of(name).read_stored(store, step, patient=patient)
        gaps += notes_of_part
    works = _with_standing(_refs(step, documents), documents, verdicts)
    # In a thread: a long report must not block the heartbeats.
    return await asyncio.to_thread(build_report, step, works, [*notes, *gaps], part_data)


async def read_documents(
    store: EvidenceStore, step: PublishInput, *, patient: bool
) -> tuple[dict[str, Evidence], list[Statement]]:
    """Return the bodies of the works that the checks need, and what to state of those that cannot be read.

    With `patient` that raises StoreError.
    """
    refs = refs_to_read(step)
    documents: dict[str, Evidence] = {}
    lost_ids: list[str] = []
    for ref, answer in zip(refs, await store.read_all(refs), strict=True):
        if isinstance(answer, Evidence):
            documents[ref.evidence_id] = answer
        elif patient:
            raise StoreError(f"the stored text of {ref.evidence_id} cannot be read: {answer}") from answer
        else:
            log.warning("cited_item_unreadable", evidence_id=ref.evidence_id, error=str(answer))
            lost_ids.append(ref.evidence_id)
    return documents, [Statement.of("item_unreadable", evidence_ids=tuple(lost_ids))] if lost_ids else []


def _with_standing(
    refs: Sequence[EvidenceRef],
    documents: Mapping[str, Evidence],
    verdicts: "Mapping[str, StandingVerdict]",
) -> dict[str, Evidence]:
    """Return the documents with the worst standing that any authority reports.

    Only a reinstatement improves one.
    """
    works: dict[str, Evidence] = {}
    for ref in refs:
        item = documents[ref.evidence_id]
        verdict = verdicts.get(ref.evidence_id)
        notices = tuple(dict.fromkeys((*item.notices, *(verdict.notices if verdict else ()))))
        if verdict and any(notice.kind == "reinstatement" for notice in verdict.notices):
            standing = verdict.standing
        else:
            standing = worst(item.standing, ref.standing, *([verdict.standing] if verdict else []))
        works[ref.evidence_id] = item.replace(standing=standing, notices=notices)
    return works


def leave_copy(folder: Path, report: Report, form: str) -> None:
    """Write a report to a folder as a file; an existing file stays as it is.

    A failure is logged: the report itself is in the store.
    """
    path = folder / f"{file_name(report.run_id)}.{form}"
    try:
        if not path.exists():
            write_whole(path, render(report, form))
    except (OSError, DeterminatorError) as error:
        log.warning("report_file_not_written", path=str(path), error=str(error))


def refs_to_read(step: PublishInput) -> list[EvidenceRef]:
    """Return references of the items whose text the checks need: what is cited, and what was judged.

    They are in the order of the evidence.
    """
    return _refs(step, {*cited_ids(step), *(judgement.evidence_id for judgement in step.judgements)})


def cited_ids(step: PublishInput) -> set[str]:
    """Ids of the items that a draft or a part cites."""
    ids = {name for section in step.sections for name in section.draft.cited}
    return ids.union(*(part.cited_ids(step) for part in parts_of(step)))


def cited_refs(step: PublishInput) -> list[EvidenceRef]:
    """Return references of the items that a draft or a part cites, in the order of the evidence."""
    return _refs(step, cited_ids(step))


def _refs(step: PublishInput, ids: Collection[str]) -> list[EvidenceRef]:
    return list({ref.evidence_id: ref for ref in step.evidence if ref.evidence_id in ids}.values())


def reaches_out(step: PublishInput) -> bool:
    """Whether a run searched more than the user's own documents.

    Only then may the names of those leave the machine.
    """
    return any(search.source != "library" for search in step.searches)


def pubmed_check(step: PublishInput, *, library: bool = False) -> PubMedCheck | None:
    """Return what PubMed is to be asked before publishing, all of it at once.

    None when there is nothing to ask. `library`: about the user's own documents too.
    """
    pmids = dict.fromkeys(pmid for ref in cited_refs(step) if (pmid := pubmed_name(ref, library=library)))
    return PubMedCheck(run_id=step.run_id, pmids=tuple(pmids)) if pmids else None


def pubmed_name(ref: EvidenceRef, *, library: bool = False) -> str | None:
    """Return the PMID by which PubMed is asked about a work.

    None for what it cannot know, and for what came from the user's own library unless `library` says that it
    may be asked about.
    """
    return ref.identifiers.pmid if library or ref.source != "library" else None
