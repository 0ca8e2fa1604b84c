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
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

import marisa_trie
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN
from numpy.typing import NDArray

from activities.text.postings import Postings, Ranking, Scores, numbered

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
    return [word for written in text.split() for word in _spelled_parts(written)]


@lru_cache(maxsize=65_536)
def _spelled_parts(written: str) -> tuple[str, ...]:
    """The words in a piece of text without white space. Most pieces come again and are kept."""
    plain = written.casefold()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain).translate(_GREEK).replace("\u2010", "-")
        plain = "".join(c for c in plain if not unicodedata.combining(c))
    found: list[str] = []
    for match in _WORD.finditer(plain):
        parts = re.split(r"['-]", match.group().removesuffix("'s"))
        found += [_normal(p) for p in parts if p not in _STOPWORDS and (len(p) > 1 or p.isdigit())]
    return tuple(found)


def _stemmed(found: list[str]) -> list[str]:
    # A stemmer is not safe across threads: one a call.
    return list(Stemmer.Stemmer("english").stemWords(found))


def passage_starts(count: int, size: int) -> range:
    """Where the passages of a text of `count` words begin: each has `size` words, the last one at most, and
    starts half a passage after the one before. A short text is one passage."""
    step = size // 2
    return range(0, max(count - step, 1), step) if count > size else range(1)


