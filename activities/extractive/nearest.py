"""What comes nearest to a question that nothing found answers, so that a person can ask it in other words."""

from collections.abc import Collection, Sequence

from activities.drafts import NearWork
from activities.text.needle import Needle, Reading
from activities.text.ranking import Item, rank
from activities.text.tokens import terms
from activities.types import Evidence

MOST = 3
"""Works that are named."""
LEAST = 0.02
"""`Item.near` from which a work is named; chosen on the half `choosing` of `benchmarks/own_documents.py`,
which prints how often a refused question's own text is named."""
LONGEST_SAID = 300
"""Characters of the longest sentence that is shown."""


def nearest(question: str, documents: Sequence[Evidence]) -> tuple[NearWork, ...]:
    """The works that come nearest to a question, each with what the question names and it does not mention,
    and its nearest sentence. Retracted works are left out."""
    stand = [document for document in documents if document.standing != "retracted"]
    needle = Needle(question, stand)
    ranked = zip(rank(question, stand), needle.readings(), strict=True)
    near = sorted((pair for pair in ranked if pair[0].near >= LEAST), key=lambda pair: -pair[0].near)
    return tuple(
        NearWork(
            evidence_id=item.document.evidence_id,
            title=item.document.title,
            missing=_named(question, needle, _unsaid(needle, reading)),
            said=_said(question, item),
        )
        for item, reading in near[:MOST]
    )


def names_not_mentioned(question: str, documents: Sequence[Evidence]) -> tuple[str, ...]:
    """The things a question names that no document mentions, as typed."""
    if not documents:
        return ()
    needle = Needle(question, documents)
    places = set.intersection(*(_unsaid(needle, reading) for reading in needle.readings()))
    return _named(question, needle, places)


def _unsaid(needle: Needle, reading: Reading) -> set[int]:
    """Places of the words for things that a work does not mention in any form."""
    return {p for p, w in enumerate(needle.words) if w in reading.missing and p not in reading.spoken}


def _named(question: str, needle: Needle, places: Collection[int]) -> tuple[str, ...]:
    """Words as typed, neighbours as one name, and a single letter with the word that it follows (`vitamin
    E`)."""
    typed = " ".join(question.split()).casefold()
    found: list[str] = []
    last = -1
    for place in sorted(places):
        shown = needle.words[place].shown
        joined = f"{found[-1]} {shown}" if last == place - 1 and found else ""
        if joined and joined.casefold() in typed:
            found[-1] = joined
        elif place and len(shown) == 1:
            found.append(f"{needle.words[place - 1].shown} {shown}")
        elif not any(shown in name for name in found):
            found.append(shown)
        last = place
    return tuple(found)


def _said(question: str, item: Item) -> str:
    """The sentence of a work that comes nearest by its words and by their meaning, word for word; empty where
    each is long or says what the work's title says."""
    from activities.text.likeness import unit  # with numpy, which printing a report does without

    title = item.document.title.rstrip(".")
    short = [
        ranked
        for ranked in item.ranked
        if len(ranked.sentence.quote) <= LONGEST_SAID and ranked.sentence.quote.rstrip(".") != title
    ]
    if not short:
        return ""
    alike = unit([ranked.sentence.terms for ranked in short]) @ unit([terms(question)])[0]
    value = [ranked.score + float(like) for ranked, like in zip(short, alike, strict=True)]
    return short[max(range(len(short)), key=lambda place: (value[place], -place))].sentence.quote
