"""Tool selector: which sources to ask what."""

from collections.abc import Sequence
from dataclasses import replace

from activities.contracts.evidence import Evidence, Statement
from activities.contracts.plan import AgentSelectionPlan, AgentTask, SelectInput
from activities.extractive import searching
from activities.profiles.loader import specialists_of
from activities.roles.fields import Loose, Score, Text, limits
from activities.roles.prompt import compose, listing, search_listing
from activities.roles.role import Accepted, Prompt, RoleSpec, prompt_file, prompt_text
from activities.roles.validation import line, one_of
from activities.text.tokens import fold

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
    sources = "\n".join(f"- {o.info.name}: {line(o.info.covers, 160)}" for o in step.sources if o.searchable)
    gaps = [f"{n}. {gap}" for n, gap in enumerate(step.gaps, 1)]
    prompt = compose(
        "tool_selector",
        with_specialist(step),
        room=room,
        inputs=[
            f"Sources:\n{sources}",
            listing("Named in the question", step.key_entities, max_items=8, max_chars=80),
            search_listing(step.tried, max_items=12),
            listing("Recommended searches", step.recommended, max_items=6, max_chars=120),
            listing("Works found so far", step.titles, max_items=MAX_TITLES, max_chars=120),
            listing("Gaps", gaps, max_items=len(gaps), max_chars=300),
        ],
        task=f"Choose at most {step.per_gap} searches for each gap. Answer with JSON.",
    )
    return replace(prompt, choices={"searches.source": searchable_names(step)})


def searchable_names(step: SelectInput) -> tuple[str, ...]:
    return tuple(option.info.name for option in step.sources if option.searchable)


def with_specialist(step: SelectInput) -> SelectInput:
    """Add to a step what its specialist is told beside the prompt of the role."""
    specialist = specialists_of(step.profile).get(step.specialist)
    if specialist is None or step.prompt:
        return step
    base = prompt_file("tool_selector", evidence=False).text
    prompt = specialist.prompt or prompt_text(f"{specialist.name}.specialist") or specialist.does
    return step.replace(prompt=f"{base}\n\n{prompt}")


def accept(step: SelectInput, _prompt: Prompt, answer: SelectionAnswer) -> Accepted[AgentSelectionPlan]:
    """Accept searches of enabled sources, at most `per_gap` for a gap, none that was answered already.

    Code chooses searches for the gaps that are left without one, and for the tests of hypotheses, which come
    first.
    """
    tasks = list(searching.hypothesis_tests(step))
    seen = searching.answered_searches(step) | {(task.agent, fold(task.query)) for task in tasks}
    by_gap: dict[int, list[AgentTask]] = {n: [] for n in range(1, len(step.gaps) + 1)}
    unknown_count = 0
    for search in answer.searches:
        source = one_of(search.source, searchable_names(step))
        if source is None or search.gap not in by_gap:
            unknown_count += 1
            continue
        query = line(search.query, QUERY_CHARS)
        gap_tasks = by_gap[search.gap]
        if not query or (source, fold(query)) in seen or len(gap_tasks) >= step.per_gap:
            continue
        seen.add((source, fold(query)))
        gap_tasks.append(AgentTask(gap=step.gaps[search.gap - 1], agent=source, query=query))
    notes = [Statement.of("searches_unknown", searches=unknown_count)] if unknown_count else []
    tasks += [task for gap_tasks in by_gap.values() for task in gap_tasks]
    open_gaps = tuple(gap for gap in step.gaps if not any(task.gap == gap for task in tasks))
    if open_gaps:
        searches = searching.select_tools(step.replace(gaps=open_gaps, tests=())).tasks
        new_tasks = [task for task in searches if (task.agent, fold(task.query)) not in seen]
        notes.append(Statement.of("searches_by_code", gaps=len(open_gaps), searches=len(new_tasks)))
        tasks += new_tasks
    return Accepted(AgentSelectionPlan(tasks=tuple(tasks)), tuple(notes))


TOOL_SELECTOR = RoleSpec(
    "tool_selector",
    SelectionAnswer,
    render,
    accept,
    lambda step, _: searching.select_tools(step),
    idle=lambda step, _: not (step.gaps and searchable_names(step)),
)
