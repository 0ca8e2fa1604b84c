"""What a second reader is asked about a wording: where it may say something else than its quotes.

A warning decides nothing. It names what was seen, from closed lists and from WordNet's pairs of opposites,
comparing words one by one: every clause of the sentence with the clause of the quotes that shares most words
with it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from activities.contracts.evidence import Statement
from activities.text import thesaurus
from activities.text.negation import NEGATIONS, NO_DENIAL
from activities.text.normal_form import normalise
from activities.text.tokens import stem
from activities.verification.claim_check import missing_number, numbers
from activities.verification.computed import computed_from
from activities.verification.reading import Clause, clauses, nearest, tokens
from activities.verification.wording import unfamiliar_name

WARNINGS: Mapping[str, str] = {
    "number_not_quoted": "{number} is not in the quotes: does the work say it of this?",
    "works_counted": "{number} may count the works: do so many of them say it?",
    "computed_words": "{number} follows from the quotes, but `{word}` is not in them: is it of that?",
    "number_bound": "{number} has another bound (at least, up to, more than) than in the quotes",
    "name_not_in_works": "{name} is not in the works that it cites",
    "disputed": "a reader disputes it: {reason}",
    "hedge_lost": "its quote says `{word}`; is the sentence as careful?",
    "cause": "`{word}` says that one thing changes another; do the quotes, or do they say that both occur?",
    "denial": "one of sentence and quote denies where the other does not",
    "opposite": "it says `{word}` where its quote says `{other}`",
    "degree": "`{word}` is not in the quotes: do they say as much?",
    "comparison": "it names the sides of a comparison in another order: which one is it?",
    "group_lost": "its quote is about `{group}`; is the sentence?",
    "group_other": "its quotes do not name this group: `{group}`",
    "mixed": "`{word}` and `{other}` are of different works: does one of them connect the two?",
    "states_fact": "it denies nothing: is it a limit of the evidence, or a finding?",
}
"""Code of each warning, and what the second reader is asked."""
warning = Statement.of


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_HEDGES = _stems("""
may might could can perhaps possibly possible potential potentially probably probable likely
unlikely suggest  appear seem tend indicate hypothesize propose speculate presumably apparently
preliminary
""")
_ASSOCIATIONS = _stems("""
associated association correlate correlation related relation linked link odds predict predictor
predictive  risk marker coincide relationship dependent likelihood
""")
_CAUSES = _stems("""
cause causes caused causal because due lead leads led result prevent prevents protect protects
protective  induce trigger produce therefore thereby effect affect attributable responsible owing
""")
_EFFECTS = _stems("""
reduce lower raise increase decrease improve worsen halve double triple cut boost shorten prolong
eliminate  cure heal avert diminish enhance
""")
_ABSOLUTE = _stems("""
all every always never none nobody everyone only solely entirely completely fully proven definitely certainly
guaranteed undoubtedly
""")
_GRADED = _stems("""
most majority minority few many several rare rarely seldom common commonly often frequent frequently usually
sometimes occasionally largely mainly partly strongly markedly substantially greatly considerably slightly
moderately weakly
""")
_PERMITTED = _stems("covered cover included allowed permitted eligible entitled admitted insured may payable")
_BARRED = _stems("excluded exempt forbidden prohibited barred ineligible denied refused void rejected")
_ARITHMETIC = _stems(
    "together total sum sums altogether combined come amount difference share ratio times percent"
)
"""How a computed figure is said: else none would stand without a reader."""
_SIDES = frozenset(("than", "versus", "vs", "against", "compar", "unlik"))
_PEOPLE = _stems("""
patients women men children adults infants neonates adolescents boys girls mice rats animals cells
people persons  individuals participants subjects mothers fathers workers students tenants customers
residents population cohort  survivors carriers users smokers elderly
""")
_QUALIFYING = _stems("with without who whose aged undergoing treated receiving after before from older in")
_PARTS = re.compile(r", and |, (?:which|where|who|so that)\b")
MODIFIERS_BEFORE, MODIFIERS_AFTER = 3, 5
"""Words before and behind a group that say which one it is."""
MIN_SHARED = 2
"""Words that a clause shares with a clause of a quote, so that the two are compared."""


def warnings_of(text: str, quotes: Sequence[str], works: Sequence[str] = ()) -> tuple[Statement, ...]:
    """What a wording may have changed of its quotes, each thing once. `works`: title and text
    of the works that it cites, where the reader should be told of a name that they lack."""
    plain, quote_texts = normalise(text), [normalise(quote) for quote in quotes]
    own, theirs = clauses(plain), [clause for quote in quote_texts for clause in clauses(quote)]
    every = frozenset().union(*(clause.stems for clause in theirs)) if theirs else frozenset()
    whole = frozenset().union(*(clause.stems for clause in own)) if own else frozenset()
    warnings = [*_of_numbers(plain, quote_texts, own, theirs, len(works)), *_of_degree(own, every)]
    warnings += _mixed(own, quote_texts, [normalise(work) for work in works])
    if works and (name := unfamiliar_name(plain, [*works, *quote_texts])):
        warnings.append(warning("name_not_in_works", name=name))
    for clause in own:
        match = nearest(clause, theirs, MIN_SHARED)
        if match is None:
            continue
        warnings += [
            *_of_hedges(whole, match),
            *_of_cause(clause, match, every),
            *_of_denial(plain, match, quote_texts),
            *_of_opposites(clause, match, whole, every),
            *_of_comparison(clause, match),
            *_of_groups(clause, match, whole, every),
        ]
    return tuple({(one.code, *one.values.values()): one for one in warnings}.values())


def reservation_warnings(text: str) -> tuple[Statement, ...]:
    """What a second reader is asked about a reservation besides: one that denies nothing may be a finding."""
    return () if NEGATIONS.search(normalise(text)) else (warning("states_fact"),)


def warning_text(statement: Statement) -> str:
    """A warning in words, for the second reader."""
    return WARNINGS[statement.code].format(**statement.values)


def _shown(clause: Clause, stems: Iterable[str]) -> str:
    """The first word of a clause that is one of these, as it stands there."""
    wanted = frozenset(stems)
    return next((token.shown for token in clause.tokens if token.stem in wanted), "")


def _of_hedges(whole: frozenset[str], match: Clause) -> Iterator[Statement]:
    word = _shown(match, _HEDGES)
    is_month = word == "May" and match.tokens[0].shown != word
    if word and not whole & _HEDGES and not is_month:
        yield warning("hedge_lost", word=word)


def _of_cause(clause: Clause, match: Clause, every: frozenset[str]) -> Iterator[Statement]:
    """A cause that no quote names, or an effect where the quote has an association."""
    word = "" if every & _CAUSES else _shown(clause, _CAUSES)
    if not word and match.stems & _ASSOCIATIONS and not clause.stems & _ASSOCIATIONS:
        word = _shown(clause, (_CAUSES | _EFFECTS) - match.stems)
    if word:
        yield warning("cause", word=word)


def _of_denial(text: str, match: Clause, quotes: Sequence[str]) -> Iterator[Statement]:
    """A sentence that denies nothing rests on a clause that does, or one that denies on quotes that do
    not."""
    own = NEGATIONS.search(NO_DENIAL.sub(" ", text)) is not None
    nowhere = not any(NEGATIONS.search(quote) for quote in quotes)
    if (own and nowhere) or (not own and NEGATIONS.search(NO_DENIAL.sub(" ", match.text))):
        yield warning("denial")


def _of_opposites(
    clause: Clause, match: Clause, whole: frozenset[str], every: frozenset[str]
) -> Iterator[Statement]:
    """A word of the sentence alone whose opposite only the quote has."""
    for token in clause.tokens:
        if token.stem in every or token.number:
            continue
        opposites = {stem(word) for word in thesaurus.opposites(token.shown)}
        if token.stem in _PERMITTED:
            opposites |= _BARRED
        elif token.stem in _BARRED:
            opposites |= _PERMITTED
        if other := _shown(match, opposites - whole):
            yield warning("opposite", word=token.shown, other=other)
            return


def _of_degree(own: Sequence[Clause], every: frozenset[str]) -> Iterator[Statement]:
    """A word of degree that no quote has: one that leaves no exception, or one in place of another."""
    whole = frozenset().union(*(clause.stems for clause in own))
    turned = _GRADED if every & _GRADED - whole else frozenset()
    for clause in own:
        if word := _shown(clause, (_ABSOLUTE | turned) - every):
            yield warning("degree", word=word)
            return


def _of_comparison(clause: Clause, match: Clause) -> Iterator[Statement]:
    """Words of one side of a comparison stand on the other side in the quote."""
    (left, right), (quote_left, quote_right) = _sides(clause), _sides(match)
    only_left, only_right = quote_left - quote_right, quote_right - quote_left
    if (left - right) & only_right and (right - left) & only_left:
        yield warning("comparison")


def _sides(clause: Clause) -> tuple[frozenset[str], frozenset[str]]:
    at = next((n for n, token in enumerate(clause.tokens) if token.stem in _SIDES), None)
    if at is None:
        return frozenset(), frozenset()
    sides = (clause.tokens[:at], clause.tokens[at + 1 :])
    left, right = (frozenset(t.stem for t in side if not t.light and not t.number) for side in sides)
    return left, right


def _of_groups(
    clause: Clause, match: Clause, whole: frozenset[str], every: frozenset[str]
) -> Iterator[Statement]:
    """The group of the quote is missing in the sentence, or the sentence names another one."""
    for shown, group in _groups(match):
        if not group & whole:
            yield warning("group_lost", group=shown)
            break
    for shown, group in _groups(clause):
        if not group & every:
            yield warning("group_other", group=shown)
            break


def _groups(clause: Clause) -> Iterator[tuple[str, frozenset[str]]]:
    """People or animals with the words that say which ones: (as it stands there, those words)."""
    row = clause.tokens
    for place, token in enumerate(row):
        if token.stem not in _PEOPLE:
            continue
        first = place
        while (
            first > max(0, place - MODIFIERS_BEFORE)
            and not row[first - 1].light
            and not row[first - 1].number
        ):
            first -= 1
        last = place + 1
        if last < len(row) and row[last].stem in _QUALIFYING:
            last = min(len(row), last + 1 + MODIFIERS_AFTER)
        group = frozenset(
            one.stem
            for one in row[first:last]
            if not one.light and not one.number and one.stem not in _PEOPLE | _QUALIFYING
        )
        if group:
            yield " ".join(one.shown for one in row[first:last]), group


def _mixed(own: Sequence[Clause], quotes: Sequence[str], works: Sequence[str]) -> Iterator[Statement]:
    """A part of a sentence with words of which only the quotes of one work have one, only those of another
    work the other."""
    held: dict[int, set[str]] = {}
    for quote in quotes:
        place = next((n for n, work in enumerate(works) if quote in work), -1)
        held.setdefault(place, set()).update(token.stem for token in tokens(quote))
    parts = (tokens(part) for clause in own for part in _PARTS.split(clause.text)) if len(held) > 1 else ()
    for part in parts:
        alone: dict[int, str] = {}
        for token in part:
            having = [place for place, stems in held.items() if token.stem in stems]
            if len(having) == 1 and not token.light:
                alone.setdefault(having[0], token.shown)
        if len(alone) > 1:
            word, other, *_ = alone.values()
            yield warning("mixed", word=word, other=other)
            return


def _of_numbers(
    text: str, quotes: Sequence[str], own: Sequence[Clause], theirs: Sequence[Clause], works: int
) -> Iterator[Statement]:
    """A number that no quote has and that may count the works, or that follows from the quotes and stands
    beside words that they lack; one that has another bound. `works`: how many are cited."""
    missing = missing_number(text, quotes, (), works)
    if (counted := missing_number(text, quotes, (), 0)) != missing:
        yield warning("works_counted", number=counted)
    if missing:
        stems = {token.stem for clause in theirs for token in clause.tokens} | _ARITHMETIC
        beyond = [
            one.shown for c in own for one in c.tokens if not (one.light or one.number or one.stem in stems)
        ]
        if not computed_from(text, quotes):
            yield warning("number_not_quoted", number=missing)
        elif beyond:
            yield warning("computed_words", number=missing, word=beyond[0])
    stated = [number for quote in quotes for number in numbers(quote)]
    for one in numbers(text):
        same = [other for other in stated if other.value == one.value]
        if same and all(other.comparator != one.comparator for other in same):
            yield warning("number_bound", number=one.shown)
            return
