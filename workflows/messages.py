"""The messages that change a run, each declared once: what it carries, when it is refused, what it does.

`workflows.handlers` makes the signals and updates of every research workflow from these declarations; what
the Web UI and the stock command line show of a message is its docstring.

Invariants:

* a signal only records what was requested; one that cannot be read becomes an event and is ignored;
* an answer counts only while its gate waits: nothing is approved before it was shown;
* what may be wrong (a plan, an amount, a name) is an update, and a refusal changes nothing.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, model_validator

from activities.configuration.declaration import option
from activities.contracts.evidence import Frozen, Gate, ReportPlan
from activities.contracts.plan import Clarified
from activities.contracts.step import Reading
from activities.messages import plural
from workflows.amounts import ADDED, NOTHING_ADDED, Addition, Amounts, extension_in_words
from workflows.part_state import CandidatesState, ClarificationState
from workflows.types import QUESTION_CHARS, BudgetStatus, PlanView

if TYPE_CHECKING:
    from workflows.run import RunParts

NAME_CHARS = 200
STEERING_CHARS = 2_000
MAX_STEERING = 20
"""Steering texts that are kept and shown to later steps: the latest."""
MAX_ADDED_SOURCES = 20
TITLE_CHARS = 300
BACKGROUND_CHARS = 8_000
ANSWER_CHARS = 400
SECTION_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""An id becomes part of a child workflow's id."""

