"""The text of a PDF as a viewer shows it: paragraphs over lines, columns and pages, rows of tables, captions.

PDFium finds the letters (`pdf_characters`, `pdf_letters`); `pdf_layout` orders them. What stands on a page
and is no text of its document is kept apart: running heads, numbers of pages and lines, contents, labels of
figures and references.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from importlib import resources
from itertools import pairwise, takewhile
from statistics import median_low

from activities.documents.pdf_layout import (
    ADDRESS,
    LARGER,
    STOP,
    Block,
    Kind,
    Line,
    blocks_of,
    gutters_of,
    is_row_below,
)
from activities.documents.pdf_page import HYPHEN, Page, Run, rows_of
from activities.documents.pdf_parts import mark_parts
from activities.documents.text import MAX_CHARS, TITLE_CHARS, NoText, Text, Unreadable, tidy
from activities.text.layout import COLONS
from activities.text.normal_form import is_unspaced

MAX_PAGES = 2_000
PDF_SECONDS = 30.0
"""Seconds of processor time after which no further page of a PDF is read; the pages read are kept."""
TITLE_LETTERS = 10
"""Letters that a printed title has at least; a page number has fewer."""
EDGE_ROWS, EDGE_SHARE = 3, 0.15
"""Rows at the top and the foot of a page, and the share of its height, where a running head may stand."""
NEAR_PAGES = 3
"""Pages within which a running head stands again: left and right pages and chapters have their own."""
MIN_LINE_NUMBERS, MANY_LINE_NUMBERS = 3, 20
MIN_TEXT_CHARS = 16
"""Characters of a run that shows where the text of a page begins and ends."""
_NO_TITLE = re.compile(
    r"\.(docx?|tex|indd|pdf|qxd|dvi|ps)\b|^microsoft word|^[A-Z0-9_-]+$|^\S+$", re.IGNORECASE
)
_NUMBER = re.compile(r"\d{1,5}")
_APART = (Kind.LABELS, Kind.CONTENTS, Kind.REFERENCES, Kind.FORMULA)
_BETWEEN = (Kind.CAPTION, Kind.NOTE, Kind.TABLE, Kind.CODE)
"""Blocks that may stand in the midst of a paragraph."""
MAX_INLINE_LINES = 2
"""Lines of a program that go on with a sentence which has no stop before them."""
MAX_APART_WORDS = 4
FORMULA = "[formula]"
"""Stands in a sentence for a formula that is set apart in it."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_PART = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[-\u2010]$")
_FIRST_PART = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_FOLDER = re.compile(r"(?:^|[\s(])/\S*/$")
"""The first part of a path."""
_IN_ADDRESS = (*"-\u2010/:._?=&",)
"""Ends of a part of an address that goes on in the next line."""
_WIDE_SIGN = re.compile("[\u3000-\u303f\uff00-\uff65]")
_TIES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\xa0": " "}
_TIE = re.compile(f"[{''.join(_TIES)}]")


