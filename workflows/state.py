"""A run's state: all of it in one model, so that continuing as new carries everything over."""

import base64
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, Field

from activities.contracts.evidence import (
    EvidenceRef,
    Gate,
    ModelChoice,
    ReportPlan,
    SearchRecord,
    Statement,
    StopReason,
    Usage,
)
from activities.contracts.iterations import IterationRecord
from activities.contracts.judge import Refused, WorkJudgement
from activities.contracts.plan import AgentTask, ParsedQuery
from activities.contracts.prepare import Prepared
from activities.contracts.publish import Decision, PlannedSection
from activities.contracts.search import Preview
from activities.contracts.step import Instruction, InstructionKind, Role
from activities.contracts.write import Edited, SectionDraft
from workflows.event_types import AgentEvent
from workflows.memory import LoopMemory
from workflows.part_state import PartState
from workflows.rules.budget import Budget
from workflows.rules.stopping import LoopState
from workflows.sections.types import SectionFindings, SectionJob
from workflows.types import Phase, SectionProgress, StoredEvents

S = TypeVar("S", bound=PartState)
ROLES_BY_KIND: Mapping[InstructionKind | None, tuple[Role, ...]] = {
    "search": ("planner", "observer", "gap_evaluator", "tool_selector", "reflector", "manager"),
    "text": ("planner", "gap_evaluator", "writer", "editor"),
}
"""The roles that are told of an instruction, by its kind; all of them where the kind is not listed."""
MAX_EVENTS = 400
"""Events in the state from which the older ones are moved to the evidence store at the next boundary."""
MAX_CARRIED_EVENTS = 60
"""Events that stay in the state when the older ones are moved."""
MAX_FACTS = 24
"""Facts that are kept, the latest, of all sub-teams together."""
MAX_PLAIN_BYTES = 128 * 1024
"""Bytes of JSON up to which a state is carried over as it is; a larger one is packed."""


class PeopleState(BaseModel, defer_build=True):
    """The decisions and instructions of people, and the progress that they are shown."""

    phase: Phase = "starting"
    message: str = ""
    paused: bool = False
    finish: bool = False
    cancelled: bool = False
    fault: str = ""
    """Why the run cannot decide its next step, where a worker ends it for that."""
    waiting_for: Gate | None = None
    gate_opened_at: float = 0.0
    """Seconds since the epoch; 0 while no gate waits. Survives continuing as new, so a time-out does too."""
    answers: dict[Gate, Decision] = Field(default_factory=dict)
    """The answer of each gate that was answered."""
    decisions: list[Decision] = Field(default_factory=list)
    steering: list[str] = Field(default_factory=list)
    """The latest texts, oldest first."""
    steered: int = 0
    """How many there have been."""
    steered_in_text: int | None = None
    """How many of them the last call of the writer was given; None before any."""
    instructions: dict[str, Instruction] = Field(default_factory=dict)
    """What a model read of these texts, by text."""
    added_sources: list[str] = Field(default_factory=list)
    chosen: list[str] = Field(default_factory=list)
    """Candidates a reviewer chose."""
    left_out: list[str] = Field(default_factory=list)
    """Names of candidates that a reviewer left out: nothing that names them is written."""
    events: list[AgentEvent] = Field(default_factory=list)
    """The latest part of the log."""
    stored_events: list[StoredEvents] = Field(default_factory=list)
    """The older parts, in order, in the evidence store."""
    streamed: dict[str, dict[int, str]] = Field(default_factory=dict)
    """Section -> paragraph of its draft -> digest of the text that the log gives it."""
    adopted: dict[str, int] = Field(default_factory=dict)
    """Section -> position in its own log of the last event that this log has adopted."""
    reported_seq: int = 0
    """The last event of a section that was reported to the parent."""
    last_seq: int = 0

    @property
    def searches_asked_for(self) -> tuple[str, ...]:
        """Return what people ask to search for, the latest first.

        A text that no model has read is searched as it is.
        """
        instructions = self.instructions
        texts = (
            (instructions[text].query if text in instructions else "") or text
            for text in reversed(self.steering)
            if text not in instructions or instructions[text].kind == "search"
        )
        return tuple(dict.fromkeys(texts))

    def steering_for(self, role: Role) -> tuple[str, ...]:
        """Return the instructions that a role is told, the oldest first.

        Those that no model has read, restrictions, and others where they concern it.
        """
        kinds = {text: instruction.kind for text, instruction in self.instructions.items()}
        return tuple(text for text in self.steering if role in ROLES_BY_KIND.get(kinds.get(text), (role,)))


