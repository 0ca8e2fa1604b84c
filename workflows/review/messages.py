"""The messages of a review: what people send, refused where it cannot be, and what can be asked.

Invariants:

* an update changes everything it says or nothing; a refusal says in a line why;
* a person decides as one of the two screeners where that is their name and they may still decide; on a record
  on which both have decided and differ, any person's decision is the word;
* a decision is in the state before its update is answered.
"""

from collections.abc import Sequence
from typing import Literal

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from activities.contracts.errors import DecisionError
from activities.review.decisions import (
    LETTERS,
    OPEN,
    SCREENED,
    SETTLED,
    Decision,
    Part,
    ScreenedStage,
    State,
)
from activities.review.extraction import CHOICE_WORDS, asked_fields, checked_value
from activities.review.protocol import ProtocolError, Screener, amendment
from activities.review.state import ReviewState, of_places, study_key
from workflows.handlers import query, signal
from workflows.review.pace import Pace
from workflows.review.reading import Reading
from workflows.review.texts import FullTexts
from workflows.review.types import Amend, PartCopy, ProvideFullText, ReviewProgress

PROGRESS_FIELDS = {"estimate", "counted", "files", "again", "paused", "reports", "next_search"}
"""Fields of the state that its progress has as they are."""


def refusal(reason: str) -> ApplicationError:
    return ApplicationError(reason, non_retryable=True)


