"""Roles that installed packages add: a prompt and an answer of their own, for nodes of a graph.

An entry point of the group `determinator.roles` names a function declared with `@role`. Such a role reads
what was judged of the works, not their texts, and what it answers changes what is searched for and what later
steps are told.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel

from activities.contracts.evidence import Evidence
from activities.own_step_activity import OwnStepInput, OwnStepOutput
from activities.plugins import load, no_exit
from activities.roles.prompt import compose, findings, listing
from activities.roles.role import Accepted, AnySpec, Prompt, RoleSpec


@dataclass(frozen=True, slots=True)
class OwnRole:
    name: str
    prompt: str
    """The stable text; a node of a graph with a prompt of its own replaces it."""
    answer: type[BaseModel]
    """What the model must produce: small and flat, each field with a default."""
    accept: Callable[[OwnStepInput, Any], OwnStepOutput]
    """(input, an instance of `answer`) -> what the step changes."""
    task: str = "Answer with JSON."
    """The last line of the prompt."""


Accept = TypeVar("Accept", bound=Callable[..., OwnStepOutput])


def role(*, name: str, prompt: str, task: str = "Answer with JSON.") -> Callable[[Accept], OwnRole]:
    """Declare a function `(OwnStepInput, answer) -> OwnStepOutput` as a role.

    The annotation of `answer` is the pydantic model that the language model fills: small and flat, each field
    with a default. Raises TypeError when it is none.
    """

    def declare(function: Accept) -> OwnRole:
        annotations = list(get_type_hints(function).values())
        answer = annotations[1] if len(annotations) > 1 else None
        if not (isinstance(answer, type) and issubclass(answer, BaseModel)):
            raise TypeError(f"{function} has no second parameter whose annotation is a pydantic model")
        return OwnRole(name, prompt, answer, function, task)

    return declare


@cache
def own_roles() -> dict[str, OwnRole]:
    """Load the roles of installed packages."""
    return load("determinator.roles", OwnRole)


def own_spec(name: str) -> AnySpec:
    """Return what the runner needs of a role by its name. Raises KeyError."""
    role = own_roles()[name]

    def accept(step: OwnStepInput, _prompt: Prompt, answer: BaseModel) -> Accepted[OwnStepOutput]:
        with no_exit():
            return Accepted(role.accept(step, answer).bounded())

    return RoleSpec[OwnStepInput, BaseModel, OwnStepOutput](
        "own_role",
        role.answer,
        partial(_render, role),
        accept,
        lambda _step, _documents: OwnStepOutput(),
    )


def _render(role: OwnRole, step: OwnStepInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    return compose(
        "own_role",
        step if step.prompt else step.replace(prompt=role.prompt),
        room=room,
        inputs=[
            listing("Gaps", step.gaps, max_items=5),
            listing(
                "Hypotheses",
                [
                    f"{hypothesis.drug}: {hypothesis.target} {hypothesis.effect}"
                    for hypothesis in step.hypotheses
                ],
            ),
            findings(step.judgements, {ref.evidence_id: ref.title for ref in step.evidence}),
        ],
        task=role.task,
    )
