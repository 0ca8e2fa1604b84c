"""The gate: the only place that says yes or no to words of a model.

Code decides what is exact, in any language. A sentence stands by code only where it is a quote of one work.
It is refused where it is empty or cut, or has a number, an identifier or a coded name that its works do not
have and no shown computation gives. What all others mean, and a small number in a language whose number words
are not read, is left to a second reader, whose yes counts with the labels of the sentences that carry it.
What is copied from works and has no second reader is decided beside it (`fields.py`); which quotes stand
behind a sentence says `quotes.py`.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from activities.contracts.evidence import Claim, Evidence, Statement, Support
from activities.contracts.identifiers import records_in
from activities.contracts.write import DraftClaim, SentenceKind, SentenceState
from activities.dates import ranges_apart
from activities.text.language import ENGLISH, language_of_question
from activities.text.layout import ENDS
from activities.text.normal_form import normalise
from activities.text.number_index import may_be_spelled, missing_code, missing_numbers
from activities.text.numbers import read
from activities.text.quotability import LABEL
from activities.text.tokens import terms
from activities.verification.computed import Computations
from activities.verification.expressions import result_of

C = TypeVar("C", bound=DraftClaim)
FINAL_MARKS = (*ENDS, ")", '"', "'")
_EXPONENT = re.compile(r"(?<=[^\W\d_])[\u00b2\u00b3]")
"""An exponent of a unit or a statistic (`kg/m\u00b2`), which a plain text may write in another way."""
_POWER = re.compile(r"(?<=\d)(?=[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207b])")
"""Where an exponent begins behind a number, whose normal form has both as one: `10\u2079`."""
NUMERIC = frozenset({"number_missing", "number_not_computed"})
"""Codes of why a figure does not stand."""
MISSING = NUMERIC | {"name_missing"}
"""Codes of a figure or a name that the cited works do not have; others may have it."""
NONE_SHOWN = Computations((), (), ())
MAX_CLAIM_CHARS = 600
"""Characters of a sentence, as its writer is told."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on words of a model."""

    state: SentenceState
    refusal: Statement | None = None
    computed: tuple[str, ...] = ()
    """The computations that give the numbers which no work states."""

    @property
    def stands(self) -> bool:
        return self.state == "stands"


STANDS = Decision("stands")
ASK = Decision("ask")


def refuse(code: str, computed: tuple[str, ...] = (), **values: str) -> Decision:
    """Words that do not stand, by the code of why and what is known of it."""
    facts = {name: value for name, value in values.items() if value}
    return Decision("refused", Statement.of(code, **facts), computed=computed)


def sentence(
    text: str,
    cites: Collection[str],
    documents: Mapping[str, Evidence],
    context: str = "",
    *,
    quotes: Sequence[str] = (),
    computations: Computations = NONE_SHOWN,
    is_row: bool = False,
) -> Decision:
    """Decide on a sentence of a draft, an item of a list or a row of a table.

    `cites`: ids of its works; one without any may have what all `documents` say, which its writer was shown.
    `context`: question and plan, whose names and numbers it may have. `quotes`: those that it has already.
    `computations`: those that its writer shows. `is_row`: it may be longer, and ends without a stop."""
    plain = normalise(_POWER.sub("^", _EXPONENT.sub("", text)))
    plain = ranges_apart(plain, language_of_question(plain) or ENGLISH)
    if not any(map(str.isalnum, plain)):
        return refuse("claim_empty")
    if len(text) >= MAX_CLAIM_CHARS - 10 and not plain.endswith(FINAL_MARKS) and not is_row:
        return refuse("text_cut")
    if len({*cites}) == 1 and is_quote(text, quotes):
        return STANDS
    names = dict.fromkeys(cites) or documents
    works = [text_of(documents[name]) for name in names if name in documents]
    return check_exact(plain, [*quotes, *works, context], len(names), computations, spelled_in=works)


def background(text: str, about: str) -> Decision:
    """Decide on a sentence of general knowledge: no record or address but those of the question."""
    name = next((name for name in records_in(normalise(text)) if name.casefold() not in about.casefold()), "")
    return refuse("name_missing", name=name) if name else ASK


def check_exact(
    text: str,
    works: Sequence[str],
    items: int,
    computations: Computations = NONE_SHOWN,
    spelled_in: Sequence[str] = (),
) -> Decision:
    """Refuse a text with a code or a number that no work has and no computation gives; leave others open.

    `items`: how many works it may count. `spelled_in`: works that may have a number in words."""
    plain = normalise(text)
    if code := missing_code(plain, works):
        return refuse("name_missing", name=code)
    computed = computations.of(plain, works)
    missing = (n for n in computed.missing if not any(may_be_spelled(n, work) for work in spelled_in))
    number = _first_uncounted(missing, items)
    if not number:
        return Decision("ask", computed=computed.rows)
    problem = "number_not_computed" if computed.failure else "number_missing"
    return refuse(problem, computed.rows, number=number, computation=computed.failure)


