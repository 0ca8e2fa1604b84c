"""Sentences of a document, each with the exact run of text that contains it.

Sentence ends come from `sentencex`, which knows some 300 languages; where it differs from `nupunkt` on the
bundled sample, in one sentence of seventy, it is right more often.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import sentencex

from activities.contracts.evidence import NOT_STUDIES, Evidence, EvidenceType
from activities.text.language import ENGLISH, language_of
from activities.text.layout import Unit, units
from activities.text.normal_form import is_unspaced, min_chars, normalise
from activities.text.quotability import LABEL, NEVER_QUOTED, heading_of, holds_findings, quote_fault
from activities.text.tokens import terms

MAX_SENTENCE = 600
"""Characters; longer runs are tables, lists or broken text."""
MAX_PARAGRAPH = 1_500
"""Characters of a paragraph that are encoded with each of its sentences."""
OF_THE_USER: frozenset[EvidenceType] = frozenset({"document", "web_page"})
"""Kinds whose facts stand in short sentences, lists and tables; of abstracts these are mostly fragments."""
MIN_WORDS, MIN_LETTERS = 6, 0.4
"""Words, and letters among the characters, of what can stand alone."""
MIN_WORDS_OF_USER, MIN_LETTERS_OF_USER = 3, 0.25
"""The same in the kinds `OF_THE_USER`, of a sentence with its stop and of a label with what it says."""
MAX_TEXT = 400_000
"""Characters of one document that are read."""

_BULLET = re.compile(r"^[-*+\u2022\u2013][ \t]+")
"""What marks an item of a list and says nothing, unlike the number of a clause."""
_SAYS = re.compile(r"[.!\u3002\uff01\u0964][\"'\u201d\u300d)\]]*$|^[^:\uff1a]{2,60}(?:: |\uff1a)\S")
"""A sentence with its stop; a label with what it says, as lists and rows of tables have them."""
_RAISED = "[\u00b9\u00b2\u00b3\u2070-\u2079]"
_CLOSING = re.compile(rf"(?:[*_\"')\]\u201d\u300d]+|{_RAISED}(?:[,\u2013-]?{_RAISED})*)(?=\s)")
"""Marks that end what stands before them, where the splitter puts them behind the end: `**Jobs hang.**`, and
raised numbers of notes."""
_FIRST_WORD = re.compile(r"\s*([^\W\d_]{2,}(?=[\s,;.])|[\u00aa\u00ba])")
_ENUMERATOR = re.compile(r"\s?\(?(?:[ivx]{1,4}|[a-h]|\d{1,2})\) ")
"""The mark of an item within a sentence: `either i) two years of one or ii) two of the other`."""
_SAYS_ALL = re.compile(r"[.!?\u3002\uff01\uff1f][\"'\u201d)\]]*\s?$")
_WIDE_POINT = re.compile(r"(?<=\d)\uff0e(?=\d)")
"""The wide point of a number, which the library takes for a stop."""
_UNIT = re.compile(
    r"(?:[^\W\d_]/[^\W\d_]|(?<!\d)\d{1,3}(?:[.,]\d+)?[ \u00a0\u202f]?[ghdsmlLKVW])\.[\ue000-\uf7ff]*\s+"
)
"""A unit of one letter at the end of a sentence, maybe with marks of citations behind it.

