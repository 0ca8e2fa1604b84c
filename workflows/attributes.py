"""The search attributes of runs, by which the Web UI and the `temporal` CLI list and find them."""

from typing import Any

from temporalio.common import SearchAttributeKey

QUESTION = SearchAttributeKey.for_text("DeterminatorQuestion")
MODE = SearchAttributeKey.for_keyword("DeterminatorMode")
PROFILE = SearchAttributeKey.for_keyword("DeterminatorProfile")
PHASE = SearchAttributeKey.for_keyword("DeterminatorPhase")
STOP_REASON = SearchAttributeKey.for_keyword("DeterminatorStopReason")
ITERATION = SearchAttributeKey.for_int("DeterminatorIteration")
TOKENS = SearchAttributeKey.for_int("DeterminatorTokens")
CONFIDENCE = SearchAttributeKey.for_float("DeterminatorConfidence")
EVERY: tuple[SearchAttributeKey[Any], ...] = (
    *(QUESTION, MODE, PROFILE, PHASE, STOP_REASON, ITERATION, TOKENS, CONFIDENCE),
)
