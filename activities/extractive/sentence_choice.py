"""Which sentences of the relevant items may become claims of a section."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from activities.drafts import UnusedReason, WriteInput
from activities.text.answers import Passage, answers, leading
from activities.text.characteristics import describes_participants
from activities.text.facets import DRUGS, Facet, chapter, facet_of, facet_of_section, is_about
from activities.text.ranking import Item, Ranked, diverse, rank, relevant, similarity
from activities.text.stance import same
from activities.types import Claim, Evidence
from activities.verification.quote_check import normalise

FEW_ITEMS = 3
"""With no more relevant items than this, each gives more sentences, and results count as conclusions do."""
MOST_A_DOCUMENT = 2
MOST_OF_FEW = 4
"""Sentences of one document at most, and the same where few items are relevant."""
LEAST_COVERAGE = 0.3
"""Share of the question's weight (`Ranked.about`) that a sentence must hold, unless it concludes a work about
the question."""
LEAST_COVERAGE_AGAIN = 0.4
"""The same for a further sentence of a document."""
LEAST_IN_CHAPTER = 0.2
"""The same in a chapter on one aspect, where the aspect's cues count as well."""
ABOUT = 0.6
"""Relevance from which a work is about the question, so that its findings need not repeat its words."""
MOST_ALIKE = 0.5
"""Similarity up to which two sentences of one document are both kept."""
READ_FOR_ANSWERS = 12
"""Sentences of a document, the best first, that are read for the fact or the list that is asked for."""
LEAST_SHARE = 0.45
"""A sentence scoring under this share of the best one is left out."""


def ranked_items(step: WriteInput, documents: Sequence[Evidence]) -> list[Item]:
    """The documents but for retracted ones; their sentences ranked for the section's aspect."""
    facet = facet_of_section(step.title, step.question)
    return rank(step.question, [d for d in documents if d.standing != "retracted"], facet)


def best_first(step: WriteInput, ranked: Sequence[Item]) -> list[Item]:
    """The relevant ones of ranked items, best first: those that code judged to help, where it judged all that
    was found, since it compared more works than a writer is given, and both must agree."""
    if step.judged is None:
        items = relevant(ranked)
    else:
        items = [item for item in ranked if item.ranked and item.document.evidence_id in step.judged]
    return sorted(items, key=lambda i: (-(i.best + 0.3 * i.relevance), i.document.evidence_id))


def unused(
    step: WriteInput,
    read: Sequence[Item],
    relevant_ones: Sequence[Item],
    pool: Sequence[Ranked],
    cited: Collection[str],
) -> dict[UnusedReason, tuple[str, ...]]:
    """Why works that were read are not cited; `pool` holds the sentences that might have become claims."""
    near = {item.document.evidence_id for item in relevant_ones}
    answering = {ranked.sentence.evidence_id for ranked in pool}
    found: dict[UnusedReason, tuple[str, ...]] = {}
    for item in read:
        name = item.document.evidence_id
        if name in cited:
            continue
        reason: UnusedReason
        if name not in near:
            reason = "another_subject" if item.missing else "not_relevant"
        elif name in answering:
            reason = "outranked"
        else:
            reason = "repeats" if _said_before(item, step.written) else "no_sentence"
        found[reason] = (*found.get(reason, ()), name)
    return found


def _said_before(item: Item, written: Sequence[Claim]) -> bool:
    """Whether earlier sections state what the best sentences of a work say."""
    quoted = {normalise(support.quote) for claim in written for support in claim.support}
    return any(
        normalise(ranked.sentence.quote) in quoted
        or any(same(ranked.sentence.text, claim.text) for claim in written)
        for ranked in item.ranked[:MOST_OF_FEW]
    )


