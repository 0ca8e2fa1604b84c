"""Sentences of a document, each with the exact run of text it stands in and the part of the work it is from.

Sentence ends come from `nupunkt` (a trained Punkt model inside the package); structured labels
(`RESULTS: ...`) and headings say which part of a work a sentence belongs to, cue phrases where there is none.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import nupunkt

from activities.models.extractive.words import terms
from activities.types import Evidence

Part = Literal["conclusion", "results", "plain", "background", "methods", "limitations"]

SHORTEST_QUOTE = 25
"""Characters of a quote after normalisation; a shorter one matches anywhere."""
LONGEST_SENTENCE = 600
"""Characters; longer runs are tables, lists or broken text."""
LONGEST_TEXT = 400_000
"""Characters of one document that are read."""

_BLANKS = re.compile(r"\s+")
_PLAIN = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'",
        "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u2033": '"', "\u00ab": '"', "\u00bb": '"',
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-", "\u2212": "-",
    }
)  # fmt: skip

_LABEL_AT = re.compile(
    r"(?:^|\n|(?<=[.!?)]\s))[ \t]*(?:#+[ \t]*|\*\*)?"
    r"(?P<label>[A-Z][A-Z][A-Z /&,()'-]{2,60}|(?:Background|Introduction|Context|Objectives?|Aims?|Purpose|Methods?|"
    r"Materials? and methods|Patients and methods|Design|Setting|Results?|Findings|Conclusions?|Discussion|"
    r"Interpretation|Limitations|Abstract|Summary|Case presentation|Case report|References|Funding|"
    r"Trial registration|Acknowledge?ments))(?:\*\*)?(?:[ \t]*:[ \t]*|[ \t]*(?=\n))",
)
_BLOCK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*\u2022]|\d+[.)])[ \t])|\r\n[ \t]*\r\n")
_JUNK = re.compile(
    r"(doi\s*[:.]|https?://|www\.|\bPMID\b|\bPMCID\b|\bISSN\b|\bISBN\b|all rights reserved|copyright|©|"
    r"\d{4};\s*\d+|\bet al\.?,? \d{4}[;.]|\bvol\.? \d+|\bpp?\. ?\d+|e-?mail|@\w+\.|^\s*\[?\d+[.\]])",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(in conclusion|in summary|to conclude|we conclude|conclude[sd]? that|(?:these|our|the|this|present) "
    r"(?:\w+ ){0,2}(?:results?|findings?|data|study|studies|evidence|analysis|observations?) (?:\w+ )?"
    r"(?:suggests?|indicates?|shows?|demonstrates?|supports?|confirms?|provides?|reveals?)|"
    r"should be (?:considered|recommended|used)|taken together|overall,)",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"(\bp\s*[<=>\u2264]\s*0?\.\d|\b95\s?%\s?(?:ci|confidence)|\bodds ratio|\bhazard ratio|\brelative risk|"
    r"\d+(?:\.\d+)?\s?%|\bsignificant(?:ly)?\b|\bwas associated\b|\bwere associated\b|\bcorrelat\w+)",
    re.IGNORECASE,
)
_INTENDS = re.compile(
    r"(^to (?:determine|evaluate|assess|investigate|examine|compare|study|analy[sz]e|describe|test|explore|"
    r"identify|report|review|estimate|consider|find|establish|measure)\b|\b(?:the )?(?:aim|purpose|objective|goal)s?"
    r" (?:of|was|were|is)\b|\bwe (?:aimed|sought|hypothesi[sz]ed|investigated|examined|evaluated|assessed|"
    r"wanted|set out)\b|\bthis (?:study|paper|article|review) (?:aims?|investigate[sd]?|examine[sd]?|"
    r"evaluate[sd]?|describes?|assesse[sd]|was designed|was undertaken|presents)|\b(?:has|have) not been "
    r"(?:studied|investigated|established|reported)|\bremains? (?:unclear|controversial|unknown))",
    re.IGNORECASE,
)
_PROCEEDS = re.compile(
    r"\b(were (?:randomi[sz]ed|randomly|recruited|enrolled|assigned|selected|collected|measured|recorded|"
    r"reviewed|invited|interviewed|obtained|performed|analy[sz]ed|included in)|was (?:performed|used to|"
    r"measured|conducted|carried out|collected)|we (?:searched|recruited|enrolled|collected|measured|"
    r"retrospectively|used|performed)|questionnaires? (?:was|were)|retrospective(?:ly)? (?:review|analysis))",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"^(?:in conclusion|in summary|to conclude|to summari[sz]e|in short|conclusions?|however|moreover|"
    r"furthermore|therefore|thus|hence|additionally|in addition|nevertheless|nonetheless|consequently|finally|"
    r"overall|as a result|on the other hand|in contrast|taken together|interestingly|notably|importantly)\s*[,:]\s+"
    r"|^(?:we|the authors) conclude that\s+|^it (?:is|was) concluded that\s+|^it can be concluded that\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and where it is from."""

    evidence_id: str
    quote: str
    """Verbatim run of the document's text."""
    text: str
    """The same for reading: white space folded, a leading connective dropped."""
    part: Part
    place: float
    """0 at the beginning of the document, 1 at its end."""
    terms: tuple[str, ...]
    """Comparison forms of its content words."""

    @property
    def term_set(self) -> frozenset[str]:
        return frozenset(self.terms)


