"""What is wrong with an update that a person sends: a sentence, empty when it may be carried out. Pure."""

import re
from collections.abc import Sequence

from activities.contracts.evidence import ReportPlan, StopReason
from activities.plural import plural
from workflows.amounts import ADDED, Addition
from workflows.types import QUESTION_CHARS, ChooseCandidates, Limits

TITLE_CHARS = 300
BACKGROUND_CHARS = 8_000
ANSWER_CHARS = 400


SECTION_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""An id becomes part of a child workflow's id."""


def plan_fault(plan: ReportPlan, most: int, *, waits: bool) -> str:
    """Return what is wrong with a plan for the one that `waits` for approval; `most` sections are allowed."""
    if not waits:
        return "the plan can only be edited while it waits for approval"
    outline = plan.report_outline
    if not 1 <= len(outline) <= most:
        wanted = "1 section" if most == 1 else f"1 to {most} sections"
        return f"the plan of this run has {wanted}, this one has {len(outline)}"
    if any(not s.title.strip() or not s.key_question.strip() for s in outline):
        return "every section needs a title and a key question"
    titles = (plan.report_title, *(s.title for s in outline))
    if (
        any(len(title) > TITLE_CHARS for title in titles)
        or any(len(s.key_question) > QUESTION_CHARS for s in outline)
        or len(plan.background_context) > BACKGROUND_CHARS
    ):
        return (
            f"a title has at most {TITLE_CHARS} characters, a key question {QUESTION_CHARS}, "
            f"the background {BACKGROUND_CHARS}"
        )
    ids = [s.id for s in outline if s.id]
    if len(ids) != len(set(ids)):
        return "two sections have the same id"
    if any(not SECTION_ID.fullmatch(name) for name in ids):
        return "a section's id has letters, digits, - and _ only; leave it out to have one given"
    return ""


def extension_fault(more: Addition, limits: Limits, stopped: StopReason | None) -> str:
    """Return what is wrong with amounts that are to be added to the limits."""
    if more == Addition():
        return "nothing to add: give tokens, cost, seconds or iterations"
    for name, (most, called, _) in ADDED.items():
        if not (getattr(limits, f"max_{name}") or 0) + getattr(more, name) <= most:
            return f"a run may have at most {most:,.0f} {called}, extensions included"
    return f"the run has stopped searching ({stopped})" if stopped is not None else ""


def choice_fault(choice: ChooseCandidates, names: Sequence[str], *, waits: bool) -> str:
    """Return what is wrong with the names that are to be kept of candidates; `waits`: whether these wait."""
    if not waits:
        return "no candidates wait to be chosen"
    keys = {name.casefold() for name in names}
    unknown = [name for name in choice.names if name.casefold() not in keys]
    if choice.names and not unknown:
        return ""
    return f"not among the candidates: {', '.join(unknown) or 'no name given'}; there are {', '.join(names)}"


def answers_fault(answers: Sequence[str], questions: int, *, waits: bool) -> str:
    """Return what is wrong with answers to the questions that wait."""
    if not waits:
        return "the run asks nothing back now"
    if len(answers) > questions:
        return f"there are {len(answers)} answers to {plural(questions, 'question')}"
    if any(len(text) > ANSWER_CHARS for text in answers):
        return f"an answer has at most {ANSWER_CHARS} characters"
    return ""
