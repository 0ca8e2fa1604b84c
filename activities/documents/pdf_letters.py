"""A page as PDFium draws it: its letters put together to words and runs, its figures and its rules."""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import groupby, islice, pairwise
from statistics import median_low

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfPage

from activities.documents.blocks import script
from activities.documents.pdf_characters import NO_LETTER, Piece, Raw, characters, mend
from activities.documents.pdf_drawings import MAX_OBJECTS, drawings
from activities.documents.pdf_fonts import Font, fixed_fonts, font_of, kind_of_font
from activities.documents.pdf_page import (
    RULE,
    SMALLER,
    TO_THE_LEFT,
    Box,
    Page,
    Run,
    is_right_to_left,
    top_down,
)
from activities.text.normal_form import is_unspaced

GAP = 0.8
"""Empty space between words of one run at most, in heights of a letter."""
NARROW_BLANK = 0.13
"""How much wider than between other letters a blank is at least, in heights of a letter."""
MIN_BLANK = 0.6
"""Width of a blank between words of fixed width at least, in letters."""
RAISED = 0.07
"""Distance from the line, in heights of a letter, of a super- or subscript, which is smaller as well."""
MAX_STROKE = 10.0
"""Width of an underscore that is drawn at most, in points."""
MIN_BULLET, MAX_BULLET = 0.2, 0.6
"""Height of a bullet that is drawn, in heights of a letter."""
_DRAWN_NOTES = (3, 13, 20)
"""Annotations of which a viewer shows the words on the page: free text, stamps and the fields of forms."""
_VISIBLE = re.compile(r"\S+")
_LINE = re.compile(r"[^\r\n]+")
_OTHER_BRACKETS = str.maketrans("()[]{}\u00ab\u00bb", ")(][}{\u00bb\u00ab")
_LATIN = re.compile("[A-Za-z]")
_SINGLE = re.compile(f"[{NO_LETTER}\u221a]|{TO_THE_LEFT.pattern}")
"""Letters and roots whose places are looked at one by one."""
_LARGE_SYMBOLS = str.maketrans("PQRSTUVWXYZ[\\]pqrst", "∑∏∫∪∩⊎∧∨∑∏∫∪∩⊎√√√√√")  # noqa: RUF001 - they are meant
"""Sums and roots by their places in TeX's font of large symbols (The TeXbook, Appendix F)."""
AXIS = 0.25
"""Height above the line, in heights of a letter, of the middle of a large symbol."""


class _Word:
    __slots__ = ("angle", "base", "font", "left", "length", "link", "pieces", "right", "size")

    def __init__(self, pieces: list[Piece], font: Font, angle: float) -> None:
        self.pieces, self.font, self.angle = pieces, font, angle
        self.link = " "
        """Stands between it and the word before it."""
        largest, self.left, self.right = pieces[0], pieces[0].left, pieces[0].right
        self.length = len(pieces[0].text)
        for piece in pieces[1:]:
            largest = piece if piece.size > largest.size else largest
            self.right = max(self.right, piece.right)
            self.length += len(piece.text)
            self.left = min(self.left, piece.left)
        self.size, self.base = largest.size, largest.base

    def text(self, size: float, base: float) -> str:
        """Return its letters beside others of this size, those above or below the line as such."""
        if len(self.pieces) == 1 and self.size > SMALLER * size:
            return self.pieces[0].text

        def place(piece: Piece) -> str:
            offset = piece.base - base
            if piece.size > SMALLER * size or abs(offset) < RAISED * size:
                return ""
            return "sup" if offset > 0 else "sub"

        parts = ((kind, "".join(piece.text for piece in part)) for kind, part in groupby(self.pieces, place))
        return "".join(script(text, kind) if kind else text for kind, text in parts)