@dataclass(frozen=True, slots=True)
class Rules:
    """What a section admits: its aspect if it is a chapter on one, and how generous few items make it."""

    facet: Facet | None
    drugs_too: bool
    """Whether a chapter on clinical evidence admits only sentences that name a drug."""
    few: bool
    question: str = ""

    def answers(self, item: Item, ranked: Ranked, again: bool) -> bool:
        """Whether a sentence answers the section's question; `again` for a further one of its document."""
        sentence = ranked.sentence
        if sentence.part in ("aim", "methods") or (self.drugs_too and not is_about(DRUGS, sentence)):
            return False
        if describes_participants(sentence.text, self.question):
            return False
        if self.facet is not None:
            return ranked.about >= LEAST_IN_CHAPTER and is_about(self.facet, sentence)
        if ranked.about >= (LEAST_COVERAGE_AGAIN if again else LEAST_COVERAGE):
            return True
        finding = sentence.part == "conclusion" or (sentence.part == "results" and self.few)
        if sentence.part == "plain" and self.few:  # a text without parts has its findings anywhere
            return item.relevance >= ABOUT and (ranked.coverage > 0 or not again)
        return finding and (not again or (item.relevance >= ABOUT and ranked.coverage > 0))

    @property
    def most(self) -> int:
        """Sentences of one document at most."""
        return MOST_OF_FEW if self.few else MOST_A_DOCUMENT


def candidates(step: WriteInput, items: Sequence[Item]) -> list[Ranked]:
    """The sentences of each item that may become claims, best first: those that answer, that no earlier
    section has said and that differ from each other. A chapter on one aspect leaves the rest to others."""
    facet = chapter(step.title) or asked_for_drugs(step, items)
    rules = Rules(
        facet=facet,
        drugs_too=step.profile.candidates and facet is not None and facet.name == "clinical",
        few=len(items) <= FEW_ITEMS,
        question=step.question,
    )
    pool = [ranked for item in items for ranked in of_item(item, rules, step.written)]
    best = max((r.score for r in pool) if facet else (i.best for i in items), default=0.0)
    return [ranked for ranked in pool if ranked.score >= LEAST_SHARE * best]


def of_item(item: Item, rules: Rules, written: Sequence[Claim]) -> list[Ranked]:
    """An item's best sentences that answer, are new, and differ from each other."""
    quoted = {normalise(support.quote) for claim in written for support in claim.support}
    kept: list[Ranked] = []
    for ranked in item.ranked:
        if len(kept) == rules.most:
            break
        sentence = ranked.sentence
        if (
            rules.answers(item, ranked, again=bool(kept))
            and normalise(sentence.quote) not in quoted
            and not any(same(sentence.text, claim.text) for claim in written)
            and not any(similarity(sentence, other.sentence) > MOST_ALIKE for other in kept)
        ):
            kept.append(ranked)
    return kept


def asked_for_drugs(step: WriteInput, items: Sequence[Item]) -> Facet | None:
    """The aspect of a question for drugs, where some sentence names one: the rest does not answer it."""
    facet = DRUGS if step.profile.candidates or facet_of(step.question) == DRUGS else None
    named = facet and any(is_about(facet, r.sentence) for item in items for r in item.ranked)
    return facet if named else None


def choose(pool: Sequence[Ranked], count: int) -> list[Ranked]:
    """The best sentence of each document first, then second ones, by relevance and diversity; near copies of
    a chosen sentence are left to fold into it."""
    firsts: dict[str, Ranked] = {}
    for ranked in pool:
        firsts.setdefault(ranked.sentence.evidence_id, ranked)
    rest = [r for r in pool if firsts[r.sentence.evidence_id] is not r]
    kept: list[Ranked] = []
    for ranked in [*diverse(list(firsts.values()), len(firsts), 0.85), *diverse(rest, len(rest))]:
        if len(kept) >= count:
            break
        if not any(same(ranked.sentence.text, k.sentence.text) for k in kept):
            kept.append(ranked)
    return kept


def answers_first(question: str, items: Sequence[Item], chosen: Sequence[Ranked], count: int) -> list[Ranked]:
    """The chosen sentences, after those that give the fact or the list that is asked for, which need not be
    among them; at most `count`."""
    read = [r for item in items for r in item.ranked[:READ_FOR_ANSWERS] if r.sentence.part != "aim"]
    found = answers(question, [Passage(r.sentence.evidence_id, r.sentence.quote) for r in read])
    first = [read[place] for place in leading(question, found)]
    others = [r for r in chosen if not any(same(r.sentence.text, k.sentence.text) for k in first)]
    return [*first, *others][:count]
