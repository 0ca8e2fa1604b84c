"""The standing of included works is looked up before each report, where others may be asked about them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities.contracts.errors import Unavailable
from activities.contracts.evidence import EvidenceRef, Standing
from activities.evidence_store import EvidenceStore
from activities.review.archive import Archive
from activities.review.decisions import Marks
from activities.review.protocol import Protocol, SourceQuery
from activities.review.records import Records
from activities.review.state import ReviewState, StudiesState
from activities.review.steps import StateStep
from activities.review_activity import ReviewActivities
from activities.settings import Settings
from activities.sources.standing_lookup import StandingVerdict
from tests.activities.review.studies import PROTOCOL, TRIAL
from workflows.rules import dedup


class Register:
    """Knows of one retraction, or does not answer."""

    def __init__(self, standing: Standing | None) -> None:
        self.standing = standing

    async def check_many(
        self, refs: Sequence[EvidenceRef], *, pubmed: object = None, library: bool = False
    ) -> Mapping[str, StandingVerdict]:
        assert library, "the records of a file are known to the registers as well"
        if self.standing is None:
            raise Unavailable("the register is away")
        return {ref.evidence_id: StandingVerdict(standing=self.standing) for ref in refs}


@pytest.mark.parametrize(
    ("protocol", "answer", "expected"),
    [
        (PROTOCOL, "retracted", "retracted"),
        (PROTOCOL, "none", "none"),
        (PROTOCOL, None, "unknown"),
        (PROTOCOL.replace(sources=(SourceQuery(source="library", query="x"),)), "retracted", "unknown"),
    ],
    ids=("retracted", "none", "no answer", "nobody may be asked"),
)
async def test_a_study_that_was_retracted_since_it_was_found_is_told(
    tmp_path: Path, protocol: Protocol, answer: Standing | None, expected: Standing
) -> None:
    settings = Settings(home=tmp_path, store_url=str(tmp_path / "store"))
    store = EvidenceStore.at(settings.evidence_url)
    ref, archive, marks = await store.put(TRIAL), Archive(store), Marks(first="i", second="i")
    marks = marks.replace(labels=".", words=".")
    state = ReviewState(
        protocol=protocol,
        protocol_key="",
        records=await archive.put(Records(records=(ref,), by_origin={"a.ris": 1})),
        titles=marks,
        full_texts=marks,
        got={0: "got"},
        studies=StudiesState(texts={0: ref}),
    )
    thinker: Any = None
    steps = ReviewActivities(settings, store, thinker, dedup.merge, Register(answer))
    step = StateStep(run_id="review-1", at="2026-11-28T12:00:00+00:00", state=state)
    await ActivityEnvironment().run(steps.publish_review, step)
    review = await archive.published_review("review-1")
    assert review is not None
    assert review.findings is not None
    assert [study.standing for study in review.findings.studies] == [expected]
