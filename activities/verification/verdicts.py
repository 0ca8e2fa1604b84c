"""What becomes of the sentences of a draft that code could not verify by itself.

The order of a section: the writer's draft -> `to_verify`, asked in one call -> `with_verdicts` -> what failed
is written once more in one call (`WriteInput.failed`, `.draft`) -> `with_quotes`. A sentence that nothing
verified never stands: its quotes replace it. Pure functions, which workflows call.
"""

from collections.abc import Callable

from rapidfuzz import fuzz

from activities.drafts import CheckedSentence, DraftClaim, DraftParagraph, SectionDraft, Verdicts
from activities.judgements import Refused, RefusedKind
from activities.types import Statement, Support

MAX_REFUSED_CHARS = 600
"""Characters of a refused text that are recorded."""
NOTABLE_LOSS = 1 / 3
"""Share of a draft's sentences from which the run says that checks refused them."""

Replace = Callable[[str, DraftClaim], tuple[DraftClaim, ...]]


def to_verify(draft: SectionDraft) -> tuple[CheckedSentence, ...]:
    """The sentences that the verifier is to be asked about, by their place in the draft."""
    return tuple(
        CheckedSentence(id=name, text=claim.text, support=claim.support)
        for name, claim in _named(draft)
        if claim.state == "unverified"
    )


def with_verdicts(draft: SectionDraft, verdicts: Verdicts) -> SectionDraft:
    """The draft in which the sentences that the verifier confirmed stand and the others failed. A sentence
    without a verdict stays unverified; a verdict on a sentence that was not asked about changes nothing."""
    given = {verdict.id: verdict for verdict in verdicts.verdicts}

    def judged(name: str, claim: DraftClaim) -> tuple[DraftClaim, ...]:
        verdict = given.get(name)
        if verdict is None or claim.state != "unverified":
            return (claim,)
        if verdict.supported == "yes":
            return (claim.model_copy(update={"state": "stands"}),)
        problem = Statement(
            code="not_supported", values={"verdict": verdict.supported, "reason": verdict.reason}
        )
        return (claim.model_copy(update={"state": "failed", "problem": problem}),)

    return _replaced(draft, judged)


def failures(draft: SectionDraft) -> tuple[Refused, ...]:
    """The sentences that failed, for the writer (`WriteInput.failed`)."""
    return tuple(refused(claim) for _, claim in _named(draft) if claim.state == "failed")


def with_quotes(draft: SectionDraft) -> SectionDraft:
    """The draft with quotes in place of every sentence that failed or was not verified, each listed as
    refused: of each work that it cites the nearest one. A quote that another claim of the draft has is not
    said twice."""
    said = {s.quote for _, claim in _named(draft) if claim.state == "stands" for s in claim.support}
    refusals: list[Refused] = []

    def quoted(_name: str, claim: DraftClaim) -> tuple[DraftClaim, ...]:
        if claim.state == "stands":
            return (claim,)
        refusals.append(refused(claim))
        fresh = [s for s in nearest_quotes(claim) if s.quote not in said]
        said.update(s.quote for s in fresh)
        return tuple(
            DraftClaim(text=s.quote, support=(s,), contradicts=claim.contradicts if not place else ())
            for place, s in enumerate(fresh)
        )

    whole = _replaced(draft, quoted)
    return whole.model_copy(update={"refused": (*draft.refused, *refusals)})


def nearest_quotes(claim: DraftClaim) -> tuple[Support, ...]:
    """Of each work that a claim cites the quote that is nearest to its words, in the order cited."""
    best: dict[str, Support] = {}
    for one in claim.support:
        known = best.get(one.evidence_id)
        if known is None or _nearness(claim.text, one.quote) > _nearness(claim.text, known.quote):
            best[one.evidence_id] = one
    return tuple(best.values())


def _nearness(text: str, quote: str) -> float:
    return fuzz.token_set_ratio(text, quote)


def refused(claim: DraftClaim, kind: RefusedKind = "wording") -> Refused:
    """A claim as the record of what was refused."""
    return Refused(
        kind=kind,
        text=claim.text[:MAX_REFUSED_CHARS],
        reason=claim.problem or Statement(code="not_verified"),
        evidence_ids=tuple(dict.fromkeys(s.evidence_id for s in claim.support)),
    )


def loss(draft: SectionDraft) -> float:
    """Share of the sentences that the model wrote which checks refused, 0 to 1."""
    lost = sum(one.kind in ("claim", "wording") for one in draft.refused)
    kept = sum(all(claim.text != s.quote for s in claim.support) for _, claim in _named(draft))
    return lost / (lost + kept) if lost else 0.0


def _named(draft: SectionDraft) -> list[tuple[str, DraftClaim]]:
    """(place, claim) of every sentence: the answer's are `a1`, `a2`; the others `p1.1`, `p1.2`."""
    answer = [(f"a{n}", claim) for n, claim in enumerate(draft.answer, 1)]
    rest = [
        (f"p{place}.{n}", claim)
        for place, paragraph in enumerate(draft.paragraphs, 1)
        for n, claim in enumerate(paragraph.claims, 1)
    ]
    return answer + rest


def _replaced(draft: SectionDraft, replace: Replace) -> SectionDraft:
    answer = tuple(new for n, claim in enumerate(draft.answer, 1) for new in replace(f"a{n}", claim))
    paragraphs = tuple(
        DraftParagraph(
            claims=tuple(
                new for n, claim in enumerate(one.claims, 1) for new in replace(f"p{place}.{n}", claim)
            )
        )
        for place, one in enumerate(draft.paragraphs, 1)
    )
    kept = tuple(paragraph for paragraph in paragraphs if paragraph.claims)
    return draft.model_copy(update={"answer": answer, "paragraphs": kept})