def _first_uncounted(numbers: Iterable[str], items: int) -> str:
    """Return the first number that cannot count the works which a sentence rests on; empty without any."""
    counts = range(items + 1)
    return next((n for n in numbers if not any(figure.value in counts for figure in read(n).numbers)), "")


def text_of(work: Evidence) -> str:
    """All that a work says: its title, who wrote it and when, its names and facts, and its text."""
    names = (value for _, value in work.identifiers.items_in_order())
    facts = (", ".join(work.authors), str(work.year or ""), *names, *work.facts.values())
    return _POWER.sub("^", "\n".join((work.title, *facts, work.text)))


def is_quote(text: str, quotes: Iterable[str]) -> bool:
    """Tell whether a sentence is one of the quotes, the label of its part aside."""
    bare = _bare(text)
    return any(bare == _bare(quote) for quote in quotes)


def _bare(text: str) -> str:
    plain = normalise(text)
    label = LABEL.match(plain)
    plain = plain[label.end() if label else 0 :]
    return (plain[:1].upper() + plain[1:]).rstrip(" ,;:.")


def with_decision(claim: C, decision: Decision) -> C:
    """Return a sentence with what was decided of it, and its kind by its works and computations."""
    return claim.replace(
        kind=kind_of(claim, works_of(claim), decision.computed),
        state=decision.state,
        stands_by="quote",
        problem=decision.refusal,
        computed=decision.computed,
    )


def works_of(claim: DraftClaim) -> tuple[str, ...]:
    """Return the ids of the works that a sentence cites, by its writer or else by its quotes, each once."""
    return claim.cites or tuple(dict.fromkeys(support.evidence_id for support in claim.support))


def kind_of(claim: DraftClaim, works: Collection[str], computed: Collection[str]) -> SentenceKind:
    """Return the kind of a sentence: as it was asked for, else by its works and its computations."""
    if claim.kind in ("transition", "translation", "background"):
        return claim.kind
    if not works:
        return "inference"
    return "computed" if computed else "synthesis" if len(works) > 1 else "finding"


# what the second reader says


def objection(
    claim: DraftClaim, verdict: str, named_support: Sequence[Support], reason: str
) -> Statement | None:
    """Tell why a sentence does not stand after a second reader has answered; None where it does.

    A `yes` to a sentence on works counts only with a sentence of one of these works in `named_support`."""
    if verdict != "yes":
        return Statement.of("not_supported", verdict=verdict, reason=reason)
    works = works_of(claim)
    is_carried = not works or any(support.evidence_id in works for support in named_support)
    return None if is_carried else Statement.of("not_carried")


# headings, and the editor


def title(text: str, passages: Sequence[str]) -> Decision:
    """Decide on a title: its numbers, names and words are those of the question, the outline or works."""
    if (decision := check_exact(text, passages, 0)).refusal:
        return decision
    allowed = {term for passage in passages for term in terms(passage)}
    return STANDS if set(terms(text)) <= allowed else refuse("adds_to_claims")


def heading(
    text: str, passages: Sequence[str], documents: Collection[Evidence] = (), results: Sequence[str] = ()
) -> Decision:
    """Decide on words above a block: about those that the question does not have a second reader is asked.

    `documents`: works that may have its numbers and names. `results`: what its text computes."""
    decision = title(text, passages)
    code = decision.refusal.code if decision.refusal else ""
    is_stated = code in MISSING and bool(stated_headings([text], documents, results))
    return ASK if code == "adds_to_claims" or is_stated else decision


def stated_headings(
    headings: Iterable[str], documents: Collection[Evidence], results: Sequence[str] = ()
) -> list[str]:
    """Return the headings whose numbers and codes a work or a result has, cited below them or not."""
    numbered = [heading for heading in headings if any(map(str.isdigit, heading))]
    works = [*map(text_of, documents), *results] if numbered else []
    return [heading for heading in numbered if not check_exact(heading, works, 0).refusal]


def editor_sentence(text: str, claims: Sequence[Claim], context: str) -> Decision:
    """Decide on a sentence of the editor, by the sentences it names; `context`: the question.

    One that names sentences without works, as what is missing or advised, is read as they were."""
    passages = [claim.text for claim in claims]
    quotes = [support.quote for claim in claims for support in claim.support]
    if is_quote(text, passages):
        return STANDS
    items = len({support.evidence_id for claim in claims for support in claim.support})
    decision = check_exact(text, [*passages, *quotes, context], items)
    rows = dict.fromkeys(row for claim in claims for row in claim.computed)
    shown = (row for row in rows if not any(missing_numbers(result_of(row), [text])))
    return decision if decision.refusal else replace(decision, computed=tuple(shown))
