"""The gate: the only place that says yes or no to words of a model.

Roles turn labels into quotes and ask it once; the workflow carries what it decided; publishing looks only at
quotes and standings. What code can decide stands or is refused; about the rest a second reader is asked, with
what code noticed beside the sentence.

A finding stands where it follows a quote, a computed figure where it follows from quoted numbers, a sentence
of the editor where its clauses follow the claims it names, a title in words of question and outline. Refused
are numbers, names and directions that none of the works has. A second reader is asked about the others:
always about what is missing and about reservations. Cells, fields of a judgement and a judge's finding have
no second reader: they stand in words of their work.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from activities.analysis.cells import MEASURED, cell_reason
from activities.contracts.evidence import Claim, Evidence, StandsBy, Statement, Support
from activities.contracts.write import DraftClaim, SentenceKind, SentenceState
from activities.text.negation import NEGATIONS
from activities.text.normal_form import normalise
from activities.text.sentences import quotable
from activities.text.thesaurus import files, mostly_noun
from activities.text.tokens import WEAK, terms
from activities.verification.claim_check import counts, is_directed, missing_number, numbers, reversal
from activities.verification.computed import computed_from
from activities.verification.field_places import passages_of, place_of, stems
from activities.verification.floor import below_floor
from activities.verification.warnings import reservation_warnings, warnings_of
from activities.verification.wording import (
    Source,
    follows,
    joins,
    sources_of,
    unknown_name,
    whole,
    wording_problem,
)

C = TypeVar("C", bound=DraftClaim)
_BETWEEN = re.compile(r"\.\.\.|[\u2026;|\u201c\u201d\"\n]|(?<=[.!?])\s")
"""Between pieces of what is copied from works."""
_SPACE_OF_THOUSANDS = re.compile(r"(?<=\d)[ \u00a0\u2009](?=\d{3}(?!\d))")

MAX_CLAIM_CHARS = 600
"""Characters of a sentence, as its writer is told."""
MIN_OF_SENTENCE = 0.5
"""Share of the words of a cell that its sentence has; the others are of the work or its title."""
MIN_OF_WORK = 2 / 3
"""Share of the longer words of a field that the works have; of its numbers all."""
MIN_CARRYING = 2
"""Content words that the words which carry a warned sentence have at least."""
_POINTING_WORDS = "it its they their them he his him she her this that these those such both neither either"
POINTING = frozenset(_POINTING_WORDS.split())
"""English's pronouns of the third person and of two, and its demonstratives, which point at what was said."""

_TOPICS = frozenset({"09", "10", "11", "19"})
"""WordNet's files of nouns for cognition, communication, events and phenomena."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of words of a model."""

    state: SentenceState
    refusal: Statement | None = None
    warnings: tuple[Statement, ...] = ()
    """What a second reader is asked about them."""
    stands_by: StandsBy = "quote"
    computed: tuple[str, ...] = ()

    @property
    def stands(self) -> bool:
        return self.state == "stands"


STANDS = Decision("stands")


def refused(code: str, **values: str) -> Decision:
    """Words that do not stand, by the code of why."""
    return Decision("refused", Statement.of(code, **values))


# sentences


def sentence(
    text: str,
    kind: SentenceKind,
    support: Sequence[Support],
    documents: Mapping[str, Evidence],
    question: str = "",
) -> Decision:
    """A sentence of a draft. `documents`: what its writer was shown. `question`: what it answers."""
    if not terms(normalise(text)):
        return refused("claim_empty")
    if len(text) >= MAX_CLAIM_CHARS - 10 and not text.endswith((".", "!", "?", ")", '"')):
        return refused("text_cut")
    if kind == "missing":
        return Decision("ask")
    if kind == "reservation":
        return Decision("ask", warnings=reservation_warnings(text))
    if not support:
        return refused("cites_nothing")
    quotes = [one.quote for one in support]
    if problem := below_floor(text, quotes):
        return Decision("refused", problem)
    sources = sources_of(support, documents)
    problem = wording_problem(text, sources, question)
    missing = problem is not None and problem.code == "number_missing"
    if computed := computed_from(text, quotes) if missing else ():
        first, *rest = sources
        more = Source(first.evidence, (*first.quotes, *computed))
        problem = wording_problem(text, [more, *rest], question)
    if problem is not None:
        return Decision("refused", problem)
    cited = dict.fromkeys(one.evidence_id for one in support)
    if len(cited) == 1 and not computed and any(follows(text, quote) for quote in quotes):
        return STANDS
    warnings = warnings_of(text, quotes, [whole(documents[name]) for name in cited if name in documents])
    if computed and not warnings:
        return Decision("stands", stands_by="computation", computed=computed)
    return Decision("ask", warnings=warnings, computed=computed)


