"""Control sentences: planted errors and true sentences by which a second reader's reading is measured.

They are made of the run's own works and of the sentences to be read, in whatever language these are; nothing
tells them by their form, and they are never printed. Which are made follows from the sentences themselves, so
that a repeated step has the same.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, islice, zip_longest
from math import ceil
from typing import TypeAlias

from babel.numbers import format_decimal
from rapidfuzz import fuzz

from activities.contracts.evidence import Support
from activities.contracts.write import DraftClaim
from activities.text.language import language_of
from activities.text.normal_form import normalise
from activities.text.numbers import Number, figures, locale_of
from activities.text.sentences import Sentence, quotable
from activities.verification.gate import works_of

MIN_PLANTED = 4
"""Planted errors of a call, as far as the works have sentences for so many; as many true ones."""
SENTENCES_A_CONTROL = 10
"""Sentences that are read for each planted error of a longer call."""
MAX_ALIKE = 60.0
"""Likeness (0 to 100) from which another work may say the same as a sentence."""
MAX_COMPARED = 60
"""Sentences that are compared with those of other works, until there are controls enough."""
MIN_BETWEEN = 12
"""Characters between two values that are exchanged: neighbours may be a list in any order."""
NEGATORS: Mapping[str, str] = {
    "en": "not", "de": "nicht", "nl": "niet", "fr": "pas", "es": "no", "it": "non", "pt": "n\u00e3o",
    "da": "ikke", "no": "ikke", "nb": "ikke", "sv": "inte", "pl": "nie", "cs": "ne", "ru": "\u043d\u0435",
}  # fmt: skip
"""The word of each language that is left out, where it is a word by itself."""
_AMOUNT = re.compile(r"\d[\d.,\s]*(?<=\d)")


@dataclass(frozen=True, slots=True)
class Control:
    """One control sentence."""

    sentence: DraftClaim
    is_true: bool
    made_of: str = ""
    """Id of the sentence to be read that it was made of, where it was: of a false one it may be true."""


class _Pool:
    """The sentences that controls are made of, in an order that follows from the call."""

    def __init__(self, seed: str, rows: Sequence[Sentence]) -> None:
        self._seed = seed
        self.rows = sorted(rows, key=lambda sentence: self.order(sentence.quote))
        self.by_work: dict[str, list[Sentence]] = {}
        for row in self.rows:
            self.by_work.setdefault(row.evidence_id, []).append(row)
        self._compared = 0

    def order(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._seed}\n{text}".encode()).digest()

    def unlike(self, row: Sentence) -> Sentence | None:
        """Return a sentence of a work that does not say what a sentence says; None where every work may.

        None of all but the first `MAX_COMPARED` sentences: to compare one with all works takes long."""
        self._compared += 1
        if self._compared > MAX_COMPARED:
            return None
        others = (sentences for name, sentences in self.by_work.items() if name != row.evidence_id)
        alike = partial(fuzz.token_set_ratio, row.quote, score_cutoff=MAX_ALIKE)
        unlike = (group[0] for group in others if not any(alike(other.quote) for other in group))
        return next(unlike, None)


def controls(
    asked: Sequence[DraftClaim],
    shown: Sequence[Sentence],
    near_misses: Sequence[DraftClaim] = (),
) -> tuple[Control, ...]:
    """Return the control sentences for a call: as many true ones as planted errors.

    `shown`: the sentences that the reader is shown. `near_misses`: errors that a writer planted in its own
    sentences."""
    number = max(MIN_PLANTED, ceil(len(asked) / SENTENCES_A_CONTROL))
    seed = "\n".join(claim.text for claim in asked)
    texts = {normalise(claim.text) for claim in asked}
    rows = [sentence for sentence in shown if not sentence.is_row and normalise(sentence.quote) not in texts]
    pool = _Pool(seed, rows)
    used: set[str] = set()
    near = (Control(claim, is_true=False) for claim in near_misses)
    planted = [*islice(chain(near, _claims_changed(asked, pool)), number // 2)]
    for text, support, source in _errors(pool, pool.rows, OF_A_QUOTE):
        if len(planted) >= number:
            break
        if source not in used:
            used.add(source)
            planted.append(_control(text, support, is_true=False))
    fresh = (row for row in pool.rows if row.quote not in used and quotable(normalise(row.quote)))
    true = [_control(normalise(row.quote), row, is_true=True) for row in islice(fresh, len(planted))]
    return (*planted, *true)


def mixed(sentences: Sequence[DraftClaim], planted: Sequence[Control]) -> list[DraftClaim | Control]:
    """Return the sentences with the controls among them."""
    rows: list[DraftClaim | Control] = list(sentences)
    for control in planted:
        place = int.from_bytes(hashlib.sha256(control.sentence.text.encode()).digest()[:4]) % (len(rows) + 1)
        rows.insert(place, control)
    return rows


def _control(text: str, sentence: Sentence, *, is_true: bool) -> Control:
    support = Support(evidence_id=sentence.evidence_id, quote=sentence.quote)
    return Control(DraftClaim(text=text, support=(support,), state="ask"), is_true)


_Error: TypeAlias = tuple[str, Sentence, str]
_Maker: TypeAlias = Callable[[_Pool, Sentence], tuple[str, Sentence] | None]


def _errors(pool: _Pool, rows: Sequence[Sentence], makers: Sequence[_Maker]) -> Iterator[_Error]:
    """(text, the sentence that it is said to rest on, the quote that it is made of), of each kind in turn."""

    def made_by(make: _Maker) -> Iterator[_Error]:
        # one at a time: to make all would take most of a worker's time
        for row in rows:
            if quotable(normalise(row.quote)) and (made := make(pool, row)):
                yield *made, row.quote

    yield from filter(None, chain.from_iterable(zip_longest(*map(made_by, makers))))


def _number_exchanged(pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a true sentence with one of its numbers exchanged for the nearest one of its work.

    One far off would be known without a look at the work."""
    numbers = figures(row.quote, row.language)
    stated = {value for number in numbers for value in number.values}
    for number in sorted(numbers, key=lambda figure: pool.order(f"{figure.start}")):
        others = [
            (abs(other.value - number.value), pool.order(other.shown), other, sentence.language)
            for sentence in pool.by_work[row.evidence_id]
            for other in figures(sentence.quote, sentence.language)
            if not other.values & stated and _alike(number, other)
        ]
        if others:
            _, _, other, language = min(others, key=lambda each: each[:2])
            shown = other.shown
            if language != row.language:  # as that language writes it, with the sign of the other
                amount = format_decimal(other.value, locale=locale_of(row.language), group_separator=False)
                shown = amount + _AMOUNT.sub("", number.shown)
            return _with(row, (number, shown)), row
    return None


