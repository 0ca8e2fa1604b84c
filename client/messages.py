"""The messages to a run and to its finished report, each declared once.

A row makes the command of its name, a name for `Run.send` or `Determinator.revise`, a route over HTTP, an
action of a tool over MCP and a form of the page. The fields of its content are the options of the command,
the body of the request, the arguments of the tool and the inputs of the form.

The content is imported when it is used: `determinator --help` reads these rows.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from client.failures import BadInput, faults_of

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    from workflows.messages import ExtendBudget, Message, Steer
    from workflows.types import BudgetStatus

Shown = Callable[[Any], str]
WAITS = "Decide"
RUNS = "Ask and follow"
READS = "Read"


@dataclass(frozen=True, slots=True)
class Verb:
    name: str
    help: str
    content: str = ""
    """Its model, as `module:name`; empty for a message that says nothing but itself."""
    to: Literal["signal", "update", "cancel", "report"] = "signal"
    """Way to the run; `report`: it is for a finished report."""
    sends: str = ""
    """Name that the workflow has for it; empty: its own."""
    answers: str = ""
    """The type that the run answers an update with, or the reply about a report, as `module:name`."""
    reply: "str | Shown" = ""
    """Reply, to be read after its name: words, or what makes them of the answer."""
    group: str = RUNS
    """Group of the help that lists its command; empty: another command sends it."""
    positional: tuple[str, ...] = ()
    """The fields that the command takes as arguments, in order; the last one takes all words that follow."""
    progress_field: str = ""
    """Field of `Progress` that the command prints when it is called with nothing to send."""
    scope: Literal["ask", "decide"] = "decide"
    """Scope that sends it over HTTP: `ask` buys answers of a model."""
    on_page: str = ""
    """The label of its form on the page of a run; empty: a button, a gate or a sentence has it there."""
    check: Callable[[Any], None] | None = None
    """Raises BadInput for content that no run could take."""
    details: str = ""
    """The rest of the command's help."""

    @property
    def model(self) -> "type[BaseModel] | None":
        return _import(self.content) if self.content else None

    @property
    def answer(self) -> Any:  # noqa: ANN401 - the type of an answer
        """The type of the answer; None where nothing is answered."""
        return _import(self.answers) if self.answers else None

    @property
    def fields(self) -> "Mapping[str, FieldInfo]":
        """The fields of its content, without who sends it."""
        fields = self.model.model_fields if self.model else {}
        return {name: field for name, field in fields.items() if name != "by"}

    @property
    def signed(self) -> bool:
        """Tell whether the report names who sent it."""
        return self.model is not None and "by" in self.model.model_fields

    def read(self, values: Mapping[str, object]) -> "Message | None":
        """Return its content, of the values that say something. Raises BadInput."""
        from pydantic import ValidationError

        content: Any = self.model
        values = {name: value for name, value in values.items() if value is not None}
        if content is None:
            if values:
                raise BadInput(f"{self.name} takes no {', '.join(values)}")
            return None
        try:
            message: Message = content.model_validate(values)
        except ValidationError as error:
            raise BadInput(faults_of(error, self.name)) from error
        if self.check is not None:
            self.check(message)
        return message

    def reply_to(self, answer: object) -> str:
        """Return what becomes of the run, in words."""
        return self.reply if isinstance(self.reply, str) else self.reply(answer)


def _import(place: str) -> Any:  # noqa: ANN401 - a model or a type
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def _check_source(steer: "Steer") -> None:
    from client.runs.checks import check_sources

    check_sources((steer.add_source,) if steer.add_source else ())


def _check_addition(addition: "ExtendBudget") -> None:
    from workflows.amounts import NOTHING_ADDED

    if not isfinite(addition.cost):
        raise BadInput(f"cost: {addition.cost} is not an amount")
    if not any(addition.model_dump().values()):
        raise BadInput(NOTHING_ADDED)


def _approval_reply(gate: str) -> str:
    return "goes on with what it assumes" if gate == "clarification" else f"has its {gate} approved"


def _budget_reply(budget: "BudgetStatus") -> str:
    from workflows.details import budget_rows

    return f"may use more: {'; '.join(row.line for row in budget_rows(budget))}"


