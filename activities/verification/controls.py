"""Control sentences: planted errors and true sentences by which a second reader's reading is measured.

They are made of the run's own works without a rule of wording, so that they are in whatever language these
are. In the list they look like the others; they are never printed. Which are made follows from the sentences
themselves, so that a repeated step has the same.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from math import ceil
from typing import TypeAlias

from rapidfuzz import fuzz

from activities.contracts.evidence import Evidence, Support
from activities.contracts.write import DraftClaim
from activities.text.language import language_of
from activities.text.normal_form import normalise
from activities.text.numbers import Number, figures
from activities.text.sentences import Sentence, quotable

MIN_PLANTED = 4
"""Planted errors of a call, as far as the works have sentences for so many; as many true ones."""
SENTENCES_A_CONTROL = 10
"""Sentences that are read for each planted error of a longer call."""
MAX_ALIKE = 60.0
"""Likeness (0 to 100) from which another work may say the same as a sentence."""
MIN_BETWEEN = 12
"""Characters between two values that are exchanged: neighbours may be a list in any order."""
NEGATORS: Mapping[str, str] = {
    "en": "not", "de": "nicht", "nl": "niet", "fr": "pas", "es": "no", "it": "non", "pt": "n\u00e3o",
    "da": "ikke", "no": "ikke", "nb": "ikke", "sv": "inte", "pl": "nie", "cs": "ne", "ru": "\u043d\u0435",
}  # fmt: skip
"""The word of each language that is left out, where it is a word by itself."""


@dataclass(frozen=True, slots=True)
class Control:
    """One control sentence."""

    sentence: DraftClaim
    is_true: bool


@dataclass(frozen=True, slots=True)
class _Pool:
    """The sentences that controls are made of, `rows` in an order that follows from the call."""

    seed: str
    rows: Sequence[Sentence]
    documents: Mapping[str, Evidence]

    def order(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.seed}\n{text}".encode()).digest()

    def of_others(self, name: str) -> Iterator[Sentence]:
        return (one for one in self.rows if one.evidence_id != name)


def controls(
    asked: Sequence[DraftClaim],
    shown: Sequence[Sentence],
    documents: Sequence[Evidence],
    near_misses: Sequence[DraftClaim] = (),
) -> tuple[Control, ...]:
    """Return the control sentences for a call: as many true ones as planted errors.

    `shown`: the sentences that the reader is shown. `near_misses`: errors that a writer planted in its own
    sentences."""
    number = max(MIN_PLANTED, ceil(len(asked) / SENTENCES_A_CONTROL))
    seed = "\n".join(one.text for one in asked)
    texts = {normalise(one.text) for one in asked}
    rows = [
        one
        for one in shown
        if not one.is_row and quotable(plain := normalise(one.quote)) and plain not in texts
    ]
    pool = _Pool(seed, rows, {one.evidence_id: one for one in documents})
    rows.sort(key=lambda one: pool.order(one.quote))
    used: set[str] = set()
    planted = [Control(one, is_true=False) for one in near_misses[: number // 2]]
    for text, support, source in _errors(pool):
        if len(planted) >= number:
            break
        if source not in used:
            used.add(source)
            planted.append(_control(text, support, is_true=False))
    fresh = [one for one in rows if one.quote not in used]
    true = [_control(normalise(one.quote), one, is_true=True) for one in fresh[: len(planted)]]
    return (*planted, *true)


def mixed(sentences: Sequence[DraftClaim], planted: Sequence[Control]) -> list[DraftClaim | Control]:
    """Return the sentences with the controls among them."""
    rows: list[DraftClaim | Control] = list(sentences)
    for one in planted:
        place = int.from_bytes(hashlib.sha256(one.sentence.text.encode()).digest()[:4]) % (len(rows) + 1)
        rows.insert(place, one)
    return rows


def _control(text: str, sentence: Sentence, *, is_true: bool) -> Control:
    support = Support(evidence_id=sentence.evidence_id, quote=sentence.quote)
    return Control(DraftClaim(text=text, support=(support,), state="ask"), is_true)


_Error: TypeAlias = tuple[str, Sentence, str]


def _errors(pool: _Pool) -> Iterator[_Error]:
    """(text, the sentence that it is said to rest on, the quote that it is made of), of each kind in turn."""
    makers: tuple[Callable[[_Pool, Sentence], tuple[str, Sentence] | None], ...] = (
        _number_exchanged,
        _of_another_work,
        _negator_left_out,
        _values_exchanged,
        _under_another_subject,
    )

    def made_by(make: Callable[[_Pool, Sentence], tuple[str, Sentence] | None]) -> Iterator[_Error]:
        # one at a time: to compare each sentence with those of all works takes most of a worker's time
        for row in pool.rows:
            if made := make(pool, row):
                yield *made, row.quote

    yield from filter(None, chain.from_iterable(zip_longest(*map(made_by, makers))))


def _number_exchanged(pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a true sentence with one of its numbers exchanged for another one of its work."""
    plain = normalise(row.quote)
    own = figures(plain)
    stated = {value for number in own for value in number.values}
    for number in sorted(own, key=lambda one: pool.order(f"{one.start}")):
        others = [
            other.shown
            for sentence in pool.rows
            if sentence.evidence_id == row.evidence_id
            for other in figures(sentence.quote)
            if not other.values & stated and _alike(number, other)
        ]
        if others:
            other = min(others, key=pool.order)
            return plain[: number.start] + other + plain[number.start + len(number.shown) :], row
    return None


