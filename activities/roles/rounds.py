"""Observer, gap evaluator and reflector: what is known between the rounds of a search, and what is missing.

They read what was judged of the works, or their titles, not their texts; the reflector says whether the
searches served the gaps that they were made for.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from activities.contracts.evidence import ANSWERED, Evidence
from activities.contracts.judge import ReflectInput, Reflection
from activities.contracts.plan import GapsInput, KnowledgeGapOutput, Observation, ObserveInput
from activities.contracts.step import Instruction, InstructionKind
from activities.extractive import searching
from activities.roles.fields import Loose, Text, Texts, limits
from activities.roles.prompt import compose, fence, findings, iteration_listing, listing, search_listing
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, lines, one_of

MAX_TEXT_CHARS = 1_000
_LABEL = re.compile(r"(?:(?<!\s)\s+)?\[?\b[ES]\d{1,4}\b\]?")
"""A label means nothing to later steps."""


class ObservationAnswer(Loose):
    text: Text = limits(length=MAX_TEXT_CHARS)


def render_observation(step: ObserveInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    return compose(
        "observer",
        step,
        room=room,
        inputs=[
            findings(step.judgements, step.titles),
            listing("The judge says", (step.last_judgement,) if step.last_judgement else (), 1, 400),
            iteration_listing(step.earlier),
        ],
        task="Say what is known and what is missing. Answer with JSON.",
    )


def accept_observation(
    step: ObserveInput, _prompt: Prompt, answer: ObservationAnswer
) -> Accepted[Observation]:
    text = line(_LABEL.sub("", answer.text), MAX_TEXT_CHARS + 200)
    return Accepted(Observation(text=text or f"Nothing was concluded yet about: {line(step.question, 300)}"))


OBSERVER = RoleSpec(
    "observer",
    ObservationAnswer,
    render_observation,
    accept_observation,
    lambda step, _: searching.observe(step),
    idle=lambda step, _: not step.titles,
)


MAX_OBSERVATION_CHARS = 1_000
MAX_INSTRUCTIONS = 8
"""Instructions that are sorted in one call, the latest."""
KINDS: tuple[InstructionKind, ...] = get_args(InstructionKind)
JSON = "Answer with JSON."
SORT = (
    "For each of these instructions give an entry of `instructions`: its `label`; its `kind`: `search` for "
    "something to look for, `restriction` for which works count (a period, a population, a kind of study), "
    "`text` for how the report is to be written; the `query` of a search, as one would type it, three to "
    "eight words. Only a search may be a gap."
)


class InstructionAnswer(Loose):
    label: Text = limits(length=6, default="")
    kind: Text = limits(length=12, default="")
    query: Text = limits(length=120, default="")


class GapsAnswer(Loose):
    research_complete: bool = False
    outstanding_gaps: Texts = limits(items=5, length=220)
    instructions: list[InstructionAnswer] = limits(items=MAX_INSTRUCTIONS, default_factory=list)


def _instructions_by_label(step: GapsInput) -> dict[str, str]:
    """Map labels to the instructions: `R1`."""
    return {f"R{n}": text for n, text in enumerate(step.steering[-MAX_INSTRUCTIONS:], 1)}


def render_gaps(step: GapsInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    observation = line(step.observation, MAX_OBSERVATION_CHARS)
    instructions = _instructions_by_label(step)
    rows = [f"{label}: {line(text, 300)}" for label, text in instructions.items()]
    prompt = compose(
        "gap_evaluator",
        step,
        room=room,
        inputs=[
            listing("Smaller questions", step.research_questions, max_items=6),
            listing("Gaps the judge named", step.judged_gaps, max_items=5),
            search_listing(step.tried, max_items=12),
            iteration_listing(step.earlier),
            f"What is known so far:\n{fence('observation', observation)}" if observation else "",
            findings(step.judgements, step.titles, max_items=12, max_chars=240),
            "\n".join(("The reviewer's instructions:", *rows)) if rows else "",
        ],
        task=" ".join(filter(None, (SORT if rows else "", f"Name at most {step.max_gaps} gaps.", JSON))),
    )
    return replace(
        prompt,
        choices={"instructions.kind": KINDS, "instructions.label": tuple(instructions)}
        if instructions
        else {"instructions": ()},
    )


def accept_gaps(step: GapsInput, _prompt: Prompt, answer: GapsAnswer) -> Accepted[KnowledgeGapOutput]:
    """Accept as complete only without gaps; an answer that says neither has what the judge missed."""
    gaps = lines(answer.outstanding_gaps, step.max_gaps)
    if not gaps and not answer.research_complete:
        gaps = lines(step.judged_gaps or (step.question,), step.max_gaps)
    texts = _instructions_by_label(step)
    instructions = {
        text: Instruction(
            text=text, kind=kind, query=line(instruction.query, 160) if kind == "search" else ""
        )
        for instruction in answer.instructions
        if (text := texts.get(instruction.label.strip())) and (kind := one_of(instruction.kind, KINDS))
    }
    return Accepted(
        KnowledgeGapOutput(
            research_complete=not gaps, outstanding_gaps=gaps, instructions=tuple(instructions.values())
        )
    )


GAP_EVALUATOR = RoleSpec(
    "gap_evaluator",
    GapsAnswer,
    render_gaps,
    accept_gaps,
    lambda step, _: searching.evaluate_gaps(step),
    idle=lambda step, _: not (step.titles or step.steering),
)


MAX_SEARCHES = 5
MAX_TITLES = 20
NOTHING_NEW = "They brought no new work."


class ReflectionAnswer(Loose):
    served: bool
    reason: Text = limits(length=300, default="")
    better_searches: Texts = limits(items=MAX_SEARCHES, length=120, default_factory=list)


def render_reflection(step: ReflectInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    titles = [ref.title for ref in step.new_evidence if ref.standing != "retracted"]
    return compose(
        "reflector",
        step,
        room=room,
        inputs=[
            listing("Gaps", step.gaps, max_chars=300),
            search_listing(step.searches),
            listing("New works", titles, MAX_TITLES, 140) or NOTHING_NEW,
        ],
        task="Did the new works serve the gaps? Answer with JSON.",
    )


def accept_reflection(step: ReflectInput, _prompt: Prompt, answer: ReflectionAnswer) -> Accepted[Reflection]:
    """Accept better searches without those that were made already."""
    earlier_queries = {" ".join((s.asked or s.query).casefold().split()) for s in step.searches}
    queries = (q for q in answer.better_searches if " ".join(q.casefold().split()) not in earlier_queries)
    return Accepted(
        Reflection(
            served=answer.served,
            reason=line(answer.reason, 500),
            better_searches=lines(queries, MAX_SEARCHES, 200),
        )
    )


REFLECTOR = RoleSpec(
    "reflector",
    ReflectionAnswer,
    render_reflection,
    accept_reflection,
    searching.reflect,
    idle=lambda step, _: not step.new_evidence and all(s.status not in ANSWERED for s in step.searches),
)
