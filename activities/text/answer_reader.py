"""The candidates that a sentence holds for an answer, by the kind of thing that is asked for.

Entities of the vocabularies, symbols, numbers, what a cause or definition is said to be, members of an
enumeration, and noun phrases. One counts for more the more of the question its sentence holds and the nearer
it stands to the question's words. What the question itself names is no answer.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from activities.text import thesaurus
from activities.text.abbreviations import Abbreviations
from activities.text.amounts import DATE, amounts, asks_when, is_amount, measured
from activities.text.answer_phrases import (
    CALLED,
    CAUSED,
    CAUSES,
    DEFINED,
    WORD,
    clause,
    enumerated,
    is_name,
    last_words,
    noun_phrases,
)
from activities.text.answer_relations import ASKS_TREATMENT, TREATS, meanings, things_of_kind
from activities.text.concepts import Concepts
from activities.text.drugs import is_given
from activities.text.entities import Kind, link, resolve
from activities.text.modified import on_another, whole_names
from activities.text.name_forms import describes, is_everyday, is_other, is_phrase, particular
from activities.text.numerals import number_of
from activities.text.persons_and_places import persons, places
from activities.text.question import INHERITANCE, Asked
from activities.text.rows import Cell, answering_cells, cells, cells_of_persons
from activities.text.stated_roles import asked_role, persons_in_role, roles_said
from activities.text.technical import technical
from activities.text.tokens import fold, is_function, stem, terms, weak_stems
from activities.text.treated import asks_harms, treated
from activities.text.uses import COMPARED_WITH

LEAST_COVERAGE = 0.25
"""Share of the question that a sentence must hold to give an answer."""
_OWN = 0.5
"""Share of the sentence itself in how much of the question it covers; the rest is its work's."""
_ANOTHER = 0.4
"""What is left of that where the work does not mention a name of the question."""
SURE = 0.9
"""`Word.technical` of a name that a work must mention to answer."""
_AHEAD = 3
"""How many times as far a number counts that stands before the name it is looked for at."""
_NEAR = 12.0
"""Words of distance at which nearness counts for half."""
_SYMBOL = re.compile(r"\b(?:[A-Z][A-Z0-9]{1,7}(?:-?\d+[A-Za-z]?)?|[A-Z][a-z]{0,3}\d{1,3}[A-Za-z]?)\b")
_NOT_SYMBOLS = re.compile(r"^(?:[IVX]+|DNA|RNA|mRNA)$")
_BRACKETS = re.compile(r"(?P<before>(?:[\w-]+ ){0,3}[\w-]+),? \((?P<within>[^()]{2,80})\)")
_SORT = re.compile(
    r"\btypes? (?:\d|[IVX]+)[A-Za-z]?\b|\b[a-z]+(?:-[a-z]+)* (?:type|form|variant)\b", re.IGNORECASE
)
_JOINS = re.compile(r"(?:whereas|while|although|this|that|each|another|different|same)$", re.IGNORECASE)
_ADJUSTED = re.compile(
    r"\b(?:(?:adjust\w*|controll(?:ed|ing)|matched) for|independent(?:ly)? of)\b[^.;]*?"
    r"(?=, (?:we|the|there|no|only|compared)\b|[;.]|$)",
    re.IGNORECASE,
)
"""What a study adjusted for, which it did not find."""
_SIGNS = re.compile(
    r"\b(?:symptom|sign|feature|manifestation|effect|event|reaction|finding|outcome|complication"
    r"|characteristic|consequence)s?\b",
    re.IGNORECASE,
)

_OF_NAMES = re.compile(r"\bnames?$")
_OF_SORTS = re.compile(r"\b(?:sub)?(?:types?|forms?|kinds?|classes|variants?)$")
_KINDS: dict[str, frozenset[Kind]] = {
    "drug": frozenset({"drug", "drug_class"}),
    "disease": frozenset({"disease", "phenotype"}),
    "gene": frozenset({"protein"}),
}
_MEASURED = 0.6
"""Weight of the word for what an amount is of (`recurrence` of a recurrence rate): its sentence has it."""
_TYPED = 1.0
_STATED = 2.0
"""What a person counts beside whom the role stands that is asked for."""
_SIGN = 0.4
"""What a symptom or finding counts where diseases are asked for."""
_LISTED, _UNTYPED = 0.8, 0.45
"""What a member of a list counts that a word such as `include` opens, and any other noun phrase, beside an
entity of the kind asked for."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence that may hold an answer."""

    evidence_id: str
    text: str


