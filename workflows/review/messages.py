"""The messages of a review: what people send, refused where it cannot be, and what can be asked.

Invariants:

* an update changes everything it says or nothing; a refusal says in a line why;
* a person decides as one of the two screeners where that is their name and they may still decide; on a record
  on which both have decided and differ, any person's decision is the word;
* a decision is in the state before its update is answered.
"""

from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from activities.contracts.errors import DecisionError
from activities.review.decisions import LETTERS, OPEN, Decision, Part, State
from activities.review.extraction import CHOSEN, FieldDecision, asked_fields, checked_value
from activities.review.protocol import ProtocolError, Screener, amendment
from activities.review.state import ReviewState, study_key
from workflows.handlers import query, signal
from workflows.review.pace import Pace
from workflows.review.studies import Studies
from workflows.review.types import (
    Amend,
    PartCopy,
    ProvideFullText,
    ReviewProgress,
    StudyData,
)

SHOWN = {"estimate", "counted", "files", "again", "paused", "reports", "next_search"}
"""Fields of the state that its progress has as they are."""


def refused(reason: str) -> ApplicationError:
    return ApplicationError(reason, non_retryable=True)


class ReviewMessages:
    """Declares the handlers of a review; they act on the state that the workflow holds."""

    pace: Pace
    studies: Studies

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
            self.studies.give_up_texts()

    @signal
    async def pause(self, *_: object) -> None:
        """Pause the review at its next step; no input."""
        self.state.paused = True

    @signal
    async def resume(self, *_: object) -> None:
        """Resume a paused review; ask a model that was down, or search, again at once; no input."""
        self.state.paused = False
        self.pace.woken = True

    @signal
    async def finish_now(self, *_: object) -> None:
        """End screening here and report what there is; no input."""
        self.state.closed = True

    @workflow.update
    async def decide(self, decision: Decision) -> State:
        """Decide on a record: as a screener, on a conflict, on the blind sample, or overruling what holds."""
        state, part, letter = self.state, self._part(decision), {decision.record: LETTERS[decision.verdict]}
        marks = state.marks(decision.stage)
        if part == "screener":
            marks = marks.with_screener(self.studies.reading.place_of(decision.by), letter)
        elif part == "label":
            marks = marks.with_labels(letter)
            state.labellers = list(dict.fromkeys((*state.labellers, decision.by)))
        else:
            marks = marks.with_words(letter)
        if decision.part == "word":
            state.restate = True
            state.again += 1
        state.mark(decision.stage, marks)
        made = {"part": part, "at": self.pace.at(), "protocol": state.version}
        state.pending.append(decision.replace(**made, words=(), model="", prompt=""))
        state.changes += 1
        return marks.state(decision.record)

    @decide.validator
    def _check_decide(self, decision: Decision) -> None:
        self._check_record(decision.record)
        if decision.criterion and self.state.protocol.criterion(decision.criterion) is None:
            ids = ", ".join(rule.id for rule in self.state.protocol.criteria)
            raise refused(f"{decision.criterion} is no criterion of the protocol; there are: {ids}")
        if decision.stage == "full_texts" and decision.verdict == "exclude" and not decision.criterion:
            raise refused("a full text is excluded by a criterion: name its id")
        if reason := self._fault(decision):
            raise refused(f"record {decision.record} {reason}")

    def _fault(self, decision: Decision) -> str:
        """Say why a decision cannot be taken; empty where it can."""
        part, record = self._part(decision), decision.record
        state = self.state.marks(decision.stage).state(record)
        if part == "screener":
            return ""
        if part == "label":
            if record not in self.state.sample:
                return "is not of the sample that is labelled"
            unsure = "is labelled include or exclude: it is what screeners are measured by"
            return unsure if decision.verdict == "unsure" else ""
        if decision.verdict == "unsure":
            return "is decided by a word: include or exclude"
        if decision.part == "word":
            if state not in ("included", "excluded"):
                return "is not settled; decide on it instead"
            return "" if decision.reason.strip() else "is overruled with a reason"
        sample = self.state.sample if decision.stage == "titles" else ()
        if record in sample and self.state.titles.labels[record] == OPEN:
            return "is of the sample: label it blind first"
        if state == "open":
            screeners = ", ".join(self.state.protocol.people) or "models"
            return f"is not decided by both screeners yet; its screeners: {screeners}"
        return "" if state == "conflict" else f"is {state} already; overrule it with a reason"

    def _part(self, decision: Decision) -> Part:
        """Tell by what right a person decides: as a screener only where they may still do."""
        if decision.part != "screener" or decision.by not in self.state.protocol.people:
            return decision.part if decision.part != "screener" else "word"
        marks, record = self.state.marks(decision.stage), decision.record
        letters = marks.of_screener(self.studies.reading.place_of(decision.by))
        may = (letters[record] == OPEN or not marks.both(record)) and marks.words[record] == OPEN
        return "screener" if may else "word"

    @workflow.update
    async def amend(self, message: Amend) -> str:
        """Change the protocol: a new version with date, name and reason."""
        state = self.state
        made = amendment(
            state.protocol,
            message.protocol,
            version=state.version + 1,
            at=self.pace.at(),
            by=message.by,
            reason=message.reason,
        )
        self._replace_screeners(state.protocol.screeners, message.protocol.screeners)
        before = {field.id: field for field in asked_fields(state.protocol)}
        after = asked_fields(message.protocol)
        state.studies.changed += [field.id for field in after if before.get(field.id) != field]
        state.protocol, state.protocol_key = message.protocol, message.protocol_key
        state.amendments.append(made)
        state.touched += made.keys
        state.files = [*message.files]
        state.changes += 1
        return f"version {made.version}: {', '.join(made.keys)} changed"

    def _replace_screeners(self, before: Sequence[Screener], after: Sequence[Screener]) -> None:
        """Give each screener their decisions, or a person those of the person whose place they take.

        Another model decides on everything anew.
        """
        state, studies = self.state, self.state.studies
        left = [place for place, one in enumerate(before) if one.kind == "person" and one not in after]

        def place_of(new: int, screener: Screener) -> int | None:
            if screener in before:
                return before.index(screener)
            if screener.kind == "model" or not left:
                return None
            return left.pop(left.index(new) if new in left else 0)

        places = [place_of(new, screener) for new, screener in enumerate(after)]
        if places == [0, 1]:
            return
        state.titles, state.full_texts = state.titles.of_places(places), state.full_texts.of_places(places)
        studies.extracted = {
            record: tuple("" if one is None else keys[one] for one in places)
            for record, keys in studies.extracted.items()
        }
        studies.outdated, state.unanswered = {}, {}

    @amend.validator
    def _check_amend(self, message: Amend) -> None:
        try:
            amendment(self.state.protocol, message.protocol, version=0, at="", by="", reason=message.reason)
        except ProtocolError as error:
            raise refused(str(error)) from error

    @workflow.update
    async def provide_full_text(self, message: ProvideFullText) -> str:
        """Provide the full text of a record, or say that it cannot be retrieved."""
        self.studies.keep_text(message.record, message.ref)
        return "the full text is here" if message.ref else "it is counted as not retrieved"

    @provide_full_text.validator
    def _check_full_text(self, message: ProvideFullText) -> None:
        self._check_record(message.record)
        if self.state.titles.state(message.record) != "included":
            raise refused(f"the full text of record {message.record} is not sought")

    @workflow.update
    async def decide_field(self, message: FieldDecision) -> str:
        """Decide on a field on which two extractors differ, or that both read wrongly."""
        self.state.studies.decided.append(message)
        self.state.studies.unsettled = True
        self.state.changes += 1
        return f"record {message.record}, {message.field}: {message.value}"

    @decide_field.validator
    def _check_field(self, message: FieldDecision) -> None:
        self._check_study(message.record)
        try:
            checked_value(asked_fields(self.state.protocol), message.field, message.value, CHOSEN)
        except DecisionError as error:
            raise refused(str(error)) from error

    @workflow.update
    async def extract(self, message: StudyData) -> str:
        """Give what a person extracted of a study, as one of the two extractors."""
        self.studies.keep_extraction(message.record, message.by, message.key)
        self.state.changes += 1
        return f"the data of record {message.record} are here"

    @extract.validator
    def _check_extract(self, message: StudyData) -> None:
        self._check_study(message.record)
        if message.by not in self.state.protocol.people:
            raise refused(f"{message.by} is no extractor of the protocol: its screeners extract")

    @workflow.update
    async def assess(self, message: StudyData) -> str:
        """Decide on the risk of bias of a result."""
        self.state.studies.assessed[study_key(message.record, message.outcome)] = message.key
        self.state.changes += 1
        return f"the risk of bias of record {message.record} is decided"

    @assess.validator
    def _check_assess(self, message: StudyData) -> None:
        self._check_study(message.record)
        labels = [outcome.label for outcome in self.state.protocol.outcomes] or [""]
        if message.outcome not in labels:
            raise refused(f"{message.outcome!r} is no outcome of the protocol: {', '.join(labels)}")

    @workflow.update
    async def part(self, message: PartCopy) -> str:
        """Part a copy that was merged wrongly: it becomes a record of its own."""
        self.pace.to_part.append(message.blob)
        return "the copy becomes a record of its own at the next step"

    def _check_record(self, record: int) -> None:
        if record >= self.state.total:
            raise refused(f"there is no record {record}; there are {self.state.total}, from 0 on")

    def _check_study(self, record: int) -> None:
        self._check_record(record)
        if record not in self.state.included():
            raise refused(f"record {record} is not included by its full text")

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
            **state.model_dump(include=SHOWN),
            awaited=state.awaited(),
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
