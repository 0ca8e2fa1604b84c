"""What a run reports while it runs: events, its phase, and the limitations its report must state."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.contracts.bounds import INT64, within
from activities.contracts.evidence import Statement, StopReason
from activities.contracts.write import SectionDraft
from activities.event_activity import EventActivities, EventBatch
from workflows.attributes import CONFIDENCE, ITERATION, MODE, PHASE, PROFILE, STOP_REASON, TOKENS
from workflows.context import RunPart
from workflows.details import details_of
from workflows.event_types import EVENTS, AgentEvent
from workflows.state import MAX_CARRIED_EVENTS, MAX_EVENTS
from workflows.steps import policy
from workflows.types import Phase, StoredEvents

if TYPE_CHECKING:
    from workflows.run import RunParts

LOOP_PHASES: tuple[Phase, ...] = ("observing", "evaluating_gaps", "selecting_tools", "searching", "judging")
"""Phases that the search attribute shows as `researching`: each update of it is an event of the history."""
PARAGRAPH_CHARS = 3_000
"""Characters of one paragraph of a draft; the rest is cut."""
MESSAGE_CHARS = 400
"""Maximum length of an event's message and of each text of its data, apart from paragraphs of a draft."""
BATCH_ROOM = 120 * 1024
"""Bytes of events in one blob: the activity's input stays under the payload limit."""


