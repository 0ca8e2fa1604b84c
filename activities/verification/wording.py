"""Does a sentence in someone's own words say what the sentences it rests on say? The part that code decides.

Refused are numbers that no cited sentence or title has, names that no cited work has, and a direction or a
denial that the cited sentences turn round. Other words are free: whether they say what the work says is for a
reader to judge, unless the sentence follows its quote so closely (`follows`) that code can tell.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import LCSseq

from activities.contracts.evidence import Evidence, Statement, Support
from activities.text import thesaurus
from activities.text.coverage import MAX_SENSES
from activities.text.entities import Entity, link
from activities.text.negation import NEGATIONS
from activities.text.normal_form import normalise
from activities.text.numerals import SPELLED, number_of
from activities.text.tokens import fold, is_function, looks_special, stem, terms
from activities.text.vocabulary import general_words
from activities.verification.claim_check import missing_number, turned_round

MIN_DENSITY = 0.7
"""Share of the words of the quote, between the first and the last that a sentence has, that it has."""
MIN_OF_QUOTE = 0.6
"""Share of all words of the quote that a sentence has which follows it: what is left out may be the
group or the condition that a finding holds for."""
SUBJECT_WORDS = 4
"""Content words at the beginning of a passage, one of which begins a clause that has its subject."""
MIN_CLAUSE_WORDS = 3
"""Content words of a clause that is compared by itself."""

CLASSES = frozenset(terms("disease disorder condition illness syndrome"))
"""What diseases are called in common."""
STATES = "26"
"""WordNet's file of states, which diseases are in."""
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*%?|[^\W\d_]+(?:['-][^\W_]+)*|[<>=\u2264\u2265]")
_LIGHT_WORDS = """
overall however also further moreover thus therefore additionally
a an the of in on at by for to with and or that this these those it its their was were is are be been has have
had as also both there which who whose from into during study studies patients
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())
"""Words that a sentence may have beyond its quote, or leave out, without saying something else."""
_WEIGHTY_WORDS = """
may might could can suggest suggests suggested appear appears seem seems likely unlikely possible possibly
potential potentially if unless except only some few most all none partly partially not no nor never without
more less fewer than before after until should would
"""
_WEIGHTY = frozenset(_WEIGHTY_WORDS.split())
"""Words that change what a sentence says when they are left out or put in."""
MIN_COINED_LETTERS = 6
"""Letters of a word that counts as a name because no dictionary has it."""
_JOINING = r"(?:and|but|while|whereas|although|though|however)"
_CLAUSE = re.compile(rf"[;:]\s+(?:{_JOINING},?\s+)?|(?:,|(?<!\s))\s+{_JOINING},?\s+", re.IGNORECASE)
_BRACKET = re.compile(r"(?:(?<!\s)\s+)?[(\[](?=[^()\[\]]*\d)[^()\[\]]*[)\]]")
"""Statistics in brackets, which a sentence may leave out whole."""
_CONTRACTED = re.compile(r"\b([a-z]+)n't\b", re.IGNORECASE)
_WHOLE = {"ca": "can", "wo": "will", "sha": "shall"}
_SPELLED = re.compile(SPELLED, re.IGNORECASE)
_SPLIT = re.compile(r"[^\W\d_]+")
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")
_CITED = re.compile(r"\[\d{1,3}\]")
_SHORT = re.compile(r"\b[A-Z][A-Za-z-]{0,7}[A-Z]s?\b")
_DASH = re.compile(r"[-/]")
_CAPITALISED = re.compile(r"\b[A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+)+")
"""Names in a row: a person, a place, a thing that is called by several words."""


@dataclass(frozen=True, slots=True)
class Source:
    """One cited work as a sentence is compared with it."""

    evidence: Evidence
    quotes: tuple[str, ...]


def sources_of(support: Iterable[Support], documents: Mapping[str, Evidence]) -> tuple[Source, ...]:
    """The cited works with their quotes, each once; works that are not at hand are left out."""
    quotes: dict[str, dict[str, None]] = {}
    for one in support:
        if one.evidence_id in documents:
            quotes.setdefault(one.evidence_id, {})[one.quote] = None
    return tuple(Source(documents[name], tuple(held)) for name, held in quotes.items())


def whole(work: Evidence) -> str:
    """All that a work says: its title, who wrote it and when, and its text."""
    return "\n".join((work.title, ", ".join(work.authors), work.facts.get("date", ""), work.text))


def wording_problem(text: str, sources: Sequence[Source], question: str = "") -> Statement | None:
    """Why the cited sentences cannot support a wording; None where code finds nothing against it. A number of
    the question, and a name of it that is no drug, disease or the like, is what a sentence is about: whether
    its works are about it is for a reader to judge."""
    plain = normalise(text)
    if not terms(plain):
        return Statement.of("claim_empty")
    quotes = [normalise(quote) for source in sources for quote in source.quotes]
    works = [whole(source.evidence) for source in sources]
    years = [source.evidence.year for source in sources if source.evidence.year]
    if missing_number(plain, quotes, years, len(sources), counts=True):
        everywhere = [*quotes, *map(normalise, (*works, question))]
        if number := missing_number(plain, everywhere, years, len(sources), counts=True):
            return Statement.of("number_missing", number=number)
    if name := unknown_name(plain, works, question, quotes):
        return Statement.of("name_missing", name=name)
    turned = [turned_round(plain, quote) for quote in quotes]
    if turned and all(turned):
        return Statement.of("meaning_turned", how=turned[0])
    return None


def unknown_name(text: str, works: Sequence[str], question: str = "", quotes: Sequence[str] = ()) -> str:
    """The first name of a text that none of the works has; empty when there is none. A name is a drug, a
    disease and the like of the vocabularies, or a word with a capital or a digit that no list of general
    English has. It may be an abbreviation of words that a work has, or its long form, or another name of the
    same thing. One that is in no vocabulary may be of the question as well. `quotes`: of the works; for a
    name that they have no whole work is read."""
    return next((name for name, general in _lacking(text, works, question, quotes) if not general), "")


def unfamiliar_name(text: str, works: Sequence[str]) -> str:
    """The first name or uncommon word of a text that none of the works has, those of general English
    (`Poland`) included; for asking about it."""
    return next((name for name, _ in _lacking(text, works)), "")


def _lacking(
    text: str, works: Sequence[str], question: str = "", quotes: Sequence[str] = ()
) -> Iterator[tuple[str, bool]]:
    """(name or uncommon word that no work has, whether it is one of general English or of the question)."""
    text, quoted = _CITED.sub(" ", text), {term for quote in quotes for term in terms(quote)}
    linked = [entity for entity in link(text) if not quoted.issuperset(terms(entity.surface))]
    named = names_in(text)
    uncommon = [
        word
        for word in _SPLIT.findall(text)
        if len(word) >= MIN_COINED_LETTERS and word not in named and not _is_general(word)
    ]
    names = {name: stems for name in (*named, *uncommon) if not (stems := _stems(name)) <= quoted}
    if not (linked or names):
        return  # before whole works are read for nothing
    read = [_held(work) for work in works]
    held, concepts = (frozenset[str]().union(*(one[place] for one in read)) for place in (0, 2))
    initials = [row for one in read for row in one[1]]
    same = {word for entity in linked if entity.id in concepts for word in _SPLIT.findall(entity.surface)}
    own, asked = _initials(text), {*terms(question), *terms(_DASH.sub(" ", question))}
    for name, stems in names.items():
        if name in same or stems <= held or _joined(name) in held or set(map(_respelled, stems)) <= held:
            continue
        if _is_initials(name, (*initials, *own)) or _has_root(name, held):
            continue
        general = all(map(_is_general, _LETTERS_OR_DIGITS.findall(name)))
        in_question = stems <= asked
        yield name, general or in_question or not _is_name(name) or _is_completed(name, text, held)
    for entity in linked:
        words = set(terms(entity.surface))
        if set(map(_respelled, words)) <= held or entity.id in concepts:
            continue
        if _spells_short(entity.surface, works):
            continue
        yield entity.surface, _is_ordinary(entity) or _has_part(entity, held)


def _is_ordinary(entity: Entity) -> bool:
    """Whether a substance or a symptom, or a disease in one word of many meanings, is called by words
    that any text has (oxygen, frailty, injury): what is said with them is for a reader to judge."""
    surface = entity.surface
    words = _SPLIT.findall(surface)
    if not surface[1:].islower() or not all(map(_is_general, words)):
        return False
    if entity.kind != "disease":
        return entity.kind in ("chemical", "phenotype", "protein")
    if len(words) > 1:  # a genetic disorder is a class, a heart disease is one
        return bool(set(terms(words[-1])) & CLASSES) and not any(map(thesaurus.mostly_noun, words[:-1]))
    return thesaurus.senses(surface) > MAX_SENSES or STATES not in thesaurus.files(surface)


def _has_part(entity: Entity, held: frozenset[str]) -> bool:
    """Whether a work has all words of a name but the last one, as of a cancer that it calls a carcinoma, or
    the last one, as of a depression that is called postpartum: whether it is the same thing is for a reader
    to judge."""
    words = _SPLIT.findall(entity.surface)
    parts = ({_respelled(term) for word in part for term in terms(word)} for part in (words[:-1], words[-1:]))
    return len(words) > 1 and any(part and part <= held for part in parts)


def _is_completed(name: str, text: str, held: frozenset[str]) -> bool:
    """Whether a name stands in a row with another one that a work has, as a given name with a surname:
    whether it completes that name is for a reader to judge."""
    rows = (row.split() for row in _CAPITALISED.findall(text))
    return any(
        name in row and any(not is_function(other) and {*terms(other)} <= held for other in row)
        for row in rows
    )


def _stems(name: str) -> set[str]:
    """Comparison forms of a name, and of its parts between dashes."""
    return {part for word in _DASH.split(name) for part in terms(word)} | set(terms(name))


@lru_cache(maxsize=128)
def _held(work: str) -> tuple[frozenset[str], tuple[str, str], frozenset[str]]:
    """Comparison forms of the words of a work, the initials of its words in a row, and the drugs, diseases
    and the like that it names."""
    plain = normalise(work)
    row = plain.split()
    words = set(row)
    held = set(terms(plain))
    held.update(part for word in words for piece in _DASH.split(word) for part in terms(piece))
    held.update(map(_joined, words))
    # a formula whose digits were set lower: TiO 2
    held.update(_joined(one + other) for one, other in pairwise(row) if other[0].isdigit())
    held.update([_respelled(term) for term in held])
    return frozenset(held), _initials(plain), frozenset(entity.id for entity in link(plain))


def _respelled(term: str) -> str:
    """One form of British and American spellings: `anaemia`, `anemia`; `necrotising`, `necrotizing`."""
    return term.replace("ae", "e").replace("oe", "e").replace("z", "s")


def _joined(word: str) -> str:
    folded = fold(word)
    return folded if folded.isalnum() else "".join(filter(str.isalnum, folded))


def _initials(text: str) -> tuple[str, str]:
    """The first letters of the words of a text in a row, numbers whole: of all, and without words of
    grammar."""
    words = _LETTERS_OR_DIGITS.findall(text)
    rows = (words, [word for word in words if not is_function(word)])
    every, content = ("".join(w if w.isdigit() else w[0] for w in row).lower() for row in rows)
    return every, content


def _is_initials(name: str, initials: Sequence[str]) -> bool:
    """Whether an abbreviation is spelled by the initials of words in a row: T2DM by type 2 diabetes
    mellitus."""
    letters = "".join(c for c in name.removesuffix("s") if c.isalnum())
    capitals = sum(c.isupper() or c.isdigit() for c in letters)
    return (
        len(letters) > 1 and 2 * capitals > len(letters) and any(letters.lower() in row for row in initials)
    )


def _spells_short(surface: str, works: Sequence[str]) -> bool:
    """Whether a work has the abbreviation that the words of a name spell."""
    spelled = "".join(word[0] for word in _SPLIT.findall(surface)).lower()
    shorts = {match.removesuffix("s").replace("-", "").lower() for w in works for match in _SHORT.findall(w)}
    return len(spelled) > 1 and spelled in shorts


def names_in(text: str) -> list[str]:
    """Words that are names by their look: digits or capitals within, a capital inside a sentence. The first
    word of a sentence has a capital anyhow."""
    names: list[str] = []
    begins = True
    for raw in text.split():
        word = raw.strip(".,;:()[]\"'%*_")
        if word and any(c.isalpha() for c in word):
            capital = word[0].isupper() and not begins and not is_function(word)
            bare = word.replace("-", "")
            coded = any(c.isdigit() for c in bare) and not bare[0].isdigit()
            if capital or (looks_special(word) and not word.islower()) or coded:
                names.append(word.removesuffix("'s"))
        begins = raw.endswith((".", "!", "?", ":"))
    return names


def _is_name(word: str) -> bool:
    """Whether an uncommon word is a name by its look: a capital, a digit, or the ending of a drug's name. A
    word in capitals is as often an abbreviation of plain words."""
    return (not word.islower() and not (word.isalpha() and word.isupper())) or looks_special(word.lower())


def _has_root(word: str, held: frozenset[str]) -> bool:
    """Whether a work has an uncommon word in another form: laparoscopically for laparoscopic."""
    plain = fold(word)
    return len(plain) > MIN_COINED_LETTERS and any(
        one[:MIN_COINED_LETTERS] == plain[:MIN_COINED_LETTERS] for one in held
    )


@lru_cache(maxsize=16_384)
def _is_general(word: str) -> bool:
    """Whether a list of general English has a word or what it is derived from: WordNet, with names of places
    and people, or the vocabulary of the sentence encoder, which is the words of books and of Wikipedia."""
    plain = fold(word)
    root = stem(plain)
    forms = (plain, root, f"{root.removesuffix('i')}y", plain.removesuffix("s"))
    return is_function(plain) or any(
        form in general_words() or (len(form) > 2 and thesaurus.parts_of_speech(form)) for form in forms
    )


def follows(text: str, quote: str) -> bool:
    """Whether a sentence follows its quote so closely that it says no more, no less and nothing else: all its
    words are words of the quote in the same order, most of the quote is there, and no word that changes a
    statement was left out or put in. Statistics in brackets may be left out whole."""
    own, plain = tuple(_words(normalise(text))), normalise(quote)
    return any(_follows(own, tuple(_words(form)), MIN_OF_QUOTE) for form in {plain, _BRACKET.sub("", plain)})


def joins(text: str, passages: Sequence[str]) -> bool:
    """Whether every clause of a sentence follows a stretch of one of the passages, so that the sentence only
    joins what they say."""
    plain = [normalise(passage) for passage in passages]
    rows = [tuple(_words(form)) for form in dict.fromkeys([*plain, *(_BRACKET.sub("", p) for p in plain)])]
    subjects = [[word for word in row if word not in _LIGHT][:SUBJECT_WORDS] for row in rows]
    parts = [part for part in _CLAUSE.split(normalise(text)) if part.strip()]
    # place -> passages that the clause which ends there may follow, over all ways to divide the sentence
    ends: list[set[int]] = [set() for _ in range(len(parts) + 1)]
    for end in range(1, len(parts) + 1):
        for begin in (n for n in range(end) if not n or ends[n]):
            clause = tuple(_words(" ".join(parts[begin:end])))
            content = [word for word in clause if word not in _LIGHT]
            whole = len(parts) == end - begin
            if not whole and len(content) < MIN_CLAUSE_WORDS:
                continue
            now = {n for n, row in enumerate(rows) if _follows(clause, row)}
            if begin:
                # a clause of another passage must bring its own subject, and begin as its passage does
                now = {n for n in now if n in ends[begin] or content[0] in subjects[n]}
            ends[end] |= now
    return bool(ends[-1])


def _follows(own: tuple[str, ...], theirs: tuple[str, ...], least: float = 0.0) -> bool:
    matched_own: set[int] = set()
    matched_theirs: set[int] = set()
    for block in LCSseq.opcodes(own, theirs):
        if block.tag == "equal":
            matched_own.update(range(block.src_start, block.src_end))
            matched_theirs.update(range(block.dest_start, block.dest_end))
    content = [n for n, word in enumerate(own) if word not in _LIGHT]
    if not content or not matched_theirs:
        return False
    if any(n not in matched_own for n in content):
        return False  # a word of its own, one that was moved, or one that changes the statement
    first, last = min(matched_theirs), max(matched_theirs)
    stretch = [n for n in range(first, last + 1) if theirs[n] not in _LIGHT]
    held = [n for n in stretch if n in matched_theirs]
    whole = [n for n, word in enumerate(theirs) if word not in _LIGHT]
    if len(held) < MIN_DENSITY * len(stretch) or len(held) < least * len(whole):
        return False
    dropped = {theirs[n] for n in range(len(theirs)) if n not in matched_theirs}
    return not dropped & _WEIGHTY


def _words(text: str) -> list[str]:
    """Words and numbers of a text in comparison form, in order. Words that change a statement and those that
    do not are kept as they are."""
    text = _CONTRACTED.sub(lambda match: f"{_WHOLE.get(match[1].lower(), match[1])} not", text)
    text = _SPELLED.sub(lambda match: str(number_of(match[0])), text)
    text = NEGATIONS.sub(lambda match: f" not {match.group()} ", text)
    parts = (
        part
        for token in _TOKEN.findall(fold(text))
        for part in ((token,) if token[0].isdigit() else _DASH.split(token.removesuffix("'s")))
        if part
    )
    return [w if w in _LIGHT or w in _WEIGHTY or w[0].isdigit() else stem(w) for w in parts]
