"""Planner: the sections of a long report, each with its first searches."""

from collections.abc import Sequence

from activities.contracts.evidence import Evidence, ReportPlan, ReportPlanSection, Statement
from activities.contracts.plan import PlanInput
from activities.extractive import planning
from activities.roles.fields import Loose, Text, Texts, limits
from activities.roles.prompt import compose, listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import is_relevant, line, lines

MAX_QUERIES = 3
"""First searches of a section."""
MAX_QUERY_CHARS = 160


class SectionAnswer(Loose):
    title: Text = limits(length=100, default="")
    key_question: Text = limits(length=240, default="")
    queries: Texts = limits(items=MAX_QUERIES, length=MAX_QUERY_CHARS, default_factory=list)


class PlanAnswer(Loose):
    report_title: Text = limits(length=140, default="")
    sections: list[SectionAnswer] = limits(items=8)


def render(step: PlanInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    parsed = step.parsed
    sources = [f"{option.info.title}: {option.info.covers}" for option in step.sources]
    return compose(
        "planner",
        step,
        room=room,
        inputs=[
            listed("Sources that will be searched", sources, limit=len(sources), each=120),
            listed("Named in the question", parsed.key_entities),
            listed("Smaller questions", parsed.research_questions),
            listed("Usual sections of this profile", tuple(aspect.title for aspect in step.profile.aspects)),
        ],
        task=f"Plan the report in at most {step.max_sections} sections. Answer with JSON.",
    )


def accept(step: PlanInput, _prompt: Prompt, answer: PlanAnswer) -> Accepted[ReportPlan]:
    """Accept sections up to the number asked for, with a title and a question relevant to the user's.

    No title stands twice. The title of the report is printed without a quote: it must be relevant too.
    """
    question = step.parsed.improved_query or step.question
    about = (question, *step.parsed.key_entities, *step.parsed.research_questions)
    usual = (
        *(aspect.title for aspect in step.profile.aspects),
        *(c.description for c in step.profile.criteria),
    )
    sections: dict[str, ReportPlanSection] = {}
    for section in answer.sections:
        title, key_question = line(section.title, 120), line(section.key_question, 400)
        if title and key_question and is_relevant(f"{title} {key_question}", *about, *usual):
            queries = lines(section.queries, MAX_QUERIES, MAX_QUERY_CHARS)
            planned = ReportPlanSection(title=title, key_question=key_question, queries=queries)
            sections.setdefault(title.casefold(), planned)
    outline = tuple(sections.values())[: step.max_sections]
    notes = () if outline else (Statement.of("no_section"),)
    title = line(answer.report_title, 200)
    plan = ReportPlan(
        report_title=title if is_relevant(title, *about) else line(question, 200),
        report_outline=outline
        or (ReportPlanSection(title=line(question, 120), key_question=line(question, 400)),),
    )
    return Accepted(plan, notes)


PLANNER = RoleSpec("planner", "Planning", PlanAnswer, render, accept, lambda step, _: planning.plan(step))
