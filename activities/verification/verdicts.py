"""What becomes of the sentences of a draft between its writer and the page.

The order: the writer's draft -> `open_sentences`, asked in one call -> `with_verdicts` -> what was refused is
written once more (`rewordable_paragraphs`, `with_rewordings`) while the editor works -> what is open then is
read in one call -> `printable_draft`. The gate decides; this carries its decisions. Pure functions.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TypeVar

from activities.contracts.evidence import Claim, Statement, Support, Vigilance
from activities.contracts.judge import Refused, RefusedKind
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    EditedSentence,
    SectionDraft,
    Verdicts,
    with_sentences,
)
from activities.verification.gate import kind_of, works_of
from activities.verification.quotes import is_prose, nearest_quotes

MAX_REFUSED_CHARS = 600
"""Characters of a refused text that are recorded."""
NOTABLE_LOSS = 1 / 3
"""Share of a draft's sentences from which the run says that checks refused them."""
READ = frozenset({"not_supported", "not_carried", "not_confirmed"})
"""Codes of why a sentence does not stand that a second reader has read."""

PLACE = ("id", "item", "number", "level", "strong", "begins", "letter", "line")
"""Fields of a sentence that say where it stands."""

C = TypeVar("C", DraftClaim, EditedSentence)


def open_sentences(sentences: Iterable[C]) -> tuple[C, ...]:
    """Return the sentences about which a second reader is asked."""
    return tuple(sentence for sentence in sentences if sentence.state == "ask")


def by_verdict(verdicts: Verdicts) -> Callable[[C], C]:
    """Return what the second reader's verdicts make of a sentence; one without a verdict stays open.

    What a reader confirms that let too many planted errors pass is not confirmed."""
    by_id = {verdict.id: verdict for verdict in verdicts.verdicts}
    vigilance = verdicts.vigilance
    doubt = Statement.of("not_confirmed", noticed=vigilance.noticed, planted=vigilance.planted)

    def change(row: C) -> C:
        verdict = by_id.get(row.id)
        if verdict is None or row.state != "ask":
            return row
        if verdict.problem is not None:
            return row.replace(state="refused", problem=verdict.problem)
        support = verdict.support or row.support
        if not vigilance.is_believed:
            return row.replace(state="refused", problem=doubt, support=support)
        return with_support(row, support).replace(state="stands", stands_by="reader", leans=verdict.leans)

    return change


def with_support(claim: C, support: tuple[Support, ...]) -> C:
    """Return a sentence with its quotes, without the citations of works that none of them is from."""
    if claim.kind == "background":  # no work carries it
        return claim
    works = dict.fromkeys(quote.evidence_id for quote in support)
    all_marks = (mark.replace(works=tuple(w for w in mark.works if w in works)) for mark in claim.marks)
    marks = tuple(mark for mark in all_marks if mark.works)
    kind = kind_of(claim, works, claim.computed)
    return claim.replace(support=support, cites=tuple(works), marks=marks, kind=kind)


def with_verdicts(draft: SectionDraft, verdicts: Verdicts, *, is_counted: bool = True) -> SectionDraft:
    """Return a draft after its second reader.

    `is_counted`: how well that read counts for this draft, and not for another one of the same call."""
    change = by_verdict(verdicts)
    vigilance = verdicts.vigilance if is_counted else Vigilance()
    changed = draft.changed(lambda claim: (change(claim),))
    untranslated = (*draft.untranslated, *(verdicts.untranslated if is_counted else ()))
    return changed.replace(vigilance=draft.vigilance + vigilance, untranslated=untranslated)


def was_read(sentence: DraftClaim) -> bool:
    """Tell whether a second reader has said something of a sentence."""
    problem = sentence.problem.code if sentence.problem is not None else ""
    return sentence.stands_by == "reader" or problem in READ


def sentences_with_context(draft: SectionDraft) -> Iterator[DraftClaim]:
    """Return the sentences of a draft, in its order, each with those before it in its paragraph."""
    for claims in (draft.answer, *(paragraph.claims for paragraph in draft.paragraphs)):
        yield from with_context(claims)
    yield from (*draft.headings, *draft.translations)