def read_page(document: PdfDocument, number: int) -> Page:
    """Read a page with the values of its form. Raises PdfiumError."""
    page = document[number]
    try:
        figures, rules, bullets = drawings(page)
        notes = map(
            partial(pdfium.FPDFPage_GetAnnot, page.raw), range(pdfium.FPDFPage_GetAnnotCount(page.raw))
        )
        if any(pdfium.FPDFAnnot_GetSubtype(note) in _DRAWN_NOTES for note in islice(notes, MAX_OBJECTS)):
            pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
            page.close()
            page = document[number]
        runs, turns = _runs(page, rules)
        figures, rules = ([_turn(box, turns) for box in boxes] for boxes in (figures, rules))
        _mark_items(runs, [box for box in bullets if not any(figure.encloses(box) for figure in figures)])
        if runs and runs[0].mirrored:
            figures, rules = (
                [replace(box, left=-box.right, right=-box.left) for box in boxes]
                for boxes in (figures, rules)
            )
        return Page(runs, figures, page.get_height(), rules)
    finally:
        page.close()


def _runs(page: PdfPage, rules: Sequence[Box]) -> tuple[list[Run], int]:
    """Return the runs of a page and its quarter turns; none goes over one of the upright rules."""
    runs: list[Run] = []
    words: list[_Word] = []
    largest: _Word | None = None
    texts = page.get_textpage()
    try:
        text = characters(texts.raw)
        mirrored = is_right_to_left(text)
        angles = (pdfium.FPDFText_GetCharAngle(texts.raw, number) for number in range(0, len(text), 40))
        turns = _quarter_turns(angles)
        rules = [_turn(rule, turns) for rule in rules]
        bars = [rule for rule in rules if rule.top - rule.bottom > RULE]
        strokes = [rule for rule in rules if rule.top - rule.bottom < 1 < rule.right - rule.left < MAX_STROKE]
        for word in _words_of(texts.raw, text, turns, mirrored=mirrored, is_drawn=bool(strokes)):
            if largest is not None and (
                not _continues(words[-1], largest, word)
                or (bars and _is_parted(words[-1], word, bars, mirrored=mirrored))
            ):
                runs.append(_run(words, mirrored=mirrored))
                words, largest = [], None
            if words and any(_is_underscore(stroke, words[-1], word) for stroke in strokes):
                word.link = "_"
            words.append(word)
            largest = word if largest is None or word.size > largest.size else largest
    finally:
        texts.close()
    if words:
        runs.append(_run(words, mirrored=mirrored))
    if mirrored and _are_inverted(" ".join(run.text for run in sorted(runs, key=top_down))):
        for run in runs:
            parts = run.text.split(" ")
            run.text = " ".join(w if _LATIN.search(w) else w.translate(_OTHER_BRACKETS) for w in parts)
    return runs, turns


def _turn(box: Box, turns: int) -> Box:
    """Return where a place is on a page that is turned to the right by quarters."""
    for _ in range(turns):
        box = Box(box.bottom, -box.right, box.top, -box.left)
    return box


def _are_inverted(text: str) -> bool:
    """Tell whether more brackets of words to the left close before they open than the other way round."""
    brackets = "".join(c for word in text.split(" ") if not _LATIN.search(word) for c in word if c in "()")
    return brackets.count(")(") > brackets.count("()")


def _is_parted(before: _Word, word: _Word, bars: Sequence[Box], *, mirrored: bool) -> bool:
    """Tell whether an upright rule stands between two words."""
    left, right = before.right - 1, word.left + 1
    left, right = (-right, -left) if mirrored else (left, right)
    return any(left < bar.left < right and bar.bottom <= word.base < bar.top for bar in bars)


def _is_underscore(stroke: Box, before: _Word, word: _Word) -> bool:
    """Tell whether a short rule is drawn below the space between two words, as TeX draws underscores."""
    return (
        before.right - 1.5 < stroke.left
        and stroke.right < word.left + 1.5
        and -0.25 * word.size < stroke.bottom - word.base < 0.02 * word.size
    )


