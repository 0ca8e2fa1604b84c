"""How a run thinks: every step with its reservation, its time-out and its account.

Invariants:

* no model is called without a reservation, and every reservation is settled, whatever happens to the call;
* when a model cannot answer, the step is done without one and the report says so; only the judge's failures
  are counted, because a verdict must not be made up;
* a step that nothing can answer has an answer of its own (`otherwise`), so that a report always comes out.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import chain, repeat
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.role_activities import ThinkActivities
    from activities.roles.allowances import ALLOWANCES
    from activities.steps import Charged, Prepared, Role, StepContext
    from activities.types import Allowance, ModelChoice, Price, Profile, StopReason, Usage

from workflows.handlers import Messages
from workflows.rules.budget import worst_cost
from workflows.steps import policy
from workflows.steps.failures import OutOfBudget, StepFailed, model_failure
from workflows.steps.retry import surviving

I = TypeVar("I", bound=StepContext)  # noqa: E741 - input
O = TypeVar("O")  # noqa: E741 - output

WORTH_WAITING = ("unavailable", "rate_limited")
"""Failures of a model that is expected back."""
BY_CODE = "code"
"""What a step names as its model when its answer followed from its input."""
PERMANENT = ("auth", "model_not_found", "insufficient_quota")
"""Failures after which no further call to that model can succeed."""
NOTHING = Allowance(input_tokens=0, output_tokens=0)
"""What a step without a model may spend."""
MODEL_WAITS = (30.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds between attempts while a run waits for its model; the last one repeats."""