def with_context(claims: Iterable[C]) -> Iterator[C]:
    """Return the sentences of a paragraph, each with those before it."""
    before = ""
    for claim in claims:
        before = before if not (claim.is_row or claim.begins) else ""
        cut = before[-MAX_REFUSED_CHARS:]
        yield claim.replace(after=cut if cut == before else cut.partition(" ")[2])
        before = f"{before} {claim.text}".strip()


def rewordable_paragraphs(draft: SectionDraft) -> tuple[DraftParagraph, ...]:
    """Return the paragraphs that the writer is to write once more, without what their sentences rest on.

    Those with sentences that `is_rewordable`, of a list or a table these alone."""
    blocks = (
        [claim for claim in paragraph.claims if is_rewordable(claim) or not claim.is_row]
        for paragraph in (DraftParagraph(claims=draft.answer), *draft.paragraphs)
        if any(map(is_rewordable, paragraph.claims))
    )
    rows = ([c.replace(cites=works_of(c), support=(), computed=(), marks=()) for c in row] for row in blocks)
    return tuple(DraftParagraph(claims=tuple(claims)) for claims in rows if claims)


def is_rewordable(claim: DraftClaim) -> bool:
    """Tell whether a sentence was refused in its first wording or a row lost fields in it."""
    may_be_mended = claim.problem.code != "not_confirmed" if claim.problem else claim.state == "refused"
    return may_be_mended and not claim.reworded


def bases_of(claims: Iterable[DraftClaim | Claim]) -> set[str]:
    """Ids of the sentences of a paragraph that the next one leans on."""
    return {before.id for before, claim in pairwise(claims) if claim.leans}


def leaning_ids(claims: Sequence[DraftClaim]) -> set[str]:
    """Ids of the sentences of a paragraph that lean on one which was refused, or on one that does."""
    names: set[str] = set()
    for before, claim in pairwise(claims):
        if claim.leans and (before.state in ("refused", "ask") or before.id in names):
            names.add(claim.id)
    return names


def with_rewordings(draft: SectionDraft, rewordings: SectionDraft) -> SectionDraft:
    """Return the draft with second wordings in the place of first ones, which are recorded."""
    by_id = {claim.id: claim for claim in rewordings.claims}
    refusals: list[Refused] = []
    former: list[DraftClaim] = []

    def change(claim: DraftClaim) -> tuple[DraftClaim, ...]:
        rewording = by_id.get(claim.id, claim)
        if rewording.state not in ("stands", "ask"):  # its quotes stay: the writer was not shown them
            fields = {name: getattr(rewording, name) for name in ("state", "problem", "reworded")}
            return (claim.replace(**fields) if claim.state == "refused" else claim,)
        if rewording is not claim and claim.state == "refused":
            refusals.append(refusal_of(claim, "reworded"))
        elif rewording is not claim and claim.state == "stands":
            former.append(claim)
        return (rewording,)

    return draft.changed(change).replace(
        refused=(*draft.refused, *refusals),
        translations=(*draft.translations, *rewordings.translations),
        former=(*draft.former, *former),
    )