def read_pdf(data: bytes, seconds: float = PDF_SECONDS) -> Text:
    """Read the pages of a PDF, as many as `seconds` of processor time allow. Raises NoText, Unreadable."""
    import pypdfium2

    from activities.documents.pdf_letters import read_page

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        is_locked = "password" in str(error).lower()
        raise Unreadable(
            "it is locked with a password; save it without one"
            if is_locked
            else "it is damaged or was cut off; get or save it again"
        ) from error
    deadline = time.process_time() + seconds
    pages: list[Page] = []
    broken_pages: list[int] = []
    letters = 0
    try:
        count = len(document)
        if document.get_formtype():
            document.init_forms()
        for number in range(min(count, MAX_PAGES)):
            if time.process_time() > deadline or letters > MAX_CHARS:
                break
            try:
                pages.append(read_page(document, number))
            except pypdfium2.PdfiumError:
                broken_pages.append(number + 1)
                pages.append(Page([], [], 0.0))
            letters += sum(len(run.text) for run in pages[-1].runs)
        info = {key: value.strip() for key, value in document.get_metadata_dict().items() if value.strip()}
    except pypdfium2.PdfiumError as error:
        raise Unreadable(f"it cannot be read as a PDF: {error}") from error
    finally:
        document.close()
    text = lay_out(pages)
    notes = [f"only the first {len(pages):,} of {count:,} pages were read"] if len(pages) < count else []
    notes += [f"page {number} is broken and was not read" for number in broken_pages]
    title = info.get("Title", "")
    # Publishers put the article's own DOI here; one in the body may be that of a cited work.
    doi = next((v for k, v in info.items() if "doi" in k.lower()), "") or info.get("Subject", "")
    return replace(
        text,
        title=("" if _NO_TITLE.search(title) else title)[:TITLE_CHARS] or text.title,
        authors=tuple(a.strip() for a in re.split(r"[;,]| and ", info.get("Author", "")) if a.strip()),
        meta={"doi": doi} if "10." in doi else {},
        cut="; ".join(filter(None, (*notes, text.cut))),
    )


def lay_out(pages: Sequence[Page]) -> Text:
    """Return the text of pages by the places of their words, with the title they print. Raises NoText."""
    body = _body_size(pages)
    apart: defaultdict[str, list[str]] = defaultdict(list)
    edge_blocks = _take_edges(pages, apart)
    for page in pages:
        _take_line_numbers(page, apart)
    gutter_counts = Counter(place for page in pages for place in gutters_of(page.runs))
    gutters = [place for place, count in gutter_counts.most_common(3) if count >= len(pages) / 5]
    blocks = [
        replace(block, page=number)
        for number, page in enumerate(pages)
        for block in (*edge_blocks[number], *blocks_of(page, body, gutters))
    ]
    mark_parts(blocks, body)
    hyphens = Hyphens(run.text for page in pages for run in page.runs)
    text, starts = _assemble(blocks, len(pages), hyphens, apart)
    text, too_long = tidy(text)
    if not text:
        raise NoText("there is no text in it")
    return Text(
        text,
        _printed_title(blocks, body, hyphens),
        cut=too_long,
        pages=tuple(min(start, len(text)) for start in starts),
        apart={kind: "\n".join(lines) for kind, lines in apart.items()},
    )


def _body_size(pages: Iterable[Page]) -> float:
    """Return the size of most letters of running text; those of programs count where there are no others."""
    sizes: defaultdict[float, float] = defaultdict(float)
    for page in pages:
        for run in page.runs:
            sizes[round(run.size, 1)] += len(run.text) / (1 if run.fixed < 0.5 else 1000)
    return max(sizes, key=lambda size: sizes[size], default=10.0)


def _take_edges(pages: Sequence[Page], apart: Mapping[str, list[str]]) -> list[list[Block]]:
    """Take running heads, feet and page numbers off the pages, and return the first of each."""
    edges = [_edges(page) for page in pages]
    forms = [{form for row in rows for form in _forms(row, number)} for number, rows in enumerate(edges)]
    seen: set[tuple[str, int]] = set()
    edge_blocks: list[list[Block]] = [[] for _ in pages]
    for number, (page, rows) in enumerate(zip(pages, edges, strict=True)):
        neighbours = range(max(0, number - NEAR_PAGES), min(len(pages), number + NEAR_PAGES + 1))
        neighbour_forms = {form for n in neighbours if n != number for form in forms[n]}
        for row in rows:
            text = " ".join(run.text for run in row)
            repeats = {form for form in _forms(row, number) if form in neighbour_forms}
            is_number = any(form.lstrip("#-").isdigit() for form, _ in repeats)  # a number apart, of the page
            is_alone = re.fullmatch(r"[\s\-\u2013|]*(?:\d{1,4}|[ivxlc]{1,6})[\s\-\u2013|]*", text)
            if not repeats and not is_alone:
                continue
            if is_alone or is_number or repeats & seen or not any(map(str.isalpha, text)):
                apart[Kind.EDGE.value].append(text)
            else:
                edge_blocks[number].append(Block(Kind.NOTE, [Line(row)]))
            page.take(row)
            seen |= repeats
    return edge_blocks