class Listing(BaseModel, defer_build=True):
    """The results that a source has listed in this loop."""

    results: tuple[Preview, ...] = ()
    """Not read, best first: a later round may read them."""
    tried: tuple[str, ...] = ()
    """Names of those that were read, or could not be."""


class QuestionState(BaseModel, defer_build=True):
    """The question, and what the worker offers for it. Written when a run is prepared and planned."""

    prepared: Prepared | None = None
    parsed: ParsedQuery | None = None
    reworded: str = ""
    """The question as it is researched, where the one that was typed does not stand alone."""
    chosen_because: str = ""
    plan: ReportPlan | None = None
    plan_hash: str = ""


class EvidenceState(BaseModel, defer_build=True):
    """The works found and their judgements. Written by searches and judgements."""

    refs: list[EvidenceRef] = Field(default_factory=list)
    listed: dict[str, Listing] = Field(default_factory=dict)
    """Source -> what it has listed and how far that was read."""
    searches: list[SearchRecord] = Field(default_factory=list)
    identified: int = 0
    duplicates: int = 0
    judgements: dict[str, WorkJudgement] = Field(default_factory=dict)
    """Evidence id -> what a model judged of the work for the question of this loop."""
    relevant: list[str] = Field(default_factory=list)
    """Ids of items the judge found helpful, best first."""
    screened: int = 0
    """How many items a judge was shown, the most in one judgement."""
    refused: list[Refused] = Field(default_factory=list)
    """What checks refused of all that models wrote outside of drafts."""
    facts: tuple[str, ...] = ()
    """What a manager or a step of one's own calls established, the latest."""
    works: list[str] = Field(default_factory=list)
    """Evidence ids of all that the sections of a deep run found, each once."""
    most_items: int = 0
    """The highest `RunState.items` when a section ended: uniting its works with those of others leaves
    fewer."""

    def add_facts(self, facts: Iterable[str]) -> None:
        """Add facts, each once."""
        self.facts = tuple(dict.fromkeys((*self.facts, *facts)))[-MAX_FACTS:]

    @property
    def usable_refs(self) -> dict[str, EvidenceRef]:
        """Evidence id -> what was found and is not retracted."""
        return {ref.evidence_id: ref for ref in self.refs if ref.standing != "retracted"}

    @property
    def ranked_refs(self) -> list[EvidenceRef]:
        """Return what was found, most promising first: what a judge found relevant, then the newest."""
        rank, newest_first = {name: place for place, name in enumerate(self.relevant)}, reversed(self.refs)
        return sorted(newest_first, key=lambda ref: rank.get(ref.evidence_id, len(rank)))


class Loop(LoopState, defer_build=True):
    """The loop of search and judgement: what its decisions depend on, and what its steps tell each other."""

    memory: LoopMemory = Field(default_factory=LoopMemory)
    """The record of each iteration: gaps, searches, findings and reasoning."""
    observation: str = ""
    selected: list[AgentTask] = Field(default_factory=list)
    """The searches selected for this iteration."""
    recommended: list[str] = Field(default_factory=list)
    """Searches the judge or the reflector recommended."""
    steering_read: int = 0
    """How many steering texts a gap evaluation has read."""


class SectionsState(BaseModel, defer_build=True):
    """The knowledge of a run and its sections of each other. Written by the coordinator and `ParentLink`."""

    progress: dict[str, SectionProgress] = Field(default_factory=dict)
    findings: dict[str, SectionFindings] = Field(default_factory=dict)
    """The outcome of each section; its evidence and searches have gone into the run's."""
    found: dict[str, list[str]] = Field(default_factory=dict)
    """Ids of the items each section returned, best first."""
    pool: dict[str, list[EvidenceRef]] = Field(default_factory=dict)
    """Section -> what it has found, to be offered to the others."""
    offers: dict[str, list[str]] = Field(default_factory=dict)
    """Section -> ids of what it has been offered."""
    owners: dict[str, str] = Field(default_factory=dict)
    """Evidence id -> section that it belongs to, where sections are drafted at the same time."""

    job: SectionJob | None = None
    """Set for a section of a deep run, as are the fields below."""
    exhausted: bool = False
    """The parent said that no budget is left."""
    offered: list[EvidenceRef] = Field(default_factory=list)
    """What other sections found and this one has not adopted yet."""
    taken_over: list[str] = Field(default_factory=list)
    """Ids of a section's items that other sections found."""
    shared: list[str] = Field(default_factory=list)
    """Ids of a section's own items that its parent knows."""

    @property
    def running_sections(self) -> tuple[SectionProgress, ...]:
        """The sections that are researched now; what they found and used is not part of the run's yet."""
        return tuple(section for section in self.progress.values() if section.status == "running")

    @property
    def confidence(self) -> float | None:
        """The mean confidence of the sections that have ended, 0 to 1.

        A part of the question without an answer counts. None where no model judged.
        """
        confidences = [f.confidence for f in self.findings.values() if f.confidence is not None]
        return sum(confidences) / len(self.findings) if confidences else None


