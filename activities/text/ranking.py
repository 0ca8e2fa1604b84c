"""How well a document and each of its sentences answer a question, without a language model.

Coverage of the question's terms by a document and by each sentence (`needle`), how likely the document is on
the question (`directness`), then diversity by maximal marginal relevance.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from activities.text.answer_given import weighed
from activities.text.answering import OF_SEVERAL_WORKS, answering
from activities.text.compared_rows import compared
from activities.text.concepts import Word
from activities.text.directness import Model, beside, names_it, on_another_thing
from activities.text.excerpt import excerpt
from activities.text.facets import Facet, is_about
from activities.text.needle import LONGEST_REMEMBERED, TITLE_COUNT, AsKey, Needle, Reading, named_by_its_file
from activities.text.parts import Part, calls_for_research
from activities.text.question import Form, answer_fit, asked
from activities.text.sentences import OF_THE_USER, Sentence, sentences
from activities.text.tokens import pairs, terms
from activities.types import Evidence

RELEVANT = 0.5
"""Relevance from which an item is held to help with the question (0 to 1)."""
BESIDE_THE_BEST = 0.6
"""An item under this share of the best one's relevance does not help beside it."""
ANSWERS = 0.45
"""Coverage from which one sentence is held to answer a question."""

_MANY_DIGITS = 0.07
_BY_TITLE = 0.6
"""Share at which a word of the question counts for a sentence that only its work's title has."""
ON_ANOTHER_THING = 0.3
"""Relevance is cut to this share for a work that does not mention a thing the question names: a finding about
vitamin C answers no question about vitamin E."""
NAMED_IT = 0.45
"""`directness.probability` at least of a work that names the one thing a question for a fact is about."""

COMPARED = 1.5
"""Score of a row that was compared, above that of any sentence that holds the words alone."""

