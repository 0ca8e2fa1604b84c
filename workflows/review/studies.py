"""The studies of a review: full texts fetched and provided, screened again, extracted, their bias assessed.

Nothing is excluded by default: what nobody has is not retrieved. A stage does what is missing, so that after
an amendment or an overruled decision only that is read again.
"""

from collections.abc import Iterator, Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.contracts.evidence import EvidenceRef
from activities.full_text_activity import FullTextActivities, ReadInFull, Way
from activities.messages import counted
from activities.review.bias import ASSESSED
from activities.review.state import NOT_A_TRIAL, study_key
from activities.review.steps import ReadDone, ReadStep, RecordsStep, TellStep
from activities.review_activity import ReviewActivities
from workflows.review.pace import Pace
from workflows.review.reading import Reading
from workflows.steps import policy
from workflows.steps.policy import reason_of

A_FETCH = 20
"""Works whose full texts one step fetches."""
FETCH_SECONDS = 900.0


def brief(ref: EvidenceRef) -> EvidenceRef:
    """Drop from a reference what finds and merges a record: a review holds one for each full text."""
    return ref.replace(sections=(), queries=(), fingerprint="", figures="", first_author="")


class Studies:
    def __init__(self, pace: Pace, reading: Reading) -> None:
        self.pace = pace
        self.reading = reading

    async def read(self) -> None:
        """Go through the stages that the protocol asks for; one that was ended reports what there is."""
        for stage in (self._fetch, self._wait_for_texts, self._screen, self._extract, self._assess):
            if not self.pace.state.closed:
                await stage()

    # full texts

    async def _fetch(self) -> None:
        """Fetch what may be fetched, once for each record."""
        state = self.pace.state
        left = [number for number in state.sought() if number not in state.got]
        while left:
            batch, left = left[:A_FETCH], left[A_FETCH:]
            await self.pace.boundary()
            self.pace.show("full texts", f"looks for {counted(len(batch), 'full text')}")
            looked_up = await workflow.execute_activity_method(
                ReviewActivities.look_up_records,
                RecordsStep(run_id=self.pace.id, records=state.records, numbers=tuple(batch)),
                **policy.internal_step(f"{len(batch)} records"),
            )
            refs = dict(zip(batch, looked_up, strict=True))
            wanted = [ref for ref in refs.values() if not ref.full_text]
            texts = await self._read_in_full(wanted)
            for number, ref in refs.items():
                text = ref if ref.full_text else texts.get(ref.evidence_id)
                if not state.got.setdefault(number, "") and text is not None:  # else a person has provided it
                    self.keep_text(number, text)

    async def _read_in_full(self, refs: Sequence[EvidenceRef]) -> dict[str, EvidenceRef]:
        """Fetch full texts by every way there is: a review that searches no source of others asks nobody."""
        if not refs or all(source.source == "library" for source in self.pace.state.protocol.sources):
            return {}
        ways: tuple[Way, ...] = ("europepmc", "open_address")
        ways = (*ways, "unpaywall") if self.pace.state.unpaywall else ways
        try:
            done = await workflow.execute_activity_method(
                FullTextActivities.read_in_full,
                ReadInFull(run_id=self.pace.id, evidence=tuple(refs), ways=ways),
                **policy.look_up(FETCH_SECONDS, f"full texts of {len(refs)} works"),
            )
        except ActivityError:
            return {}  # they are asked of a person
        return {ref.evidence_id: ref for ref in done.evidence}

    def keep_text(self, number: int, ref: EvidenceRef | None) -> None:
        """Keep the full text of a record, or count it as not retrieved."""
        state = self.pace.state
        state.got[number] = "got" if ref else "not_retrieved"
        if ref:
            state.studies.texts[number] = brief(ref)
        state.changes += 1

    def give_up_texts(self) -> None:
        """Count what nobody has provided as not retrieved."""
        for number in self._missing():
            self.keep_text(number, None)

    def _missing(self) -> list[int]:
        return [number for number in self.pace.state.sought() if not self.pace.state.got.get(number)]

    async def _wait_for_texts(self) -> None:
        if missing := len(self._missing()):
            await self.pace.wait_at(
                "full_texts",
                f"{counted(missing, 'full text')} missing; an approval counts them as not retrieved",
                lambda: not self._missing() or self.pace.state.closed,
            )

    # second screening

    async def _screen(self) -> None:
        """Have both screeners decide on each full text, and a person where they differ."""
        await self.reading.decide("full_texts", self.pace.state.retrieved)

    # extraction

    async def _extract(self) -> None:
        """Have two extractors fill the fields of each study, and a person decide where they differ."""
        state, studies = self.pace.state, self.pace.state.studies
        if not state.protocol.extracts or not state.included():
            return

        def steps() -> Iterator[ReadStep]:
            for place, reader in self.reading.models():
                for number in state.included():
                    earlier = studies.extracted.get(number, ("", ""))[place]
                    again = studies.outdated.get(f"{place}/{number}", ())
                    if again or not earlier:
                        text = studies.texts[number]
                        yield self.reading.step(
                            "extraction", reader, (number,), text, fields=again, earlier=earlier
                        )

        await self.reading.read_all(
            "extraction",
            steps,
            lambda step, done: self.keep_extraction(step.numbers[0], step.reader, done.key),
        )
        while True:
            await self._settle()
            waits = self._extraction_waits()
            if not waits or state.closed:
                return
            await self.pace.wait_at("extraction", waits, lambda: studies.unsettled or state.closed)

    def keep_extraction(self, record: int, reader: str, key: str) -> None:
        """Keep what one extractor read of a study."""
        studies, place = self.pace.state.studies, self.reading.place_of(reader)
        keys = [*studies.extracted.get(record, ("", ""))]
        keys[place] = key
        studies.extracted[record] = tuple(keys)
        studies.outdated.pop(f"{place}/{record}", None)
        studies.unsettled = True

    def _extraction_waits(self) -> str:
        studies, included = self.pace.state.studies, self.pace.state.included()
        unread = [n for n in included if not all(studies.extracted.get(n, ("",)))]
        if unread:
            return f"people extract the data of {counted(len(unread), 'study', 'studies')}"
        differ = sum(len(studies.pending.get(number, ())) for number in included)
        return f"extractors differ on {counted(differ, 'field')}" if differ else ""

    async def _settle(self) -> None:
        """Compare the extractions, and apply what people decided meanwhile."""
        state, studies = self.pace.state, self.pace.state.studies
        while studies.unsettled:
            await self.pace.boundary()
            studies.unsettled = False
            applied = len(studies.decided)
            done = await workflow.execute_activity_method(
                ReviewActivities.settle_fields,
                self.pace.whole(),
                **policy.internal_step("compare the extractions"),
            )
            del studies.decided[:applied]
            studies.decisions, studies.pending = done.decisions, {**done.pending}
            studies.silent = done.silent
            state.changes += 1

    def outdate(self) -> None:
        """Have models read amended fields again."""
        studies = self.pace.state.studies
        for place, _ in self.reading.models():
            for number, keys in studies.extracted.items():
                if studies.changed and keys[place]:
                    name = f"{place}/{number}"
                    fields = (*studies.outdated.get(name, ()), *studies.changed)
                    studies.outdated[name] = tuple(dict.fromkeys(fields))
        studies.changed = []
        studies.unsettled = bool(studies.extracted)

    # risk of bias

    async def _assess(self) -> None:
        """Have a model propose the answers on each result of a trial, and wait for a person's."""
        state, studies = self.pace.state, self.pace.state.studies
        if state.protocol.bias != "rob2":
            return
        for number, outcome in state.results():
            if studies.texts[number].evidence_type not in ASSESSED:
                studies.assessed.setdefault(study_key(number, outcome), NOT_A_TRIAL)

        def left() -> list[tuple[int, str]]:
            return [result for result in state.results() if study_key(*result) not in studies.assessed]

        def steps() -> Iterator[ReadStep]:
            for _, reader in [*self.reading.models()][:1]:
                for number, outcome in left():
                    if study_key(number, outcome) not in studies.proposed:
                        text = studies.texts[number]
                        yield self.reading.step("bias", reader, (number,), text, outcome=outcome)

        def take_in(step: ReadStep, done: ReadDone) -> None:
            studies.proposed[study_key(step.numbers[0], step.outcome)] = done.key

        await self.reading.read_all("bias", steps, take_in)
        if results := len(left()):
            await self.pace.wait_at(
                "bias",
                f"a person assesses the risk of bias of {counted(results, 'result')}",
                lambda: not left() or state.closed,
            )

    # what changed

    async def tell(self, notice: str) -> None:
        """Tell that conclusions changed; what cannot be told is shown."""
        self.pace.state.untold = ""
        try:
            await workflow.execute_activity_method(
                ReviewActivities.tell_changes,
                TellStep(run_id=self.pace.id, notice=notice),
                **policy.look_up(FETCH_SECONDS, "what changed"),
            )
        except ActivityError as error:
            self.pace.state.untold = reason_of(error)
