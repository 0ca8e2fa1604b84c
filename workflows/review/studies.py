"""The studies of a review: full texts fetched and provided, screened again, extracted, their bias assessed.

Invariants:

* nothing is excluded by default: what nobody has is not retrieved, what a model does not read stays open;
* a stage does what is missing, so that after an amendment or an overruled decision only that is read again.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.contracts.evidence import EvidenceRef
from activities.full_text_activity import FullTextActivities, ReadInFull, Way
from activities.plural import counted
from activities.review.decisions import OPEN
from activities.review.protocol import Screener
from activities.review.steps import ToolUse
from activities.review.studies import is_assessed
from activities.review.study_steps import (
    ReadStudyStep,
    RecordsStep,
    SettleStep,
    StudyRead,
    StudyStage,
    TellStep,
)
from activities.study_activity import StudyActivities
from workflows.review.pace import Pace
from workflows.review.types import study_key
from workflows.steps import policy
from workflows.steps.failures import reason_of, retry_on_worker_loss

A_FETCH = 20
"""Works whose full texts one step fetches."""
FETCH_SECONDS = 900.0
NO_BUDGET = "the budget of {} is used up"


def brief(ref: EvidenceRef) -> EvidenceRef:
    """A reference without what finds and merges a record: a review holds one for each full text."""
    return ref.replace(sections=(), queries=(), fingerprint="", figures="", first_author="")


class Studies:
    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._places = asyncio.Semaphore(pace.request.calls_at_once)

    async def read(self) -> None:
        """Go through the stages that the protocol asks for; one that was ended reports what there is."""
        for stage in (self._fetch, self._wait_for_texts, self._screen, self._extract, self._assess):
            if not self.pace.state.closed:
                await stage()

    def included(self) -> list[int]:
        """Return records that are in the review after their full texts."""
        state = self.pace.state
        return [n for n in self._texts() if state.full_texts.state(n) == "included"]

    def _sought(self) -> list[int]:
        states = self.pace.state.titles.states()
        return [number for number, state in enumerate(states) if state == "included"]

    def _texts(self) -> list[int]:
        return [number for number in self._sought() if self.pace.state.got.get(number) == "got"]

    # full texts

    async def _fetch(self) -> None:
        """Fetch what may be fetched, once for each record."""
        state = self.pace.state
        left = [n for n in self._sought() if not state.got.get(n) and n not in state.studies.tried]
        while left:
            batch, left = left[:A_FETCH], left[A_FETCH:]
            await self.pace.boundary()
            self.pace.show("full texts", f"looks for {counted(len(batch), 'full text')}")
            looked_up = await workflow.execute_activity_method(
                StudyActivities.look_up_records,
                RecordsStep(run_id=self.pace.id, records=state.records, numbers=tuple(batch)),
                **policy.internal_step(f"{len(batch)} records"),
            )
            refs = dict(zip(batch, looked_up.refs, strict=True))
            self._keep_texts({n: ref for n, ref in refs.items() if ref.full_text})
            wanted = [ref for ref in refs.values() if not ref.full_text]
            if wanted and (ways := self._ways()):
                texts = await self._read_in_full(wanted, ways)
                self._keep_texts({n: texts[r.evidence_id] for n, r in refs.items() if r.evidence_id in texts})
            state.studies.tried += batch

    async def _read_in_full(
        self, refs: Sequence[EvidenceRef], ways: tuple[Way, ...]
    ) -> dict[str, EvidenceRef]:
        try:
            done = await workflow.execute_activity_method(
                FullTextActivities.read_in_full,
                ReadInFull(run_id=self.pace.id, evidence=tuple(refs), ways=ways),
                **policy.look_up(FETCH_SECONDS, f"full texts of {len(refs)} works"),
            )
        except ActivityError:
            return {}  # they are asked of a person
        return {ref.evidence_id: ref for ref in done.evidence}

    def _keep_texts(self, texts: dict[int, EvidenceRef]) -> None:
        for number, ref in texts.items():
            self.pace.state.got[number] = "got"
            self.pace.state.provided[number] = brief(ref)
            self.pace.state.changes += 1

    def _ways(self) -> tuple[Way, ...]:
        """How full texts may be had: a review that searches no source of others asks nobody."""
        if all(one.source == "library" for one in self.pace.state.protocol.sources):
            return ()
        ways: tuple[Way, ...] = ("europepmc", "open_address")
        return (*ways, "unpaywall") if self.pace.state.unpaywall else ways

    async def _wait_for_texts(self) -> None:
        state = self.pace.state

        def missing() -> int:
            return sum(not state.got.get(number) for number in self._sought())

        if missing():
            await self.pace.wait_at(
                "full_texts",
                f"{counted(missing(), 'full text')} missing: {self.pace.command('provide', 'FOLDER')}; "
                f"{self.pace.command('approve')} counts what is missing as not retrieved",
                lambda: not missing() or state.closed,
            )

    # second screening

    async def _screen(self) -> None:
        """Have both screeners decide on each full text, and a person where they differ."""
        state = self.pace.state

        def settled() -> bool:
            return all(state.full_texts.state(n) in ("included", "excluded") for n in self._texts())

        def steps() -> Iterator[ReadStudyStep]:
            for place, reader in self._models():
                marks = state.full_texts.of_screener(place)
                for number in self._texts():
                    if marks[number] == OPEN and state.full_texts.words[number] == OPEN:
                        yield self._step("full_texts", number, reader)

        def take_in(step: ReadStudyStep, done: StudyRead) -> None:
            place = [one.name for one in state.protocol.screeners].index(step.reader)
            state.full_texts = state.full_texts.with_screener(place, {step.record: done.letter})
            state.loose.append(done.key)

        await self._read_all("full_texts", steps, take_in)
        await self.pace.keep()
        if not settled():
            await self.pace.wait_at(
                "decisions",
                f"people decide on full texts: {self.pace.command('conflicts', '--full-texts')} shows them",
                lambda: settled() or state.closed,
            )

    # extraction

    async def _extract(self) -> None:
        """Have two extractors fill the fields of each study, and a person decide where they differ."""
        state = self.pace.state
        if not (state.protocol.extraction or state.protocol.outcomes) or not self.included():
            return
        extracted = state.studies.extracted

        def steps() -> Iterator[ReadStudyStep]:
            for place, reader in self._models():
                for number in self.included():
                    if not extracted.get(number, ("", ""))[place]:
                        yield self._step("extraction", number, reader)

        def take_in(step: ReadStudyStep, done: StudyRead) -> None:
            self.keep_extraction(step.record, step.reader, done.key)

        await self._read_all("extraction", steps, take_in)
        while True:
            await self._settle()
            waits = self._extraction_waits()
            if not waits or state.closed:
                return
            await self.pace.wait_at("extraction", waits, lambda: state.studies.unsettled or state.closed)

    def keep_extraction(self, record: int, reader: str, key: str) -> None:
        """Keep what one extractor read of a study."""
        state = self.pace.state
        place = [one.name for one in state.protocol.screeners].index(reader)
        keys = [*state.studies.extracted.get(record, ("", ""))]
        keys[place] = key
        state.studies.extracted[record] = tuple(keys)
        state.studies.unsettled = True

    def _extraction_waits(self) -> str:
        studies = self.pace.state.studies
        included = self.included()
        unread = [n for n in included if not all(studies.extracted.get(n, ("",)))]
        if unread:
            return (
                f"people extract the data of {counted(len(unread), 'study', 'studies')}: "
                f"{self.pace.command('extract', 'RECORD FIELD=VALUE --by NAME')}"
            )
        differ = sum(len(studies.pending.get(number, ())) for number in included)
        return (
            f"extractors differ on {counted(differ, 'field')}: {self.pace.command('differences')} shows them"
            if differ
            else ""
        )

    async def _settle(self) -> None:
        """Compare the extractions, and apply what people decided meanwhile."""
        state, studies = self.pace.state, self.pace.state.studies
        while studies.unsettled:
            await self.pace.boundary()
            studies.unsettled = False
            added = tuple(studies.decided)
            done = await workflow.execute_activity_method(
                StudyActivities.settle_fields,
                SettleStep(
                    run_id=self.pace.id,
                    protocol=state.protocol_key,
                    extracted=studies.extracted,
                    decisions=studies.decisions,
                    added=added,
                ),
                **policy.internal_step("compare the extractions"),
            )
            del studies.decided[: len(added)]
            studies.decisions, studies.pending = done.decisions, {**done.pending}
            state.changes += 1

    # risk of bias

    async def _assess(self) -> None:
        """Have a model propose the answers on each result of a trial, and wait for a person's."""
        state, studies = self.pace.state, self.pace.state.studies
        if state.protocol.bias != "rob2":
            return
        outcomes = [one.label for one in state.protocol.outcomes] or [""]

        def keys() -> Iterator[tuple[str, int, str]]:
            for number in self.included():
                for outcome in outcomes:
                    yield study_key(number, outcome), number, outcome

        for key, number, _ in keys():
            if key not in studies.assessed and not is_assessed(state.provided[number].evidence_type):
                studies.assessed[key] = "-"

        def steps() -> Iterator[ReadStudyStep]:
            readers = self._models()[:1]
            for _, reader in readers:
                for key, number, outcome in keys():
                    if key not in studies.proposed and key not in studies.assessed:
                        yield self._step("bias", number, reader, outcome)

        def take_in(step: ReadStudyStep, done: StudyRead) -> None:
            studies.proposed[study_key(step.record, step.outcome)] = done.key

        await self._read_all("bias", steps, take_in)

        def left() -> int:
            return sum(key not in studies.assessed for key, _, _ in keys())

        if left():
            await self.pace.wait_at(
                "bias",
                f"a person assesses the risk of bias of {counted(left(), 'result')}: "
                f"{self.pace.command('bias')} shows it",
                lambda: not left() or state.closed,
            )

    # what changed

    async def tell(self, notice: str) -> None:
        """Tell that conclusions changed; what cannot be told is shown."""
        try:
            await workflow.execute_activity_method(
                StudyActivities.tell_changes,
                TellStep(run_id=self.pace.id, notice=notice),
                **policy.look_up(FETCH_SECONDS, "what changed"),
            )
        except ActivityError as error:
            self.pace.state.untold = reason_of(error)
            return
        self.pace.state.untold = ""

    def amended(self, keys: Sequence[str]) -> None:
        """Open again what rests on changed fields or outcomes."""
        studies = self.pace.state.studies
        first = {key.partition(".")[0] for key in keys}
        if "screeners" in first:
            studies.extracted = {}
        if first & {"extraction", "outcomes", "screeners"}:
            models = {place for place, _ in self._models()}
            for number, pair in studies.extracted.items():
                kept = ["" if place in models else key for place, key in enumerate(pair)]
                studies.extracted[number] = tuple(kept)
            studies.pending = {}

    # asking models

    def _models(self) -> list[tuple[int, Screener]]:
        screeners = enumerate(self.pace.state.protocol.screeners)
        return [(place, one) for place, one in screeners if one.kind == "model"]

    def _step(self, stage: StudyStage, record: int, reader: Screener, outcome: str = "") -> ReadStudyStep:
        state = self.pace.state
        return ReadStudyStep(
            run_id=self.pace.id,
            stage=stage,
            record=record,
            text=state.provided[record],
            protocol=state.protocol_key,
            version=state.version,
            reader=reader.name,
            outcome=outcome,
            model=state.models[reader.name],
            fallbacks=tuple(state.fallbacks),
            at=self.pace.at(),
        )

    async def _read_all(
        self,
        stage: StudyStage,
        steps: Callable[[], Iterator[ReadStudyStep]],
        take_in: Callable[[ReadStudyStep, StudyRead], None],
    ) -> None:
        """Ask models until nothing is left to ask; one that is down is asked again."""
        state = self.pace.state
        while left := list(steps()):
            await self.pace.boundary()
            if state.closed:
                return
            self.pace.show(stage.replace("_", " "), f"models read {counted(len(left), 'text')}")

            async def one(step: ReadStudyStep) -> str:
                async with self._places:
                    return await self._ask(step, take_in)

            failures = list(filter(None, await asyncio.gather(*map(one, left))))
            if NO_BUDGET.format(stage) in failures:
                await self.pace.wait_at(
                    "budget",
                    f"{NO_BUDGET.format(stage)}: amend `budgets.{stage}`",
                    lambda: bool(state.touched),
                )
            elif failures:
                await self.pace.wait_at(
                    "model",
                    f"a model does not answer ({failures[0]}); it is asked again",
                    lambda: self.pace.woken,
                    self.pace.request.retry_seconds,
                )

    async def _ask(self, step: ReadStudyStep, take_in: Callable[[ReadStudyStep, StudyRead], None]) -> str:
        """One call; why it failed, empty where it did not."""
        state = self.pace.state
        budget: float | None = getattr(state.protocol.budgets, step.stage)
        if budget is not None and state.spent.get(step.stage, 0) >= budget * 1e6:
            return NO_BUDGET.format(step.stage)
        try:
            done = await retry_on_worker_loss(
                lambda: workflow.execute_activity_method(
                    StudyActivities.read_study,
                    step,
                    **policy.model_call(None, f"{step.stage}, {step.reader}: record {step.record}"),
                )
            )
        except ActivityError as error:
            return reason_of(error)
        take_in(step, done)
        name = f"{step.stage}/{step.reader}/{done.model}/{done.prompt}"
        used = state.tools.get(name) or ToolUse(
            stage=step.stage, screener=step.reader, model=done.model, prompt=done.prompt
        )
        state.tools[name] = used.replace(
            calls=used.calls + 1, decisions=used.decisions + 1, usage=used.usage + done.usage
        )
        state.spent[step.stage] = state.spent.get(step.stage, 0) + (done.usage.cost_microusd or 0)
        state.changes += 1
        return ""
