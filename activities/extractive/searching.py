"""Searches without a model: the question where a source ranks texts, else its names, then fewer of them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, cycle, zip_longest

from activities.contracts.evidence import ANSWERED, Evidence, SourceInfo
from activities.contracts.judge import ReflectInput, Reflection
from activities.contracts.plan import (
    AgentSelectionPlan,
    AgentTask,
    GapsInput,
    KnowledgeGapOutput,
    Observation,
    ObserveInput,
    SelectInput,
)
from activities.contracts.profile import Aspect
from activities.extractive.passages import nearest
from activities.extractive.planning import aspect_of, entities, search_text
from activities.text.absence import rarest_words
from activities.text.entities import link
from activities.text.tokens import fold, terms

AND = " AND "
MAX_NAMES = 4
"""Names in one keyword query; more would find nothing."""
_BOOLEAN = re.compile(r"\b(?:AND|OR|NOT)\b|\"[^\"]+\"|\[\w+\]|[()]")


def observe(step: ObserveInput) -> Observation:
    """Tell how many items were found, and how many of them are near the question."""
    counts = f"{len(step.titles)} items were found; {step.relevant} are near the question."
    empty_text = "Nothing has been found yet; the question itself is searched first."
    return Observation(text=counts if step.titles else empty_text)


def evaluate_gaps(step: GapsInput) -> KnowledgeGapOutput:
    """Return what a reviewer or a judge said and the parts of the question, as far as they were not searched.

    The question once more where nothing near was found and an index may be asked for less."""
    tried_gaps = {fold(record.gap) for record in step.tried}
    questions = (*step.steering[::-1], *step.judged_gaps, *(step.research_questions or (step.question,)))
    open_questions = [text for text in questions if text.strip() and fold(text) not in tried_gaps]
    if not step.relevant and any(r.status == "empty" or r.status not in ANSWERED for r in step.tried):
        open_questions.append(step.question)
    gaps = tuple(dict.fromkeys(open_questions))[: max(1, step.max_gaps)]
    return KnowledgeGapOutput(research_complete=not gaps, outstanding_gaps=gaps)


def reflect(step: ReflectInput, documents: Sequence[Evidence]) -> Reflection:
    """Tell whether the results of the last searches have a passage near what they were made for."""
    gaps = step.gaps or (step.question,)
    ids = {item.document.evidence_id for gap in gaps for item in nearest(search_text(step, gap), documents)}
    if ids:
        return Reflection(
            served=True, reason=f"{len(ids)} of {len(documents)} new items have a near passage."
        )
    failures = sorted({f"{s.source} ({s.status})" for s in step.searches if s.status not in ANSWERED})
    if failures and not documents:
        return Reflection(served=False, reason=f"Sources failed: {', '.join(failures)}.")
    return Reflection(served=False, reason="None of the new items has a near passage.")


def select_tools(step: SelectInput) -> AgentSelectionPlan:
    """Return searches, at most `per_gap` a gap, none that was answered before; tests of hypotheses first.

    One that failed by an outage is made again. Every source is asked once before any is asked more widely,
    those first that were asked least: sources that stay down must not use every slot."""
    sources = [o.info for o in step.sources if o.searchable]
    tasks = list(hypothesis_tests(step))
    searches = answered_searches(step) | {(task.agent, fold(task.query)) for task in tasks}
    for gap in step.gaps:
        counts = Counter(record.source for record in step.tried if record.gap == gap)
        ladders = (
            [(info.name, query) for query in _ladder(info, gap, step)]
            for info in sorted(sources, key=lambda info: counts[info.name])
        )
        queries = filter(None, chain.from_iterable(zip_longest(*ladders)))
        candidates = {(name, fold(query)): query for name, query in queries if query.strip()}
        keys = [key for key in candidates if key not in searches][: step.per_gap]
        searches.update(keys)
        tasks += (AgentTask(gap=gap, agent=key[0], query=candidates[key]) for key in keys)
    rewording = in_other_words(step.question) if step.reworded and not _BOOLEAN.search(step.question) else ""
    for info in sources if rewording else ():
        query = next(_ladder(info, rewording, step))
        if (
            "local" not in info.domains and (info.name, fold(query)) not in searches
        ):  # a library has all names
            tasks.append(AgentTask(gap=step.question, agent=info.name, query=query))
    return AgentSelectionPlan(tasks=tuple(tasks))


def in_other_words(question: str) -> str:
    """Return a question with the vocabularies' own names of what it calls otherwise (a heart attack).

    Empty where there is none."""
    text = question
    for entity in reversed(link(question)):
        if set(terms(entity.name)) != set(terms(entity.surface)):
            text = text[: entity.start] + entity.name + text[entity.end :]
    return text if text != question else ""


def hypothesis_tests(step: SelectInput) -> tuple[AgentTask, ...]:
    """One search for each test of a hypothesis, the sources in turn. None that was answered before."""
    sources = [o.info for o in step.sources if o.searchable]
    searches, tasks = answered_searches(step), list[AgentTask]()
    for test, source in zip(step.tests, cycle(sources), strict=False):
        query = keywords(test) if wants_keywords(source) else test
        if (source.name, fold(query)) not in searches:
            searches.add((source.name, fold(query)))
            tasks.append(AgentTask(gap=test, agent=source.name, query=query, tests_hypothesis=True))
    return tuple(tasks)


def answered_searches(step: SelectInput) -> set[tuple[str, str]]:
    """Return the searches that were answered, by the query as requested: a source may send another one."""
    return {(r.source, fold(r.asked or r.query)) for r in step.tried if r.status in ANSWERED}


def _ladder(info: SourceInfo, gap: str, step: SelectInput) -> Iterator[str]:
    """List queries for one source from the most exact to the widest.

    An index of keywords is asked for all names, then without the last, and so on; one that ranks texts is
    asked once; one that may look for words as they stand is asked for each."""
    if _BOOLEAN.search(gap):
        yield gap
    elif wants_keywords(info):
        names = _names(gap, aspect_of(step, gap))
        yield from (AND.join(names[:size]) for size in range(len(names), 0, -1))
    else:
        yield search_text(step, gap)
        if not {"local", "web"} & set(info.domains):
            yield from rarest_words(gap)


def wants_keywords(info: SourceInfo) -> bool:
    """Indexes with boolean search want names joined by AND; the library and the web accept a question."""
    domains = set(info.domains)
    return not {"local", "web"} & domains and bool({"biomedical", "clinical", "regulatory"} & domains)


def keywords(text: str, aspect: Aspect | None = None) -> str:
    """Join at most `MAX_NAMES` names as typed, and the first search word of an aspect.

    `Does metformin slow Alzheimer's disease?` gives `metformin AND Alzheimer's disease`."""
    return AND.join(_names(text, aspect))


def _names(text: str, aspect: Aspect | None) -> tuple[str, ...]:
    words = () if aspect is None else aspect.search.split()[:1]
    return (*entities(text)[:MAX_NAMES], *words) or (text,)
