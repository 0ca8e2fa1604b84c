"""What a broad question is about, and which aspects of it are asked for.

`What are the treatment options for hernia?` is about hernia and asks for one aspect, its treatment options;
`Leigh syndrome: causes and treatment` asks for two; `What is known about asthma?` asks for none. Of any other
question (`Does coffee protect against liver cancer?`) the topic says less than the question.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from activities.extractive.query import topic_of
from activities.extractive.question_forms import as_phrase, joined, of_a_kind
from activities.text.entities import of_kind
from activities.text.facets import ASPECTS, DRUGS, Facet, framed
from activities.text.needle import SURE, Needle
from activities.text.pico import parts_of
from activities.text.question import asked
from activities.text.tokens import is_function, phrases, terms, weak_stems
from activities.types import Profile

LONGEST_ASPECT = 4
"""Words of an aspect in a list of them."""
_OPENING = re.compile(
    r"^(?:please\s+)?(?:(?:give|write|provide|prepare)(?: me| us)?\s+)?(?:an?\s+|the\s+)?(?:\w+\s+)?"
    r"(?:overview|summary|review|survey|report)\s+(?:of|on|about)\s+"
    r"|^what (?:is|are|was|were) (?:\w+ )?(?:known|understood|established) (?:about|of|on)\s+"
    r"|^what do (?:we|you|people) know (?:about|of|on)\s+"
    r"|^(?:please\s+)?(?:tell me about|describe|explain|summari[sz]e|discuss|compare|report on)\s+"
    r"|^(?:what|which) (?:is|are|was|were)\s+(?=the\b)",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"^how (?P<how>effective|beneficial|useful|safe|harmful|accurate) (?:is|are) (?P<what>.+)$", re.IGNORECASE
)
_SAFETY = next(facet for facet in ASPECTS if facet.name == "safety")
_HARMS = re.compile(
    rf"^(?:what|which) are (?:the )?(?:\w+ ){{0,2}}{_SAFETY.title} (?:of|from|with|associated with) "
    r"(?P<what>.+)$",
    re.IGNORECASE,
)
_JUDGED_BY = {
    **dict.fromkeys(("effective", "beneficial", "useful"), "benefits"),
    **dict.fromkeys(("safe", "harmful"), "safety"),
    "accurate": "diagnosis",
}
"""The aspect that each of these words asks for."""
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_PREPOSITION = re.compile(r"^(?:of|for|in|after|to|with|on|from|against|during|about)$", re.IGNORECASE)
_LIST = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+", re.IGNORECASE)
_WHAT_ARE_ITS = re.compile(
    r"^what (?:is|are|was|were) (?:its|their) (?P<what>[^?()]+?)\s*(?:\([^()]*\))?\s*\??$", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")
_ITS = re.compile(r"(?:,|\s+and)\s+(?:its|their)\s+", re.IGNORECASE)

_ASKS = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|may|might|must|what|which|who|why|how"
    r"|when|where|whether)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A broad question taken apart."""

    subject: str
    """What it is about, as typed."""
    whole: str
    """The same with the aspect that is asked for in its first words: `treatment options for hernia`."""
    aspects: tuple[str, ...] = ()
    """Each aspect that is asked for, with the subject; empty for a question about the subject as such."""
    is_whole: bool = True
    """Whether the question asks for all that is said of the subject and its aspects, and for nothing else."""
    is_phrase: bool = True
    """Whether the subject reads as a noun phrase. Else it is a row of names that may hold verbs."""


def topic(question: str, entities: tuple[str, ...] = ()) -> Topic:
    """A question taken apart; one that is no noun phrase after its opening is about what it names."""
    body = _SPACE.sub(" ", question).strip(" ?.!")
    if asks_for := as_phrase(body):
        phrase, subject = asks_for
        return Topic(subject, phrase, (phrase,))
    opening = _OPENING.match(body)
    text = _ARTICLE.sub("", body[opening.end() :] if opening else body)
    if opening is None and not _is_noun_phrase(body):
        parts = parts_of(question)
        if some := of_a_kind(parts):
            phrase, subject = some
            return Topic(subject, phrase, (phrase,), is_whole=False)
        named = joined(parts) or topic_of(question, entities)
        return Topic(named, named, is_whole=False, is_phrase=bool(joined(parts)))
    subject, colon, rest = text.partition(":")
    if not colon:
        subject, *more = _ITS.split(text, maxsplit=1)
        rest = more[0] if more else ""
    items = [item.strip() for item in _LIST.split(rest) if item.strip()]
    if rest and phrases(subject) and all(len(item.split()) <= LONGEST_ASPECT for item in items):
        subject = subject.strip(" ,")
        return Topic(subject, subject, tuple(f"{item} of {subject}" for item in items))
    lead, subject = _divided(text)
    whole = f"{_lower(lead)} {subject}".strip()
    return Topic(subject, whole, (whole,) if lead else ())


