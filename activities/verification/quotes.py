"""The quotes behind a sentence.

Code finds those that its figures and its computations need; a second reader names those that carry it, of
which a few are kept. The nearest ones are printed in its place where it does not stand.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from rapidfuzz import fuzz

from activities.contracts.evidence import Evidence, Support
from activities.contracts.write import DraftClaim
from activities.dates import dates_in, days_in, days_of
from activities.text.normal_form import normalise
from activities.text.number_index import missing_numbers
from activities.text.numbers import figures
from activities.text.sentences import Sentence, quotable, sentences
from activities.verification.expressions import FACTORS
from activities.verification.gate import FINAL_MARKS, text_of, works_of

MAX_QUOTES = 8
"""Quotes of a sentence, beside those that its numbers need and one for each work that it rests on."""
MIN_DIGITS = 4
"""Digits of a number from which on two places that have it mean the same."""
FEW_DIGITS = 3
"""Digits of a number below which a place that has it may have it by chance."""


def quotes_of_figures(claim: DraftClaim, works: Iterable[Evidence], context: str) -> Iterator[Support]:
    """Yield the sentences that alone state a figure which quotes and computations of a claim do not have."""
    quotes = [support.quote for support in claim.support]
    rows = dict.fromkeys(s for work in works for s in sentences(work, short=True))
    for number in missing_numbers(claim.text, [*quotes, *claim.computed, context]):
        stating = [s for s in rows if not any(missing_numbers(number.text, [s.quote]))]
        if len(stating) == 1:
            yield Support(evidence_id=stating[0].evidence_id, quote=stating[0].quote)


def quotes_of_operands(
    operands: Sequence[str], cited_ids: Collection[str], rows: Sequence[Sentence]
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


def _rows_of(operand: str, ids: Collection[str], rows: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that state a number or a date: those of cited works, where there are any."""
    values = {value for number in figures(operand) for value in number.values}
    day = next(iter(days_of([operand])), None)

    def states(sentence: Sentence) -> bool:
        if day is None:
            return any(values & number.values for number in figures(sentence.quote))
        if dates := dates_in(sentence.quote, sentence.language):
            return any(mention.day == day for mention in dates)
        return f"{day:%m-%d}" in days_in(sentence.quote, sentence.language)

    matches = [sentence for sentence in rows if states(sentence)]
    return [sentence for sentence in matches if sentence.evidence_id in ids] or matches


def carrying_quotes(
    claim: DraftClaim, named_support: Sequence[Support], documents: Mapping[str, Evidence], context: str = ""
) -> tuple[Support, ...]:
    """Return the few quotes that carry a sentence, of those that a second reader named.

    They are of the works that it cites, or have a number that none of these states; of each work the first,
    and as many as `MAX_QUOTES` in all. Those behind its computations stay. `context`: the question."""
    works = works_of(claim)
    texts = [*(text_of(documents[name]) for name in works if name in documents), *claim.computed, context]
    missing = [number.text for number in missing_numbers(claim.text, texts)] if works else []

    def carries(support: Support) -> bool:
        states = (number for number in missing if not any(missing_numbers(number, [support.quote])))
        return not works or support.evidence_id in works or any(states)

    candidates = [*filter(carries, dict.fromkeys(named_support))]
    firsts = {support.evidence_id: support for support in reversed(candidates)}
    few = {*firsts.values(), *candidates[:MAX_QUOTES]}
    operands = (s for s in claim.support if claim.computed and (not claim.cites or s.evidence_id in firsts))
    return tuple(dict.fromkeys((*(support for support in candidates if support in few), *operands)))


def nearest_quotes(claim: DraftClaim) -> tuple[Support, ...]:
    """Return the quote of each work that a claim cites which is nearest to its words, in the order cited."""
    nearest_first = sorted(claim.support, key=lambda s: -fuzz.token_set_ratio(claim.text, s.quote))
    works = dict.fromkeys(support.evidence_id for support in claim.support)
    return tuple(next(support for support in nearest_first if support.evidence_id == work) for work in works)


def is_prose(quote: str) -> bool:
    """Tell whether a quote may be printed in place of a sentence: no row of a table, heading or fragment."""
    plain = normalise(quote)
    is_cut = plain[:1].islower() or not plain.endswith(FINAL_MARKS)
    return quotable(plain) and not is_cut and {"|", "\t"}.isdisjoint(quote)