class ReviewMessages:
    """Declares the handlers of a review; they act on the state that the workflow holds."""

    pace: Pace
    reading: Reading
    texts: FullTexts

    @property
    def state(self) -> ReviewState:
        return self.pace.state

    @signal
    async def approve(self, *args: object) -> None:
        """Approve what waits: the protocol or the report; {"by": "...", "gate": "protocol"|"report"}."""
        content = args[0] if args and isinstance(args[0], dict) else {}
        by, gate = str(content.get("by") or "")[:80] or "somebody", content.get("gate")
        if gate not in (None, "", self.pace.gate):
            return
        if self.pace.gate == "protocol":
            self.state.approved_by = by
        elif self.pace.gate == "report":
            self.state.report_by = by
        elif self.pace.gate == "full_texts":
            self.texts.give_up()

    @signal
    async def pause(self, *_: object) -> None:
        """Pause the review at its next step; no input."""
        self.state.paused = True

    @signal
    async def resume(self, *_: object) -> None:
        """Resume a paused review; ask a model that was down, or search, again at once; no input."""
        self.state.paused = False
        self.pace.is_woken = True

    @signal
    async def finish_now(self, *_: object) -> None:
        """End screening here and report what there is; no input."""
        self.state.closed = True

    @workflow.update
    async def decide(self, decision: Decision) -> State | Literal["decided"]:
        """Decide on a record: as a screener, on a conflict, on the blind sample, or overruling what holds.

        Also on the data of a study as one of two extractors, on a field, or on the risk of bias of a result.
        """
        state, studies, part = self.state, self.state.studies, self._part(decision)
        outcome: State | Literal["decided"] = "decided"
        if decision.stage == "bias":
            studies.assessed[study_key(decision.record, decision.about)] = decision.value
        elif decision.stage == "extraction" and part == "screener":
            place = self.reading.place_of(decision.by)
            self.reading.keep_data(place, decision.record, decision.value)
        elif decision.stage == "extraction":
            fields = studies.pending.get(decision.record, ())
            studies.pending[decision.record] = tuple(field for field in fields if field != decision.about)
            studies.unsettled = True
        else:
            outcome = self._mark(decision, decision.stage, part)
        words = decision.words if decision.stage == "extraction" else ()
        values = {"part": part, "at": self.pace.timestamp(), "protocol": state.version, "words": words}
        state.pending.append(decision.replace(**values, model="", prompt=""))
        state.changes += 1
        return outcome

    def _mark(self, decision: Decision, stage: ScreenedStage, part: Part) -> State:
        """Write a decision of screening as a letter; return what follows for its record."""
        state, letter = self.state, {decision.record: LETTERS[decision.verdict]}
        place = self.reading.place_of(decision.by) if part == "screener" else 0
        marks = state.marks(stage).put(part, letter, place)
        if part == "label":
            state.labellers = list(dict.fromkeys((*state.labellers, decision.by)))
        is_over = state.course is not None and state.course.phase == "done"
        if decision.part == "word" or (part == "label" and is_over):
            state.restate = self.pace.is_stale = True
            state.again += 1
        state.mark(stage, marks)
        return marks.state(decision.record)

    @decide.validator
    def _check_decide(self, decision: Decision) -> None:
        if fault := self._fault(decision):
            raise refusal(fault)

    def _fault(self, decision: Decision) -> str:
        """Say why a decision cannot be taken; empty where it can."""
        state, protocol, record = self.state, self.state.protocol, decision.record
        if record >= state.total:
            return f"there is no record {record}; there are {state.total}, from 0 on"
        if decision.stage in SCREENED:
            return self._screening_fault(decision, decision.stage)
        if record not in state.included_records():
            return f"record {record} is not included by its full text"
        labels = [outcome.label for outcome in protocol.outcomes] or [""]
        if decision.stage == "bias":
            unknown = f"{decision.about!r} is no outcome of the protocol: {', '.join(labels)}"
            return "" if decision.about in labels else unknown
        if decision.part == "screener":
            fault = f"{decision.by} is no extractor of the protocol: its screeners extract"
            if decision.by not in protocol.people:
                return fault
            return "" if decision.value else "an extractor's decision names the stored values that it gives"
        try:
            checked_value(asked_fields(protocol), decision.about, decision.value, CHOICE_WORDS)
        except DecisionError as error:
            return str(error)
        return ""

    def _screening_fault(self, decision: Decision, stage: ScreenedStage) -> str:
        part, record, protocol = self._part(decision), decision.record, self.state.protocol
        state = self.state.marks(stage).state(record)
        if decision.criterion and protocol.criterion(decision.criterion) is None:
            ids = ", ".join(rule.id for rule in protocol.criteria)
            return f"{decision.criterion} is no criterion of the protocol; there are: {ids}"
        if stage == "full_texts" and decision.verdict == "exclude" and not decision.criterion:
            return "a full text is excluded by a criterion: name its id"
        labels = self.state.titles.labels
        is_blind = stage == "titles" and record in self.state.sample and labels[record] == OPEN
        people = ", ".join(protocol.people) or "models"
        faults = {
            "is included, excluded or unsure": not decision.verdict,
            "is not of the sample that is labelled": part == "label" and record not in self.state.sample,
            "is labelled include or exclude: it is what screeners are measured by": part == "label"
            and decision.verdict == "unsure",
            "is decided by a word: include or exclude": part == "word" and decision.verdict == "unsure",
        }
        if decision.part == "word":
            faults["is not settled; decide on it instead"] = state not in SETTLED
            faults["is overruled with a reason"] = not decision.reason.strip()
        elif part == "word":
            faults["is of the sample: label it blind first"] = is_blind
            faults[f"is not decided by both screeners yet; its screeners: {people}"] = state == "open"
            faults[f"is {state} already; overrule it with a reason"] = state != "conflict"
        fault = next((fault for fault, holds in faults.items() if holds), "")
        return fault and f"record {record} {fault}"

    def _part(self, decision: Decision) -> Part:
        """Tell by what right a person decides: as a screener only where they may still do."""
        if decision.part != "screener" or decision.stage not in SCREENED:
            return decision.part
        if decision.by not in self.state.protocol.people:
            return "word"
        marks, record = self.state.marks(decision.stage), decision.record
        letters = marks.of_screener(self.reading.place_of(decision.by))
        may_screen = (letters[record] == OPEN or not marks.has_both(record)) and marks.words[record] == OPEN
        return "screener" if may_screen else "word"

    @workflow.update
    async def amend(self, message: Amend) -> str:
        """Change the protocol: a new version with date, name and reason."""
        state = self.state
        entry = amendment(
            state.protocol,
            message.protocol,
            version=state.version + 1,
            at=self.pace.timestamp(),
            by=message.by,
            reason=message.reason,
        )
        self._replace_screeners(state.protocol.screeners, message.protocol.screeners)
        before = {field.id: field for field in asked_fields(state.protocol)}
        after = asked_fields(message.protocol)
        changed_fields = (field.id for field in after if before.get(field.id) != field)
        state.studies.since |= dict.fromkeys(changed_fields, entry.version)
        state.studies.unsettled = bool(state.studies.extracted)
        state.protocol, state.protocol_key = message.protocol, message.protocol_key
        state.amendments.append(entry)
        state.touched += entry.keys
        state.files = [*message.files]
        state.changes += 1
        return f"version {entry.version}: {', '.join(entry.keys)} changed"

    def _replace_screeners(self, before: Sequence[Screener], after: Sequence[Screener]) -> None:
        """Give each screener their decisions, or a person those of the person whose place they take.

        Another model decides on everything anew.
        """
        state, studies = self.state, self.state.studies
        free_places = [before.index(row) for row in before if row.kind == "person" and row not in after]

        def place_of(new: int, screener: Screener) -> int | None:
            if screener in before:
                return before.index(screener)
            if screener.kind == "model" or not free_places:
                return None
            return free_places.pop(free_places.index(new) if new in free_places else 0)

        places = [place_of(new, screener) for new, screener in enumerate(after)]
        if places == [0, 1]:
            return
        state.titles, state.full_texts = state.titles.of_places(places), state.full_texts.of_places(places)
        studies.extracted = {record: of_places(data, places) for record, data in studies.extracted.items()}
        state.unanswered = {}

    @amend.validator
    def _check_amend(self, message: Amend) -> None:
        try:
            amendment(self.state.protocol, message.protocol, version=0, at="", by="", reason=message.reason)
        except ProtocolError as error:
            raise refusal(str(error)) from error

    @workflow.update
    async def provide_full_text(self, message: ProvideFullText) -> str:
        """Provide the full text of a record, also in the place of another, or say that nobody has it."""
        self.pace.is_stale |= bool(self.state.got.get(message.record))
        self.texts.keep(message.record, message.ref)
        return "the full text is here" if message.ref else "it is counted as not retrieved"

    @provide_full_text.validator
    def _check_full_text(self, message: ProvideFullText) -> None:
        if message.record not in self.state.sought_records():
            raise refusal(f"the full text of record {message.record} is not sought")

    @workflow.update
    async def part(self, message: PartCopy) -> str:
        """Part a copy that was merged wrongly: it becomes a record of its own, which is screened."""
        self.state.to_part.append(message.blob)
        self.pace.is_stale = True
        return "the copy becomes a record of its own"

    @query
    def progress(self) -> ReviewProgress:
        """Where the review stands, and whom it waits for."""
        state = self.state
        states = state.titles.states()
        return ReviewProgress(
            title=state.protocol.title,
            phase=self.pace.phase,
            gate=self.pace.gate,
            text=self.pace.text,
            until=self.pace.until,
            **state.model_dump(include=PROGRESS_FIELDS),
            awaited=state.task_counts(),
            version=state.version,
            total=state.total,
            settled=states.count("included") + states.count("excluded"),
            included=states.count("included"),
            conflicts=states.count("conflict"),
            labelled=sum(state.titles.labels[number] != OPEN for number in state.sample),
            sample=len(state.sample),
            round=state.course.number if state.course else 0,
            recall=state.course.recall if state.course else None,
            spent_microusd=sum(state.spent.values()),
            calls=sum(tool.calls for tool in state.tools.values()),
            flow=state.report.flow if state.report else None,
            validation=state.report.validation if state.report else None,
        )

    @query
    def view(self) -> ReviewState:
        """Return the whole state, of which a client shows records, conflicts and exports.

        A surface shows nobody another's letter on a record before both have decided.
        """
        return self.state
