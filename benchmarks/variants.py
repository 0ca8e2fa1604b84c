"""Questions made by code from the questions of a corpus: exchanged, reworded.

Nothing here uses the code that is measured, except the thesaurus for synonyms. Every choice follows from a
hash of the question, so that the same corpus gives the same variants.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bm25s.stopwords import STOPWORDS_EN_PLUS

from activities.text import thesaurus
from activities.text.entities import resolve, same

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_FUNCTION = frozenset(STOPWORDS_EN_PLUS) | {"does", "do", "did", "is", "are", "can", "should", "versus", "vs"}
_SPELLINGS = (
    ("aem", "em"), ("haem", "hem"), ("oed", "ed"), ("oes", "es"), ("paed", "ped"), ("anaes", "anes"),
    ("isation", "ization"), ("ising", "izing"), ("ise", "ize"), ("isd", "izd"), ("our", "or"), ("tre", "ter"),
    ("ogue", "og"), ("rrhoea", "rrhea"), ("gynaec", "gynec"), ("orthopaed", "orthoped"), ("foet", "fet"),
)  # fmt: skip
_SPELLED = re.compile(
    r"aemi|haem|oedem|oesoph|oestr|paedi|anaest|isation|ising\b|umour|aviour|olour|rrhoea|gynaec"
)
_AMERICAN = re.compile(
    r"(?<=[a-z])emi(?=[ac])|\bhem(?=[ao])|\bedem|\besoph|\bestr(?=og)|\bpedi(?=a)|anesth|ization|izing\b|"
    r"umor|avior|rrhea|gynec"
)
_BRITISH = {
    "emi": "aemi", "hem": "haem", "edem": "oedem", "esoph": "oesoph", "estr": "oestr", "pedi": "paedi",
    "anesth": "anaesth", "ization": "isation", "izing": "ising", "umor": "umour", "avior": "aviour",
    "rrhea": "rrhoea", "gynec": "gynaec",
}  # fmt: skip
_TO_AMERICAN = {british: american for american, british in _BRITISH.items()} | {
    "anaest": "anest", "olour": "olor",
}  # fmt: skip
_TAIL = re.compile(
    r"^(?P<head>[A-Z][^:?]{15,}?) (?P<prep>in|among|for|after|during|following|with) (?P<tail>[^:?]{6,})\?$"
)
_COLON = re.compile(r"^(?P<topic>[^:?]{10,}): (?P<asked>[^:?]{10,})\?$")
_SHORT = re.compile(r"\(([A-Z][A-Za-z0-9-]{1,8}[A-Z0-9])s?\)")
_BEGINNING = 6
_RARE = 0.03
"""Share of documents up to which a word is held to be specific."""
_FREQUENT_HERE = 2
"""Times a key word stands in its own abstract at least."""


@dataclass(frozen=True)
class Item:
    """One question of a corpus and the document that answers it."""

    identity: str
    question: str
    abstract: str
    conclusion: str
    year: int | None
    mesh: tuple[str, ...]
    label: str
    """`yes`, `no`, `maybe`; empty where the corpus does not say."""


@dataclass(frozen=True)
class Variant:
    """A question made from another one."""

    item: Item
    question: str
    way: str


def number(text: str) -> int:
    """A number that follows from a text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def words(text: str) -> list[str]:
    """The words of a text as they stand."""
    return _WORD.findall(text)


def short(word: str) -> str:
    """The beginning of a word, by which its forms count as one."""
    return word.casefold()[:_BEGINNING]


