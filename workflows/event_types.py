"""The closed set of events, with the names of what each may carry beside its message."""

from collections.abc import Mapping

from pydantic import Field, JsonValue

from activities.contracts.evidence import Frozen

_ITEMS = "items section_id"
"""The works that a step works on, and the section that it writes."""
_DECISION = "gate action by note"
_NAMES: Mapping[str, str] = {
    # of the system this one re-thinks
    "started": "question mode",
    "searching": "searches sources",
    # listed: found and not read; new: works that no earlier search had found
    "search_complete": "source query status hits kept listed new seconds attempts",
    "judging": _ITEMS,
    # sufficient: as code decides it; recommendation: the judge's advice; relevant: works that answer
    "judge_complete": "confidence scores gaps sufficient recommendation works relevant",
    "looping": "iteration max_iterations",
    "hypothesizing": _ITEMS,
    "analyzing": _ITEMS,
    "analysis_complete": "verdict confidence pools studies",
    "synthesizing": _ITEMS,
    # of a section's paragraph the latest event counts; with an empty text the draft has it no more
    "streaming": "section_id paragraph text replaces",
    "complete": "stop_reason answered confidence claims references tokens cost_usd seconds",
    # kind: step_failed, model_failed, parent_gone, section_gone or cannot_continue
    "error": "kind role category section_id reason",
    # of reading, planning and writing
    "mode_chosen": "mode reason",
    "reading": "",
    "read": "profile entities questions sources question",
    "clarification_needed": "questions assumed",
    "imported": "run_id items",
    "planned": "sections plan_hash by",
    # by: judge where code passed it on, else gap_evaluator
    "gap": "gap by",
    "reflected": "served searches",
    "hypotheses": "candidates searches",
    "extracting": _ITEMS,
    "verifying": _ITEMS,
    # of the sentences that a model wrote more than a third; share: 0 to 1
    "refused": "section_id refused share",
    "editing": _ITEMS,
    "waiting_for_model": "seconds",
    "stopping": "stop_reason",
    # of people
    "awaiting_approval": "gate",
    "approved": _DECISION,
    "rejected": _DECISION,
    "paused": "",
    "resumed": "",
    "finishing": "",
    "cancelled": "",
    "budget": "tokens cost_usd seconds iterations",
    "steered": "text by",
    "source_added": "source",
    "rewound": "iteration",
    "ignored": "signal gate",
    # of sections, teams and graphs
    "section_started": "section_id title key_question",
    "section_complete": "section_id title status stop_reason evidence iterations confidence tokens",
    "evidence_shared": _ITEMS,
    # overruled: why code decided otherwise than the manager
    "turn": "member instruction overruled",
    "managed": "next_speaker instruction",
    "replanning": "resets",
    "best_attempt": "attempt",
}
EVENTS: Mapping[str, tuple[str, ...]] = {kind: tuple(names.split()) for kind, names in _NAMES.items()}
"""Type of an event -> names of the data that it may carry."""


class AgentEvent(Frozen):
    """Query `events`: one thing that happened in a run, or in one of its sections."""

    seq: int
    """Position in the run's log, from 1."""
    type: str
    message: str
    iteration: int = 0
    section: str = ""
    """Id of the section in which it happened; empty for the run itself."""
    data: Mapping[str, JsonValue] = Field(default_factory=dict)
    """What there is to say of what `EVENTS` names."""
    timestamp: str = ""

    def text(self, name: str) -> str:
        """Return a value as text; empty where there is none."""
        return str(self.data.get(name, ""))

    def number(self, name: str) -> int:
        """Return a value as a whole number; 0 where there is none."""
        value = self.data.get(name)
        return int(value) if isinstance(value, int | float) else 0
