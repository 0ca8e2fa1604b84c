"""A page of a PDF or of a scan: its words in runs with their places, and where its figures and rules are."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field
from itertools import groupby

SMALLER = 0.87
RULE = 3.0
"""Thickness of a rule at most."""
HYPHEN = "\u2010"
"""PDFium marks a hyphen at the end of a line by a control character; so is it named here."""
TO_THE_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_OPENING, _CLOSING = re.compile("[ ]?([(\\[{\u00ab])[ ]"), re.compile("[ ]([)\\]}\u00bb])")


@dataclass(slots=True)
class Run:
    """Words beside each other on a line. Places are in points from the lower left corner of the page."""

    text: str
    left: float
    right: float
    base: float
    """Where the letters stand."""
    size: float
    """Height of most of its letters."""
    math: float = 0.0
    """Share of its characters in fonts for formulas."""
    fixed: float = 0.0
    """Share of its characters in fonts of fixed width."""
    bold: float = 0.0
    """The same in bold fonts."""
    rotated: bool = False
    mirrored: bool = False
    """It is of a page that is written to the left, whose places are counted from the right."""
    rows: list[str] = field(default_factory=list)
    """The lines of a table that stands in its place."""

    @property
    def top(self) -> float:
        return self.base + self.size * 0.75


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    bottom: float
    right: float
    top: float

    def holds(self, run: Run, below: float = 1.5) -> bool:
        """Tell whether a run stands in it, or so many of its heights below."""
        middle = (run.left + run.right) / 2
        return (
            self.left - run.size <= middle <= self.right + run.size
            and self.bottom - below * run.size <= run.base <= self.top + 0.5 * run.size
        )

    def encloses(self, other: "Box") -> bool:
        return self.left <= other.left and other.right <= self.right and self.bottom <= other.top <= self.top


@dataclass(slots=True)
class Page:
    runs: list[Run]
    """In the order in which they are drawn."""
    figures: list[Box]
    """The places of pictures and drawings."""
    height: float
    rules: list[Box] = field(default_factory=list)
    """The lines that are drawn across or down."""

    def take(self, runs: Iterable[Run]) -> None:
        """Take runs off the page."""
        ids = set(map(id, runs))
        self.runs = [run for run in self.runs if id(run) not in ids]


def frame_of(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around others."""
    lefts, bottoms, rights, tops = zip(*map(astuple, boxes), strict=True)
    return Box(min(lefts), min(bottoms), max(rights), max(tops))


def is_right_to_left(text: str) -> bool:
    """Tell whether most letters of a text are of scripts that are written to the left."""
    return 2 * len(TO_THE_LEFT.findall(text)) > sum(map(str.isalpha, text))


def in_order(words: str, *, mirrored: bool) -> str:
    """Return words as they are read, of which those of another direction than their page stand reversed."""
    if not mirrored and not TO_THE_LEFT.search(words):
        return words

    def is_against(word: str) -> bool:
        return any(map(str.isalpha, word)) and is_right_to_left(word) != mirrored

    groups = ((is_reversed, list(group)) for is_reversed, group in groupby(words.split(" "), is_against))
    text = " ".join(word for is_reversed, group in groups for word in (group[::-1] if is_reversed else group))
    return _CLOSING.sub(r"\1", _OPENING.sub(r" \1", text)).strip() if mirrored else text


def top_down(run: Run) -> tuple[float, float]:
    """Order runs from the top, and from the left on one line."""
    return -run.base, run.left


def rows_of(runs: Sequence[Run]) -> list[list[Run]]:
    """Return runs of a column by the lines on which they stand, from the top."""
    rows: list[list[Run]] = []
    largest: Run | None = None
    for run in sorted(runs, key=top_down):
        if largest is None or not _is_beside(largest, run):
            rows.append([])
            largest = None
        rows[-1].append(run)
        largest = run if largest is None or run.size > largest.size else largest
    return [sorted(row, key=lambda run: run.left) for row in rows]


def _is_beside(largest: Run, run: Run) -> bool:
    """Tell whether a run stands on a line above or level with it, of whose runs one is the largest."""
    lower = largest.base - run.base
    if lower < 0.35 * max(largest.size, run.size):
        return True
    if run.size < SMALLER * largest.size:  # a subscript that stands apart
        return run.top > largest.base - 0.4 * largest.size
    return largest.size < SMALLER * run.size and len(largest.text) < 4 and lower < 0.7 * run.size