class Thinking(Messages):
    """Base of the research workflows: asks models."""

    @property
    def prepared(self) -> Prepared:
        """What the worker said it has; `get_ready` comes first."""
        assert self.state.prepared is not None
        return self.state.prepared

    @property
    def profile(self) -> Profile:
        return self.prepared.profile

    def choice(self, role: Role) -> ModelChoice:
        """The model that serves a role."""
        models = self.prepared.models
        return models.get(role) or models.get("default") or ModelChoice()

    def price(self, role: Role) -> Price | None:
        return self.prepared.prices.get(self.choice(role).model)

    def refused(self, role: Role, writing: bool = False) -> StopReason | None:
        """Why the budget does not allow a call in a role now, if it does not."""
        if self.choice(role).backend == "extractive":
            return None
        cost = worst_cost(ALLOWANCES[role], self.price(role))
        return self.budget_ledger.refusal(ALLOWANCES[role].tokens, cost, writing)

    async def think(
        self,
        role: Role,
        method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]],
        step: I,
        otherwise: O | None,
        *,
        writing: bool = False,
        offline: bool = False,
    ) -> O:
        """One thinking step, reserved before and settled after.

        Without budget or time it raises OutOfBudget, or, when `writing`, goes on without a model. A model
        that cannot answer is replaced by the extractive back end, and that by `otherwise`; without one (the
        judge) it raises StepFailed. `offline` asks no model at all.
        """
        choice, allowance, price = self.choice(role), ALLOWANCES[role], self.price(role)
        silent = offline or choice.backend == "extractive"
        silent = silent or (choice in self.state.unusable and otherwise is not None)
        if silent or (writing and self.too_late_to_write()):
            return await self._extractive(role, method, step, otherwise)
        waits = chain(MODEL_WAITS, repeat(MODEL_WAITS[-1]))
        while True:
            number = await self.reserve(role, allowance, price, writing)
            if number is None and not writing:
                raise OutOfBudget(self.refused(role) or "token_budget_exceeded")
            if number is None:
                self.note(
                    "The budget was used up: parts of the report were written without a language model."
                )
                return await self._extractive(role, method, step, otherwise)
            try:
                charged = await self._paid(role, method, step, number, writing)
            except StepFailed as failed:
                if failed.category in WORTH_WAITING and await self._wait_for_model(next(waits)):
                    continue
                return await self._without_model(role, method, step, otherwise, failed)
            self.state.model_down = False
            return self._accept(role, charged)

    async def conclude_from_input(
        self, role: Role, method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]], step: I, otherwise: O
    ) -> O:
        """A step that has no evidence to look at: its answer follows from its input and costs nothing.

        A section concludes it in passing, because several begin at once and each round trip delays them all.
        """
        if self.state.job is not None:
            return otherwise
        return await self._extractive(role, method, step, otherwise, quiet=True)

    def too_late_to_write(self) -> bool:
        """Whether the time limit leaves no room for another paid call; the report says so."""
        left = self.budget_ledger.remaining_seconds(self.now())
        if left is None or left > policy.MINIMUM.total_seconds():
            return False
        self.note("The time was used up: parts of the report were written without a language model.")
        return True

    async def reserve(
        self, role: Role, allowance: Allowance, price: Price | None, writing: bool
    ) -> int | None:
        """Hold budget for a call; a section may have to ask its parent for more."""
        return self.budget_ledger.reserve(role, allowance, price, writing)

    async def _paid(
        self,
        role: Role,
        method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]],
        step: I,
        number: int,
        writing: bool,
    ) -> Charged[O]:
        """A call to a model under a reservation, which is settled whatever happens. Raises StepFailed, and
        OutOfBudget when the time for research ended before the answer came."""
        usage = Usage(calls=1)
        try:
            charged = await self._execute(role, method, step, self.choice(role), ALLOWANCES[role], writing)
            usage = charged.usage
        except ActivityError as error:
            if is_cancelled_exception(error):
                self.note("A model call was cancelled: what it had used until then is not counted.")
                raise
            failed, usage = model_failure(error)
            if failed.category in PERMANENT:
                self.state.unusable.append(self.choice(role))
            left = self.budget_ledger.research_seconds(self.now())
            if not writing and left is not None and left <= 0:
                raise OutOfBudget("timeout") from error
            self.state.model_down = self.state.model_down or failed.category in WORTH_WAITING
            raise failed from error
        else:
            return charged
        finally:
            self.budget_ledger.settle(number, usage)

    async def _execute(
        self,
        role: Role,
        method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]],
        step: I,
        choice: ModelChoice,
        allowance: Allowance,
        writing: bool,
    ) -> Charged[O]:
        paid, ledger = choice.backend != "extractive", self.budget_ledger
        completed = self._completed(step, choice, allowance)

        async def take() -> Charged[O]:
            now = self.now()
            left = ledger.remaining_seconds(now) if writing else ledger.research_seconds(now)
            return await workflow.execute_activity_method(
                method,
                completed,
                **policy.thinking(
                    left if paid else None,
                    f"{role.replace('_', ' ')}: {policy.shorten(step.question, 60)}",
                    model_down=paid and self.state.model_down,
                ),
            )

        return await surviving(take)

    def _completed(self, step: I, choice: ModelChoice, allowance: Allowance) -> I:
        """A step's input with what is decided when it is taken."""
        return step.model_copy(
            update={
                "model": choice,
                "fallbacks": self.prepared.fallbacks if choice.backend != "extractive" else (),
                "allowance": allowance,
                "steering": tuple(self.state.control.steering),
                "section": self.state.job.section.id if self.state.job else step.section,
            }
        )

    async def _extractive(
        self,
        role: Role,
        method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]],
        step: I,
        otherwise: O | None,
        *,
        quiet: bool = False,
    ) -> O:
        """The step without a language model; `quiet` when none would be asked anyway, so that none is named.
        Raises StepFailed when that fails too and nothing stands in."""
        try:
            charged = await self._execute(role, method, step, ModelChoice(), NOTHING, writing=True)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            failed, _ = model_failure(error)
            name = role.replace("_", " ")
            self.tell("step_failed", f"{name}: {failed}", role=role)
            self.note(f"A step failed and is missing: {name} ({failed}).")
            if otherwise is None:
                raise failed from error
            return otherwise
        return charged.output if quiet else self._accept(role, charged)

    async def _without_model(
        self,
        role: Role,
        method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]],
        step: I,
        otherwise: O | None,
        failed: StepFailed,
    ) -> O:
        name = role.replace("_", " ")
        self.tell("model_failed", f"{name}: {failed}", category=failed.category, role=role)
        self.note(f"The language model did not answer as {name} ({failed}).")
        if otherwise is None:
            raise failed
        return await self._extractive(role, method, step, otherwise)

    async def _wait_for_model(self, seconds: float) -> bool:
        """Wait durably for a model that is down, if the request says so; False when that makes no sense."""
        control, left = self.state.control, self.budget_ledger.research_seconds(self.now())
        if not self.request.wait_for_model or control.finish or (left is not None and left <= seconds):
            return False
        before = control.phase
        message = f"the model is down; asking again in {seconds:g} s"
        self.enter("waiting_for_model", message)
        self.tell("waiting_for_model", message)
        over = await self.rest(seconds, "the model is down")
        self.enter(before, "asking the model again")
        return over

    async def rest(self, seconds: float, why: str) -> bool:
        """Let time pass; False when a reviewer who wants to finish cut it short."""
        try:
            await workflow.wait_condition(
                lambda: self.state.control.finish, timeout=timedelta(seconds=seconds), timeout_summary=why
            )
        except TimeoutError:
            return True
        return False

    def _accept(self, role: Role, charged: Charged[O]) -> O:
        """Record which model answered and what the reader must be told."""
        state = self.state
        if charged.model not in (*state.models, BY_CODE):
            state.models.append(charged.model)
        if charged.prompt_version and charged.prompt_version not in state.prompt_versions:
            state.prompt_versions.append(charged.prompt_version)
        for text in charged.notes:
            self.note(text)
        if charged.fell_back:
            self.note(
                f"{role.replace('_', ' ').capitalize()}: {charged.model} answered for a model that is down."
            )
        return charged.output
