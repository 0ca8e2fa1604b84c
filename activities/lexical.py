"""Ranking by words: BM25 over fields, passages and neighbouring words, with feedback from the first answers.

Plain BM25 counts a word wherever it stands. Four things are added, each of which measured better than plain
BM25 on the bundled library (`benchmarks/retrieval.py`):

- words are brought to one spelling first (Greek letters, British and American, hyphens) and stemmed;
- the best passage of a document counts beside the whole, so a long document is not drowned by its length;
- two query words that stand side by side in a document count more than the two apart (after Metzler and
  Croft, "A Markov random field model for term dependencies", SIGIR 2005);
- the strongest words of the first answers are added to the query at a low weight (after Lavrenko and Croft,
  "Relevance-based language models", SIGIR 2001).

Scores are comparable within one index and one query only.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS
from numpy.typing import NDArray

Scores = NDArray[np.float64]

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "τ": "tau",
    "ω": "omega",
}
_GREEK_TABLE = str.maketrans(_GREEK)
_QUESTION_WORDS = frozenset(
    "does do did can could should would may might is are was were be been has have had there any what which"
    " who whom whose when where why how whether role effect".split()
)
_STOPWORDS = frozenset(STOPWORDS_EN_PLUS) | _QUESTION_WORDS
_BRITISH = (
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

WINDOW_WORDS = 110
"""Words of a passage; the next starts half of it later."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What of a document is searched."""

    text: str
    title: str = ""
    terms: tuple[str, ...] = ()
    """Indexing terms, such as MeSH."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part of the score counts; the whole text counts 1."""

    passage: float = 0.5
    pairs: float = 0.5
    title: float = 0.6
    terms: float = 0.3
    feedback: float = 0.3
    feedback_documents: int = 4
    feedback_words: int = 12


@lru_cache(maxsize=65_536)
def _normal(word: str) -> str:
    for pattern, replacement in _BRITISH:
        word = pattern.sub(replacement, word)
    return word


class _Stem:
    """Snowball's English stemmer (Porter 2) is not safe across threads: one a call."""

    def __call__(self, words: list[str]) -> list[str]:
        return list(Stemmer.Stemmer("english").stemWords(words))


_stem = _Stem()


def words(text: str) -> list[str]:
    """The words of a text as they are compared: one spelling, stemmed, without function words.

    A compound (`covid-19`) gives its parts and itself in one piece.
    """
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_GREEK_TABLE))
    plain = (
        "".join(c for c in plain if not unicodedata.combining(c))
        .replace("\u2010", "-")
        .replace("\u2011", "-")
    )
    found: list[str] = []
    for match in _WORD.finditer(plain):
        word = match.group().removesuffix("'s")
        parts = re.split(r"['-]", word)
        found += [p for p in parts if p not in _STOPWORDS and (len(p) > 1 or p.isdigit())]
        if len(parts) > 1:
            found.append("".join(parts))
    return _stem([_normal(word) for word in found])


def pairs(tokens: Sequence[str]) -> list[str]:
    """Neighbouring words as one token each, in a fixed order, so that "liver fibrosis" meets "fibrosis of the
    liver"."""
    return [" ".join(sorted((a, b))) for a, b in zip(tokens, tokens[1:], strict=False) if a != b]


def windows(text: str, size: int = WINDOW_WORDS) -> list[str]:
    """Passages of about `size` words, each starting half a passage after the one before."""
    parts = text.split()
    if len(parts) <= size:
        return [text]
    step = size // 2
    return [" ".join(parts[start : start + size]) for start in range(0, len(parts) - step, step)]


class _Field:
    """BM25 over one list of token lists; a search on an empty field scores nothing."""

    def __init__(self, tokens: Sequence[Sequence[str]], k1: float = 1.2, b: float = 0.75) -> None:
        self._size = len(tokens)
        self._index: bm25s.BM25 | None = None
        self._vocabulary: frozenset[str] = frozenset(word for row in tokens for word in row)
        if self._vocabulary:
            self._index = bm25s.BM25(method="lucene", k1=k1, b=b)
            self._index.index([list(row) for row in tokens], show_progress=False)

    def scores(self, query: Sequence[str]) -> Scores:
        known = [word for word in query if word in self._vocabulary]
        if self._index is None or not known:
            return np.zeros(self._size)
        return np.asarray(self._index.get_scores(known), dtype=np.float64)


class Lexical:
    """An index of documents by their words. Build once; searching is safe from several threads."""

    def __init__(self, documents: Sequence[Fields], weights: Weights | None = None) -> None:
        self._weights = weights or Weights()
        self._texts = [words(d.text) for d in documents]
        self._text = _Field(self._texts)
        self._title = _Field([words(d.title) for d in documents], b=0.3)
        self._terms = _Field([words(" ".join(d.terms)) for d in documents], b=0.3)
        self._pairs = _Field(
            [pairs(words(d.title)) + pairs(t) for d, t in zip(documents, self._texts, strict=True)]
        )
        passages = [windows(d.text) for d in documents]
        self._owner = np.repeat(np.arange(len(documents)), [len(p) for p in passages])
        self._passages = _Field([words(p) for row in passages for p in row])
        counts = Counter(word for text in self._texts for word in set(text))
        self._rarity = {w: float(np.log((len(documents) + 1) / (n + 0.5))) for w, n in counts.items()}

    def __len__(self) -> int:
        return len(self._texts)

    def scores(self, query: str) -> Scores:
        """One score a document, zero where nothing matches."""
        if not self._texts:
            return np.zeros(0)
        asked = words(query)
        weights = self._weights
        first = self._first(asked)
        if weights.feedback and first.any():
            extra = self._feedback(asked, first)
            if extra:
                first = first + weights.feedback * self._text.scores(extra)
        return first

    def _first(self, asked: list[str]) -> Scores:
        weights = self._weights
        best = np.zeros(len(self._texts))
        if weights.passage:
            np.maximum.at(best, self._owner, self._passages.scores(asked))
        return (
            self._text.scores(asked)
            + weights.passage * best
            + weights.pairs * self._pairs.scores(pairs(asked))
            + weights.title * self._title.scores(asked)
            + weights.terms * self._terms.scores(asked)
        )

    def _feedback(self, asked: Sequence[str], first: Scores) -> list[str]:
        """The words that the first answers share and that the query lacks, strongest first."""
        top = np.argsort(-first, kind="stable")[: self._weights.feedback_documents]
        total = float(first[top].sum()) or 1.0
        strength: Counter[str] = Counter()
        for place in top:
            share = float(first[place]) / total
            counts = Counter(self._texts[place])
            length = sum(counts.values()) or 1
            for word, n in counts.items():
                strength[word] += share * n / length * self._rarity[word]  # type: ignore[assignment]
        ranked = sorted(strength, key=lambda word: (-strength[word], word))
        return [word for word in ranked if word not in asked][: self._weights.feedback_words]
