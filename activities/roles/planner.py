"""Planner: the sections of a long report."""

from collections.abc import Sequence

from activities.roles.prompt import compose, listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Text, is_relevant, limits, line
from activities.steps import PlanInput
from activities.types import Evidence, ReportPlan, ReportPlanSection


class SectionAnswer(Loose):
    title: Text = limits(length=100, default="")
    key_question: Text = limits(length=240, default="")


class PlanAnswer(Loose):
    report_title: Text = limits(length=140, default="")
    background_context: Text = limits(length=500, default="")
    sections: list[SectionAnswer] = limits(items=8)


def render(step: PlanInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    parsed = step.parsed
    return compose(
        "planner",
        step,
        room=room,
        given=[
            listed("Named in the question", parsed.key_entities),
            listed("Smaller questions", parsed.research_questions),
            listed("Usual sections of this profile", step.profile.outline),
        ],
        task=f"Plan the report in at most {step.max_sections} sections. Answer with JSON.",
    )


def accept(step: PlanInput, _prompt: Prompt, answer: PlanAnswer) -> Accepted[ReportPlan]:
    """At most the number of sections asked for, each with a title and a question that is relevant to the
    user's, no title twice. Title and background are printed without a quote: they must be relevant too."""
    question = step.parsed.improved_query or step.question
    about = (question, *step.parsed.key_entities, *step.parsed.research_questions)
    usual = (*step.profile.outline, *(c.description for c in step.profile.criteria))
    sections: dict[str, ReportPlanSection] = {}
    for section in answer.sections:
        title, key_question = line(section.title, 120), line(section.key_question, 400)
        if title and key_question and is_relevant(f"{title} {key_question}", *about, *usual):
            sections.setdefault(title.casefold(), ReportPlanSection(title=title, key_question=key_question))
    outline = tuple(sections.values())[: step.max_sections]
    notes = () if outline else ("the plan had no usable section; the question itself is the only one",)
    title = line(answer.report_title, 200)
    background = line(answer.background_context, 1_200)
    plan = ReportPlan(
        report_title=title if is_relevant(title, *about) else line(question, 200),
        background_context=background if is_relevant(background, *about) else "",
        report_outline=outline
        or (ReportPlanSection(title=line(question, 120), key_question=line(question, 400)),),
    )
    return Accepted(plan, notes)


SPEC = RoleSpec[PlanInput, PlanAnswer, ReportPlan]("planner", PlanAnswer, render, accept)
