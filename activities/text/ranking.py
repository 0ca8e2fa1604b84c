"""Which documents, and which of their sentences, are nearest to a question.

BM25 of the question and of the vocabularies' other names of what it names chooses the documents; the encoder
reads their titles and the sentences with most of these words. Both scores, each with a mean of zero and a
deviation of one, are added (`benchmarks/passages.py` compares ways to join them). Sentences are ranked alike
among those of all documents. Nothing here reads what a sentence says.

The encoder takes some ten milliseconds a sentence. Vectors of sentences are remembered by their content
(`activities.text.embeddings`), those of a library in the home (`activities.sources.library.encoding`); of a
text whose vectors are known all sentences count. Without the encoder words alone rank.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from activities.contracts.evidence import Evidence
from activities.dates import days_in
from activities.text.embeddings import Embedder, Vectors, embedder
from activities.text.entities import link
from activities.text.language import ENGLISH, language_of_question, main_languages
from activities.text.sentences import OF_THE_USER, Sentence, language_in, sentences
from activities.text.tokens import terms, weak_stems

RELEVANT = 0.3
"""`Item.relevance` from which a document is near enough to be shown: 95 % of the questions about a user's own
documents have their text at 0.32 or nearer, and 95 % of those about other matters none nearer than 0.29."""
FAR_BEFORE = 12.0
"""Score (`RankedSentence`) from which a statement of the user's own is near by its words alone, whatever the
encoder makes of a row of figures: in a text of a few pages none has it."""
OF_DAY = 6.0
"""Score of a statement with a day that the question names: before what is near alone, and hiding nothing."""
OF_WHOLE = 0.8
"""Share of the whole in the nearness of a sentence of an abstract, whose sentences explain each other."""
RANK_CONSTANT = 10
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009) for the few sentences of
a document; its paper has 60 for lists of a thousand."""
WORDS, MEANING = 1, 2
"""Times that words and meaning count."""
OTHER_NAMES = 0.5
"""Times that the vocabularies' other names count beside the question's own words."""
MAX_NAMES = 12
"""Other names of one thing that are searched for."""
TITLE_TIMES = 2
"""A word of the title counts as so many."""
MAX_ENCODED_DOCUMENTS = 60
"""Documents, best first by words, whose sentences the encoder reads."""
MIN_ENCODED_SENTENCES, MAX_ENCODED_SENTENCES = 3, 120
"""Sentences that it reads of each of them at least, those with most of the question's words, and of all
together where that is more. By several texts it reads one of each, which tells what is near."""
MAX_KEPT_SENTENCES = 2_000
"""Sentences of one document whose vectors a library keeps: some hundred pages."""

_DIGITS = re.compile(r"[\d:][\d.,:/-]*")
"""Digits with the signs between them: little of a text is looked through for numbers of several kinds."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_DAY = re.compile(r"(?<!\d)\d++(?:[-/]\d++)+")
"""A date or another number of several, which is a word beside its parts."""
_MINUTE = re.compile(r"(?<![\d:])\d{1,2}:\d\d(?=:\d\d)")
"""The hour and minute of a time with seconds, which a log has and a question seldom."""

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence with its score among those of its document."""

    sentence: Sentence
    score: float
    """In deviations, by words and meaning of all sentences at hand."""
    likeness: float | None = None
    """Cosine with the question; None where the encoder did not read it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A document with its place among the others and its sentences, best first."""

    document: Evidence
    score: float
    """Fused; comparable within one call."""
    relevance: float
    """0 to 1, comparable between calls: the cosine of the nearest sentence; without the encoder the share of
    the question's words, weighted by rarity, that the document has."""
    sentences: tuple[RankedSentence, ...]
    near_by_words: bool = False
    """It is the user's own and has all words of the question that any document has, or a row far ahead."""