class Corpus:
    """A corpus and what its words have in common."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self._bags = {i.identity: Counter(short(w) for w in words(self.text(i))) for i in items}
        self._documents = Counter(w for bag in self._bags.values() for w in bag)

    @staticmethod
    def text(item: Item) -> str:
        """Everything that is said of a work."""
        return f"{item.question}\n{item.abstract}\n{'; '.join(item.mesh)}"

    def rare(self, word: str) -> bool:
        """Whether few documents hold a word."""
        return self._documents[short(word)] <= max(2, _RARE * len(self.items))

    def keys(self, item: Item) -> list[str]:
        """The specific nouns of a question that its own abstract repeats, as they stand."""
        body = Counter(short(w) for w in words(item.abstract))
        found = []
        for word in dict.fromkeys(words(item.question)):
            plain = word.casefold()
            if plain in _FUNCTION or len(plain) < 4 or plain.isdigit():
                continue
            noun = thesaurus.mostly_noun(plain) or not thesaurus.parts_of_speech(plain)
            if noun and self.rare(word) and body[short(word)] >= _FREQUENT_HERE:
                found.append(word)
        return found

    @cached_property
    def _neighbours(self) -> dict[str, list[tuple[str, str]]]:
        """What kind of word -> the key words of that kind, each with its question's id."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for item in self.items:
            for word in self.keys(item):
                for kind in self._kinds(word):
                    found[kind].append((word, item.identity))
        return found

    @staticmethod
    def _kinds(word: str) -> Iterator[str]:
        """What a word is a kind of: by the vocabularies of drugs and diseases; by the thesaurus, one level up
        (kidney, liver); for a word that neither knows, its end (`-ectomy`) and whether it is in capitals."""
        plain = word.casefold()
        entity = resolve(word)
        if entity is not None:
            yield f"ends {entity.kind} {plain[-4:]}"
            yield f"{entity.kind}"
        above = thesaurus.hypernyms(plain, levels=1)
        yield from (f"is {mark}" for mark in above)
        if not above and entity is None:
            if word.isupper():
                yield "capitals"
            elif len(word) >= 6:
                yield f"ends {plain[-4:]}"

    def exchanged(self, item: Item) -> Variant | None:
        """The question with one key word replaced by one of the same kind from another question, which
        neither its own document nor any document about the rest of it holds."""
        keys = sorted(self.keys(item), key=lambda w: number(item.question + w))
        for word in keys:
            for kind in self._kinds(word):
                others = sorted(self._neighbours.get(kind, ()), key=lambda o: number(item.question + o[0]))
                for other, origin in others:
                    if origin != item.identity and self._fits(item, word, other, keys):
                        text = re.sub(rf"\b{re.escape(word)}\b", other, item.question)
                        text = text[:1].upper() + text[1:]
                        return Variant(item, text, f"{word} -> {other}")
        return None

    def _fits(self, item: Item, word: str, other: str, keys: Sequence[str]) -> bool:
        mark = short(other)
        if (
            mark == short(word)
            or self._bags[item.identity][mark]
            or short(word) in mark
            or mark in short(word)
        ):
            return False
        alike = thesaurus.synonyms(word.casefold()) | thesaurus.narrower(word.casefold())
        if (
            same(word, other)
            or other.casefold() in alike
            or word.casefold() in thesaurus.narrower(other.casefold())
        ):
            return False
        rest = {short(k) for k in keys if k != word}
        holders = [bag for bag in self._bags.values() if bag[mark]]
        return bool(rest) and not any(2 * sum(bool(bag[k]) for k in rest) > len(rest) for bag in holders)

    def reworded(self, item: Item) -> Iterator[Variant]:
        """The question in other words, one variant a way that applies."""
        for way, make in (
            ("abbreviation", abbreviated),
            ("spelling", respelled),
            ("order", reordered),
            ("synonym", self._with_synonym),
        ):
            text = make(item)
            if text and text.casefold() != item.question.casefold():
                yield Variant(item, text, way)

    def _with_synonym(self, item: Item) -> str:
        """One noun, or two words that are one, replaced by a word of the thesaurus."""
        row = words(item.question)
        spans = [" ".join(row[i : i + n]) for n in (3, 2, 1) for i in range(len(row) - n + 1)]
        body = {short(w) for w in words(item.abstract)}
        for span in sorted(spans, key=lambda s: (-s.count(" "), number(item.question + s))):
            plain = span.casefold()
            if plain in _FUNCTION or len(plain) < 4 or short(plain.split()[0]) not in body:
                continue
            others = thesaurus.first_sense(plain)
            stems = {short(w) for w in plain.split()}
            others = [o for o in others if not {short(w) for w in o.split()} & stems and len(o) > 3]
            if others:
                return item.question.replace(span, others[number(item.question + span) % len(others)])
        return ""


def abbreviated(item: Item) -> str:
    """A long form replaced by the abbreviation that the abstract defines, or the other way round."""
    for match in _SHORT.finditer(item.abstract):
        name = match[1]
        before = words(item.abstract[: match.start()])[-2 * len(name) :]
        long = _long_form(name, before)
        if not long:
            continue
        for one, other in ((long, name), (name, long)):
            pattern = re.compile(rf"\b{re.escape(one)}\b", 0 if one == name else re.IGNORECASE)
            if pattern.search(item.question):
                return pattern.sub(other, item.question, count=1)
    return ""


def _long_form(name: str, before: Sequence[str]) -> str:
    """After Schwartz and Hearst (2003): the shortest run of words before that spells the letters."""
    letters = [c.casefold() for c in name if c.isalnum()]
    for start in range(len(before) - 1, -1, -1):
        run = before[start:]
        if len(run) > len(letters) + 3 or run[0][0].casefold() != letters[0]:
            continue
        text, place = " ".join(run).casefold(), 0
        for letter in letters:
            place = text.find(letter, place) + 1
            if not place:
                break
        else:
            return " ".join(run)
    return ""


def respelled(item: Item) -> str:
    """American spelling made British, or the other way round."""
    text = item.question
    if _SPELLED.search(text):
        return _SPELLED.sub(lambda m: _TO_AMERICAN.get(m.group(), m.group()), text)
    return _AMERICAN.sub(lambda m: _BRITISH.get(m.group(), m.group()), text)


def reordered(item: Item) -> str:
    """`A: B?` as `B: A?`, and `Does A ... in B?` as `In B, does A ...?`."""
    text = item.question
    if match := _COLON.match(text):
        return (
            f"{match['asked'][:1].upper()}{match['asked'][1:]} "
            f"({match['topic'][:1].lower()}{match['topic'][1:]})?"
        )
    if match := _TAIL.match(text):
        head = match["head"][:1].lower() + match["head"][1:]
        return f"{match['prep'].capitalize()} {match['tail']}, {head}?"
    return ""
