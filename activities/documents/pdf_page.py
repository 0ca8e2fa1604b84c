"""A page of a PDF as PDFium draws it: its words with their places, in runs, and where its figures are."""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from activities.documents.xml_text import script

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

GAP = 0.9
"""Empty space between words of one run at most, in heights of a letter."""
RAISED = 0.08
"""Distance from the line, in heights of a letter, of a super- or subscript, which is smaller as well."""
SMALLER = 0.87
MAX_LETTERS = 100_000
"""Letters of one page that are read: a page of small print has 20,000."""
MAX_OBJECTS = 20_000
"""Drawn objects of a page that are looked at."""
MIN_DRAWN = 8
"""Lines and areas of a figure that is drawn; a frame or the rules of a table have fewer."""
MIN_SIDE = 40.0
"""Shorter side of a figure in points."""
HYPHEN = "\u2010"
"""PDFium marks a hyphen at the end of a line by a control character; so is it named here."""
_MATH = re.compile(
    r"CM(MI|SY|EX)|MSBM|MSAM|Math|Symbol|EUFM|MTMI|MTSY|rtxmi|txsy|NewTXMI|LibertineMath", re.IGNORECASE
)
_FIXED = re.compile(
    r"Mono|Courier|CMTT|Typewriter|Consol|Inconsolata|SFTT|LMTT|Menlo|TXTT|ZI4", re.IGNORECASE
)
_BOLD = re.compile(
    r"Bold|Black|Heavy|Semibold|CMBX|CMSSBX|SFBX|LMB|-Demi|\bMedi|-B\b|(?<=\w)TB$", re.IGNORECASE
)


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
    bold: bool = False
    rotated: bool = False

    @property
    def top(self) -> float:
        return self.base + self.size * 0.75


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    bottom: float
    right: float
    top: float

    def holds(self, run: Run) -> bool:
        middle = (run.left + run.right) / 2
        return (
            self.left - run.size <= middle <= self.right + run.size
            and self.bottom - 1.5 * run.size <= run.base <= self.top + 0.5 * run.size
        )


class _Letter(NamedTuple):
    text: str
    left: float
    right: float
    base: float
    size: float


@dataclass(slots=True)
class _Word:
    letters: list[_Letter]
    font: str
    angle: float
    size: float = 0.0
    base: float = 0.0

    def __post_init__(self) -> None:
        self.size = max(letter.size for letter in self.letters)
        self.base = next(letter.base for letter in self.letters if letter.size == self.size)

    @property
    def left(self) -> float:
        return self.letters[0].left

    @property
    def right(self) -> float:
        return max(letter.right for letter in self.letters)

    def text(self, size: float, base: float) -> str:
        """Its letters beside others of this size, those above or below the line as such."""

        def place(letter: _Letter) -> str:
            off = letter.base - base
            if letter.size > SMALLER * size or abs(off) < RAISED * size:
                return ""
            return "sup" if off > 0 else "sub"

        parts = (
            (kind, "".join(letter.text for letter in some)) for kind, some in groupby(self.letters, place)
        )
        return "".join(script(text, kind) if kind else text for kind, text in parts)


@dataclass(slots=True)
class Page:
    runs: list[Run]
    """In the order in which they are drawn."""
    figures: list[Box]
    """The places of pictures and drawings."""
    height: float


def read_page(page: "PdfPage") -> Page:
    """Read a page and close it. Raises PdfiumError."""
    try:
        return Page(_runs(page), _figures(page), page.get_height())
    finally:
        page.close()


def _runs(page: "PdfPage") -> list[Run]:
    words = list(_words(page))
    runs: list[Run] = []
    some: list[_Word] = []
    for word in words:
        if some and not _goes_on(some, word):
            runs.append(_run(some))
            some = []
        some.append(word)
    return [*runs, _run(some)] if some else runs


def _figures(page: "PdfPage") -> list[Box]:
    import pypdfium2.raw as pdfium

    width, height = page.get_size()
    boxes: list[Box] = []
    drawn: list[Box] = []
    sides = [ctypes.c_float() for _ in range(4)]
    for number in range(min(pdfium.FPDFPage_CountObjects(page.raw), MAX_OBJECTS)):
        item = pdfium.FPDFPage_GetObject(page.raw, number)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT or not pdfium.FPDFPageObj_GetBounds(
            item, *map(ctypes.byref, sides)
        ):
            continue
        box = Box(*(side.value for side in sides))
        wide, high = box.right - box.left, box.top - box.bottom
        if wide > 0.9 * width and high > 0.7 * height:
            continue  # a background
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            drawn.append(box)
        elif wide > MIN_SIDE and high > MIN_SIDE:
            boxes.append(box)
    return [*boxes, *_clusters(drawn)]


def _clusters(drawn: Sequence[Box]) -> Iterator[Box]:
    """Where many lines and areas are drawn beside each other, and not only rules from side to side."""
    some: list[Box] = []
    for box in [*sorted(drawn, key=lambda box: -box.top), None]:
        if box is not None and (not some or box.top > min(other.bottom for other in some[-50:]) - 12):
            some.append(box)
            continue
        thick = [b for b in some if b.top - b.bottom > 2 and b.right - b.left > 2]
        sloped = [b for b in thick if b.top - b.bottom < 200]
        if len(some) >= MIN_DRAWN and len(sloped) >= MIN_DRAWN / 2:
            whole = Box(
                min(b.left for b in some),
                min(b.bottom for b in some),
                max(b.right for b in some),
                max(b.top for b in some),
            )
            if min(whole.right - whole.left, whole.top - whole.bottom) > MIN_SIDE:
                yield whole
        some = [box] if box is not None else []


