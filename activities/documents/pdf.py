"""The text of a PDF: without running heads and feet, with the rows of its tables, its title found by size."""

import io
import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from activities.documents import pdf_tables
from activities.documents.text import MAX_CHARS, TITLE_CHARS, NoText, Text, Unreadable, from_pages

MAX_PAGES = 2_000
PDF_SECONDS = 12.0
"""Seconds after which no further page of a PDF is read; the pages read are kept."""
TITLE_LETTERS, WORD_LETTERS = 10, 4
"""Letters that a printed title, and that any text in large letters, has at least; a page number has fewer."""
EDGE_LINES, SHARE_OF_PAGES = 2, 1 / 3
"""Lines at the top and the foot of a page that may be a running one, and on how many of the pages it stands:
left and right pages may have different ones."""
LARGER = 1.15
"""How much larger than the rest of its page a title is printed at least."""


def read_pdf(data: bytes, seconds: float = PDF_SECONDS) -> Text:
    """The text of a PDF, a blank line between pages, as far as it can be read in `seconds`. A scan without a
    text layer is Unreadable."""
    # these readers work in processes of their own, which import what they need
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("it is locked with a password")  # noqa: TRY301 - passed on below
        pages: list[str] = []
        chars = 0
        began = time.monotonic()
        count = len(reader.pages)
        printed = _Sizes()
        for page in reader.pages[:MAX_PAGES]:
            words = page.extract_text(visitor_text=None if pages else printed.add)
            pages.append(words)
            chars += len(words)
            if chars > MAX_CHARS or time.monotonic() - began > seconds:
                break
        pdf_tables.read_rows(reader.pages, pages, began + seconds * pdf_tables.SHARE_OF_TIME)
        # a word that is hyphenated at the end of a printed line can be found and quoted whole
        pages = [re.sub(r"(?<=[a-z])-\n(?=[a-z]{2})", "", page) for page in _without_repeated_edges(pages)]
        info = {str(k): str(v) for k, v in (reader.metadata or {}).items() if v is not None}
    except Unreadable:
        raise
    except (PyPdfError, *pdf_tables.BROKEN) as error:
        raise Unreadable(f"it cannot be read as a PDF: {type(error).__name__} {error}") from error
    cut = f"only the first {len(pages):,} of {count:,} pages were read" if len(pages) < count else ""
    if not any(page.strip() for page in pages):
        raise NoText("there is no text in it")
    title = info.get("/Title", "").strip()
    if re.search(r"\.(docx?|tex|indd|pdf|qxd)\b|^untitled|^microsoft word", title, re.IGNORECASE):
        title = ""
    title = title or printed.title()
    authors = tuple(a.strip() for a in re.split(r"[;,]| and ", info.get("/Author", "")) if a.strip())
    # Publishers put the article's own DOI here; one in the body may be that of a cited work.
    doi = next((v for k, v in info.items() if "doi" in k.lower()), "") or info.get("/Subject", "")
    meta = {"doi": doi} if "10." in doi else {}
    return from_pages(pages, title=title, authors=authors, meta=meta, cut=cut)


def _without_repeated_edges(pages: Sequence[str]) -> Iterator[str]:
    """Pages without the running heads and feet that repeat those of an earlier page, but for the number of
    the page: they would stand in the midst of sentences, or over them as their heading. A row of a table
    stays."""
    edges = [_edges(page.split("\n")) for page in pages]
    forms = [
        {form for line in lines.values() for form in _but_for_number(line, number)}
        for number, lines in enumerate(edges)
    ]
    shown = Counter(form for page in forms for form in page)
    least = max(2, math.ceil(len(pages) * SHARE_OF_PAGES))
    before = set[str]()
    for number, (page, lines) in enumerate(zip(pages, edges, strict=True)):
        running = {
            place: again
            for place, line in lines.items()
            if (again := {form for form in _but_for_number(line, number) if shown[form] >= least})
        }
        dropped = {place for place, again in running.items() if again & before}
        yield "\n".join(line for place, line in enumerate(page.split("\n")) if place not in dropped)
        before.update(*running.values())


def _edges(lines: Sequence[str]) -> dict[int, str]:
    """The first and the last lines of a page by their places."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    places = {*filled[:EDGE_LINES], *filled[-EDGE_LINES:]}
    return {place: " ".join(lines[place].split()) for place in sorted(places) if " | " not in lines[place]}


def _but_for_number(line: str, page: int) -> Iterator[str]:
    """A line as it stands, and with each number in it as its distance from the number of the page."""
    if any(map(str.isalpha, line)):
        yield line
    for match in re.finditer(r"\d{1,5}", line):
        yield f"{line[: match.start()]}#{int(match.group()) - page}{line[match.end() :]}"


class _Sizes:
    """The text of a page by the size of its letters, as pypdf visits it: a PDF that does not name its title
    prints it larger than the rest of its first page."""

    def __init__(self) -> None:
        self._runs: list[tuple[float, str]] = []

    def add(
        self, text: str, page: Sequence[float], line: Sequence[float], font: object, size: float | None
    ) -> None:
        """A piece of text with pypdf's transformations of the page and the line."""
        height = round((size or 0.0) * math.hypot(line[2], line[3]) * math.hypot(page[2], page[3]), 1)
        if self._runs and (self._runs[-1][0] == height or not text.strip()):
            self._runs[-1] = (self._runs[-1][0], self._runs[-1][1] + text)
        elif text.strip():
            self._runs.append((height, text))

    def title(self) -> str:
        """The first text in the largest letters, where these are larger than most and it reads as a title;
        else empty."""
        runs = [(height, " ".join(text.split())) for height, text in self._runs]
        words = [(height, text) for height, text in runs if sum(map(str.isalpha, text)) >= WORD_LETTERS]
        if not words:
            return ""
        largest, line = max(words, key=lambda run: run[0])
        smaller = sum(len(text) for height, text in runs if height * LARGER <= largest)
        reads = " " in line and TITLE_LETTERS <= len(line) <= TITLE_CHARS
        return line if reads and smaller > len(line) else ""
