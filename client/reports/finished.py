"""A finished run, whole: from the run itself, or from the evidence store where the run cannot be asked.

It is also checked here: every quote of its report against the text of the work that it is attributed to.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from activities.contracts.errors import DamagedEvidence, StoreError
from activities.contracts.evidence import Evidence, EvidenceRef
from activities.contracts.iterations import IterationRecord
from activities.evidence_store import EvidenceStore
from activities.report.archive import Archive, Version, load_latest, standings
from activities.report.audit import Examination, examine
from activities.report.evidence_lines import EvidenceLine, evidence_line
from activities.report.schema import Report
from activities.settings import Settings
from client.connection import Connection
from client.failures import NoAnswer, NoConnection, NoSuchRun, SeveralRuns
from client.listing import describe, matching
from client.reports.load import NoReport, load_report
from client.runs.query import evidence_index, iterations, read_events, wait_for_answer
from workflows.event_types import AgentEvent

if TYPE_CHECKING:
    from client.api import Determinator

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finished:
    run_id: str
    first: Report
    """As the run published it."""
    report: Report
    versions: tuple[Version, ...]
    items: tuple[tuple[EvidenceRef, Evidence], ...]
    """What was found, in the run's order; cited items first where they had to be searched for."""
    total: int | None
    """Items the run has found in all; None when it could not be asked."""
    events: tuple[AgentEvent, ...] = ()
    iterations: tuple[IterationRecord, ...] = ()
    gaps: tuple[str, ...] = ()
    """What is missing, and why: a sentence each."""
    damaged: tuple[str, ...] = ()
    """Ids of items whose stored text is not the one that was stored."""

    def lines(self) -> list[EvidenceLine]:
        """Write the items as `evidence --format jsonl` has them, with the standing that is known by now."""
        by_id = standings(self.report, self.versions)
        lines = (evidence_line(ref, item) for ref, item in self.items)
        return [{**line, "standing": by_id.get(line["evidence_id"], line["standing"])} for line in lines]


async def find_finished(client: "Determinator", name: str, *, whole: bool = True) -> Finished:
    """Read the finished run that a name stands for; `whole`: with its events and iterations.

    Without a server, or when the server no longer knows the run, the store is searched for it. Raises
    NoReport when the run has not ended or left none, NoSuchRun, NoConnection and StoreError.
    """
    settings = client.settings
    archive = Archive(settings.evidence_url)
    try:
        run = await client.run(name)
    except SeveralRuns:
        raise
    except (NoConnection, NoSuchRun) as error:
        report = await report_in_store(archive, name, error)
        is_offline = isinstance(error, NoConnection)
        reason = "no Temporal server answers" if is_offline else "the Temporal server no longer knows the run"
        client.say(f"{reason}; what follows is what the evidence store has")
        gap = f"Its events and the history of its iterations are missing: {reason}."
        return await _complete(archive, report, None, [gap])
    report = await _load_published(settings, run.connection, run.id)
    server, gaps = run.connection.client, list[str]()

    async def ask(subject: str, body: Callable[[], Awaitable[T]]) -> T | None:
        try:
            return await wait_for_answer(run.connection, body)
        except NoAnswer as error:
            gaps.append(f"The run could not be asked for its {subject}: {error}.")
            return None

    refs = await ask("evidence", lambda: evidence_index(server, run.id))
    if refs is None or not whole:
        return await _complete(archive, report, refs, gaps)
    events = await ask("events", lambda: read_events(server, settings, run.id))
    records = await ask("iterations", lambda: iterations(server, run.id))
    record = await _complete(archive, report, refs, gaps)
    return replace(record, events=tuple(events or ()), iterations=records or ())


async def report_in_store(archive: Archive, name: str, error: Exception) -> Report:
    """Read the stored report of a run by its id, a part of it, or `last`; else raise `error`."""
    names = await archive.names() if name else []
    matches = names[:1] if name == "last" else matching(names, name)
    if len(matches) > 1:
        raise SeveralRuns(name, matches)
    report = await archive.report(matches[0]) if matches else None
    if report is None:
        raise error
    if report.draft:
        raise NoReport(f"of {report.run_id} there is only a draft, and no server to ask for more") from error
    return report