def _edges(page: Page) -> list[list[Run]]:
    """Return the rows at the top and at the foot of a page that may be running ones."""
    rows = rows_of([run for run in page.runs if not run.rotated])
    head_rows = [row for row in rows[:EDGE_ROWS] if row[0].base >= (1 - EDGE_SHARE) * page.height]
    foot_rows = [row for row in rows[-EDGE_ROWS:] if row[0].base <= EDGE_SHARE * page.height]
    return [*head_rows, *(row for row in foot_rows if row not in head_rows)]


def _forms(row: Sequence[Run], page: int) -> Iterator[tuple[str, int]]:
    """Yield a row and its height: as it stands, and each number as its distance from the page's."""
    text, height = " ".join(run.text for run in row), round(row[0].base / 3)
    for step in (height, height + 1):
        if sum(map(str.isalpha, text)) > 2:
            yield text, step
        for run in row:
            if _NUMBER.fullmatch(run.text):
                yield f"#{int(run.text) - page}", step
        for match in _NUMBER.finditer(text):
            yield f"{text[: match.start()]}#{int(match.group()) - page}{text[match.end() :]}", step


def _take_line_numbers(page: Page, apart: Mapping[str, list[str]]) -> None:
    """Take the numbers of the lines off a page: they stand below each other beside the text and count up."""
    numbers = [run for run in page.runs if _NUMBER.fullmatch(run.text) and not run.rotated]
    texts = [run for run in page.runs if len(run.text) > MIN_TEXT_CHARS and not run.rotated]
    if len(numbers) < MIN_LINE_NUMBERS or not texts:
        return
    left, right = min(run.left for run in texts), max(run.right for run in texts)
    sides = ([n for n in numbers if n.right < left], [n for n in numbers if n.left > right])
    for side in (side for side in sides if len(side) >= MIN_LINE_NUMBERS):
        side.sort(key=lambda run: -run.base)
        steps = Counter(int(low.text) - int(high.text) for high, low in pairwise(side))
        step, count = steps.most_common(1)[0]
        if 1 <= step <= 10 and count >= 0.8 * (len(side) - 1) and _count_lines(side, texts):
            apart[Kind.LINE_NUMBERS.value] += [run.text for run in side]
            page.take(side)


def _count_lines(numbers: Sequence[Run], texts: Sequence[Run]) -> bool:
    """Tell whether numbers count lines and not the items of a list, of which each begins a sentence."""
    bases = [number.base for number in numbers]
    neighbours = [text for text in texts if any(abs(text.base - base) < 0.5 * text.size for base in bases)]
    lower_count = sum(text.text[:1].islower() for text in neighbours)
    return len(numbers) > MANY_LINE_NUMBERS or lower_count >= len(neighbours) / 4


