"""Reading an answer that comes in pieces: for as long as words arrive and do not repeat themselves.

A stream has no limit on its length in time. It ends when the server ends it, when nothing is said for a while
(comments that keep a connection open are not words), when it is too long, when it repeats itself, or when the
step's time is over. However it ends, the text is kept: its complete part is used.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Literal

from activities.models.response import Pieces

Ending = Literal["", "silence", "deadline", "loop", "size"]
"""Why we stopped reading; empty when the server ended the answer."""

FIRST_WORD_FACTOR = 4
"""How many times longer than for the next word to wait for the first: a local model first reads the
prompt."""
MOST_CHARACTERS = 400_000
"""Characters of one answer, reasoning included. The longest output cap in use is some 60,000 characters."""
CHECKED_EVERY = 256
"""Characters after which an answer is checked for repetition again."""
LOOP_REPEATS = 4
LOOP_CHARACTERS = 160
"""A run that repeats so often and covers so many characters is a loop: no answer of a role contains one."""
LONGEST_PERIOD = 1_200
"""Characters of a repeated unit: an entry of a list of claims has some 300."""


async def read_stream(
    events: AsyncIterator[object],
    pieces: Pieces,
    *,
    silence: float,
    seconds: float,
    on_words: Callable[[int], None],
) -> Ending:
    """Fill `pieces` from the events of a stream and say why reading ended.

    `silence` is the longest wait for the next word in seconds, `seconds` what is left of the step's time;
    `on_words` is called with the characters so far. Raises what the stream raises.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    checked = 0
    try:
        async with asyncio.timeout_at(min(clock() + silence * FIRST_WORD_FACTOR, end)) as limit:
            async for event in events:
                before = pieces.characters
                pieces.add(event)
                if pieces.characters == before:
                    continue
                limit.reschedule(min(clock() + silence, end))
                on_words(pieces.characters)
                if pieces.characters > MOST_CHARACTERS:
                    return "size"
                if pieces.characters - checked >= CHECKED_EVERY:
                    checked = pieces.characters
                    if repeats_itself(pieces.tail(LONGEST_PERIOD * LOOP_REPEATS)):
                        return "loop"
    except TimeoutError:
        if not limit.expired():
            raise
        return "deadline" if clock() >= end else "silence"
    return ""


def repeats_itself(text: str) -> bool:
    """Whether a text ends in the same run of characters over and over."""
    backwards = text[::-1]
    for period in range(1, len(text) // LOOP_REPEATS + 1):
        count = max(LOOP_REPEATS, -(-LOOP_CHARACTERS // period))
        if period * count > len(backwards):
            continue
        # equal to itself one period on, over all repeats: the run has that period
        span = period * (count - 1)
        if backwards[0] == backwards[period] and backwards[:span] == backwards[period : period + span]:
            return True
    return False