def _with(row: Sentence, *changes: tuple[Number, str]) -> str:
    """Return a sentence with others in the places of its numbers, in their order."""
    plain = normalise(row.quote)
    for number, shown in reversed(changes):
        plain = plain[: number.start] + shown + plain[number.start + len(number.shown) :]
    return plain


def _alike(number: Number, other: Number) -> bool:
    """Tell whether one number may stand in the place of another without being noticed by its form."""
    digits = number.shown[0].isdigit() and other.shown[0].isdigit()
    unit, other_unit = ("".join(_AMOUNT.sub("", each.shown).split()) for each in (number, other))
    alike = number.percent == other.percent and number.is_year == other.is_year
    return digits and alike and unit == other_unit and not number.code


def _values_exchanged(_pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a true sentence with two of its values exchanged."""
    values = [figure for figure in figures(row.quote, row.language) if figure.percent is not False]
    for number, other in combinations(values, 2):
        far = other.start - number.end >= MIN_BETWEEN
        if far and _alike(number, other) and not number.values & other.values:
            return _with(row, (number, other.shown), (other, number.shown)), row
    return None


def _claims_changed(asked: Sequence[DraftClaim], pool: _Pool) -> Iterator[Control]:
    """Return findings of the report that are changed, in the writer's own wording and language."""
    findings = (claim for claim in asked if claim.kind == "finding" and works_of(claim))
    claims = {claim.text: claim for claim in findings if not (claim.after or claim.computed)}
    rows = [
        Sentence(works_of(claim)[0], text, 0.0, language=language)
        for text, claim in claims.items()
        if works_of(claim)[0] in pool.by_work and (language := language_of(text))
    ]
    rows.sort(key=lambda row: pool.order(row.quote))
    for text, _, source in _errors(pool, rows, OF_A_CLAIM):
        if source in claims:  # one error of each
            claim = claims.pop(source)
            changed = DraftClaim(text=text, cites=claim.cites, support=claim.support, state="ask")
            yield Control(changed, is_true=False, made_of=claim.id)


def _of_another_work(pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a sentence under the label of another work."""
    other = pool.unlike(row)
    return (normalise(row.quote), other) if other else None


def _negator_left_out(_pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a true sentence without the one word that denies it."""
    plain = normalise(row.quote)
    word = NEGATORS.get(row.language)
    words = plain.split(" ")
    places = [place for place, item in enumerate(words) if item.rstrip(".,;:!?") == word]
    if len(places) != 1 or not places[0]:
        return None
    place = places[0]
    words[place - 1] += words[place].removeprefix(word or "")  # the stop behind it
    return " ".join((*words[:place], *words[place + 1 :])), row


OF_A_CLAIM: Sequence[_Maker] = (_number_exchanged, _negator_left_out, _values_exchanged)
"""Errors that are made of a sentence and its own work, whatever language either has."""
OF_A_QUOTE: Sequence[_Maker] = (_number_exchanged, _of_another_work, _negator_left_out, _values_exchanged)
