"""Hooks around every search and every model call: logging, validation, cost, tracing, or what a user adds.

A hook is any object with one or both of two async methods:

    class Audit:
        async def before(self, call: Call) -> None: ...
        async def after(self, call: Call, outcome: CallOutcome) -> None: ...

`before` may stop a call by raising `Veto`: a search is then refused with its message while the others of
its step are made, a model call fails and is not retried. Any other
exception of a hook is logged and dropped: an observer must not break a run. Hooks run in the order they are
listed before a call, in the opposite order after it, on every attempt, on the worker.

A user names hooks in `determinator.toml` as `hooks = ["package.module:attribute"]`; the attribute is a hook
or something that makes one when called without arguments.
"""

import importlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

from temporalio import activity
from temporalio.exceptions import ApplicationError, is_cancelled_exception
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities.contracts.errors import DeterminatorError, SourceError, to_application_error
from activities.contracts.evidence import ANSWERED, SearchStatus, Usage
from activities.contracts.search import Hits, HitsOfAll, SearchTask, SearchTasks
from activities.contracts.step import StepAnswer, StepContext
from activities.logs import log
from activities.plugins import no_exit
from activities.search_activity import activity_name
from activities.settings import Settings


class Veto(SourceError):
    """Raised by a hook to stop a call.

    Never retried; the message is what the record says, and the ledger has a search that it stopped as
    `refused`: nothing was unavailable.
    """

    status: SearchStatus = "refused"


class HookError(DeterminatorError):
    """A hook named in the settings cannot be loaded."""


@dataclass(frozen=True, slots=True)
class Call:
    kind: Literal["search", "model"]
    name: str
    """The activity: `search_pubmed`, `judge_evidence` ..."""
    run_id: str
    attempt: int
    workflow_id: str
    step: SearchTask | StepContext
    """The typed input, not to be changed: later attempts and the record must see the same."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    seconds: float
    error: str = ""
    """Empty when it succeeded."""
    cancelled: bool = False
    status: SearchStatus | None = None
    kept: int = 0
    """Items a search returned."""
    model: str = ""
    """Which model answered, or `extractive` or `code`."""
    usage: Usage = field(default_factory=Usage)
    """What a model call cost, also when it failed."""
    output: object = None


@runtime_checkable
class Before(Protocol):
    """Observes a call before it is made; `Veto` stops it."""

    async def before(self, call: Call) -> None: ...


@runtime_checkable
class After(Protocol):
    """Observes the outcome of a call."""

    async def after(self, call: Call, outcome: CallOutcome) -> None: ...


Hook = Before | After


class LogHook:
    """The default hook: one structured line a call, with the run's id, its time and its cost."""

    async def after(self, call: Call, outcome: CallOutcome) -> None:
        call_log = log.bind(
            run_id=call.run_id,
            step=call.name,
            attempt=call.attempt,
            seconds=round(outcome.seconds, 3),
        )
        if outcome.error:
            call_log.warning("call_failed", kind=call.kind, error=outcome.error, cancelled=outcome.cancelled)
        elif call.kind == "search":
            call_log.info("search_done", status=outcome.status, kept=outcome.kept)
        else:
            usage = outcome.usage
            call_log.info(
                "model_done",
                model=outcome.model,
                tokens=usage.tokens,
                cached_tokens=usage.cached_tokens,
                cost_microusd=usage.cost_microusd,
            )


class HookInterceptor(Interceptor):
    """Give it to every `Worker`: `interceptors=[HookInterceptor(load_hooks(settings))]`."""

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self._hooks = tuple(hooks)

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Inbound(next, self._hooks)


