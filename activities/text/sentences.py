"""Sentences of a document, each with the exact run of text that contains it and its part of the work.

Sentence ends come from `sentencex`, which knows some 300 languages. On the 600 abstracts of the bundled
sample it differs from `nupunkt`, a model of English alone, in one sentence of seventy, and is right more
often.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import sentencex

from activities.contracts.evidence import Evidence, EvidenceType
from activities.text.language import ENGLISH, language_of
from activities.text.layout import Unit, units
from activities.text.normal_form import is_unspaced, min_chars, normalise
from activities.text.parts import LABEL, Part, part_of_label
from activities.text.quotability import fault_under, heading_of
from activities.text.tokens import terms

MAX_SENTENCE = 600
"""Characters; longer runs are tables, lists or broken text."""
NOT_STUDIES: frozenset[EvidenceType] = frozenset(
    {"drug_label", "regulatory", "adverse_events", "trial_registration", "database_record", "knowledge_graph"}
)
"""Kinds whose headings are not those of a study (`Purpose` of a label is no aim)."""
OF_THE_USER: frozenset[EvidenceType] = frozenset({"document", "web_page"})
"""Kinds whose facts stand in short sentences, lists and tables; of abstracts these are mostly fragments."""
MIN_WORDS, MIN_LETTERS = 6, 0.4
"""Words, and letters among the characters, of what can stand alone."""
MIN_WORDS_SAID, MIN_LETTERS_SAID = 3, 0.25
"""The same in the kinds `OF_THE_USER`, of a sentence with its stop and of a label with what it says."""
MAX_TEXT = 400_000
"""Characters of one document that are read."""

_CAPTION = re.compile(
    r"(?:Supplementary )?Table [A-Z]?\d{1,2}[A-Za-z]?: "
    r"|(?:Table|Fig(?:ure|\.)) \d{1,2}(?:\.\d{1,2})*[.:] (?=[A-Z])"
)
"""The caption of a table or a figure, which says nothing alone."""
_BLANKS = re.compile(r"\s+")
_BULLET = re.compile(r"^[-*+\u2022\u2013][ \t]+")
"""What marks an item of a list and says nothing, unlike the number of a clause."""
_HEADING_LINE = re.compile(r"\s*(?:#+ *)?[A-Z0-9][^\n.!?;:]{2,60}\n(?=\s*[A-Z0-9(])")
"""A short line without a stop above a paragraph; the first line of a wrapped paragraph is longer."""
_MEASURE_END = re.compile(r"(\d\s?[a-zA-Z]{1,3}\.)\s+(?=[A-Z][a-z]*\s[a-z])")
_WORD_END = re.compile(
    r"(\b(?!(?:approx|resp|incl|subsp|equiv|corresp|conc|temp|spec|diam|pers|comm)\.)[a-z]{4,}\.)\s+(?=[A-Z][a-z]+\s[a-z])"
)
_SAYS = re.compile(r"[.!\u3002\uff01\u0964][\"'\u201d\u300d)\]]*$|^[^:\uff1a]{2,60}(?:: |\uff1a)\S")
"""A sentence with its stop; a label with what it says, as lists and rows of tables have them."""
_CLOSING = re.compile(r"[*_\"')\]\u201d\u300d]+(?=\s)")
"""Marks that end what stands before them, where the splitter puts them behind the end."""
_CUT = re.compile(r"(?<![\d.,])0\.\s*$")
_FIRST_WORD = re.compile(r"\s*([A-Za-z]{2,})(?=[\s,;.])")
_BLOCK = re.compile(r"\r?\n[ \t]*\r?\n|\n(?=[ \t]*(?:[-*\u2022]|\d+[.)])[ \t])")
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget) (?:\w+ ){0,3}(?:instructions|prompts?|rules)\b", re.IGNORECASE
)
"""Words to the model that reads a text, and not to its reader."""
_CLOSES = re.compile(r"[^()]*\)")
_JUNK = re.compile(
    r"(\bdoi\b\s*[:.]|\b10\.\d{4,9}/|https?://|www\.|\bPMID\b|\bPMCID\b|\bISSN\b|\bISBN\b|rights reserved"
    r"|copyright|\u00a9|(?<![.\u00b7])\b\d{4};\s*\d+|\bet al\.?,? \d{4}[;.]|\bvol\.? \d+|\bpp\. ?\d+"
    r"|e-?mail|@\w+\."
    r"|^\s*\[?\d+[.\]]\s"
    rf"|{_ORDER.pattern})",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"^(?:in conclusion|in summary|to conclude|to summari[sz]e|in short|conclusions?|however|moreover"
    r"|furthermore|therefore|thus|hence|additionally|in addition|nevertheless|nonetheless|consequently"
    r"|finally|overall|as a result|on the other hand|in contrast|taken together|interestingly|notably"
    r"|importantly|accordingly|meanwhile|likewise)\s*[,:]\s+"
    r"|^(?:therefore|thus|hence|consequently)\s+(?=\w)"
    r"|^(?:we|the authors) conclude that\s+|^it (?:is|was) concluded that\s+|^it can be concluded that\s+",
    re.IGNORECASE,
)


Value = TypeVar("Value", covariant=True)


class Kept(Generic[Value]):
    """`functools.cached_property` without its lock, for which all threads wait before Python 3.12."""

    def __init__(self, work: Callable[[Any], Value]) -> None:
        self._work, self.__doc__ = work, work.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, one: object, owner: type | None = None) -> Value:
        value = one.__dict__[self._name] = self._work(one)
        return value


@dataclass(frozen=True)
class Sentence:
    """One sentence and where it is from. What only some readers need is worked out when it is asked for."""

    evidence_id: str
    quote: str
    """Verbatim run of the document's text."""
    part: Part
    place: float
    """0 at the beginning of the document, 1 at its end."""
    head: str = ""
    """In a text of the user's own, what stands over it and counts as words of it: the columns of its table,
    the head of its list, or its heading."""
    is_row: bool = False
    """It is a row, an item or a field, and no sentence."""
    language: str = ENGLISH
    is_short: bool = False
    """It has few words, as they stand in a text of the user's own; in an abstract it may be a fragment."""

    @Kept
    def text(self) -> str:
        """Its quote for reading: white space folded, a leading connective dropped."""
        return readable(self.quote)

    @Kept
    def terms(self) -> tuple[str, ...]:
        """Comparison forms of its content words and of those of its head."""
        text = f"{self.head}\n{self.quote}" if self.head else self.quote
        return tuple(terms(text, self.language))


