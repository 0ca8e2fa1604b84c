"""Control sentences: planted errors and true sentences by which a second reader's reading is measured.

They are made of the run's own works and of the sentences to be read, in whatever language these are, with the
signs of their text; nothing tells them by their form, and they are never printed. Which are made follows from
the sentences themselves, so that a repeated step has the same.
"""

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, islice, zip_longest
from math import ceil
from typing import NamedTuple, TypeAlias

from babel.numbers import format_decimal
from rapidfuzz import fuzz

from activities.contracts.evidence import Support
from activities.contracts.write import DraftClaim
from activities.text.language import language_of
from activities.text.normal_form import is_unspaced, normalise
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
NEGATORS: Mapping[str, Sequence[str]] = {
    "en": ("not",), "de": ("nicht",), "nl": ("niet",), "fr": ("pas",), "es": ("no",), "it": ("non",),
    "pt": ("n\u00e3o",), "da": ("ikke",), "no": ("ikke",), "sv": ("inte",), "pl": ("nie",), "cs": ("ne",),
    "ru": ("\u043d\u0435",), "uk": ("\u043d\u0435",), "bg": ("\u043d\u0435",), "ro": ("nu",), "hu": ("nem",),
    "el": ("\u03b4\u03b5\u03bd",), "id": ("tidak",), "vi": ("kh\u00f4ng",), "he": ("\u05dc\u05d0",),
    "hi": ("\u0928\u0939\u0940\u0902",), "ar": ("\u0644\u0627", "\u0644\u0645"),
}  # fmt: skip
"""The words of each language one of which is left out, where it is a word by itself."""
_AMOUNT = re.compile(r"\d[\d.,\s]*(?<=\d)")
_MARKS = re.compile(r"[.,]")
_BEHIND = re.compile(r"\s?([^\W\d_]+|[^\w\s]?)")
"""The word or the sign behind a number."""


@dataclass(frozen=True, slots=True)
class Control:
    """One control sentence."""

    sentence: DraftClaim
    is_true: bool
    made_of: str = ""
    """Id of the sentence to be read that it was made of, where it was: of a false one it may be true."""


class _Figure(NamedTuple):
    """A figure of a work."""

    number: Number
    row: Sentence
    form: tuple[str, str, bool]


class _Pool:
    """The sentences that controls are made of, in an order that follows from the call."""

    def __init__(self, seed: str, rows: Sequence[Sentence]) -> None:
        self._seed = seed
        self.rows = sorted(rows, key=lambda sentence: self.order(sentence.quote))
        self.by_work: dict[str, list[Sentence]] = {}
        for row in self.rows:
            self.by_work.setdefault(row.evidence_id, []).append(row)
        self._compared = 0
        self._figures: dict[str, list[_Figure]] = {}

    def order(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._seed}\n{text}".encode()).digest()

    def figures(self, name: str) -> "list[_Figure]":
        """Return the figures of a work."""
        if name not in self._figures:
            rows = ((row, normalise(row.quote)) for row in self.by_work[name])
            self._figures[name] = [
                _Figure(figure, row, _form(plain, figure))
                for row, plain in rows
                for figure in figures(plain, row.language)
            ]
        return self._figures[name]

    def unlike(self, row: Sentence) -> Sentence | None:
        """Return a sentence of a work that does not say what a sentence says; None where every work may.

        None of all but the first `MAX_COMPARED` sentences: to compare one with all works takes long."""
        self._compared += 1
        if self._compared > MAX_COMPARED:
            return None
        groups = (sentences for name, sentences in self.by_work.items() if name != row.evidence_id)
        likeness = partial(fuzz.token_set_ratio, row.quote, score_cutoff=MAX_ALIKE)
        candidates = (group[0] for group in groups if not any(likeness(sentence.quote) for sentence in group))
        return next(candidates, None)


