"""Runs a role: by a language model, a small one, or code, with fallbacks for when a model is down."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from activities.contracts.errors import ModelBusy, ModelError, ModelRefused
from activities.contracts.evidence import Evidence, ModelChoice, Statement, Usage
from activities.contracts.judge import JudgeBatch, JudgeInput, Ordered, OrderInput
from activities.contracts.step import BY_CODE, Role, StepAnswer, StepContext
from activities.contracts.write import Verdicts
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.models.base import estimate, room
from activities.models.failures import UNEXPLAINED
from activities.own_step_activity import OwnStepInput
from activities.roles import readers, selection
from activities.roles.allowances import asks_model
from activities.roles.judgement_store import JudgementStore, with_stored
from activities.roles.own import own_spec
from activities.roles.role import AnySpec, spec_of
from activities.settings import Settings

if TYPE_CHECKING:
    from activities.models.client import OpenAIModel


MAX_SIZES = 4
"""Sizes of a prompt that are tried when a server calls it too long."""
MAX_GUESSES = 2
"""Shorter prompts that are tried where a server does not say why it refuses a large one."""
LARGE_PROMPT = 1_000
"""Tokens from which on a prompt may be refused for its length."""


class RoleThinker:
    """Knows every role, nothing of Temporal.

    Order of trial: the step's model, then its fallbacks. After a model that is down, refuses or gives an
    unusable answer the next one is called at once. One that is busy (429) is worth waiting for: its error is
    raised so that the caller retries after the delay the server asked for, and only on the caller's last
    attempt is the next model called. A second reader that misses planted errors is not believed: the next
    model reads in its place, and where none is left nothing that it confirmed counts.
    """

    def __init__(
        self,
        model_of: "Callable[[ModelChoice], OpenAIModel]",
        store: EvidenceStore,
        settings: Settings,
        is_last_attempt: Callable[[], bool] = lambda: True,
    ) -> None:
        self._model_of = model_of
        self._store = store
        self._settings = settings
        self._is_last_attempt = is_last_attempt
        self._judgements = JudgementStore(store)

    async def think(self, role: Role, step: StepContext) -> StepAnswer[Any]:
        """Answer a step. Raises ModelError when nothing could answer; its usage is all that was paid."""
        spec = own_spec(step.name) if isinstance(step, OwnStepInput) else spec_of(role)
        documents = await self._store.get_many(spec.refs(step))
        usage = Usage()
        failures: list[ModelError] = []
        doubted_answer: StepAnswer[Any] | None = None
        chain = list(dict.fromkeys((step.model, *step.fallbacks)))
        for number, choice in enumerate(chain):
            try:
                answer = await self._answer(spec, step.replace(model=choice), documents)
            except ModelError as error:
                failures.append(error)
                usage = usage + error.usage
                if number + 1 == len(chain) or (isinstance(error, ModelBusy) and not self._is_last_attempt()):
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
            if _is_doubted(answer) and any(asks_model(role, fallback) for fallback in chain[number + 1 :]):
                doubted_answer, usage = doubted_answer or answer, usage + answer.usage
                continue
            notes = tuple(f"{spec.title}: {error}" for error in failures) + answer.notes
            return answer.replace(usage=usage + answer.usage, fell_back=number > 0, notes=notes)
        if doubted_answer is not None:
            return doubted_answer.replace(usage=usage)
        # raise the error that is worth a retry; without one, that of the requested model
        final = next((error for error in failures if error.retryable), failures[0])
        final.usage = usage
        raise final

    async def order(self, step: OrderInput) -> Ordered:
        """Put the works that are worth judging in order, the most promising first. Raises StoreError."""
        documents = await self._store.get_many((*step.evidence, *step.answered))
        return await asyncio.to_thread(selection.order, step, documents)

    async def _answer(
        self, spec: AnySpec, step: StepContext, documents: Sequence[Evidence]
    ) -> StepAnswer[Any]:
        has_model = asks_model(spec.role, step.model)
        if not has_model or spec.is_idle(step, documents):
            output = await asyncio.to_thread(spec.fallback, step, documents)
            return StepAnswer(output=output, model=BY_CODE) if has_model else StepAnswer(output=output)
        if isinstance(step, JudgeInput):
            return await self._judge(spec, step, documents)
        return await self._ask(spec, step, documents)

    async def _judge(self, spec: AnySpec, step: JudgeInput, documents: Sequence[Evidence]) -> StepAnswer[Any]:
        """Judge a batch; the model is asked only about works without a judgement."""
        stored = await self._judgements.load(step)
        open_step = step.replace(evidence=tuple(r for r in step.evidence if r.evidence_id not in stored))
        if not open_step.evidence:
            model = step.model.model
            return StepAnswer(output=with_stored(step, stored, JudgeBatch(), model), model=model)
        unjudged = [document for document in documents if document.evidence_id not in stored]
        answer = await self._ask(spec, open_step, unjudged)
        await self._judgements.keep(open_step, answer.output)
        return answer.replace(output=with_stored(step, stored, answer.output, answer.model))

    async def _ask(self, spec: AnySpec, step: StepContext, documents: Sequence[Evidence]) -> StepAnswer[Any]:
        """Ask the model, check its answer, and return it with its price.

        A prompt that its server calls too long is made smaller, to what was learned of the server, and not
        repeated.
        """
        model, usage = self._model_of(step.model), Usage()
        context = await model.context(step.model)
        guesses = 0
        for _ in range(MAX_SIZES):
            # in threads: ranking and checking long texts must not block the heartbeats
            prompt = await asyncio.to_thread(spec.render, step, documents, room(step.allowance, context))
            try:
                answer, completion = await model.ask(
                    step.model,
                    system=prompt.system,
                    user=prompt.user,
                    answer=prompt.answer or spec.answer,
                    allowance=step.allowance,
                    scope=f"{step.scope or step.run_id}/{spec.role}",
                    choices=prompt.choices,
                    seconds=step.seconds,
                )
            except ModelError as error:
                error.usage = usage = usage + error.usage
                earlier_context = context
                if error.category == "context_length":
                    context = await model.context(step.model)
                elif error.category == UNEXPLAINED and guesses < MAX_GUESSES:
                    size = estimate(prompt.system, prompt.user)
                    context = min(context, size) // 2 if size > LARGE_PROMPT else context
                    guesses += 1
                if context >= earlier_context:
                    raise
                continue
            if guesses:
                await model.learn_context(step.model, context)
            accepted = await asyncio.to_thread(spec.accept, step, prompt, answer)
            if isinstance(accepted.output, Verdicts):
                key = f"{prompt.system}\n{prompt.user}"
                readers.record(self._settings.home, completion.model, key, accepted.output.vigilance)
            notes = (*prompt.notes, *accepted.notes, *completion.notes)
            return StepAnswer(
                output=accepted.output,
                usage=usage + completion.usage,
                model=completion.model,
                prompt_version=prompt.version,
                notes=tuple(_with_step(spec, note) for note in notes),
            )
        raise ModelRefused(
            f"no prompt of {spec.role} is short enough for {step.model.model}",
            category="context_length",
            usage=usage,
        )


def _is_doubted(answer: StepAnswer[Any]) -> bool:
    return isinstance(answer.output, Verdicts) and not answer.output.vigilance.is_believed


def _with_step(spec: AnySpec, note: Statement | str) -> Statement | str:
    """Return a note with the step it is about."""
    if isinstance(note, Statement):
        return note.replace(values={**note.values, "step": spec.title})
    return f"{spec.title}: {note}"
