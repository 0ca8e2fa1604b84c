"""Whether a work may still be cited, looked up again at the authorities: PubMed, Crossref, Europe PMC.

The rule where they disagree: the worst that any of them reports counts, and so does what the source of the
record itself reported when it was found. Only a reinstatement that is dated no earlier than every retraction
lifts one (`activities.retractions.rules.standing_of`). "none" needs at least one authority that knows the
work; when no authority could be asked, none knows it or all failed, it is "unknown".

While offline the standing is left as it is. What came from the user's own library is asked about only in a
run that searches other sources as well: a run on the library alone is private, and its names stay there.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import httpx
from pydantic import Field

from activities.contracts.errors import RateLimited, SourceError
from activities.contracts.evidence import (
    Evidence,
    EvidenceRef,
    Frozen,
    Identifiers,
    NoticeKind,
    Standing,
    StandingNotice,
)
from activities.contracts.publish import PubMedSaid
from activities.logs import log
from activities.retractions.rules import RETRACTING_KINDS, standing_of
from activities.settings import Settings
from activities.sources import crossref, europepmc, ncbi, pubmed
from activities.sources.http.cache import STANDING_SECONDS, no_older_than
from activities.sources.http.client import Http
from activities.sources.http.reading import XmlReader
from activities.sources.records import Item

GIVE_UP_AFTER = 3
"""Failures after which Crossref is not asked for further works in one check."""
EUROPEPMC_BATCH = 25
"""Works in one query: more would make its address too long."""
NAMES = ("pmid", "pmcid", "doi")
"""Identifiers that authorities know a work by."""
_OWN: dict[Standing, NoticeKind] = {
    "retracted": "retraction",
    "concern": "concern",
    "corrected": "correction",
}


class StandingVerdict(Frozen):
    """The standing of a work, and who reports it."""

    standing: Standing
    notices: tuple[StandingNotice, ...] = ()
    """One for each notice, naming every authority that reports it; oldest first, undated last."""
    asked: tuple[str, ...] = ()
    reported: dict[str, Standing] = Field(default_factory=dict)
    """The standing by each authority that knows the work."""
    failures: tuple[str, ...] = ()


class Answer(NamedTuple):
    """The answer of an authority about a work."""

    notices: tuple[StandingNotice, ...] | None = None
    """None for a work that it does not know."""
    failure: str = ""
    """Why it did not answer."""


class StandingLookup:
    """Look-ups in few requests: PubMed once for 200 works, Europe PMC for 25, Crossref for a DOI.

    An answer may be a quarter of an hour old.
    """

    def __init__(self, http: Http, settings: Settings) -> None:
        self._offline = settings.offline
        self._pubmed = pubmed.PubMed(settings, http)
        self._crossref = crossref.Crossref(settings, http)
        self._europepmc = europepmc.EuropePmc(settings, http)

    async def ask_pubmed(self, pmids: Sequence[str]) -> PubMedSaid:
        """Return what PubMed says of works, for `check_many`: a step of its own, where NCBI's rate is held.

        Raises SourceError.
        """
        if self._offline:
            return PubMedSaid()
        notices: dict[str, tuple[StandingNotice, ...]] = {}
        for start in range(0, len(pmids), ncbi.MAX_IDS):
            batch = list(pmids[start : start + ncbi.MAX_IDS])
            reader = XmlReader(dict[str, tuple[StandingNotice, ...]], read_notices, (batch,))
            with no_older_than(STANDING_SECONDS):
                answer = await self._pubmed.efetch(batch, "abstract", reader)
            notices |= answer
        return PubMedSaid(asked=tuple(pmids), notices=notices)

    async def check_many(
        self, refs: Sequence[EvidenceRef], *, pubmed: PubMedSaid | None = None, library: bool = False
    ) -> dict[str, StandingVerdict]:
        """Return a verdict for every reference, by evidence id; failures are part of it and never raised.

        `pubmed`: what PubMed said of the works. `library`: ask about works of the user's own library
        too.
        """
        verdicts = {ref.evidence_id: StandingVerdict(standing=ref.standing) for ref in refs}
        refs_to_ask = [] if self._offline else [ref for ref in refs if library or ref.source != "library"]
        reply = pubmed or PubMedSaid()
        answers = {
            "pubmed": {
                ref.evidence_id: Answer(reply.notices.get(pmid), reply.failure)
                for ref in refs_to_ask
                if (pmid := ref.identifiers.pmid) and pmid in reply.asked
            }
        }
        with no_older_than(STANDING_SECONDS):
            answers["crossref"], answers["europepmc"] = await asyncio.gather(
                self._ask_crossref(refs_to_ask), self._ask_europepmc(refs_to_ask)
            )
        for ref in refs_to_ask:
            notices = {
                name: by_id[ref.evidence_id] for name, by_id in answers.items() if ref.evidence_id in by_id
            }
            verdicts[ref.evidence_id] = verdict_of(ref, notices)
        return verdicts

    async def _ask_crossref(self, refs: Sequence[EvidenceRef]) -> dict[str, Answer]:
        """Answers by evidence id, each DOI asked once."""
        by_doi: defaultdict[str, list[EvidenceRef]] = defaultdict(list)
        for ref in refs:
            if ref.identifiers.doi:
                by_doi[ref.identifiers.doi].append(ref)
        answers: dict[str, Answer] = {}
        failures = 0
        for doi, refs_of_doi in by_doi.items():
            answer = Answer(failure=f"crossref was not asked again after {failures} failures")
            if failures < GIVE_UP_AFTER:
                try:
                    answer = Answer(await self._crossref.notices(doi))
                except SourceError as error:
                    failures = GIVE_UP_AFTER if isinstance(error, RateLimited) else failures + 1
                    answer = Answer(failure=str(error))
            answers |= {ref.evidence_id: answer for ref in refs_of_doi}
        return answers

    async def _ask_europepmc(self, refs: Sequence[EvidenceRef]) -> dict[str, Answer]:
        """Answers by evidence id; a work that has several records there has the notices of all."""
        refs = [ref for ref in refs if any(getattr(ref.identifiers, name) for name in NAMES)]
        answers: dict[str, Answer] = {}
        for start in range(0, len(refs), EUROPEPMC_BATCH):
            batch = refs[start : start + EUROPEPMC_BATCH]
            try:
                records = await self._europepmc_records(batch)
            except SourceError as error:
                answers |= {ref.evidence_id: Answer(failure=str(error)) for ref in batch}
                continue
            for ref in batch:
                notices = [
                    notices_in(record)
                    for record in records
                    if shares(ref.identifiers, record.identifiers, NAMES)
                ]
                answers[ref.evidence_id] = Answer(tuple(chain.from_iterable(notices)) if notices else None)
        return answers

    async def _europepmc_records(self, refs: Sequence[EvidenceRef]) -> list[Evidence]:
        query = " OR ".join(_europepmc_clause(ref.identifiers) for ref in refs)
        works = await self._europepmc.works(query, 4 * EUROPEPMC_BATCH)
        return list(_read_all("europepmc", works.items, europepmc.read_result))


def verdict_of(ref: EvidenceRef, answers: Mapping[str, Answer]) -> StandingVerdict:
    """Return the verdict on a work by the answers of the authorities; see the module for the rule."""
    by_authority = {name: answer.notices for name, answer in answers.items() if answer.notices is not None}
    notices = merge(notice for authority_notices in by_authority.values() for notice in authority_notices)
    kind, kinds = _OWN.get(ref.standing), {notice.kind for notice in notices}
    if kind and kind not in kinds and not (kind == "retraction" and kinds & RETRACTING_KINDS):
        notices.append(StandingNotice(kind=kind, reported_by=f"{ref.source} (when found)"))
    return StandingVerdict(
        standing=standing_of(notices, otherwise="none" if by_authority else "unknown"),
        notices=tuple(notices),
        asked=tuple(answers),
        reported={name: standing_of(authority_notices) for name, authority_notices in by_authority.items()},
        failures=tuple(answer.failure for answer in answers.values() if answer.failure),
    )


def merge(notices: Iterable[StandingNotice]) -> list[StandingNotice]:
    """Return one notice for those of the same kind that share a DOI or PMID.

    It names every authority that reports it. A notice with neither stands alone, unless the same
    authority gave the same one twice.
    """
    unique_notices: list[StandingNotice] = []
    for notice in notices:
        for place, other in enumerate(unique_notices):
            if notice.kind == other.kind and (notice == other or shares(notice, other, ("doi", "pmid"))):
                unique_notices[place] = StandingNotice(
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
            unique_notices.append(notice)
    return sorted(unique_notices, key=lambda n: (n.date is None, n.date or ""))


def notices_in(record: Evidence) -> tuple[StandingNotice, ...]:
    """Return a record's notices; where it only calls itself retracted, that is one, undated."""
    if record.standing == "retracted" and not any(n.kind in RETRACTING_KINDS for n in record.notices):
        return (*record.notices, StandingNotice(kind="retraction", reported_by=record.source))
    return record.notices


