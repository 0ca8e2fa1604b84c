"""Which sentences of the relevant items may become claims of a section."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from activities.drafts import UnusedReason, WriteInput
from activities.extractive.on_subject import AsOutcome, about_subject, without_names_of
from activities.extractive.table_rows import without_other_rows
from activities.extractive.topics import sought
from activities.text.answer_reader import Passage
from activities.text.answers import answers, leading
from activities.text.characteristics import describes_participants
from activities.text.evidence_strength import CLINICAL, direction
from activities.text.facets import (
    ASPECTS,
    DRUGS,
    Facet,
    chapter,
    facet_of,
    facet_of_section,
    is_about,
    reports_harm,
    says_cue,
)
from activities.text.independence import SYNTHESES
from activities.text.parts import calls_for_research
from activities.text.ranking import Item, Ranked, diverse, rank, relevant, similarity
from activities.text.rows import cells, is_row
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
LEAST_OF_SUBJECT = 0.3
"""`Rules.least` of a section whose subject is known, where enough sentences have it."""
ABOUT = 0.6
"""Relevance from which a work is about the question, so that its findings need not repeat its words."""
MOST_ALIKE = 0.5
"""Similarity up to which two sentences of one document are both kept."""
READ_FOR_ANSWERS = 12
"""Sentences of a document, the best first, that are read for the fact or the list that is asked for."""
_OF_DRUGS = ("clinical", "safety", "open")
"""Chapters that admit only sentences that name a drug, where candidates are looked for."""
THIN = 4
"""With fewer sentences than this, results that do not name the section's subject are added."""
_OF_THOSE_WHO_HAVE_IT = ("treatment", "survival", "prognosis", "diagnosis", "safety")
_POINTS_BACK = re.compile(
    r"\b(?:this|these|those|such)\b(?! (?:\w+ ){0,2}(?:results?|findings?|data|stud(?:y|ies)|analys[ie]s"
    r"|trials?|observations?|reviews?|series|evidence))",
    re.IGNORECASE,
)
_BEGINS_BACK = re.compile(
    r"(?:this|these|those|they|both) (?:\w+ly )?(?:is|are|was|were|may|might|can|could|has|have|had|would)\b"
    r"|it (?:\w+ly )?(?:is|was|may|might|can|could|has|had|would|should)\b(?![^,;.]* (?:that|to|whether)\b)",
    re.IGNORECASE,
)
"""The beginning of a sentence whose subject only the one before it names; `it is likely that` has its own."""
_CALLS_FOR_MORE = re.compile(
    r"\bthe need (?:to|for)\b|\befforts?\b.{0,120}\b(?:needed|required|should be)\b"
    r"|\brequires? (?:\w+ )?(?:study|research|investigation)\b",
    re.IGNORECASE,
)
"""What ought to be done is no finding."""
_NOVELTY = re.compile(
    r"\bto (?:the best of )?(?:our|the authors'?|my) knowledge\b"
    r"|\bfirst (?:report|study) (?:to|of|that|in)\b",
    re.IGNORECASE,
)
"""What a work says of itself."""
_FRAGMENT = re.compile(r"[a-z]+ [a-z]+\b")
"""The beginning of a sentence that was cut: no name begins with two words in small letters."""
LEAST_NEW = 0.4
"""Share of a sentence's words that no sentence chosen before has: definitions repeat each other."""
MOST_READ = 20_000
"""Characters of a document that are read for its abbreviations."""
LEAST_SHARE = 0.45
"""A sentence scoring under this share of the best one is left out, unless its whole text is short."""
SHORT = 6
"""Sentences of a text that is read as a whole: what answers may use no word of the question."""


def ranked_items(step: WriteInput, documents: Sequence[Evidence]) -> list[Item]:
    """The documents but for retracted ones; their sentences ranked for the section's aspect."""
    seek = sought(step.question)
    facet = seek.facets[0] if seek.facets else facet_of_section(step.title, step.question)
    items = rank(seek.text, [d for d in documents if d.standing != "retracted"], facet)
    return [without_other_rows(seek.text, item) for item in items]


def best_first(step: WriteInput, ranked: Sequence[Item]) -> list[Item]:
    """The relevant ones of ranked items, best first: those that code judged to help, where it judged all that
    was found, since it compared more works than a writer is given, and both must agree."""
    if step.judged is None:
        items = about_subject(sought(step.question).subject, relevant(ranked))
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
    unwritten = step.model_copy(update={"written": ()})
    repeating = {r.sentence.evidence_id for r in candidates(unwritten, relevant_ones)} if step.written else ()
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
            reason = "repeats" if name in repeating else "no_sentence"
        found[reason] = (*found.get(reason, ()), name)
    return found


