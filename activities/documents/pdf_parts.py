"""The parts of a document by the form and place of their blocks: lists of references, contents and notes.

No word tells them, so that they are the same in every language: an entry of a list of references has a year
and many marks, one of contents ends with a number of a page, a note is small and stands below the text.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from activities.documents.pdf_layout import NOTE, Block, Kind

MIN_ENTRIES = 3
"""Entries of a section that is a list of references."""
ENTRIES_SHARE = 0.6
"""Share of the letters of a section that stand in entries."""
MARKS_A_WORD = 0.3
"""Commas, stops and brackets for each word of an entry at least; running text has half as many."""
WORDS_A_YEAR = 80
MAX_ENTRY_WORDS, MANY_MARKS = 100, 0.5
"""Words of an entry; a longer block is several of them, with more marks than text that cites many works."""
MIN_CONTENTS = 5
"""Lines of contents, whose numbers rise."""
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?:[a-z](?![a-z]))?(?!\d)")
_MARKS = re.compile(r"[,.;:()\[\]\u201c\u201d\u3001\u3002\uff0c\uff0e\uff1a]")
_BRACKETED = re.compile(r"\[(\d{1,4})\] ")
_LAST_NUMBER = re.compile(r"(?:^|[\s,])(\d{1,4}|[ivxlc]{1,7})$")
_ENTRY = re.compile(r"[,\u3001\uff0c]\s*(?:\d{1,4}|[ivxlc]{1,7})$")
_TEXT = (Kind.PROSE, Kind.FORMULA, Kind.NOTE, Kind.CODE)


def mark_parts(blocks: Sequence[Block], body: float) -> None:
    """Give blocks that are no running text their kind. `body`: the size of the letters of running text."""
    for section in (*_sections(blocks), *_numbered_lists(blocks)):
        _mark_references(section)
    if all(block.kind is not Kind.PROSE for block in blocks):  # a document that is nothing but a list
        for block in blocks:
            block.kind = Kind.PROSE if block.kind is Kind.REFERENCES else block.kind
    _mark_contents(blocks)
    by_page: defaultdict[int, list[Block]] = defaultdict(list)
    for block in blocks:
        by_page[block.page].append(block)
    for page in by_page.values():
        _mark_notes(page, body)


def _sections(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield the blocks with text between two headings."""
    section: list[Block] = []
    for block in blocks:
        if block.kind is Kind.HEADING:
            yield section
            section = []
        elif block.kind in _TEXT:
            section.append(block)
    yield section


def _numbered_lists(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield the blocks that count up from one number in brackets to the last, under whatever heading."""
    texts = [block for block in blocks if block.kind in _TEXT]
    places = [(n, int(m[1])) for n, block in enumerate(texts) if (m := _BRACKETED.match(block.first.text))]
    start = 0
    for end in range(1, len(places) + 1):
        (place, number), (next_place, next_number) = places[end - 1], (*places, (math.inf, 0))[end]
        if next_number != number + 1 or next_place - place > 2:  # an entry may go on in the next column
            yield texts[places[start][0] : place + 1]
            start = end


def _mark_references(section: Sequence[Block]) -> None:
    entries = [_is_entry(block) for block in section]
    letters = [sum(len(line.text) for line in block.lines) for block in section]
    entry_letters = sum(count for count, is_entry in zip(letters, entries, strict=True) if is_entry)
    if sum(entries) >= MIN_ENTRIES and entry_letters >= ENTRIES_SHARE * sum(letters):
        for block in section[entries.index(True) :]:
            block.kind = Kind.REFERENCES


def _is_entry(block: Block) -> bool:
    text = " ".join(line.text for line in block.lines)
    words = len(text.split()) if " " in text else len(text) / 2
    return (
        block.kind is not Kind.CODE
        and words > 3
        and len(_YEAR.findall(text)) * WORDS_A_YEAR >= words
        and len(_MARKS.findall(text)) >= (MARKS_A_WORD if words <= MAX_ENTRY_WORDS else MANY_MARKS) * words
    )


def _mark_contents(blocks: Sequence[Block]) -> None:
    run: list[Block] = []
    pending: list[Block] = []
    """The first line of an entry, whose number stands at the end of the next."""
    for block in [*blocks, None]:
        if block is not None and block.kind in (Kind.PROSE, Kind.HEADING, Kind.CONTENTS):
            ends = sum(bool(_LAST_NUMBER.search(line.text)) for line in block.lines)
            if 2 * ends >= len(block.lines):
                run += [*pending, block]
                pending = []
                continue
            if run and not pending and len(block.lines) == 1 and not block.first.text.endswith("."):
                pending.append(block)
                continue
        elif block is not None and block.kind is Kind.LABELS:
            continue
        if _is_contents(run):
            for entry in run:
                entry.kind = Kind.CONTENTS
        run, pending = [], []


def _is_contents(run: Sequence[Block]) -> bool:
    lines = [line.text for block in run for line in block.lines]
    numbers = [int(m[1]) for line in lines if (m := _LAST_NUMBER.search(line)) and m[1].isdigit()]
    # an index: its entries are in the order of the alphabet
    entries = [line.casefold() for line in lines if _ENTRY.search(line)]
    initials = [ord(next(filter(str.isalnum, entry), "\0")) for entry in entries]
    is_index = 2 * len(entries) > len(lines) and _in_order(initials) >= 0.8
    return len(numbers) >= MIN_CONTENTS and (is_index or _in_order(numbers) >= 0.9)


def _in_order(numbers: Sequence[int]) -> float:
    """Return the share of neighbours that do not fall."""
    pairs = [before <= after for before, after in pairwise(numbers)]
    return sum(pairs) / max(len(pairs), 1)


def _mark_notes(page: Sequence[Block], body: float) -> None:
    texts = [block for block in page if block.kind is Kind.PROSE and block.first.size > NOTE * body]
    for block in page:
        if block.kind is not Kind.PROSE or block.first.size > NOTE * body:
            continue
        has_text_below = any(
            other.first.base < block.last.base
            and other.first.left < block.right
            and block.first.left < other.right
            for other in texts
        )
        if texts and not has_text_below:
            block.kind = Kind.NOTE
