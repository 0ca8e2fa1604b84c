"""What a model asks back before the search, and what a person answers or the run assumes."""

from collections.abc import Collection

from activities.contracts.plan import Clarified, ClarifyInput
from activities.contracts.prepare import Imported
from activities.messages import plural
from activities.role_calls import CLARIFY
from workflows.part_state import ClarificationState
from workflows.parts.rows import OptionalPart
from workflows.steps.policy import OutOfBudget


class ClarificationPart(OptionalPart):
    """Asks back what the question leaves open."""

    def published_value(self, cited_ids: Collection[str]) -> object:
        return self.state.part(ClarificationState).readings

    async def ask(self, earlier_run: Imported | None) -> None:
        """Have a model ask back, and wait for its person where one answers.

        Without an answer what it assumes holds; a person who rejects it has the question as typed.
        """
        part, request = self.state.part(ClarificationState), self.request
        if self.state.sections.job is not None or not self.models.asks_model("clarifier"):
            return
        if part.clarified is None:
            step = ClarifyInput(
                **self.context.step_inputs(question=request.question),
                earlier_question=earlier_run.question if earlier_run else "",
            ).replace(searches_in=())
            try:
                part.clarified = await self.models.execute(CLARIFY, step)
            except OutOfBudget:
                part.clarified = Clarified()
            if part.readings:
                self.events.emit(
                    "clarification_needed",
                    " ".join(reading.text for reading in part.readings),
                    questions=[reading.question for reading in part.readings],
                    assumed=[reading.assumed for reading in part.readings],
                )
        message = f"{plural(len(part.readings), 'question')} before the search"
        if part.readings and not await self.gates.approval_gate("clarification", message):
            part.clarified = Clarified()


PART = ClarificationPart
