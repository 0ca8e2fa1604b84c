"""Refreshing a finished report as activities: what to ask again, and keeping what was found.

Between the two the workflow repeats the searches through the sources' own activities and asks PubMed on
NCBI's queue (`workflows.refresh`). Nothing that a run published is ever overwritten.
"""

from collections.abc import Mapping, Sequence

from temporalio import activity

from activities.contracts.errors import DeterminatorError
from activities.contracts.evidence import (
    EvidenceRef,
    Filters,
    Frozen,
    Query,
    SearchRecord,
    SourceOption,
    Work,
    fields_of,
)
from activities.contracts.publish import PubMedCheck, PubMedSaid
from activities.contracts.revise import Instruction
from activities.contracts.search import SearchTask
from activities.heartbeat import reporting_errors
from activities.prepare_activity import pubmed_queue
from activities.publish_activity import StandingChecker, pubmed_name
from activities.report.archive import Archive, Change, NewWork, load_latest, refs_in
from activities.report.schema import Report
from activities.settings import Settings
from activities.sources.base import Source
from activities.sources.registry import options
from activities.sources.standing_lookup import StandingVerdict

MAX_SEARCHES = 60
"""Searches of a report that are repeated: the first ones."""
KNOWN_BYTES = 150 * 1024
"""Largest JSON of the known items that is sent to the workflow, in bytes."""


class NoReportToRefresh(DeterminatorError):
    """There is no finished report of the run in this worker's evidence store; never retried."""


class RefreshRequest(Frozen):
    """Refresh the report of a run: the input of the workflow, and of each action of its schedule."""

    run_id: str
    search: bool = True
    """Repeat the report's searches; without it only the standing of its references is looked up."""
    known_blob: str = ""
    """Key of a blob with references to all items of the run, one JSON object a line. Empty: what the report
    cites."""
    library: str | None = None
    library_signature: str = ""
    """See `activities.permits`."""
    instruction: Instruction | None = None
    """What a person asks of the report: then nothing is refreshed."""


class RepeatedSearch(Frozen):
    task: SearchTask
    queue: str | None = None
    closed: str = ""
    """Why the source cannot be searched now; empty when it can."""


class RefreshPlan(Frozen):
    searches: tuple[RepeatedSearch, ...] = ()
    known: tuple[EvidenceRef, ...] = ()
    """The items that are not new, without what is not needed to recognize them."""
    check: PubMedCheck | None = None
    pubmed_queue: str | None = None


class RefreshFindings(Frozen):
    request: RefreshRequest
    at: str
    """ISO time, from the workflow's clock."""
    searches: tuple[SearchRecord, ...] = ()
    new: tuple[NewWork, ...] = ()
    pubmed: PubMedSaid | None = None


class RefreshOutcome(Frozen):
    """What a refresh found that no version of the report said."""

    run_id: str
    since: str
    """`generated_at` of the version that it was compared with."""
    references: int = 0
    asked: tuple[str, ...] = ()
    """Ids of the references that an authority could be asked about."""
    authorities: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    """Those about which no authority answered."""
    failures: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    claims_lost: tuple[str, ...] = ()
    new: tuple[NewWork, ...] = ()
    searches: tuple[SearchRecord, ...] = ()
    version: int = 1
    made: bool = False
    claims_changed: tuple[str, ...] = ()
    """Ids of sentences that are new or read otherwise, where a person asked for it."""
    blob: str = ""
    """Key of the answer to a question about the report, as a report of its own."""
    calls: int = 0
    """Calls of a model, for what a person asked."""
    tokens: int = 0
    cost_microusd: int | None = 0
    """None where a price is not known."""
    notes: tuple[str, ...] = ()
    """What of it could not be done."""


