"""The plan of a long report: the profile's outline and the question's own clauses."""

import re

from activities.extractive.query import split_clauses, topic_of
from activities.steps import PlanInput
from activities.text.facets import facet_of
from activities.text.tokens import fold, phrases
from activities.types import ReportPlan, ReportPlanSection

_DEFAULT_OUTLINE = ("Background", "Main findings", "Limits of the evidence")


def plan(step: PlanInput) -> ReportPlan:
    """One section a clause when the question has several, then the profile's outline; at most
    `max_sections`."""
    room = max(1, step.max_sections)
    question = step.parsed.improved_query or step.question
    clauses = step.parsed.research_questions or split_clauses(question)
    topic = topic_of(question, step.parsed.key_entities)
    sections: dict[str, ReportPlanSection] = {}

    def add(title: str, key_question: str) -> None:
        if len(sections) < room and fold(title) not in sections:
            sections[fold(title)] = ReportPlanSection(title=title, key_question=key_question)

    if len(clauses) > 1:
        for clause in clauses:
            title = title_of(clause)
            add(first_words(clause) if fold(title) in sections else title, clause)
    for note in step.steering:
        add(title_of(note), note)
    outline = step.profile.outline or _DEFAULT_OUTLINE
    for title in outline:
        add(title, question_for(title, topic, question))
    if not sections:
        add(title_of(question), question)
    names = ", ".join(step.parsed.key_entities[:5])
    background = f"The question is: {question}" + (f" It names: {names}." if names else "")
    return ReportPlan(
        report_title=headline(question),
        background_context=background,
        report_outline=tuple(sections.values()),
    )


def question_for(title: str, topic: str, question: str) -> str:
    """The key question of an outline's section, about this topic."""
    facet = facet_of(title)
    return facet.question.format(topic=topic) if facet else f"{title}: {question}"


def title_of(clause: str) -> str:
    """A section's title from a clause: its names, else its first words."""
    bare = clause.strip(" ?.,;:")
    if not clause.rstrip().endswith("?") and 1 < len(bare.split()) <= 8:
        return bare[:1].upper() + bare[1:]
    names = phrases(clause)
    text = ", ".join(names[:3]) if names else " ".join(clause.split()[:8])
    text = text.strip(" ?.,;:")
    return (text[:1].upper() + text[1:])[:90] or "Findings"


def first_words(clause: str) -> str:
    """The beginning of a clause as a title."""
    text = " ".join(clause.strip(" ?.,;:").split()[:10])
    return text[:1].upper() + text[1:]


def headline(question: str) -> str:
    """The report's title: the question itself, its first letter a capital, at most 160 characters."""
    text = re.sub(r"\s+", " ", question).strip()
    text = text[:1].upper() + text[1:]
    return text if len(text) <= 160 else text[:157].rsplit(" ", 1)[0] + " ..."