class DraftState(BaseModel, defer_build=True):
    """The drafts of the report. Written by the writing steps."""

    sections: dict[str, PlannedSection] = Field(default_factory=dict)
    begun: dict[str, SectionDraft] = Field(default_factory=dict)
    """Section -> its draft while it is read and revised, which a run that is cancelled meanwhile prints. That
    of all sections in one call has no name."""
    edited: Edited | None = None
    """What the editor made of the drafts."""


class ModelsState(BaseModel, defer_build=True):
    """The models that were called. Written by the calls of roles."""

    names: list[str] = Field(default_factory=list)
    prompt_versions: list[str] = Field(default_factory=list)
    down: bool = False
    unusable: list[ModelChoice] = Field(default_factory=list)
    """Models that failed for good (authentication, unknown name): they are not called again."""


class RunState(BaseModel, defer_build=True):
    """Everything a research workflow knows beside its request, by who writes it."""

    people: PeopleState = Field(default_factory=PeopleState)
    question: QuestionState = Field(default_factory=QuestionState)
    evidence: EvidenceState = Field(default_factory=EvidenceState)
    loop: Loop = Field(default_factory=Loop)
    sections: SectionsState = Field(default_factory=SectionsState)
    draft: DraftState = Field(default_factory=DraftState)
    models: ModelsState = Field(default_factory=ModelsState)
    budget: Budget | None = None
    stop_reason: StopReason | None = None
    notes: list[Statement | str] = Field(default_factory=list)
    """What the report's limitations must say."""
    parts: dict[str, Any] = Field(default_factory=dict)
    """Name of a part or of a mode -> its own state (`PartState`), as JSON until it is asked for."""
    packed: str = ""
    """All of the above, when it is too large to travel as it is."""

    def part(self, kind: type[S]) -> S:
        """Return the state of a part, to be read and changed."""
        state = self.parts.get(kind.name)
        if not isinstance(state, kind):
            state = self.parts[kind.name] = kind.model_validate(state or {})
        return state

    def set_part(self, state: PartState) -> None:
        """Put another state of a part in the place of the one before."""
        self.parts[state.name] = state

    @property
    def items(self) -> int:
        """Return what was found, as progress shows it: never fewer than before.

        A work that several sections found counts for each of them.
        """
        running = sum(section.evidence for section in self.sections.running_sections)
        return max(self.evidence.most_items, len(self.evidence.refs) + running)

    def current_iteration(self, now: str = "") -> IterationRecord | None:
        """Return the iteration under way (`now`, in ISO form: the one that ends now).

        None before the first.
        """
        if self.loop.iteration == 0:
            return None
        section = self.sections.job.section.id if self.sections.job else ""
        used = self.budget.used if self.budget else Usage()
        return self.loop.memory.record(self.loop.iteration, section, self.evidence.searches, used, now)

    @property
    def iterations(self) -> tuple[IterationRecord, ...]:
        """Every iteration of a run and of its sections, the one under way included.

        Those of the run's own loop first, then section by section, each in the order of its loop.
        """
        current = self.current_iteration()
        records = [*self.loop.memory.records, *([current] if current else [])]
        return tuple(sorted(records, key=lambda record: (record.section, record.iteration)))

    def left_open(self, section: str = "") -> tuple[str, ...]:
        """Return what the last iteration of a loop left open."""
        return next(
            (iteration.open for iteration in reversed(self.iterations) if iteration.section == section), ()
        )

    def pack(self) -> "RunState":
        """Return this state as the next run gets it.

        Packed when it is large, since references to hundreds of items would not pass the payload limit.
        """
        plain = self.model_dump_json().encode()
        if len(plain) <= MAX_PLAIN_BYTES:
            return self
        return RunState(packed=base64.b85encode(zlib.compress(plain, 9)).decode())

    @classmethod
    def unpack(cls, state: "RunState | None") -> "RunState":
        """Return the state a run begins with: a fresh one, or what `pack` gave the one before it."""
        if state is None or not state.packed:
            return state or cls()
        return cls.model_validate_json(zlib.decompress(base64.b85decode(state.packed)))
