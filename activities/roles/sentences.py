"""The sentences a writer chooses from: ranked by code, numbered, each verbatim in its item.

A quote that a model only points at cannot be miscopied, and a sentence that is not evidence (a heading, the
question, an earlier claim) has no number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from activities.models.tokens import BYTES_PER_TOKEN
from activities.roles.prompt import heading, one_line
from activities.text.ranking import Item, Ranked, diverse, rank, relevant
from activities.text.sentences import Sentence
from activities.types import Evidence

PARTS_WITHOUT_ANSWERS = ("aim", "methods")
"""Parts of a work whose sentences answer nothing: they come last, and a small model is not offered them."""
LONGEST = 420
"""Characters of a sentence that are shown; what it is quoted by stays whole."""
FEW = 12
"""Sentences that the items which help give together, where nothing else is shown and they have so many."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """Sentences as they are shown in a prompt."""

    text: str = ""
    sentences: dict[str, Sentence] = field(default_factory=dict)
    """Label (`S1`) -> sentence, in the order shown."""
    items: tuple[Evidence, ...] = ()


def numbered(
    question: str,
    documents: Sequence[Evidence],
    *,
    most: int,
    an_item: int,
    room: int,
    helping_only: bool = False,
) -> Numbered:
    """At most `most` sentences, at most `an_item` of one item, as many as fit into `room` tokens: those that
    answer best and differ most, shown by item in the order of the documents and of their texts.

    `helping_only`: none of the items that the ranking holds irrelevant, unless all are, and of the others no
    aims and methods: a model that cannot judge them chooses them.
    """
    sound = [document for document in documents if document.standing != "retracted"]
    chosen = choose(rank(question, sound), most, an_item, helping_only=helping_only)
    limit = int(max(room, 0) * BYTES_PER_TOKEN)
    while chosen:
        shown = layout(chosen, sound)
        if len(shown.text.encode()) <= limit:
            return shown
        excess = len(shown.text.encode()) - limit
        dropped = max(1, excess // 250)
        chosen = chosen[:-dropped]
    return Numbered()


def choose(items: Sequence[Item], most: int, an_item: int, *, helping_only: bool = False) -> list[Ranked]:
    """The sentences most worth choosing from, best first: the best of each item that helps, then further ones
    of these, then those of the other items. With `helping_only` few items that help give more sentences
    each."""
    helping = relevant(items)
    names = {item.document.evidence_id for item in helping}
    groups = [helping, [item for item in items if item.document.evidence_id not in names]]
    if helping_only and helping:
        groups, an_item = [helping], max(an_item, math.ceil(FEW / len(helping)))
    chosen: list[Ranked] = []
    for group in groups:
        rows = [answering(item, only=helping_only)[:an_item] for item in group]
        firsts = [row[0] for row in rows if row]
        rest = [ranked for row in rows for ranked in row[1:]]
        for pool in (firsts, rest):
            if len(chosen) < most:
                chosen += diverse(pool, most - len(chosen))
    return chosen


def answering(item: Item, *, only: bool = False) -> list[Ranked]:
    """The sentences of an item, best first; its aims and methods last, or, with `only`, left out."""
    ranked = sorted(item.ranked, key=lambda one: one.sentence.part in PARTS_WITHOUT_ANSWERS)
    return [one for one in ranked if one.sentence.part not in PARTS_WITHOUT_ANSWERS] if only else ranked


def layout(chosen: Sequence[Ranked], documents: Sequence[Evidence]) -> Numbered:
    """Sentences grouped under their items, numbered in the order they are shown."""
    groups: dict[str, list[Sentence]] = {}
    for ranked in chosen:
        groups.setdefault(ranked.sentence.evidence_id, []).append(ranked.sentence)
    lines: list[str] = []
    labels: dict[str, Sentence] = {}
    items = [document for document in documents if document.evidence_id in groups]
    for place, document in enumerate(items, 1):
        lines.append(heading(place, document))
        for sentence in sorted(groups[document.evidence_id], key=lambda s: s.place):
            label = f"S{len(labels) + 1}"
            labels[label] = sentence
            text = one_line(sentence.quote)
            lines.append(f"{label}: {text if len(text) <= LONGEST else text[:LONGEST] + ' (...)'}")
    return Numbered("\n".join(lines), labels, tuple(items))