def denies(text: str) -> bool:
    """Whether a text denies anything; one that does not cannot say what is missing."""
    return bool(NEGATIONS.search(text))


def decided(claim: C, decision: Decision) -> C:
    """A sentence with what was decided of it. What it is its writer says, but for what its quotes show."""
    kind = claim.kind
    if kind not in ("missing", "reservation", "transition"):
        works = {one.evidence_id for one in claim.support}
        kind = "computed" if decision.computed else "synthesis" if len(works) > 1 else "finding"
    return claim.replace(
        kind=kind,
        state=decision.state,
        stands_by=decision.stands_by,
        problem=decision.refusal,
        warnings=decision.warnings,
        computed=decision.computed,
    )


# what the second reader says


def confirmed(
    claim: DraftClaim, supported: str, words: str, reason: str, works: Sequence[str]
) -> Statement | None:
    """Why a sentence does not stand after a second reader has answered; None where it does. A `yes` to a
    sentence with a warning counts only where it names the words of the works that carry it; a limit of the
    evidence need not be in their words. `works`: the texts that the sentence may rest on, its quotes among
    them."""
    if supported != "yes":
        return Statement.of("not_supported", verdict=supported, reason=reason)
    if claim.warnings and claim.kind != "reservation" and not _carries(words, works):
        return Statement.of("not_carried", warning=claim.warnings[0].code)
    return None


def _carries(said: str, works: Sequence[str]) -> bool:
    """Whether words that were named, in one piece or several, stand in the works, and are more than one
    word or a whole text: a sentence that is quoted may be short ("There were no complications.")."""
    named = [piece for one in _BETWEEN.split(said) if (piece := " ".join(words(normalise(one))))]
    held = [f" {' '.join(words(normalise(work)))} " for work in works]
    whole = any(f" {piece} " in held for piece in named)
    enough = whole or sum(len(terms(piece)) for piece in named) >= MIN_CARRYING
    return enough and all(any(f" {piece} " in work for work in held) for piece in named)


def leans(text: str) -> bool:
    """Whether a sentence begins with a word that points at the one before."""
    first = "".join(c if c.isalpha() else " " for c in text).split()[:1]
    return bool(first) and first[0].casefold() in POINTING


def is_prose(quote: str) -> bool:
    """Whether a quote may be printed in place of a sentence: no row of a table, heading or fragment."""
    plain = normalise(quote)
    return (
        quotable(plain)
        and plain.endswith((".", "!", '."', ".)", ".'"))
        and not any(sign in quote for sign in "|\t")
        and (plain[0].isupper() or plain[0].isdigit() or plain[0] in "\"'(")
    )


# the editor


def edited(text: str, named: Sequence[Claim], question: str) -> Decision:
    """A sentence of the editor, on the sentences it names."""
    passages = [claim.text for claim in named]
    quotes = [support.quote for claim in named for support in claim.support]
    plain = [normalise(passage) for passage in (*passages, *quotes)]
    works = {support.evidence_id for claim in named for support in claim.support}
    if joins(text, [*passages, *quotes]):
        return STANDS
    if number := missing_number(normalise(text), plain, (), len(works)):
        return refused("number_missing", number=number)
    if name := unknown_name(text, ["\n".join((*passages, *quotes, question))]):
        return refused("name_missing", name=name)
    turned = [reversal(normalise(text), passage) for passage in plain]
    if turned and all(turned):
        return refused("meaning_turned", how=turned[0])
    if not quotes:
        return refused("adds_to_claims")
    return Decision("ask", warnings=warnings_of(text, [*passages, *quotes]))


def title(text: str, passages: Sequence[str]) -> Decision:
    """A title: in words of the question and the outline, and nouns that any question may have."""
    problem = _leading_problem(text, [*passages, _common_nouns()])
    return STANDS if problem is None else Decision("refused", problem)


def transition(text: str, passages: Sequence[str]) -> Decision:
    """A sentence that leads into a section. A question in words of the question and the outline states
    nothing; about another sentence a second reader is asked."""
    problem = _leading_problem(text, passages)
    if problem is None and text.rstrip().endswith("?"):
        return STANDS
    if problem is None or problem.code == "adds_to_claims":
        return Decision("ask")
    return Decision("refused", problem)


@cache
def _common_nouns() -> str:
    """Nouns that any question may have for what is known, said or comes about: evidence, outcomes."""
    return " ".join(word for word in sorted(WEAK) if mostly_noun(word) and files(word)[0] in _TOPICS)


