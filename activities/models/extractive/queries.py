"""From a gap to searches: keyword queries for indexes, the question itself for the library and the web."""

import re
from collections.abc import Iterable, Iterator

from activities.models.extractive.words import fold, looks_special, phrases
from activities.steps import AgentSelectionPlan, AgentTask, SelectInput
from activities.types import SearchRecord, SourceInfo, SourceOption

_BOOLEAN = re.compile(r"\b(?:AND|OR|NOT)\b|\"[^\"]+\"|\[\w+\]|\b\w+:\S")
_TRIALS = re.compile(
    r"\b(trials?|phase [1-4I]+|randomi[sz]ed|recruiting|clinical stud\w+|NCT\d+)\b", re.IGNORECASE
)
_LABELS = re.compile(r"\b(adverse|safety|side effects?|harms?|label|indications?|contraindicat\w+|boxed|"
                     r"approved|approval|recall\w*|toxicit\w+|interaction\w*)\b", re.IGNORECASE)  # fmt: skip
_SETTLED = ("ok", "empty")


def select_tools(step: SelectInput) -> AgentSelectionPlan:
    """At most `per_gap` searches a gap, none that was answered before.

    A search that failed by an outage is repeated as it was sent; a query is widened only where a search was
    answered with nothing.
    """
    sources = [o for o in step.sources if o.enabled and o.info.role == "search"]
    done = {(r.source, fold(r.query)) for r in step.tried if r.status in _SETTLED}
    planned: set[tuple[str, str]] = set()
    tasks: list[AgentTask] = []
    for gap in step.gaps:
        chosen: list[AgentTask] = []
        for task in _proposals(gap, step, sources):
            key = (task.agent, fold(task.query))
            if key in done or key in planned or not task.query.strip():
                continue
            planned.add(key)
            chosen.append(task)
            if len(chosen) >= step.per_gap:
                break
        tasks += chosen
    return AgentSelectionPlan(tasks=tuple(tasks))


def _proposals(gap: str, step: SelectInput, sources: list[SourceOption]) -> Iterator[AgentTask]:
    """Searches for a gap, the most promising first."""
    names = {o.info.name for o in sources}
    for record in step.tried:
        if record.status not in _SETTLED and record.gap == gap and record.source in names:
            yield AgentTask(gap=gap, agent=record.source, query=record.query)
    ordered = sorted(sources, key=lambda o: _preference(o.info, gap, step))
    recommended = [q for q in step.recommended if len(step.gaps) == 1 or _shares(q, gap)]
    ladders = {o.info.name: list(_ladder(o.info, gap, step.key_entities, recommended)) for o in ordered}
    empty = {(r.source, fold(r.query)) for r in step.tried if r.status == "empty"}
    for rung in range(max((len(x) for x in ladders.values()), default=0)):
        for option in ordered:
            ladder = ladders[option.info.name]
            if rung < len(ladder):
                yield AgentTask(gap=gap, agent=option.info.name, query=ladder[rung])
    del empty


def _preference(info: SourceInfo, gap: str, step: SelectInput) -> tuple[int, int, str]:
    """The user's own documents first where the profile says nothing, then the profile's order; a source whose
    field the gap names comes before all."""
    fits = (
        _TRIALS.search(gap) and "clinical" in info.domains and info.name in ("ctgov", "clinicaltrials")
    ) or (_LABELS.search(gap) and "regulatory" in info.domains)
    used = sum(r.source == info.name and r.gap == gap and r.status in _SETTLED for r in step.tried)
    order = step.profile.sources
    place = order.index(info.name) if info.name in order else len(order) + ("local" not in info.domains)
    return used - bool(fits), place, info.name


def _ladder(
    info: SourceInfo, gap: str, entities: tuple[str, ...], recommended: Iterable[str]
) -> Iterator[str]:
    """Queries for one source from the most exact to the widest."""
    yield from recommended
    if _BOOLEAN.search(gap):
        yield gap
    elif wants_keywords(info):
        yield keywords(gap, entities) or gap
    else:
        yield gap
    yield from (q if wants_keywords(info) else q.replace(" AND ", " ") for q in widen(gap, gap, entities))


def wants_keywords(info: SourceInfo) -> bool:
    """Indexes with boolean search want names joined by AND; the library and the web take a question."""
    return not {"local", "web"} & set(info.domains) and bool(
        {"biomedical", "clinical", "regulatory"} & set(info.domains)
    )


def keywords(text: str, entities: tuple[str, ...] = ()) -> str:
    """`Does metformin slow Alzheimer's disease?` -> `metformin AND Alzheimer's disease`; at most four names."""
    names = list(phrases(text)) or list(entities)
    return " AND ".join(names[:4])


def widen(query: str, gap: str, entities: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Wider forms of a query: fewer names at each step, the most specific kept last."""
    if _BOOLEAN.search(query) and " AND " in query and not re.search(r"\b(OR|NOT)\b|[()\[\]]", query):
        names = [n.strip() for n in query.split(" AND ")]
    elif _BOOLEAN.search(query):
        return ()
    else:
        names = list(phrases(query)) or list(phrases(gap)) or list(entities)
    if not names:
        return ()
    by_weight = sorted(names, key=lambda n: (-_specific(n), names.index(n)))
    forms: list[str] = []
    for size in (3, 2, 1):
        if size <= len(names):
            kept = set(by_weight[:size])
            forms.append(" AND ".join(n for n in names if n in kept))
    forms += [n for n in by_weight[:1] for n in [" ".join(n.split()[-2:])] if len(n.split()) > 1]
    return tuple(f for f in dict.fromkeys(forms) if fold(f) != fold(query))


def _specific(name: str) -> float:
    words = name.split()
    return sum(looks_special(w) * 2.0 + w[:1].isupper() + min(len(w), 12) / 12 for w in words)


def _shares(query: str, gap: str) -> bool:
    from activities.models.extractive.words import terms, weak_stems

    return bool((set(terms(query)) & set(terms(gap))) - weak_stems())


def repeated(record: SearchRecord) -> bool:
    """True when a search failed by an outage and may be sent again as it was."""
    return record.status not in _SETTLED
