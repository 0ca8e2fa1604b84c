"""The gate: the only place that says yes or no to words of a model.

Code decides what is exact, in any language. A sentence stands by code only where it is a quote of one work.
It is refused where it is empty or cut, or has a number, an identifier or a coded name that its works do not
have and no shown computation gives. What all others mean, and a small number in a language whose number words
are not read, is left to a second reader, whose yes counts with the labels of the sentences that carry it.
Cells, fields of a judgement and a judge's finding have no second reader: they are copied spans of a work.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from activities.analysis.cells import FIGURES, cell_reason
from activities.contracts.evidence import Claim, Evidence, Statement, Support
from activities.contracts.identifiers import records_in
from activities.contracts.write import DraftClaim, SentenceKind, SentenceState
from activities.dates import ranges_apart
from activities.text.language import ENGLISH, language_of, language_of_question
from activities.text.normal_form import normalise
from activities.text.numbers import index_of, may_be_spelled, missing_code, missing_numbers, read
from activities.text.quotability import LABEL
from activities.text.sentences import quotable, sentences
from activities.text.tokens import terms
from activities.verification.computed import Computations

C = TypeVar("C", bound=DraftClaim)
_PARTS = re.compile(r"\.\.\.|[\u2026;|]|\s/\s")
"""Between spans of a work that are copied into one field."""
_FINAL_MARKS = (".", "!", "?", ")", '"', "'", "\u3002", "\uff01", "\uff1f")
Passage = tuple[Evidence, str, frozenset[str]]
"""A work, a passage of it, and the stems of its words of content."""
_EXPONENT = re.compile(r"(?<=[^\W\d_])[\u00b2\u00b3]")
"""An exponent of a unit or a statistic (`kg/m\u00b2`), which a plain text may write in another way."""
_POWER = re.compile(r"(?<=\d)(?=[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207b])")
"""Where an exponent begins behind a number, whose normal form has both as one: `10\u2079`."""
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")
_LINK = re.compile(r"(?:(?<!\s)\s+)?(?:->|[;|\u2192])\s*")
"""Between the links of a chain of effects."""
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
MAX_QUOTES = 8
"""Quotes of a sentence, beside those that its numbers need and one for each work that it rests on."""
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


# sentences


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
    if len(text) >= MAX_CLAIM_CHARS - 10 and not plain.endswith(_FINAL_MARKS) and not is_row:
        return refuse("text_cut")
    if len({*cites}) == 1 and is_quote(text, quotes):
        return STANDS
    names = dict.fromkeys(cites) or documents
    works = [text_of(documents[name]) for name in names if name in documents]
    return _decide(plain, [*quotes, *works, context], len(names), computations, spelled_in=works)


def background(text: str, about: str) -> Decision:
    """Decide on a sentence of general knowledge: no record or address but those of the question."""
    name = next((name for name in records_in(normalise(text)) if name.casefold() not in about.casefold()), "")
    return refuse("name_missing", name=name) if name else ASK


def _decide(
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


def carrying_quotes(
    claim: DraftClaim, named_support: Sequence[Support], documents: Mapping[str, Evidence], context: str = ""
) -> tuple[Support, ...]:
    """Return the few quotes that carry a sentence, of those that a second reader named.

    They are of the works that it cites, or have a number that none of these states; of each work the first,
    and as many as `MAX_QUOTES` in all. Those behind its computations stay. `context`: the question."""
    works = works_of(claim)
    texts = [*(text_of(documents[name]) for name in works if name in documents), *claim.computed, context]
    missing = [number.text for number in missing_numbers(claim.text, texts)] if works else []

    def carries(support: Support) -> bool:
        states = (number for number in missing if not any(missing_numbers(number, [support.quote])))
        return not works or support.evidence_id in works or any(states)

    candidates = [*filter(carries, dict.fromkeys(named_support))]
    firsts = {support.evidence_id: support for support in reversed(candidates)}
    few = {*firsts.values(), *candidates[:MAX_QUOTES]}
    operands = (s for s in claim.support if claim.computed and (not claim.cites or s.evidence_id in firsts))
    return tuple(dict.fromkeys((*(support for support in candidates if support in few), *operands)))


def quotes_of_figures(claim: DraftClaim, works: Iterable[Evidence], context: str) -> Iterator[Support]:
    """Yield the sentences that alone state a figure which quotes and computations of a claim do not have."""
    quotes = [support.quote for support in claim.support]
    rows = {s: None for work in works for s in sentences(work, short=True)}
    for number in missing_numbers(claim.text, [*quotes, *claim.computed, context]):
        stating = [s for s in rows if not any(missing_numbers(number.text, [s.quote]))]
        if len(stating) == 1:
            yield Support(evidence_id=stating[0].evidence_id, quote=stating[0].quote)


def stated_headings(headings: Iterable[str], documents: Collection[Evidence]) -> list[str]:
    """Return the headings of a table whose numbers and codes a work has, cited by its rows or not."""
    numbered = [heading for heading in headings if any(map(str.isdigit, heading))]
    works = [*map(text_of, documents)] if numbered else []
    return [heading for heading in numbered if not _decide(heading, works, 0).refusal]


def is_prose(quote: str) -> bool:
    """Tell whether a quote may be printed in place of a sentence: no row of a table, heading or fragment."""
    plain = normalise(quote)
    is_cut = plain[:1].islower() or not plain.endswith(_FINAL_MARKS)
    return quotable(plain) and not is_cut and {"|", "\t"}.isdisjoint(quote)


# the editor


def editor_sentence(text: str, claims: Sequence[Claim], context: str) -> Decision:
    """Decide on a sentence of the editor, by the sentences it names; `context`: the question.

    One that names sentences without works, as what is missing or advised, is read as they were."""
    passages = [claim.text for claim in claims]
    quotes = [support.quote for claim in claims for support in claim.support]
    if is_quote(text, passages):
        return STANDS
    items = len({support.evidence_id for claim in claims for support in claim.support})
    decision = _decide(text, [*passages, *quotes, context], items)
    rows = dict.fromkeys(row for claim in claims for row in claim.computed)
    shown = (row for row in rows if not any(missing_numbers(row.rpartition("=")[2], [text])))
    return decision if decision.refusal else replace(decision, computed=tuple(shown))


def title(text: str, passages: Sequence[str]) -> Decision:
    """Decide on a title: its numbers, names and words are those of the question, the outline or works."""
    if (decision := _decide(text, passages, 0)).refusal:
        return decision
    allowed = {term for passage in passages for term in terms(passage)}
    return STANDS if set(terms(text)) <= allowed else refuse("adds_to_claims")


def heading(text: str, passages: Sequence[str], documents: Collection[Evidence] = ()) -> Decision:
    """Decide on words above a block: about those that the question does not have a second reader is asked.

    `documents`: works that may have its numbers and names."""
    decision = title(text, passages)
    code = decision.refusal.code if decision.refusal else ""
    is_stated = code in MISSING and bool(stated_headings([text], documents))
    return ASK if code == "adds_to_claims" or is_stated else decision


# fields of works


def is_span(text: str, source: str) -> bool:
    """Tell whether a text is copied from another one: word by word, numbers by their value."""
    language = language_of(source)
    row, source_row = _row(text, language), _row(source, language)
    if not row:
        return False
    # scripts without blanks between words have no edges
    return f" {row} " in f" {source_row} " or (not row.isascii() and row in source_row)


def are_spans(text: str, source: str) -> bool:
    """Tell whether each part of a text is copied from another one."""
    parts = [part for part in _PARTS.split(normalise(text)) if part.strip()]
    return bool(parts) and all(is_span(part, source) for part in parts)


def _row(text: str, language: str) -> str:
    """Return the words of a text in comparison form, numbers by their value."""
    plain = normalise(text)
    pieces, at = list[str](), 0
    for number in read(plain, language).numbers:
        if number.role != "code" and number.start >= at and len(number.readings[0]) == 1:
            value = f"{number.value.normalize():f}".replace(".", "_")
            pieces += [*words(plain[at : number.start]), value]
            pieces += ["%"] if number.percent else []
            at = number.start + len(number.text)
    return " ".join([*pieces, *words(plain[at:])])


def cell(column: str, text: str, support: Support | None, document: Evidence) -> Decision:
    """Decide on a cell of the reader's table: copied from the sentence it is from."""
    if support is None:
        return refuse("cites_nothing")
    if support.evidence_id != document.evidence_id:
        return refuse("other_work")
    if column in FIGURES:
        return refuse("not_in_work") if cell_reason(column, text, support.quote) else STANDS
    if number := next(missing_numbers(text, [support.quote]), None):
        return refuse("number_missing", number=number.text)
    return STANDS if are_spans(text, support.quote) else refuse("not_in_work")


