"""From a gap to searches: keyword queries for indexes, the question itself for the library and the web."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from activities.steps import TEST_GAP, AgentSelectionPlan, AgentTask, SelectInput
from activities.text.tokens import fold, looks_special, phrases, terms, weak_stems
from activities.types import ANSWERED, SourceInfo

MORE = "More independent evidence on "
"""How a gap begins that asks for more of the same; what to search for follows it."""
MOST_NAMES = 4
"""Names in one keyword query; more would find nothing."""

_BOOLEAN = re.compile(r"\b(?:AND|OR|NOT)\b|\"[^\"]+\"|\[\w+\]")
_TRIALS = re.compile(
    r"\b(trials?|phase [1-4I]+|randomi[sz]ed|recruiting|clinical stud\w+|NCT\d+)\b", re.IGNORECASE
)
_LABELS = re.compile(
    r"\b(adverse|safety|side effects?|harms?|label|indications?|contraindicat\w+|boxed|approved|approval"
    r"|recall\w*|toxicit\w+|interaction\w*)\b",
    re.IGNORECASE,
)


def select_tools(step: SelectInput) -> AgentSelectionPlan:
    """At most `per_gap` searches a gap, none that was answered before; the tests of hypotheses come first.

    A search that failed by an outage is repeated as it was sent: an outage is no reason for another query.
    Narrow queries come first; wider ones follow where the narrow were answered.
    """
    sources = [o.info for o in step.sources if o.enabled and o.info.role == "search"]
    tasks: list[AgentTask] = list(hypothesis_tests(step))
    done = _answered(step) | {(task.agent, fold(task.query)) for task in tasks}
    for gap in step.gaps:
        room = step.per_gap
        for source, query in _proposals(gap, step, sources):
            key = (source, fold(query))
            if room <= 0:
                break
            if query.strip() and key not in done:
                done.add(key)
                tasks.append(AgentTask(gap=gap, agent=source, query=query))
                room -= 1
    return AgentSelectionPlan(tasks=tuple(tasks))


def hypothesis_tests(step: SelectInput) -> tuple[AgentTask, ...]:
    """One search for each test of a hypothesis, at the source that fits it best; sources alternate where
    several fit alike. None that was answered before."""
    sources = [o.info for o in step.sources if o.enabled and o.info.role == "search"]
    done, used, tasks = _answered(step), Counter[str](), list[AgentTask]()
    for test in step.tests if sources else ():

        def place(source: SourceInfo, test: str = test) -> tuple[int, int]:
            fit, order, _ = _preference(source, test, step)
            return used[source.name] + fit, order

        source = min(sources, key=place)
        query = keywords(test, step.key_entities) or test if wants_keywords(source) else test
        used[source.name] += 1
        if (source.name, fold(query)) not in done:
            done.add((source.name, fold(query)))
            tasks.append(AgentTask(gap=f"{TEST_GAP}{test}", agent=source.name, query=query))
    return tuple(tasks)


def _answered(step: SelectInput) -> set[tuple[str, str]]:
    """Searches that were answered, by the query as requested: a source may send another one."""
    return {(r.source, fold(r.asked or r.query)) for r in step.tried if r.status in ANSWERED}


def _proposals(gap: str, step: SelectInput, sources: Sequence[SourceInfo]) -> Iterator[tuple[str, str]]:
    """Searches for a gap, the most promising first: outages again, then one query a source, then wider."""
    names = {s.name for s in sources}
    answered = _answered(step)
    again = [
        (r.source, r.asked or r.query)
        for r in step.tried
        if r.status not in ANSWERED
        and r.gap == gap
        and r.source in names
        and (r.source, fold(r.asked or r.query)) not in answered
    ]
    # Sources that stay down must not use every slot.
    yield from dict.fromkeys(again[: max(1, step.per_gap - 1)])
    waiting = {r.source for r in step.tried if r.status not in ANSWERED and r.gap == gap}
    ordered = sorted((s for s in sources if s.name not in waiting), key=lambda s: _preference(s, gap, step))
    recommended = [q for q in step.recommended if len(step.gaps) == 1 or _shares(q, gap)]
    ladders = {s.name: list(_ladder(s, gap, step, recommended)) for s in ordered}
    for rung in range(max((len(ladder) for ladder in ladders.values()), default=0)):
        for source in ordered:
            if rung < len(ladders[source.name]):
                yield source.name, ladders[source.name][rung]


def _preference(info: SourceInfo, gap: str, step: SelectInput) -> tuple[int, int, str]:
    """Sources less used for this gap first; among them those whose field the gap names, then the order in
    which they were chosen for the question."""
    fits = (_TRIALS.search(gap) and info.name == "clinicaltrials") or (
        _LABELS.search(gap) and "regulatory" in info.domains
    )
    used = sum(r.source == info.name and r.gap == gap for r in step.tried)
    order = [option.info.name for option in step.sources]
    return used - bool(fits), order.index(info.name), info.name


def _ladder(info: SourceInfo, gap: str, step: SelectInput, recommended: Sequence[str]) -> Iterator[str]:
    """Queries for one source from the most exact to the widest."""
    gap = gap.removeprefix(MORE)
    for query in recommended:
        yield _for(info, query)
    if _BOOLEAN.search(gap):
        yield gap
    elif wants_keywords(info):
        yield keywords(gap, step.key_entities) or gap
    else:
        yield gap
    for query in widen(gap, gap, step.key_entities):
        yield _for(info, query)


def _for(info: SourceInfo, query: str) -> str:
    """A generated query in the source's form. A user's query with boolean syntax is unchanged."""
    plain = re.sub(r"\bAND\b", " ", query)
    if wants_keywords(info) or _BOOLEAN.search(plain):
        return query
    return " ".join(plain.split())


def wants_keywords(info: SourceInfo) -> bool:
    """Indexes with boolean search want names joined by AND; the library and the web accept a question."""
    domains = set(info.domains)
    return not {"local", "web"} & domains and bool({"biomedical", "clinical", "regulatory"} & domains)


def keywords(text: str, entities: Sequence[str] = ()) -> str:
    """`Does metformin slow Alzheimer's disease?` -> `metformin AND Alzheimer's disease`; at most four names,
    the most specific ones, as typed."""
    names = list(phrases(text)) or list(entities)
    kept = set(sorted(names, key=lambda n: (-_specific(n), names.index(n)))[:MOST_NAMES])
    return " AND ".join(n for n in names if n in kept)


def widen(query: str, gap: str, entities: Sequence[str] = ()) -> tuple[str, ...]:
    """Wider forms of a query, fewer names at each step and the most specific kept longest.

    A query with boolean syntax of a person's own is never rewritten.
    """
    plain = re.sub(r"\bAND\b", " ", query)
    if _BOOLEAN.search(plain) or re.search(r"[()]", query):
        return ()
    parts = [n.strip() for n in query.split(" AND ")] if " AND " in query else list(phrases(query))
    names = [n for n in parts if n] or list(phrases(gap)) or list(entities)
    by_weight = sorted(names, key=lambda n: (-_specific(n), names.index(n)))
    forms = [
        " AND ".join(n for n in names if n in by_weight[:size]) for size in (3, 2, 1) if size <= len(names)
    ]
    forms += [" ".join(n.split()[-2:]) for n in by_weight[:1] if len(n.split()) > 2]
    return tuple(f for f in dict.fromkeys(forms) if fold(f) != fold(query))


def _specific(name: str) -> float:
    """How much a name narrows a search: technical words above capitals above long words."""
    weak = weak_stems()
    words = name.split()
    value = sum(looks_special(w) * 2.0 + w[:1].isupper() + min(len(w), 12) / 12 for w in words)
    return value * (0.3 if all(t in weak for t in terms(name)) else 1.0)


def _shares(query: str, gap: str) -> bool:
    return bool((set(terms(query)) & set(terms(gap))) - weak_stems())