class RefreshActivities:
    def __init__(self, settings: Settings, sources: Mapping[str, Source], standing: StandingChecker) -> None:
        self._settings = settings
        self._sources = sources
        self._standing = standing

    @activity.defn
    async def plan_refresh(self, request: RefreshRequest) -> RefreshPlan:
        """Read the report: its searches, the items that are known, the works to ask PubMed about."""
        async with reporting_errors("refresh_not_planned", run_id=request.run_id):
            archive = Archive(self._settings.evidence_url)
            first = await first_of(archive, request.run_id)
            report, versions = await load_latest(archive, first)
            references = references_of(report)
            refs = list(await refs_in(archive.store, request.known_blob)) or references
            works = (work for version in versions for work in version.new)
            refs += [EvidenceRef(**fields_of(Work, work), blob="") for work in works]
            pmids = tuple(dict.fromkeys(pmid for ref in references if (pmid := pubmed_name(ref))))
            return RefreshPlan(
                searches=self._searches(first, request) if request.search else (),
                known=_brief(refs),
                check=PubMedCheck(run_id=request.run_id, pmids=pmids) if pmids else None,
                pubmed_queue=pubmed_queue(self._settings, self._sources),
            )

    @activity.defn
    async def keep_refresh(self, findings: RefreshFindings) -> RefreshOutcome:
        """Look up the standing of the references, and keep what is not known yet as a new version."""
        async with reporting_errors("refresh_not_kept", run_id=findings.request.run_id):
            return await self.keep(findings)

    def _searches(self, report: Report, request: RefreshRequest) -> tuple[RepeatedSearch, ...]:
        """Return the searches of the report, each once, as they were asked for."""
        by_name = {option.info.name: option for option in options(self._settings, self._sources)}
        method = report.methodology
        pairs = dict.fromkeys((row.source, row.asked or row.query) for row in method.searches)
        searches = []
        for source, text in list(pairs)[:MAX_SEARCHES]:
            search = repeat_search(
                by_name, source, text, request.run_id, limit=method.results_per_search, filters=method.filters
            )
            if source == "library":
                scope = {"library": request.library, "library_signature": request.library_signature}
                search = search.replace(task=search.task.model_copy(update=scope))
            searches.append(search)
        return tuple(searches)

    async def keep(self, findings: RefreshFindings) -> RefreshOutcome:
        request = findings.request
        archive = Archive(self._settings.evidence_url)
        first = await first_of(archive, request.run_id)
        latest, _ = await load_latest(archive, first)
        answers = await self._standing.check_many(references_of(latest), pubmed=findings.pubmed)
        verdicts = {name: verdict for name, verdict in answers.items() if verdict.asked}
        from activities.report.versions import refresh  # with what builds reports; see `worker.daemon`

        addition = await refresh(
            archive, first, verdicts, at=findings.at, new_works=findings.new, searches=findings.searches
        )
        version = addition.version
        return RefreshOutcome(
            run_id=request.run_id,
            since=latest.generated_at,
            references=len(latest.references),
            asked=tuple(sorted(verdicts)),
            authorities=tuple(sorted({name for verdict in verdicts.values() for name in verdict.asked})),
            unanswered=tuple(name for name, verdict in verdicts.items() if is_unanswered(verdict)),
            failures=tuple(dict.fromkeys(line for verdict in verdicts.values() for line in verdict.failures)),
            changes=version.changes if version else (),
            claims_lost=version.claims_lost if version else (),
            new=version.new if version else (),
            searches=findings.searches,
            version=addition.latest,
            made=version is not None,
        )


def repeat_search(
    options: Mapping[str, SourceOption],
    source: str,
    text: str,
    run_id: str,
    *,
    limit: int,
    filters: Filters | None = None,
) -> RepeatedSearch:
    """Return a search of one source now, or why it cannot be made."""
    option = options.get(source)
    query = Query(text=text, limit=limit, filters=filters or Filters())
    reason = f"there is no source named {source}"
    if option is not None:
        reason = "" if option.enabled else option.reason or "it is not enabled"
    return RepeatedSearch(
        task=SearchTask(run_id=run_id, source=source, query=query, max_age=0),
        queue=option.info.queue if option else None,
        closed=reason,
    )


def is_unanswered(verdict: StandingVerdict) -> bool:
    """Whether no authority that was asked about a work answered."""
    return not verdict.reported and len(verdict.failures) >= len(verdict.asked)


def references_of(report: Report) -> list[EvidenceRef]:
    """Return a report's references as the standing is asked for, with the standing they have in it."""
    return [EvidenceRef(**fields_of(Work, reference), blob="") for reference in report.references]


async def first_of(archive: Archive, run_id: str) -> Report:
    """Return the report as the run published it.

    Raises NoReportToRefresh, StoreError.
    """
    report = await archive.report(run_id)
    if report is None or report.draft:
        raise NoReportToRefresh(
            f"there is no finished report of {run_id} in the evidence store of this worker; workers and "
            "commands need the same store (DETERMINATOR_STORE_URL)"
        )
    return report


def _brief(refs: Sequence[EvidenceRef]) -> tuple[EvidenceRef, ...]:
    """Return references with what a work is recognized by, within the payload limit: titles go first."""
    brief = [ref.replace(blob="", sections=(), queries=(), url=None) for ref in refs]
    room, rows = KNOWN_BYTES, list[EvidenceRef]()
    for ref in brief:
        room -= len(ref.model_dump_json())
        rows.append(ref if room > 0 else ref.replace(title=""))
    return tuple(rows)