def rank(
    question: str,
    documents: Sequence[Evidence],
    by_words: Sequence[float] | None = None,
    encode: Callable[[Embedder, Sequence[str]], Vectors] = Embedder.encode,
) -> list[Item]:
    """Every document with its scores and its sentences best first, in the given order.

    `by_words`: scores of the documents by words, from an index of more documents than these. `encode`: what
    has an encoder read titles and sentences."""
    if not documents:
        return []
    corpus = _Corpus(documents)
    sentence_scores = corpus.by_words(corpus.sentence_index, question)
    word_scores = corpus.by_words(corpus.document_index, question) if by_words is None else np.array(by_words)
    (likeness,) = corpus.likeness([question], [word_scores], encode)
    scores, relevance = corpus.closeness(question, word_scores, likeness)
    totals = _combine(sentence_scores, np.concatenate([row[:-1] for row in likeness]))
    if days := corpus.days(question):
        totals += OF_DAY * np.array([not days.isdisjoint(words) for row in corpus.word_rows for words in row])
    has_words = corpus.has_words(question)
    items = []
    for n, (document, row) in enumerate(zip(documents, corpus.rows, strict=True)):
        is_of_user = document.evidence_type in OF_THE_USER
        part = totals[corpus.bounds[n] : corpus.bounds[n + 1]]
        part = part if is_of_user else (1 - OF_WHOLE) * part + OF_WHOLE * scores[n]
        cosines = [None if np.isnan(cosine) else float(cosine) for cosine in likeness[n][:-1]]
        entries = [*map(RankedSentence, row, part.tolist(), cosines)]
        entries.sort(key=lambda r: (-r.score, r.sentence.place))
        is_near = is_of_user and bool(entries) and (has_words[n] or entries[0].score >= FAR_BEFORE)
        items.append(Item(document, float(scores[n]), min(1.0, float(relevance[n])), tuple(entries), is_near))
    return items


def nearness(texts: Sequence[str], documents: Sequence[Evidence]) -> list[tuple[Scores, Scores]]:
    """Return for each of several texts the scores of the documents, and their relevance (`Item`).

    Their words are counted once, and the encoder reads the same sentences for all texts."""
    if not documents:
        return [(np.zeros(0), np.zeros(0)) for _ in texts]
    corpus = _Corpus(documents)
    word_scores = [corpus.by_words(corpus.document_index, text) for text in texts]
    return [*map(corpus.closeness, texts, word_scores, corpus.likeness(texts, word_scores))]


def best_first(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=lambda item: (-item.score, item.document.evidence_id))


def relevant_items(items: Iterable[Item]) -> list[Item]:
    """Return the items that are near enough, in the given order."""
    return [item for item in items if item.sentences and (item.relevance >= RELEVANT or item.near_by_words)]


def fuse(rankings: Sequence[Scores]) -> Scores:
    """Reciprocal rank fusion of several scores of the same things.

    Equal scores have equal ranks, and a score of zero or less is no match."""
    total = np.zeros(len(rankings[0]))
    for scores in rankings:
        ranks = np.searchsorted(np.sort(-scores), -scores)
        total += np.where(scores > 0, 1.0 / (RANK_CONSTANT + 1 + ranks), 0.0)
    return total


class Index:
    """BM25 of rows of terms."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._count = len(rows)
        import bm25s  # imports scipy, for which no worker waits that begins to poll

        self._index = bm25s.BM25(k1=1.2, b=0.75) if any(rows) else None
        if self._index is not None:
            self._index.index([list(row) for row in rows], show_progress=False)

    def scores(self, query: Sequence[str]) -> Scores:
        """Return the score of each row."""
        vocabulary = self._index.vocab_dict if self._index is not None else {}
        known_terms = [term for term in query if term in vocabulary]
        if self._index is None or not known_terms:
            return np.zeros(self._count)
        return np.asarray(self._index.get_scores(known_terms), np.float64)


def words(text: str, language: str = ENGLISH) -> list[str]:
    """Return the words of a text as they are compared: its terms, and its numbers."""
    return terms(text, language) + numbers(text, language)


def question_words(question: str, languages: Iterable[str] = (ENGLISH,)) -> list[str]:
    """Return the words of a question as documents of these languages may have them."""
    all_languages = dict.fromkeys((language_of_question(question) or ENGLISH, *languages))
    return list(dict.fromkeys(chain.from_iterable(words(question, language) for language in all_languages)))


def other_words(question: str) -> list[str]:
    """Words of the vocabularies' other names of what a question names, beside its own."""
    known_words, name_words = set(words(question)), dict.fromkeys(chain.from_iterable(other_names(question)))
    return [word for word in name_words if word not in known_words]