class Hyphens:
    """The hyphens at the ends of lines, by the words of their document and of the bundled vocabulary."""

    def __init__(self, runs: Iterable[str]) -> None:
        self._runs = list(runs)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(_without_ligatures(" | ".join(self._runs)).lower()))

    def join(self, text: str, line: str) -> str:
        """Return two lines as one. A hyphen stays before a digit, a capital and in a word that has one."""
        if text.endswith(_IN_ADDRESS) and ADDRESS.search(text) and not line[:1].isspace():
            return f"{text.removesuffix(HYPHEN)}{'-' if text.endswith(HYPHEN) else ''}{line}"
        if text.endswith("/") and _FOLDER.search(text) and "/" in line.split(" ", 1)[0]:
            return text + line
        if not text.endswith(("-", HYPHEN)) or text[-2:-1].isspace():
            return f"{text}{'' if _is_unspaced(text[-1:]) and _is_unspaced(line[:1]) else ' '}{line}"
        head = text[:-1]
        before, after = _LAST_PART.search(text), _FIRST_PART.match(line)
        if before is None or after is None or not line[:1].islower():
            # "IL-" and "6", "anti-" and "PD-1", "12-" and "week"
            return f"{head}-{line}"
        if re.match(r"(?:and|or|und|oder)\b", line):
            return f"{head}- {line}"
        first, second = before[1].lower(), after[0].lower().split("-")[0]
        return f"{head}{line}" if self._is_one_word(first, second) else f"{head}-{line}"

    def _is_one_word(self, first: str, second: str) -> bool:
        if first + second in self._words:
            return True
        if f"{first}-{second}" in self._words:
            return False
        words = _vocabulary()
        return first + second in words or not (first in words and second in words)


def _is_unspaced(character: str) -> bool:
    """Tell whether no blank stands beside a character; of the signs of East Asia beside none."""
    return bool(_WIDE_SIGN.match(character)) or (character != "" and is_unspaced(character))


def _without_ligatures(text: str) -> str:
    """Return a text with the letters of a ligature by themselves, and with plain blanks."""
    return _TIE.sub(lambda tie: _TIES[tie[0]], text)


def join_lines(lines: Sequence[Line], hyphens: Hyphens, *, as_is: bool) -> str:
    """Return the text of lines, in one where they are a paragraph."""
    texts = [_without_ligatures(line.text) for line in lines]
    if as_is:
        steps = [above.base - line.base for above, line in pairwise(lines)]
        usual_step = median_low([*steps, 1.4 * lines[0].size])
        ends = ["\n\n" if step > 1.6 * usual_step else "\n" for step in steps]
        return "".join(map("".join, zip(texts, [*ends, ""], strict=True))).replace(HYPHEN, "-")
    text = texts[0]
    for following in texts[1:]:
        text = hyphens.join(text, following)
    return text[:-1].replace(HYPHEN, "-") + text[-1:]


@cache
def _vocabulary() -> frozenset[str]:
    """Words of English that the encoder knows whole."""
    pieces = resources.files("activities.text") / "pieces.txt"
    words = pieces.read_text(encoding="utf-8").split("\n")
    return frozenset(word for word in words if len(word) > 1 and word.isalpha())


def _assemble(
    blocks: Sequence[Block], pages: int, hyphens: Hyphens, apart: Mapping[str, list[str]]
) -> tuple[str, list[int]]:
    """Return the text of the blocks, with what is no text put `apart`, and where each page begins in it."""
    text = ""
    starts: dict[int, int] = {}
    for block, separator in _order_blocks(blocks, apart):
        words = "\n".join(block.rows) or join_lines(block.lines, hyphens, as_is=block.kind is Kind.CODE)
        if words:
            prefix = separator if text else ""
            text = hyphens.join(text, words) if separator == " " else f"{text}{prefix}{words}"
            starts.setdefault(block.page, len(text) - len(words))
    offsets = [len(text)]
    for number in reversed(range(pages)):
        offsets.append(min(offsets[-1], starts.get(number, offsets[-1])))
    return text, offsets[:0:-1]


