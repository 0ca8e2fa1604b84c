"""Steps that installed packages add: a role that asks a model, and code without one."""

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.own_step_activity import OwnStepActivities, OwnStepInput, OwnStepOutput
from activities.role_calls import ASK_OWN_ROLE
from workflows.part_state import CandidatesState, GraphState
from workflows.parts.rows import OptionalPart
from workflows.rules.payload_limits import input_refs
from workflows.steps import policy
from workflows.steps.policy import reason_of

MAX_WORKS = 30
"""Works that a step is given: those that rank first."""


class OwnStepsPart(OptionalPart):
    """Executes steps by the names of their entry points and applies what they answer to the state."""

    async def ask_role(self, name: str, prompt: str = "") -> str:
        """Ask a role; its result in a few words. Without a model it does nothing. Raises OutOfBudget."""
        if not self.models.asks_model("own_role"):
            return "no model serves this role"
        return self._apply(await self.models.execute(ASK_OWN_ROLE, self._input(name, prompt)))

    async def run_code(self, name: str) -> str:
        """Run a step without a model; its result in a few words. The report states its failure."""
        try:
            answer = await workflow.execute_activity_method(
                OwnStepActivities.run_code_step, self._input(name), **policy.internal_step(name)
            )
        except ActivityError as error:
            reason = reason_of(error)
            self.events.emit("error", f"{name}: {reason}", kind="step_failed", role=name)
            self.events.add_limitation("step_failed", step=name, reason=reason)
            return "failed"
        return self._apply(answer)

    def _input(self, name: str, prompt: str = "") -> OwnStepInput:
        state = self.state
        return OwnStepInput(
            **self.context.step_inputs(),
            name=name,
            prompt=prompt,
            iteration=max(state.loop.iteration, 1),
            gaps=state.loop.gaps,
            evidence=input_refs(state.evidence.ranked_refs, MAX_WORKS),
            judgements=self.run.judging.findings(),
            hypotheses=tuple(
                hypothesis.replace(supporting_evidence=(), contradicting_evidence=())
                for hypothesis in state.part(CandidatesState).hypotheses
            ),
        )

    def _apply(self, answer: OwnStepOutput) -> str:
        state, loop = self.state, self.state.loop
        if answer.gaps:
            loop.gaps = answer.gaps[: self.request.limits.max_gaps]
            state.part(GraphState).happened = "evaluate_gaps"
            for gap in loop.gaps:
                self.events.emit("gap", gap, gap=gap, by="own_role")
        state.evidence.add_facts(answer.facts)
        return answer.said or f"{len(answer.gaps)} gaps, {len(answer.facts)} facts"


PART = OwnStepsPart