def normal(text: str) -> str:
    """The normalisation of the quote check: NFKC, white space folded, quotes and dashes plain, case kept."""
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", text).translate(_PLAIN)).strip()


def part_of_label(label: str) -> Part | None:
    """Which part of a work a structured label or heading opens; None for parts that are never quoted."""
    name = label.casefold()
    rules: tuple[tuple[str, Part | None], ...] = (
        (r"referenc|acknowledg|funding|registration|conflict|disclosure|keywords|abbreviat|author", None),
        (r"limitation", "limitations"),
        (r"conclu|interpret|implication|discussion|summary|comment|significance|relevance", "conclusion"),
        (r"background", "background" if "result" not in name else "results"),
        (r"result|finding|observation", "results"),
        (r"method|design|setting|patient|participant|subject|material|intervention|measure|procedure|"
         r"population|sample|outcome|statistic|data|exposure|eligib|selection", "methods"),
        (r"introduc|context|rationale|objective|aim|purpose|hypothes|question|importance|goal", "background"),
    )  # fmt: skip
    for pattern, part in rules:
        if re.search(pattern, name):
            return part
    return "plain"


def part_by_cue(text: str, place: float, last: bool) -> Part:
    """The part an unlabelled sentence most likely belongs to."""
    if _CONCLUDES.search(text):
        return "conclusion"
    if _INTENDS.search(text):
        return "background"
    if _REPORTS.search(text):
        return "results"
    if _PROCEEDS.search(text):
        return "methods"
    if last and place > 0.6:
        return "conclusion"
    return "plain"


def readable(text: str) -> str:
    """A sentence for the reader: one line, no leading connective, a capital first and a stop last."""
    text = _BLANKS.sub(" ", text).strip(" \t\n*#-\u2022")
    shorter = _LEADS.sub("", text, count=1)
    if shorter and shorter != text:
        first = shorter.split(" ", 1)[0]
        text = shorter[0].upper() + shorter[1:] if first.islower() else shorter
    if text and text[-1] not in ".!?":
        text = text.rstrip(" ,;:") + "."
    return text


def quotable(quote: str) -> bool:
    """True for a statement that can stand alone: a whole sentence, not a question, heading or citation line."""
    plain = normal(quote)
    words = plain.split()
    return (
        SHORTEST_QUOTE <= len(plain) <= LONGEST_SENTENCE
        and len(words) >= 6
        and not plain.endswith(("?", ":", "..."))
        and plain[0] not in ",;)]}"
        and not _JUNK.search(plain)
        and sum(c.isalpha() for c in plain) > 0.5 * len(plain)
        and plain.upper() != plain
    )


@lru_cache(maxsize=512)
def split(evidence_id: str, text: str, full_text: bool = False) -> tuple[Sentence, ...]:
    """The quotable sentences of a text, in order. Kept for the texts seen last, since every step of a loop
    reads the same documents."""
    text = text[:LONGEST_TEXT]
    whole = normal(text)
    found: list[Sentence] = []
    size = max(len(text), 1)
    for start, end, label in _labelled(text):
        part = part_of_label(label) if label else "plain"
        if part is None:
            continue
        spans = [
            (start + block + a, start + block + b)
            for block, piece in _blocks(text[start:end])
            for a, b in nupunkt.sent_spans(piece)
        ]
        for number, (first, after) in enumerate(spans):
            raw = text[first:after]
            quote = raw.strip()
            if not quotable(quote):
                continue
            plain = normal(quote)
            if plain not in whole:  # a combining mark at the edge makes the run differ once normalised
                continue
            place = first / size
            own: Part = part
            if part == "plain":
                own = part_by_cue(plain, place, number == len(spans) - 1 and not full_text)
            found.append(Sentence(evidence_id, quote, readable(quote), own, place, tuple(terms(plain))))
    return tuple(found)


def sentences(document: Evidence) -> tuple[Sentence, ...]:
    """The quotable sentences of a document."""
    return split(document.evidence_id, document.text, document.full_text)


def _labelled(text: str) -> list[tuple[int, int, str]]:
    """Runs of text with the label that stands before each; the label itself is in no run."""
    runs: list[tuple[int, int, str]] = []
    start, label = 0, ""
    for match in _LABEL_AT.finditer(text):
        if match.start() > start:
            runs.append((start, match.start(), label))
        start, label = match.end(), match.group("label")
    if start < len(text):
        runs.append((start, len(text), label))
    return runs


def _blocks(text: str) -> list[tuple[int, str]]:
    """Paragraphs and list items with their offsets."""
    blocks: list[tuple[int, str]] = []
    start = 0
    for match in _BLOCK.finditer(text):
        blocks.append((start, text[start : match.start()]))
        start = match.end()
    blocks.append((start, text[start:]))
    return [(at, piece) for at, piece in blocks if piece.strip()]
