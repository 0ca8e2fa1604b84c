"""The lines of a person's own text: which of them end a statement, and what stands over them.

A line break ends a statement unless the line was wrapped: the next one goes on in lower case, or its block is
prose, of which a third of the lines do. What ends at a line break is a row: an item of a list, a line of a
log, a field with its label, a row of a table.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_ROW = 320
"""Characters up to which a row stays whole: what is struck or withdrawn stands with what it belongs to."""
MAX_HEADING = 80
MIN_WRAPPED = 0.6
"""Share of the longest line of its block from which a line of prose is wrapped."""
MIN_LOWER = 1 / 3
"""Share of lines that begin in lower case, of prose that is wrapped."""
_BLOCK = re.compile(r"(?:^|(?<=\n))(?:[^\n]*\S[^\n]*(?:\n|$))+")
_LINE = re.compile(r"[^\n]+")
_ITEM = re.compile(r"[ \t]*(?:[-*+\u2022\u2013]|\(?\d{1,3}(?:\.\d{1,3})*[.):]?|[a-z][.)])[ \t]+\S")
_NUMBER = re.compile(r"(?<![ \t])[ \t]*(\d{1,3}(?:\.\d{1,3}){0,9})([.):]?)[ \t]+\S")
_FIELD = re.compile(r"[ \t]*[\w.\"'-]+(?:[ \t]*[:=][ \t]+\S|:$)|[ \t]*\[[^\]]+\]$")
"""A key with what it is, as files of settings have them, or what stands over such lines."""
_ROW = re.compile(r"[^:;\n]{1,60}: [^\n]+; [^:;\n]{1,60}: \S")
"""A row of a table whose cells stand behind their headings (`documents.tables`)."""
_RULE = re.compile(r"[\s|:+=_-]+")
ENDS = (".", "!", "?", "\u3002", "\uff01", "\uff1f", "\u0964", "\u06d4", "\u061f")
"""Signs that end a sentence, those of Chinese, Hindi, Urdu and Arabic included."""
COLONS = (":", "\uff1a")
_STOPPED = (*ENDS, ";", ",", "\uff1b", "\uff0c")
_MARKED_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+\S|(?:\*\*|__)(?:(?!\*\*|__|: )[^\n])+"
    rf"(?<![{''.join(_STOPPED)}])(?:\*\*|__)[ \t]*$)"
)
"""A heading of Markdown, or a line of bold alone, which is no sentence and no field (`**Due: 3 May**`)."""
_SEPARATORS = ("|", "\t", ";", ",")


class Unit(NamedTuple):
    """A run of text that is one statement, or prose to be split into sentences."""

    start: int
    end: int
    head: str
    """What stands over it: the columns of its table, the line that opens its list, or the nearest heading."""
    is_row: bool


def units(text: str, heading: str = "") -> Iterator[Unit]:
    """Return the rows and the prose of a text, in order; `heading` stands over it."""
    blocks = [match.span() for match in _BLOCK.finditer(text)]
    for number, (start, end) in enumerate(blocks):
        lines = _lines(text, start, end)
        if number + 1 < len(blocks) and len(lines) == 1:
            neighbours = (*blocks[max(0, number - 1) : number], blocks[number + 1])
            neighbour_lines = [text[_lines(text, *block)[0]] for block in neighbours]
            if _is_heading(text[lines[0]], neighbour_lines):
                heading = heading_text(text[lines[0]])
                continue
        if len(lines) > 1 and _MARKED_HEADING.match(text[lines[0]]) and _columns(text, lines[1:]):
            heading = heading_text(text[lines[0]])
            lines = lines[1:]
        if columns := _columns(text, lines):
            rows_below = (line for line in lines[1:] if not _RULE.fullmatch(text[line]))
            yield from (Unit(line.start, line.stop, columns, is_row=True) for line in rows_below)
            continue
        head = above = heading
        statements = _unwrap(text, lines)
        for place, line in enumerate(statements):
            words = text[line]
            below = text[statements[place + 1]] if place + 1 < len(statements) else ""
            is_over = below and (_ITEM.match(below) or not _is_heading(below, ()))
            has_ended = place == 0 or text.endswith(ENDS, 0, statements[place - 1].stop)
            if below and words.rstrip().endswith(":") and len(words) <= MAX_HEADING:
                head = heading_text(words)
            elif _MARKED_HEADING.match(words) or (is_over and has_ended and _is_heading(words, (below,))):
                heading = head = heading_text(words)
            else:
                is_line = len(statements) - (head != above) > 1 and "\n" not in words.strip()
                is_row = is_line or bool(_ITEM.match(words)) or bool(_ROW.match(words))
                yield Unit(line.start, line.stop, head, is_row and len(words) <= MAX_ROW)


def rows(text: str) -> Iterator[list[str]]:
    """Return the rows of the tables of a text, each as its cells."""
    for match in _BLOCK.finditer(text):
        lines = _lines(text, *match.span())
        if mark := _separator(table := _rows(text, lines)) or _separator(table[1:]):
            for row in csv.reader(table, delimiter=mark):
                if len(row) > 1:
                    yield [cell.strip() for cell in row]


def heading_text(line: str) -> str:
    """Return a heading without what marks it."""
    return " ".join(line.split()).strip(" #*_=:")


def _lines(text: str, start: int, end: int) -> list[slice]:
    return [slice(*match.span()) for match in _LINE.finditer(text, start, end)]


def _is_heading(line: str, neighbours: Sequence[str]) -> bool:
    """Tell whether a line is short, without a stop, and no item, no field and no row.

    One with a number is no item of a list: no line beside it has a number of as many parts. A stop in bold is
    one (`**The vote was carried.**`), unless the line has a number (`**13. Notices.**`)."""
    depth, *depths = (match and match[1].count(".") for match in map(_NUMBER.match, (line, *neighbours)))
    if depth is not None and depth not in depths:
        line = line.lstrip(" \t0123456789.):")
    plain = line.strip()
    ending = plain if _NUMBER.match(plain.lstrip("*_")) else plain.rstrip("*_")
    is_statement = ending.endswith(_STOPPED) or plain[:1].isdigit() or re.search(r": | \| |\n", plain)
    is_title = len(plain) <= MAX_HEADING and any(map(str.isalpha, plain))
    return bool(_MARKED_HEADING.match(line)) or (is_title and not is_statement and not _ITEM.match(line))


def _columns(text: str, lines: Sequence[slice]) -> str:
    """Return the first row of a table, whose lines are parted alike; empty where there is none."""
    table = _rows(text, lines)
    return table[0].strip().strip("|").strip() if _separator(table) else ""


def _rows(text: str, lines: Sequence[slice]) -> list[str]:
    return [text[line] for line in lines if not _RULE.fullmatch(text[line])]


def _separator(rows: Sequence[str]) -> str:
    """Return what parts the cells of rows that are parted alike; empty where nothing does."""
    if len(rows) < 2 or ("|" not in rows[0] and len(rows) < 3) or any(map(_ROW.match, rows[:2])):
        return ""
    for mark in _SEPARATORS:
        counts = {row.count(mark) for row in rows}
        if min(counts) > (0 if mark in "|\t" else 1) and (len(counts) == 1 or mark == "|"):
            return mark
    return ""


def _unwrap(text: str, lines: Sequence[slice]) -> list[slice]:
    """Lines with those that continue them."""
    words = [text[line] for line in lines]
    lower_count = sum(line.lstrip()[:1].islower() for line in words[1:])
    is_prose = len(lines) > 1 and lower_count >= MIN_LOWER * (len(lines) - 1)
    longest = max(map(len, words))
    numbers = {int(match[1]) for match in map(_NUMBER.match, words) if match and match[1].isdigit()}
    statements = [lines[0]]
    for before, line, after in zip(words, lines[1:], words[1:], strict=False):
        is_long = len(before) >= MIN_WRAPPED * longest
        number = _NUMBER.match(after)
        n = int(number[1]) if number and number[1].isdigit() else 0
        is_alone = n > 1 and numbers.isdisjoint((n - 1, n + 1))  # the 18th, in many languages `18.`
        is_amount = number and is_long and (is_alone or (is_prose and not number[2]))
        is_amount = is_amount and not before.rstrip().endswith((*_STOPPED, ":"))
        is_start = _ITEM.match(after) or _MARKED_HEADING.match(after) or _MARKED_HEADING.match(before)
        is_start = is_start or _ROW.match(before) or _ROW.match(after)
        is_start = is_start or (_FIELD.match(before) and _FIELD.match(after))
        if is_amount or ((after.lstrip()[:1].islower() or (is_prose and is_long)) and not is_start):
            statements[-1] = slice(statements[-1].start, line.stop)
        else:
            statements.append(line)
    return statements