Its number has at most three digits: `In 1995 L. Smith` names somebody."""
_GLUED = re.compile(r"(?<=[\w)\]][a-z)\]])\.(?=[A-Z][a-z]{2})")
"""A stop with a sentence right behind it."""
_WIDE_STOP = re.compile(r"\u3002(?=\d)")
"""A wide stop before a number, which the library takes for one sentence with it."""
_NOTED = re.compile(r"(?<=[a-z]{4}\.)(?<!para\.)(?<!sect\.)\d{1,3}(?:[,\u2013-]\d{1,3})*(?=\s+[A-Z])")
"""The number of a note or reference right behind a stop: `lowered mortality.12 However`."""
_INITIAL = re.compile(r"\W*[^\W\d_]\.\s*")
_ORDINAL = re.compile(r"(?<![\d.,])\d{1,2}\.\s*$")
ORDINALS = frozenset(
    ("cs", "da", "de", "et", "eu", "fi", "hr", "hu", "is", "lv", "no", "pl", "sk", "sl", "sr", "tr")
)
"""Languages that write `the 12th` as `12.`."""
_CAPTION = re.compile(
    r"(?:Supplementary )?(?:Table|Fig(?:ure|\.)|Tabelle|Abb(?:ildung|\.)|Tabla|Figura|Tableau)"
    r" [A-Z]?\d{1,2}(?:\.\d{1,2})*[A-Za-z]?[.:] |[\u56fe\u8868] ?\d{1,2}[\uff1a:. ]"
)
"""The label of a table's or a figure's caption, which says nothing alone."""
_QUOTATION = re.compile('["\u00ab\u00bb\u2018-\u201f\u300c-\u300f]')
_THAI = re.compile(r"\S++(?:\s++[^\s\u0e00-\u0e7f]\S*+(?:\s++\S++)?+)*+")
"""A statement of Thai with its numbers and names in other letters."""


@dataclass(frozen=True)
class Sentence:
    """One sentence and where it is from. What only some readers need is worked out when it is asked for."""

    evidence_id: str
    quote: str
    """Verbatim run of the document's text."""
    place: float
    """0 at the beginning of the document, 1 at its end."""
    head: str = ""
    """The words over it that count as its own in a text of the user (`layout.Unit`)."""
    is_row: bool = False
    """It is a row, an item or a field, and no sentence."""
    before_findings: bool = False
    """It stands under the aim, the background or the methods of a study."""
    language: str = ENGLISH
    paragraph: str = ""
    """What it stands in, with other sentences; empty of a row."""
    is_short: bool = False
    """It has few words, as they stand in a text of the user's own; in an abstract it may be a fragment."""

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Comparison forms of its content words and of those of its head."""
        text = f"{self.head}\n{self.quote}" if self.head else self.quote
        return tuple(terms(text, self.language))


def quotable(plain: str, *, is_of_user: bool = False, is_row: bool = False) -> bool:
    """Tell whether a normalised statement can stand alone: no question, heading or list of numbers.

    `is_of_user`: it is from a text of the kinds `OF_THE_USER`. `is_row`: it is a row of one."""
    if not min_chars(plain) <= len(plain) <= MAX_SENTENCE:
        return False
    if is_row:
        return any(map(str.isalpha, plain))
    is_statement = is_of_user and _SAYS.search(plain)
    # in scripts without blanks two characters are about a word
    words = len(plain.split()) + (0 if plain.isascii() else sum(map(is_unspaced, plain)) // 2)
    return (
        words >= (MIN_WORDS_OF_USER if is_statement else MIN_WORDS)
        and not plain.endswith(("?", ":", "...", "\uff1f", "\uff1a"))
        and plain[0] not in ",;)]}"
        and sum(map(str.isalpha, plain)) > (MIN_LETTERS_OF_USER if is_statement else MIN_LETTERS) * len(plain)
        and any(c.isalpha() and not c.isupper() for c in plain)  # a heading is in capitals alone
    )


@lru_cache(maxsize=512)
def split(
    evidence_id: str,
    text: str,
    title: str = "",
    kind: EvidenceType = "article",
    language: str = ENGLISH,
) -> tuple[Sentence, ...]:
    """Return the quotable sentences of a text, short ones included, in order."""
    text, is_of_user = text[:MAX_TEXT], kind in OF_THE_USER
    normal_text = normalise(text)
    heading = heading_of(title, text)
    result: list[Sentence] = []
    for start, end, label in _labelled_runs(text, by_user=is_of_user):
        if NEVER_QUOTED.search(label.casefold()):
            continue
        for run in _runs(text, start, end, label, language, by_user=is_of_user):
            quote = _BULLET.sub("", text[run.start : run.end].strip().lstrip(":;,. "))
            plain = normalise(quote)
            # A combining mark at the edge of a run could make it differ once both are normalised.
            may_stand = quotable(plain, is_of_user=True, is_row=run.is_row) and plain in normal_text
            if not may_stand or _CAPTION.match(quote) or quote_fault(plain, heading):
                continue
            result.append(
                Sentence(
                    evidence_id=evidence_id,
                    quote=quote,
                    place=run.start / len(text),
                    head=run.head,
                    is_row=run.is_row,
                    before_findings=kind not in NOT_STUDIES and not holds_findings(label),
                    language=language,
                    paragraph="" if run.is_row else _paragraph_of(text, run),
                    is_short=not (is_of_user or quotable(plain, is_row=run.is_row)),
                )
            )
    return tuple(result)


def _paragraph_of(text: str, run: Unit) -> str:
    """Return the paragraph in which a run begins; of a long one the part, which its sentences share."""
    start = text.rfind("\n\n", 0, run.start) + 1
    start += (run.start - start) // MAX_PARAGRAPH * MAX_PARAGRAPH
    end = text.find("\n\n", run.end, start + MAX_PARAGRAPH)
    return text[start : end if end >= 0 else start + MAX_PARAGRAPH].strip()


def _runs(text: str, start: int, end: int, label: str, language: str, *, by_user: bool) -> Iterator[Unit]:
    """Return what is quoted alone, under a label: sentences, and in a text of the user's own its rows."""
    rows: list[Unit] = []
    for unit in units(text[start:end], label):
        first, last, is_row = start + unit.start, start + unit.end, by_user and unit.is_row
        head = unit.head if by_user else ""
        if rows and not (is_row and "\n\n" not in text[rows[-1].end : first]):
            yield from _join_short(text, rows)
            rows = []
        if is_row:
            rows.append(Unit(first, last, head, is_row))
            continue
        spans = _spans(text[first:last], language)
        runs = [Unit(first + low, first + high, head, is_row) for low, high in spans]
        yield from _join_short(text, runs) if by_user else runs
    yield from _join_short(text, rows)


