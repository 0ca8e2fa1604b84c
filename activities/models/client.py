"""Any OpenAI-compatible server, asked for one typed answer.

Invariants:

* retries belong to Temporal: the library's own are off;
* an answer is stored with its last byte, before the connection ends and before it is read, so a step that
  dies after it was paid for does not pay again;
* prompt, answer and repair turn together stay within the allowance and the model's context; the output cap
  is what is left;
* every attempt that cost something is in the usage, also when the call fails or is cut short;
* a call may last as long as words arrive; it ends by silence, by its output cap, or with the step's time, and
  what was complete by then is used;
* a server gets no more calls at once than it serves, and waiting for a turn is not the call's time;
* a model that is down is not asked again by every step (`activities.models.servers`);
* credentials go to the configured address only, and into no message.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING

from activities.contracts.errors import ModelDown, ModelError, ModelRefused
from activities.contracts.evidence import Allowance, ModelChoice, Usage
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.models.base import (
    BYTES_PER_TOKEN,
    CURRENT,
    Completion,
    Progress,
    YesOrNo,
    estimate,
)
from activities.models.calls import Calls
from activities.models.capabilities import Capabilities, CapabilityMemory
from activities.models.conversation import (
    Answer,
    Conversation,
    PaidAnswers,
    Question,
    RawAnswer,
    body,
    raise_refusal,
)
from activities.models.failures import UNEXPLAINED, ReportedError, error_object
from activities.models.prices import context_window, cost_microusd
from activities.models.response import (
    EVENTS,
    FIRST_WORD_FACTOR,
    Pieces,
    events_of,
    read_stream,
    values_of,
)
from activities.models.servers import Servers
from activities.models.structured import Unreadable, schema_of
from activities.settings import Settings

if TYPE_CHECKING:
    from openai import APIStatusError


MAX_ADAPTATIONS = 10
"""Refusals that one call learns from; each changes one capability."""
PATH = "/chat/completions"


def _refusal(error: "APIStatusError | ReportedError") -> tuple[int, dict[str, object]]:
    if isinstance(error, ReportedError):
        return error.status or 400, error.body
    return error.status_code, error_object(error.body)


class OpenAIModel:
    """The only interface to a language model. Make one a worker and close it with `aclose`.

    `has_timed_out` tells whether the server has given up the attempt under way, whose call goes on.
    """

    def __init__(
        self, settings: Settings, store: EvidenceStore, has_timed_out: Callable[[], bool] = bool
    ) -> None:
        self._settings = settings
        self._answers = PaidAnswers(store)
        self._calls: Calls[tuple[RawAnswer, Usage]] = Calls(has_timed_out)
        self._memory = CapabilityMemory(store)
        self._servers = Servers(settings)

    async def aclose(self) -> None:
        await self._servers.aclose()

    async def learn_context(self, choice: ModelChoice, tokens: int) -> None:
        """Remember how much a server reads that refused more without saying why."""
        address = self._servers.address(choice).public_url
        capabilities = await self._memory.of(address, choice.model)
        await self._memory.remember(address, choice.model, capabilities.replace(context_tokens=tokens))

    async def context(self, choice: ModelChoice) -> int:
        """Return the tokens that the model reads and writes in one exchange.

        As its server said in an error, as the server says of itself, as `genai-prices` lists it, or
        as the settings assume.
        """
        address = self._servers.address(choice)
        default_size = context_window(self._settings, choice)
        size = (await self._memory.of(address.public_url, choice.model)).context_tokens
        if size is None:
            size = (await self._servers.facts(choice)).context_tokens
        if size is None:
            return default_size
        return min(size, default_size) if "context_tokens" in self._settings.model_fields_set else size

    async def ask(
        self,
        choice: ModelChoice,
        *,
        system: str,
        user: str,
        answer: type[Answer],
        allowance: Allowance,
        scope: str,
        choices: Mapping[str, Sequence[str]] | None = None,
        seconds: float | None = None,
    ) -> tuple[Answer, Completion]:
        """Ask for an answer of the given shape within the allowance; for `YesOrNo` for one word, one token.

        `system` is the stable part of the prompt, `user` what changes. `scope` names run and step for the
        store of paid answers. `choices` are the values a field may have, by its path (`claims.sentence`).
        What is wrong with an answer is sent back once. `seconds` is how long the step has: what is whole by
        then is used. Raises ModelError; its `usage` is what was paid all the same.
        """
        if choice.temperature is None:
            choice = choice.replace(temperature=self._settings.temperature)
        conversation = Conversation(
            choice=choice,
            address=self._servers.address(choice),
            answer=answer,
            schema={} if answer is YesOrNo else schema_of(answer, choices),
            prompt=(system, user),
            allowance=allowance,
            window=await self.context(choice),
            scope=scope,
            deadline=time.monotonic() + (math.inf if seconds is None else seconds),
        )
        question = conversation.first_question()
        raw = await self._exchange(conversation, question)
        try:
            return conversation.read(raw), conversation.completion()
        except Unreadable as unreadable:
            problem = unreadable
        name = choice.model
        log.info("model_repair", model=name, answer=answer.__name__, problem=problem.problem)
        if raw.readable.strip() and not problem.found_json and not raw.cut:
            await self._memory.lower_format(question.address.public_url, name)
        raw = await self._exchange(conversation, conversation.repair_question(question, raw, problem))
        try:
            return conversation.read(raw), conversation.completion()
        except Unreadable as second_problem:
            raise conversation.unusable(second_problem, "after a repair turn") from None

    async def _exchange(self, conversation: Conversation[Answer], question: Question) -> RawAnswer:
        """Ask a question, and charge its answer. Raises ModelError with all that was paid."""
        try:
            raw, usage = await self._calls.once(question.key, lambda: self._find_or_ask(question))
        except ModelError as error:
            failure = copy(error)  # another attempt may wait for the same call
            failure.usage = question.spent + error.usage
            raise failure from None
        conversation.charge(raw, usage)
        raise_refusal(raw, question, conversation.usage)
        return raw

    async def _find_or_ask(self, question: Question) -> tuple[RawAnswer, Usage]:
        """Return the answer to a question, of the store or of the model, and what all attempts at it cost."""
        stored = await self._answers.get(question.key)
        if stored.raw is not None:
            return stored.raw, stored.raw.usage + stored.lost
        lost_usage = stored.lost
        answers: list[RawAnswer] = []

        def keep(pieces: Pieces) -> None:
            raw = self._raw_answer(question, pieces, "")
            if self._answers.put_now(question.key, raw, lost_usage):
                answers.append(raw)

        progress = CURRENT.get() or Progress("")
        progress.model, progress.waiting = question.choice.model, True
        async with self._servers.turn(question.address, question.choice):
            progress.waiting = False
            try:
                with self._servers.breaker(question.address, question.choice).passage():
                    raw = await self._ask_server(question, question.spent + lost_usage, keep)
            except ModelError as error:
                if error.usage.tokens and error.retryable:
                    await self._answers.lose(question.key, lost_usage + error.usage)
                error.usage = lost_usage + error.usage
                raise
        if answers != [raw]:
            await self._answers.put(question.key, raw, lost_usage)
        return raw, raw.usage + lost_usage

    async def _ask_server(
        self, question: Question, earlier_usage: Usage, keep: Callable[[Pieces], None]
    ) -> RawAnswer:
        """Send the best form of request the server is known to accept, and learn from its refusals.

        `keep` gets a whole answer with its last byte.
        """
        import httpx2
        import openai

        server = question.address.public_url, question.choice.model
        trial: Capabilities | None = None
        for _ in range(MAX_ADAPTATIONS):
            capabilities = trial or await self._memory.of(*server)
            pieces = Pieces()
            try:
                ending = await self._send(question, capabilities, pieces, earlier_usage, keep)
                if trial is not None:
                    await self._memory.remember(*server, trial)
                return self._raw_answer(question, pieces, ending)
            except (openai.APIStatusError, ReportedError) as error:
                adapted = capabilities.after_refusal(*_refusal(error))
                if adapted is None or adapted == capabilities:
                    failure = await self._failure_of(question, error, pieces)
                    trial = capabilities.replace(format="none")
                    may_be_format = bool(question.schema) and trial != capabilities
                    if failure.category != UNEXPLAINED or not may_be_format:
                        raise failure from None
                    continue  # its words may mean the format of the answer: it is asked once without one
                log.info("model_capability_learned", model=question.choice.model, now=adapted.model_dump())
                await self._memory.remember(*server, adapted)
                trial = None
            except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError) as error:
                raise await self._failure_of(question, error, pieces) from None
            except asyncio.CancelledError:
                # the attempt after this one charges it
                if pieces.all_text:
                    with suppress(ModelError):
                        await self._answers.lose(question.key, self._usage(question, pieces))
                raise
        raise ModelRefused(
            f"{question.target} accepts none of the ways it was asked in; see the log", category="bad_request"
        )

    async def _send(
        self,
        question: Question,
        capabilities: Capabilities,
        pieces: Pieces,
        earlier_usage: Usage,
        keep: Callable[[Pieces], None],
    ) -> str:
        """Send a request; return why reading ended, empty when the server ended it.

        A stream fills `pieces` as it comes, so that what was paid is known if it breaks off; leaving
        it, by cancellation too, closes the connection.
        """
        from openai import AsyncStream

        client, request = self._servers.client(question.address), body(question, capabilities)
        silence, seconds = self._settings.model_silence, question.seconds_left()
        progress = CURRENT.get() or Progress("")

        def report_progress(characters: int) -> None:
            progress.characters, progress.usage = characters, so_far

        def so_far() -> Usage:
            tokens = math.ceil(progress.characters / BYTES_PER_TOKEN)
            return earlier_usage + Usage(calls=1, input_tokens=question.prompt_tokens, output_tokens=tokens)

        try:
            async with asyncio.timeout(min(silence * FIRST_WORD_FACTOR, seconds)) as patience:
                if not capabilities.stream:
                    pieces.add_whole(await client.post(PATH, cast_to=object, body=request))
                    keep(pieces)
                    return ""
                stream = await client.post(
                    PATH, cast_to=object, body=request, stream=True, stream_cls=AsyncStream[object]
                )
                if EVENTS not in stream.response.headers.get("content-type", EVENTS):
                    async with stream:
                        # a server that does not stream sends the whole answer; some name another type
                        content = await stream.response.aread()
                        for value in values_of(content, stream.response.request):
                            pieces.add(value)
                        pieces.check()
                        keep(pieces)
                    return ""
        except TimeoutError:
            if not patience.expired():
                raise
            raise ModelDown(f"{question.target} said nothing for {silence * FIRST_WORD_FACTOR:g} s") from None
        async with stream:
            ending = await read_stream(
                events_of(stream.response, lambda: keep(pieces) if pieces.has_answer else None),
                pieces,
                silence=silence,
                seconds=seconds,
                on_words=report_progress,
            )
        if ending and not pieces.all_text:
            raise ModelDown(f"{question.target} kept the connection open and said nothing")
        if not ending:
            pieces.check()
            if not pieces.finish_reason and pieces.reported_usage is None:
                return "unfinished"
        return ending

    def _raw_answer(self, question: Question, pieces: Pieces, ending: str) -> RawAnswer:
        return RawAnswer(
            text=pieces.text,
            tool_calls=tuple(pieces.tool_calls.values()),
            refusal=pieces.refusal,
            finish_reason=ending or pieces.finish_reason,
            usage=self._usage(question, pieces),
            estimated=pieces.reported_usage is None,
            words=tuple(pieces.words),
        )

    def _usage(self, question: Question, pieces: Pieces) -> Usage:
        usage = pieces.reported_usage or Usage(
            calls=1, input_tokens=question.prompt_tokens, output_tokens=estimate(pieces.all_text)
        )
        cost = cost_microusd(self._settings, question.choice, usage)
        return usage.replace(cost_microusd=cost, seconds=pieces.seconds)

    async def _failure_of(self, question: Question, error: Exception, pieces: Pieces) -> ModelError:
        """Return our error for the library's, with the usage when words had already arrived.

        How much the model can read is remembered, when the failure is that it was given more.
        """
        from activities.models.transport import translate_error

        failure = translate_error(question, error, has_key=self._servers.sends_key(question.address))
        if pieces.all_text:
            failure.usage = self._usage(question, pieces)
        if failure.category == "context_length":
            details = error_object(getattr(error, "body", None))
            server = question.address.public_url, question.choice.model
            await self._memory.learn_context(*server, details, question.prompt_tokens, question.cap)
        return failure