def with_antecedent(clause: str, subject: str) -> str:
    """`What are its adverse effects?` with what an earlier clause is about. Of adherence to HIV treatment it
    is the part with a name, HIV treatment; asthma in children has its name first."""
    found = _WHAT_ARE_ITS.match(clause)
    if found is None:
        return clause
    words = subject.split()
    for place, word in enumerate(words[1:-1], start=1):
        if _PREPOSITION.match(word) and not _has_name(words[:place]) and _has_name(words[place + 1 :]):
            subject = " ".join(words[place + 1 :])
            break
    return f"What are the {found['what']} of {subject}?"


def _has_name(words: Sequence[str]) -> bool:
    return any(word.entity or word.technical >= SURE for word in Needle(" ".join(words)).words)


@dataclass(frozen=True, slots=True)
class Sought:
    """What a section looks for in works."""

    text: str
    """What works and sentences are ranked by."""
    facets: tuple[Facet, ...] = ()
    """Aspects that a sentence must be about, all of them."""
    subject: str = ""
    """What works must be about; empty where the section's question is ranked as it is."""


def sought(question: str) -> Sought:
    """What a section's key question looks for. The wording that outlines have in common (`what do trials in
    patients show about`) is no part of it: any work holds such words."""
    frame = framed(question)
    if frame is None:
        return Sought(question)
    facet, about = frame[0], topic(frame[1])
    facets: tuple[Facet, ...] = () if facet.name == "findings" else (facet,)
    if about.aspects == (about.whole,):
        aspects = _aspects(about.whole)
        if not aspects:
            return Sought(about.whole, facets, about.subject)
        facets += tuple(aspect for aspect in aspects if aspect.name != facet.name)
    if facet.name == "safety":  # harm from the disease is none from its treatment
        facets += tuple(aspect for aspect in _named(about.subject) if aspect not in facets)
    return Sought(about.subject, facets, about.subject)


def asked_of_works(question: str, profile: Profile) -> str:
    """What a question asks of works, in the wording of an aspect. `How safe is X?` and `What are the side
    effects of X?` ask for harms of X. Where candidates are looked for, `Which approved drugs could be
    repurposed to slow it?` asks which drugs are candidates for the disease, and is answered by works that do
    not hold these words. Any other question stays as it is."""
    if how := _HOW.match(question.strip(" ?.!")):
        facet = next(facet for facet in ASPECTS if facet.name == _JUDGED_BY[how["how"].lower()])
        return facet.question.format(topic=_ARTICLE.sub("", how["what"]))
    if harms := _HARMS.match(question.strip(" ?.!")):
        return _SAFETY.question.format(topic=_ARTICLE.sub("", harms["what"]))
    want = asked(question)
    if not profile.candidates or framed(question) is not None or "drug" not in want.things:
        return question
    subject = topic(question).subject
    named = of_kind(subject, ("disease", "phenotype"))
    return DRUGS.question.format(topic=subject) if named else question


def aspect_of(text: str) -> Facet | None:
    """The aspect that the first words of a phrase ask for; None where it asks for no special one."""
    return next(iter(_aspects(text)), None)


def _aspects(text: str) -> tuple[Facet, ...]:
    lead, _ = _divided(text)
    return tuple(facet for facet in ASPECTS if re.search(facet.title, lead, re.IGNORECASE))


def _named(subject: str) -> tuple[Facet, ...]:
    """The aspects that a subject is named by: what is said of HIV treatment speaks of a treatment."""
    weak = weak_stems()
    words = [word for word in subject.split() if set(terms(word)) <= weak]
    return tuple(
        facet for facet in ASPECTS if any(re.fullmatch(facet.title, word, re.IGNORECASE) for word in words)
    )


def _divided(text: str) -> tuple[str, str]:
    """The first words that name an aspect, up to their last preposition, and what they are said of."""
    words = text.split()
    weak, end = weak_stems(), 0
    if words and words[0].lower().endswith("ing"):  # working from home is what the text is about
        return "", text
    for place, word in enumerate(words[:-1]):
        if _PREPOSITION.match(word):
            end = place + 1
        elif not (is_function(word) or set(terms(word)) <= weak or _names_an_aspect(word)):
            break
    while end and end < len(words) - 1 and words[end].endswith("ing") and set(terms(words[end])) <= weak:
        end += 1  # options for managing pain
    subject = _ARTICLE.sub("", " ".join(words[end:]))
    return (" ".join(words[:end]), subject) if phrases(subject) else ("", text)


def _lower(lead: str) -> str:
    """The first words without the capital of a sentence's beginning."""
    first = lead.split(" ", 1)[0]
    return lead[:1].lower() + lead[1:] if first[1:].islower() else lead


def _names_an_aspect(word: str) -> bool:
    return any(re.fullmatch(facet.title, word, re.IGNORECASE) for facet in ASPECTS)


def _is_noun_phrase(text: str) -> bool:
    """Whether a text without an opening is a name of a topic and no sentence: no verb that asks or states."""
    return not _ASKS.search(text) and bool(phrases(text))
