"""The names, numbers and phrases that sentences give in answer to a question for a fact or for a list.

Candidates are read by the kind of thing asked for (`answer_reader`). One counts for more the more works name
it (redundancy: Dumais et al., SIGIR 2002, doi:10.1145/564376.564428).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from activities.text.answer_groups import (
    Group,
    drop_classes,
    drop_general,
    drop_parts,
    fold_together,
    join_alike,
    join_reworded,
)
from activities.text.answer_reader import Passage, Reader
from activities.text.question import Form, asked
from activities.text.tokens import fold

ASKS_NAMES: tuple[Form, ...] = ("fact", "list", "definition")
"""Forms of questions that names, numbers or phrases answer."""
MOST_DEFINITIONS = 2
"""Answers to a question for what a thing is."""
MOST_ANSWERS = 5
"""Answers to a question for one fact."""
MOST_LISTED = 20
MOST_LEADING = 8
"""Passages that are put first for a list."""
LEAST_SHARE = 0.35
"""An answer with a smaller share of the best one's score is left out."""
LEAST_OF_SORTS = 0.2
"""The same for the types of one thing, of which works on one of them name the others seldom."""
LEAST_FACT, LEAST_LISTED, LEAST_OF_ANY = 0.3, 0.1, 0.5
"""Scores under which nothing is held to be an answer to a question for a fact; for a list of a kind of things
that the vocabularies know, of which each is named by few sentences; for a list of anything else."""


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, with the passages that give it, the best first."""

    name: str
    score: float
    passages: tuple[int, ...]
    """Places among the passages."""
    works: int
    """Works that name it."""


def answers(question: str, passages: Sequence[Passage], works: Iterable[str] = ()) -> tuple[Found, ...]:
    """The answers that the passages give, the best first. Empty for a question that asks for no fact and no
    list, and where no passage holds enough of the question. `works`: the whole texts that the passages are
    from, which may define their abbreviations."""
    want = asked(question)
    if want.form not in ASKS_NAMES or not passages:
        return ()
    reader = Reader(question, want, passages, works)
    groups: dict[tuple[str, ...], Group] = {}
    for place, passage in enumerate(passages):
        for name, value in reader.read(passage, place):
            key = reader.key(name)
            if key and value > 0:
                group = groups.setdefault(key, Group())
                group.add(name, place, passage.evidence_id, value)
                group.typed = group.typed or name in reader.of_kind
    if want.form == "fact" and not reader.names_wanted and any(group.typed for group in groups.values()):
        groups = {key: group for key, group in groups.items() if group.typed}
    fold_together(groups)
    drop_general(groups)
    drop_parts(groups, [passage.text for passage in passages])
    if "drug" in want.things:
        drop_classes(groups, [passage.text for passage in passages])
    if want.form == "list":
        join_reworded(groups)
    if "cause" in want.things or "definition" in want.things:
        join_alike(groups)
    ordered = sorted(groups.values(), key=lambda g: (-g.score, min(g.passages)))
    most = {"list": MOST_LISTED, "definition": MOST_DEFINITIONS}.get(want.form, MOST_ANSWERS)
    least = LEAST_FACT if want.form != "list" else LEAST_LISTED if want.things else LEAST_OF_ANY
    share = LEAST_OF_SORTS if reader.sorts else LEAST_SHARE
    floor = max(least, share * ordered[0].score) if ordered else least
    return tuple(_found(group, reader) for group in ordered[:most] if group.score >= floor)


def leading(question: str, found: Sequence[Found]) -> tuple[int, ...]:
    """Places of the passages to read first: for a list, those that together name most of it; for a fact, the
    best one of each answer."""
    if asked(question).form != "list":
        return tuple(dict.fromkeys(answer.passages[0] for answer in found))
    left = {number: answer.score for number, answer in enumerate(found)}
    chosen: list[int] = []
    while left and len(chosen) < MOST_LEADING:
        gain: dict[int, float] = defaultdict(float)
        for number, score in left.items():
            for place in found[number].passages:
                gain[place] += score
        best = max(gain, key=lambda place: (gain[place], -place))
        chosen.append(best)
        left = {n: score for n, score in left.items() if best not in found[n].passages}
    return tuple(chosen)


def _found(group: Group, reader: Reader) -> Found:
    places = sorted(group.passages, key=lambda p: (-group.passages[p], p))
    long = reader.expansions.get(fold(group.name), "") if reader.want.form == "fact" else ""
    name = f"{long} ({group.name})" if long and group.name.isupper() else group.name
    return Found(name, round(group.score, 4), tuple(places), len(group.by_work))