def _mark_items(runs: Sequence[Run], bullets: Sequence[Box]) -> None:
    """Put a bullet before each run that one is drawn beside, as browsers draw those of lists."""
    for run in runs if bullets else ():
        if not run.mirrored and any(
            0 < run.left - box.right < 1.5 * run.size
            and run.base < (box.bottom + box.top) / 2 < run.top
            and MIN_BULLET * run.size < box.top - box.bottom < MAX_BULLET * run.size
            for box in bullets
        ):
            run.text = f"\u2022 {run.text}"


def _first_letter(word: str) -> int:
    """Return the place of the first letter or digit of a word, whose font is that of the word."""
    return next((place for place, character in enumerate(word) if character.isalnum()), 0)


def _words_of(raw: Raw, text: str, turns: int, *, mirrored: bool, is_drawn: bool) -> Iterator[_Word]:
    """Yield the words of a page; those of an even line that stand beside each other as one.

    `is_drawn`: signs may be drawn between them.
    """
    matrix, box = pdfium.FS_MATRIX(), pdfium.FS_RECTF()
    to_box, get_box = ctypes.byref(box), pdfium.FPDFText_GetLooseCharBox
    name = ctypes.create_string_buffer(128)
    piece_of = _pieces(raw, turns, mirrored=mirrored)
    text = mend(text, raw, piece_of)
    fonts_of_one_width = cache(partial(fixed_fonts, raw, text, piece_of))

    def font_and_angle(number: int) -> tuple[Font, float]:
        pdfium.FPDFText_GetFontInfo(raw, number, name, len(name), None)
        font = kind_of_font(name.value)
        if not name.value and font_of(raw, number) in fonts_of_one_width():
            font = font._replace(fixed=True)
        angle = pdfium.FPDFText_GetCharAngle(raw, number)
        if angle and pdfium.FPDFText_GetMatrix(raw, number, matrix) and matrix.a > 0 and not matrix.b:
            angle = 0.0  # letters that lean, as italics do
        return font, angle + turns * math.pi / 2

    def sides(first: int, end: int) -> tuple[float, float]:
        """Return where a word of a line across begins and ends."""
        get_box(raw, first, to_box)
        left = box.left
        get_box(raw, end - 1, to_box)
        return (-box.right, -left) if mirrored else (left, box.right)

    def parts_of(first: int, end: int) -> Iterator[_Word]:
        """Yield a word, or its parts where its letters stand apart."""
        word = text[first:end]
        font, angle = font_and_angle(first + _first_letter(word))
        is_whole = (
            not font.large
            and not _SINGLE.search(word)
            and pdfium.FPDFText_CountRects(raw, first, end - first) == 1
        )
        if is_whole:
            yield _Word([piece_of(first, end, word)], font, angle)
            return
        parts = [(number, number + 1) for number in range(first, end)]
        is_leftward = _is_written_left(word)
        if is_leftward:
            parts = _order_leftward(parts, raw, piece_of, 1 if mirrored else -1)
        pieces: list[Piece] = []
        fonts: list[tuple[Font, float]] = []
        for start, stop in parts:
            if text[start] == NO_LETTER:
                continue
            piece = piece_of(start, stop, text[start:stop])
            letter_font, letter_angle = font_and_angle(start)
            if letter_font.large or piece.text == "√":
                piece = _large_symbol(raw, start, piece, turns)
            pieces.append(piece)
            fonts.append((letter_font, letter_angle))
        blank = math.inf if is_leftward else _narrowest_blank(pieces)
        begin = 0
        for number in range(1, len(pieces)):
            before, piece = pieces[number - 1 : number + 1]
            is_beside = -2 * piece.size < piece.left - before.right < GAP * piece.size
            if not _is_rotated(fonts[number][1]) and (not is_beside or _is_blank(before, piece, blank)):
                yield _Word(pieces[begin:number], font, angle)
                (font, angle), begin = fonts[number], number
        if pieces:
            yield _Word(pieces[begin:], font, angle)

    is_plain = not _SINGLE.search(text)
    for line in _LINE.finditer(text):
        words = [*_VISIBLE.finditer(text, *line.span())]
        if not words:
            continue
        first, *rest = words
        font, angle = font_and_angle(first.start() + _first_letter(first[0]))
        # the words of one text object have one font and stand on one line
        is_even = (
            not (is_drawn or turns or font.large or _is_rotated(angle))
            and (is_plain or not _SINGLE.search(line[0]))
            and pdfium.FPDFText_CountRects(raw, line.start(), len(line[0])) == 1
        )
        if not is_even:
            for match in words:
                yield from parts_of(*match.span())
            continue
        _, left, right, base, size = piece_of(*first.span())
        row = [first[0]]
        """Words that stand beside each other."""
        for match in rest:
            begin, end = sides(*match.span())
            if not font.fixed and -0.3 * size < begin - right < GAP * size:
                row.append(match[0])
            else:
                yield _Word([Piece(" ".join(row), left, right, base, size)], font, angle)
                row, left = [match[0]], begin
            right = end
        yield _Word([Piece(" ".join(row), left, right, base, size)], font, angle)


