"""Steps of a graph that installed packages add.

What one is given, what it answers, and the activity of those without a model. A role, which asks a model, is
`activities.roles.own.OwnRole`.

An entry point of the group `determinator.steps` names a function declared with `@step`.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.contracts.evidence import Evidence, EvidenceRef, Frozen
from activities.contracts.judge import MechanismHypothesis, WorkJudgement
from activities.contracts.step import StepContext
from activities.evidence_store import EvidenceStore
from activities.heartbeat import heartbeating
from activities.plugins import load, no_exit

MAX_GAPS = 5
MAX_FACTS = 8
MAX_CHARS = 300
"""Characters of a gap, a fact and of what is said of the step."""


class OwnStepInput(StepContext):
    """What a step of one's own is given: the state of the run as the built-in steps see it."""

    name: str
    """The role or step, by its entry point."""
    iteration: int = 1
    gaps: tuple[str, ...] = ()
    """What is searched for next, unless this step answers with others."""
    evidence: tuple[EvidenceRef, ...] = ()
    """The works that rank first."""
    judgements: tuple[WorkJudgement, ...] = ()
    hypotheses: tuple[MechanismHypothesis, ...] = ()


class OwnStepOutput(Frozen):
    """What a step of one's own changes. What is empty changes nothing."""

    said: str = ""
    """Its result in a few words, as `status --json` has it."""
    gaps: tuple[str, ...] = ()
    """What is to be searched for next, in place of the gaps that were open."""
    facts: tuple[str, ...] = ()
    """What later steps and the writer are told as background. It is no evidence: nothing can quote it."""

    def bounded(self) -> "OwnStepOutput":
        """Return this answer within the limits that keep prompts and payloads small."""
        return OwnStepOutput(
            said=self.said[:MAX_CHARS],
            gaps=tuple(gap[:MAX_CHARS] for gap in self.gaps[:MAX_GAPS] if gap.strip()),
            facts=tuple(fact[:MAX_CHARS] for fact in self.facts[:MAX_FACTS] if fact.strip()),
        )


StepFunction = Callable[[OwnStepInput, Sequence[Evidence]], Awaitable[OwnStepOutput]]


@dataclass(frozen=True, slots=True)
class CodeStep:
    name: str
    run: StepFunction
    """(input, the stored texts of its works) -> its answer. It may be executed again after a worker died."""


def step(*, name: str) -> Callable[[StepFunction], CodeStep]:
    """Declare an async function `(OwnStepInput, Sequence[Evidence]) -> OwnStepOutput` as a step.

    Raises TypeError when it is not async.
    """

    def declare(function: StepFunction) -> CodeStep:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{function} is not an async function")
        return CodeStep(name, function)

    return declare


@cache
def code_steps() -> dict[str, CodeStep]:
    """Return the steps of installed packages, loaded now."""
    return load("determinator.steps", CodeStep)


class OwnStepActivities:
    def __init__(self, store: EvidenceStore) -> None:
        self._store = store

    @activity.defn
    async def run_code_step(self, step: OwnStepInput) -> OwnStepOutput:
        """Run a step by its name. What it raises ends the step, and is not tried again."""
        code_step = code_steps().get(step.name)
        if code_step is None:
            raise ApplicationError(f"no step {step.name} can be loaded", non_retryable=True)
        async with heartbeating():
            documents = await self._store.get_many(step.evidence)
            try:
                with no_exit():
                    return (await code_step.run(step, documents)).bounded()
            except Exception as error:
                raise ApplicationError(f"{step.name}: {error}", non_retryable=True) from error
