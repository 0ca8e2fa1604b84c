"""The flags of `ask`, and the request they make."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from client.cli.checks import check_library, check_profile, check_question, check_sources
from client.cli.common import unknown
from client.cli.failures import BadInput

if TYPE_CHECKING:
    from activities.settings import Settings
    from workflows.types import ResearchRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """What `ask` was given. A plain dataclass, so that `--help` imports no model library."""

    mode: Literal["auto", "iterative", "deep"] = "auto"
    profile: str = "auto"
    sources: tuple[str, ...] = ()
    library: str | None = None
    model: str | None = None
    fallbacks: tuple[str, ...] = ()
    wait_for_model: bool = False
    writer: Literal["long_writer", "proofreader"] | None = None
    max_iterations: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    """US dollars."""
    max_time: float | None = None
    """Seconds."""
    max_sections: int | None = None
    approve: tuple[str, ...] | None = None
    approval_timeout: float | None = None
    """Seconds."""
    approval_default: Literal["approve", "reject"] = "approve"

    def limits(self) -> dict[str, float]:
        """The limits that were given, by their names in `workflows.types.Limits`."""
        given = {
            "max_iterations": self.max_iterations,
            "max_tokens": self.max_tokens,
            "max_cost_microusd": None if self.max_cost is None else round(self.max_cost * 1e6),
            "max_seconds": self.max_time,
            "max_sections": self.max_sections,
        }
        return {name: value for name, value in given.items() if value is not None}


def build_request(settings: "Settings", question: str, options: AskOptions) -> "ResearchRequest":
    """The request for a question. Raises BadInput with one line on what is wrong."""
    from pydantic import ValidationError

    from activities.settings import choice
    from workflows.types import Limits, ResearchRequest

    check_question(question)
    name, path = check_profile(settings, options.profile)
    given: dict[str, Any] = {
        "question": question,
        "mode": options.mode,
        "profile": name,
        "profile_path": path,
        "sources": check_sources(options.sources),
        "library": check_library(options.library),
        "models": {"default": choice(options.model)} if options.model else {},
        "fallbacks": tuple(choice(model) for model in options.fallbacks),
        "approve": options.approve or (),
        "approval_timeout_seconds": options.approval_timeout,
        "approval_default": options.approval_default,
        "writer": options.writer or settings.writer,
        "wait_for_model": options.wait_for_model or settings.wait_for_model,
    }
    try:
        return ResearchRequest.model_validate({**given, "limits": Limits.model_validate(options.limits())})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{where}: {first['msg'].removeprefix('Value error, ')}") from error


def check_model(settings: "Settings", request: "ResearchRequest") -> None:
    """Raises BadInput when the embedded worker has no access to the model that is asked for."""
    chosen = [*request.models.values(), *request.fallbacks]
    wanted = next((one.model for one in chosen if one.backend == "openai"), None)
    if wanted and settings.openai_api_key is None and settings.openai_base_url is None:
        raise BadInput(
            f"the model {wanted} needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own; "
            "without a model, leave --model out"
        )


async def check_enabled(settings: "Settings", request: "ResearchRequest") -> None:
    """Raises BadInput, with how to enable it, for a source that the embedded worker cannot use."""
    if not request.sources:
        return
    from client.cli.sources import available

    offered = {option.info.name: option for option in await available(settings)}
    for name in request.sources:
        if name not in offered:
            raise BadInput(f"source {unknown(name, list(offered))}")
        if not offered[name].enabled:
            raise BadInput(f"the source {name} is not enabled: {offered[name].reason}")
