"""The plan of a long report: the profile's outline and the question's own clauses."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from activities.extractive.query import split_clauses
from activities.extractive.topics import Topic, aspect_of, topic, with_antecedent
from activities.steps import PlanInput
from activities.text.facets import FINDINGS, facet_of, names_intervention
from activities.text.tokens import fold, phrases
from activities.types import ReportPlan, ReportPlanSection

_DEFAULT_OUTLINE = ("Background", "Main findings", "Limits of the evidence")
DIRECT = "Direct evidence"
"""The section that is asked the question itself, where its topic says less than the question."""
_OF_THE_ASPECT = ("clinical", "open", "findings")
"""Aspects of the outline that are asked about the aspect of a question, not about its subject."""
_WITHOUT_HARMS = frozenset({"risk factors", "survival", "prognosis", "diagnosis", "inheritance", "causes"})
"""Aspects of which harms are not asked: length of stay does no harm."""
_OF_DRUGS = ("clinical", "safety", "open")
"""Aspects of the outline that are asked about drugs where candidates are looked for."""


def plan(step: PlanInput) -> ReportPlan:
    """One section a clause when the question has several, then the profile's outline; at most
    `max_sections`."""
    room = max(1, step.max_sections)
    question = step.parsed.improved_query or step.question
    clauses = step.parsed.research_questions or split_clauses(question)
    about = topic(question, step.parsed.key_entities)
    if len(clauses) > 1:  # the clauses ask the question itself
        about = replace(about, is_whole=True)
    elif step.profile.candidates and not about.is_whole:  # so does the outline
        about = Topic(about.subject, about.subject)
    sections: dict[str, ReportPlanSection] = {}

    def add(title: str, key_question: str) -> None:
        is_asked = any(section.key_question == key_question for section in sections.values())
        if len(sections) < room and fold(title) not in sections and not is_asked:
            sections[fold(title)] = ReportPlanSection(title=title, key_question=key_question)

    if len(clauses) > 1:
        first = topic(clauses[0]).subject
        for clause in clauses:
            part = topic(with_antecedent(clause, first))
            facet = aspect_of(part.whole) if part.aspects == (part.whole,) else None
            if facet is not None:
                add(capitalised(part.whole), facet.question.format(topic=part.subject))
                continue
            title = title_of(clause)
            add(first_words(clause) if fold(title) in sections else title, clause)
    for note in step.steering:
        add(title_of(note), note)
    if not about.is_whole:
        add(DIRECT, question)
    outline = step.profile.outline or _DEFAULT_OUTLINE
    for title, key_question in _sections(about, outline, question, drugs=step.profile.candidates):
        add(title, key_question)
    if not sections:
        add(title_of(question), question)
    names = ", ".join(step.parsed.key_entities[:5])
    background = f"The question is: {question}" + (f" It names: {names}." if names else "")
    return ReportPlan(
        report_title=headline(question),
        background_context=background,
        report_outline=tuple(sections.values()),
    )


def _sections(
    about: Topic, outline: Sequence[str], question: str, *, drugs: bool
) -> Iterator[tuple[str, str]]:
    """Title and key question of each section: the aspects that are asked for, then the outline's, which ask
    about the same, or the question itself where its subject is no phrase. `drugs`: what is found in people,
    harms and open questions are those of drugs against the disease, not of the disease."""
    asked = [(aspect, aspect_of(aspect)) for aspect in about.aspects]
    for aspect, facet in asked:
        wording = facet or FINDINGS
        yield capitalised(aspect), wording.question.format(topic=about.subject if facet else aspect)
    done = _left_out(about, {facet.name for _, facet in asked if facet}, question)
    whole = about.aspects[0] if len(asked) == 1 else about.subject
    for title in outline:
        facet = facet_of(title)
        if facet is not None and facet.name in done:
            continue
        if facet is None or not about.is_phrase:
            yield title, f"{title}: {question}"
        else:
            of_it = facet.name in _OF_THE_ASPECT or (facet.name == "safety" and "treatment" in done)
            of_drugs = drugs and not asked and facet.name in _OF_DRUGS
            topic_of_it = f"drugs against {about.subject}" if of_drugs else about.subject
            yield title, facet.question.format(topic=whole if of_it and not of_drugs else topic_of_it)


def _left_out(about: Topic, asked: set[str], question: str) -> set[str]:
    """Aspects that get no section from the outline: those that were asked for, which have one, the mechanism
    where something else is asked for, and harms where neither a treatment nor a subject as a whole is."""
    names = set(asked)
    wanted = facet_of(question)
    if about.aspects or (not about.is_whole and (wanted is None or wanted.name != "mechanism")):
        names.add("mechanism")
    is_treated = "treatment" in asked or names_intervention(about.subject)
    if not about.is_phrase:  # would be asked the question itself once more
        names |= {"clinical", "findings"}
    if not is_treated and (not about.is_whole or asked & _WITHOUT_HARMS):
        names.add("safety")
    return names


def title_of(clause: str) -> str:
    """A section's title from a clause: its names, else its first words."""
    bare = clause.strip(" ?.,;:")
    if not clause.rstrip().endswith("?") and 1 < len(bare.split()) <= 8:
        return capitalised(bare)
    names = phrases(clause)
    text = ", ".join(names[:3]) if names else " ".join(clause.split()[:8])
    text = text.strip(" ?.,;:")
    return capitalised(text)[:90] or "Findings"


def first_words(clause: str) -> str:
    """The beginning of a clause as a title."""
    return capitalised(" ".join(clause.strip(" ?.,;:").split()[:10]))


def capitalised(text: str) -> str:
    """The text with its first letter a capital."""
    return text[:1].upper() + text[1:]


def headline(question: str) -> str:
    """The report's title: the question itself, its first letter a capital, at most 160 characters."""
    text = re.sub(r"\s+", " ", question).strip()
    text = capitalised(text)
    return text if len(text) <= 160 else text[:157].rsplit(" ", 1)[0] + " ..."