@lru_cache(maxsize=64)
def other_names(question: str) -> tuple[tuple[str, ...], ...]:
    """Return the vocabularies' names of what a question names, as terms, without weak words."""
    rows = (
        tuple(term for term in terms(name) if term not in weak_stems())
        for entity in link(question)
        for name in (entity.name, *entity.synonyms)[:MAX_NAMES]
    )
    return tuple(dict.fromkeys(row for row in rows if row))


def standardise(scores: Scores) -> Scores:
    """Scores with a mean of zero and a deviation of one; zeros where all are the same."""
    spread = scores.std() if len(scores) else 0.0
    return (scores - scores.mean()) / spread if spread > 1e-9 else np.zeros(len(scores))


def encoded_texts(document: Evidence, model: Embedder) -> list[str]:
    """Return what an encoder may read of a document: its title and its sentences; never nothing."""
    quotes = [_encoder_text(sentence, model) for sentence in sentences(document)[:MAX_KEPT_SENTENCES]]
    return [document.title, *quotes] if document.title or not quotes else quotes


def _encoder_text(sentence: Sentence, model: Embedder) -> str:
    return f"{sentence.quote}\n\n{sentence.paragraph}" if model.context else sentence.quote


class _Corpus:
    """Documents whose words are counted."""

    def __init__(self, documents: Sequence[Evidence]) -> None:
        self._documents = documents
        self.languages = main_languages(Counter(map(language_in, documents)))
        self.rows = [sentences(document) for document in documents]
        self.bounds = np.cumsum([0, *map(len, self.rows)])
        self.word_rows = [[[*s.terms, *numbers(s.quote, s.language)] for s in row] for row in self.rows]
        titles = [
            TITLE_TIMES * words(d.title, language_in(d)) + words(d.facts.get("mesh", "")) for d in documents
        ]
        self._term_rows = [[*title, *chain(*row)] for title, row in zip(titles, self.word_rows, strict=True)]
        self.document_index = Index(self._term_rows)

    @cached_property
    def sentence_index(self) -> Index:
        return Index([*chain.from_iterable(self.word_rows)])

    def by_words(self, index: Index, text: str) -> Scores:
        scores = index.scores(question_words(text, self.languages))
        return scores + OTHER_NAMES * index.scores(other_words(text))

    def has_words(self, text: str) -> list[bool]:
        """Tell which documents have all words of a text that any of them has, or a day that it names.

        None where it is in another language: only its words by chance are theirs."""
        if (text_language := language_of_question(text)) and text_language not in self.languages:
            return [False] * len(self._term_rows)
        sets = [frozenset(row) for row in self._term_rows]
        words = frozenset(question_words(text, self.languages)) & frozenset(chain.from_iterable(sets))
        days = self.days(text)
        return [bool(words) and (words <= row or not days.isdisjoint(row)) for row in sets]

    def days(self, text: str) -> frozenset[str]:
        return frozenset(days_in(text, language_of_question(text) or ENGLISH))

    def encoder(self, *texts: str) -> Embedder | None:
        """Return the encoder that knows the languages of these texts and of the documents."""
        return embedder((*self.languages, *map(language_of_question, texts)))

    def likeness(
        self,
        texts: Sequence[str],
        word_scores: Sequence[Scores],
        encode: Callable[[Embedder, Sequence[str]], Vectors] = Embedder.encode,
    ) -> list[list[Scores]]:
        """Return for each text and document the cosine of each of its sentences, and last that of its title.

        NaN where it was not computed."""
        grid = [[np.full(len(row) + 1, np.nan) for row in self.rows] for _ in texts]
        model = self.encoder(*texts)
        if model is None:
            return grid
        texts_of = [[_encoder_text(sentence, model) for sentence in row] for row in self.rows]
        cache = model.cached_vectors([*chain.from_iterable(texts_of)])
        ranking = word_scores[0] if len(texts) == 1 else fuse(word_scores)
        leaders = set(np.argsort(-ranking, kind="stable")[:MAX_ENCODED_DOCUMENTS].tolist())
        sentence_scores = [self.by_words(self.sentence_index, text) for text in texts]
        count = max(MIN_ENCODED_SENTENCES, MAX_ENCODED_SENTENCES // len(leaders)) if len(texts) == 1 else 1
        places = [(n, -1, self._documents[n].title) for n in leaders if self._documents[n].title]
        for n, row in enumerate(texts_of):
            sentence_places = {place for place, text in enumerate(row) if text in cache}
            if n in leaders:
                span = slice(self.bounds[n], self.bounds[n + 1])
                nearest = fuse([scores[span] for scores in sentence_scores])
                sentence_places |= set(np.argsort(-nearest, kind="stable")[:count].tolist())
            places += [(n, place, row[place]) for place in sentence_places]
        if not places:
            return grid
        cosines = model.encode(texts) @ encode(model, [text for *_, text in places]).T
        for grid_row, row_of_cosines in zip(grid, cosines, strict=True):
            for (n, place, _), cosine in zip(places, row_of_cosines, strict=True):
                grid_row[n][place] = cosine
        return grid

    def closeness(self, text: str, word_scores: Scores, likeness: Sequence[Scores]) -> tuple[Scores, Scores]:
        model = self.encoder(text)
        if model is None:
            words, sets = set(question_words(text, self.languages)), [*map(set, self._term_rows)]
            weights = {term: 1 / (1 + sum(term in row for row in sets) / len(sets)) for term in words}
            total = sum(weights.values()) or 1
            return word_scores, np.array([sum(weights[term] for term in words & row) / total for row in sets])
        relevance = model.scale * np.array([np.nanmax(row, initial=0.0) for row in likeness])
        nearest = np.array([*map(_nearest_mean, likeness, self._documents)], np.float64)
        return _combine(word_scores, nearest), relevance


def _combine(by_words: Scores, by_meaning: Scores) -> Scores:
    """Words and meaning; what the encoder has not read is as far as the furthest that it has."""
    has_meaning = ~np.isnan(by_meaning)
    scores = WORDS * standardise(by_words)
    if has_meaning.any():
        meaning = standardise(by_meaning[has_meaning])
        scores[has_meaning] += MEANING * meaning
        scores[~has_meaning] += MEANING * meaning.min()
    return scores


def numbers(text: str, language: str = ENGLISH) -> list[str]:
    """Return the numbers of a text as it writes them, and its dates, also as days of any year."""
    if not (digits := " ".join(_DIGITS.findall(text))):
        return []
    rows = [number for kind in (_NUMBER, _DAY, _MINUTE) for number in kind.findall(digits)]
    return rows + days_in(text, language)


def _nearest_mean(likeness: Scores, document: Evidence) -> float:
    """Return the mean cosine of the two nearest sentences of a work, of which one may be its title.

    By one alone chance decides more often. Of a text of the user's own one short sentence answers, and it
    alone counts."""
    cosines = np.sort(likeness[~np.isnan(likeness)])[-1 if document.evidence_type in OF_THE_USER else -2 :]
    return float(cosines.mean()) if len(cosines) else np.nan
