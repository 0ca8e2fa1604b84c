"""Steps that roles do: each with its reservation, its time-out and its charge.

Invariants:

* no model is called without a reservation, and every reservation is settled, whatever happens to the call;
* when a model cannot answer, the step runs without one and the report says so; only failures of the judge are
  counted, because a verdict must not be invented;
* a step that nothing can answer has a default, so that every run ends with a report.
"""

from datetime import timedelta
from itertools import chain, repeat
from typing import get_args

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.contracts.evidence import MODEL_REFUSED, MODEL_SILENT, Allowance, ModelChoice, Price, Usage
from activities.contracts.step import BY_CODE, Role, StepAnswer
from activities.contracts.stop_reasons import StopReason
from activities.role_calls import I, O, RoleCall, choice_of, with_model
from activities.roles.allowances import allowance_for, allowance_of, asks_model
from workflows.amounts import needs
from workflows.context import RunPart
from workflows.part_state import ClarificationState
from workflows.rules.budget import expected_allowance, least_tokens, scale, smaller_allowance
from workflows.steps import policy
from workflows.steps.policy import OutOfBudget, StepFailed, model_failure, retry_on_worker_loss
from workflows.types import PERMANENT

TEMPORARY = ("unavailable", "rate_limited")
"""Failures of a model that is expected back."""
MODEL_WAITS = (30.0, 60.0, 60.0, 60.0, 60.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds between attempts while a run waits for its model; the last one repeats. After an outage of five
minutes, of which most are shorter, a run idles for a minute at most."""


class ModelSteps(RunPart):
    """Executes the steps that roles do, and charges what they cost to the budget."""

    async def execute(self, call: RoleCall[I, O], step: I, *, use_model: bool = True) -> O:
        """Execute one step, reserved before and settled after.

        Without budget or time it raises OutOfBudget, or, when it `writes`, continues without a model. A model
        that cannot answer is replaced by the extractive back end, and that by the default; without a default
        (the judge) it raises StepFailed. `use_model=False` calls no model at all.
        """
        if call.has_default and call.idle(step):
            return call.default(step)
        choice = self.choice(call.role)
        goes_by_code = not use_model or not self.asks_model(call.role)
        goes_by_code = goes_by_code or (choice in self.state.models.unusable and call.has_default)
        if goes_by_code or (call.writes and self._too_late_to_write()):
            return await self._answer_by_code(call, step)
        waits = chain(MODEL_WAITS, repeat(MODEL_WAITS[-1]))
        while True:
            await self.run.gates.checkpoint()
            number, allowance = await self._reserve(call, step)
            if number is None and not call.writes:
                raise OutOfBudget(self.refusal(call.role) or "token_budget_exceeded")
            if number is None:
                self.events.add_limitation("written_without_model", used_up="budget")
                return await self._answer_by_code(call, step)
            try:
                answer = await self._call_model(call, step, number, allowance)
            except StepFailed as failure:
                if failure.category in TEMPORARY and await self._wait_for_model(next(waits)):
                    continue
                return await self._replace_model(call, step, failure)
            self.state.models.down = False
            return self._accept(call.role, answer)

    async def execute_once(self, call: RoleCall[I, O], step: I) -> O | None:
        """Execute a step that the report can do without; None where budget, time or model do not serve.

        It is asked once, with its full allowance, and code does not take its place.
        """
        await self.run.gates.checkpoint()
        if not self.asks_model(call.role) or self._is_late():
            return None
        allowance = allowance_for(call.role, self.choice(call.role), step)
        number = self.context.budget.reserve(call.role, allowance, self.price(call.role), call.writes)
        if number is None:
            return None
        try:
            return self._accept(call.role, await self._call_model(call, step, number, allowance))
        except StepFailed as failed:
            name, about = call.role.replace("_", " "), {"kind": "model_failed", "role": call.role}
            self.events.emit("error", f"{name}: {failed}", **about, category=failed.category)
            return None

    async def execute_by_code(self, call: RoleCall[I, O], step: I) -> O:
        """Return a step that its mode leaves to code.

        No model is asked, and the report does not name the extractive back end for it.
        """
        return await self._answer_by_code(call, step, record_model=False)

    async def pause_for(self, seconds: float, reason: str) -> bool:
        """Wait; return False when a reviewer's request to finish ended the wait early."""
        people = self.state.people
        try:
            await workflow.wait_condition(
                lambda: people.finish, timeout=timedelta(seconds=seconds), timeout_summary=reason
            )
        except TimeoutError:
            return True
        return False

    # models, and what the budget has for them

    def choice(self, role: Role) -> ModelChoice:
        return choice_of(self.context.prepared, role)

    def asks_model(self, role: Role) -> bool:
        """Tell whether a language model serves a role, and not code."""
        return asks_model(role, self.choice(role))

    def allowance(self, role: Role) -> Allowance:
        """Return what a call of a role may use, by the model that serves it."""
        return allowance_of(role, self.choice(role))

    def has_budget(self, role: Role, allowance: Allowance) -> bool:
        """Tell whether what is free of the budget holds a call with this allowance."""
        return self.context.budget.refusal(needs(allowance, self.price(role))) is None

    def price(self, role: Role) -> Price | None:
        """Return the price of the model that serves a role; None when it is not known."""
        return self.context.prepared.prices.get(self.choice(role).model)

    def refusal(self, role: Role, writing: bool = False) -> StopReason | None:
        """Return why the budget does not allow a call of a role now; None when it does."""
        if not self.asks_model(role):
            return None
        allowance = self.allowance(role)
        reason = self.context.budget.refusal(needs(allowance, self.price(role)), writing)
        return None if reason and self._smaller_allowance(role, allowance, writing) else reason

    def _smaller_allowance(self, role: Role, allowance: Allowance, writing: bool) -> Allowance | None:
        """Return the allowance that still fits where the full one does not.

        It follows what the role's calls really used.
        """
        budget = self.context.budget
        free = budget.free_amount("tokens", writing)
        if free is None:
            return None
        smaller = smaller_allowance(allowance, self.expected_allowance(role), free)
        if smaller is None or budget.refusal(needs(smaller, self.price(role)), writing):
            return None
        return smaller

    # the writing reserve

    def reserve_for_writing(self) -> None:
        """Keep back the budget that writing the report is expected to need.

        Called again as the run goes on: what calls really use is known better then.
        """
        first_roles: tuple[Role, ...] = ("hypothesis_generator",) if self.context.profile.candidates else ()
        roles = (*first_roles, *self.run.calls_to_write())
        calls = [(self.expected_allowance(role), self.price(role)) for role in roles if self.asks_model(role)]
        self.context.budget.keep_for_writing(calls)

    def expected_allowance(self, role: Role) -> Allowance:
        """Return what the next call of a role will need, by what calls of this run have used."""
        by_role = self.context.budget.status(self.context.now(), self.state.sections.running_sections).by_role
        usages = {name: usage for name in get_args(Role) if (usage := by_role.get(name)) and usage.calls}
        allowed_tokens = sum(self.allowance(name).tokens * usage.calls for name, usage in usages.items())
        share = sum(usage.tokens for usage in usages.values()) / allowed_tokens if allowed_tokens else None
        return expected_allowance(self.allowance(role), by_role.get(role), share)

    # one call

    def _too_late_to_write(self) -> bool:
        """Tell whether the time limit leaves no room for another paid call; adds the limitation."""
        if is_late := self._is_late():
            self.events.add_limitation("written_without_model", used_up="time")
        return is_late

    def _is_late(self) -> bool:
        remaining = self.context.budget.remaining_seconds(self.context.now())
        return remaining is not None and remaining <= policy.MINIMUM.total_seconds()

    async def _reserve(self, call: RoleCall[I, O], step: I) -> tuple[int | None, Allowance]:
        """Reserve budget for a call: its full allowance, else what fits.

        A section may have to ask its parent for it. The number is None when nothing fits.
        """
        role, writing, budget = call.role, call.writes, self.context.budget
        allowance, price = allowance_for(role, self.choice(role), step), self.price(role)
        number = budget.reserve(role, allowance, price, writing)
        while number is None:
            least = scale(allowance, least_tokens(allowance, self.expected_allowance(role)))
            has_more = await self.run.parent.request_budget(allowance, least, price)
            number = budget.reserve(role, allowance, price, writing)
            if number is None and (smaller := self._smaller_allowance(role, allowance, writing)) is not None:
                return budget.reserve(role, smaller, price, writing), smaller
            if not has_more:
                break
        return number, allowance

    async def _call_model(
        self, call: RoleCall[I, O], step: I, number: int, allowance: Allowance
    ) -> "StepAnswer[O]":
        """Return a call to a model under a reservation, which is always settled.

        Raises StepFailed, and OutOfBudget when the time for research ended before the answer came.
        """
        state, usage = self.state, Usage(calls=1)
        try:
            answer = await self._run_activity(call, step, self.choice(call.role), allowance, call.writes)
            usage = answer.usage
        except ActivityError as error:
            if is_cancelled_exception(error):
                self.events.add_limitation("model_call_cancelled")
                raise
            failure, usage = model_failure(error)
            if failure.category in PERMANENT and call.role != "own_role":  # which may break by itself
                state.models.unusable.append(self.choice(call.role))
            if not call.writes and self.context.is_out_of_time:
                raise OutOfBudget("timeout") from error
            state.models.down = state.models.down or failure.category in TEMPORARY
            raise failure from error
        else:
            return answer
        finally:
            self.context.budget.settle(number, usage)

    async def _run_activity(
        self, call: RoleCall[I, O], step: I, choice: ModelChoice, allowance: Allowance, writing: bool
    ) -> "StepAnswer[O]":
        context, has_model = self.context, choice.backend != "extractive"
        if call.role == "writer" and has_model:
            context.state.people.steered_in_text = context.state.people.steered
        state, temperature = context.state, context.traits.temperatures.get(call.role)
        left_out = ", ".join(dict.fromkeys(state.people.left_out))
        full_step = with_model(
            step,
            context.prepared,
            choice.replace(temperature=temperature) if has_model and temperature is not None else choice,
            allowance,
            steering=(
                *state.people.steering_for(call.role),
                *([f"Write nothing about {left_out}."] if left_out else ()),
            ),
            readings=state.part(ClarificationState).readings,
            section=context.section_id or step.section,
            lineage=context.lineage,
            prompt=step.prompt or context.prompts.get(call.role, ""),
        )

        async def ask() -> "StepAnswer[O]":
            now = context.now()
            remaining = context.budget.remaining_seconds(now) if writing else context.research_seconds()
            answer: StepAnswer[O] = await workflow.execute_activity(
                call.activity,
                full_step,
                result_type=call.answer,
                **policy.model_call(
                    remaining if has_model else None,
                    f"{call.role.replace('_', ' ')}: {policy.shorten(step.question, 60)}",
                    streams=has_model,
                    model_down=has_model and state.models.down,
                ),
            )
            return answer

        return await retry_on_worker_loss(ask)

    async def _answer_by_code(self, call: RoleCall[I, O], step: I, *, record_model: bool = True) -> O:
        """Return the step without a language model.

        Raises StepFailed when that fails too and there is no default.
        """
        if call.needs_model and call.has_default:
            return call.default(step)
        try:
            no_allowance = Allowance(input_tokens=0, output_tokens=0)
            answer = await self._run_activity(call, step, ModelChoice(), no_allowance, writing=True)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            failure, _ = model_failure(error)
            name = call.role.replace("_", " ")
            self.events.emit("error", f"{name}: {failure}", kind="step_failed", role=call.role)
            self.events.add_limitation("step_failed", step=name, reason=str(failure))
            if not call.has_default:
                raise failure from error
            return call.default(step)
        return self._accept(call.role, answer) if record_model else answer.output

    async def _replace_model(self, call: RoleCall[I, O], step: I, failure: StepFailed) -> O:
        name = call.role.replace("_", " ")
        data = {"kind": "model_failed", "category": failure.category, "role": call.role}
        self.events.emit("error", f"{name}: {failure}", **data, reason=str(failure))
        if failure.category in PERMANENT:
            self.events.add_limitation(MODEL_REFUSED, reason=str(failure))
        else:
            self.events.add_limitation(MODEL_SILENT, step=name, reason=str(failure))
        if not call.has_default:
            raise failure
        return await self._answer_by_code(call, step)

    async def _wait_for_model(self, seconds: float) -> bool:
        """Wait durably for a model that is down, if the request says so; False when that makes no sense."""
        people, remaining = self.state.people, self.context.research_seconds()
        is_too_late = remaining is not None and remaining <= seconds
        if not self.request.wait_for_model or people.finish or is_too_late:
            return False
        phase = people.phase
        message = f"the model is down; next attempt in {seconds:g} s"
        self.events.set_phase("waiting_for_model", message)
        self.events.emit("waiting_for_model", message, seconds=seconds)
        has_waited = await self.pause_for(seconds, "the model is down")
        self.events.set_phase(phase, "calling the model again")
        return has_waited

    def _accept(self, role: Role, answer: "StepAnswer[O]") -> O:
        """Record which model answered and the limitations that come with the answer."""
        state = self.state
        if answer.model not in (*state.models.names, BY_CODE):
            state.models.names.append(answer.model)
        if answer.prompt_version and answer.prompt_version not in state.models.prompt_versions:
            state.models.prompt_versions.append(answer.prompt_version)
        for statement in answer.notes:
            self.events.add_statement(statement)
        if answer.fell_back:
            step = role.replace("_", " ").capitalize()
            self.events.add_limitation("model_fell_back", step=step, model=answer.model)
        return answer.output
