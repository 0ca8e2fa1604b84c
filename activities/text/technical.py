"""How surely each word of a question names one thing: names with digits or capitals, words that no dictionary
of general English has, nouns for things of few meanings, and words of names that the vocabularies hold."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from activities.text import age_groups, thesaurus
from activities.text.entities import link
from activities.text.question import asked
from activities.text.tokens import NAME_HEADS, fold, is_function, looks_special, stem, terms, weak_stems

LONGEST_NAME = 5
"""Words of a question that are looked up together at most."""
TECHNICAL = 0.6
"""`Word.technical` from which a text that does not mention a word is about something else."""

NAMED = 0.7
"""`Word.technical` at least of a word written with a capital within a sentence."""

COMPOUND = 0.65
"""`Word.technical` at least of a word of several that are one thing in the thesaurus: music therapy."""
ENTITY = 0.8
"""`Word.technical` at least of a word of a drug, disease, symptom or substance that the vocabularies hold."""
_BODY_AND_MATTER = frozenset({"08", "13", "26", "27"})
"""WordNet's files of the body, food, states (diseases are among them) and substances."""
THINGS = _BODY_AND_MATTER | {"04", "06", "18", "19", "22"}
"""The same with acts (operations), artefacts (drugs are among them), people, phenomena, processes."""
KIND = 0.25
"""`Word.technical` at most of the word for the kind of thing that is asked for: `in which cancer`."""
_ASKED_KIND = re.compile(
    r"\b(?:which|what)(?: (?:kind|type)s? of)?(?: [a-z]+){0,2}? (?P<kind>[a-z]+)"
    r"(?=\s*\?|\s+(?:is|are|was|were|does|do|can|has|have|causes?)\b)"
)
PREFIXES = frozenset(
    {"non", "pre", "post", "multi", "anti", "over", "inter", "intra", "trans", "semi", "auto"}
    | {"para", "peri", "sub", "super", "hyper", "hypo", "extra", "pseudo", "quasi", "micro", "macro", "poly"}
)
PART = 0.25
"""`Word.technical` at least of a part of a compound written with a hyphen."""
_COMPARED = re.compile(r"(?:i?er|i?est)$")


class Marks:
    """What a question as a whole says of its words: which are part of a name, and which only say what kind of
    thing is asked for."""

    def __init__(self, plain: str, shown: str, tokens: Sequence[tuple[str, int, int]]) -> None:
        linked = link(plain)
        self._capitals = _named_by_capitals(shown, tokens)
        self._kinds = {match.start("kind") for match in _ASKED_KIND.finditer(plain)}
        self._kinds |= _of_focus(plain, tokens)
        self.entities = [(e.start, e.end) for e in linked]
        self._substances = [(e.start, e.end) for e in linked if e.kind in ("drug", "chemical")]
        self._compounds = list(_compounds(plain, tokens))

    def lettered(self, shown: str, tokens: Sequence[tuple[str, int, int]]) -> Iterator[tuple[str, str]]:
        """(comparison form of the word before, name) of names that end in a letter which is also a word of
        English: hemophilia A."""
        for (word, begin, last), (_, start, end) in pairwise(tokens):
            if shown[start:end] in ("A", "I") and start == last + 1 and _within(self.entities, last, end):
                yield stem(word), shown[begin:end]

    def is_substance(self, start: int, end: int) -> bool:
        return _within(self._substances, start, end)

    def is_entity(self, start: int, end: int) -> bool:
        return _within(self.entities, start, end)

    def is_compound(self, start: int, end: int) -> bool:
        """Whether a word is one of several that name one thing (music therapy), or names an act (smoking)."""
        return _within(self._compounds, start, end)

    def raised(self, sure: float, number: int, start: int, end: int) -> float:
        """`Word.technical` of a word that by itself has `sure`."""
        if start in self._kinds:
            return min(sure, KIND)
        if not sure:
            return 0.0
        if _within(self.entities, start, end):
            return max(sure, ENTITY)
        if number in self._capitals:
            return max(sure, NAMED)
        return max(sure, COMPOUND) if _within(self._compounds, start, end) else sure


def _of_focus(plain: str, tokens: Sequence[tuple[str, int, int]]) -> frozenset[int]:
    """Where the words stand that say what kind of fact is asked for (`which viral disease`), in a question
    that names something beside them."""
    want = asked(plain)
    at = plain.find(fold(want.focus)) if want.focus and want.things else -1
    if at < 0:
        return frozenset()
    end = at + len(fold(want.focus))
    beside = [t for t, start, _ in tokens if not at <= start < end and technical(t) >= TECHNICAL]
    return frozenset(start for _, start, _ in tokens if at <= start < end) if beside else frozenset()


def _within(spans: Iterable[tuple[int, int]], start: int, end: int) -> bool:
    return any(first <= start and end <= last for first, last in spans)


