"""The acts of people on a review, each declared once.

A row makes a command and, where it reads no file, a route over HTTP, an action of the tool over MCP and what
a form of the page may send.
An act is a method of `Review`: its arguments are the fields of its form, but for `by`, who acts.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from activities.review.bias import JUDGEMENT_NAMES, BiasAssessment
from client.failures import BadInput, faults_of
from client.reviews.review import Review

Name = Annotated[str, Field(pattern=r"\S", max_length=80, description="Who decides")]
STATE_TEXTS = {"open": "open, the other screener decides", "conflict": "in conflict, a person decides"}
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "protocol": ("approve",),
    "labels": ("screen --by NAME",),
    "decisions": ("screen --by NAME", "waiting"),
    "model": ("resume",),
    "budget": ("amend PROTOCOL --reason TEXT",),
    "full_texts": ("waiting", "provide FOLDER", "approve"),
    "extraction": (
        "extract RECORD FIELD=VALUE --by NAME",
        "waiting",
        "field RECORD FIELD VALUE --by NAME",
    ),
    "bias": ("waiting", "assess RECORD --by NAME"),
    "report": ("report", "approve"),
}
"""Gate -> the commands of people who are waited for; the review stands behind the verb."""


def commands(gate: str, review: str) -> list[str]:
    """Write the commands of a gate as a person types them."""
    words = (command.partition(" ") for command in COMMANDS.get(gate, ()))
    return [" ".join(filter(None, ("determinator review", verb, review, rest))) for verb, _, rest in words]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Act:
    name: str
    method: Callable[..., Awaitable[object]]
    reply: str | Callable[[Any], str]
    """Its reply: a text with the review, the arguments and `result`, or a function of the result."""

    @cached_property
    def arguments(self) -> Mapping[str, inspect.Parameter]:
        rows = inspect.signature(self.method).parameters
        return {name: parameter for name, parameter in rows.items() if name != "self"}

    def field_info(self, name: str) -> FieldInfo | None:
        """Return what is declared of an argument beside its type."""
        return next(iter(getattr(self.types[name], "__metadata__", ())), None)

    @cached_property
    def types(self) -> Mapping[str, Any]:
        return get_type_hints(self.method, include_extras=True)

    @cached_property
    def files(self) -> frozenset[str]:
        """Name the arguments that are files of its user, which a command alone reads."""
        kinds = get_type_hints(self.method)
        return frozenset(name for name in self.arguments if Path in (kinds[name], *get_args(kinds[name])))

    @cached_property
    def form(self) -> type[Body]:
        """Make a model of its arguments; who acts may be left out where callers are known."""
        fields: dict[str, Any] = {
            name: (self.types[name], ... if parameter.default is parameter.empty else parameter.default)
            for name, parameter in self.arguments.items()
        }
        return create_model(self.name, __base__=Body, **fields | {"by": (Name | None, None)})

    async def do(self, review: Review, content: BaseModel | Mapping[str, object], by: str | None) -> str:
        """Do it with a form, or the values of one; return its reply. Raises BadInput."""
        try:
            form = self.form.model_validate(dict(content))
        except ValidationError as error:
            raise BadInput(faults_of(error, self.name)) from error
        values = {name: getattr(form, name) for name in self.arguments}
        if "by" in values:
            if not by:
                raise BadInput("say who decides: `by`")
            values["by"] = by
        result = await self.method(review, **values)
        if callable(self.reply):
            return self.reply(result)
        text = STATE_TEXTS.get(str(result), str(result).replace("_", " "))
        return self.reply.format(review=review.id, result=text, **values)


def _describe_assessment(assessment: BiasAssessment | None) -> str:
    if assessment is None:
        return "no tool is applied to it"
    rows = (*assessment.judgements(), ("Overall", assessment.overall))
    return "\n".join(f"{title}: {JUDGEMENT_NAMES[judgement]}" for title, judgement in rows)


ACTS: Mapping[str, Act] = {
    act.name: act
    for act in (
        Act("approve", Review.approve, "approved: the {result} of {review}"),
        Act("decide", Review.decide, "record {record}: {result}"),
        Act("overrule", Review.overrule, "record {record} is {result} by the word of {by}"),
        Act("amend", Review.amend, "{result}"),
        Act("provide", Review.provide, "\n".join),
        Act("part", Review.part, "it becomes a record of its own, which is screened"),
        Act("field", Review.decide_field, "record {record}, {field}: {value}"),
        Act("extract", Review.extract, "record {record}: {result}"),
        Act("assess", Review.assess, _describe_assessment),
        Act("pause", Review.pause, "{review} pauses at its next step"),
        Act("resume", Review.resume, "{review} goes on"),
        Act("finish", Review.finish, "{review} ends screening"),
        Act("cancel", Review.cancel, "{review} is being cancelled"),
    )
}


REMOTE = {name: act for name, act in ACTS.items() if not act.files}


def act_of(name: str) -> Act:
    """Return an act by its name. Raises BadInput."""
    if name not in REMOTE:
        raise BadInput(f"there is no act {name[:40]}; there are {', '.join(REMOTE)}")
    return REMOTE[name]
