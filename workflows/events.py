"""What a run reports while it runs: events, its phase, and the limitations its report must state."""

from temporalio import workflow
from temporalio.common import SearchAttributeKey

with workflow.unsafe.imports_passed_through():
    from activities.types import Statement, StopReason
    from workflows.types import AgentEvent, Phase

from workflows.context import RunContext
from workflows.state import EVENTS_KEPT

PHASE = SearchAttributeKey.for_keyword("DeterminatorPhase")
STOP_REASON = SearchAttributeKey.for_keyword("DeterminatorStopReason")
COARSE_PHASES = "coarse-phases"
"""Patch: the search attribute names the phase of the run, not each step of the loop. An update of a search
attribute is an event of the history."""
LOOP_PHASES: tuple[Phase, ...] = ("observing", "evaluating_gaps", "selecting_tools", "searching", "judging")
"""Phases that the search attribute shows as `researching`."""
MESSAGE_CHARS = 400
"""Maximum length of an event's message and of each value of its data."""


class EventLog:
    """Records events, phases and limitations in the state, and shows the phase in the Web UI."""

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self._indexed_phase = ""
        """The phase that the search attribute shows."""

    def emit_event(self, type_: str, message: str, **data: str) -> None:
        """Append an event: what query `events` returns and the command line prints."""
        state, control = self.context.state, self.context.state.control
        control.last_seq += 1
        control.events.append(
            AgentEvent(
                seq=control.last_seq,
                type=type_,
                message=message[:MESSAGE_CHARS],
                iteration=state.loop.iteration,
                section=self.context.section_id,
                data={name: text[:MESSAGE_CHARS] for name, text in data.items()},
                timestamp=self.context.timestamp(),
            )
        )
        del control.events[:-EVENTS_KEPT]

    def add_limitation(self, code: str, **values: int | str) -> None:
        """Add a limitation of the report by its code; `activities.report.formats.statements` words it."""
        self.add_statement(Statement(code=code, values=dict(values)))

    def add_statement(self, statement: Statement | str) -> None:
        """Add a statement that a step or a section returned to the report's limitations, once."""
        if statement not in self.context.state.notes:
            self.context.state.notes.append(statement)

    def set_phase(self, phase: Phase, message: str) -> None:
        """Show the phase in the queries, in the Web UI's details and in the search attributes."""
        control = self.context.state.control
        changed = control.phase != phase
        control.phase, control.message = phase, message
        workflow.set_current_details(self._details())
        if changed and self.context.request.indexed:
            self._index_phase(phase)

    def _index_phase(self, phase: Phase) -> None:
        """Update the search attribute where the phase of the run has changed."""
        shown: Phase = phase
        if phase in LOOP_PHASES and workflow.patched(COARSE_PHASES):
            shown = "researching"
            if shown == self._indexed_phase:
                return
        self._indexed_phase = shown
        workflow.upsert_search_attributes([PHASE.value_set(shown)])

    def set_stop_reason(self, stop: StopReason) -> None:
        """Record why the run ends."""
        self.context.state.stop_reason = stop
        if self.context.request.indexed:
            workflow.upsert_search_attributes([STOP_REASON.value_set(stop)])

    def _details(self) -> str:
        state, control, loop = self.context.state, self.context.state.control, self.context.state.loop
        budget = self.context.budget
        limit = "no limit" if budget.limits.max_tokens is None else f"{budget.limits.max_tokens:,}"
        lines = [
            f"**{control.phase.replace('_', ' ')}** {control.message}",
            "",
            f"- iteration {loop.iteration} of {loop.max_iterations}",
            f"- {len(state.evidence)} items, {len(state.searches)} searches",
            f"- {budget.used.tokens:,} tokens of {limit}",
        ]
        if control.waiting_for:
            lines.append(f"- waiting for approval of the {control.waiting_for}: signal `approve` or `reject`")
        return "\n".join(lines)