def _order_blocks(blocks: Iterable[Block], apart: Mapping[str, list[str]]) -> list[tuple[Block, str]]:
    """Return blocks as they are read, each with what stands before it; those that are no text go `apart`."""
    sequence: list[tuple[Block, str]] = []
    pending: list[tuple[Block, str]] = []
    """Those that stand in the midst of a paragraph, where it may go on behind them."""
    paragraph: Block | None = None
    """The last block, where it may go on."""
    program: Block | None = None
    """The block before, where it is of a program, which may go on in the next page."""
    has_formula = False
    for block in blocks:
        if block.kind in _APART:
            apart[block.kind.value] += [line.text.replace(HYPHEN, "-") for line in block.lines]
            has_formula = has_formula or block.kind is Kind.FORMULA
            continue
        if paragraph and not paragraph.last.text.endswith(COLONS) and _is_inline(block):
            sequence.append((block, " "))
            continue
        is_code = block.kind is Kind.CODE
        continues = is_code and program is not None and program.page != block.page
        program = block if is_code else None
        separator = "\n" if continues else "\n\n"
        if continues and not pending:
            sequence.append((block, separator))
            continue
        if paragraph and (block.kind in _BETWEEN or _is_beside(paragraph, block)):
            pending.append((block, separator))
            continue
        if paragraph and _continues(paragraph, block) and not _is_shown_by(paragraph, pending):
            inline_blocks = [*takewhile(_is_inline, (pending_block for pending_block, _ in pending)), block]
            del pending[: len(inline_blocks) - 1]
            gaps = [f" {FORMULA} " if has_formula else " ", *" " * (len(inline_blocks) - 1)]
            sequence += zip(inline_blocks, gaps, strict=True)
        else:
            sequence += [*pending, (block, separator)]
            pending.clear()
        has_formula = False
        paragraph = block if block.kind is Kind.PROSE and not STOP.search(block.last.text) else None
        if paragraph is None:
            sequence += pending
            pending.clear()
    return sequence + pending


def _is_inline(block: Block) -> bool:
    """Tell whether a block is of so few lines of a program that a sentence goes on with them."""
    return block.kind is Kind.CODE and len(block.lines) <= MAX_INLINE_LINES


def _is_shown_by(paragraph: Block, blocks: Iterable[tuple[Block, str]]) -> bool:
    """Tell whether a paragraph ends with a colon before a program or a table, behind which another begins."""
    return paragraph.last.text.endswith(COLONS) and any(
        block.kind in (Kind.CODE, Kind.TABLE) and not _is_inline(block) for block, _ in blocks
    )


def _is_beside(before: Block, block: Block) -> bool:
    """Tell whether a block is of few words set apart below a paragraph, as the names beside a table are."""
    return (
        block.kind is Kind.PROSE
        and sum(len(line.text.split()) for line in block.lines) < MAX_APART_WORDS
        and block.first.base < before.last.base
        and block.first.left > before.first.left + 3 * block.first.size
        and not STOP.search(block.last.text)
    )


def _continues(before: Block, block: Block) -> bool:
    """Tell whether a block goes on with a paragraph that was parted by a formula, a column or a page."""
    if block.kind is not Kind.PROSE or not block.first.is_like(before.last):
        return False
    is_row = block.first.has_gap and (before.last.has_gap or before.last.text.endswith(COLONS))
    if is_row or is_row_below(before.last, block.first):
        return False
    words = block.first.text.lstrip("(\u201c\"'")
    if words[:1].islower() or before.last.text.endswith((HYPHEN, "-")):
        return True
    has_moved = block.page != before.page or block.first.base > before.last.base
    is_full = before.last.right > before.right - 2 * before.last.size
    return has_moved and is_full and len(before.lines) > 1 and not before.last.text.endswith(":")


def _printed_title(blocks: Sequence[Block], body: float, hyphens: Hyphens) -> str:
    """Return the text in the largest letters of the first page, where these are larger than most."""
    candidates = [b for b in blocks if b.page == 0 and b.kind in (Kind.HEADING, Kind.PROSE)]
    largest = max(candidates, key=lambda block: round(block.first.size, 1), default=None)
    if largest is None or largest.first.size < LARGER * body:
        return ""
    title = join_lines(largest.lines, hyphens, as_is=False)
    letters = sum(map(str.isalpha, title))
    return title if " " in title and letters >= TITLE_LETTERS and len(title) <= TITLE_CHARS else ""
