"""How likely a work addresses a question: logistic models of what it mentions of the question's words."""

import math
from collections.abc import Sequence

from activities.text.needle import SURE, THING, Needle, Reading
from activities.text.sentences import Sentence

_DIRECTNESS = {
    "missing": -1.45, "best": 1.97, "focus": 1.0, "main": 3.69, "main_things": -0.46, "named": 0.61, "title":
    3.03,
}  # fmt: skip
_CONSTANT = -4.27
"""Weights of a logistic regression, chosen on the half `choosing` of PubMedQA's questions and their variants
(`benchmarks/relevance.py`): does the work that answers a question answer it in these words? By name: how
technical the most technical word is that is missing; the share of the question in the best sentence, in the
work with saturation, in its title and conclusions, of its things there, how many things are named, and the
share of the question in the title."""
_DIRECT = (0.66, 4.46, 1.73, -6.14)
"""The same for the first citation being the right one, over the answered questions: weights of the odds of
relevance, of the share of the question that is covered anywhere and in one place, and the constant. Scaled
(Platt 1999) so that the estimate is right as often as it says, over the answered questions of that half."""
_UNTITLED = 0.5
"""What the sentence that holds most of the question counts for a title, in a work without one."""


def calibrated(needle: Needle, reading: Reading, near: float) -> float:
    """The calibrated probability that a work answers a question of relevance `near`."""
    odds = math.log(max(near, 1e-3) / (1 - min(near, 0.9999)))
    whole = needle.coverage(reading.spoken)
    together = max(needle.coverage(spoken) for spoken in (*reading.sentences, reading.title))
    near_odds, spoken_of, at_once, constant = _DIRECT
    value = near_odds * odds + spoken_of * whole + at_once * together + constant
    return round(1 / (1 + math.exp(-value)), 4)


def names_it(needle: Needle, reading: Reading) -> bool:
    """Whether a work mentions the one name that a question for a fact is about (a trial, a new drug)."""
    words = needle.words
    return any(word.technical >= SURE and place in reading.counts for place, word in enumerate(words))


def directness(needle: Needle, reading: Reading, said: Sequence[Sentence], focus: float) -> float:
    """How likely a work is about the question, 0 to 1: a logistic model of what it mentions."""
    words = needle.words
    concluding = [spoken for s, spoken in zip(said, reading.sentences, strict=True) if s.part == "conclusion"]
    main = reading.title.union(*concluding)
    things = [place for place, word in enumerate(words) if word.technical >= THING]
    values = {
        "missing": max((w.technical for p, w in enumerate(words) if p not in reading.spoken), default=0.0),
        "best": max((needle.coverage(spoken) for spoken in reading.sentences), default=0.0),
        "focus": focus,
        "main": needle.coverage(main),
        "main_things": sum(p in main for p in things) / len(things) if things else 0.5,
        "named": sum(words[place].technical for place in reading.spoken),
        "title": needle.coverage(reading.title),
    }
    if reading.untitled:
        values["title"] = max(values["title"], _UNTITLED * values["best"])
    direct = 1 / (1 + math.exp(-_CONSTANT - sum(_DIRECTNESS[name] * value for name, value in values.items())))
    # a question that names no thing is about whatever holds its words
    return direct if things else max(direct, 0.55 * focus + 0.45 * values["best"])
