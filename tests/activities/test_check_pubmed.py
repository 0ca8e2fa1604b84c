from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.contracts.evidence import StandingNotice, Statement
from activities.contracts.publish import PublishInput, PubMedCheck, PubMedSaid
from activities.evidence_store import EvidenceStore
from activities.publish_activity import PublishActivities, PubMedStanding, pubmed_check
from activities.report.schema import Report
from activities.settings import Settings
from activities.sources.ncbi import QUEUE
from tests.activities.cases import FULL, REGISTRY, TRIAL
from tests.activities.sources.faults import client
from tests.activities.sources.test_standing_lookup import answers, lookup, ref
from tests.replay import ReplayServer, Reply
from worker.resources import open_resources

RETRACTION = StandingNotice(kind="retraction", date="2024-01", reported_by="pubmed")


async def ask(server: ReplayServer, *pmids: str) -> PubMedSaid:
    async with client() as http:
        said = await ActivityEnvironment().run(
            PubMedStanding(lookup(server, http)).check, PubMedCheck(run_id="r", pmids=pmids)
        )
    assert isinstance(said, PubMedSaid)
    return said


async def release(store: EvidenceStore, said: PubMedSaid | None = None) -> PublishInput:
    """FULL with its documents stored, as a workflow hands it over after PubMed was asked."""
    refs = [await store.put(item) for item in (TRIAL, REGISTRY)]
    return FULL.model_copy(update={"evidence": tuple(refs), "pubmed": said})


async def published(server: ReplayServer, store: EvidenceStore, said: PubMedSaid) -> tuple[Report, Report]:
    """The report without what PubMed said, and with it; the other authorities know of no work."""
    answers(server)
    async with client() as http:
        publishing = PublishActivities(store, lookup(server, http))
        before = await publishing.publish(await release(store))
        after = await publishing.publish(await release(store, said))
    assert server.count("/efetch.fcgi") == 0  # never from here
    blobs = [await store.get_bytes(done.blob) for done in (before, after)]
    first, second = map(Report.model_validate_json, blobs)
    return first, second


async def test_an_outage_of_pubmed_is_retried_and_a_refusal_is_not(server: ReplayServer) -> None:
    answers(server, Reply(503, "down"))
    with pytest.raises(ApplicationError) as failed:
        await ask(server, "1")
    assert not failed.value.non_retryable
    assert failed.value.details[0]["status"] == "unavailable"
    answers(server, Reply(400, "no"))
    with pytest.raises(ApplicationError) as failed:
        await ask(server, "1")
    assert failed.value.non_retryable


async def test_what_only_pubmed_knows_to_be_retracted_supports_nothing(
    server: ReplayServer, store: EvidenceStore
) -> None:
    said = PubMedSaid(asked=("1", "2"), notices={"1": (RETRACTION,), "2": ()})
    before, after = await published(server, store, said)
    assert "pmid:1" in [r.evidence_id for r in before.references]
    assert "pmid:1" not in [r.evidence_id for r in after.references]
    codes = {s.code: s.text("evidence_id") for s in after.statements}
    assert codes["retracted_left_out"] == "pmid:1"
    assert "authority_silent" not in codes


async def test_when_pubmed_is_down_the_standing_stays_and_one_line_says_so(
    server: ReplayServer, store: EvidenceStore
) -> None:
    down = PubMedSaid(asked=("1", "2"), failure="pubmed answered 503")
    before, after = await published(server, store, down)
    assert [(r.evidence_id, r.standing) for r in after.references] == [
        (r.evidence_id, r.standing) for r in before.references
    ]
    fresh = [s for s in after.statements if s not in before.statements]
    assert fresh == [Statement(code="authority_silent", values={"works": 2, "of": 2})]


async def test_only_cited_works_with_a_pmid_are_asked_about_and_each_once(store: EvidenceStore) -> None:
    step = await release(store)
    check = pubmed_check(step)
    assert check is not None
    assert check.pmids == ("1", "2")
    own = [r.model_copy(update={"source": "library"}) for r in step.evidence]
    assert pubmed_check(step.model_copy(update={"evidence": tuple(own)})) is None
    assert pubmed_check(step.model_copy(update={"sections": (), "candidates": ()})) is None


async def test_what_pubmed_was_not_asked_about_is_left_to_the_others(server: ReplayServer) -> None:
    own, unnamed, earlier = ref("1", source="library", standing="corrected"), ref(doi="10.1000/a"), ref("2")
    said = PubMedSaid(asked=("1", "2"), notices={"1": (RETRACTION,), "2": ()})
    answers(server)
    async with client() as http:
        verdicts = await lookup(server, http).check_many([own, unnamed, earlier], pubmed=said)
    assert verdicts[own.evidence_id].standing == "corrected"
    assert verdicts[unnamed.evidence_id].standing == "unknown"
    assert verdicts[earlier.evidence_id].standing == "none"
    assert verdicts[earlier.evidence_id].asked == ("pubmed", "europepmc")


async def test_pubmed_is_asked_on_the_queue_of_its_gate_only(home: Path) -> None:
    async with open_resources(Settings()) as resources:
        (check,) = resources.gated[QUEUE]
        assert check == resources.pubmed.check
        assert check not in resources.activities
