"""The messages of a review: what people send, refused where it cannot be, and what can be asked.

Invariants:

* an update changes everything it says or nothing; a refusal says in a line why;
* a person decides as one of the two screeners where that is their name and they may still decide; on a record
  on which both have decided and differ, any person's decision is the word;
* a decision is in the state before its update is answered.
"""

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from activities.review.decisions import (
    LETTERS,
    OPEN,
    Decision,
    Made,
    Marks,
    ScreenedStage,
    Task,
    conflicts,
)
from activities.review.protocol import ProtocolError, amendment
from workflows.handlers import query, signal
from workflows.review.pace import Pace
from workflows.review.studies import Studies, brief
from workflows.review.types import (
    Accepted,
    Amend,
    Assessed,
    Decide,
    DecideFields,
    Extracted,
    Overrule,
    PartCopy,
    ProvideFullText,
    ReviewProgress,
    ReviewView,
    study_key,
)


def refused(reason: str) -> ApplicationError:
    return ApplicationError(reason, non_retryable=True)


class ReviewMessages:
    """Declares the handlers of a review; they act on the state that the workflow holds."""

    pace: Pace
    studies: Studies

    @signal
    async def approve(self, *args: object) -> None:
        """Approve what waits: the protocol or the report; {"by": "...", "gate": "protocol"|"report"}."""
        told = args[0] if args and isinstance(args[0], dict) else {}
        by, gate = str(told.get("by") or "")[:80] or "somebody", told.get("gate")
        if gate not in (None, "", self.pace.gate):
            return
        if self.pace.gate == "protocol":
            self.pace.state.approved_by = by
        elif self.pace.gate == "report":
            self.pace.state.report_by = by
        elif self.pace.gate == "full_texts":
            self._give_up_full_texts()

    @signal
    async def pause(self, *_: object) -> None:
        """Pause the review at its next step; no input."""
        self.pace.state.paused = True

    @signal
    async def resume(self, *_: object) -> None:
        """Resume a paused review, and ask a model that was down again; no input."""
        self.pace.state.paused = False
        self.pace.woken = True

    @signal
    async def finish_now(self, *_: object) -> None:
        """End screening here and report what there is; no input."""
        self.pace.state.closed = True

    @workflow.update
    async def label(self, message: Decide) -> Accepted:
        """Label records of the random sample, blind."""
        self._record("label", message.stage, message.by, message.decisions)
        if message.by not in self.pace.state.labellers:
            self.pace.state.labellers.append(message.by)
        return self._states(message.stage, message.decisions)

    @label.validator
    def _check_label(self, message: Decide) -> None:
        self._check(message.decisions, message.stage)
        sample = set(self.pace.state.sample)
        for one in message.decisions:
            if one.record not in sample:
                raise refused(f"record {one.record} is not of the sample that is labelled")
            if one.verdict == "unsure":
                raise refused("a label is include or exclude: it is what screeners are measured by")

    @workflow.update
    async def decide(self, message: Decide) -> Accepted:
        """Decide on records, as a screener or on a conflict."""
        for one in message.decisions:
            task: Task = "screener" if self._as_screener(message, one) is not None else "word"
            self._record(task, message.stage, message.by, (one,))
        return self._states(message.stage, message.decisions)

    @decide.validator
    def _check_decide(self, message: Decide) -> None:
        self._check(message.decisions, message.stage)
        for one in message.decisions:
            if self._as_screener(message, one) is not None:
                continue
            state = self.marks(message.stage).state(one.record)
            if message.stage == "titles" and self._waits_for_label(one.record):
                raise refused(f"record {one.record} is of the sample: label it blind first")
            if state == "open":
                screeners = ", ".join(self.pace.state.protocol.people) or "models"
                raise refused(
                    f"record {one.record} is not decided by both screeners yet; its screeners: {screeners}"
                )
            if state != "conflict":
                raise refused(f"record {one.record} is {state} already; overrule it with a reason")
            if one.verdict == "unsure":
                raise refused(f"record {one.record} is in conflict: decide include or exclude")

    @workflow.update
    async def overrule(self, message: Overrule) -> Accepted:
        """Overrule what was decided on a record; only what rests on it is made again."""
        made = Made(
            record=message.record, verdict=message.verdict, criterion=message.criterion, reason=message.reason
        )
        self._record("word", message.stage, message.by, (made,))
        self.pace.state.restate = True
        self.pace.state.again += 1
        return self._states(message.stage, (made,))

    @overrule.validator
    def _check_overrule(self, message: Overrule) -> None:
        self._check_record(message.record)
        self._check_criterion(message.criterion)
        if self.marks(message.stage).state(message.record) not in ("included", "excluded"):
            raise refused(f"record {message.record} is not settled; decide on it instead")

    @workflow.update
    async def amend(self, message: Amend) -> Accepted:
        """Change the protocol: a new version with date, name and reason."""
        state = self.pace.state
        made = amendment(
            state.protocol,
            message.protocol,
            version=state.version + 1,
            at=self.pace.at(),
            by=message.by,
            reason=message.reason,
        )
        state.amendments.append(made)
        state.touched += made.keys
        state.protocol, state.protocol_key = message.protocol, message.protocol_key
        state.version = made.version
        state.files = [*message.files]
        state.changes += 1
        return Accepted(text=f"version {made.version}: {', '.join(made.keys)} changed")

    @amend.validator
    def _check_amend(self, message: Amend) -> None:
        try:
            amendment(
                self.pace.state.protocol,
                message.protocol,
                version=0,
                at="",
                by=message.by,
                reason=message.reason,
            )
        except ProtocolError as error:
            raise refused(str(error)) from error

    @workflow.update
    async def provide_full_text(self, message: ProvideFullText) -> Accepted:
        """Provide the full text of a record, or say that it cannot be retrieved."""
        self.pace.state.got[message.record] = "got" if message.ref else "not_retrieved"
        if message.ref:
            self.pace.state.provided[message.record] = brief(message.ref)
        self.pace.state.changes += 1
        return Accepted(text="the full text is here" if message.ref else "it is counted as not retrieved")

    @provide_full_text.validator
    def _check_full_text(self, message: ProvideFullText) -> None:
        self._check_record(message.record)
        if self.pace.state.titles.state(message.record) != "included":
            raise refused(f"the full text of record {message.record} is not sought")

    @workflow.update
    async def decide_fields(self, message: DecideFields) -> Accepted:
        """Decide on fields of which two extractors differ."""
        self.pace.state.studies.decided += message.decisions
        self.pace.state.studies.unsettled = True
        self.pace.state.changes += 1
        return Accepted(text=f"{len(message.decisions)} taken")

    @workflow.update
    async def extract(self, message: Extracted) -> Accepted:
        """Give what a person extracted of a study, as one of the two extractors."""
        self.studies.keep_extraction(message.record, message.by, message.key)
        self.pace.state.changes += 1
        return Accepted(text=f"the data of record {message.record} are here")

    @extract.validator
    def _check_extract(self, message: Extracted) -> None:
        self._check_study(message.record)
        if message.by not in self.pace.state.protocol.people:
            raise refused(f"{message.by} is no extractor of the protocol: its screeners extract")

    @workflow.update
    async def assess(self, message: Assessed) -> Accepted:
        """Decide on the risk of bias of a result."""
        self.pace.state.studies.assessed[study_key(message.record, message.outcome)] = message.key
        self.pace.state.changes += 1
        return Accepted(text=f"the risk of bias of record {message.record} is decided")

    @assess.validator
    def _check_assess(self, message: Assessed) -> None:
        self._check_study(message.record)
        labels = [one.label for one in self.pace.state.protocol.outcomes] or [""]
        if message.outcome not in labels:
            raise refused(f"{message.outcome!r} is no outcome of the protocol: {', '.join(labels)}")

    def _check_study(self, record: int) -> None:
        self._check_record(record)
        if record not in self.studies.included():
            raise refused(f"record {record} is not included by its full text")

    @workflow.update
    async def part(self, message: PartCopy) -> Accepted:
        """Part a copy that was merged wrongly: it becomes a record of its own."""
        self.pace.to_part.append(message.blob)
        return Accepted(text="the copy becomes a record of its own at the next step")

    @query
    def progress(self) -> ReviewProgress:
        """Where the review stands, and whom it waits for."""
        state = self.pace.state
        states = state.titles.states()
        return ReviewProgress(
            title=state.protocol.title,
            phase=self.pace.phase,
            gate=self.pace.gate,
            text=self.pace.text,
            version=state.version,
            total=state.total,
            settled=states.count("included") + states.count("excluded"),
            included=states.count("included"),
            conflicts=states.count("conflict"),
            labelled=sum(state.titles.labels[number] != OPEN for number in state.sample),
            sample=len(state.sample),
            round=state.round.number if state.round else 0,
            recall=state.round.course.recall if state.round else None,
            estimate=state.estimate,
            counted=state.counted,
            spent_microusd=sum(state.spent.values()),
            calls=sum(one.calls for one in state.tools.values()),
            again=state.again,
            paused=state.paused,
            reports=state.reports,
            next_search=state.next_search,
            flow=state.report.flow if state.report else None,
            validation=state.report.validation if state.report else None,
        )

    @query
    def view(self) -> ReviewView:
        """Return what a client shows records, conflicts and exports from."""
        state = self.pace.state
        return ReviewView(
            protocol=state.protocol,
            protocol_key=state.protocol_key,
            version=state.version,
            amendments=tuple(state.amendments),
            records=state.records,
            titles=state.titles,
            full_texts=state.full_texts,
            got=state.got,
            studies=state.studies,
            provided=state.provided,
            sample=tuple(state.sample),
            labelling=any(state.titles.labels[number] == OPEN for number in state.sample),
            batch=state.round.batch if state.round else (),
            order=state.orders[-1] if state.orders else "",
            log=(*state.log, *state.loose),
            pending=tuple(state.pending),
            searches=tuple(state.searches),
            report=state.report,
        )

    @query
    def open_conflicts(self) -> list[int]:
        """Numbers of the records on which the screeners differ."""
        return conflicts(self.pace.state.titles)

    def marks(self, stage: ScreenedStage) -> Marks:
        return self.pace.state.titles if stage == "titles" else self.pace.state.full_texts

    def _record(self, task: Task, stage: ScreenedStage, by: str, decisions: tuple[Made, ...]) -> None:
        """Take in decisions: into the marks, and to be kept in the log."""
        state, letters = self.pace.state, {one.record: LETTERS[one.verdict] for one in decisions}
        marks = self.marks(stage)
        if task == "screener":
            place = [one.name for one in state.protocol.screeners].index(by)
            marks = marks.with_screener(place, letters)
        elif task == "label":
            marks = marks.with_labels(letters)
        else:
            marks = marks.with_words(letters)
        if stage == "titles":
            state.titles = marks
        else:
            state.full_texts = marks
        at = self.pace.at()
        state.pending += [
            Decision(
                record=one.record,
                stage=stage,
                part=task,
                by=by,
                verdict=one.verdict,
                criterion=one.criterion,
                reason=one.reason,
                at=at,
                protocol=state.version,
            )
            for one in decisions
        ]
        state.changes += 1

    def _states(self, stage: ScreenedStage, decisions: tuple[Made, ...]) -> Accepted:
        marks = self.marks(stage)
        return Accepted(state=tuple(marks.state(one.record) for one in decisions))

    def _as_screener(self, message: Decide, one: Made) -> int | None:
        """Return the place of the screener that a decision is by; None where it is a word on a conflict."""
        names = [row.name for row in self.pace.state.protocol.screeners if row.kind == "person"]
        if message.by not in names:
            return None
        place = [row.name for row in self.pace.state.protocol.screeners].index(message.by)
        marks = self.marks(message.stage)
        own = marks.of_screener(place)[one.record]
        if own == OPEN or not marks.both(one.record):
            return place if marks.words[one.record] == OPEN else None
        return None

    def _waits_for_label(self, record: int) -> bool:
        state = self.pace.state
        return record in state.sample and state.titles.labels[record] == OPEN

    def _check(self, decisions: tuple[Made, ...], stage: ScreenedStage) -> None:
        for one in decisions:
            self._check_record(one.record)
            self._check_criterion(one.criterion)
            if stage == "full_texts" and one.verdict == "exclude" and not one.criterion:
                raise refused("a full text is excluded by a criterion: name its id")

    def _check_record(self, record: int) -> None:
        if record >= self.pace.state.total:
            raise refused(f"there is no record {record}; there are {self.pace.state.total}, from 0 on")

    def _check_criterion(self, criterion: str) -> None:
        if criterion and self.pace.state.protocol.criterion(criterion) is None:
            ids = ", ".join(rule.id for rule in self.pace.state.protocol.criteria)
            raise refused(f"{criterion} is no criterion of the protocol; there are: {ids}")

    def _give_up_full_texts(self) -> None:
        """Count what nobody has provided as not retrieved."""
        for record, state in enumerate(self.pace.state.titles.states()):
            if state == "included" and not self.pace.state.got.get(record):
                self.pace.state.got[record] = "not_retrieved"
        self.pace.state.changes += 1