def _narrowest_blank(pieces: Sequence[Piece]) -> float:
    """Return how wide a blank between the letters of a word is at least, in heights of a letter.

    PDFium finds no blank between letters that are drawn one by one where it is narrow. The letters of a word
    that is set wide stand apart as well.
    """
    gaps = [(after.left - before.right) / after.size for before, after in pairwise(pieces) if after.size]
    return NARROW_BLANK + (max(0.0, median_low(gaps)) if len(gaps) > 1 else RAISED)


def _is_blank(before: Piece, after: Piece, blank: float) -> bool:
    """Tell whether a blank stands between two letters of a word."""
    return (
        after.left - before.right > blank * after.size
        and abs(before.base - after.base) < RAISED * after.size
        and abs(before.size - after.size) < 0.1 * after.size
        and not (is_unspaced(before.text) or is_unspaced(after.text))
    )


def _order_leftward(
    parts: Sequence[tuple[int, int]],
    raw: Raw,
    piece_of: Callable[..., Piece],
    sign: int,
) -> list[tuple[int, int]]:
    """Return the letters of a word that is written to the left in their order.

    Those that are drawn one by one stand in any order, those of one glyph in the wrong one.
    """
    items = (pdfium.FPDFText_GetTextObject(raw, number) for number, _ in parts)
    places = {part: sign * piece_of(*part).left for part in parts}
    if len({ctypes.addressof(item.contents) for item in items if item}) > 1:
        parts = sorted(parts, key=lambda part: places[part])
    glyphs = (list(group) for _, group in groupby(parts, lambda part: places[part]))
    return [part for glyph in glyphs for part in reversed(glyph)]


def _is_written_left(word: str) -> bool:
    """Tell whether all letters and digits of a word are written to the left."""
    return all(TO_THE_LEFT.match(letter) for letter in word if letter.isalnum()) and bool(
        TO_THE_LEFT.search(word)
    )


def _pieces(raw: Raw, turns: int, *, mirrored: bool) -> Callable[..., Piece]:
    """Return a function from the numbers of the first character and of the one behind to their piece."""
    box, across, up, matrix = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double(), pdfium.FS_MATRIX()
    to_box, to_across, to_up, to_matrix = map(ctypes.byref, (box, across, up, matrix))

    def piece(first: int, end: int, text: str = "") -> Piece:
        pdfium.FPDFText_GetLooseCharBox(raw, first, to_box)
        pdfium.FPDFText_GetCharOrigin(raw, first, to_across, to_up)
        pdfium.FPDFText_GetMatrix(raw, first, to_matrix)
        size = pdfium.FPDFText_GetFontSize(raw, first) * math.hypot(matrix.c, matrix.d)
        left, bottom, right, top, x, y = box.left, box.bottom, box.right, box.top, across.value, up.value
        if end > first + 1:
            pdfium.FPDFText_GetLooseCharBox(raw, end - 1, to_box)
            left, bottom = min(left, box.left), min(bottom, box.bottom)
            right, top = max(right, box.right), max(top, box.top)
        for _ in range(turns):
            left, bottom, right, top, x, y = bottom, -right, top, -left, y, -x
        left, right = (-right, -left) if mirrored else (left, right)
        return Piece(text, left, right, y, size)

    return piece


