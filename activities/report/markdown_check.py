"""Check any Markdown report: do its citations and its references match?

Nothing is looked up: what is checked is in the text. A reference is a numbered entry under a heading such as
"References", a footnote definition (`[^1]: ...`) or a link definition (`[1]: ...`). A citation is `[1]`,
`[1, 3-5]`, `[^1]` or a link whose text is a number, anywhere outside that list.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from activities.contracts.evidence import Frozen, Statement
from activities.contracts.identifiers import normal_doi, normal_nct, normal_pmcid, normal_pmid, normal_url

_HEADING = re.compile(
    r"^(?:\d+[.)]?\s*)?(?:references?|bibliography|works cited|sources|literature(?: cited)?|citations|notes"
    r"|footnotes|reference list)\W*$",
    re.IGNORECASE,
)
_MARK = re.compile(r"\[(\^?\d{1,4}(?:\s*[-\u2010-\u2015,;]\s*\^?\d{1,4})*)\]")
_BEGINS = re.compile(r"^\s*\[?\^?(\d{1,4})(?:\](?:\s*[:.])?|[.)])\s+(?=\S)")
"""`[3] Doe`, `3. Doe` at the beginning of an entry that is no list item of Markdown."""
_FOOTNOTE = re.compile(r"^ {0,3}\[\^(\d{1,4})\]:[ \t]*(.*)$", re.MULTILINE)
_LINK_DEFINITION = re.compile(r"^ {0,3}\[(\d{1,4})\]:[ \t]*(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+).*?^ {0,3}\1", re.MULTILINE | re.DOTALL)
_INTERVAL = re.compile(r"\b(?:CI|CrI|IQR|intervals?|ranges?)\W*$", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\]+", re.IGNORECASE)
_PMID = re.compile(r"\bPMID(?:\s*[:#])?\s*(\w*\d\w*(?:\s*,\s*\w*\d\w*)*)", re.IGNORECASE)
_PMID_ADDRESS = re.compile(
    r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/([^\s/?#)\]>\"]+)", re.IGNORECASE
)
_DOI_NAMED = re.compile(
    r"(?:\bdoi\s*[:=]\s*|(?<!\w)(?:dx\.)?doi\.org/|\bDOI\s+(?=10))([^\s)\]>\"|]+)", re.IGNORECASE
)
_SHORT_DOI = re.compile(r"(?<![\d./])10\.\d{1,3}/[^\s)\]>\"]+")
_NCT = re.compile(r"\bNCT\s?\d+\b", re.IGNORECASE)
_PMC = re.compile(r"\bPMC\s?:?\s?\w*\d\w*", re.IGNORECASE)
_ARXIV = re.compile(r"\barXiv:\s*([^\s)\]>,;\"]+)", re.IGNORECASE)
_ARXIV_FORM = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?\.?$", re.IGNORECASE)
INTERVAL_CHARS = 40
"""Before a mark, in which the word stands that makes it an interval."""
MAX_RANGE = 1_000
"""Numbers of `[1-900]` that are read one by one."""
FIRST_YEAR = 1_000
"""From here on a number in brackets may be a year: it is a reference where the list has it."""
LINK = "\x01"
"""Stands before an address that a reference links to; no text that was read has it."""
MAX_PMID_DIGITS = 8
"""PubMed's largest number had eight digits in 2025 (https://pubmed.ncbi.nlm.nih.gov/help/)."""


