"""Writing by quoting: the sentences that answer best, each with its quote, grouped and without repetition."""

from collections.abc import Sequence

from rapidfuzz import fuzz

from activities.models.extractive.grading import opposed
from activities.models.extractive.ranking import RELEVANT, Item, Ranked, diverse, rank, similarity
from activities.models.extractive.sentences import Sentence, normal
from activities.steps import DraftClaim, DraftParagraph, Proofread, ProofreadInput, SectionDraft, WriteInput
from activities.types import Evidence, Support

MOST_CLAIMS = 12
CLAIMS_A_PARAGRAPH = 4
MOST_A_DOCUMENT = 2
SAME = 88
"""`rapidfuzz` token-set ratio from which two sentences say the same."""
SAME_TOPIC = 0.25
"""Overlap of content terms from which two opposed sentences are held to speak of one thing."""

_WEAK_STOPS = {
    "token_budget_exceeded": "The token budget was spent before the search was complete.",
    "cost_budget_exceeded": "The cost budget was spent before the search was complete.",
    "max_iterations_reached": "The limit of iterations was reached before the evidence was judged sufficient.",
    "timeout": "The time limit was reached before the search was complete.",
    "no_new_evidence": "Further searches found nothing new.",
    "judge_unavailable": "The evidence could not be judged, so its sufficiency is unknown.",
    "all_sources_failed": "Every source failed; what is written rests on what had been found before.",
    "finished_by_reviewer": "A reviewer ended the search early.",
    "cancelled": "The run was cancelled before the search was complete.",
}


def write(step: WriteInput, documents: Sequence[Evidence]) -> SectionDraft:
    """The section's claims: the most direct answer first, at most two sentences a document, several documents
    under one claim where they say the same. Items that do not bear on the question are not cited."""
    items = relevant_items(step, documents)
    used = {normal(s.quote) for c in step.written for s in c.support}
    pool = [r for item in items for r in _fresh(item, used, step)]
    chosen = choose(pool, MOST_CLAIMS)
    by_id = {d.evidence_id: d for d in documents}
    claims = [_claim(r, pool, by_id) for r in chosen]
    claims = _mark(claims, [c.text for c in step.written])
    paragraphs = [claims[i : i + CLAIMS_A_PARAGRAPH] for i in range(0, len(claims), CLAIMS_A_PARAGRAPH)]
    return SectionDraft(
        title=step.title,
        paragraphs=tuple(DraftParagraph(claims=tuple(p)) for p in paragraphs if p),
        limitations=limitations(step, items, documents),
    )


def relevant_items(step: WriteInput, documents: Sequence[Evidence]) -> list[Item]:
    """Items that bear on the question, best first."""
    items = [i for i in rank(step.question, documents) if i.relevance >= RELEVANT and i.ranked]
    return sorted(items, key=lambda i: (-(i.best + 0.3 * i.relevance), i.document.evidence_id))


def _fresh(item: Item, used: set[str], step: WriteInput) -> list[Ranked]:
    """The best sentences of an item that no earlier section has said."""
    kept: list[Ranked] = []
    for ranked in item.ranked:
        if len(kept) >= MOST_A_DOCUMENT:
            break
        text = ranked.sentence.text
        if normal(ranked.sentence.quote) in used or any(_same(text, c.text) for c in step.written):
            continue
        if ranked.sentence.part in ("background", "methods") and kept:
            continue
        if any(similarity(ranked.sentence, k.sentence) > 0.5 for k in kept):
            continue
        kept.append(ranked)
    return kept


def choose(pool: Sequence[Ranked], count: int) -> list[Ranked]:
    """The best sentence of each document first, then second ones, by relevance and diversity; near copies of
    a chosen sentence are left to fold into it."""
    firsts: dict[str, Ranked] = {}
    for ranked in pool:
        firsts.setdefault(ranked.sentence.evidence_id, ranked)
    rest = [r for r in pool if firsts[r.sentence.evidence_id] is not r]
    kept: list[Ranked] = []
    for ranked in [*diverse(list(firsts.values()), len(firsts), 0.8), *diverse(rest, len(rest))]:
        if len(kept) >= count:
            break
        if not any(_same(ranked.sentence.text, k.sentence.text) for k in kept):
            kept.append(ranked)
    return kept


