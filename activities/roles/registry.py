"""Every role by its name. Adding one is a name in `Role`, a file of that name with a `SPEC`, and a prompt."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import get_args

from activities.contracts.step import Role, StepContext
from activities.own_step_activity import OwnStepInput
from activities.roles import own
from activities.roles.role import AnySpec


class _Specs(Mapping[Role, AnySpec]):
    """The built-in roles, each imported when it is asked for."""

    def __getitem__(self, role: Role) -> AnySpec:
        if role not in self:
            raise KeyError(role)
        spec: AnySpec = import_module(f"activities.roles.{role}").SPEC
        return spec

    def __contains__(self, role: object) -> bool:
        return role != "own_role" and role in get_args(Role)

    def __iter__(self) -> Iterator[Role]:
        return filter(self.__contains__, get_args(Role))

    def __len__(self) -> int:
        return sum(1 for _ in self)


SPECS = _Specs()


def spec_of(role: Role, step: StepContext) -> AnySpec:
    """The role of a step: a built-in one, or that of an installed package which the step names. Raises
    KeyError."""
    return own.own_spec(step.name) if isinstance(step, OwnStepInput) else SPECS[role]
