"""The sentences of works that state the operands of a computation."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from activities.contracts.evidence import Support
from activities.dates import dates_in, days_in, days_of
from activities.text.numbers import figures
from activities.text.sentences import Sentence as SourceSentence
from activities.verification.computed import FACTORS

MIN_DIGITS = 4
"""Digits of a number from which on two places that have it mean the same."""
FEW_DIGITS = 3
"""Digits of a number below which a place that has it may have it by chance."""


def quotes_of_operands(
    operands: Sequence[str], cited_ids: Collection[str], rows: Sequence[SourceSentence]
) -> Iterator[Support]:
    """Yield the sentences that state the operands of a computation, of cited works or else of others.

    A number of few digits stands in many places by chance: one work alone has to state it, and one of the
    fewest digits, or a constant, beside the operand next to it, or in a work with one of more digits, in one
    sentence alone or together with another operand."""
    stating = {operand: _rows_of(operand, cited_ids, rows) for operand in operands}
    counts = Counter(sentence for sentences in stating.values() for sentence in sentences)
    digits = {operand: _digits(operand) for operand in stating}
    sure_ids = {s.evidence_id for name in stating if digits[name] >= FEW_DIGITS for s in stating[name]}
    works = {operand: {s.evidence_id for s in holders} for operand, holders in stating.items()}
    beside = {(name, work) for a, b in pairwise(operands) for work in works[a] & works[b] for name in (a, b)}
    for operand, holders in stating.items():
        if is_short := digits[operand] < FEW_DIGITS:
            holders = [s for s in holders if s.evidence_id in sure_ids or (operand, s.evidence_id) in beside]
        places = {s if is_short and counts[s] == 1 else s.evidence_id for s in holders}
        nearest = max(holders, key=counts.__getitem__, default=None)
        if nearest is not None and (digits[operand] >= MIN_DIGITS or len(places) == 1):
            yield Support(evidence_id=nearest.evidence_id, quote=nearest.quote)


def _digits(operand: str) -> int:
    """Count the digits of an operand that tell it from others: all of a date, none of a constant."""
    if days_of([operand]):
        return MIN_DIGITS
    constant = any(FACTORS & number.values for number in figures(operand))
    return 0 if constant else sum(map(str.isdigit, operand))


def _rows_of(operand: str, ids: Collection[str], rows: Sequence[SourceSentence]) -> list[SourceSentence]:
    """Return the sentences that state a number or a date: those of cited works, where there are any."""
    values = {value for number in figures(operand) for value in number.values}
    day = next(iter(days_of([operand])), None)

    def states(sentence: SourceSentence) -> bool:
        if day is None:
            return any(values & number.values for number in figures(sentence.quote))
        if dates := dates_in(sentence.quote, sentence.language):
            return any(mention.day == day for mention in dates)
        return f"{day:%m-%d}" in days_in(sentence.quote, sentence.language)

    matches = [sentence for sentence in rows if states(sentence)]
    return [sentence for sentence in matches if sentence.evidence_id in ids] or matches