def _compounds(plain: str, tokens: Sequence[tuple[str, int, int]]) -> Iterator[tuple[int, int]]:
    """Runs of words that are one noun of the thesaurus with few meanings, for a thing; what stands before
    `therapy`, `drug` and `disease`; and older people."""
    yield from age_groups.spans(plain)
    yield from _acts(plain, tokens)
    for (word, start, end), (head, begins, _) in pairwise(tokens):
        if stem(head) in NAME_HEADS and begins == end + 1 and thesaurus.mostly_noun(word):
            yield start, end
    for first in range(len(tokens)):
        for last in range(first + 1, min(first + LONGEST_NAME, len(tokens))):
            text = plain[tokens[first][1] : tokens[last][2]]
            files = thesaurus.files(text) if re.fullmatch(r"[a-z -]+", text) else ()
            if 0 < len(files) <= 2 and files[0] in THINGS:
                yield tokens[first][1], tokens[last][2]


def _acts(plain: str, tokens: Sequence[tuple[str, int, int]]) -> Iterator[tuple[int, int]]:
    """Nouns in -ing where they can be no verb: behind a noun at the end (`the harms of cancer screening?`),
    and as the subject of a question for yes or no (`does smoking harm ...`). Elsewhere they may be one
    (`patients receiving insulin`)."""
    acts = {n for n, (word, _, _) in enumerate(tokens) if word.endswith("ing")}
    acts = {n for n in acts if "n" in thesaurus.parts_of_speech(tokens[n][0])}
    last = len(tokens) - 1
    if last > 0 and last in acts and tokens[last][1] == tokens[last - 1][2] + 1:
        before = tokens[last - 1][0]
        if thesaurus.mostly_noun(before) and technical(before) >= TECHNICAL:
            yield tokens[last][1:]
    if 1 in acts and asked(plain).form == "yes_no" and is_function(tokens[0][0]):
        yield tokens[1][1:]


def _named_by_capitals(shown: str, tokens: Sequence[tuple[str, int, int]]) -> frozenset[int]:
    """Words that begin with a capital though no sentence does; none in a text whose words mostly do."""
    content = [n for n, (token, _, _) in enumerate(tokens) if not is_function(token)]
    capital = {n for n in content if shown[tokens[n][1]].isupper()}
    inner = {n for n in capital if re.search(r"[\w,)]\s+$", shown[: tokens[n][1]])}
    return frozenset(inner) if 2 * len(capital) <= len(content) else frozenset()


def is_verb(token: str) -> bool:
    """Whether a word is a form of a verb and not what one does (`printing`, `smoking`)."""
    kinds = thesaurus.parts_of_speech(token)
    return "v" in kinds and not (token.endswith("ing") and "n" in kinds)


def technical(word: str) -> float:
    """How surely a word names one thing: names with digits or capitals inside, words that no dictionary of
    general English has, and nouns for things of few meanings."""
    plain = fold(word).removesuffix("'s")
    bare = plain.replace("-", "").replace("/", "")
    if is_function(plain) or not bare or all(t in weak_stems() for t in terms(plain)):
        return 0.0
    if any(c.isdigit() for c in bare) or (len(word) > 1 and any(c.isupper() for c in word[1:])):
        return 1.0
    kinds = thesaurus.parts_of_speech(plain)
    if not kinds:
        return _unknown(plain)
    if not thesaurus.mostly_noun(plain):
        if "a" in kinds and thesaurus.relational(plain):
            return 0.65
        rare = "a" in kinds and "v" not in kinds and thesaurus.tagged_count(plain) == 0
        return 0.5 if rare or (not kinds <= {"v"} and looks_special(word)) else 0.1
    meanings, met, files = thesaurus.senses(plain), thesaurus.tagged_count(plain), thesaurus.files(plain)
    if files[0] in _BODY_AND_MATTER and meanings <= 8:
        return 0.8 if meanings <= 2 and met <= 10 else 0.7
    if files[0] in THINGS and meanings <= 3 and met <= 15:
        return 0.5 if thesaurus.of_verb(plain) else 0.65
    if meanings <= 3 and met <= 10:
        return 0.25 if thesaurus.of_adjective(plain) else 0.5
    return 0.25 if met < 40 else 0.15


def _unknown(plain: str) -> float:
    """`technical` of a word that is not in WordNet: a form of an adjective, two words written as one, or a
    name."""
    for stem_ in {_COMPARED.sub("", plain), _COMPARED.sub("e", plain), _COMPARED.sub("y", plain)} - {plain}:
        if "a" in thesaurus.parts_of_speech(stem_) or "a" in thesaurus.parts_of_speech(stem_[:-1]):
            return 0.1
    if last_part(plain):
        return 0.65
    return 0.9 if len(plain) > 3 else 0.5


@lru_cache(maxsize=4096)
def last_part(plain: str) -> str:
    """The second of two words that are written as one (`shockwave`); empty for another word."""
    for cut in range(3, len(plain) - 3):
        if all(thesaurus.senses(part) or part in PREFIXES for part in (plain[:cut], plain[cut:])):
            return plain[cut:]
    return ""
