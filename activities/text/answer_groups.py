"""Candidates that are one answer, and what becomes of those that are part of others."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from activities.text import thesaurus
from activities.text.tokens import fold

_ALIKE = 0.4
"""Overlap (Jaccard) of stems from which two phrases are one cause or definition."""
_SHARED, _ENDING = 3, 4
"""Letters at the beginning that two forms of one word share at least, and letters by which they differ at
most."""
_AGAIN = 0.5
"""What a further work adds, of the score that it has by itself."""


@dataclass(slots=True)
class Group:
    """The candidates that are one answer."""

    typed: bool = False
    """Whether one of them is known to be of the kind asked for."""
    names: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    by_work: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    passages: dict[int, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, name: str, place: int, work: str, value: float) -> None:
        self.names[name] += value
        self.by_work[work] = max(self.by_work[work], value)
        self.passages[place] = max(self.passages[place], value)

    @property
    def score(self) -> float:
        first, *others = sorted(self.by_work.values(), reverse=True)
        return first + _AGAIN * sum(others)

    @property
    def name(self) -> str:
        """The wording with most support, the shorter of two."""
        return max(self.names, key=lambda name: (self.names[name], -len(name)))


def fold_together(groups: dict[tuple[str, ...], Group]) -> None:
    """A shorter name that is part of a longer one with as much support is the longer one's."""
    for short in sorted(groups, key=len):
        longer = [k for k in groups if len(k) > len(short) and set(short) <= set(k)]
        best = max(longer, key=lambda k: groups[k].score, default=None)
        if best is not None and groups[best].score >= 0.8 * groups[short].score:
            taken = groups.pop(short)
            for work, value in taken.by_work.items():
                groups[best].by_work[work] = max(groups[best].by_work[work], value)


def drop_parts(groups: dict[tuple[str, ...], Group], texts: Sequence[str]) -> None:
    """Without a name that the texts hold only within a longer answer: `emphysema` of `cervical emphysema`. A
    name of the kind asked for is no part of one that is not known to be."""
    folded = [fold(text) for text in texts]
    for short in sorted(groups, key=lambda key: len(groups[key].name)):
        own = fold(groups[short].name)
        others = (
            group for key, group in groups.items() if key != short and group.typed >= groups[short].typed
        )
        longer = [fold(group.name) for group in others if len(group.name) > len(own)]
        longer = [name for name in longer if re.search(rf"\b{re.escape(own)}\b", name)]
        if longer and all(_only_within(own, longer, folded[place]) for place in groups[short].passages):
            del groups[short]


def drop_classes(groups: dict[tuple[str, ...], Group], texts: Sequence[str]) -> None:
    """Without a class that the texts name only in apposition to a drug that is an answer itself: `isradipine,
    a calcium channel blocker`."""
    drugs = "|".join(re.escape(fold(group.name)) for group in groups.values() if group.typed)
    for key, group in list(groups.items()):
        said = rf"\b(?:{drugs}),? \(?an? (?:[\w-]+ ){{0,4}}?{re.escape(fold(group.name))}"
        if all(re.search(said, fold(texts[place])) for place in group.passages):
            del groups[key]


def _only_within(name: str, longer: Sequence[str], text: str) -> bool:
    spans = [m.span() for other in longer for m in re.finditer(re.escape(other), text)]
    places = [m.span() for m in re.finditer(rf"\b{re.escape(name)}\b", text)]
    return all(any(a <= start and end <= b for a, b in spans) for start, end in places)


def drop_general(groups: dict[tuple[str, ...], Group]) -> None:
    """Without a word that another answer is a kind of: `infection` beside `malaria`."""
    best = {key: group.name for key, group in groups.items()}
    kinds = {key: thesaurus.broader(fold(name.rsplit(" ", 1)[-1])) for key, name in best.items()}
    for key, name in best.items():
        single = {fold(name), *thesaurus.singulars(fold(name))}
        if " " not in name and any(single & above for other, above in kinds.items() if other != key):
            del groups[key]


def join_alike(groups: dict[tuple[str, ...], Group]) -> None:
    """Phrases of which half of the words are the same are wordings of one answer: the best one's."""
    _join(groups, lambda one, other: _jaccard(one, other) >= _ALIKE)


def join_reworded(groups: dict[tuple[str, ...], Group]) -> None:
    """Phrases that differ in the form of one word only are one answer: `evading` and `evasion of capture`."""
    _join(groups, _is_reworded)


def _is_reworded(one: Sequence[str], other: Sequence[str]) -> bool:
    mine, yours = {*one} - {*other}, {*other} - {*one}
    if len(one) != len(other) or len(one) < 2 or len(mine) != 1 or len(yours) != 1:
        return False
    first, second = next(iter(mine)), next(iter(yours))
    pairs = list(zip(first, second, strict=False))
    shared = next((n for n, (a, b) in enumerate(pairs) if a != b), len(pairs))
    return shared >= _SHARED and max(len(first), len(second)) - shared <= _ENDING


def _join(
    groups: dict[tuple[str, ...], Group], alike_as: Callable[[Sequence[str], Sequence[str]], bool]
) -> None:
    kept: list[tuple[str, ...]] = []
    for key in sorted(groups, key=lambda k: (-groups[k].score, k)):
        alike = next((k for k in kept if alike_as(k, key)), None)
        if alike is None:
            kept.append(key)
            continue
        taken = groups.pop(key)
        for work, value in taken.by_work.items():
            groups[alike].by_work[work] = max(groups[alike].by_work[work], value)
        for place, value in taken.passages.items():
            groups[alike].passages[place] = max(groups[alike].passages[place], value)


def _jaccard(one: Sequence[str], other: Sequence[str]) -> float:
    return len({*one} & {*other}) / len({*one, *other})
