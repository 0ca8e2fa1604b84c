"""Runs a role: by the extractive back end or by a language model, with fallbacks for when one is down."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from activities.errors import ModelBusy, ModelError, ModelRefused
from activities.evidence_store import EvidenceStore
from activities.models.base import LanguageModel
from activities.models.prices import context_window
from activities.models.tokens import room
from activities.roles.registry import SPECS
from activities.roles.role import AnySpec
from activities.settings import Settings
from activities.steps import Charged, Role, StepContext
from activities.types import Evidence, ModelChoice, Statement, Usage

log = structlog.get_logger()

EXTRACTIVE: dict[Role, str] = {
    "query_parser": "parse_query",
    "planner": "plan",
    "observer": "observe",
    "gap_evaluator": "evaluate_gaps",
    "tool_selector": "select_tools",
    "judge": "judge",
    "reflector": "reflect",
    "hypothesis_generator": "hypothesise",
    "writer": "write",
    "long_writer": "write",
    "proofreader": "proofread",
    "manager": "manage",
}
"""Role -> function of `activities.extractive`."""
WITHOUT_DOCUMENTS: frozenset[Role] = frozenset(
    {"query_parser", "planner", "tool_selector", "proofreader", "manager"}
)
"""Roles whose extractive function takes the step alone."""
BY_CODE = "code"
"""Stands for the model where a step's answer follows from its input and nothing had to be asked."""


class RoleThinker:
    """The `Thinker` of `activities.role_activities`: knows every role, nothing of Temporal.

    Order of trial: the step's model, then its fallbacks. A model that is down, that refuses or whose answer
    cannot be used hands over to the next one at once. One that is busy (429) is worth waiting for: its error
    is raised so that the caller retries after the delay the server asked for, and only on the caller's last
    attempt does the next model get its turn.
    """

    def __init__(
        self,
        model: LanguageModel | None,
        store: EvidenceStore,
        settings: Settings,
        last_attempt: Callable[[], bool] | None = None,
    ) -> None:
        self._model = model
        self._store = store
        self._settings = settings
        self._last_attempt = last_attempt or on_last_attempt

    async def think(self, role: Role, step: StepContext) -> Charged[Any]:
        """Raises ModelError when no model and no fallback could answer; its usage is all that was paid."""
        spec = SPECS[role]
        documents = await self._store.get_many(spec.refs(step))
        spent = Usage()
        failures: list[ModelError] = []
        chain = list(dict.fromkeys((step.model, *step.fallbacks)))
        for number, choice in enumerate(chain):
            try:
                done = await self._answer(spec, step, documents, choice)
            except ModelError as error:
                failures.append(error)
                spent = spent + error.usage
                more = number + 1 < len(chain)
                if not more or (isinstance(error, ModelBusy) and not self._last_attempt()):
                    break
                log.warning(
                    "model_fell_back",
                    run_id=step.run_id,
                    role=role,
                    model=choice.model,
                    to=chain[number + 1].model or "extractive",
                    error=str(error),
                )
                continue
            notes = tuple(f"{_said(role)}: {error}" for error in failures) + done.notes
            return done.model_copy(
                update={"usage": spent + done.usage, "fell_back": number > 0, "notes": notes}
            )
        # the one worth a retry speaks for all; without one, the model that was asked for does
        worst = next((error for error in failures if error.retryable), failures[0])
        worst.usage = spent
        raise worst

    async def _answer(
        self, spec: AnySpec, step: StepContext, documents: Sequence[Evidence], choice: ModelChoice
    ) -> Charged[Any]:
        if choice.backend == "extractive":
            output = await asyncio.to_thread(_extract, spec.role, step, documents)
            return Charged(output=output)
        if (known := spec.by_code(step, documents)) is not None:
            return Charged(output=known, model=BY_CODE)
        if self._model is None:
            raise ModelRefused(
                f"no language model is connected for {spec.role}; set DETERMINATOR_MODEL or use extractive",
                category="auth",
            )
        prompt = spec.render(step, documents, room(step.allowance, context_window(self._settings, choice)))
        answer, completion = await self._model.ask(
            choice,
            system=prompt.system,
            user=prompt.user,
            answer=spec.answer,
            allowance=step.allowance,
            scope=f"{step.scope or step.run_id}/{spec.role}",
        )
        accepted = spec.accept(step, prompt, answer)
        return Charged(
            output=accepted.output,
            usage=completion.usage,
            model=completion.model,
            prompt_version=prompt.version,
            notes=tuple(
                _of_role(spec.role, note) for note in (*prompt.notes, *accepted.notes, *completion.notes)
            ),
        )


def _extract(role: Role, step: StepContext, documents: Sequence[Evidence]) -> object:
    from activities import extractive

    function = getattr(extractive, EXTRACTIVE[role])
    return function(step) if role in WITHOUT_DOCUMENTS else function(step, list(documents))


def _of_role(role: Role, note: Statement | str) -> Statement | str:
    """A note with the step it is about."""
    if isinstance(note, Statement):
        return note.model_copy(update={"values": {**note.values, "step": _said(role)}})
    return f"{_said(role)}: {note}"


def _said(role: Role) -> str:
    """What a role does, as the report's reader is told of it."""
    return {
        "query_parser": "Reading the question",
        "planner": "Planning",
        "observer": "Looking at the evidence",
        "gap_evaluator": "Asking what is missing",
        "tool_selector": "Choosing searches",
        "judge": "Judging the evidence",
        "reflector": "Thinking searches over",
        "hypothesis_generator": "Naming candidates",
        "writer": "Writing",
        "long_writer": "Writing",
        "proofreader": "Proofreading",
        "manager": "Managing the team",
    }[role]


def on_last_attempt() -> bool:
    """Whether the activity under way will not be retried after this attempt; True outside an activity."""
    from temporalio import activity

    if not activity.in_activity():
        return True
    info = activity.info()
    attempts = info.retry_policy.maximum_attempts if info.retry_policy else 0
    return 0 < attempts <= info.attempt