class EventLog(RunPart):
    """Records events, phases and limitations in the state, and shows the phase in the Web UI."""

    def __init__(self, run: "RunParts") -> None:
        super().__init__(run)
        self._indexed_phase = ""
        """The phase that the search attribute shows."""
        self._indexed_mode = self._indexed_profile = ""
        """The same for mode and profile, which a run that chooses them knows only after it has begun. They
        are set with the first phase of each execution, which costs no event."""
        self._unindexed_stop: StopReason | None = None
        """A stop reason that is indexed together with the next phase: each update is an event."""
        self.on_event: Callable[[], None] = lambda: None
        """Called after each event, in a section: its run is told."""
        self.context.before_continue_as_new.append(partial(self.store_older_events, always=True))

    def emit(self, kind: str, message: str, /, **data: object) -> None:
        """Append an event: what query `events` returns and the command line prints. Long texts are cut.

        Raises TypeError for data that its type does not carry.
        """
        if unknown_names := data.keys() - set(EVENTS[kind]):
            raise TypeError(f"an event {kind} has no {', '.join(sorted(unknown_names))}")
        state, people = self.state, self.state.people
        limit = PARAGRAPH_CHARS if kind == "streaming" else MESSAGE_CHARS
        values = {name: value[:limit] if isinstance(value, str) else value for name, value in data.items()}
        values = {
            name: value for name, value in values.items() if value not in (None, "") and value is not False
        }
        people.events.append(
            AgentEvent(
                seq=self.context.next_seq(),
                type=kind,
                message=message[:MESSAGE_CHARS],
                iteration=state.loop.iteration,
                section=self.context.section_id,
                data=values,
                timestamp=self.context.timestamp(),
            )
        )
        self.on_event()

    def adopt_events(self, section: str, events: Sequence[AgentEvent]) -> None:
        """Append what happened in a section, in the order of its own log, under this run's numbers."""
        people = self.state.people
        for event in events:
            if event.seq > people.adopted.get(section, 0):
                people.adopted[section] = event.seq
                changes = {"seq": self.context.next_seq(), "section": section}
                people.events.append(event.model_copy(update=changes))

    def latest(self, room: int) -> tuple[AgentEvent, ...]:
        """Return the end of the log, oldest first, as far as it fits into `room` bytes."""
        return tuple(reversed(within(reversed(self.state.people.events), room)))

    def unreported(self, room: int) -> tuple[AgentEvent, ...]:
        """Return the events of a section that its parent does not know yet.

        They are the oldest first, within `room` bytes.
        """
        people = self.state.people
        events = within((e for e in people.events if e.seq > people.reported_seq), room)
        if events:
            people.reported_seq = events[-1].seq
        # A section's end is the parent's event `section_complete`.
        return tuple(event for event in events if event.type != "complete")

    @property
    def has_unreported(self) -> bool:
        people = self.state.people
        return people.last_seq > people.reported_seq

    # drafts; the quotes are checked when the report is published

    def stream_draft(self, section_id: str, draft: SectionDraft) -> None:
        """Emit the paragraphs of a draft that are not in the log as they are now.

        One that the draft has no more is emitted without a text.
        """
        digests = self.state.people.streamed.setdefault(section_id, {})
        texts = [text[:PARAGRAPH_CHARS] for text in draft.texts]
        texts += [""] * (len(digests) - len(texts))
        for number, text in enumerate(texts, 1):
            before = digests.get(number)
            digest = hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""
            if digest != (before or ""):
                digests[number] = digest
                message = text or f"paragraph {number} is no longer in the draft"
                place = {"section_id": section_id, "paragraph": number}
                self.emit("streaming", message, **place, text=text, replaces=before is not None)

    async def store_older_events(self, *, always: bool = False) -> None:
        """Move all but the latest events to the evidence store once there are many, or `always`.

        When the store cannot be written they stay in the state.
        """
        people = self.state.people
        max_events = MAX_CARRIED_EVENTS if always else MAX_EVENTS
        if len(people.events) <= max_events:
            return
        while len(people.events) > MAX_CARRIED_EVENTS:
            batch = within(people.events[:-MAX_CARRIED_EVENTS], BATCH_ROOM)
            events = tuple(event.model_dump(mode="json") for event in batch)
            try:
                blob = await workflow.execute_activity_method(
                    EventActivities.store_events,
                    EventBatch(run_id=self.context.run_id, events=events),
                    **policy.internal_step("store older events"),
                )
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                return
            people.stored_events.append(StoredEvents(first=batch[0].seq, last=batch[-1].seq, blob=blob))
            del people.events[: len(batch)]

    def add_limitation(self, code: str, **values: int | str) -> None:
        """Add a limitation of the report by its code; `activities.report.formats.statements` words it."""
        self.add_statement(Statement(code=code, values=dict(values)))

    def add_statement(self, statement: Statement | str) -> None:
        """Add a statement that a step or a section returned to the report's limitations, once."""
        if statement not in self.state.notes:
            self.state.notes.append(statement)

    def set_phase(self, phase: Phase, message: str) -> None:
        """Show the phase in the queries, in the Web UI's details and in the search attributes."""
        people = self.state.people
        has_changed = people.phase != phase
        people.phase, people.message = phase, message
        self.show_details()
        if has_changed and self.request.indexed:
            self._index_phase(phase)

    def show_details(self) -> None:
        """Bring what the Web UI shows of the run up to date."""
        workflow.set_current_details(details_of(self.context))

    def show_paused(self) -> None:
        """Show in the Web UI and the search attributes that the run was paused or resumed.

        Of a run with sections these wait, so its own phase stays.
        """
        self.show_details()
        if self.request.indexed:
            people = self.state.people
            phase: Phase = "paused" if people.paused else people.phase
            if phase != self._indexed_phase:
                self._index_phase(phase)

    def _index_phase(self, phase: Phase) -> None:
        indexed: Phase = "researching" if phase in LOOP_PHASES else phase
        if indexed == self._indexed_phase and (phase == "paused" or phase in LOOP_PHASES):
            return
        self._indexed_phase = indexed
        stop, self._unindexed_stop = self._unindexed_stop, None
        updates: list[SearchAttributeUpdate[str]] = [PHASE.value_set(indexed)]
        mode = self.context.traits.mode or self.request.mode
        if mode != self._indexed_mode:
            self._indexed_mode = mode
            updates.append(MODE.value_set(mode))
        if self.state.question.prepared and self.context.profile.name != self._indexed_profile:
            self._indexed_profile = self.context.profile.name
            updates.append(PROFILE.value_set(self._indexed_profile))
        if stop is not None:
            updates.append(STOP_REASON.value_set(stop))
        workflow.upsert_search_attributes([*updates, *self._figures()])

    def _figures(self) -> list[SearchAttributeUpdate[int] | SearchAttributeUpdate[float]]:
        """Where the run stands, sent with a new phase: an update of its own would be one more event."""
        state, loop = self.state, self.state.loop
        iteration = max([loop.iteration, *(s.iteration for s in state.sections.progress.values())])
        confidence = loop.judged.confidence if loop.judged else state.sections.confidence
        return [
            ITERATION.value_set(min(iteration, INT64)),
            TOKENS.value_set(min(self.context.budget.used.tokens, INT64)),
            *([] if confidence is None else [CONFIDENCE.value_set(confidence)]),
        ]

    def set_stop_reason(self, stop: StopReason) -> None:
        self.state.stop_reason = stop
        self._unindexed_stop = stop