class _Inbound(ActivityInboundInterceptor):
    def __init__(self, next_inbound: ActivityInboundInterceptor, hooks: Sequence[Hook]) -> None:
        super().__init__(next_inbound)
        self._hooks = hooks

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401
        calls = _calls_of(input.args)
        if not calls:
            return await super().execute_activity(input)
        vetoes = {place: veto for place, call in enumerate(calls) if (veto := await self._veto(call))}
        if len(vetoes) == len(calls):
            veto = vetoes[0]
            raise to_application_error(veto) from veto
        step = input.args[0]
        if vetoes and isinstance(step, SearchTasks):
            tasks = tuple(task for place, task in enumerate(step.tasks) if place not in vetoes)
            step = step.replace(tasks=tasks)
            input = replace(input, args=[step, *input.args[1:]])  # noqa: A001
        start = time.monotonic()
        try:
            output = await super().execute_activity(input)
        except BaseException as error:
            for call in calls:
                await self._after(call, _failure_of(error, time.monotonic() - start))
            raise
        if isinstance(output, HitsOfAll):
            output = _with_vetoes(output, calls, vetoes)
        answers = output.answers if isinstance(output, HitsOfAll) else (output,)
        for call, answer in zip(calls, answers, strict=True):
            await self._after(call, _outcome_of(answer, time.monotonic() - start))
        return output

    async def _veto(self, call: Call) -> Veto | None:
        """Return what stops a call; None when nothing does."""
        for hook in self._hooks:
            if isinstance(hook, Before):
                try:
                    with no_exit():
                        await hook.before(call)
                except Veto as veto:
                    return veto
                except Exception as error:  # noqa: BLE001 - foreign code; only a Veto stops a call
                    _log_hook_error(hook, call, error)
        return None

    async def _after(self, call: Call, outcome: CallOutcome) -> None:
        for hook in reversed(self._hooks):
            if isinstance(hook, After):
                try:
                    with no_exit():
                        await hook.after(call, outcome)
                except Exception as error:  # noqa: BLE001 - foreign code; it must not undo what was paid for
                    _log_hook_error(hook, call, error)


def load_hooks(settings: Settings) -> list[Hook]:
    """Return the default hook and those the settings name.

    Raises HookError with how to fix it.
    """
    return [LogHook(), *(_load(name) for name in settings.hooks)]


def _load(name: str) -> Hook:
    module, _, attribute = name.partition(":")
    try:
        with no_exit():
            hook: object = getattr(importlib.import_module(module), attribute)
            if isinstance(hook, type) or not isinstance(hook, Before | After):
                hook = hook() if callable(hook) else hook
    except Exception as error:
        raise HookError(
            f"the hook {name} cannot be loaded ({type(error).__name__}: {error}); "
            "fix or remove it in hooks of the settings"
        ) from error
    if not isinstance(hook, Before | After):
        raise HookError(f"the hook {name} has neither an async `before` nor an async `after` method")
    return hook


def _calls_of(args: Sequence[object]) -> list[Call]:
    """Return the calls an activity's arguments stand for.

    Several where it makes several searches, none where it neither searches nor thinks.
    """
    step = args[0] if args else None
    steps = step.tasks if isinstance(step, SearchTasks) else (step,)
    info = activity.info()
    return [
        Call(
            kind="search" if isinstance(own_step, SearchTask) else "model",
            name=activity_name(own_step.source) if isinstance(own_step, SearchTask) else info.activity_type,
            run_id=own_step.run_id,
            attempt=info.attempt,
            workflow_id=info.workflow_id or "",
            step=own_step,
        )
        for own_step in steps
        if isinstance(own_step, SearchTask | StepContext)
    ]


def _with_vetoes(output: HitsOfAll, calls: Sequence[Call], vetoes: Mapping[int, Veto]) -> HitsOfAll:
    """Return the answer of a step with a row for each of its searches that was stopped."""
    answers = iter(output.answers)
    rows = [
        Hits(source=task.source, query=task.query.text, status=veto.status, detail=str(veto))
        if (veto := vetoes.get(place)) and isinstance(task := call.step, SearchTask)
        else next(answers)
        for place, call in enumerate(calls)
    ]
    return output.replace(answers=tuple(rows))


def _log_hook_error(hook: Hook, call: Call, error: Exception) -> None:
    log.warning("hook_failed", run_id=call.run_id, step=call.name, hook=type(hook).__name__, error=str(error))


def _outcome_of(output: object, seconds: float) -> CallOutcome:
    if isinstance(output, Hits):
        error = "" if output.status in ANSWERED else output.detail
        return CallOutcome(
            output.seconds or seconds, error, status=output.status, kept=len(output.kept), output=output
        )
    if isinstance(output, StepAnswer):
        return CallOutcome(seconds, model=output.model, usage=output.usage, output=output)
    return CallOutcome(seconds, output=output)


def _failure_of(error: BaseException, seconds: float) -> CallOutcome:
    usage, status = Usage(), None
    if isinstance(error, ApplicationError) and error.details and isinstance(error.details[0], dict):
        details = error.details[0]
        usage = Usage.model_validate(details.get("usage") or {})
        status = details.get("status")
    cancelled = is_cancelled_exception(error) or not isinstance(error, Exception)
    message = str(error) or type(error).__name__
    return CallOutcome(seconds, error=message, cancelled=cancelled, status=status, usage=usage)