def _claim(ranked: Ranked, pool: Sequence[Ranked], documents: dict[str, Evidence]) -> DraftClaim:
    """A sentence with its quote and the quotes of other documents that say the same."""
    own = ranked.sentence
    support = {own.evidence_id: Support(evidence_id=own.evidence_id, quote=own.quote)}
    for other in pool:
        sentence = other.sentence
        if sentence.evidence_id not in support and _agrees(own, sentence):
            support[sentence.evidence_id] = Support(evidence_id=sentence.evidence_id, quote=sentence.quote)
    return DraftClaim(text=own.text, support=tuple(s for i, s in support.items() if i in documents))


def _agrees(one: Sentence, other: Sentence) -> bool:
    return _same(one.text, other.text) and not opposed(one.text, other.text)


def _same(one: str, other: str) -> bool:
    return one == other or fuzz.token_sort_ratio(one, other) >= SAME


def _mark(claims: list[DraftClaim], earlier: Sequence[str]) -> list[DraftClaim]:
    """Each claim with the earlier texts it contradicts by cue."""
    marked: list[DraftClaim] = []
    for claim in claims:
        before = [*earlier, *(c.text for c in marked)]
        against = tuple(text for text in before if contradicts(claim.text, text))
        marked.append(claim.model_copy(update={"contradicts": against}) if against else claim)
    return marked


def contradicts(one: str, other: str) -> bool:
    """True when two sentences share their topic and point in opposite directions."""
    from activities.models.extractive.words import terms, weak_stems

    a, b = set(terms(one)) - weak_stems(), set(terms(other)) - weak_stems()
    return bool(a and b) and len(a & b) / min(len(a), len(b)) >= 2 * SAME_TOPIC and opposed(one, other)


def limitations(step: WriteInput, items: Sequence[Item], documents: Sequence[Evidence]) -> tuple[str, ...]:
    """What the reader must know: how it was written, why the search ended, what the evidence lacks."""
    notes = ["Written by quoting sentences from the sources, without a language model."]
    if not items:
        notes.append(f"None of the {len(documents)} items found bears on this question: {step.question}")
    elif len(items) < 3:
        notes.append(f"Only {len(items)} of the {len(documents)} items found bear on this question.")
    if items and not any(i.document.full_text for i in items):
        notes.append("Only abstracts or summaries were read, no full texts.")
    weak = _WEAK_STOPS.get(step.stop_reason)
    return tuple([*notes, weak] if weak else notes)


def proofread(step: ProofreadInput) -> Proofread:
    """Drop what an earlier section said already, mark contradictions, leave every quote as it is."""
    seen: list[DraftClaim] = []
    quotes: set[tuple[str, str]] = set()
    drafts: dict[str, SectionDraft] = {}
    for section, draft in step.drafts.items():
        paragraphs: list[DraftParagraph] = []
        for paragraph in draft.paragraphs:
            kept: list[DraftClaim] = []
            for claim in paragraph.claims:
                own = {(s.evidence_id, normal(s.quote)) for s in claim.support}
                if (own and own <= quotes) or any(_same(claim.text, c.text) for c in seen):
                    continue
                against = dict.fromkeys(
                    (*claim.contradicts, *(c.text for c in seen if contradicts(claim.text, c.text)))
                )
                claim = claim.model_copy(update={"contradicts": tuple(against)})
                kept.append(claim)
                seen.append(claim)
                quotes |= own
            if kept:
                paragraphs.append(DraftParagraph(claims=tuple(kept)))
        drafts[section] = draft.model_copy(update={"paragraphs": tuple(paragraphs)})
    return Proofread(drafts=drafts)
