"""Decisions on records: who decided on which ground, and what follows from several decisions on one.

A decision is written once, to a log of blobs that only grows (`activities.review_activity`). Beside the log a
review carries `Marks`: a letter for each record and screener, from which code decides what is settled, what
conflicts and what is open.

Invariants:

* a record is settled by a person's word, else by a label, else by two screeners who agree; anything else is
  open or in conflict: no decision stands for two;
* what both include of the random sample that ends screening is in conflict until a person confirms it;
* nobody is shown another's decision on a record before both have decided;
* the last decision of a screener on a record holds, of words and labels the last of anybody, and the earlier
  ones stay in the log.
"""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, PlainSerializer

from activities.contracts.evidence import Compact, Frozen

Verdict = Literal["include", "exclude", "unsure"]
Part = Literal["screener", "word", "label"]
"""`screener`: one of the two; `word`: a person who decides a conflict or overrules; `label`: a person who
labels the random sample."""
ScreenedStage = Literal["titles", "full_texts"]
SCREENED: tuple[ScreenedStage, ...] = get_args(ScreenedStage)
Stage = Literal["titles", "full_texts", "extraction", "bias"]
"""The stages in which two read and a person decides."""
VERDICTS: Mapping[str, Verdict] = {"i": "include", "e": "exclude", "u": "unsure"}
LETTERS: Mapping[str, str] = {verdict: letter for letter, verdict in VERDICTS.items()}
OPEN = "."
CONFIRM = "?"
"""In the place of a label: a person confirms the record where both screeners include it."""
State = Literal["open", "conflict", "included", "excluded"]
SETTLED: tuple[State, ...] = ("included", "excluded")


class Decision(Frozen):
    """A decision on one record, or a part of one: as a person sends it, and as it stands in the log."""

    record: int = Field(ge=0)
    """Number of the record in the review, from 0."""
    verdict: Verdict | Literal[""] = ""
    """The answer of a screener; empty for a decision of another stage."""
    criterion: str = Field(default="", max_length=60)
    reason: str = Field(default="", max_length=1_000)
    stage: Stage = "titles"
    about: str = ""
    """Id of the field, or label of the outcome whose risk of bias is assessed."""
    value: str = ""
    """The word on a field (`first`, `second`, `absent` or the value itself), else the key of what one of two
    extracted or assessed."""
    part: Part = "screener"
    by: str = Field(min_length=1, max_length=80)
    words: tuple[str, ...] = ()
    """Sentences of the record that it rests on, word for word."""
    at: str = ""
    protocol: int = 1
    model: str = ""
    """Name of the model; empty for a person."""
    prompt: str = ""


def _pack(letters: str) -> str:
    """Pack letters as they travel: thousands of records take a few hundred bytes."""
    return PACKED + b64encode(zlib.compress(letters.encode(), 9)).decode() if len(letters) > 200 else letters


def _unpack(letters: object) -> object:
    if not isinstance(letters, str) or not letters.startswith(PACKED):
        return letters
    return zlib.decompress(b64decode(letters.removeprefix(PACKED))).decode()


PACKED = "z:"
Letters = Annotated[str, PlainSerializer(_pack), BeforeValidator(_unpack)]


