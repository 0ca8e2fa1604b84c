"""What a work found in numbers, each result once: what was found in each of two groups with its test and its
computed difference, then the numbers that no group's result has."""

import re
from collections.abc import Iterator, Mapping

from activities.report.formats import words
from activities.report.formats.model import Cell, Reading
from activities.report.formats.text import clean
from activities.types import ArmResult, ComputedEffect, WorkRow

_VALUE = re.compile(r"\d+(?:[.,\u00b7]\d+)*")
_TEST = re.compile(
    r"\bp(?:[- ]values?)?\s*(?:[<>=\u2264\u2265]|&lt;)\s*0?[.,\u00b7]\d+|\bp\s*[:=]\s*ns\b", re.IGNORECASE
)

_BARE = re.compile(
    r"[\d.,\u00b7%]+ (?:versus|vs\.?|and|against|to|compared (?:with|to)) [\d.,\u00b7%]+", re.IGNORECASE
)


def results(row: WorkRow, anchors: Mapping[str, str]) -> Cell:
    """The results of a work. `anchors`: name of a field -> anchor of the sentence that it was read from."""
    return Cell(tuple(_results(row, anchors)))


def _results(row: WorkRow, anchors: Mapping[str, str]) -> Iterator[Reading]:
    read = [(clean(text), _place(anchors, place)) for place, text in enumerate(row.numbers)]
    # a test by itself does not say what it tests, nor do two bare values what they are of
    numbers = [(text, anchor) for text, anchor in read if _values(text) and not _BARE.fullmatch(text)]
    computed = dict(enumerate(row.computed))
    printed: list[set[str]] = []
    for place, arm in enumerate(row.arms):
        values = _values(arm.text)
        printed.append(values)
        same = [text for text, _ in read if _values(text) and _values(text) <= values]
        tests = dict.fromkeys(match.group() for text in (arm.text, *same) for match in _TEST.finditer(text))
        text = words.by_arm(arm)
        tested = [test for test in tests if test not in text]
        mine = next((name for name, effect in computed.items() if _is_of(effect, arm)), None)
        tested += [words.difference(computed.pop(mine))] if mine is not None else []
        yield Reading(", ".join((text, *tested)), anchors.get(f"arms.{place}", ""))
    for place, effect in computed.items():
        printed.append({str(value) for value in (effect.events, effect.total, effect.other_events)})
        yield Reading(words.computed(effect), anchors.get(f"computed.{place}", ""))
    for place, (text, anchor) in enumerate(numbers):
        values = _values(text)
        others = [_values(other) for n, (other, _) in enumerate(numbers) if n != place]
        within = any(values < other or (values == other and other in others[:place]) for other in others)
        # a test by itself does not say what it tests, nor do two bare values what they are of
        if (
            values
            and not _BARE.fullmatch(text)
            and not within
            and not any(values <= said for said in printed)
        ):
            yield Reading(text, anchor)


def _place(anchors: Mapping[str, str], place: int) -> str:
    return anchors.get(f"numbers.{place}", anchors.get("numbers", ""))


def _values(text: str) -> set[str]:
    """The numbers of a text but for those of its tests."""
    return set(_VALUE.findall(_TEST.sub(" ", text)))


def _is_of(effect: ComputedEffect, arm: ArmResult) -> bool:
    """Whether a difference was computed from this result's events and totals."""
    one, other = _values(arm.value), _values(arm.other_value)
    return {str(effect.events), str(effect.total)} <= one and {
        str(effect.other_events),
        str(effect.other_total),
    } <= other
