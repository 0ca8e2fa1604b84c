"""Gap evaluator: what is still missing. It reads what was judged of the works, not their texts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from activities.contracts.evidence import Evidence
from activities.contracts.plan import GapsInput, KnowledgeGapOutput
from activities.contracts.step import Instruction, InstructionKind
from activities.extractive import searching
from activities.roles.prompt import compose, earlier, fenced, findings, listed, tried
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Text, Texts, limits, line, lines, one_of

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


def _labelled(step: GapsInput) -> dict[str, str]:
    """The instructions by label: `R1`."""
    return {f"R{n}": text for n, text in enumerate(step.steering[-MAX_INSTRUCTIONS:], 1)}


def render(step: GapsInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    observation = line(step.observation, MAX_OBSERVATION_CHARS)
    asked = _labelled(step)
    rows = [f"{label}: {line(text, 300)}" for label, text in asked.items()]
    prompt = compose(
        "gap_evaluator",
        step,
        room=room,
        inputs=[
            listed("Smaller questions", step.research_questions, limit=6),
            listed("Gaps the judge named", step.judged_gaps, limit=5),
            tried(step.tried, limit=12),
            earlier(step.earlier),
            f"What is known so far:\n{fenced('observation', observation)}" if observation else "",
            findings(step.judgements, step.titles, most=12, each=240),
            "\n".join(("The reviewer's instructions:", *rows)) if rows else "",
        ],
        task=" ".join(filter(None, (SORT if rows else "", f"Name at most {step.max_gaps} gaps.", JSON))),
    )
    return replace(
        prompt, choices={"instructions.kind": KINDS, "instructions.label": tuple(asked)} if asked else {}
    )


def accept(step: GapsInput, _prompt: Prompt, answer: GapsAnswer) -> Accepted[KnowledgeGapOutput]:
    """Complete only without gaps. An answer that says neither falls back to what the judge missed."""
    gaps = lines(answer.outstanding_gaps, step.max_gaps)
    if not gaps and not answer.research_complete:
        gaps = lines(step.judged_gaps or (step.question,), step.max_gaps)
    asked = _labelled(step)
    read = {
        text: Instruction(text=text, kind=kind, query=line(one.query, 160) if kind == "search" else "")
        for one in answer.instructions
        if (text := asked.get(one.label.strip())) and (kind := one_of(one.kind, KINDS))
    }
    return Accepted(
        KnowledgeGapOutput(
            research_complete=not gaps, outstanding_gaps=gaps, instructions=tuple(read.values())
        )
    )


SPEC = RoleSpec[GapsInput, GapsAnswer, KnowledgeGapOutput](
    "gap_evaluator",
    "Finding what is missing",
    GapsAnswer,
    render,
    accept,
    lambda step, _: searching.evaluate_gaps(step),
    idle=lambda step, _: not (step.titles or step.steering),
)