def readable(text: str) -> str:
    """Return a sentence for the reader: one line, no leading connective, a capital first and a stop last."""
    text = _BLANKS.sub(" ", text).strip(" \t\n*#-\u2022")
    text = _LEADS.sub("", text, count=1) or text
    first = text.split(" ", 1)[0]
    if first.isalpha() and first.islower() and first.isascii():  # p53, mRNA and the like stay as they are
        text = text[0].upper() + text[1:]
    if text and text[-1] not in ".!?":
        text = text.rstrip(" ,;:") + "."
    return text


def quotable(plain: str, *, own: bool = False, row: bool = False, after: str = ")") -> bool:
    """Tell whether a normalised statement can stand alone.

    No question, heading, list of numbers or citation line. `own`: it is from a text of the kinds
    `OF_THE_USER`. `row`: it is a row of one. `after`: what follows, in which a bracket is closed that a cut
    left open; one that nothing closes is a slip."""
    if row:
        has_letters = any(map(str.isalpha, plain))
        return has_letters and min_chars(plain) <= len(plain) <= MAX_SENTENCE and not _ORDER.search(plain)
    says = own and _SAYS.search(plain)
    return (
        min_chars(plain) <= len(plain) <= MAX_SENTENCE
        and _words(plain) >= (MIN_WORDS_SAID if says else MIN_WORDS)
        and not plain.endswith(("?", ":", "...", "\uff1f", "\uff1a"))
        and plain[0] not in ",;)]}"
        and not (_ORDER if own else _JUNK).search(plain)
        and sum(map(str.isalpha, plain)) > (MIN_LETTERS_SAID if says else MIN_LETTERS) * len(plain)
        and not plain.isupper()
        and (_open(plain) <= 0 or not _CLOSES.match(after))  # cut within a bracket
    )