def _join_short(text: str, runs: Iterable[Unit]) -> list[Unit]:
    """Join each run that is too short to be quoted (`Ann is the owner.`) with its neighbour."""

    def is_short(run: Unit) -> bool:
        plain = normalise(text[run.start : run.end])
        return len(plain) < min_chars(plain)

    joined_runs: list[Unit] = []
    for run in runs:
        if joined_runs and is_short(joined_runs[-1]):
            joined_runs[-1] = joined_runs[-1]._replace(end=run.end)
        else:
            joined_runs.append(run)
    if len(joined_runs) > 1 and is_short(joined_runs[-1]):
        joined_runs[-2:] = [joined_runs[-2]._replace(end=joined_runs[-1].end)]
    return joined_runs


def sentences(document: Evidence, *, short: bool = False) -> tuple[Sentence, ...]:
    """Return the quotable sentences of a document; `short`: also those that may be fragments."""
    kind, language = document.evidence_type, language_in(document)
    all_sentences = split(document.evidence_id, document.text, document.title, kind, language)
    return all_sentences if short else tuple(sentence for sentence in all_sentences if not sentence.is_short)


def language_in(document: Evidence) -> str:
    """Return the language of a document; English where its text is too short to tell."""
    return document.language or language_of(document.text) or ENGLISH


def _spans(text: str, language: str = ENGLISH) -> list[tuple[int, int]]:
    """Sentences of a paragraph.

    A piece that begins in lower case belongs to the one before (`b.i.d. lowered`), and so does what follows
    an initial (`M. Diallo`) or an ordinal (`das 12. Lebensjahr`)."""
    spans: list[tuple[int, int]] = []
    for start, end in _ends(text, language):
        closing = _CLOSING.match(text, start, end) if spans else None
        if closing:
            spans[-1], start = (spans[-1][0], closing.end()), closing.end()
        first = _FIRST_WORD.match(text, start)
        before = text[slice(*spans[-1])] if spans else ""
        continues = _INITIAL.fullmatch(before) or (language in ORDINALS and _ORDINAL.search(before))
        is_item = _ENUMERATOR.match(text, start, end) and not _SAYS_ALL.search(before)
        if before and (continues or is_item or (first and first[1].islower())):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _ends(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Return the sentences of the library; one of too many characters once more without its quotation marks.

    A stop without a blank behind it (`in adults (GAF).Fifty-eight`) ends one too. It parts nothing within
    quotation marks, and of `\u201eAnfang" Ende` it misses the second."""
    for boundary in sentencex.get_sentence_boundaries(language, _WIDE_POINT.sub("0", text)):
        start, end = boundary["start_index"], boundary["end_index"]
        piece = text[start:end]
        if end - start > MAX_SENTENCE and (plain := _QUOTATION.sub(" ", piece)) != piece:
            yield from ((start + first, start + last) for first, last in _ends(plain, language))
        elif language == "th":
            yield from ((start + part.start(), start + part.end()) for part in _THAI.finditer(piece))
        elif mark := _ENUMERATOR.match(piece):  # the library ends nothing behind it
            first, *rest = [*_ends(piece[mark.end() :], language)] or [(0, 0)]
            yield start, start + mark.end() + first[1]
            yield from ((start + mark.end() + begin, start + mark.end() + last) for begin, last in rest)
        else:
            stops = (stop.end() for stops in (_GLUED, _WIDE_STOP, _NOTED) for stop in stops.finditer(piece))
            inner = {*stops, *ends_at_units(piece)}
            yield from pairwise([start, *(start + place for place in sorted(inner)), end])


def ends_at_units(text: str) -> list[int]:
    """Return where sentences end that the library takes for an initial: `10 mmol/L. Then`, `in 3 h. Then`."""
    return [match.end() for match in _UNIT.finditer(text) if text[match.end() :].lstrip()[:1].isupper()]


def _labelled_runs(text: str, *, by_user: bool = False) -> list[tuple[int, int, str]]:
    """Run of text with the label that stands before each; the label itself is in no run.

    In a text of the user's own a label that its value follows is a field (`Funding: 2,000`)."""
    runs: list[tuple[int, int, str]] = []
    start, label = 0, ""
    for match in LABEL.finditer(text):
        if by_user and ":" in match[0] and text[match.end() : match.end() + 1] not in ("", "\n"):
            continue
        runs.append((start, match.start(), label))
        start, label = match.end(), match["label"]
    return [run for run in (*runs, (start, len(text), label)) if run[0] < run[1]]