def _leading_problem(text: str, passages: Sequence[str]) -> Statement | None:
    """Why a text may state a finding: a number, a name or a word that nothing known has."""
    stated = {number.value for passage in passages for number in numbers(passage)}
    if number := next((n.shown for n in numbers(text) if n.value not in stated), ""):
        return Statement.of("number_missing", number=number)
    if name := unknown_name(text, passages):
        return Statement.of("name_missing", name=name)
    held = {term for passage in passages for term in terms(passage)}
    return None if set(terms(text)) <= held else Statement.of("adds_to_claims")


def disagree(one: Claim, other: Claim) -> bool:
    """Whether two sentences may be called contradictory: they rest on different works and share a word."""
    works = [{support.evidence_id for support in claim.support} for claim in (one, other)]
    return works[0] != works[1] and bool(set(terms(one.text)) & set(terms(other.text)))


# fields of works


def cell(column: str, text: str, support: Support | None, document: Evidence) -> Decision:
    """A cell of the reader's table, by the sentence it is from. One of an effect is a number or a measure: it
    has no direction, and its sentence may deny ("not associated, HR 1.02")."""
    if support is None:
        return refused("cites_nothing")
    if support.evidence_id != document.evidence_id:
        return refused("other_work")
    if column in MEASURED:
        return refused("not_in_work") if cell_reason(column, text, support.quote) else STANDS
    plain, quote = normalise(text), normalise(support.quote)
    if number := missing_number(plain, [quote], (), 0):
        return refused("number_missing", number=number)
    if name := unknown_name(plain, [whole(document)]):
        return refused("name_missing", name=name)
    said, own = terms(plain), set(terms(quote))
    vocabulary = own | set(terms(f"{document.title}\n{document.text}"))
    if not vocabulary.issuperset(said) or sum(word in own for word in said) < MIN_OF_SENTENCE * len(said):
        return refused("not_in_work")
    if not is_directed(plain):
        return STANDS
    if not joins(plain, [quote]):
        return refused("not_in_work")
    if turned := reversal(plain, quote):
        return refused("meaning_turned", how=turned)
    return STANDS


def finding(text: str, support: Sequence[Support], document: Evidence) -> Decision:
    """What a judge says that a work found: in the words of one of its sentences. Nobody reads one in other
    words (`ask`): its sentence is shown. One that the whole work does not bear out is refused."""
    if not support:
        return refused("cites_nothing")
    sources = sources_of(support, {document.evidence_id: document})
    problem = wording_problem(text, sources)
    if problem is None:
        return STANDS if any(follows(text, one.quote) for one in support) else Decision("ask")
    if problem.code == "number_missing":
        everywhere = [Source(document, (*source.quotes, document.text)) for source in sources]
        problem = wording_problem(text, everywhere)
    return Decision("ask") if problem is None else Decision("refused", problem)


def field(text: str, corpus: str) -> Decision:
    """A few words about a work or a candidate: all their numbers and most of their words are in the works."""
    there = set(words(corpus))
    own = words(text)
    longer = [word for word in own if len(word) > 3 or any(c.isdigit() for c in word)] or own
    held = sum(word in there for word in longer)
    figures = all(word in there for word in longer if any(c.isdigit() for c in word))
    return STANDS if longer and figures and held >= MIN_OF_WORK * len(longer) else refused("not_in_work")


def candidate_field(text: str, names: Sequence[str], works: Sequence[Evidence]) -> Decision:
    """What is said of a candidate: each part in one passage of a work that is cited for it."""
    name_stems = stems(" ".join(names))
    in_works = bool(text) and place_of(text, passages_of(works), name_stems) is not None
    return STANDS if in_works else refused("not_in_work")


def reason(text: str, corpus: str) -> Decision:
    """Why a judge graded a work as it did: no number and no name that the work does not have."""
    digits = {word.strip(".,;:()%") for word in text.split() if any(c.isdigit() for c in word)}
    foreign = any(d not in corpus for d in digits) or unknown_name(text, [corpus])
    return refused("not_in_work") if foreign else STANDS


def participants(number: int, corpus: str) -> Decision:
    """A number of participants: the work has it, in words or in digits with or without separators."""
    texts = {corpus, normalise(corpus), _SPACE_OF_THOUSANDS.sub("", corpus)}
    stated = number > 0 and any(number in counts(text) for text in texts)
    return STANDS if stated else refused("not_in_work")


def words(text: str) -> list[str]:
    """The words of a text in the form they are compared in."""
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()


def names(name: str, text: str) -> bool:
    """Whether the words of a name stand side by side in a text."""
    wanted = " ".join(words(name))
    return bool(wanted) and f" {wanted} " in f" {' '.join(words(text))} "