def _words(plain: str) -> int:
    """Count words by blanks; in scripts without them two characters are about a word."""
    return len(plain.split()) + (0 if plain.isascii() else sum(map(is_unspaced, plain)) // 2)


@lru_cache(maxsize=512)
def split(
    evidence_id: str,
    text: str,
    title: str = "",
    full_text: bool = False,
    study: bool = True,
    own: bool = False,
    language: str = ENGLISH,
) -> tuple[Sentence, ...]:
    """Return the quotable sentences of a text, short ones included, in order.

    Kept for the texts seen last, since every step of a loop reads the same documents. `study`: its parts are
    those of a study (aim, methods, results). `own`: it is of the kinds `OF_THE_USER`."""
    text = text[:MAX_TEXT]
    whole = normalise(text)
    heading = heading_of(title, text)
    result: list[Sentence] = []
    for start, end, label in _labelled(text, own=own):
        part = part_of_label(label) if label else "plain"
        if part is None:
            continue
        if not study:
            part = "plain"
        runs = list(_runs(text, start, end, label, language, own=own))
        for run in runs:
            quote = _BULLET.sub("", text[run.start : run.end].strip().lstrip(":;,. "))
            plain = normalise(quote)
            # A combining mark at the edge of a run could make it differ once both are normalised.
            if (
                not quotable(plain, own=True, row=run.is_row, after=text[run.end : run.end + MAX_SENTENCE])
                or _CAPTION.match(quote)
                or plain not in whole
                or fault_under(heading, plain)
            ):
                continue
            closes = part == "plain" and run.end == runs[-1].end and len(runs) > 2 and not full_text
            placed: Part = "conclusion" if closes and study and not own else part
            result.append(
                Sentence(
                    evidence_id=evidence_id,
                    quote=quote,
                    part=placed,
                    place=run.start / len(text),
                    head=run.head,
                    is_row=run.is_row,
                    language=language,
                    is_short=not (own or quotable(plain, row=run.is_row, after="")),
                )
            )
    return tuple(result)


def _runs(text: str, start: int, end: int, label: str, language: str, *, own: bool) -> Iterator[Unit]:
    """Return what is quoted alone: sentences, and in a text of the user's own its rows.

    `label`: over all of it."""
    if not own:
        for at, piece in _blocks(text[start:end]):
            yield from (
                Unit(start + at + first, start + at + last, "", False)
                for first, last in _spans(piece, language)
            )
        return
    rows: list[Unit] = []
    for unit in units(text[start:end], label):
        placed = Unit(start + unit.start, start + unit.end, unit.head, unit.is_row)
        if rows and not (placed.is_row and _is_next(text, rows[-1].end, placed.start)):
            yield from _joined(text, rows)
            rows = []
        if placed.is_row:
            rows.append(placed)
            continue
        piece = text[placed.start : placed.end]
        spans = ((placed.start + first, placed.start + last) for first, last in _spans(piece, language))
        yield from _joined(text, (Unit(*span, placed.head, is_row=False) for span in spans))
    yield from _joined(text, rows)


def _is_next(text: str, end: int, start: int) -> bool:
    return "\n\n" not in text[end:start]


def _joined(text: str, runs: Iterable[Unit]) -> list[Unit]:
    """Join each run that is too short to be quoted (`Ann is the owner.`) with the next."""
    joined: list[Unit] = []
    for run in runs:
        if joined and _is_short(text, joined[-1]):
            joined[-1] = joined[-1]._replace(end=run.end)
        else:
            joined.append(run)
    if len(joined) > 1 and _is_short(text, joined[-1]):
        last = joined.pop()
        joined[-1] = joined[-1]._replace(end=last.end)
    return joined


def _is_short(text: str, run: Unit) -> bool:
    plain = normalise(text[run.start : run.end])
    return len(plain) < min_chars(plain)


def sentences(document: Evidence, *, short: bool = False) -> tuple[Sentence, ...]:
    """Return the quotable sentences of a document.

    `short`: also those of few words, which in an abstract may be fragments: for a reader who can tell."""
    study = document.evidence_type not in NOT_STUDIES
    own = document.evidence_type in OF_THE_USER
    every = split(
        document.evidence_id,
        document.text,
        document.title,
        document.full_text,
        study,
        own,
        language_in(document),
    )
    return every if short else tuple(sentence for sentence in every if not sentence.is_short)


def language_in(document: Evidence) -> str:
    """Return the language of a document; English where its text is too short to tell."""
    return document.language or language_of(document.text) or ENGLISH


def _spans(text: str, language: str = ENGLISH) -> list[tuple[int, int]]:
    """Sentences of a paragraph.

    A piece that begins with a plain lower-case word belongs to the one before: an unknown abbreviation
    (`b.i.d. lowered`) was mistaken for an end; so do the rest of a number with a space after its point (`P<0.
    001`) and that of a bracket (`(cv. Harlequin)`)."""
    spans: list[tuple[int, int]] = []
    ends = [
        (one["start_index"], one["end_index"]) for one in sentencex.get_sentence_boundaries(language, text)
    ]
    for start, end in _units_split(text, ends) if language == ENGLISH else ends:
        closing = _CLOSING.match(text, start, end) if spans else None
        if closing:
            spans[-1], start = (spans[-1][0], closing.end()), closing.end()
        first = _FIRST_WORD.match(text, start)
        cut = spans and text[start:end].lstrip()[:1].isdigit() and _CUT.search(text, *spans[-1])
        inside = spans and _open(text[slice(*spans[-1])]) > 0 > _open(text[start:end])
        if spans and (cut or inside or (first and first.group(1).islower())):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _open(text: str) -> int:
    """Brackets that a text opens and does not close; negative where it closes more."""
    return text.count("(") - text.count(")")


def _units_split(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Part sentences that were joined by mistake.

    The first ends in a measure (`was 100 g. The median`) or in a word that the splitter mistakes for an
    abbreviation (`for cancer. Staging was`)."""
    for start, end in spans:
        begun = start
        ends = [*_MEASURE_END.finditer(text, start, end), *_WORD_END.finditer(text, start, end)]
        for match in sorted(ends, key=lambda m: m.start()):
            yield begun, match.end(1)
            begun = match.end()
        yield begun, end


def _labelled(text: str, *, own: bool = False) -> list[tuple[int, int, str]]:
    """Run of text with the label that stands before each; the label itself is in no run.

    In a text of the user's `own` a label that its value follows is a field (`Funding: 2,000`)."""
    runs: list[tuple[int, int, str]] = []
    start, label = 0, ""
    for match in LABEL.finditer(text):
        if own and ":" in match.group() and text[match.end() : match.end() + 1] not in ("", "\n"):
            continue
        if match.start() > start:
            runs.append((start, match.start(), label))
        start, label = match.end(), match.group("label")
    if start < len(text):
        runs.append((start, len(text), label))
    return runs


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs and list items with their offsets, without the heading some begin with."""
    bounds = [0, *(place for match in _BLOCK.finditer(text) for place in match.span()), len(text)]
    for start, end in zip(bounds[::2], bounds[1::2], strict=True):
        heading = _HEADING_LINE.match(text, start, end)
        piece = text[heading.end() if heading else start : end]
        if piece.strip():
            yield end - len(piece), piece
