"""Tool selector: which sources to ask what."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from activities.plural import plural
from activities.roles.prompt import compose, listed, tried
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Score, Text, limits, line
from activities.steps import AgentSelectionPlan, AgentTask, SelectInput
from activities.types import ANSWERED, Evidence, SourceOption

QUERY_CHARS = 300
MAX_TITLES = 15
"""Titles of works found that a prompt shows, the best first."""


class SearchAnswer(Loose):
    gap: Score = 1
    source: Text = limits(length=60)
    query: Text = limits(length=160)


class SelectionAnswer(Loose):
    searches: list[SearchAnswer] = limits(items=12)


def render(step: SelectInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    sources = "\n".join(f"- {o.info.name}: {line(o.info.covers, 160)}" for o in step.sources if usable(o))
    numbered = [f"{n}. {gap}" for n, gap in enumerate(step.gaps, 1)]
    prompt = compose(
        "tool_selector",
        step,
        room=room,
        given=[
            f"Sources:\n{sources}",
            listed("Named in the question", step.key_entities, limit=8, each=80),
            tried(step.tried, limit=12),
            listed("Recommended searches", step.recommended, limit=6, each=120),
            listed("Works found so far", step.titles, limit=MAX_TITLES, each=120),
            listed("Gaps", numbered, limit=len(numbered), each=300),
        ],
        task=f"Choose at most {step.per_gap} searches for each gap. Answer with JSON.",
    )
    return replace(prompt, choices={"searches.source": tuple(o.info.name for o in step.sources if usable(o))})


def usable(option: SourceOption) -> bool:
    """Whether a source may be searched."""
    return option.enabled and option.info.role == "search"


def accept(step: SelectInput, _prompt: Prompt, answer: SelectionAnswer) -> Accepted[AgentSelectionPlan]:
    """Only sources that are enabled, at most `per_gap` for a gap, nothing twice and nothing that was already
    answered."""
    sources = {o.info.name.casefold(): o.info.name for o in step.sources if usable(o)}
    seen = made(step)
    by_gap: dict[int, list[AgentTask]] = {n: [] for n in range(1, len(step.gaps) + 1)}
    unknown = 0
    for search in answer.searches:
        source = sources.get(search.source.strip().casefold())
        if source is None or search.gap not in by_gap:
            unknown += 1
            continue
        query = line(search.query, QUERY_CHARS)
        chosen = by_gap[search.gap]
        if not query or (source, _folded(query)) in seen or len(chosen) >= step.per_gap:
            continue
        seen.add((source, _folded(query)))
        chosen.append(AgentTask(gap=step.gaps[search.gap - 1], agent=source, query=query))
    notes = [f"{plural(unknown, 'search')} named a source or gap that is not there"] if unknown else []
    tasks = tuple(task for chosen in by_gap.values() for task in chosen)
    return Accepted(AgentSelectionPlan(tasks=tasks), tuple(notes))


def made(step: SelectInput) -> set[tuple[str, str]]:
    """Searches that got an answer, by what was asked for: a source may be sent something else."""
    return {(r.source, _folded(r.asked or r.query)) for r in step.tried if r.status in ANSWERED}


def filled(
    step: SelectInput,
    _prompt: Prompt,
    accepted: Accepted[AgentSelectionPlan],
    alone: Callable[[SelectInput], AgentSelectionPlan],
) -> Accepted[AgentSelectionPlan]:
    """With searches chosen by code for the gaps the model left without a usable one, and for the tests of
    hypotheses, which code makes first."""
    tests = alone(step.model_copy(update={"gaps": ()})).tasks if step.tests else ()
    own = {(task.agent, _folded(task.query)) for task in tests}
    tasks = (*tests, *(t for t in accepted.output.tasks if (t.agent, _folded(t.query)) not in own))
    bare = tuple(gap for gap in step.gaps if not any(task.gap == gap for task in tasks))
    if not bare:
        return Accepted(AgentSelectionPlan(tasks=tasks), accepted.notes)
    seen = made(step)
    seen |= {(task.agent, _folded(task.query)) for task in tasks}
    found = alone(step.model_copy(update={"gaps": bare, "tests": ()})).tasks
    added = tuple(task for task in found if (task.agent, _folded(task.query)) not in seen)
    note = f"{plural(len(bare), 'gap')} had no usable search; code chose {len(added)}"
    return Accepted(AgentSelectionPlan(tasks=(*tasks, *added)), (*accepted.notes, note))


def by_code(step: SelectInput, _documents: Sequence[Evidence]) -> AgentSelectionPlan | None:
    usables = any(usable(o) for o in step.sources)
    return None if step.gaps and usables else AgentSelectionPlan()


def _folded(query: str) -> str:
    return " ".join(query.casefold().split())


SPEC = RoleSpec[SelectInput, SelectionAnswer, AgentSelectionPlan](
    "tool_selector", SelectionAnswer, render, accept, by_code=by_code, combine=filled
)