async def _load_published(settings: Settings, connection: Connection, run_id: str) -> Report:
    """Read the whole report as a run that has ended published it. Raises NoReport."""
    if (await describe(connection.client, run_id)).status == "running":
        raise NoReport(f"{run_id} is still under way; watch it to its end")
    return await load_report(settings, connection, run_id)


async def _complete(
    archive: Archive, first: Report, refs: Sequence[EvidenceRef] | None, gaps: Sequence[str]
) -> Finished:
    """Add the bodies of what was found, those of cited items above all, and the later versions.

    `refs`: None where the run does not say what it has found.
    """
    report, versions = await load_latest(archive, first)
    items, unreadable, damaged = await bodies(archive.store, refs or ())
    ids = {r.evidence_id for r in first.references} - {ref.evidence_id for ref, _ in items}
    cited, damaged_cited = await cited_items(archive, first, ids)
    damaged = list(dict.fromkeys((*damaged, *damaged_cited)))
    unstored = ids - set(damaged) - {ref.evidence_id for ref, _ in cited}
    messages = (
        (damaged, "The stored text of {} is damaged: it is not what was stored."),
        (unreadable, "The stored text of {} could not be read."),
        (sorted(unstored), "The stored text of what is cited as {} is not in the store."),
    )
    gaps = [*gaps, *(text.format(", ".join(names)) for names, text in messages if names)]
    if refs is None:
        gaps.append("What was found but is not cited is missing.")
    return Finished(
        run_id=first.run_id,
        first=first,
        report=report,
        versions=versions,
        items=(*cited, *items),
        total=None if refs is None else len(refs),
        gaps=tuple(gaps),
        damaged=tuple(damaged),
    )


async def cited_items(
    archive: Archive, report: Report, ids: Collection[str]
) -> tuple[list[tuple[EvidenceRef, Evidence]], list[str]]:
    """Read the stored items of references as the report knows them, and the ids of those that are damaged."""
    try:
        inputs = await archive.inputs_of(report)
    except StoreError:
        return [], []
    refs = {ref.evidence_id: ref for ref in inputs.evidence}
    references = [
        reference
        for reference in report.references
        if reference.evidence_id in ids and reference.evidence_id in refs
    ]
    sections: dict[str, dict[str, None]] = {reference.evidence_id: {} for reference in references}
    for section in report.sections:
        for support in (support for claim in section.claims for support in claim.support):
            sections.setdefault(support.evidence_id, {})[section.id] = None
    rows = [
        refs[reference.evidence_id].replace(
            standing=reference.standing, sections=tuple(sections[reference.evidence_id])
        )
        for reference in references
    ]
    items, _, damaged = await bodies(archive.store, rows)
    return items, damaged


async def bodies(
    store: EvidenceStore, refs: Sequence[EvidenceRef]
) -> tuple[list[tuple[EvidenceRef, Evidence]], list[str], list[str]]:
    """Read the bodies of references; return also the ids of those that are unreadable and damaged."""
    items: list[tuple[EvidenceRef, Evidence]] = []
    unreadable: list[str] = []
    damaged: list[str] = []
    for ref, answer in zip(refs, await store.read_all(refs), strict=True):
        if isinstance(answer, Evidence):
            items.append((ref, answer))
        else:
            (damaged if isinstance(answer, DamagedEvidence) else unreadable).append(ref.evidence_id)
    return items, unreadable, damaged


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome of checking the report of a run."""

    examination: Examination
    references: int
    items: int
    """Texts it was checked against."""
    damaged: tuple[str, ...] = ()
    """Stored texts that are not what was stored: a sentence each."""

    @property
    def holds(self) -> bool:
        """Tell whether everything holds; a report with nothing to check does not."""
        return self.examination.holds and bool(self.examination.bearers) and not self.damaged


async def verify(client: "Determinator", name: str) -> Verification:
    """Check every quote of the report of a run against its stored text. Raises as `find_finished`."""
    run = await find_finished(client, name, whole=False)
    lines = [dict(line) for line in run.lines()]
    return Verification(
        examination=await asyncio.to_thread(examine, run.report, lines),
        references=len(run.report.references),
        items=len(lines),
        damaged=tuple(f"the stored text of {name} is damaged" for name in run.damaged),
    )
