"""The messages to a run, each declared once.

The fields of a message are the options of its command, the body of its request over HTTP, arguments of a tool
over MCP and the fields of its form on the page; its first line is the help.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from activities.configuration.values import seconds as duration
from activities.contracts.evidence import Gate, ReportPlan
from client.runs.checks import check_addition, check_instruction, check_sources
from client.runs.options import option
from workflows.progress_rows import budget_rows

if TYPE_CHECKING:
    from client.run import Run

Text = Annotated[str, Field(max_length=2000)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ClassVar[str]

    async def send(self, run: "Run", by: str | None = None) -> str:
        """Send it to a run; return what becomes of that, to be read after the name of the run."""
        raise NotImplementedError


class Decision(Message):
    gate: Annotated[Gate | None, option("Which gate; default: the one that waits.")] = None
    note: Annotated[Text, option("Reason; printed in the report.")] = ""


class Approve(Decision):
    """Approve what waits at a gate."""

    name = "approve"

    async def send(self, run: "Run", by: str | None = None) -> str:
        gate = await run.approve(self.gate, by=by, note=self.note)
        return "goes on with what it assumes" if gate == "clarification" else f"has its {gate} approved"


class Reject(Decision):
    """Reject what waits at a gate."""

    name = "reject"

    async def send(self, run: "Run", by: str | None = None) -> str:
        return f"has its {await run.reject(self.gate, by=by, note=self.note)} rejected"


class Answer(Message):
    """Answer what a run asks back before it searches."""

    name = "answer"
    answers: Annotated[list[Text], option("In order; an empty one: what is assumed.")] = Field(max_length=10)

    async def send(self, run: "Run", by: str | None = None) -> str:
        await run.answer(self.answers, by=by)
        return "searches what you mean"


class Choose(Message):
    """Keep candidates, which opens the gate."""

    name = "candidates"
    names: Annotated[list[Text], option("The candidates to keep.")] = Field(max_length=200)

    async def send(self, run: "Run", by: str | None = None) -> str:
        kept = await run.choose_candidates(self.names, by=by)
        return f"keeps {', '.join(kept) or 'none'}"


class Edit(Message):
    """Replace the plan while it waits for approval; the gate goes on waiting."""

    name = "edit_plan"
    plan: Annotated[ReportPlan, option("The whole plan.")]

    async def send(self, run: "Run", by: str | None = None) -> str:
        await run.edit_plan(self.plan, by=by)
        return "has this plan now, which waits for approval"


class Steer(Message):
    """Give a run an instruction, which it follows from its next step on."""

    name = "steer"
    text: Annotated[Text, option("The instruction.")] = ""
    add_source: Annotated[str | None, option("Search this source as well.")] = None

    def model_post_init(self, _: object) -> None:
        """Raise BadInput for an instruction without words, and for a source that does not exist."""
        check_instruction(self.text or self.add_source or "")
        check_sources((self.add_source,) if self.add_source else ())

    async def send(self, run: "Run", by: str | None = None) -> str:
        if self.add_source is not None:
            await run.add_source(self.add_source)
        if self.text:
            await run.steer(self.text, by=by)
        return "follows it from its next step on"


class Extend(Message):
    """Add to a run's budget while it runs."""

    name = "extend"
    tokens: Annotated[int, option("Tokens to add.")] = Field(0, ge=0)
    cost: Annotated[float, option("US dollars to add.", unit="US dollars")] = Field(0.0, ge=0)
    seconds: Annotated[
        float,
        BeforeValidator(lambda value: duration(value) if isinstance(value, str) else value),
        option("Time to add, as in 90s, 30m or 2h.", flag="--time", unit="seconds"),
    ] = Field(0.0, ge=0)
    iterations: Annotated[int, option("Iterations to add.")] = Field(0, ge=0)

    def model_post_init(self, _: object) -> None:
        """Raise BadInput where nothing would be added."""
        check_addition(self.model_dump().values())

    async def send(self, run: "Run", by: str | None = None) -> str:
        rows = budget_rows(await run.extend(**self.model_dump()))
        return f"may use more: {'; '.join(row.line for row in rows)}"


class Pause(Message):
    """Pause a run at its next step; waiting uses no budget."""

    name = "pause"

    async def send(self, run: "Run", by: str | None = None) -> str:
        await run.pause()
        return "pauses at its next step"


class Resume(Message):
    """Resume a paused run."""

    name = "resume"

    async def send(self, run: "Run", by: str | None = None) -> str:
        await run.resume()
        return "goes on"


class Finish(Message):
    """Stop searching and write the report."""

    name = "finish"

    async def send(self, run: "Run", by: str | None = None) -> str:
        await run.finish()
        return "stops searching and writes its report"


class Cancel(Message):
    """Stop a run; it still writes a report from what it found."""

    name = "cancel"
    section: Annotated[str | None, option("Only this section, as `s2`.")] = Field(None, max_length=200)

    async def send(self, run: "Run", by: str | None = None) -> str:
        await run.cancel(self.section)
        return "is being cancelled; a report of what was found is still written"


MESSAGES: Mapping[str, type[Message]] = {
    kind.name: kind
    for kind in (Approve, Reject, Answer, Choose, Edit, Steer, Extend, Pause, Resume, Finish, Cancel)
}
"""The messages by their names."""
