from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.errors import StoreError, Unavailable
from activities.contracts.evidence import EvidenceRef, StandingNotice, Statement
from activities.contracts.publish import PublishInput, PubMedSaid
from activities.contracts.write import DraftClaim
from activities.evidence_store import EvidenceStore
from activities.payloads import PAYLOAD_LIMIT
from activities.publish_activity import PublishActivities, cited_refs
from activities.report.archive import report_name
from activities.report.schema import Published, Report
from activities.sources.standing_lookup import StandingVerdict
from tests.activities.cases import FULL, INCREASED, REDUCED, REGISTRY, TRIAL, planned, publish_input, quoting


class Standings:
    """Gives scripted answers and records the requests."""

    def __init__(self, answers: Mapping[str, StandingVerdict] | Exception) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def check_many(
        self, refs: Sequence[EvidenceRef], *, pubmed: PubMedSaid | None = None, library: bool = False
    ) -> Mapping[str, StandingVerdict]:
        self.asked += [ref.evidence_id for ref in refs]
        if isinstance(self._answers, Exception):
            raise self._answers
        return self._answers


async def stored(store: EvidenceStore, step: PublishInput = FULL, **known: object) -> PublishInput:
    """The step with references to the trial, the registry and an item that is not cited, of which the run
    knows what is `known`."""
    uncited = TRIAL.model_copy(update={"evidence_id": "pmid:77"})
    refs = [(await store.put(item)).replace(**known) for item in (uncited, TRIAL, REGISTRY)]
    return step.model_copy(update={"evidence": tuple(refs)})


async def published(
    store: EvidenceStore, answers: Mapping[str, StandingVerdict] | Exception, **known: object
) -> Published:
    """What is published where the authorities answer so."""
    return await PublishActivities(store, Standings(answers)).publish(await stored(store, FULL, **known))


async def read(store: EvidenceStore, done: Published) -> Report:
    return Report.model_validate_json(await store.get_bytes(done.blob))


async def report_of(
    store: EvidenceStore, answers: Mapping[str, StandingVerdict] | Exception, **known: object
) -> Report:
    return await read(store, await published(store, answers, **known))


def environment(step: PublishInput) -> ActivityEnvironment:
    """That of the step's own run."""
    made = ActivityEnvironment()
    made.info = replace(made.info, workflow_id=step.run_id)
    return made


async def test_no_workflow_publishes_under_the_id_of_another_run(store: EvidenceStore) -> None:
    await environment(FULL).run(PublishActivities(store).publish_report, await stored(store))
    before = await store.get_named(report_name(FULL.run_id, "json"))
    for other in ("stranger", f"{FULL.run_id}/s1", None):
        made = ActivityEnvironment()
        made.info = replace(made.info, workflow_id=other)
        with pytest.raises(ApplicationError) as caught:
            await made.run(PublishActivities(store).publish_report, publish_input(title="Forged"))
        assert (caught.value.type, caught.value.non_retryable) == ("NotPermitted", True)
    assert await store.get_named(report_name(FULL.run_id, "json")) == before


async def test_the_report_is_stored_under_its_digest_and_its_name(store: EvidenceStore) -> None:
    step = await stored(store)
    done = await environment(step).run(PublishActivities(store, None).publish_report, step)
    assert done.answered
    assert done.verified_claims == 2
    whole = await store.get_bytes(done.blob)
    report = Report.model_validate_json(whole)
    assert (done.title, done.summary) == (report.title, report.executive_summary)
    assert await store.get_named(report_name(step.run_id, "json")) == whole
    text = await store.get_bytes(done.markdown_blob)
    assert await store.get_named("reports/ask-metformin-1/report.md") == text
    assert REDUCED.encode() in text


async def test_only_what_is_cited_is_read_and_looked_up(store: EvidenceStore) -> None:
    step = await stored(store)
    standings = Standings({})
    await PublishActivities(store, standings).publish(step)
    assert sorted(standings.asked) == ["pmid:1", "pmid:2"]
    assert [ref.evidence_id for ref in cited_refs(step)] == ["pmid:1", "pmid:2"]


async def test_a_retraction_since_or_before_counts_until_a_reinstatement(store: EvidenceStore) -> None:
    report = await report_of(store, {"pmid:1": StandingVerdict(standing="retracted")})
    assert [r.evidence_id for r in report.references] == ["pmid:2"]
    assert CANDIDATES.of_report(report) == ()
    assert TRIAL.title in {s.text("title") for s in report.statements if s.code == "retracted_left_out"}
    sound = StandingVerdict(standing="none")
    assert not (await published(store, {"pmid:1": sound}, standing="retracted")).answered
    lifted = sound.replace(notices=(StandingNotice(kind="reinstatement"),))
    report = await report_of(store, {"pmid:1": lifted}, standing="retracted")
    assert [r.evidence_id for r in report.references] == ["pmid:1"]


async def test_a_standing_that_nobody_could_look_up_is_stated_and_delays_nothing(
    store: EvidenceStore,
) -> None:
    done = await published(store, Unavailable("Crossref is down"))
    assert done.answered
    assert "standing_not_looked_up" in {s.code for s in (await read(store, done)).statements}
    silent = StandingVerdict(standing="none", failures=("Crossref is down",))
    concern = StandingVerdict(standing="concern")
    report = await report_of(store, {"pmid:1": silent, "pmid:2": concern})
    assert Statement(code="authority_silent", values={"works": 1, "of": 2}) in report.statements


async def test_an_item_that_cannot_be_read_is_tried_again_and_then_left_out(store: EvidenceStore) -> None:
    step = await stored(store)
    gone = tuple(
        r.model_copy(update={"blob": "blobs/00/0000.json"}) if r.evidence_id == "pmid:1" else r
        for r in step.evidence
    )
    step = step.model_copy(update={"evidence": gone})
    with pytest.raises(StoreError):
        await PublishActivities(store).publish(step, patient=True)
    with pytest.raises(ApplicationError) as raised:
        await environment(step).run(PublishActivities(store).publish_report, step)
    assert not raised.value.non_retryable
    done = await PublishActivities(store).publish(step, patient=False)
    report = await read(store, done)
    assert [r.evidence_id for r in report.references] == ["pmid:2"]
    unread = Statement(code="item_unreadable", values={"evidence_ids": ("pmid:1",)})
    assert unread in report.statements


WARDS = ("early", "late", "warm", "cold", "small", "large", "quiet", "busy", "rural", "urban")


async def test_what_travels_stays_under_the_limit_and_the_blob_stays_whole(store: EvidenceStore) -> None:
    def claim(section: int, n: int) -> DraftClaim:
        ward = " ".join(WARDS[int(digit)] for digit in f"{section}{n}")
        return quoting(f"Mortality rose in the {ward} wards of a registry.", ("pmid:2", INCREASED))

    sections = [planned(f"s{s}", *(claim(s, n) for n in range(100))) for s in range(10)]
    step = await stored(store, publish_input(*sections, limitations=("x" * 5000,) * 3))
    done = await PublishActivities(store).publish(step)
    assert len(done.model_dump_json().encode()) < 16_000 < PAYLOAD_LIMIT
    whole = await store.get_bytes(done.blob)
    assert len(whole) > PAYLOAD_LIMIT
    assert Report.model_validate_json(whole).verification.verified == done.verified_claims == 1_000


def test_a_run_id_cannot_leave_the_folder_of_reports() -> None:
    assert report_name("../../etc/passwd", "md").count("/") == 2
    assert ".." not in report_name("../../etc/passwd", "md")
    assert report_name("ask-x-1/s1", "json") == "reports/ask-x-1--s1/report.json"