def _large_symbol(raw: Raw, number: int, piece: Piece, turns: int) -> Piece:
    """Return a sum or a root as the sign that it is, on the line on which its middle stands."""
    sides = [ctypes.c_double() for _ in range(4)]
    if not pdfium.FPDFText_GetCharBox(raw, number, *map(ctypes.byref, sides)):
        return piece
    left, right, bottom, top = (side.value for side in sides)
    box = _turn(Box(left, bottom, right, top), turns)
    text = piece.text.translate(_LARGE_SYMBOLS)
    base = (box.bottom + box.top) / 2 - AXIS * piece.size
    return piece._replace(text=text, base=base, size=min(piece.size, box.top - box.bottom))


def _quarter_turns(angles: Iterable[float]) -> int:
    """Return by how many quarters most of the text of a page is turned to the left."""
    # PDFium counts angles to the right
    counts = Counter(round(-angle / (math.pi / 2)) % 4 for angle in angles)
    turns, count = max(counts.items(), key=lambda item: item[1], default=(0, 0))
    return turns if 2 * count > counts.total() else 0


def _is_rotated(angle: float) -> bool:
    return 0.2 < angle % (2 * math.pi) < 2 * math.pi - 0.2


def _continues(before: _Word, largest: _Word, word: _Word) -> bool:
    """Tell whether a word stands beside the last one of a run, of which one word is the largest."""
    size = max(before.size, word.size)
    is_raised = word.size < SMALLER * largest.size or (
        largest.size < SMALLER * word.size and not largest.font.math  # the number of a note
    )
    return (
        -0.3 * size < word.left - before.right < GAP * size
        and abs(word.base - largest.base) < (0.6 if is_raised else 0.25) * size
        and abs(word.angle - before.angle) < 0.1
    )


def _run(words: Sequence[_Word], *, mirrored: bool) -> Run:
    first = words[0]
    if len(words) == len(first.pieces) == 1:  # as most are
        font, size, rotated = first.font, round(first.size, 1), _is_rotated(first.angle)
        place = (first.left, first.right, first.base, size)
        return Run(first.pieces[0].text, *place, font.math, font.fixed, font.bold, rotated, mirrored)
    plain = [word for word in words if not word.font.fixed]  # letters of fixed width are smaller
    pieces = [piece for word in plain or words for piece in word.pieces]
    counts = Counter[float]()
    for piece in pieces:
        counts[round(piece.size, 1)] += len(piece.text)
    size = max(counts, key=lambda height: (counts[height], height))
    largest = max(counts)
    if counts[largest] * 3 > counts.total():
        size = largest
    base = next(piece.base for piece in pieces if round(piece.size, 1) == size)
    text = ""
    end, fixed, last_size = first.left, False, first.size
    for word in words:
        letters = word.text(size, base)
        gap = word.left - end
        is_glued = not text or (min(word.size, last_size) < SMALLER * size and gap < 0.12 * size)
        if fixed and word.font.fixed and not (text[-1:].isalnum() and letters[0].isalnum()):
            # the symbols of a program are drawn apart without a blank
            is_glued = gap < MIN_BLANK * max((word.right - word.left) / word.length, 0.4 * word.size)
        text += letters if is_glued else word.link + letters
        end, fixed, last_size = word.right, word.font.fixed, word.size
    length = sum(word.length for word in words)

    def share(font: str) -> float:
        return sum(word.length for word in words if getattr(word.font, font)) / length

    return Run(
        text=text,
        left=min(word.left for word in words),
        right=max(word.right for word in words),
        base=base,
        size=size,
        math=share("math"),
        fixed=share("fixed"),
        bold=share("bold"),
        rotated=_is_rotated(first.angle),
        mirrored=mirrored,
    )
