"""Answers that were paid for: stored before they are used, so that a repeated attempt does not pay again."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Frozen, Usage
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.models.response import Word

CUT: Mapping[str, str] = {
    "length": "was cut off at its output limit",
    "unfinished": "broke off",
    "silence": "said nothing more and was cut off",
    "deadline": "was cut off when the step's time was over",
    "loop": "repeated itself and was cut off",
    "size": "was too long and was cut off",
}
"""Finish reason of an incomplete answer -> its description. The first is the servers' own."""


class RawAnswer(Frozen):
    text: str = ""
    tool_calls: tuple[str, ...] = ()
    """Arguments of tool calls, as text."""
    refusal: str = ""
    finish_reason: str = ""
    usage: Usage = Usage()
    estimated: bool = False
    words: tuple[Word, ...] = ()
    """The parts that the answer was said in, where their probabilities were wanted and given."""

    @property
    def said(self) -> str:
        """The text to read: the content, or else the arguments of tool calls."""
        return self.text if self.text.strip() else "\n".join(self.tool_calls)

    @property
    def cut(self) -> bool:
        """Whether the answer ended before it was whole."""
        return self.finish_reason in CUT


class PaidAnswer(Frozen):
    """An answer, where it is whole, and what it has cost beside its own price."""

    raw: RawAnswer | None = None
    lost: Usage = Usage()
    """Paid for answers that were interrupted before they were complete."""


def key_of(*parts: str | dict[str, Any] | int) -> str:
    """Return the name an answer is stored under: a digest of everything that decides it."""
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return f"answers/{digest}.json"


class PaidAnswers:
    """The store of answers. Reading never fails a call: an answer that cannot be read is bought again."""

    def __init__(self, store: EvidenceStore) -> None:
        self._store = store

    async def get(self, key: str) -> PaidAnswer:
        try:
            data = await self._store.get_named(key)
            return PaidAnswer.model_validate_json(data) if data else PaidAnswer()
        except (StoreError, ValidationError):
            return PaidAnswer()

    async def put(self, key: str, raw: RawAnswer, lost: Usage) -> None:
        """Store an answer.

        When the store fails the answer in hand is used all the same: failing the call would buy it
        again.
        """
        try:
            await self._store.put_named(key, PaidAnswer(raw=raw, lost=lost).model_dump_json().encode())
        except StoreError as error:
            log.warning("answer_not_stored", key=key, error=str(error))

    def put_now(self, key: str, raw: RawAnswer, lost: Usage) -> bool:
        """Store it at once, before the caller's loop does anything else; return whether that was done."""
        try:
            return self._store.put_named_now(key, PaidAnswer(raw=raw, lost=lost).model_dump_json().encode())
        except StoreError:
            return False  # `put` says so

    async def lose(self, key: str, usage: Usage) -> None:
        """Record what an interrupted attempt has cost, for the next attempt.

        A whole answer, stored before the interruption, stays.
        """
        if (await self.get(key)).raw is not None:
            return
        try:
            await self._store.put_named(key, PaidAnswer(lost=usage).model_dump_json().encode())
        except StoreError:
            return  # the call has failed already; its own error says more