@dataclass(frozen=True, slots=True)
class Rules:
    """What a section admits: its aspect if it is a chapter on one, and how generous few items make it."""

    facets: tuple[Facet, ...]
    drugs_too: bool
    """Whether a chapter on clinical evidence admits only sentences that name a drug."""
    few: bool
    alone: bool = False
    """Whether a single item is relevant."""
    question: str = ""
    subject: str = ""
    """What every item is about, so that its conclusion need not name it; empty where that is not known."""
    least: float = 0.0
    """Share of the weight of the section's subject that a sentence must hold itself, unless it concludes."""
    results_too: bool = False
    """Whether a result of a work on the subject counts without a word of it: where little else does."""
    as_outcome: AsOutcome | None = None
    """Finds what speaks of those who may get what the section is about, where it asks of who has it."""

    def answers(self, item: Item, ranked: Ranked, again: bool) -> bool:
        """Whether a sentence answers the section's question; `again` for a further one of its document."""
        sentence = ranked.sentence
        if sentence.part in ("aim", "methods") or (self.drugs_too and not is_about(DRUGS, sentence)):
            return False
        if describes_participants(sentence.text, self.question):
            return False
        if self.facets:
            return self._in_chapter(item, ranked)
        if ranked.about >= (LEAST_COVERAGE_AGAIN if again else LEAST_COVERAGE) or self.as_a_whole(item):
            return True
        finding = sentence.part == "conclusion" or (sentence.part == "results" and self.few)
        if sentence.part == "plain" and self.few:  # a text without parts has its findings anywhere
            return item.relevance >= ABOUT and (ranked.coverage > 0 or not again)
        return finding and (not again or (item.relevance >= ABOUT and ranked.coverage > 0))

    def _in_chapter(self, item: Item, ranked: Ranked) -> bool:
        """Whether a sentence answers a section on one aspect. The conclusion of a work on the section's
        subject, which does not point back, need not name it, nor the aspect that the title has."""
        sentence = ranked.sentence
        concludes = (
            bool(self.subject)
            and self.facets[0].name != "open"  # that more research is needed is said of anything
            and sentence.part == "conclusion"
            and not _POINTS_BACK.search(sentence.text)
        )
        names = ranked.about >= LEAST_IN_CHAPTER and ranked.coverage >= self.least
        # what a work on the subject found need not name it
        found = bool(self.subject) and sentence.part == "results"
        harms = found and any(f.name == "safety" for f in self.facets) and reports_harm(sentence.text)
        told = found and self.results_too and direction(sentence.text) != "none"
        reviewed = bool(self.subject) and item.document.evidence_type in SYNTHESES
        reviewed = reviewed and sentence.part in ("plain", "results")
        if not (concludes or names or harms or told or reviewed) or _FRAGMENT.match(sentence.quote):
            return False
        if _NOVELTY.search(sentence.text) or _BEGINS_BACK.match(sentence.text):
            return False
        if self.facets[0] == DRUGS and sentence.part == "results" and reports_harm(sentence.text):
            return False  # the chapter on safety has it
        if self.as_outcome is not None and self.as_outcome(sentence.text):
            return False
        if self.facets[0].name != "open" and (
            calls_for_research(sentence.text) or _CALLS_FOR_MORE.search(sentence.text)
        ):
            return False
        title = item.document.title if concludes else ""
        said = replace(sentence, text=without_names_of(self.subject, sentence.text))
        return all(
            is_about(facet, said)
            or (facet in ASPECTS and says_cue(facet, title))
            or (facet.name == "safety" and harms)
            or (facet.name == "clinical" and concludes and item.document.evidence_type in CLINICAL)
            for facet in self.facets
        )

    def as_a_whole(self, item: Item) -> bool:
        """Whether the only relevant text is so short that all its sentences may answer. Beside other texts, a
        sentence without a word of the question may be anything, also what was planted there. A row of a table
        answers alone."""
        short = self.alone and not self.facets and len(item.ranked) <= SHORT
        return short and not any(is_row(ranked.sentence.quote) for ranked in item.ranked)

    @property
    def most(self) -> int:
        """Sentences of one document at most."""
        return MOST_OF_FEW if self.few else MOST_A_DOCUMENT


