"""Whether a work may still be cited, looked up again at the authorities: PubMed, Crossref, Europe PMC.

The rule where they disagree: the worst that any of them reports counts, and so does what the source of the
record itself reported when it was found. Only a reinstatement that is dated no earlier than every retraction
lifts one (`activities.retractions.rules.standing_of`). "none" needs at least one authority that knows the
work; when no authority could be asked, none knows it or all failed, it is "unknown".

While offline the standing is left as it is. What came from the user's own library is asked about only in a
run that searches other sources as well: a run on the library alone is private, and its names stay there.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import structlog
from lxml import etree
from pydantic import Field

from activities.contracts.errors import RateLimited, SourceError
from activities.contracts.evidence import Evidence, EvidenceRef, Frozen, Identifiers, Standing, StandingNotice
from activities.retractions.rules import RETRACTING_KINDS, Kind, standing_of
from activities.settings import Settings
from activities.sources import crossref, europepmc, ncbi, pubmed
from activities.sources.http.cache import STANDING_SECONDS
from activities.sources.http.client import Http

log = structlog.get_logger()

Authority = Literal["pubmed", "crossref", "europepmc"]

AUTHORITIES: tuple[Authority, ...] = ("pubmed", "crossref", "europepmc")
GIVE_UP_AFTER = 3
"""Failures after which Crossref is not asked for further works in one check."""
EUROPEPMC_BATCH = 25
"""Works in one query: more would make its address too long."""
_OWN: dict[Standing, Kind] = {"retracted": "retraction", "concern": "concern", "corrected": "correction"}
_WHEN_FOUND = " (when found)"


class StandingVerdict(Frozen):
    """What is known of one work's standing, and from whom."""

    standing: Standing
    notices: tuple[StandingNotice, ...] = ()
    """One for each notice, naming every authority that reports it; oldest first, undated last."""
    asked: tuple[str, ...] = ()
    """Authorities that were asked about this work."""
    reported: dict[str, Standing] = Field(default_factory=dict)
    """What each authority that knows the work says by itself."""
    failures: tuple[str, ...] = ()
    """Why an authority that was asked did not answer."""


