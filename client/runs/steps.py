"""The steps of a run, as its events tell them: what was done, how it ended, and the lines under it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from activities.plural import counted
from workflows.event_types import AgentEvent

LINES = 60
"""Events that are listed under a step, the latest."""
STEPS: Mapping[str, tuple[str, ...]] = {
    "Read the question": (
        "started",
        "reading",
        "read",
        "mode_chosen",
        "clarification_needed",
        "imported",
    ),
    "Planned": ("planned", "replanning"),
    "Researched the sections": ("section_started", "section_complete"),
    "Searched": ("searching", "search_complete", "source_added"),
    "Judged": ("judging", "judge_complete", "evidence_shared"),
    "Formed hypotheses": ("hypothesizing", "hypotheses"),
    "Looked for what is missing": ("gap", "reflected", "looping"),
    "Read the works for the table": ("extracting", "analyzing", "analysis_complete"),
    "Wrote and checked": ("synthesizing", "streaming", "verifying", "refused", "editing"),
    "Ended": ("stopping", "complete"),
}
"""What a step is called, and the events that begin it. Any other event belongs to the step that is open."""
NAMES = {kind: name for name, kinds in STEPS.items() for kind in kinds}
PERMANENT = ("auth", "insufficient_quota", "model_not_found")
"""Failures of a model's server that only a person can mend."""


@dataclass(slots=True)
class Step:
    name: str
    key: str
    """The same for as long as the run is looked at."""
    note: str = ""
    """How it ended, in a few words."""
    events: list[AgentEvent] = field(default_factory=list)

    @property
    def lines(self) -> Sequence[AgentEvent]:
        return [event for event in self.events if event.type != "streaming"][-LINES:]


def steps_of(events: Iterable[AgentEvent], titles: Mapping[str, str]) -> list[Step]:
    """The steps in the order in which they began. The steps of a section are one, under its title."""
    steps: dict[str, Step] = {}
    open_step = Step("Started", "start")
    for event in events:
        if event.section:
            name, key = titles.get(event.section) or event.section, f"section-{event.section}"
        elif event.type in NAMES:
            name = NAMES[event.type]
            key = f"{name}-{event.iteration}"
        else:
            name, key = open_step.name, open_step.key
        step = steps.setdefault(key, Step(name, key))
        step.events.append(event)
        if not event.section:
            open_step = step
    for step in steps.values():
        step.note = note_of(step)
    return [*steps.values()]


def note_of(step: Step) -> str:
    """`3 searches in pubmed, europepmc: 24 new works`, or the last message."""
    searched = [event for event in step.events if event.type == "search_complete"]
    if searched and step.name == "Searched":
        sources = ", ".join(dict.fromkeys(one.text("source") for one in searched))
        works = counted(sum(one.number("new") for one in searched), "new work")
        return f"{counted(len(searched), 'search', 'searches')} in {sources}: {works}"
    judged = [event for event in step.events if event.type == "judge_complete"]
    if judged and (judged_works := judged[-1].number("works")):
        return f"{counted(judged_works, 'work')}, {judged[-1].number('relevant')} of them answer"
    own = [event for event in step.lines if event.section or NAMES.get(event.type) == step.name]
    return own[-1].message if own else ""


def troubles_of(events: Iterable[AgentEvent]) -> list[str]:
    """What only a person can mend, such as a key that is refused; each once."""
    failed = (
        event.text("reason") or event.message
        for event in events
        if event.type == "error" and event.text("category") in PERMANENT
    )
    return [*dict.fromkeys(failed)]