Act = Callable[..., Awaitable[Any]]
A = TypeVar("A", bound=Act)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A message: its name, what it carries, and what it does to a run."""

    name: str
    act: Act
    about: str
    carries: type[Frozen] | None = None
    returns: object = None
    fault: Callable[["RunParts", Any], str] | None = None
    """Says what is wrong with it; empty when it may be carried out."""


SIGNALS: dict[str, Declaration] = {}
"""What may be sent without an answer, by name."""
UPDATES: dict[str, Declaration] = {}
"""What must be refused when it is wrong, by name."""


def signal(act: A) -> A:
    """Declare a signal by the function that carries it out."""
    SIGNALS[act.__name__] = _declaration(act)
    return act


def update(fault: Callable[["RunParts", Any], str]) -> Callable[[A], A]:
    """Declare an update by the function that carries it out; `fault` says what is wrong with one."""

    def declare(act: A) -> A:
        UPDATES[act.__name__] = _declaration(act, fault)
        return act

    return declare


def _declaration(act: Act, fault: Callable[["RunParts", Any], str] | None = None) -> Declaration:
    types = {name: kind for name, kind in act.__annotations__.items() if name != "run"}
    returns = types.pop("return")
    carries = next(iter(types.values()), None)
    return Declaration(act.__name__, act, " ".join((act.__doc__ or "").split()), carries, returns, fault)


Text = Annotated[str, Field(max_length=2_000)]
By = Annotated[str, option("Who decides; default: your user name.")]


class Message(Frozen):
    """A message to a run. Its fields are the options, arguments and form fields of every surface."""

    model_config = ConfigDict(extra="forbid", defer_build=False)  # FastAPI reads it as it is


# gates


class Approval(Message):
    """Signals `approve` and `reject`.

    One that names no gate, or one that does not wait, is recorded as an event and changes nothing.
    """

    gate: Annotated[Gate | None, option("Which gate; default: the one that waits.")] = None
    note: Annotated[Text, option("Reason; printed in the report.")] = ""
    by: By = ""


@signal
async def approve(run: "RunParts", answer: Approval) -> None:
    """Approve what waits at a gate.

    {"gate": "clarification"|"plan"|"candidates"|"report", "by": "...", "note": "..."}
    """
    _record_answer(run, "approve", "approved", answer)


@signal
async def reject(run: "RunParts", answer: Approval) -> None:
    """Reject what waits at a gate.

    {"gate": "clarification"|"plan"|"candidates"|"report", "by": "...", "note": "..."}
    """
    _record_answer(run, "reject", "rejected", answer)


def _record_answer(
    run: "RunParts", name: str, action: Literal["approved", "rejected"], answer: Approval
) -> None:
    gate = answer.gate
    if gate is not None and run.gates.waits_for(gate):
        run.gates.record_decision(gate, action, answer.by, answer.note)
    else:
        message = f"signal {name}: the gate {gate or 'that is not named'} does not wait for a decision"
        run.events.emit("ignored", message, signal=name, gate=gate)


class EditPlan(Message):
    """Update `edit_plan`: the whole plan as it is to be. Refused when the plan gate is not waiting."""

    plan: Annotated[ReportPlan, option("The whole plan.")]
    by: By = ""


def plan_fault(run: "RunParts", edit: EditPlan) -> str:
    plan, max_sections = edit.plan, run.context.max_sections
    if not run.gates.waits_for("plan"):
        return "the plan can only be edited while it waits for approval"
    outline = plan.report_outline
    if not 1 <= len(outline) <= max_sections:
        count = "1 section" if max_sections == 1 else f"1 to {max_sections} sections"
        return f"the plan of this run has {count}, this one has {len(outline)}"
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


@update(plan_fault)
async def edit_plan(run: "RunParts", edit: EditPlan) -> PlanView:
    """Replace the plan that waits for approval; the gate stays open.

    {"plan": {"report_title": "...", "report_outline": [{"title": "...", "key_question": "..."}]},
    "by": "..."}
    """
    context = run.context
    context.adopt_edited_plan(edit.plan)
    run.gates.record_decision("plan", "edited", edit.by)
    run.events.emit(
        "planned",
        f"the plan now has {plural(len(context.outline), 'section')}",
        sections=len(context.outline),
        plan_hash=context.state.question.plan_hash,
        by=edit.by[:NAME_CHARS] or "a reviewer",
    )
    run.events.show_details()
    return run.gates.plan()


class Answers(Message):
    """Update `answer`: to what the run asks back, in the order of its questions.

    An empty text leaves what is assumed. Refused when nothing is asked or there are more answers than
    questions.
    """

    answers: Annotated[tuple[Text, ...], option('In order; "" leaves what is assumed.')] = Field(
        max_length=10
    )
    by: By = ""


def answers_fault(run: "RunParts", reply: Answers) -> str:
    answers, questions = reply.answers, len(run.state.part(ClarificationState).readings)
    if not run.gates.waits_for("clarification"):
        return "the run asks nothing back now"
    if len(answers) > questions:
        return f"there are {len(answers)} answers to {plural(questions, 'question')}"
    if any(len(text) > ANSWER_CHARS for text in answers):
        return f"an answer has at most {ANSWER_CHARS} characters"
    return ""


@update(answers_fault)
async def answer(run: "RunParts", reply: Answers) -> tuple[Reading, ...]:
    """Answer what the run asks back, in order, which opens the gate; "" leaves what is assumed.

    {"answers": ["..."], "by": "..."}
    """
    part = run.state.part(ClarificationState)
    texts = [*reply.answers, *[""] * len(part.readings)]
    readings = tuple(
        reading.replace(answer=" ".join(text.split()))
        for reading, text in zip(part.readings, texts, strict=False)
    )
    part.clarified = Clarified(readings=readings)
    run.gates.record_decision("clarification", "answered", reply.by)
    return readings


class ChooseCandidates(Message):
    """Update `choose_candidates`: the names to keep. Refused for a name that was not put forward."""

    names: Annotated[tuple[Text, ...], option("Keep this one; repeatable.", flag="--keep")] = Field(
        max_length=200
    )
    by: By = ""


def choice_fault(run: "RunParts", choice: ChooseCandidates) -> str:
    names = [candidate.name for candidate in run.state.part(CandidatesState).candidates]
    if not run.gates.waits_for("candidates"):
        return "no candidates wait to be chosen"
    keys = {name.casefold() for name in names}
    unknown = [name for name in choice.names if name.casefold() not in keys]
    if choice.names and not unknown:
        return ""
    return f"not among the candidates: {', '.join(unknown) or 'no name given'}; there are {', '.join(names)}"


@update(choice_fault)
async def choose_candidates(run: "RunParts", choice: ChooseCandidates) -> tuple[str, ...]:
    """Keep only these candidates and open the gate: {"names": ["..."], "by": "..."}."""
    state = run.state
    names = {name.casefold() for name in choice.names}
    part = state.part(CandidatesState)
    dropped = [c for c in part.candidates if c.name.casefold() not in names]
    state.people.left_out += [name for c in dropped for name in (c.name, c.generic_name) if name]
    part.candidates = [c for c in part.candidates if c.name.casefold() in names]
    part.hypotheses = [h for h in part.hypotheses if h.drug.casefold() in names]
    state.people.chosen = [c.name for c in part.candidates]
    run.gates.record_decision("candidates", "chosen", choice.by, ", ".join(state.people.chosen))
    return tuple(state.people.chosen)


# the course of a run


@signal
async def pause(run: "RunParts") -> None:
    """Pause the run at its next step; no input."""
    people = run.state.people
    if not (people.paused or people.finish or people.cancelled):
        people.paused = True
        run.context.budget.hold_clock("pause", run.context.now())
        run.events.emit("paused", "a reviewer paused the run")
        run.events.show_paused()
        await _forward(run, "pause")


@signal
async def resume(run: "RunParts") -> None:
    """Resume a paused run; no input."""
    if run.state.people.paused:
        run.gates.end_pause()
        run.events.emit("resumed", "a reviewer resumed the run")
        run.events.show_paused()
        await _forward(run, "resume")


@signal
async def finish_now(run: "RunParts") -> None:
    """Stop searching and write the report from what was found; no input."""
    if not run.state.people.finish:
        run.state.people.finish = True
        run.gates.end_pause()
        message = "a reviewer asked to finish: the report is written from what was found"
        run.events.emit("finishing", message)
        await _forward(run, "finish_now")


class Steer(Message):
    """Signal `steer`."""

    text: Annotated[str, option("What it follows from its next step on.")] = ""
    add_source: Annotated[str, option("Search this source as well.")] = ""
    by: By = ""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.text.strip() or self.add_source.strip()):
            raise ValueError('the instruction is empty; write one: "only trials in adults"')
        return self


@signal
async def steer(run: "RunParts", instruction: Steer) -> None:
    """Give an instruction that later steps follow: {"text": "...", "add_source": "pubmed"}."""
    if instruction.add_source:
        await add_source(run, AddSource(source=instruction.add_source))
    if text := instruction.text.strip()[:STEERING_CHARS]:
        people = run.state.people
        people.steering = [*people.steering, text][-MAX_STEERING:]
        people.steered += 1
        run.events.emit("steered", text, text=text, by=instruction.by[:NAME_CHARS])
        await _forward(run, "steer", Steer(text=text, by=instruction.by))


class AddSource(Message):
    """Signal `add_source`."""

    source: str


@signal
async def add_source(run: "RunParts", request: AddSource) -> None:
    """Search another source too: {"source": "pubmed"}."""
    names, name = run.state.people.added_sources, request.source.strip()[:NAME_CHARS]
    if name and name not in names and len(names) < MAX_ADDED_SOURCES:
        names.append(name)
        run.events.emit("source_added", f"a reviewer added the source {name}", source=name)
        await _forward(run, "add_source", request)


async def _forward(run: "RunParts", name: str, payload: Steer | AddSource | None = None) -> None:
    if run.sections is not None:
        await run.sections.forward(name, payload)


class ExtendBudget(Amounts, Message):
    """Update `extend_budget`: amounts to add. Refused when nothing is added or the run is over."""


def extension_fault(run: "RunParts", extension: ExtendBudget) -> str:
    limits, stop, addition = run.context.budget.limits, run.state.stop_reason, extension.addition
    if addition == Addition():
        return NOTHING_ADDED
    for name, (limit, unit, _) in ADDED.items():
        if not (getattr(limits, f"max_{name}") or 0) + getattr(addition, name) <= limit:
            return f"a run may have at most {limit:,.0f} {unit}, extensions included"
    return f"the run has stopped searching ({stop})" if stop is not None else ""


@update(extension_fault)
async def extend_budget(run: "RunParts", extension: ExtendBudget) -> BudgetStatus:
    """Raise the limits; a run whose next call did not fit continues if it has not begun to write.

    {"tokens": 0, "cost": 0.0, "seconds": 0, "iterations": 0}
    """
    loop, addition = run.state.loop, extension.addition
    run.context.budget.extend(addition)
    loop.max_iterations += extension.iterations
    loop.refused = None
    run.events.emit(
        "budget",
        extension_in_words(addition),
        tokens=extension.tokens,
        cost_usd=addition.cost_microusd / 1e6,
        seconds=extension.seconds,
        iterations=extension.iterations,
    )
    if run.sections is not None:
        await run.sections.share_extension(addition)
    return run.context.budget_status()