class Marks(Compact):
    """The decisions of one stage as letters, a place for each record."""

    first: Letters = ""
    second: Letters = ""
    labels: Letters = ""
    words: Letters = ""

    @classmethod
    def of(cls, total: int) -> "Marks":
        return cls().with_total(total)

    @property
    def total(self) -> int:
        return len(self.first)

    def with_total(self, total: int) -> "Marks":
        """Return the same with places for more records."""
        places = OPEN * (total - self.total)
        return Marks(**{name: getattr(self, name) + places for name in Marks.model_fields})

    def up_to(self, total: int) -> "Marks":
        """Return those of the first records."""
        return Marks(**{name: getattr(self, name)[:total] for name in Marks.model_fields})

    def of_screener(self, place: int) -> str:
        return (self.first, self.second)[place]

    def of_part(self, part: Part, place: int = 0) -> str:
        """Return the letters of labels, of words, or of the screener at a place."""
        letters: str = getattr(self, _row_of(part, place))
        return letters

    def put(self, part: Part, marks: Mapping[int, str], place: int = 0) -> "Marks":
        return self.replace(**{_row_of(part, place): with_letters(self.of_part(part, place), marks)})

    def of_places(self, places: Sequence[int | None]) -> "Marks":
        """Return the same with the screeners of these places; None: one who has decided nothing."""
        first, second = (OPEN * self.total if place is None else self.of_screener(place) for place in places)
        return self.replace(first=first, second=second)

    def without(self, record: int) -> "Marks":
        """Return the same without the decisions on a record."""
        rows = {name: getattr(self, name) for name in Marks.model_fields}
        return Marks(**{name: with_letters(row, {record: OPEN}) for name, row in rows.items()})

    def with_confirmations(self, records: Iterable[int]) -> "Marks":
        """Return the same with records that a person confirms where both screeners include them."""
        return self.put("label", {n: CONFIRM for n in records if self.labels[n] == OPEN})

    def is_labelled(self, record: int) -> bool:
        return self.labels[record] in "ie"

    def count(self) -> int:
        """Count the decisions."""
        rows = (self.first, self.second, self.labels, self.words)
        return sum(len(row) - row.count(OPEN) - row.count(CONFIRM) for row in rows)

    def state(self, record: int) -> State:
        """Return what follows from all decisions on a record."""
        return _state(self.first[record], self.second[record], self.labels[record], self.words[record])

    def states(self) -> list[State]:
        return list(map(_state, self.first, self.second, self.labels, self.words))

    def has_both(self, record: int) -> bool:
        return OPEN not in (self.first[record], self.second[record])


def _row_of(part: Part, place: int) -> str:
    return ("first", "second")[place] if part == "screener" else f"{part}s"


@cache
def _state(first: str, second: str, label: str, word: str) -> State:
    """Return what follows from the letters of two screeners, of who labels and of who has the word."""
    letter = word if word != OPEN else label
    if letter in (OPEN, CONFIRM):
        if OPEN in (first, second):
            return "open"
        if first != second or first == "u" or (first == "i" and label == CONFIRM):
            return "conflict"
        letter = first
    return "included" if letter == "i" else "excluded"


def with_letters(marks: str, letters: Mapping[int, str]) -> str:
    rows = list(marks)
    for place, letter in letters.items():
        rows[place] = letter
    return "".join(rows)


def latest_decisions(decisions: Sequence[Decision]) -> list[Decision]:
    """Return the last decision of each screener on a record, and of words and labels the last of anybody."""
    parts: dict[tuple[object, ...], Decision] = {}
    for decision in decisions:
        by = decision.by if decision.part == "screener" else ""
        place = (decision.record, decision.stage, decision.about, decision.part, by)
        parts.pop(place, None)  # in the order of the last word on each
        parts[place] = decision
    return list(parts.values())


def exclusions(decisions: Sequence[Decision], criteria: Sequence[str]) -> dict[int, Decision]:
    """Return why each full text was excluded: by a person's word, else by the first of the `criteria`.

    `decisions`: those that hold.
    """
    grounds: dict[int, Decision] = {}

    def rank(decision: Decision) -> int:
        place = criteria.index(decision.criterion) if decision.criterion in criteria else len(criteria)
        return place if decision.part == "screener" else -1

    for decision in decisions:
        if decision.stage == "full_texts" and decision.verdict == "exclude":
            current = grounds.get(decision.record)
            if current is None or rank(decision) < max(rank(current), 0):
                grounds[decision.record] = decision
    return grounds


def affected_decisions(decisions: Sequence[Decision], criteria: Iterable[str]) -> list[Decision]:
    """Return the decisions that hold and that a change of these criteria touches.

    These are exclusions by one of them or by none that is named, and all that is not an exclusion, since it
    rests on every criterion. An exclusion by another criterion stands.
    """
    changed = set(criteria)
    return [
        decision
        for decision in latest_decisions(decisions)
        if decision.verdict != "exclude" or not decision.criterion or decision.criterion in changed
    ]