def finding(text: str, support: Sequence[Support]) -> Decision:
    """Decide on a judge's finding: copied from one of its sentences, else (`ask`) that sentence is shown."""
    if not support:
        return refuse("cites_nothing")
    return STANDS if any(are_spans(text, part.quote) for part in support) else ASK


def field(text: str, corpus: str) -> Decision:
    """Decide on a few words about a work: copied from it."""
    return STANDS if are_spans(text, corpus) else refuse("not_in_work")


def candidate_field(text: str, names: Sequence[str], works: Sequence[Evidence]) -> Decision:
    """Decide on what is said of a candidate: each part in one passage of a work that is cited for it."""
    is_said = bool(text) and place_of(text, passages_of(works), stems(" ".join(names))) is not None
    return STANDS if is_said else refuse("not_in_work")


def passages_of(works: Sequence[Evidence]) -> list[Passage]:
    """Return the sentences of each work, each with the one after it, and its title and facts."""
    return [(work, text, stems(text)) for work in works for text in _passages(work)]


def place_of(text: str, passages: Sequence[Passage], name_stems: frozenset[str]) -> list[Passage] | None:
    """Return the passages that say a field, one for each part of it; None where a part is said nowhere.

    `name_stems`: those of the candidate's own names, which need no support."""
    parts = [content for part in _LINK.split(text) if (content := stems(part) - name_stems)]
    places = [next((passage for passage in passages if content <= passage[2]), None) for content in parts]
    return None if None in places else [place for place in places if place is not None]


