"""PubMed is asked once about all that a report cites, where its rate is held, before it is published."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from temporalio import activity
from temporalio.worker import Worker

from activities.contracts.errors import Refused, Unavailable, to_application_error
from activities.contracts.evidence import Evidence, Identifiers, StandingNotice
from activities.contracts.publish import PubMedCheck, PubMedSaid
from activities.contracts.search import SearchTask
from activities.publish_activity import CHECK_PUBMED
from tests.registered import registered_names
from tests.workflows.conftest import Stage, a_request
from tests.workflows.script import document, option

NCBI = "stage-ncbi"
RETRACTION = StandingNotice(kind="retraction", reported_by="pubmed")


class Authority:
    """What polls NCBI's queue."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.fails = fails
        self.asked: list[PubMedCheck] = []

    @activity.defn(name=CHECK_PUBMED)
    async def check(self, step: PubMedCheck) -> PubMedSaid:
        self.asked.append(step)
        if self.fails:
            raise self.fails
        return PubMedSaid(asked=step.pmids, notices={step.pmids[0]: (RETRACTION,)})


def numbered(task: SearchTask) -> Sequence[Evidence]:
    """Two documents with PMIDs of their own for each search."""
    number = sum(map(ord, task.source + task.query.text))
    return [
        document(task.source, task.query.text, n).model_copy(
            update={"evidence_id": f"pmid:{number}{n}", "identifiers": Identifiers(pmid=f"{number}{n}")}
        )
        for n in (1, 2)
    ]


def own_documents(task: SearchTask) -> Sequence[Evidence]:
    """The same from the user's own library, in a run that searches other sources."""
    return [item.model_copy(update={"source": "library"}) for item in numbered(task)]


@pytest.mark.parametrize("alone", [True, False])
async def test_own_documents_are_asked_about_only_where_other_sources_are_searched(
    stage: Stage, *, alone: bool
) -> None:
    stage.script.pubmed_queue, stage.script.search, authority = NCBI, own_documents, Authority()
    if alone:
        stage.script.sources = [option("library", queue=NCBI)]
    searches = [stage.fakes._search("library")] if alone else []
    async with Worker(stage.client, task_queue=NCBI, activities=[authority.check, *searches]):
        await stage.play(a_request(sources=("library",) if alone else ("alpha", "beta")))
    (published,) = stage.fakes.published
    assert published.evidence
    assert bool(authority.asked) is not alone
    assert (published.pubmed is None) is alone


async def test_pubmed_is_asked_once_about_everything_cited(stage: Stage) -> None:
    stage.script.pubmed_queue, stage.script.search, authority = NCBI, numbered, Authority()
    async with Worker(stage.client, task_queue=NCBI, activities=[authority.check]):
        outcome, _, _ = await stage.play(a_request("deep", limits={"max_tokens": None}))
    assert outcome.verified_claims > 0
    (check,), (published,) = authority.asked, stage.fakes.published
    drafts = [planned.draft for planned in published.sections]
    claims = [c for d in drafts for c in (*d.answer, *(c for p in d.paragraphs for c in p.claims))]
    cited = {support.evidence_id for claim in claims for support in claim.support}
    assert set(check.pmids) == {r.identifiers.pmid for r in published.evidence if r.evidence_id in cited}
    assert published.pubmed == PubMedSaid(asked=check.pmids, notices={check.pmids[0]: (RETRACTION,)})


@pytest.mark.parametrize(("error", "attempts"), [(Unavailable("NCBI is down"), 4), (Refused("no"), 1)])
async def test_a_report_is_published_while_pubmed_is_down(
    stage: Stage, error: Unavailable | Refused, attempts: int
) -> None:
    stage.script.pubmed_queue, stage.script.search = NCBI, numbered
    authority = Authority(to_application_error(error))
    async with Worker(stage.client, task_queue=NCBI, activities=[authority.check]):
        outcome, _, _ = await stage.play(a_request())
    assert outcome.verified_claims > 0
    assert len(authority.asked) == attempts
    (published,) = stage.fakes.published
    assert published.pubmed == PubMedSaid(asked=authority.asked[0].pmids, failure=str(error))


async def test_every_source_is_searched_on_its_queue(
    stage: Stage, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each that a worker registers, in the second iteration, which the selector's script gives all of
    them."""
    queues, _ = await registered_names(home, monkeypatch)
    every = (name.partition("search_") for queue in queues.values() for name in queue)
    names = sorted(source for before, searches, source in every if searches and not before)
    stage.script.sources = [option(name, queue=NCBI) for name in names]
    stage.script.sufficient_at, stage.script.pubmed_queue, stage.script.search = 2, NCBI, numbered
    limits = {"max_gaps": 10, "searches_per_gap": 10}
    activities = [Authority().check, *map(stage.fakes._search, names)]
    async with Worker(stage.client, task_queue=NCBI, activities=activities):
        await stage.play(a_request(sources=tuple(names), limits=limits))
    assert {task.source for task in stage.fakes.searches} == set(names)


@pytest.mark.chaos  # two minutes: time is not skipped while an activity is under way
async def test_a_report_does_not_wait_for_a_queue_without_a_worker(stage: Stage) -> None:
    stage.script.pubmed_queue, stage.script.search = NCBI, numbered
    outcome, _, _ = await stage.play(a_request())
    assert outcome.verified_claims > 0
    (published,) = stage.fakes.published
    assert published.pubmed is not None
    assert published.pubmed.failure


async def test_no_request_is_sent_when_pubmed_is_not_enabled_or_nothing_has_a_pmid(stage: Stage) -> None:
    stage.script.search = numbered
    await stage.play(a_request())
    stage.script.pubmed_queue, stage.script.search = NCBI, None
    await stage.play(a_request())
    assert [p.pubmed for p in stage.fakes.published] == [None, None]
