"""The full texts of a review: fetched where that may be done, and provided by people.

Nothing is excluded by default: what nobody has is not retrieved.
"""

from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.contracts.evidence import EvidenceRef
from activities.full_text_activity import FullTextActivities, ReadInFull, Way
from activities.messages import count_of
from activities.review.steps import RecordsStep
from activities.review_activity import ReviewActivities
from workflows.review.pace import Pace
from workflows.steps import policy

FETCH_SIZE = 20
"""Works whose full texts one step fetches."""
FETCH_SECONDS = 900.0


def trim(ref: EvidenceRef) -> EvidenceRef:
    """Drop from a reference what finds and merges a record: a review holds one for each full text."""
    return ref.replace(sections=(), queries=(), fingerprint="", figures="", first_author="")


class FullTexts:
    def __init__(self, pace: Pace) -> None:
        self.pace = pace

    async def get(self) -> None:
        """Fetch what may be fetched, and wait until people have provided the others, or given them up."""
        state = self.pace.state
        if not state.closed:
            await self._fetch()
        if not state.closed and state.missing_texts():
            await self.pace.wait_at(
                "full_texts",
                lambda: (
                    f"{count_of(len(state.missing_texts()), 'full text')} missing; an approval counts them "
                    "as not retrieved"
                ),
                lambda: state.closed or not state.missing_texts(),
            )

    async def _fetch(self) -> None:
        state = self.pace.state
        numbers = [number for number in state.sought_records() if number not in state.got]
        while numbers:
            batch, numbers = numbers[:FETCH_SIZE], numbers[FETCH_SIZE:]
            await self.pace.boundary()
            self.pace.show("full texts", f"looks for {count_of(len(batch), 'full text')}")
            records = await workflow.execute_activity_method(
                ReviewActivities.look_up_records,
                RecordsStep(run_id=self.pace.id, records=state.records, numbers=tuple(batch)),
                **policy.internal_step(f"{len(batch)} records"),
            )
            refs = dict(zip(batch, records, strict=True))
            without_text = [ref for ref in refs.values() if not ref.full_text]
            texts = await self._read_in_full(without_text)
            for number, ref in refs.items():
                text = ref if ref.full_text else texts.get(ref.evidence_id)
                if not state.got.setdefault(number, "") and text is not None:  # else a person has provided it
                    self.keep(number, text)

    async def _read_in_full(self, refs: Sequence[EvidenceRef]) -> dict[str, EvidenceRef]:
        """Fetch full texts by every way there is: a review that searches no source of others asks nobody."""
        if not refs or not self.pace.state.protocol.reaches_out:
            return {}
        ways: tuple[Way, ...] = ("europepmc", "open_address")
        ways = (*ways, "unpaywall") if self.pace.state.unpaywall else ways
        try:
            answer = await workflow.execute_activity_method(
                FullTextActivities.read_in_full,
                ReadInFull(run_id=self.pace.id, evidence=tuple(refs), ways=ways),
                **policy.look_up(FETCH_SECONDS, f"full texts of {len(refs)} works"),
            )
        except ActivityError:
            return {}  # they are asked of a person
        return {ref.evidence_id: ref for ref in answer.evidence}

    def keep(self, number: int, ref: EvidenceRef | None) -> None:
        """Keep the full text of a record, or count it as not retrieved."""
        state = self.pace.state
        if state.got.get(number) == "got":
            state.drop_text(number, self.pace.timestamp())
        state.got[number] = "got" if ref else "not_retrieved"
        if ref:
            state.studies.texts[number] = trim(ref)
        state.changes += 1

    def give_up(self) -> None:
        for number in self.pace.state.missing_texts():
            self.keep(number, None)