MESSAGES: Mapping[str, Verb] = {
    row.name: row
    for row in (
        Verb(
            "steer",
            "Give a run an instruction for its next steps.",
            "workflows.messages:Steer",
            reply="follows it from its next step on",
            positional=("text",),
            on_page="What it is to do from its next step on",
            check=_check_source,
        ),
        Verb("pause", "Pause a run; waiting uses no budget.", reply="pauses at its next step"),
        Verb("resume", "Resume a paused run.", reply="goes on"),
        Verb(
            "extend",
            "Add to a run's budget while it runs.",
            "workflows.messages:ExtendBudget",
            "update",
            "extend_budget",
            "workflows.types:BudgetStatus",
            _budget_reply,
            on_page="Add to its budget",
            check=_check_addition,
        ),
        Verb(
            "finish",
            "Stop searching and write the report.",
            sends="finish_now",
            reply="stops searching and writes its report",
        ),
        Verb(
            "cancel",
            "Stop a run or one of its sections; a report is still written.",
            "client.run:CancelSection",
            "cancel",
            reply="is being cancelled; a report of what was found is still written",
        ),
        Verb(
            "tell",
            "Ask a finished report a question; its evidence answers.",
            "client.runs.revising:Asked",
            "report",
            answers="client.reports.answer:Told",
            group=READS,
            positional=("text",),
            scope="ask",
            details="The evidence that the run has answers, with quotes, by the checks of every report, in "
            "one or two calls of a model; a sentence of the report is named by its id (s2.3) or its "
            "number. Exit code 4 when this evidence does not say it.",
        ),
        Verb(
            "change",
            "Have a finished report changed in your own words.",
            "client.runs.revising:Asked",
            "report",
            answers="client.reports.answer:Changed",
            group=READS,
            positional=("text",),
            scope="ask",
            details="Shorter, without a section, for a general reader, with a work that you name by its "
            "PMID, DOI or registry number. A version is made beside the report, in at most three "
            "calls of a model. What you did not touch stays letter by letter; what is new or "
            "reworded is checked as all was. Exit code 4 when nothing changes.",
        ),
        Verb(
            "dispute",
            "Say that a sentence of a report is wrong, and why.",
            "client.runs.revising:Disputed",
            "report",
            answers="client.reports.answer:Changed",
            group=READS,
            positional=("sentence", "text"),
            scope="ask",
            details="`determinator report RUN --ids` prints the ids of the sentences, as s2.3. A second "
            "reader reads its works again. The report shows both, and the sentence stays as it is "
            "until somebody decides: `determinator approve RUN --dispute ID` puts its quote in its "
            "place, `reject` keeps it.",
        ),
        Verb(
            "decide",
            "Decide the disputes of a sentence.",
            "client.runs.revising:Decided",
            "report",
            answers="client.reports.answer:Changed",
            group="",
        ),
        Verb(
            "approve",
            "Approve what waits at a gate.",
            "workflows.messages:Approval",
            reply=_approval_reply,
            group=WAITS,
        ),
        Verb(
            "reject",
            "Reject what waits at a gate.",
            "workflows.messages:Approval",
            reply=lambda gate: f"has its {gate} rejected",
            group=WAITS,
        ),
        Verb(
            "candidates",
            "Show the candidates of a run, or keep some of them.",
            "workflows.messages:ChooseCandidates",
            "update",
            "choose_candidates",
            "client.run:Names",
            lambda names: f"keeps {', '.join(names) or 'none'}",
            WAITS,
            progress_field="candidates",
        ),
        Verb(
            "answer",
            "Answer what a run asks back before it searches.",
            "workflows.messages:Answers",
            "update",
            answers="client.run:Readings",
            reply="searches what you mean",
            group=WAITS,
            positional=("answers",),
            progress_field="readings",
            details='One answer a question, in their order; "" leaves what it assumes. Without an answer '
            "the questions are printed; `approve` accepts all that it assumes.",
        ),
        Verb(
            "edit_plan",
            "Replace the plan while it waits for approval.",
            "workflows.messages:EditPlan",
            "update",
            answers="workflows.types:PlanView",
            reply="has this plan now, which waits for approval",
            group="",
        ),
    )
}
"""The messages by their names. Another one is a row here, its content in `workflows.types` and its handler in
`workflows.handlers`."""
