"""Ranking by words: BM25 over whole documents and over their passages.

Plain BM25 counts a word wherever it stands. Four things are added, which together measured better on the
bundled library (`benchmarks/retrieval.py`):

- words are brought to one spelling first (Greek letters, British and American, hyphens) and stemmed;
- a title's words count twice (after Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple
  weighted fields", CIKM 2004: the counts are weighted, not the scores);
- the best short passage of a document counts beside the whole, so that words which stand together count more
  than words apart, and a long document is not drowned by its length;
- pieces of words count beside whole ones (after McNamee and Mayfield, "Character n-gram tokenization for
  European language text retrieval", Information Retrieval 2004): a stemmer does not see what `cirrhosis` and
  `cirrhotic` share, nor the parts of a compound. Their length and weight were chosen on half of the questions
  and measured as much better on the other half.

Tried and measured no better: scores added up by field, pairs of neighbouring words, and feedback from the
first answers (RM3). Scores are comparable within one index and one query only.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN
from numpy.typing import NDArray

Scores = NDArray[np.float64]

K1 = 1.0
B = 0.75
TITLE_TIMES = 2
PASSAGE_WEIGHT = 0.5
PASSAGE_WORDS = 60
PIECE = 5
"""Letters of a piece of a word, its ends counted as letters."""
PIECED_WORDS = 800
"""Words of a document that are split into pieces, some six each: an abstract, or a longer text's start."""
PIECE_WEIGHT = 0.5
"""Weight of the best score by pieces against the best by words."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_GREEK = {code: unicodedata.name(chr(code)).split()[-1].casefold() for code in range(0x3B1, 0x3CA)}
_QUESTION_WORDS = frozenset(
    {"any", "could", "did", "do", "does", "effect", "has", "have", "how", "is", "may", "might", "role"}
    | {"should", "what", "when", "where", "whether", "which", "who", "whom", "whose", "why", "would"}
)
_STOPWORDS = frozenset(STOPWORDS_EN) | _QUESTION_WORDS
_SPELLINGS = (
    (re.compile(r"(?<=[a-z])aem(?=[aio])"), "em"),  # anaemia, ischaemic, leukaemia
    (re.compile(r"haem"), "hem"),
    (re.compile(r"oe(?=dem|soph|str|tiol|t(?:al|us)\b)"), "e"),  # oedema, oesophagus, oestrogen, foetal
    (re.compile(r"rrhoe"), "rrhe"),
    (re.compile(r"paed(?=i)"), "ped"),
    (re.compile(r"(?<=an)aes(?=th)"), "es"),
    (re.compile(r"(?<=gyn)ae(?=c)"), "e"),
    (re.compile(r"(?<=[a-z]{3})is(?=(?:e|ed|ing|ation|ations)$)"), "iz"),
    (re.compile(r"(?<=tum|hum|col)our"), "or"),
    (re.compile(r"(?<=[a-z])tre$"), "ter"),
)


@dataclass(frozen=True, slots=True)
class Fields:
    """What of a document is searched."""

    text: str
    title: str = ""
    terms: tuple[str, ...] = ()
    """Indexing terms, such as MeSH."""


@lru_cache(maxsize=65_536)
def _normal(word: str) -> str:
    for pattern, replacement in _SPELLINGS:
        word = pattern.sub(replacement, word)
    return word


def words(text: str) -> list[str]:
    """The words of a text as they are compared: one spelling, stemmed, without function words; a compound
    gives its parts."""
    return _stemmed(_spelled(text))


def pieces(found: Sequence[str]) -> list[str]:
    """Every run of `PIECE` letters in the first words, `_` at a word's ends; of a shorter word the whole."""
    return [piece for word in found[:PIECED_WORDS] for piece in _pieces(word)]


@lru_cache(maxsize=65_536)
def _pieces(word: str) -> tuple[str, ...]:
    marked = f"_{word}_"
    return tuple(marked[i : i + PIECE] for i in range(max(len(marked) - PIECE + 1, 1)))


def _spelled(text: str) -> list[str]:
    """The words in one spelling, not stemmed."""
    plain = unicodedata.normalize("NFKD", text.casefold()).translate(_GREEK).replace("\u2010", "-")
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    found: list[str] = []
    for match in _WORD.finditer(plain):
        parts = re.split(r"['-]", match.group().removesuffix("'s"))
        found += [_normal(p) for p in parts if p not in _STOPWORDS and (len(p) > 1 or p.isdigit())]
    return found


def _stemmed(found: list[str]) -> list[str]:
    # A stemmer is not safe across threads: one a call.
    return list(Stemmer.Stemmer("english").stemWords(found))


def windows(text: str, size: int) -> list[str]:
    """Passages of about `size` words, each starting half a passage after the one before; never none."""
    parts = text.split()
    if len(parts) <= size:
        return [text]
    step = size // 2
    return [" ".join(parts[start : start + size]) for start in range(0, len(parts) - step, step)]


class _Index:
    """BM25 over lists of words; where there are none, nothing scores."""

    def __init__(self, rows: Sequence[list[str]]) -> None:
        self._size = len(rows)
        self._vocabulary = frozenset(word for row in rows for word in row)
        self._index: bm25s.BM25 | None = None
        if self._vocabulary:
            self._index = bm25s.BM25(method="lucene", k1=K1, b=B)
            self._index.index(list(rows), show_progress=False)

    def scores(self, query: Sequence[str]) -> Scores:
        known = [word for word in query if word in self._vocabulary]
        if self._index is None or not known:
            return np.zeros(self._size)
        return np.asarray(self._index.get_scores(known), dtype=np.float64)


class Lexical:
    """An index of documents by their words. Build once; searching is safe from several threads."""

    def __init__(self, documents: Sequence[Fields]) -> None:
        self._size = len(documents)
        titles = [words(d.title) for d in documents]
        rows = [
            _spelled(d.title) * TITLE_TIMES + _spelled(d.text) + _spelled(" ; ".join(d.terms))
            for d in documents
        ]
        self._whole = _Index([_stemmed(row) for row in rows])
        self._pieces = _Index([pieces(row) for row in rows])
        passages = [windows(d.text, PASSAGE_WORDS) for d in documents]
        self._owner = np.repeat(np.arange(len(documents)), [len(row) for row in passages])
        self._passages = _Index(
            [title + words(p) for title, row in zip(titles, passages, strict=True) for p in row]
        )

    def __len__(self) -> int:
        return self._size

    def scores(self, query: str) -> Scores:
        """One score a document, zero where nothing matches."""
        spelled = _spelled(query)
        asked = _stemmed(spelled)
        best = np.zeros(len(self))
        np.maximum.at(best, self._owner, self._passages.scores(asked))
        by_words = self._whole.scores(asked) + PASSAGE_WEIGHT * best
        if not by_words.any():
            return by_words
        # Pieces alone are no match: nearly every document shares some.
        by_pieces = np.where(by_words > 0, self._pieces.scores(pieces(spelled)), 0.0)
        weight = PIECE_WEIGHT * by_words.max() / (by_pieces.max() or 1.0)
        return np.asarray(by_words + weight * by_pieces, dtype=np.float64)