_PART_WEIGHT: dict[Part, float] = {
    "conclusion": 1.3,
    "results": 1.12,
    "plain": 1.0,
    "limitations": 0.75,
    "background": 0.62,
    "methods": 0.45,
    "aim": 0.3,
}
_FACT_ANYWHERE = 1.0
_DANGLING = (
    "this ", "these ", "those ", "it ", "they ", "such ", "both ", "there was no ", "there were no ",
    "the former", "the latter", "their ", "its ", "among these", "of these", "of them", "all of ", "similar ",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ranked:
    """A sentence with its score against a question."""

    sentence: Sentence
    score: float
    coverage: float
    """Share of the question's weight that the sentence itself holds."""
    about: float
    """The same with what its work's title holds, which counts less; 0 for a sentence that holds nothing."""


@dataclass(frozen=True, slots=True)
class Item:
    """A document with its relevance and its sentences, best first."""

    document: Evidence
    relevance: float
    ranked: tuple[Ranked, ...]
    near: float = 0.0
    """Relevance but for what is missing."""
    direct: float = 0.0
    """How directly the work addresses the question: the calibrated probability that it answers it."""
    missing: tuple[Word, ...] = ()
    """Things the question names that the work does not mention."""
    compared: int = 0
    """How many of its sentences, the first ones, are rows that the question compares its way to."""

    @property
    def best(self) -> float:
        """Score of the best sentence."""
        return self.ranked[0].score if self.ranked else 0.0


def bag(document: Evidence) -> Mapping[str, int]:
    """Counts of terms and pairs in what is known of a document, the title included."""
    return _bag(document.title, sentences(document))


@lru_cache(maxsize=512)
def _bag(title: str, said: tuple[Sentence, ...]) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for sentence in said:
        counts.update(sentence.terms)
        counts.update(pairs(sentence.terms))
    words = terms(title)
    for term in (*words, *pairs(words)):
        counts[term] += TITLE_COUNT
    return counts


def rank(question: str, documents: Sequence[Evidence], facet: Facet | None = None) -> list[Item]:
    """Every document with its relevance to the question and its sentences best first, in the given order.

    Sentences about the facet are put before the others. Long texts are read in part (`excerpt`)."""
    read = [excerpt(question, document) for document in documents]
    known: Sequence[Item]
    if any(len(document.text) > LONGEST_REMEMBERED for document in read):
        known = _rank(question, read, facet)
    else:
        known = _ranked(question, tuple(map(AsKey, read)), facet)
    whole = (replace(item, document=document) for item, document in zip(known, documents, strict=True))
    return [_with_compared_rows(question, item) for item in whole]


def _with_compared_rows(question: str, item: Item) -> Item:
    """The item with the rows first that the question compares its way to: its words are in every row of a
    table, or in none."""
    document = item.document
    found = compared(question, document) if document.evidence_type in OF_THE_USER else None
    if found is None:
        return item
    known = {ranked.sentence.quote: ranked.sentence for ranked in item.ranked}
    read = [
        known[row] if row in known else next(iter(sentences(document.model_copy(update={"text": row}))), None)
        for row in found.rows
    ]
    rows = [sentence for sentence in read if sentence is not None]
    if len(rows) < len(found.rows):
        return item
    best = [Ranked(sentence, COMPARED - place / 1000, 1.0, 1.0) for place, sentence in enumerate(rows)]
    direct = max(item.direct, NAMED_IT)
    others = (ranked for ranked in item.ranked if ranked.sentence.quote not in found.rows)
    return Item(document, 1.0, (*best, *others), near=1.0, direct=direct, compared=len(best))


@lru_cache(maxsize=64)
def _ranked(question: str, documents: tuple[AsKey, ...], facet: Facet | None) -> tuple[Item, ...]:
    """Kept, because one step ranks the same documents for its prompt, for code's own answer and for its
    checks."""
    return tuple(_rank(question, [one.document for one in documents], facet))


def _rank(question: str, documents: Sequence[Evidence], facet: Facet | None) -> list[Item]:
    needle = Needle(question, documents)
    form = asked(question).form
    fact = form in ("fact", "list", "definition")
    judged = answering(question, documents, needle)
    models, chances = [model for model, _ in judged], [chance for _, chance in judged]
    if fact:
        named = (names_it(needle, reading) for reading in needle.readings())
        chances = [max(c, NAMED_IT) if known else c for c, known in zip(chances, named, strict=True)]
    read = zip(needle.readings(), documents, chances, strict=True)
    chances = [weighed(question, needle, reading, document, chance) for reading, document, chance in read]
    elsewhere = [on_another_thing(needle, reading) for reading in needle.readings()]
    items: list[Item] = []
    for place, (document, reading) in enumerate(zip(documents, needle.readings(), strict=True)):
        focus = needle.focus(reading)
        ranked = [
            score(sentence, *needle.covered(spoken, reading), focus, facet, answer_value(question, sentence))
            for sentence, spoken in zip(sentences(document), reading.sentences, strict=True)
        ]
        ranked.sort(key=lambda r: (-r.score, r.sentence.place))
        chance = chances[place] if ranked else 0.0
        near = _relevance(chance, _least_chance(models[place], document, form, reading))
        others = [0.0 if elsewhere[n] else c for n, c in enumerate(chances) if n != place]
        # a question for an overview, or for several things, is answered by several works
        sure = chance if form in OF_SEVERAL_WORKS else beside(chance, others, models[place])
        direct = 0.0 if elsewhere[place] or not ranked else sure
        relevance = near * ON_ANOTHER_THING if elsewhere[place] else near
        items.append(
            Item(document, round(relevance, 4), tuple(ranked), round(near, 4), direct, reading.missing)
        )
    return items


def _least_chance(model: Model, document: Evidence, form: Form, reading: Reading) -> float:
    if not reading.untitled:
        if document.evidence_type in OF_THE_USER or form in OF_SEVERAL_WORKS:
            return model.least
        return model.least_among_many if reading.missing else model.least_all_said
    return model.least_of_file if named_by_its_file(document) else model.least_untitled


def _relevance(chance: float, least: float) -> float:
    """`RELEVANT` at the least probability that counts, and in equal steps below and above it."""
    if chance < least:
        return RELEVANT * chance / least
    return RELEVANT + (1 - RELEVANT) * (chance - least) / (1 - least)


def relevant(items: Sequence[Item]) -> list[Item]:
    """The items that help with the question, in the given order."""
    floor = max(RELEVANT, BESIDE_THE_BEST * max((i.relevance for i in items), default=0.0))
    return [i for i in items if i.relevance >= floor and i.ranked]


def answer_value(question: str, sentence: Sentence) -> float:
    """Factor for the part of the work a sentence is from and for the kind of answer it gives. A fact may
    stand anywhere; a finding stands in results and conclusions."""
    want = asked(question)
    if want.form in ("yes_no", "open"):
        return _PART_WEIGHT[sentence.part]
    return max(_PART_WEIGHT[sentence.part], _FACT_ANYWHERE) * (
        0.75 + 0.5 * answer_fit(want, question, sentence.text)
    )


def score(
    sentence: Sentence,
    own: float,
    titled: float,
    focus: float,
    facet: Facet | None = None,
    factor: float = 1.0,
) -> Ranked:
    """How well a sentence answers: its coverage with and without its work's title, its document's focus,
    `answer_value`, its aspect, and whether it can stand alone."""
    about = own + _BY_TITLE * (titled - own)
    value = (0.6 * about + 0.4 * focus) * factor
    if facet is not None and facet.name != "findings":
        value *= 1.3 if is_about(facet, sentence) else 0.8
        if sentence.part in facet.parts:
            value /= min(_PART_WEIGHT[sentence.part], 1.0)
    if calls_for_research(sentence.text) and (facet is None or facet.name != "open"):
        value *= 0.6
    dangling, of_odd_length, numeric = _manner(sentence.text)
    if dangling:
        value *= 0.85
    if of_odd_length:
        value *= 0.88
    if numeric:
        value *= 0.9
    return Ranked(sentence, value, own, about if own else 0.0)


@lru_cache(maxsize=8192)
def _manner(text: str) -> tuple[bool, bool, bool]:
    """Whether a sentence leans on the one before it, is short or long, and consists of numbers."""
    return (
        text.casefold().startswith(_DANGLING),
        not 9 <= len(text.split()) <= 55,
        sum(c.isdigit() for c in text) > _MANY_DIGITS * len(text),
    )


def similarity(one: Sentence, other: Sentence) -> float:
    """Jaccard overlap of content terms, 0 to 1."""
    a, b = set(one.terms), set(other.terms)
    return len(a & b) / len(a | b) if a and b else 0.0


def diverse(ranked: Sequence[Ranked], count: int, trade: float = 0.7) -> list[Ranked]:
    """Choose by maximal marginal relevance (Carbonell and Goldstein 1998): `trade` for relevance, the rest
    against similarity to what was already chosen."""
    pool = sorted(ranked, key=lambda r: (-r.score, r.sentence.evidence_id, r.sentence.place))
    chosen: list[Ranked] = []
    likeness = dict.fromkeys(range(len(pool)), 0.0)
    while likeness and len(chosen) < count:
        best = max(likeness, key=lambda i: (trade * pool[i].score - (1 - trade) * likeness[i], -i))
        del likeness[best]
        chosen.append(pool[best])
        for i in likeness:
            likeness[i] = max(likeness[i], similarity(pool[i].sentence, pool[best].sentence))
    return chosen


def answered(question: str, documents: Sequence[Evidence]) -> bool:
    """True when some relevant document has a sentence that covers most of the question."""
    return any(
        item.relevance >= RELEVANT and any(r.coverage >= ANSWERS for r in item.ranked)
        for item in rank(question, [d for d in documents if d.standing != "retracted"])
    )
