"""Which of two numbers belongs to which of two groups, by the places of the groups' names in a sentence.

No words are read but the names, and those are the work's own. A sentence can be read in three ways: each name
behind its number (`13 in PG and 14 in PJ`), each before it (`placebo 13 % and cefonicid 6 %`), or both before
both numbers, in one order (`after PG versus PJ (20 % vs 22 %)`). Where every way that is complete gives the
numbers to the other group, they were exchanged.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from activities.analysis.stated import places_of, plain


def are_exchanged(quote: str, names: tuple[str, str], numbers: tuple[Decimal, Decimal]) -> bool:
    """Whether a sentence gives the first number to the second name. False where it does not say."""
    text = plain(quote)
    named = _named(text, names)
    if {index for _, _, index in named} != {0, 1} or numbers[0] == numbers[1]:
        return False
    places = list(places_of(text))
    readings = [
        reading
        for one in (place for place in places if place.value == numbers[0])
        for other in (place for place in places if place.value == numbers[1])
        for reading in _readings(named, (one.start, one.end), (other.start, other.end))
    ]
    return bool(readings) and not any(readings)


def _named(text: str, names: Sequence[str]) -> list[tuple[int, int, int]]:
    """Where each name stands: start, end, and which of the two. Of names that overlap the longer counts."""
    places: list[tuple[int, int, int]] = []
    for index in sorted((0, 1), key=lambda one: -len(names[one])):
        words = r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", plain(names[index]).strip())))
        for match in re.finditer(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) if words else ():
            if not any(start < match.end() and match.start() < end for start, end, _ in places):
                places.append((match.start(), match.end(), index))
    return sorted(places)


def _readings(
    named: Sequence[tuple[int, int, int]], one: tuple[int, int], other: tuple[int, int]
) -> Iterator[bool]:
    """Whether the first number belongs to the first name, by each way to read the sentence that is
    complete."""
    (first, last), in_order = ((one, other), True) if one < other else ((other, one), False)
    before = [index for _, end, index in named if end <= first[0]]
    between = [index for start, end, index in named if first[1] <= start and end <= last[0]]
    behind = [index for start, _, index in named if last[1] <= start]
    pairs = []
    if between and behind:
        pairs.append((between[0], behind[0]))
    if before and between:
        pairs.append((before[-1], between[-1]))
    if not between and before:
        rest = [index for index in before if index != before[-1]]
        pairs += [(rest[-1], before[-1])] if rest else []
    if not between and not before and behind:
        rest = [index for index in behind if index != behind[0]]
        pairs += [(behind[0], rest[0])] if rest else []
    for a, b in pairs:
        if a != b:
            yield (a == 0) == in_order
