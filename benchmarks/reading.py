"""How well the PDFs of a folder are read, against the words that poppler's `pdftotext -layout` finds.

    python -m benchmarks.reading DIR

One row a file: pages that were read, words that are lacking or glued to others, statements that are cut at
the end of a line, and processor time a page. A word that is parted by a hyphen at the end of a line
counts as whole on both sides; what is kept apart from running text counts as read. Exits 1 where a file is
beyond the limits below or has a page that was not read.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from activities.contracts.evidence import Evidence
from activities.documents.pdf import read_pdf
from activities.documents.text import NoText, Text, Unreadable
from activities.text.sentences import sentences

MAX_LACKING, MAX_CUT = 0.005, 0.02
_RAISED = re.compile("([\u00b2\u00b3\u00b9\u2070-\u208e]+)")
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_COUNTED = re.compile(rf"[{_UNSPACED}]|[^\W\d_]{{3,}}|\d{{2,}}")
"""A word, a character that is written without blanks, or a number; poppler and PDFium part the symbols of
formulas in their own ways."""
_DOTLESS = re.compile("\u0131(?=[\u0300-\u036f])")
"""A letter under an accent of TeX."""
_PARTED = re.compile(r"[^\W_]+(?=[-\u2010\u00ad]\s)|(?<![^\W_])[^\W\d_a-z](?= [^\W\d_a-z]{2})")
"""The first part of a word that is parted at the end of a line, or behind its large letter in small ones."""
_TEX_LIGATURES = {0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi", 0x1F: "ffl"}
"""What poppler leaves as control characters where a font of TeX does not name its ligatures."""
_STOPPED = re.compile(r"[.!?:;\u3002\uff01\uff0e\uff1f]\W*$")
_HEADING = re.compile(r"(?![a-z])\S+(?: \S+){0,6}")
"""A line of few words that begins as no sentence goes on; below one a name in small letters may begin."""


@dataclass(frozen=True)
class Row:
    name: str
    pages: int
    of_pages: int
    words: int
    lacking: int
    statements: int
    cut: int
    seconds: float
    examples: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        return (
            self.pages == self.of_pages
            and self.lacking <= MAX_LACKING * self.words
            and self.cut <= MAX_CUT * max(self.statements, 1)
        )


def lacking_words(expected: str, read: str) -> Counter[str]:
    """Return the words of a text that another lacks, however they are parted at the ends of lines."""
    parted = {match.casefold() for match in _PARTED.findall(_plain(expected))}
    wanted, present = _tokens(expected), _tokens(read)
    lacking, more = wanted - present, present - wanted
    _match_parts(more, lacking, lambda first, _: first in parted)
    _match_parts(lacking, more, lambda _, second: second[-1].isdigit())  # an exponent beside its number
    for word in list(lacking):  # in angle brackets, which poppler reads as letters in a font of TeX
        bare = word.removeprefix("h")
        for other in {bare, word.removesuffix("i"), bare.removesuffix("i")}:
            shared = min(lacking[word], more[other])
            lacking[word] -= shared
            more[other] -= shared
    return Counter({word: count for word, count in lacking.items() if count > 0 and _COUNTED.fullmatch(word)})


def _match_parts(words: Counter[str], parts: Counter[str], are_one: Callable[[str, str], bool]) -> None:
    """Take words off one side that stand in two parts on the other, and these."""
    for word in list(words):
        for place in range(1, len(word)):
            first, second = word[:place], word[place:]
            while words[word] and parts[first] and parts[second] and are_one(first, second):
                words[word] -= 1
                parts[first] -= 1
                parts[second] -= 1


def _plain(text: str) -> str:
    text = _DOTLESS.sub("i", text)
    return unicodedata.normalize("NFKC", _RAISED.sub(r" \1 ", text))


def _tokens(text: str) -> Counter[str]:
    return Counter(token.casefold() for token in _TOKEN.findall(_plain(text)))


def cut_statements(text: Text) -> tuple[int, list[str]]:
    """How many statements may be quoted as prose, and those that are cut: they begin in the middle of a
    sentence, or end at the end of a paragraph that goes on in the next."""
    document = Evidence(
        evidence_id="doc:1", source="library", title=text.title, text=text.text, evidence_type="document"
    )
    # lines that stay as they are belong to programs and tables
    every = sentences(document, short=True)
    prose = [o.quote for o in every if not o.is_row and "\n" not in o.quote]
    rows = [o.quote for o in every if o.is_row]
    cut = []
    for quote in prose:
        start = text.text.find(quote)
        before, after = text.text[:start], text.text[start + len(quote) :]
        begins_inside = (
            quote[:1].islower()
            and before.endswith("\n\n")
            and not _STOPPED.search(before[-20:])
            and not _HEADING.fullmatch(before.strip().rpartition("\n\n")[2])
        )
        goes_on = re.match(r"\W*\n\n[a-z]", after) and not _STOPPED.search(quote)
        if goes_on and any(row in after.lstrip().partition("\n\n")[0] for row in rows):
            continue  # a table stands in between
        if begins_inside or goes_on:
            cut.append(quote)
    return len(prose), cut


def measure(path: Path) -> Row:
    """Read one file twice, by poppler and by the product. Raises Unreadable."""
    found = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, check=True, text=True)
    expected = found.stdout.translate(_TEX_LIGATURES)
    began = time.process_time()
    try:
        text = read_pdf(path.read_bytes())
    except NoText as error:
        raise NoText if not _tokens(expected) else Unreadable(str(error)) from error
    seconds = time.process_time() - began
    missing = lacking_words(expected, "\n".join([text.text, *text.apart.values()]))
    statements, cut = cut_statements(text)
    pages = expected.count("\f")
    unread = re.search(r"only the first ([\d,]+) of", text.cut)
    return Row(
        path.name,
        int(unread[1].replace(",", "")) if unread else pages - text.cut.count("broken"),
        pages,
        sum(count for word, count in _tokens(expected).items() if _COUNTED.fullmatch(word)),
        missing.total(),
        statements,
        len(cut),
        seconds,
        (
            *(f"lacking: {word} ({count})" for word, count in missing.most_common(8)),
            *(f"cut: {c[:90]!r}" for c in cut[:8]),
        ),
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of PDFs")
    parser.add_argument(
        "--examples", action="store_true", help="show words that are lacking and statements that are cut"
    )
    options = parser.parse_args()
    if shutil.which("pdftotext") is None:
        print("pdftotext is missing; install poppler-utils", file=sys.stderr)
        return 2
    files = sorted(options.folder.rglob("*.pdf"))
    if not files:
        print(f"{options.folder} holds no PDF; name a folder of some", file=sys.stderr)
        return 2
    good = True
    print("| file | pages read | words lacking or glued | statements cut | ms a page |")
    print("|---|---|---|---|---|")
    for path in files:
        try:
            row = measure(path)
        except NoText:
            print(f"| {path.name} | rightly none: no words are in it | | | |")
            continue
        except Unreadable as error:
            print(f"| {path.name} | not read: {error} | | | |")
            good = False
            continue
        good = good and row.is_good
        print(
            f"| {row.name} | {row.pages} of {row.of_pages} | {row.lacking} of {row.words:,}"
            f" ({row.lacking / max(row.words, 1):.2%}) | {row.cut} of {row.statements:,}"
            f" ({row.cut / max(row.statements, 1):.1%}) | {1000 * row.seconds / max(row.pages, 1):.0f} |"
        )
        for example in row.examples if options.examples else ():
            print(f"    {example}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