def _alike(one: Number, other: Number) -> bool:
    """Tell whether one number may stand in the place of another without being noticed by its form."""
    digits = one.shown[0].isdigit() and other.shown[0].isdigit()
    return digits and one.percent == other.percent and one.is_year == other.is_year and not one.code


def _values_exchanged(_pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a true sentence with two of its values exchanged."""
    plain = normalise(row.quote)
    values = [one for one in figures(plain) if one.percent is not False]
    for place, one in enumerate(values):
        for other in values[place + 1 :]:
            far = other.start - one.end >= MIN_BETWEEN
            if far and _alike(one, other) and not one.values & other.values:
                middle = plain[one.start + len(one.shown) : other.start]
                end = plain[other.start + len(other.shown) :]
                return plain[: one.start] + other.shown + middle + one.shown + end, row
    return None


def _of_another_work(pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a sentence under the label of another work."""
    alike: dict[str, bool] = {}
    for one in pool.of_others(row.evidence_id):
        if one.evidence_id not in alike:
            alike[one.evidence_id] = _says(pool, one.evidence_id, row)
        if not alike[one.evidence_id]:
            return normalise(row.quote), one
    return None


def _under_another_subject(pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a sentence of another work, with the subject of this one put first."""
    made = _of_another_work(pool, row)
    work = pool.documents.get(made[1].evidence_id) if made else None
    if made is None or work is None or not (subject := normalise(work.title).strip(" .?")):
        return None
    return f"{subject}: {made[0]}", made[1]


def _says(pool: _Pool, work: str, row: Sentence) -> bool:
    """Tell whether a work may say what a sentence says."""
    own = (other.quote for other in pool.rows if other.evidence_id == work)
    return any(fuzz.token_set_ratio(row.quote, quote, score_cutoff=MAX_ALIKE) >= MAX_ALIKE for quote in own)


def _negator_left_out(_pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a true sentence without the one word that denies it."""
    plain = normalise(row.quote)
    word = NEGATORS.get(language_of(plain))
    words = plain.split(" ")
    places = [place for place, one in enumerate(words) if one.rstrip(".,;:!?") == word]
    if len(places) != 1 or not places[0]:
        return None
    place = places[0]
    words[place - 1] += words[place].removeprefix(word or "")  # the stop behind it
    return " ".join((*words[:place], *words[place + 1 :])), row