def _passages(work: Evidence) -> list[str]:
    parts = _SENTENCE_END.split(normalise(work.text))
    pairs = [f"{text} {other}" for text, other in zip(parts, [*parts[1:], ""], strict=True)]
    facts = [f"{name} {value}" for name, value in work.facts.items()]
    return [*parts, *pairs, work.title, *facts, " ".join(facts)]


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words of content; words with digits as they are."""
    coded = (word.casefold() for word in _WORD.findall(normalise(text)) if any(map(str.isdigit, word)))
    return frozenset((*terms(text), *coded))


def reason(text: str, corpus: str) -> Decision:
    """Decide on why a judge graded a work: no number and no coded name that the work does not have."""
    decision = _decide(text, [corpus], 0)
    return decision if decision.refusal else STANDS


def participants(number: int, corpus: str) -> Decision:
    """Decide on a number of participants: the work states it, in words or in digits."""
    return STANDS if number > 0 and number in index_of(corpus).values else refuse("not_in_work")


def words(text: str) -> list[str]:
    """Return the words of a text in the form they are compared in."""
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()


def is_named(name: str, text: str) -> bool:
    """Tell whether the words of a name stand side by side in a text."""
    row = " ".join(words(name))
    return bool(row) and f" {row} " in f" {' '.join(words(text))} "
