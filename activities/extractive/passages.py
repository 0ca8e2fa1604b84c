"""The passages nearest to a question, quoted and not judged."""

from collections.abc import Sequence
from dataclasses import replace

from activities.drafts import Passage, SectionDraft, WriteInput
from activities.extractive.planning import aspect_of, searched
from activities.profiles.types import Profile
from activities.steps import JudgeBatch, JudgeInput
from activities.text.coverage import Coverage, coverage, with_nearest_words
from activities.text.ranking import Item, Ranked, best_first, rank, relevant
from activities.text.sentences import MAX_SENTENCE, OF_THE_USER
from activities.types import Evidence
from activities.verification.quote_check import normalise

MAX_PASSAGES = 12
"""Works whose passage is shown."""
MAX_RELATED = 3
"""Works shown below, which are near and lack something that the question names."""
MAX_COMPARED = 20
"""Works, best first, whose words are compared with the names that they lack."""
MAX_OF_ONE = 3
"""Passages of one document where it is clearly nearer than the next."""
CLEARLY_NEARER = 1.0
"""Difference of two documents' scores (`ranking.Item`) from which the first is clearly nearer."""
MAX_QUOTES = 2
"""Sentences of one work."""
MIN_SECOND = 0.85
"""Likeness of a second sentence at least, as a share of the first one's."""
MIN_FINDING = 0.5
"""Likeness of a finding at least, as a share of that of the best sentence, to be quoted in its place. Of 90
abstracts of the bundled sample the best sentence of seven stood under aim, background or methods; in six the
finding was near enough, and each answered the question of the title."""
BEFORE_FINDINGS = frozenset({"aim", "background", "methods"})
"""Parts of a study that hold no finding."""
MAX_CONTEXT = 300
"""Characters of the sentence before or after."""


def judge(step: JudgeInput, documents: Sequence[Evidence]) -> JudgeBatch:
    """Which works have a passage that is near enough, and no judgement: nothing has read them."""
    near = near_enough(step.question, step.profile, documents)
    found = f"{len(near)} of {len(documents)} items have a passage near the question"
    text = f"{found}; no language model has read them."
    return JudgeBatch(
        relevant=near, recommendation="synthesize" if near else "continue", reasoning=text, model="extractive"
    )


def write(step: WriteInput, documents: Sequence[Evidence]) -> SectionDraft:
    """The nearest passages, best first; those of works that lack a name of the question, or are not near
    enough, as `related`."""
    shared = frozenset(step.shared)
    documents = [document for document in documents if document.evidence_id not in shared]
    near, related, covered = _nearest(step.question, step.profile, documents)
    several = _of_one_document(near)
    return SectionDraft(
        title=step.title,
        passages=tuple(
            passage(i, covered[i.document.evidence_id])
            for i in [*several, *(near[1:] if several else near)][:MAX_PASSAGES]
        ),
        related=tuple(passage(i, covered[i.document.evidence_id]) for i in related[:MAX_RELATED]),
    )


def _of_one_document(near: Sequence[Item]) -> list[Item]:
    """The best passages of the nearest text of the user's own, in its order, each as an item of its own,
    where it is clearly nearer than the next one; else none. What stands beside one is shown with it."""
    if not near or near[0].document.evidence_type not in OF_THE_USER:
        return []
    first = near[0]
    if len(near) > 1 and first.score - near[1].score < CLEARLY_NEARER:
        return []
    ordered = sorted(first.ranked, key=lambda one: one.sentence.place)
    chosen: list[int] = []
    for one in first.ranked:
        place = ordered.index(one)
        if len(chosen) < MAX_OF_ONE and not any(abs(place - other) < 2 for other in chosen):
            chosen.append(place)
    return [
        replace(first, ranked=(ordered[place], *(one for one in first.ranked if one is not ordered[place])))
        for place in sorted(chosen)
    ]


def near_enough(question: str, profile: Profile, documents: Sequence[Evidence]) -> tuple[str, ...]:
    """Ids of the works with a passage near a question that lack nothing it names, the nearest first."""
    near, _, _ = _nearest(question, profile, documents)
    return tuple(item.document.evidence_id for item in near)


def _nearest(
    question: str, profile: Profile, documents: Sequence[Evidence]
) -> tuple[list[Item], list[Item], dict[str, Coverage]]:
    """The works that may be cited and are near enough, best first: those that lack nothing that the question
    names, and the others, which for an aspect of a question are none; and what each mentions and lacks, by
    its id."""
    stand = [document for document in documents if document.standing != "retracted"]
    whole, aspect = aspect_of(question, profile)
    covered = dict(zip((d.evidence_id for d in stand), coverage(whole, stand), strict=True))
    items = relevant(best_first(rank(searched(question, profile), stand)))
    for place, item in enumerate(items):
        name = item.document.evidence_id
        if place < MAX_COMPARED:
            covered[name] = with_nearest_words(covered[name], item.document)
    near = [one for one in items if not covered[one.document.evidence_id].lacks]
    return near, [] if aspect else [one for one in items if one not in near], covered


def passage(item: Item, covered: Coverage) -> Passage:
    """The best sentence of a work, with a second one that is nearly as near, in the order of the work, and
    what stands before where they cannot be understood without it."""
    item = _findings(item)
    best = item.ranked[0].sentence
    chosen = [item.ranked[0], *_second(item)]
    chosen.sort(key=lambda one: one.sentence.place)
    before = _short(best.head)
    if not before and item.document.evidence_type in OF_THE_USER:
        before = next((_short(one.sentence.quote) for one in _beside(item, -1)), "")
    return Passage(
        evidence_id=item.document.evidence_id,
        quotes=tuple(one.sentence.quote for one in chosen),
        before=f"row under {before}" if best.is_row and before else before,
        mentions=covered.mentions,
        lacks=covered.lacks,
        uses=tuple(f"{word} for {name}" for name, word in covered.uses),
    )


def _findings(item: Item) -> Item:
    """A work with its findings alone, by its own headings, where one of them is near the question too: what
    was studied is no answer beside what was found."""
    findings = tuple(one for one in item.ranked if one.sentence.part not in BEFORE_FINDINGS)
    best = item.ranked[0].likeness or 0.0
    if not findings or (findings[0].likeness or 0.0) < MIN_FINDING * best:
        return item
    return replace(item, ranked=findings)


def _second(item: Item) -> list[Ranked]:
    """The second sentence of a passage: of a user's own text the one that follows the best one, since its
    facts stand in short sentences that continue each other; of an abstract one that is nearly as near."""
    best, *others = item.ranked
    if item.document.evidence_type in OF_THE_USER:
        return _beside(item, 1)
    first = best.likeness
    near = [one for one in others if first and one.likeness and one.likeness >= MIN_SECOND * first]
    return near[: MAX_QUOTES - 1]


def _beside(item: Item, step: int) -> list[Ranked]:
    """The sentence so many places after the best one in the same paragraph; none where there is none."""
    ordered = sorted(item.ranked, key=lambda one: one.sentence.place)
    at = ordered.index(item.ranked[0]) + step
    if not 0 <= at < len(ordered):
        return []
    first, last = (one.sentence.quote for one in (ordered[min(at, at - step)], ordered[max(at, at - step)]))
    text = item.document.text
    begin = text.find(first) + len(first)
    between = text[begin : text.find(last, begin)]
    apart = last not in text[begin:] or "\n\n" in between or len(between) >= MAX_CONTEXT
    return [] if apart else [ordered[at]]


def _short(line: str) -> str:
    plain = normalise(line).strip(" #*")
    return plain if len(plain) <= min(MAX_CONTEXT, MAX_SENTENCE) else ""