def shares(first: object, second: object, names: Iterable[str]) -> bool:
    """Tell whether two works, or two notices, share one of these identifiers."""
    return any((value := getattr(first, name)) and value == getattr(second, name) for name in names)


def _europepmc_clause(identifiers: Identifiers) -> str:
    """Return the query for one work by its best name."""
    if identifiers.pmid:
        return f"(EXT_ID:{identifiers.pmid} AND SRC:MED)"
    if identifiers.pmcid:
        return f"PMCID:{identifiers.pmcid}"
    doi = (identifiers.doi or "").replace("\\", "").replace('"', "")
    return f'DOI:"{doi}"'


def read_notices(response: httpx.Response, pmids: Sequence[str]) -> dict[str, tuple[StandingNotice, ...]]:
    """Return the notices in PubMed's records, by PMID, of the works that were asked for."""
    tree = ncbi.read_tree(response, "pubmed", "PubmedArticleSet")
    elements = (element for element in tree if element.tag in pubmed.RECORDS)
    records = _read_all("pubmed", elements, pubmed.read_record)
    return {
        pmid: notices_in(record) for record in records if (pmid := record.identifiers.pmid) and pmid in pmids
    }


def _read_all(source: str, items: Iterable[Item], reader: Callable[[Item], Evidence]) -> Iterator[Evidence]:
    """Return the records of an answer that can be read, with a text or without."""
    for item in items:
        try:
            yield reader(item)
        except (SourceError, ValueError, KeyError, TypeError, AttributeError) as error:
            log.warning("standing_record_unreadable", authority=source, error=repr(error)[:200])
