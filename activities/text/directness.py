"""How likely a work answers a question: a logistic model of what it mentions of the question's words."""

import math
from collections.abc import Collection
from typing import NamedTuple

from activities.text.needle import SURE, Needle, Reading
from activities.text.technical import NAMED

_IN_TITLE = 0.7
"""What a word of the question counts for a sentence that only its work's title has."""


class Signs(NamedTuple):
    """What a work mentions of a question."""

    title: float
    """Share of the question's weight in its title."""
    together: float
    """The same in the one sentence, or the title, that holds most."""
    untitled: float
    """1 where the title is not known."""
    at_once: float
    """Share of the question's information content in one sentence with the title."""
    name_missing: float
    """1 where a name is missing: of a drug, disease or symptom, written with a capital or digits, or of
    several words."""
    other_subject: float
    """`Word.technical` of the most technical missing word that another work at hand is about."""
    said_elsewhere: float
    """Information content of the most telling missing word that another work at hand mentions."""
    like: float
    """Highest cosine of the question and one sentence with the title: by vectors of words (`likeness`), or by
    the encoder of sentences (`answering`)."""


class Model(NamedTuple):
    """How signs become a probability, and from which one a work is held to answer.

    A logistic regression, fitted on the halves `choosing` of PubMedQA's questions and their variants, with
    and without titles (`benchmarks/relevance.py`), and of `benchmarks/own_documents.py`, which count four
    times: does a work answer?"""

    weights: Signs
    constant: float
    own: float
    """With the next two: the same for the first citation being the right one, over the answered questions of
    those halves. Weight of the log odds of the work."""
    following: float
    """Weight of the log odds of the next best work."""
    chance: float
    """The constant of these two."""
    least: float
    """Probability under which a work is held to be about something else."""
    least_among_many: float
    """The same of a work of the literature, where one work answers the question: others are on questions next
    to it."""
    least_all_said: float
    """The same of one of these that mentions everything that the question names."""
    least_untitled: float
    """The same of a record without its title, which presupposes what the title says."""
    least_of_file: float
    """The same of a file without a title of its own, which presupposes less."""


BY_WORDS = Model(
    weights=Signs(
        title=0.92,
        together=1.58,
        untitled=0.78,
        at_once=3.38,
        name_missing=-0.92,
        other_subject=-6.23,
        said_elsewhere=-1.56,
        like=4.62,
    ),
    constant=-5.32,
    own=0.69,
    following=-0.65,
    chance=-0.96,
    least=0.48,
    least_among_many=0.8,
    least_all_said=0.8,
    least_untitled=0.2,
    least_of_file=0.3,
)
"""For `Signs.like` by vectors of words."""
BY_ENCODER = Model(
    weights=Signs(
        title=-1.86,
        together=-0.22,
        untitled=-0.45,
        at_once=3.22,
        name_missing=0.13,
        other_subject=-6.58,
        said_elsewhere=-1.45,
        like=12.03,
    ),
    constant=-6.62,
    own=0.48,
    following=-0.24,
    chance=0.82,
    least=0.48,
    least_among_many=0.8,
    least_all_said=0.55,
    least_untitled=0.2,
    least_of_file=0.38,
)
"""For `Signs.like` by the encoder of sentences, which reads a title with each sentence: beside it a title
counts no more."""
LEAST_ODDS = -4.0
"""Log odds under which it does not matter how far behind the next work is."""


def signs(needle: Needle, reading: Reading) -> Signs:
    """What a work mentions of a question."""
    words = needle.words
    unsaid = [place for place in range(len(words)) if place not in reading.spoken]
    title = needle.coverage(reading.title)
    told = (_told_at_once(needle, places, reading.title) for places in reading.sentences)
    return Signs(
        title=title,
        together=max(
            (needle.coverage(places) for places in (*reading.sentences, reading.title)), default=0.0
        ),
        untitled=float(reading.untitled),
        at_once=max(told, default=0.0),
        name_missing=float(any(is_name(needle, place) or _in_compound(needle, place) for place in unsaid)),
        other_subject=max((words[p].technical for p in unsaid if needle.subjects[p]), default=0.0),
        said_elsewhere=max(
            (needle.information[p] for p in unsaid if needle.holders[p] and not needle.is_weak(p)),
            default=0.0,
        ),
        like=reading.like,
    )


def _told_at_once(needle: Needle, places: Collection[int], title: Collection[int]) -> float:
    return (1 - _IN_TITLE) * needle.told(places) + _IN_TITLE * needle.told({*places, *title})


def is_name(needle: Needle, place: int) -> bool:
    """Whether a word surely names one thing: a name of the vocabularies, or with digits or capitals."""
    word = needle.words[place]
    capital = place > 0 and word.technical >= NAMED and word.shown[:1].isupper()
    return word.entity or word.exact or capital


def _in_compound(needle: Needle, place: int) -> bool:
    return needle.words[place].compound and not needle.is_weak(place)


def probability(found: Signs, model: Model = BY_WORDS) -> float:
    """The probability that a work answers the question, by itself."""
    weighed = (weight * sign for weight, sign in zip(model.weights, found, strict=True))
    return logistic(model.constant + sum(weighed))


def beside(own: float, others: Collection[float], model: Model = BY_WORDS) -> float:
    """The probability that a work answers the question, beside the `probability` of the other works at
    hand: the nearer the next one comes, the less sure it is, up to even odds of that one, which are assumed
    where there is no other work."""
    following = max(LEAST_ODDS, min(log_odds(max(others, default=0.5)), 0.0))
    return logistic(model.own * log_odds(own) + model.following * following + model.chance)


def log_odds(probability: float) -> float:
    """Log odds of a probability, which is kept from 0 and 1."""
    sure = min(max(probability, 0.001), 0.999)
    return math.log(sure / (1 - sure))


def logistic(value: float) -> float:
    """The probability of log odds."""
    return round(1 / (1 + math.exp(-value)), 4)


def on_another_thing(needle: Needle, reading: Reading) -> bool:
    """Whether a work surely answers another question: it does not mention a name of it, what is said to have
    an effect, or a thing that another of the works at hand is about, or it speaks of another thing of the
    same kind or of people of another age."""
    if reading.without_intervention or reading.other_people or reading.neighbours:
        return True
    if reading.displaced and reading.missing:
        return True
    return any(
        is_name(needle, place) or word.technical >= SURE or (word.technical and needle.subjects[place])
        for place, word in enumerate(needle.words)
        if word in reading.missing
    )


def names_it(needle: Needle, reading: Reading) -> bool:
    """Whether a work mentions the one name that a question for a fact is about (a trial, a new drug)."""
    words = needle.words
    return any(word.technical >= SURE and place in reading.counts for place, word in enumerate(words))
