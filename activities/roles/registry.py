"""Every role by its name. Adding one is a name in `Role`, a file of that name with a `SPEC`, and a prompt."""

from importlib import import_module
from typing import get_args

from activities.contracts.step import Role, StepContext
from activities.own_step_activity import OwnStepInput
from activities.roles import own
from activities.roles.role import AnySpec

SPECS: dict[Role, AnySpec] = {
    role: import_module(f"activities.roles.{role}").SPEC for role in get_args(Role) if role != "own_role"
}


def spec_of(role: Role, step: StepContext) -> AnySpec:
    """The role of a step: a built-in one, or that of an installed package which the step names. Raises
    KeyError."""
    return own.own_spec(step.name) if isinstance(step, OwnStepInput) else SPECS[role]