def printable_draft(draft: SectionDraft) -> SectionDraft:
    """Return the draft as a reader sees it.

    - What does not stand is listed as refused. The nearest quote of each work that it cites is in its place,
      unless its writer left it out or it is of a table or a letter; among sentences that stand only for what
      nobody read: for the rest it would interrupt them.
    - A sentence that stood before its second wording stands again where that does not.
    - A sentence that leans on one that fell falls with it, general knowledge where none on a work stands.
    - The fields that a row lost are listed with the row that stands."""
    former = {claim.id: claim for claim in draft.former}
    refusals: list[Refused] = []

    def standing(claim: DraftClaim) -> tuple[DraftClaim, ...]:
        """Return the sentence, or the one that stood before a second wording which does not stand."""
        if claim.state == "stands" or claim.id not in former:
            return (claim,)
        refusals.append(refusal_of(claim, "reworded"))
        return (former[claim.id],)

    def printable(claims: Sequence[DraftClaim], shown: set[str]) -> tuple[DraftClaim, ...]:
        printed: list[DraftClaim] = []
        others_stand = any(claim.state == "stands" for claim in claims)
        for claim in claims:
            if claim.state == "stands":
                printed.append(claim)
                refusals.extend([refusal_of(claim, "cell")] if claim.problem is not None else ())
                continue
            # a check refused it, and not that nobody read it
            code = claim.problem.code if claim.problem is not None else "not_read"
            is_refused = code not in ("not_read", "not_confirmed")
            quotes = [] if others_stand and is_refused else _replacement_quotes(claim, shown)
            shown.update(quote.text for quote in quotes)
            refusals.append(refusal_of(claim, "wording" if quotes else "claim"))
            printed += quotes
        return tuple(printed)

    draft = _without_background(draft.changed(standing))
    answer = _with_leaning_refused(draft.answer)
    claims_of = [_with_leaning_refused(paragraph.claims) for paragraph in draft.paragraphs]
    answer = printable(answer, _standing_quotes(answer))
    shown = _standing_quotes(chain(*claims_of))
    paragraphs = [
        DraftParagraph(
            claims=printable(claims, shown),
            heading=paragraph.heading if paragraph.heading and paragraph.heading.state == "stands" else None,
        )
        for paragraph, claims in zip(draft.paragraphs, claims_of, strict=True)
    ]
    return draft.replace(
        answer=answer,
        paragraphs=with_sentences(paragraphs),
        translations=tuple(row for row in draft.translations if row.state == "stands"),
        refused=(*draft.refused, *refusals),
    )


def _without_background(draft: SectionDraft) -> SectionDraft:
    """Refuse the general knowledge of a draft of which no sentence on a work stands."""
    if any(claim.state == "stands" and claim.support for claim in draft.claims):
        return draft
    fields = {"state": "refused", "problem": Statement.of("cites_nothing")}
    return draft.changed(lambda claim: (claim.replace(**fields) if claim.kind == "background" else claim,))


def _with_leaning_refused(claims: Sequence[DraftClaim]) -> tuple[DraftClaim, ...]:
    """Return the sentences of a paragraph, those refused that lean on refused ones."""
    ids = {claim.id for claim in claims if claim.state == "stands"} & leaning_ids(claims)
    fields = {"state": "refused", "problem": Statement.of("leans_on_refused")}
    return tuple(claim.replace(**fields) if claim.id in ids else claim for claim in claims)


def _standing_quotes(claims: Iterable[DraftClaim]) -> set[str]:
    return {s.quote for claim in claims if claim.state == "stands" for s in claim.support}


def _replacement_quotes(claim: DraftClaim, shown: Collection[str]) -> list[DraftClaim]:
    """Return the quotes that are printed in place of a sentence, under its id: none that is shown already."""
    if claim.state == "out" or claim.is_row or claim.letter:
        return []
    quotes = [s for s in nearest_quotes(claim) if s.quote not in shown and is_prose(s.quote)]
    place = {name: getattr(claim, name) for name in ("item", "number", "begins")}
    ids = (claim.id, *(f"{claim.id}.{number}" for number in range(2, len(quotes) + 1)))
    return [
        DraftClaim(id=id_, text=quote.quote, support=(quote,), **place)
        for id_, quote in zip(ids, quotes, strict=False)
    ]


def refusal_of(claim: DraftClaim, kind: RefusedKind = "wording") -> Refused:
    """Return a sentence as the record of what was refused."""
    return Refused(
        kind=kind,
        text=claim.text[:MAX_REFUSED_CHARS],
        reason=claim.problem or Statement.of("not_read"),
        evidence_ids=works_of(claim),
    )


def loss(draft: SectionDraft) -> float:
    """Share of the sentences of a draft that do not stand, 0 to 1."""
    standing = sum(claim.state == "stands" for claim in draft.claims)
    total = sum(refusal.kind == "claim" for refusal in draft.refused) + len(draft.claims)
    return (total - standing) / total if total else 0.0