def controls(
    claims: Sequence[DraftClaim],
    rows: Sequence[Sentence],
    near_misses: Sequence[DraftClaim] = (),
) -> tuple[Control, ...]:
    """Return the control sentences for a call: as many true ones as planted errors.

    `rows`: the sentences that the reader is shown. `near_misses`: errors that a writer planted in its own
    sentences."""
    number = max(MIN_PLANTED, ceil(len(claims) / SENTENCES_A_CONTROL))
    seed = "\n".join(claim.text for claim in claims)
    texts = {normalise(claim.text) for claim in claims}
    rows = [row for row in rows if not row.is_row and normalise(row.quote) not in texts]
    pool = _Pool(seed, rows)
    sources: set[str] = set()
    misses = (Control(claim, is_true=False) for claim in near_misses)
    planted = [*islice(chain(misses, _claim_errors(claims, pool)), number // 2)]
    for text, support, source in _errors(pool, pool.rows, OF_A_QUOTE):
        if len(planted) >= number:
            break
        if source not in sources:
            sources.add(source)
            planted.append(_control(text, support, is_true=False))
    unused = (row for row in pool.rows if row.quote not in sources and quotable(normalise(row.quote)))
    truths = [_control(_one_line(row.quote), row, is_true=True) for row in islice(unused, len(planted))]
    return (*planted, *truths)


def mix(sentences: Sequence[DraftClaim], control_rows: Sequence[Control]) -> list[DraftClaim | Control]:
    """Return the sentences with the controls among them."""
    rows: list[DraftClaim | Control] = list(sentences)
    for control in control_rows:
        place = int.from_bytes(hashlib.sha256(control.sentence.text.encode()).digest()[:4]) % (len(rows) + 1)
        rows.insert(place, control)
    return rows


def _control(text: str, sentence: Sentence, *, is_true: bool) -> Control:
    support = Support(evidence_id=sentence.evidence_id, quote=sentence.quote)
    return Control(DraftClaim(text=text, support=(support,), state="ask"), is_true)


_Error: TypeAlias = tuple[str, Sentence, str]
_Maker: TypeAlias = Callable[[_Pool, Sentence], tuple[str, Sentence] | None]


def _errors(pool: _Pool, rows: Sequence[Sentence], makers: Sequence[_Maker]) -> Iterator[_Error]:
    """(text, the sentence that it is said to rest on, the quote that it is made of), of each kind in turn.

    At last come numbers that differ in their form."""

    def made_by(make: _Maker) -> Iterator[_Error]:
        # one at a time: to make all would take most of a worker's time
        for row in rows:
            if quotable(normalise(row.quote)) and (error := make(pool, row)):
                yield *error, row.quote

    yield from filter(None, chain.from_iterable(zip_longest(*map(made_by, makers))))
    yield from made_by(partial(_exchange_number, may_be_unlike=True))


def _exchange_number(
    pool: _Pool, row: Sentence, *, may_be_unlike: bool = False
) -> tuple[str, Sentence] | None:
    """Return a true sentence with one of its numbers exchanged for the nearest one of its work.

    One far off would be known without a look at the work, and so would one that stands beside another word or
    is written in another form."""
    plain = normalise(row.quote)
    numbers = sorted(figures(plain, row.language), key=lambda figure: pool.order(f"{figure.start}"))
    values = {value for number in numbers for value in number.values}
    for number in numbers:
        form = _form(plain, number)
        candidates = [
            (other.form != form, abs(other.number.value - number.value), pool.order(other.number.text), other)
            for other in pool.figures(row.evidence_id)
            if (may_be_unlike or other.form == form)
            and not other.number.values & values
            and _are_alike(number, other.number)
        ]
        if candidates:
            *_, other = min(candidates, key=lambda candidate: candidate[:3])
            text = _one_line(other.row.quote)[slice(*_span(other.row, other.number))]
            if other.row.language != row.language:  # as that language writes it, with the sign of the other
                amount = format_decimal(
                    other.number.value, locale=locale_of(row.language), group_separator=False
                )
                text = amount + _AMOUNT.sub("", number.text)
            return _with_numbers(row, (number, text))
    return None


def _form(plain: str, number: Number) -> tuple[str, str, bool]:
    """Return the sign before a number, the word or the sign behind it, and whether it has marks."""
    before = plain[number.start - 1 : number.start].strip()
    match = _BEHIND.match(plain, number.start + len(number.text))
    behind = match[1].casefold() if match else ""
    has_marks = _MARKS.search(number.text) is not None
    return "" if before.isalnum() else before, behind[:1] if is_unspaced(behind[:1]) else behind, has_marks


def _with_numbers(row: Sentence, *changes: tuple[Number, str]) -> tuple[str, Sentence] | None:
    """Return a sentence with others in the places of its numbers, in their order."""
    text = _one_line(row.quote)
    for number, other in reversed(changes):
        start, end = _span(row, number)
        if len(normalise(text[start:end])) != len(number.text):
            return None
        text = text[:start] + other + text[end:]
    return text, row


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _span(row: Sentence, number: Number) -> tuple[int, int]:
    """Return where a number of the normal form of a sentence stands in the sentence."""
    text = _one_line(row.quote)

    def chars(length: int) -> int:
        return len(normalise(text[:length]))

    lengths = range(len(text) + 1)
    end = number.start + len(number.text)
    return bisect_right(lengths, number.start, key=chars) - 1, bisect_left(lengths, end, key=chars)


def _are_alike(number: Number, other: Number) -> bool:
    """Tell whether one number may stand in the place of another without being noticed by its form."""
    are_digits = number.text[0].isdigit() and other.text[0].isdigit()
    unit, other_unit = ("".join(_AMOUNT.sub("", figure.text).split()) for figure in (number, other))
    is_same_kind = number.percent == other.percent and number.is_year == other.is_year
    return are_digits and is_same_kind and unit == other_unit and not number.code


def _exchange_values(_pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a true sentence with two of its values exchanged."""
    values = [figure for figure in figures(row.quote, row.language) if figure.percent is not False]
    for number, other in combinations(values, 2):
        is_far = other.start - number.end >= MIN_BETWEEN
        if is_far and _are_alike(number, other) and not number.values & other.values:
            text = _one_line(row.quote)
            first, second = (text[slice(*_span(row, figure))] for figure in (number, other))
            return _with_numbers(row, (number, second), (other, first))
    return None


def _claim_errors(sentences: Sequence[DraftClaim], pool: _Pool) -> Iterator[Control]:
    """Return findings of the report that are changed, in the writer's own wording and language."""
    findings = (claim for claim in sentences if claim.kind == "finding" and works_of(claim))
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
            sentence = DraftClaim(text=text, cites=claim.cites, support=claim.support, state="ask")
            yield Control(sentence, is_true=False, made_of=claim.id)


def _mislabel(pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a sentence under the label of another work."""
    other = pool.unlike(row)
    return (_one_line(row.quote), other) if other else None


def _drop_negator(_pool: _Pool, row: Sentence) -> tuple[str, Sentence] | None:
    """Return a true sentence without the one word that denies it."""
    negators = NEGATORS.get(row.language, ())
    words = row.quote.split()
    places = [place for place, word in enumerate(words) if word.rstrip(".,;:!?") in negators]
    if len(places) != 1 or (not places[0] and words[0] != words[0].upper()):
        return None  # the next word would want a capital
    place = places[0]
    if place:
        words[place - 1] += words[place][len(words[place].rstrip(".,;:!?")) :]  # the stop behind it
    return " ".join((*words[:place], *words[place + 1 :])), row


OF_A_CLAIM: Sequence[_Maker] = (_exchange_number, _drop_negator, _exchange_values)
"""Errors that are made of a sentence and its own work, whatever language either has."""
OF_A_QUOTE: Sequence[_Maker] = (_exchange_number, _mislabel, _drop_negator, _exchange_values)