@dataclass(frozen=True, slots=True)
class Segment:
    """The words of some documents, counted. It never changes."""

    size: int
    owner: NDArray[np.int32]
    """The document of each passage."""
    whole: Postings
    passages: Postings
    pieces: Postings

    def __len__(self) -> int:
        return self.size

    @classmethod
    def build(cls, documents: Iterable[Fields]) -> "Segment":
        """Read the documents one by one; none is kept."""
        return _build(documents, lambda _, postings: postings)

    @classmethod
    def write(cls, documents: Iterable[Fields], folder: Path) -> None:
        """Make a segment in a folder that exists, for `load`; in memory is one part at a time. Raises
        OSError."""

        def keep(name: str, postings: Postings) -> Postings:
            postings.save(folder, name)
            return Postings.load(folder, name)

        made = _build(documents, keep)
        np.save(folder / _OWNER, np.append(made.owner, made.size), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> "Segment":
        """A segment that was saved; read from disk where a search needs it. Raises OSError, ValueError,
        RuntimeError."""
        owner = np.load(folder / _OWNER, allow_pickle=False)
        whole, passages, pieces = (Postings.load(folder, name) for name in _MATRICES)
        if not len(passages) == len(owner) - 1 or not len(whole) == len(pieces) == owner[-1]:
            raise ValueError("the files of the index do not belong together")
        return cls(int(owner[-1]), owner[:-1], whole, passages, pieces)


NOWHERE = -1
"""The place of a document that is no longer searched."""


class Lexical:
    """An index of documents by their words. Searching is safe from several threads."""

    def __init__(self, documents: Iterable[Fields] = ()) -> None:
        """Read the documents one by one; none is kept."""
        segment = Segment.build(documents)
        self._set([(segment, np.arange(len(segment)))], len(segment))

    @classmethod
    def of(cls, segments: Sequence[tuple[Segment, NDArray[np.intp]]], size: int) -> "Lexical":
        """An index of segments, which scores as one segment of all of them would. With each come the places
        of its documents among the `size` that are searched, `NOWHERE` for those that are not."""
        made = cls.__new__(cls)
        made._set(segments, size)  # noqa: SLF001 - our own
        return made

    def _set(self, segments: Sequence[tuple[Segment, NDArray[np.intp]]], size: int) -> None:
        kept = [(segment, places != NOWHERE) for segment, places in segments]
        self._segments = segments
        self._size = size
        self.whole = Ranking([(segment.whole, own) for segment, own in kept])
        self.passages = Ranking([(segment.passages, own[segment.owner]) for segment, own in kept])
        self.pieces = Ranking([(segment.pieces, own) for segment, own in kept])

    def __len__(self) -> int:
        return self._size

    def scores(self, query: str) -> Scores:
        """One score a document, zero where nothing matches."""
        spelled = _spelled(query)
        asked = _stemmed(spelled)
        whole, passages = self.whole.scores(asked), self.passages.scores(asked)
        by_words = np.zeros(self._size)
        for (segment, places), own, by_passage in zip(self._segments, whole, passages, strict=True):
            best = np.zeros(len(segment))
            np.maximum.at(best, segment.owner, by_passage)
            self._put(by_words, places, own + PASSAGE_WEIGHT * best)
        if not by_words.any():
            return by_words
        by_pieces = np.zeros(self._size)
        for (_, places), own in zip(self._segments, self.pieces.scores(pieces(spelled)), strict=True):
            self._put(by_pieces, places, own)
        by_pieces[by_words <= 0] = 0.0  # pieces alone are no match: nearly every document shares some
        weight = PIECE_WEIGHT * by_words.max() / (by_pieces.max() or 1.0)
        return np.asarray(by_words + weight * by_pieces, dtype=np.float64)

    def _put(self, scores: Scores, places: NDArray[np.intp], own: Scores) -> None:
        kept = places != NOWHERE
        scores[places[kept]] = own[kept]


_OWNER = "owner.npy"
_MATRICES = ("whole", "passages", "pieces")


def _build(documents: Iterable[Fields], keep: Callable[[str, Postings], Postings]) -> Segment:
    """`keep` is given each matrix as soon as it is made, under its name."""
    whole, passages, first_words = _Counted(), _Counted(), _Counted()
    owner = array("i")
    vocabulary = _Vocabulary()
    size = 0
    for size, document in enumerate(documents, start=1):
        title, _ = vocabulary.numbers(document.title)
        text, lengths = vocabulary.numbers(document.text)
        terms, _ = vocabulary.numbers(" ; ".join(document.terms))
        row = np.concatenate([title] * TITLE_TIMES + [text, terms])
        whole.add(row, size - 1)
        first_words.add(row[:PIECED_WORDS], size - 1)
        starts = passage_starts(len(lengths), PASSAGE_WORDS)
        # a word is in the passage that starts with its half and, except in the first half, in the one before
        half = np.repeat(np.arange(len(lengths)) // (PASSAGE_WORDS // 2), lengths)
        for place in (half, half - 1) if len(starts) > 1 else (np.zeros(len(text), np.intp),):
            inside = (place >= 0) & (place < len(starts))
            passages.add(text[inside], place[inside] + len(owner))
        for number in range(len(starts)):
            passages.add(title, len(owner) + number)
        owner.extend([size - 1] * len(starts))
    stems, stem_of = vocabulary.stems()
    by_words = keep("whole", Postings.build(stems, stem_of[whole.words], whole.rows, size))
    del whole
    by_passages = keep("passages", Postings.build(stems, stem_of[passages.words], passages.rows, len(owner)))
    del passages
    by_pieces = keep("pieces", _pieces_of(first_words, vocabulary.words, size))
    return Segment(size, np.frombuffer(owner, np.int32), by_words, by_passages, by_pieces)


class _Vocabulary:
    """Numbers for the words of many texts, given out as they appear."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._known: dict[str, tuple[int, ...]] = {}

    @property
    def words(self) -> Iterable[str]:
        return self._numbers.keys()

    def numbers(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The numbers of a text's words, and how many words each piece between white space gave."""
        found = [self._known.get(written) or self._learn(written) for written in text.split()]
        lengths = np.fromiter(map(len, found), np.intp, len(found))
        return np.fromiter(chain.from_iterable(found), np.int32, int(lengths.sum())), lengths

    def _learn(self, written: str) -> tuple[int, ...]:
        if len(self._known) >= _KNOWN_PIECES:
            self._known.clear()
        numbers = self._numbers
        learned = tuple(numbers.setdefault(word, len(numbers)) for word in _spelled_parts(written))
        self._known[written] = learned
        return learned

    def stems(self) -> tuple[marisa_trie.Trie, NDArray[np.int32]]:
        """The distinct stems, and for each word the number of its stem."""
        stems = _stemmed(list(self._numbers))
        numbers = {stem: number for number, stem in enumerate(dict.fromkeys(stems))}
        words, number_of = numbered(list(numbers))
        return words, number_of[np.fromiter((numbers[stem] for stem in stems), np.int32, len(stems))]


_KNOWN_PIECES = 200_000


class _Counted:
    """Occurrences of words in rows, collected without a Python object for each."""

    def __init__(self) -> None:
        self._words = array("i")
        self._rows = array("i")

    def add(self, words: NDArray[np.int32], rows: int | NDArray[np.intp]) -> None:
        self._words.frombytes(words.tobytes())
        self._rows.frombytes(np.broadcast_to(np.asarray(rows, np.int32), words.shape).tobytes())

    @property
    def words(self) -> NDArray[np.int32]:
        return np.frombuffer(self._words, np.int32)

    @property
    def rows(self) -> NDArray[np.int32]:
        return np.frombuffer(self._rows, np.int32)


def _pieces_of(found: _Counted, vocabulary: Iterable[str], rows: int) -> Postings:
    """The pieces of the words that were found, counted in parts: written out they are six times as many."""
    numbers: dict[str, int] = {}
    flat, many = array("i"), array("i")
    for word in vocabulary:
        own = _pieces.__wrapped__(word)  # each word comes once: nothing to remember
        flat.extend(numbers.setdefault(piece, len(numbers)) for piece in own)
        many.append(len(own))
    words, number_of = numbered(list(numbers))
    del numbers
    pieces_of_word = number_of[np.frombuffer(flat, np.int32)]
    length = np.frombuffer(many, np.int32)
    first = np.cumsum(length) - length
    kept = (array("i"), array("i"), array("H"))  # pieces, rows, times: at most `PIECED_WORDS` words in a row
    for start in range(0, len(found.words), _AT_ONCE):
        chosen = found.words[start : start + _AT_ONCE]
        repeats = length[chosen]
        within = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        piece = pieces_of_word[np.repeat(first[chosen], repeats) + within].astype(np.int64)
        row = np.repeat(found.rows[start : start + _AT_ONCE], repeats)
        keys, counts = np.unique(piece * rows + row, return_counts=True)
        for column, values in zip(kept, (*np.divmod(keys, rows), counts), strict=True):
            column.frombytes(values.astype(column.typecode).tobytes())
    piece_column, row_column, times = (np.frombuffer(column, column.typecode) for column in kept)
    return Postings.build(words, piece_column, row_column, rows, times)


_AT_ONCE = 50_000
"""Words whose pieces are counted at once."""
