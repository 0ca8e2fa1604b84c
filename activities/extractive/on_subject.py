"""Which works help with a section: those about its subject, which do not only mention it, and its aspects."""

import re
from collections.abc import Sequence

from activities.extractive.topics import Sought, sought
from activities.text.entities import link
from activities.text.facets import Facet, is_about
from activities.text.needle import THING, Needle, Reading
from activities.text.ranking import Item, Ranked, answered, rank, relevant
from activities.text.sentences import Sentence, sentences
from activities.text.tokens import terms
from activities.types import Evidence

_MAY_HAPPEN = (
    re.compile(
        r"\b(?:(?:risks?(?: factors?)?|predictors?|odds(?: ratios?)?|incidence|prevalence|occurrence"
        r"|development|likelihood|chances?) (?:of|for)|prevent(?:s|ed|ing|ion of)?|develop(?:s|ed|ing)?"
        r"|associations? between [^,;.()]{2,60} and) (?P<what>[^,;.()]{2,60})",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<what>(?:[^\s,;.()]+ ){1,3})(?:risk|incidence|prevalence)\b", re.IGNORECASE),
)
LEAST_SHARE = 0.25
LEAST_SHARE_UNTITLED = 0.4
"""Share of a work's sentences, at least, that mention a name which neither title nor aim has; the same where
the title is not known."""
_DISEASES = ("disease", "phenotype")


def on_subject(subject: str, documents: Sequence[Evidence]) -> tuple[bool, ...]:
    """Whether each document is about a subject. Each name of it (`Word.entity`, `THING`) stands in the title
    (where that is not known, in the first sentence or the conclusion), in the aim or in sentence after
    sentence; every other noun stands anywhere; and the names are not those of another disease."""
    needle = Needle(subject, documents)
    return tuple(
        all(
            _holds(needle, place, reading, sentences(document), document.title)
            for place in range(len(needle.words))
        )
        and not _on_another_disease(subject, needle, document, reading)
        for document, reading in zip(documents, needle.readings(), strict=True)
    )


def _holds(needle: Needle, place: int, reading: Reading, said: Sequence[Sentence], title: str) -> bool:
    word = needle.words[place]
    having = [sentence for sentence, spoken in zip(said, reading.sentences, strict=True) if place in spoken]
    titled = place in reading.title
    gerund = word.shown.endswith("ing") and not word.noun
    if gerund:
        # The dictionary's synonyms are those of the verb: a tumour that presents is no screening.
        own = set(word.terms)
        having = [sentence for sentence in having if own <= set(sentence.terms)]
        titled = titled and own <= set(terms(title))
    if needle.is_weak(place) or (titled and not reading.untitled):
        return True
    if word.technical < THING and not word.entity:
        return not word.noun or place in reading.spoken
    if not (word.noun or word.entity or gerund):
        return place in reading.spoken  # of whom or of what kind: `older people`
    if any(s.part == "aim" for s in having):
        return True
    if reading.untitled and any(s is said[0] or s.part == "conclusion" for s in having):
        return True
    share = LEAST_SHARE_UNTITLED if reading.untitled and word.entity else LEAST_SHARE
    return len(having) >= max(1, share * len(said))


def _on_another_disease(subject: str, needle: Needle, document: Evidence, reading: Reading) -> bool:
    """Whether the words of a disease stand in a work only as words of another: prostate cancer's in rectal
    cancer near the prostate, spinal muscular atrophy's in spinal and bulbar muscular atrophy."""
    own = next((terms(e.surface) for e in link(subject) if e.kind in _DISEASES), [])
    said = sentences(document)
    rows = [*(sentence.terms for sentence in said), terms(document.title)]
    if len(own) < 2 or any(f" {' '.join(own)} " in f" {' '.join(row)} " for row in rows):
        return False
    opening = said[0].text if reading.untitled and said else document.title
    others = [set(terms(entity.surface)) for entity in link(opening) if entity.kind in _DISEASES]
    head, first = own[-1], set(own[:-1])
    return any(set(own) < other or (head in other and not first & other) for other in others)


def without_names_of(subject: str, text: str) -> str:
    """A text without the names that hold a word of the subject: that of an infection is no sign of harm where
    it is what the section is about."""
    own = set(terms(subject))
    for name in link(text)[::-1]:
        if own & set(terms(name.surface)):
            text = f"{text[: name.start]} {text[name.end :]}"
    return text


class AsOutcome:
    """Finds sentences that name a subject only as what may happen: of those who do not have a disease, the
    `risk of` it says nothing of its treatment or its prognosis."""

    def __init__(self, subject: str, documents: Sequence[Evidence]) -> None:
        self._needle = Needle(subject, documents)
        words = enumerate(self._needle.words)
        self._names = frozenset(p for p, word in words if word.entity and not self._needle.is_weak(p))

    def __call__(self, text: str) -> bool:
        """Whether a sentence names the subject as an outcome."""
        found = [m["what"] for pattern in _MAY_HAPPEN for m in pattern.finditer(text)]
        spoken = self._needle.concepts.read([terms(what) for what in found], found)
        return bool(self._names) and any(self._names <= places for places in spoken)


def about_subject(subject: str, items: Sequence[Item]) -> list[Item]:
    """The items that are about a subject, in the given order; all of them where it is empty."""
    if not subject:
        return list(items)
    on = on_subject(subject, [item.document for item in items])
    return [item for item, about in zip(items, on, strict=True) if about]


def helping(seek: Sought, ranked: Sequence[Item]) -> list[Item]:
    """Those of ranked items that help with what is sought, in the given order: the relevant ones that are
    about its subject and have a sentence about all of its aspects."""
    items = about_subject(seek.subject, relevant(ranked))
    return [item for item in items if any(about_all(seek.facets, ranked) for ranked in item.ranked)]


def about_all(facets: Sequence[Facet], ranked: Ranked) -> bool:
    """Whether a sentence is about all of these aspects."""
    return all(is_about(facet, ranked.sentence) for facet in facets)


def covered(question: str, documents: Sequence[Evidence]) -> bool:
    """Whether a relevant document has a sentence that answers: most of what is asked stands in it, or, for a
    section's question, it is about the aspects."""
    seek = sought(question)
    if seek.subject:
        return bool(helping(seek, rank(seek.text, [d for d in documents if d.standing != "retracted"])))
    return answered(question, documents)
