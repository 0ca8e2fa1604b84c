"""Writing by quoting: the sentences that answer best, each with its quote, grouped and without repetition."""

import re
from collections.abc import Mapping, Sequence

from activities.drafts import DraftClaim, DraftParagraph, SectionDraft, WriteInput
from activities.extractive.nearest import names_not_mentioned, nearest
from activities.extractive.sentence_choice import (
    answers_first,
    best_first,
    candidates,
    choose,
    ranked_items,
    unused,
)
from activities.extractive.topics import asked_of_works, sought
from activities.text.evidence_strength import TYPE_NAMES
from activities.text.facets import chapter
from activities.text.question import asked
from activities.text.ranking import Item, Ranked, similarity
from activities.text.sentences import sentences
from activities.text.stance import contradicts, one_work, same
from activities.text.tokens import is_function
from activities.text.verdict import Way, verdict
from activities.types import Evidence, Support, WorkDirection, WorkRow

MOST_CLAIMS = 12
MOST_LISTED = 20
"""Claims for a question that asks for several things."""
CLAIMS_A_PARAGRAPH = 4
_DIRECTIONS: Mapping[Way, WorkDirection] = {"yes": "affirms", "no": "denies", "mixed": "mixed"}
_ANOTHER_LANGUAGE = (
    "Without a language model a question is matched by its words: ask in the language of the documents."
)
_AUTHORS_SPEAK = re.compile(
    r"\b(?:we|our|us)\b|^(?:in )?(?:this|these|the present|the current) (?:\w+ )?"
    r"(?:study|studies|trial|analysis|series|cohort|review|report|paper|data|results?|findings?|observations?)\b",
    re.IGNORECASE,
)


def write(step: WriteInput, documents: Sequence[Evidence]) -> SectionDraft:
    """The section's claims: the most direct answers first, then the rest by theme; several documents under
    one claim where they say the same. Items that are not relevant to the question are not cited."""
    on = step.model_copy(update={"question": asked_of_works(step.question, step.profile)})
    read = ranked_items(on, documents)
    items = best_first(on, read)
    pool = candidates(on, items)
    most = MOST_LISTED if asked(step.question).form == "list" else MOST_CLAIMS
    of_an_aspect = bool(sought(on.question).facets)
    chosen = choose(pool, most, new=of_an_aspect)
    if chapter(step.title) is None and not of_an_aspect:
        chosen = answers_first(step.question, items, chosen, most)
    by_id = {d.evidence_id: d for d in documents}
    claims = [_claim(ranked, pool, by_id[ranked.sentence.evidence_id]) for ranked in chosen]
    claims = _mark(claims, step)
    return SectionDraft(
        title=step.title,
        paragraphs=paragraphs(chosen, claims),
        limitations=limitations(step, items, claimed=bool(claims)),
        works=tuple(work_row(step.question, by_id[name], chosen) for name in _works(chosen)),
        unused=unused(step, read, items, pool, {s.evidence_id for c in claims for s in c.support}),
        nearest=() if claims else nearest(sought(step.question).text, documents),
        not_mentioned=() if claims else names_not_mentioned(step.question, documents),
    )


def _works(chosen: Sequence[Ranked]) -> tuple[str, ...]:
    """Ids of the works that are quoted, in order."""
    return tuple(dict.fromkeys(ranked.sentence.evidence_id for ranked in chosen))


def work_row(question: str, document: Evidence, chosen: Sequence[Ranked]) -> WorkRow:
    """What a quoted work found, and which way that answers the question where it is sure."""
    quoted = [r.sentence for r in chosen if r.sentence.evidence_id == document.evidence_id]
    concluding = [s for s in sentences(document) if s.part == "conclusion"]
    stated = list(dict.fromkeys(s.quote for s in concluding or quoted))
    sure = verdict(question, stated, f"{document.title}\n{document.text}" if concluding else "")
    best = next((s for s in quoted if s.part == "conclusion"), quoted[0])
    return WorkRow(
        evidence_id=document.evidence_id,
        year=document.year,
        finding=sure.sentence if sure else best.quote,
        direction=_DIRECTIONS[sure.way] if sure else None,
    )


def paragraphs(chosen: Sequence[Ranked], claims: Sequence[DraftClaim]) -> tuple[DraftParagraph, ...]:
    """The most direct answers as the first paragraph, then the others, like with like."""
    left = list(range(CLAIMS_A_PARAGRAPH, len(chosen)))
    groups = [list(range(min(CLAIMS_A_PARAGRAPH, len(chosen))))]
    while left:
        group = [left.pop(0)]
        while left and len(group) < CLAIMS_A_PARAGRAPH:
            head = chosen[group[0]].sentence
            nearest = max(left, key=lambda i: (similarity(chosen[i].sentence, head), -i))
            left.remove(nearest)
            group.append(nearest)
        groups.append(group)
    return tuple(DraftParagraph(claims=tuple(claims[i] for i in group)) for group in groups if group)


def _claim(ranked: Ranked, pool: Sequence[Ranked], document: Evidence) -> DraftClaim:
    """A sentence with its quote and the quotes of other documents that say the same."""
    own = ranked.sentence
    support = {own.evidence_id: Support(evidence_id=own.evidence_id, quote=own.quote)}
    for other in (r.sentence for r in pool):
        if other.evidence_id not in support and same(own.text, other.text):
            support[other.evidence_id] = Support(evidence_id=other.evidence_id, quote=other.quote)
    return DraftClaim(text=attributed(own.text, document), support=tuple(support.values()))


def attributed(text: str, document: Evidence) -> str:
    """A sentence in the first person (`we`, `this study`), prefixed with its source."""
    if not _AUTHORS_SPEAK.search(text):
        return text
    kind = TYPE_NAMES[document.evidence_type]
    article = "An" if kind[0] in "aeiou" else "A"
    year = f" of {document.year}" if document.year else ""
    return f"{article} {kind}{year} reports: {text}"


def _mark(claims: Sequence[DraftClaim], step: WriteInput) -> list[DraftClaim]:
    """Each claim with the texts of earlier ones, from other works, that say the opposite."""
    marked: list[DraftClaim] = []
    for claim in claims:
        said = [(c.text, c.support) for c in step.written] + [(c.text, c.support) for c in marked]
        before = [text for text, support in said if not one_work(claim.support, support)]
        against = tuple(text for text in before if contradicts(claim.text, text, step.question))
        marked.append(claim.model_copy(update={"contradicts": against}) if against else claim)
    return marked


def limitations(step: WriteInput, items: Sequence[Item], *, claimed: bool) -> tuple[str, ...]:
    """What the evidence of this section lacks. Why the run ended, how it was written and that nothing answers
    is said once, by the report."""
    if chapter(step.title) is not None:
        return ()  # that a chapter stays empty is shown by the report
    if not items and not any(is_function(word) for word in step.question.split()):
        return (_ANOTHER_LANGUAGE,)
    if len(items) == 1 and claimed:
        return (f"A single item helps with this question: {step.question}",)
    return ()