def candidates(step: WriteInput, items: Sequence[Item]) -> list[Ranked]:
    """The sentences of each item that may become claims, best first: those that answer, that no earlier
    section has said and that differ from each other. A chapter on one aspect leaves the rest to others."""
    seek = sought(step.question)
    one = chapter(step.title) or asked_for_drugs(step, items)
    facets = seek.facets or ((one,) if one else ())
    rules = Rules(
        facets=facets,
        drugs_too=step.profile.candidates and any(facet.name in _OF_DRUGS for facet in facets),
        few=len(items) <= FEW_ITEMS,
        alone=len(items) == 1,
        question=step.question,
        subject=seek.subject,
        least=LEAST_OF_SUBJECT if seek.subject else 0.0,
        as_outcome=AsOutcome(seek.subject, [item.document for item in items])
        if any(facet.name in _OF_THOSE_WHO_HAVE_IT for facet in seek.facets)
        else None,
    )
    whole = {item.document.evidence_id for item in items if rules.as_a_whole(item)}
    pool = [ranked for item in items for ranked in of_item(item, rules, step.written)]
    if not pool and rules.least:  # a work says its subject once, above all one of several words
        wider = replace(rules, least=0.0)
        pool = [ranked for item in items for ranked in of_item(item, wider, step.written)]
    thin = seek.subject and len(pool) < THIN and not rules.drugs_too
    if thin and any(facet.name == "clinical" for facet in facets):
        known = {ranked.sentence.quote for ranked in pool}
        wider = replace(rules, least=0.0 if not pool else rules.least, results_too=True)
        added = (ranked for item in items for ranked in of_item(item, wider, step.written))
        pool += [ranked for ranked in added if ranked.sentence.quote not in known][: THIN - len(pool)]
    best = max((r.score for r in pool) if facets else (i.best for i in items), default=0.0)
    # what people got is a harm, however little of the question's words the sentence has
    harms = bool(seek.subject) and any(facet.name == "safety" for facet in facets)
    return [
        r
        for r in pool
        if r.score >= LEAST_SHARE * best
        or r.sentence.evidence_id in whole
        or (harms and r.sentence.part == "results" and reports_harm(r.sentence.text))
    ]


def of_item(item: Item, rules: Rules, written: Sequence[Claim]) -> list[Ranked]:
    """An item's best sentences that answer, are new, and differ from each other, but for rows of a table."""
    quoted = {normalise(support.quote) for claim in written for support in claim.support}
    kept: list[Ranked] = []
    for ranked in item.ranked:
        if len(kept) == rules.most and not item.compared:
            break
        sentence = ranked.sentence
        if (
            rules.answers(item, ranked, again=bool(kept))
            and normalise(sentence.quote) not in quoted
            and not any(same(sentence.text, claim.text) for claim in written)
            and (
                cells(sentence.quote)
                or not any(similarity(sentence, other.sentence) > MOST_ALIKE for other in kept)
            )
        ):
            kept.append(ranked)
    return kept


def asked_for_drugs(step: WriteInput, items: Sequence[Item]) -> Facet | None:
    """The aspect of a question for drugs, where some sentence names one: the rest does not answer it."""
    facet = DRUGS if step.profile.candidates or facet_of(step.question) == DRUGS else None
    named = facet and any(is_about(facet, r.sentence) for item in items for r in item.ranked)
    return facet if named else None


def choose(pool: Sequence[Ranked], count: int, *, new: bool = False) -> list[Ranked]:
    """The best sentence of each document first, then second ones, by relevance and diversity; near copies of
    a chosen sentence are left to fold into it. `new`: definitions that add little are left out."""
    firsts: dict[str, Ranked] = {}
    for ranked in pool:
        firsts.setdefault(ranked.sentence.evidence_id, ranked)
    rest = [r for r in pool if firsts[r.sentence.evidence_id] is not r]
    kept: list[Ranked] = []
    for ranked in [*diverse(list(firsts.values()), len(firsts), 0.85), *diverse(rest, len(rest))]:
        if len(kept) >= count:
            break
        if not any(same(ranked.sentence.text, k.sentence.text) for k in kept) and not (
            new and _adds_little(ranked, kept)
        ):
            kept.append(ranked)
    return kept


def _adds_little(ranked: Ranked, kept: Sequence[Ranked]) -> bool:
    """Whether a sentence that reports no finding says hardly anything that the chosen ones do not."""
    said = {term for other in kept for term in other.sentence.terms}
    own = set(ranked.sentence.terms)
    return ranked.sentence.part in ("background", "plain") and len(own - said) < LEAST_NEW * len(own)


def answers_first(question: str, items: Sequence[Item], chosen: Sequence[Ranked], count: int) -> list[Ranked]:
    """The chosen sentences, after those that give the fact or the list that is asked for, which need not be
    among them; at most `count`."""
    read = [r for item in items for r in item.ranked[:READ_FOR_ANSWERS] if r.sentence.part != "aim"]
    works = [item.document.text[:MOST_READ] for item in items]
    found = answers(question, [Passage(r.sentence.evidence_id, r.sentence.quote) for r in read], works)
    first = [read[place] for place in leading(question, found)]
    others = [r for r in chosen if not any(same(r.sentence.text, k.sentence.text) for k in first)]
    return [*first, *others][:count]