def _words(page: "PdfPage") -> Iterator[_Word]:
    import pypdfium2.raw as pdfium

    texts = page.get_textpage()
    try:
        yield from _words_of(texts.raw, pdfium)
    finally:
        texts.close()


def _words_of(raw: Any, pdfium: Any) -> Iterator[_Word]:  # noqa: ANN401 - pypdfium2 ships no types
    box, across, up = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    to_box, to_across, to_up = ctypes.byref(box), ctypes.byref(across), ctypes.byref(up)
    name = ctypes.create_string_buffer(128)
    code_of, box_of, origin_of = (
        pdfium.FPDFText_GetUnicode,
        pdfium.FPDFText_GetLooseCharBox,
        pdfium.FPDFText_GetCharOrigin,
    )
    count = min(pdfium.FPDFText_CountChars(raw), MAX_LETTERS)
    turned = _quarter_turns(pdfium.FPDFText_GetCharAngle(raw, number) for number in range(0, count, 40))
    letters: list[_Letter] = []
    first = 0

    def word() -> _Word:
        pdfium.FPDFText_GetFontInfo(raw, first, name, len(name), None)
        angle = pdfium.FPDFText_GetCharAngle(raw, first) - turned * math.pi / 2
        return _Word(letters, _font(name.value), angle)

    for number in range(count):
        code = code_of(raw, number)
        if code in (2, 0xFFFE):
            text = HYPHEN
        else:
            text = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
        if text == "\u00ad":
            continue
        if not text or text.isspace():
            if letters:
                yield word()
                letters = []
            continue
        box_of(raw, number, to_box)
        origin_of(raw, number, to_across, to_up)
        letter = (
            _Letter(text, box.left, box.right, up.value, box.top - box.bottom)
            if turned == 0
            else _turned(text, box, (across.value, up.value), turned)
        )
        if letters and not -2 * letter.size < letter.left - letters[-1].right < GAP * letter.size:
            angle = pdfium.FPDFText_GetCharAngle(raw, number) - turned * math.pi / 2
            if not _is_rotated(angle):
                yield word()
                letters = []
        if not letters:
            first = number
        letters.append(letter)
    if letters:
        yield word()


def _turned(text: str, box: Any, origin: tuple[float, float], turns: int) -> _Letter:  # noqa: ANN401 - as above
    """A letter of a page that is read turned by quarters."""
    if turns == 1:
        return _Letter(text, box.bottom, box.top, -origin[0], box.right - box.left)
    if turns == 2:
        return _Letter(text, -box.right, -box.left, -origin[1], box.top - box.bottom)
    return _Letter(text, -box.top, -box.bottom, origin[0], box.right - box.left)


def _quarter_turns(angles: Iterable[float]) -> int:
    """By how many quarters most of the text of a page is turned."""
    counts = Counter(round(angle / (math.pi / 2)) % 4 for angle in angles)
    turns, often = max(counts.items(), key=lambda item: item[1], default=(0, 0))
    return turns if 2 * often > counts.total() else 0


def _is_rotated(angle: float) -> bool:
    return 0.2 < angle % (2 * math.pi) < 2 * math.pi - 0.2


def _font(name: bytes) -> str:
    """The name of a font without the letters that mark a part of it."""
    return re.sub(r"^[A-Z]{6}\+", "", name.decode(errors="replace"))


def _goes_on(some: Sequence[_Word], word: _Word) -> bool:
    """Tell whether a word stands beside those of a run."""
    before, size = some[-1], max(some[0].size, word.size)
    first = max(some, key=lambda other: other.size)
    return (
        -0.3 * size < word.left - before.right < GAP * size
        and abs(word.base - first.base) < (0.6 if word.size < SMALLER * first.size else 0.25) * size
        and abs(word.angle - before.angle) < 0.1
    )


def _run(words: Sequence[_Word]) -> Run:
    plain = [word for word in words if not _FIXED.search(word.font)]  # letters of fixed width are smaller
    letters = [letter for word in plain or words for letter in word.letters]
    counts: dict[float, int] = {}
    for letter in letters:
        counts[round(letter.size, 1)] = counts.get(round(letter.size, 1), 0) + 1
    size = max(counts, key=lambda some: (counts[some], some))
    largest = max(counts)
    if counts[largest] * 3 > len(letters):
        size = largest
    base = next(letter.base for letter in letters if round(letter.size, 1) == size)
    text = ""
    end = words[0].left
    for word in words:
        shown = word.text(size, base)
        glued = not text or (word.size < SMALLER * size and word.left - end < 0.12 * size)
        text += shown if glued else f" {shown}"
        end = word.right
    length = sum(len(word.letters) for word in words)

    def share(kind: "re.Pattern[str]") -> float:
        return sum(len(word.letters) for word in words if kind.search(word.font)) / length

    angle = words[0].angle
    return Run(
        text=text,
        left=min(word.left for word in words),
        right=max(word.right for word in words),
        base=base,
        size=size,
        math=share(_MATH),
        fixed=share(_FIXED),
        bold=share(_BOLD) > 0.7,
        rotated=_is_rotated(angle),
    )