class MarkdownCheck(Frozen):
    references: int
    citations: int
    problems: tuple[Statement, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.problems


@dataclass(slots=True)
class _Text:
    entries: list[tuple[int, str]] = field(default_factory=list)
    """Number and text (addresses included) of each reference."""
    cited: list[tuple[int, ...]] = field(default_factory=list)
    """The numbers of each mark, in order."""


def check_markdown(text: str) -> MarkdownCheck:
    """Check the citations, the numbering, the addresses and the identifiers of a report."""
    content = _read(text)
    listed = {number for number, _ in content.entries}
    entries = [(n, text) for n, text in content.entries if n < FIRST_YEAR or n - 1 in listed]
    numbers = [number for number, _ in entries]
    listed = set(numbers)
    marks = [mark for mark in content.cited if all(n < FIRST_YEAR or n in listed for n in mark)]
    cited = set().union(*marks) if marks else set[int]()
    repeated = [n for n, times in Counter(numbers).items() if times > 1]
    missing = sorted(set(range(1, max(numbers, default=0) + 1)) - listed)
    problems = [
        *(Statement.of("reference_number_repeated", number=n) for n in repeated),
        *(Statement.of("reference_number_missing", number=n) for n in missing),
        *(Statement.of("reference_never_cited", number=n) for n in dict.fromkeys(numbers) if n not in cited),
        *(Statement.of("citation_without_reference", number=n) for n in sorted(cited) if n not in listed),
        *_duplicates(entries),
        *_malformed(text),
    ]
    return MarkdownCheck(references=len(entries), citations=len(marks), problems=tuple(problems))


def _read(text: str) -> _Text:
    content = _Text()
    text = text.replace(LINK, "")
    plain = _FENCE.sub("", text)
    for pattern in (_FOOTNOTE, _LINK_DEFINITION):
        content.entries += [
            (int(m[1]), _ADDRESS.sub(lambda a: f" {LINK}{a[0]} ", m[2])) for m in pattern.finditer(plain)
        ]
    # Definitions would be read as links or paragraphs: they are entries already.
    text = _LINK_DEFINITION.sub("", _FOOTNOTE.sub("", text))
    # `text_join` would make an escaped bracket look like one that was typed bare.
    tokens = MarkdownIt("commonmark").enable("table").disable("text_join").parse(text)
    level = 0
    number = 0
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            depth, title = int(token.tag[1]), tokens[place + 1].content
            if _HEADING.match(title.strip("* _")):
                level = depth
            elif level and depth <= level:
                level = 0
        elif token.type == "list_item_open":
            number = int(token.info) if token.info.isdigit() else 0
        elif token.type == "list_item_close":
            number = 0
        elif token.type == "inline" and tokens[place - 1].type != "heading_open":
            if level:
                content.entries += _entries(token, number)
                number = 0
            else:
                _collect(token.children or (), content)
    return content


def _entries(token: Token, number: int) -> Iterator[tuple[int, str]]:
    """The references in a block of the list: a list item, or lines that each begin with a number. Where there
    are links, an address in the text is part of a title."""
    children = token.children or []
    shown = "".join(_with_addresses(children))
    if not any(child.type == "link_open" for child in children):
        shown = _ADDRESS.sub(lambda m: f" {LINK}{m[0]} ", shown)
    if number:
        yield number, shown
        return
    current: tuple[int, str] | None = None
    for line in shown.split("\n"):
        begins = _BEGINS.match(line)
        if begins:
            if current:
                yield current
            current = (int(begins[1]), line[begins.end() :])
        elif current:
            current = (current[0], f"{current[1]} {line}")
    if current:
        yield current


def _with_addresses(children: Sequence[Token]) -> Iterator[str]:
    for child in children:
        if child.type == "link_open":
            yield f" {LINK}{child.attrGet('href')} "
        elif child.type in ("softbreak", "hardbreak"):
            yield "\n"
        else:
            yield child.content


def _collect(children: Sequence[Token], content: _Text) -> None:
    """Count the citations of a block. Escaped brackets are no citations, nor is code."""
    run = "".join(
        child.content if child.type == "text" else "\n" if child.type.endswith("break") else "\0"
        for child in children
    )
    for mark in _MARK.finditer(run):
        if not _INTERVAL.search(run[max(0, mark.start() - INTERVAL_CHARS) : mark.start()]):
            _cite(mark[1], content)
    for place, child in enumerate(children[:-2]):
        if child.type == "link_open" and children[place + 2].type == "link_close":
            label = children[place + 1].content.strip("[]^ ")
            if label.isdigit() and len(label) <= 4:
                _cite(label, content)


def _cite(mark: str, content: _Text) -> None:
    """`1, 3-5` as its numbers; what names reference 0 is an interval or an array."""
    numbers: list[int] = []
    for part in re.split(r"[,;]", mark.replace("^", "")):
        ends = [int(n) for n in re.split(r"[-\u2010-\u2015]", part)]
        counts_up = ends[0] <= ends[-1] < ends[0] + MAX_RANGE
        numbers += range(ends[0], ends[-1] + 1) if counts_up else ends
    if 0 not in numbers:
        content.cited.append(tuple(numbers))


def _duplicates(entries: Iterable[tuple[int, str]]) -> Iterator[Statement]:
    """Addresses and identifiers that stand under several numbers."""
    under: dict[str, list[int]] = {}
    for number, text in entries:
        for name in _names(text):
            numbers = under.setdefault(name, [])
            if number not in numbers:
                numbers.append(number)
    reported: set[tuple[int, ...]] = set()
    for name, numbers in under.items():
        if len(numbers) > 1 and tuple(numbers) not in reported:
            reported.add(tuple(numbers))
            yield Statement.of(
                "address_under_several_numbers", address=name, numbers=tuple(map(str, numbers))
            )


def _names(text: str) -> list[str]:
    """What a reference is found by: normalised addresses, and identifiers as such and in addresses."""
    linked = [address for part in text.split(LINK)[1:] for address in part.split()[:1]]
    names = [url for address in linked if (url := normal_url(address.rstrip(".,;)")))]
    names += [f"doi:{doi}" for m in _DOI_NAMED.finditer(text) if (doi := normal_doi(m[1]))]
    for match in (*_PMID.finditer(text), *_PMID_ADDRESS.finditer(text)):
        if pmid := normal_pmid(match[1].strip(" .,")):
            names.append(f"pmid:{pmid}")
    return list(dict.fromkeys(names))


def _malformed(text: str) -> list[Statement]:
    """Identifiers that cannot be any work's."""
    text = _FENCE.sub("", text).replace("\\", "")
    wrong: list[tuple[str, str]] = []
    for match in _PMID.finditer(text):
        for part in re.split(r"[,\s]+", match[1].strip(" .,")):
            value = part.strip(".,")
            if any(map(str.isdigit, value)) and not _is_pmid(value):
                wrong.append(("PMID", value))
    wrong += [("PMID", m[1]) for m in _PMID_ADDRESS.finditer(text) if not _is_pmid(m[1])]
    wrong += [("DOI", m[1]) for m in _DOI_NAMED.finditer(text) if not normal_doi(unquote(m[1]))]
    wrong += [("DOI", m[0]) for m in _SHORT_DOI.finditer(text)]
    wrong += [("NCT", m[0]) for m in _NCT.finditer(text) if normal_nct(m[0]) != m[0].upper()]
    wrong += [("PMC", m[0]) for m in _PMC.finditer(text) if not normal_pmcid(re.sub(r"[\s:]", "", m[0]))]
    wrong += [("arXiv", m[1]) for m in _ARXIV.finditer(text) if not _ARXIV_FORM.match(m[1])]
    return [
        Statement.of("identifier_malformed", kind=kind, value=value) for kind, value in dict.fromkeys(wrong)
    ]


def _is_pmid(value: str) -> bool:
    return value.isdigit() and len(value.lstrip("0")) in range(1, MAX_PMID_DIGITS + 1)