@dataclass(slots=True)
class _Answers:
    """What one authority said, by evidence id."""

    notices: dict[str, tuple[StandingNotice, ...]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def know(self, refs: Iterable[EvidenceRef], notices: Sequence[StandingNotice]) -> None:
        for ref in refs:
            self.notices[ref.evidence_id] = (*self.notices.get(ref.evidence_id, ()), *notices)

    def fail(self, refs: Iterable[EvidenceRef], why: object) -> None:
        self.failures |= {ref.evidence_id: str(why) for ref in refs}


class StandingLookup:
    """Asks in few requests: PubMed once for 200 works, Europe PMC once for 25, Crossref once a DOI. An answer
    may be a quarter of an hour old. Failures are part of the verdict and never raised."""

    def __init__(self, http: Http, settings: Settings) -> None:
        self._offline = settings.offline
        self._eutils = ncbi.Eutils("pubmed", settings, http)
        self._crossref = crossref.Crossref(settings, http)
        self._europepmc = europepmc.EuropePmc(settings, http)

    async def check_many(
        self,
        refs: Sequence[EvidenceRef],
        authorities: Collection[Authority] = AUTHORITIES,
        *,
        library: bool = False,
    ) -> dict[str, StandingVerdict]:
        """A verdict for every reference, by evidence id. `library`: ask about works of the user's own library
        too.

        Verdicts of a few `authorities` are parts for `combine`: what asks NCBI can thus run where its rate is
        held.
        """
        ask = {"pubmed": self._ask_pubmed, "crossref": self._ask_crossref, "europepmc": self._ask_europepmc}
        wanted = [] if self._offline else [ref for ref in refs if library or ref.source != "library"]
        names = [name for name in AUTHORITIES if name in authorities]
        lists = {name: [ref for ref in wanted if askable(name, ref.identifiers)] for name in names}
        found = await asyncio.gather(*(ask[name](lists[name]) for name in names))
        answers = dict(zip(names, found, strict=True))
        verdicts = {ref.evidence_id: StandingVerdict(standing=ref.standing) for ref in refs}
        for ref in wanted:
            said = {n: a.notices[ref.evidence_id] for n, a in answers.items() if ref.evidence_id in a.notices}
            verdicts[ref.evidence_id] = verdict_of(
                ref,
                [notice for notices in said.values() for notice in notices],
                asked=[name for name in names if ref in lists[name]],
                reported={name: standing_of(notices) for name, notices in said.items()},
                failures=[
                    a.failures[ref.evidence_id] for a in answers.values() if ref.evidence_id in a.failures
                ],
            )
        return verdicts

    async def ask_pubmed(self, pmids: Sequence[str]) -> dict[str, tuple[StandingNotice, ...]]:
        """The notices PubMed has, by PMID, of the works it knows among at most 200: one request.

        Raises SourceError.
        """
        return await self._eutils.fetch(
            pmids,
            "PubmedArticleSet",
            "abstract",
            dict[str, tuple[StandingNotice, ...]],
            read_notices,
            list(pmids),
            max_age=STANDING_SECONDS,
        )

    async def _ask_pubmed(self, refs: Sequence[EvidenceRef]) -> _Answers:
        answers = _Answers()
        for batch in _batches(refs, ncbi.MAX_IDS):
            by_pmid = _grouped((ref.identifiers.pmid, ref) for ref in batch)
            try:
                found = await self.ask_pubmed(list(by_pmid))
            except SourceError as error:
                answers.fail(batch, error)
                continue
            for pmid, notices in found.items():
                answers.know(by_pmid[pmid], notices)
        return answers

    async def _ask_crossref(self, refs: Sequence[EvidenceRef]) -> _Answers:
        answers = _Answers()
        failed = 0
        for doi, same in _grouped((ref.identifiers.doi, ref) for ref in refs).items():
            if failed >= GIVE_UP_AFTER:
                answers.fail(same, f"crossref was not asked again after {failed} failures")
                continue
            try:
                work = await self._crossref.work(doi)
            except SourceError as error:
                failed = GIVE_UP_AFTER if isinstance(error, RateLimited) else failed + 1
                answers.fail(same, error)
                continue
            if work is not None:
                answers.know(same, crossref.notices(work))
        return answers

    async def _ask_europepmc(self, refs: Sequence[EvidenceRef]) -> _Answers:
        answers = _Answers()
        for batch in _batches(refs, EUROPEPMC_BATCH):
            try:
                records = await self._europepmc_records(batch)
            except SourceError as error:
                answers.fail(batch, error)
                continue
            for record in records:
                same = [ref for ref in batch if same_work(ref.identifiers, record.identifiers)]
                answers.know(same, notices_in(record))
        return answers

    async def _europepmc_records(self, refs: Sequence[EvidenceRef]) -> list[Evidence]:
        params = {
            "query": " OR ".join(_europepmc_clause(ref.identifiers) for ref in refs),
            "resultType": "core",
            "format": "json",
            "pageSize": str(4 * EUROPEPMC_BATCH),
        }
        page = await self._europepmc.ask(europepmc.read_search, "search", params, max_age=STANDING_SECONDS)
        records = []
        for item in page.results:
            try:
                records.append(europepmc.read_result(item))
            except (SourceError, ValueError, KeyError, TypeError, AttributeError) as error:
                log.warning("standing_record_unreadable", authority="europepmc", error=repr(error)[:200])
        return records


def combine(ref: EvidenceRef, parts: Sequence[StandingVerdict]) -> StandingVerdict:
    """One verdict from those of different authorities on the same work."""
    parts = [part for part in parts if part.asked or part.notices]
    if not parts:
        return StandingVerdict(standing=ref.standing)
    return verdict_of(
        ref,
        [n for part in parts for n in part.notices if not n.reported_by.endswith(_WHEN_FOUND)],
        asked=[name for part in parts for name in part.asked],
        reported={name: said for part in parts for name, said in part.reported.items()},
        failures=[why for part in parts for why in part.failures],
    )


def verdict_of(
    ref: EvidenceRef,
    notices: Sequence[StandingNotice],
    *,
    asked: Sequence[str],
    reported: Mapping[str, Standing],
    failures: Sequence[str],
) -> StandingVerdict:
    """The verdict on what was reported; see the module for the rule."""
    merged = list(merge(notices))
    own = _OWN.get(ref.standing)
    known = {notice.kind for notice in merged}
    if own and own not in known and not (own == "retraction" and known & RETRACTING_KINDS):
        merged.append(StandingNotice(kind=own, reported_by=f"{ref.source}{_WHEN_FOUND}"))
    return StandingVerdict(
        standing=standing_of(merged, otherwise="none" if reported else "unknown"),
        notices=tuple(merged),
        asked=tuple(asked),
        reported=dict(reported),
        failures=tuple(failures),
    )


def merge(notices: Sequence[StandingNotice]) -> list[StandingNotice]:
    """One notice for those of the same kind that share a DOI or PMID, with every authority that reports it. A
    notice with neither stands alone, unless the same authority gave the same one twice."""
    merged: list[StandingNotice] = []
    for notice in notices:
        for place, other in enumerate(merged):
            if notice.kind == other.kind and _one_notice(notice, other):
                merged[place] = StandingNotice(
                    kind=other.kind,
                    date=max(other.date or "", notice.date or "", key=len) or None,
                    doi=other.doi or notice.doi,
                    pmid=other.pmid or notice.pmid,
                    reported_by=", ".join(
                        dict.fromkeys([*other.reported_by.split(", "), *notice.reported_by.split(", ")])
                    ),
                )
                break
        else:
            merged.append(notice)
    return sorted(merged, key=lambda n: (n.date is None, n.date or ""))


def notices_in(record: Evidence) -> tuple[StandingNotice, ...]:
    """A record's notices; where it only calls itself retracted, that is one, undated."""
    if record.standing == "retracted" and not any(n.kind in RETRACTING_KINDS for n in record.notices):
        return (*record.notices, StandingNotice(kind="retraction", reported_by=record.source))
    return record.notices


def askable(authority: Authority, identifiers: Identifiers) -> bool:
    """Whether an authority can be asked about a work by these names."""
    if authority == "pubmed":
        return identifiers.pmid is not None
    if authority == "crossref":
        return identifiers.doi is not None
    return any((identifiers.pmid, identifiers.pmcid, identifiers.doi))


def same_work(one: Identifiers, other: Identifiers) -> bool:
    """Whether two records name the same work by PMID, PMCID or DOI."""
    return any(
        mine is not None and mine == getattr(other, name)
        for name in ("pmid", "pmcid", "doi")
        if (mine := getattr(one, name))
    )


def _one_notice(one: StandingNotice, other: StandingNotice) -> bool:
    if (one.doi and one.doi == other.doi) or (one.pmid and one.pmid == other.pmid):
        return True
    return (one.date, one.doi, one.pmid, one.reported_by) == (
        other.date,
        other.doi,
        other.pmid,
        other.reported_by,
    )


def _europepmc_clause(identifiers: Identifiers) -> str:
    """The query for one work by its best name."""
    if identifiers.pmid:
        return f"(EXT_ID:{identifiers.pmid} AND SRC:MED)"
    if identifiers.pmcid:
        return f"PMCID:{identifiers.pmcid}"
    doi = (identifiers.doi or "").replace("\\", "").replace('"', "")
    return f'DOI:"{doi}"'


def _batches(refs: Sequence[EvidenceRef], size: int) -> list[Sequence[EvidenceRef]]:
    return [refs[start : start + size] for start in range(0, len(refs), size)]


def _grouped(pairs: Iterable[tuple[str | None, EvidenceRef]]) -> dict[str, list[EvidenceRef]]:
    """References by a name of theirs, so that each name is asked once."""
    found: dict[str, list[EvidenceRef]] = {}
    for name, ref in pairs:
        if name:
            found.setdefault(name, []).append(ref)
    return found


def read_notices(tree: etree._Element, pmids: Sequence[str]) -> dict[str, tuple[StandingNotice, ...]]:
    """The notices in PubMed's records, by PMID, of the works that were asked for."""
    found: dict[str, tuple[StandingNotice, ...]] = {}
    for element in tree:
        if element.tag not in pubmed.RECORDS:
            continue
        try:
            record = pubmed.read_record(element)
        except (SourceError, ValueError) as error:
            log.warning("standing_record_unreadable", authority="pubmed", error=str(error)[:200])
            continue
        if (pmid := record.identifiers.pmid) and pmid in pmids:
            found[pmid] = notices_in(record)
    return found