def _initials(question: str, texts: Sequence[str]) -> Iterator[str]:
    """Definitions of the initials of the question's own names that a text has: LS of Leigh syndrome."""
    for entity in link(question):
        short = "".join(word[0] for word in entity.surface.split()).upper()
        if len(short) > 1 and any(re.search(rf"\b{re.escape(short)}\b", text) for text in texts):
            yield f"{entity.surface} ({short})"


class Reader:
    """Reads candidates of the kind a question asks for."""

    def __init__(
        self, question: str, want: Asked, passages: Sequence[Passage], works: Iterable[str] = ()
    ) -> None:
        texts, works = [p.text for p in passages], tuple(works)
        known = Abbreviations((*texts, *works, *_initials(question, texts)))
        self.question = question
        self.want = want
        self.concepts = Concepts(question, known)
        focus = {stem(w) for w in fold(want.focus).split()} if want.things else set()
        self.weights = [
            0.1 if set(word.terms) <= focus else 0.2 + word.technical for word in self.concepts.words
        ]
        amount_of = measured(want.focus) if want.things == ("number",) else frozenset[str]()
        self.measured = {
            p for p, word in enumerate(self.concepts.words) if amount_of.intersection(word.terms)
        }
        for place in self.measured:
            self.weights[place] = _MEASURED
        self.total = sum(self.weights) or 1.0
        self.own = {t for word in self.concepts.words for t in word.terms}
        self.typed = frozenset(self.own)
        self.entities = {(e.id, e.name) for e in link(question)}
        if "disease" in want.things and asks_harms(want.focus):  # what was treated is no harm
            had = list(treated((*texts, *works)))
            self.entities.update((entity.id, entity.name) for entity in had)
            self.typed |= {
                term for entity in had for term in terms(entity.surface)
            }  # cancer of breast cancer
        names = [e.surface for e in link(question)]
        for name in (*names, *(w.shown for w in self.concepts.words)):
            for other in known.of(name):
                self.own.update(terms(other))
                if (entity := resolve(other)) is not None:
                    self.entities.add((entity.id, entity.name))
        for short, long in known.pairs():
            for one, other in ((short, long), (long, short)):
                if (forms := set(terms(one))) and forms <= self.own:
                    self.own.update(terms(other))
        self.expansions = {fold(short): long for short, long in known.pairs()}
        self.names_wanted = bool(_OF_NAMES.search(fold(want.focus)))
        self.sorts = bool(_OF_SORTS.search(fold(want.focus)))
        self.spoken = self.concepts.read([terms(p.text) for p in passages], [p.text for p in passages])
        self.by_work: dict[str, frozenset[int]] = defaultdict(frozenset)
        for passage, held in zip(passages, self.spoken, strict=True):
            self.by_work[passage.evidence_id] |= held
        self.fullest: dict[str, float] = defaultdict(float)
        for passage, held in zip(passages, self.spoken, strict=True):
            name = passage.evidence_id
            self.fullest[name] = max(self.fullest[name], self._share(held))
        self.sure = {p for p, word in enumerate(self.concepts.words) if word.technical >= SURE}
        self.head = fold(want.focus.rsplit(" ", 1)[-1]) if want.focus else ""
        self.asked_for = {self.head, *thesaurus.singulars(self.head)} - {""}
        self.particular = particular(self.asked_for)
        self.thing = frozenset(terms(want.focus)) if want.form == "definition" else frozenset[str]()
        self.role = asked_role(question)
        self.signs = bool(_SIGNS.search(want.focus))
        self.treats = "drug" in want.things and bool(ASKS_TREATMENT.search(question))
        self.of_kind: set[str] = set()
        """Candidates that are known to be of the kind asked for."""

    def _share(self, places: frozenset[int]) -> float:
        return sum(self.weights[p] for p in places) / self.total

    def key(self, name: str) -> tuple[str, ...]:
        """What makes two names one answer; empty for what the question itself names."""
        if self.particular.fullmatch(name):
            return () if fold(name) in fold(self.question) else (fold(name),)
        name = self.expansions.get(fold(name), name)
        forms = tuple(dict.fromkeys(terms(name))) or tuple(WORD.findall(fold(name)))
        digits = tuple(re.findall(r"\d+", name))
        if self.names_wanted or "definition" in self.want.things:
            return () if set(forms) <= self.typed else tuple(sorted(forms))
        if not self.sorts and any(
            e.end == len(name) and (e.id, e.name) in self.entities for e in link(name)
        ):  # the question's own, however described: `early breast cancer`
            return ()
        entity = resolve(name)
        if entity is not None:
            own = (entity.id, entity.name) in self.entities or set(forms) <= self.typed
            return () if own else (entity.id, fold(entity.name))
        if self.sorts:
            return tuple(sorted({*forms, *digits})) if not set(forms) <= self.own or digits else ()
        known = sum(form in self.own for form in forms)
        new = (
            self.want.form == "list" and not self.want.things and not {forms[-1]} & (self.own | weak_stems())
        )
        if self.want.things != ("number",) and 2 * known >= len(forms) and not (new and known < len(forms)):
            return ()
        return tuple(sorted(forms))

    def read(self, passage: Passage, place: int) -> Iterator[tuple[str, float]]:
        """Candidates with their scores in one sentence."""
        spoken = self.spoken[place]
        whole = self.by_work[passage.evidence_id]
        coverage = _OWN * self._share(spoken) + (1 - _OWN) * self._share(whole)
        if not self.sure <= whole:
            coverage *= _ANOTHER
        if coverage < LEAST_COVERAGE or not self.measured <= spoken:
            return
        row = cells(passage.text)
        if row and self._share(spoken) < self.fullest[passage.evidence_id]:
            return  # every row of a table has its headings; another row says more of what is asked
        if self.treats and not TREATS.search(passage.text):
            return
        number = "number" in self.want.things
        if number and on_another(self.question, self.concepts.words, spoken, passage.text):
            return
        entire = whole_names(self.question, passage.text) if number else []
        marks = entire or self._marks(passage.text, spoken)
        adjusted = [match.span() for match in _ADJUSTED.finditer(passage.text)]
        seen: dict[str, float] = {}
        candidates = list(self._of_cells(row)) or self._candidates(passage.text)
        for name, start, value in candidates:
            if _inside(start, adjusted):
                continue
            ahead = _AHEAD if entire else 1  # in a list of prices each stands behind its name
            distance = min(((start - m if start > m else ahead * (m - start)) for m in marks), default=60) / 6
            seen[name] = max(seen.get(name, 0.0), value * coverage**2 * (0.4 + 0.6 / (1 + distance / _NEAR)))
        yield from seen.items()

    def _of_cells(self, row: Collection[Cell]) -> Iterator[tuple[str, int, float]]:
        """What a row of a table answers: the cells under the headings that are asked for."""
        if self.want.things == ("person",):
            for cell in cells_of_persons(row):
                self.of_kind.add(cell.value)
                yield cell.value, cell.start, _TYPED
            return
        number = self.want.things == ("number",)
        when = asks_when(self.question)
        wanted = self.own if number else {term for head in self.asked_for for term in terms(head)}
        fits: Callable[[str], object] = DATE.search if when else is_amount if number else bool
        for cell in answering_cells(row, wanted, fits, alone=when):
            name = f"{cell.heading}: {cell.value}" if number and not when else cell.value
            self.of_kind.add(name)
            yield name, cell.start, _TYPED

    def _marks(self, text: str, spoken: frozenset[int]) -> list[int]:
        """Where the question's words stand in a sentence."""
        wanted = {t for p in spoken for t in self.concepts.words[p].terms}
        return [m.start() for m in WORD.finditer(text) if wanted.intersection(terms(m.group()))]

    def _candidates(self, text: str) -> Iterator[tuple[str, int, float]]:
        things = self.want.things
        if "number" in things:
            yield from amounts(self.question, self.want.focus, text)
            return
        if "person" in things or "place" in things:
            for name, start, value in self._persons(text) if "person" in things else places(text):
                self.of_kind.add(name)
                yield name, start, value
            return
        if "inheritance" in things:
            for match in INHERITANCE.finditer(text):
                yield match.group(), match.start(), 1.0
            return
        if self.want.form == "definition":
            yield from meanings(text, self.thing)
            return
        if "definition" in things or "cause" in things:
            yield from self._spans(text)
            if "cause" not in things:
                return
        if self.names_wanted:
            yield from self._aliases(text)
        if self.sorts:
            yield from self._sorts(text)
            return
        if self.asked_for and not things:
            for match in self.particular.finditer(text):
                self.of_kind.add(match.group())
                yield match.group(), match.start(), _TYPED
            for name, start in things_of_kind(text, self.asked_for):
                if not self._restates(name):
                    yield name, start, _TYPED
        kinds = frozenset[Kind]().union(*(_KINDS.get(thing, frozenset()) for thing in things))
        taken: list[tuple[int, int]] = []
        drugs = [e for e in link(text) if e.kind == "drug"] if "drug" in things else []
        # a substance that was measured is no answer, nor is its abbreviation
        measured = {fold(e.surface) for e in drugs if not is_given(text, e)}
        compared = [m.span() for m in COMPARED_WITH.finditer(text)] if "drug" in things else []
        for entity in link(text) if kinds else ():
            if entity.kind == "drug" and (not is_given(text, entity) or _inside(entity.start, compared)):
                continue
            if fold(self.expansions.get(fold(entity.surface), "")) in measured:
                continue
            if entity.kind == "drug_class" and describes(entity.surface):
                continue
            if entity.kind in kinds:
                taken.append((entity.start, entity.end))
                self.of_kind.add(entity.surface)
                sign = entity.kind == "phenotype" and not self.signs
                yield entity.surface, entity.start, _SIGN if sign else _TYPED
        for match in _SYMBOL.finditer(text) if kinds else ():
            long = self.expansions.get(fold(match.group()), "")
            if (
                long
                and fold(long) not in measured
                and not _inside(match.start(), taken)
                and self._is(long, kinds)
            ):
                taken.append(match.span())
                self.of_kind.add(long)
                yield long, match.start(), _TYPED
        if "gene" in things:
            for match in _SYMBOL.finditer(text):
                if not _NOT_SYMBOLS.match(match.group()) and not _inside(match.start(), taken):
                    self.of_kind.add(match.group())
                    yield match.group(), match.start(), 0.9
        if "cause" in things:
            return
        if "name" in things:
            for match in CALLED.finditer(text):
                yield clause(match["what"]), match.start("what"), 1.2
        listed = self.want.form == "list"
        members = list(enumerated(text))
        if taken and kinds:
            beside = any(_overlaps(start, start + len(name), taken) for name, start, _ in members)
            listed_beside = listed and beside
            members = [
                m
                for m in members
                if listed_beside
                and is_phrase(m[0])
                and not is_other(m[0], kinds)
                and not ("drug" in things and is_everyday(m[0]))
            ]
        elif kinds and listed:
            members = []
        if listed and not kinds:
            members = [m for m in members if not self._restates(m[0])]
            members = [m for m in members if m[2]] or members
        for name, start, opened in members:
            end = start + len(name)
            within = _overlaps(start, end, taken)
            whole = within == [end] and not _inside(start, taken) and is_phrase(name)
            whole = whole and "drug" not in things  # `oral metformin` is metformin
            if whole:  # a fuller name of it: `cervical emphysema`
                self.of_kind.add(name)
            if whole or not within:
                yield name, start, (_LISTED if opened and listed and not kinds else _UNTYPED)
        for name, start in noun_phrases(text):
            counted = listed and number_of(name.split()[0]) is not None
            if "drug" in things and _overlaps(start, start + len(name), taken):
                continue
            if fold(self.expansions.get(fold(name), name)) in measured:
                continue
            if not counted and not _inside(start, taken) and (not listed or self._is(name, kinds)):
                if self._named_by_kind(name):
                    self.of_kind.add(name)
                    yield name, start, _LISTED
                else:
                    yield name, start, self._of_head(name) * _UNTYPED

    def _persons(self, text: str) -> Iterator[tuple[str, int, float]]:
        """Those beside whom the role that is asked for stands; where none does, all who are named, unless
        they are named beside other roles."""
        stated = list(persons_in_role(self.question, text))
        if stated:
            yield from ((name, start, _STATED) for name, start in stated)
        elif not (self.role and roles_said(text)):
            yield from persons(text)

    def _named_by_kind(self, name: str) -> bool:
        """Whether a name, or what it stands for, has the noun that is asked for in it: HSV of a virus."""
        words = fold(self.expansions.get(fold(name), name)).split()
        return not self.want.things and len(words) > 1 and bool(self.asked_for & {*words})

    def _restates(self, name: str) -> bool:
        """Whether a member of a list says how many there are or repeats what is asked for."""
        first, last = name.split()[0], fold(name.rsplit(" ", 1)[-1])
        return number_of(first) is not None or bool({last, *thesaurus.singulars(last)} & self.asked_for)

    def _is(self, name: str, kinds: frozenset[Kind]) -> bool:
        """Whether a name is of the kind asked for, by the vocabularies or by its last word."""
        if any(e.kind in kinds and e.end == len(name) for e in link(name)):
            return True
        last = fold(name.rsplit(" ", 1)[-1])
        return bool(self.head) and self.head in (last, *thesaurus.broader(last))

    def _aliases(self, text: str) -> Iterator[tuple[str, int, float]]:
        """What stands in brackets behind a name of the question, or before the brackets that hold one."""
        for match in _BRACKETS.finditer(text):
            before, within = match["before"], match["within"]
            inside, outside = set(terms(within)), terms(before)
            if inside & self.typed and outside:
                named = [e for e in link(before) if e.end == len(before)]
                yield (named[-1].surface if named else before.split()[-1]), match.start(), 2.0
            elif set(outside[-2:]) & self.typed:
                yield clause(within), match.start("within"), 2.0

    def _sorts(self, text: str) -> Iterator[tuple[str, int, float]]:
        """Phrases that add something to the question's own name (`late-onset ataxia`, `type 2`, `CMT2`)."""
        for match in _SORT.finditer(text):
            first = match.group().split()[0]
            if is_function(first) or _JOINS.match(first) or set(terms(first)) <= weak_stems():
                continue
            yield match.group(), match.start(), 1.0
        for match in _SYMBOL.finditer(text):
            bare = re.sub(r"-?\d+[A-Za-z]?$", "", match.group())
            if bare != match.group() and set(terms(bare)) & self.own:
                yield match.group(), match.start(), 1.2
        for name, start in noun_phrases(text):
            forms = terms(name)
            if set(terms(name.split()[0])) <= weak_stems():
                continue
            if len(forms) > 1 and forms[-1] in self.own and not set(forms) <= self.own:
                yield name, start, 0.7

    def _of_head(self, name: str) -> float:
        """More for a phrase that is, by its last word, of the kind asked for, and for a technical one."""
        last = fold(name.rsplit(" ", 1)[-1])
        value = 0.4 + 0.6 * max(technical(w) for w in name.split())
        above = thesaurus.broader(last)
        if self.want.focus and (fold(self.want.focus) in above or self.head in (last, *above)):
            value = max(value, 0.8) * 2
        return value

    def _spans(self, text: str) -> Iterator[tuple[str, int, float]]:
        if "definition" in self.want.things:
            for match in DEFINED.finditer(text):
                group = "what" if match["what"] else "more"
                yield clause(match[group]), match.start(group), 1.0
            for short, long in Abbreviations([text]).pairs():
                if set(terms(short)) & self.own:
                    yield long, text.find(long), 1.5
        if "cause" in self.want.things:
            for match in CAUSED.finditer(text):
                yield clause(match["what"]), match.start("what"), 1.2
                for name, at, opened in enumerated(match["what"]):
                    if opened or self.want.form == "list":
                        yield name, match.start("what") + at, _LISTED
            for match in CAUSES.finditer(text):
                if is_name(name := last_words(match["what"])):
                    yield name, match.start("what"), 0.7


def _overlaps(start: int, end: int, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Ends of the spans that share letters with one."""
    return [last for first, last in spans if first < end and start < last]


def _inside(start: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(first <= start < last for first, last in spans)
