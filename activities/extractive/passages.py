"""The passages nearest to a question, quoted and not judged."""

import re
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
_LIST_ITEM = re.compile(r"\s*(?:[-*\u2022]|\d{1,2}[.)])\s")
_SPEAKER = re.compile(r"\s*[A-Z][\w.' -]{0,40}:\s")
_STEP_BACK = 30
"""Lines before a quote that are searched for the head of its list or table."""


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
    return SectionDraft(
        title=step.title,
        passages=tuple(passage(i, covered[i.document.evidence_id]) for i in near[:MAX_PASSAGES]),
        related=tuple(passage(i, covered[i.document.evidence_id]) for i in related[:MAX_RELATED]),
    )


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
    chosen = [item.ranked[0], *_second(item)]
    chosen.sort(key=lambda one: one.sentence.place)
    quotes = tuple(one.sentence.quote for one in chosen)
    before, after = context(item.document, quotes)
    if (
        not before
        and item.document.evidence_type in OF_THE_USER
        and quotes[0] == item.ranked[0].sentence.quote
    ):
        before = next((_short(one.sentence.quote) for one in _beside(item, -1)), "")
    return Passage(
        evidence_id=item.document.evidence_id,
        quotes=quotes,
        before=before,
        after=after,
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
    if not 0 <= at < len(ordered) or not _are_one_paragraph(item.document.text, item.ranked[0], ordered[at]):
        return []
    return [ordered[at]]


def _are_one_paragraph(text: str, one: Ranked, other: Ranked) -> bool:
    first, last = sorted((one.sentence, other.sentence), key=lambda sentence: sentence.place)
    begin = text.find(first.quote) + len(first.quote)
    between = text[begin : text.find(last.quote, begin)]
    return len(between) < MAX_CONTEXT and "\n\n" not in between


def context(document: Evidence, quotes: Sequence[str]) -> tuple[str, str]:
    """What stands before the first quote where its form needs it: the head of its list, the header row of its
    table, the speaker of its turn; and what continues a sentence that ends with a colon."""
    at = document.text.find(quotes[0])
    if at < 0 or document.evidence_type not in OF_THE_USER:
        return "", ""
    begin = document.text.rfind("\n", 0, at) + 1
    above = document.text[:begin].split("\n")[-_STEP_BACK - 1 : -1]
    line = document.text[begin : at + len(quotes[0])]
    return _head(line, above, document.text[begin:at]), _after(document.text, quotes[-1])


def _head(line: str, above: Sequence[str], same_line: str) -> str:
    if line.lstrip().startswith("|"):
        rows = []
        for other in reversed(above):
            if not other.lstrip().startswith("|"):
                break
            rows.append(other)
        return _short(rows[-1]) if rows else ""
    if _LIST_ITEM.match(line):
        for other in reversed(above):
            if other.strip() and not _LIST_ITEM.match(other) and not other.startswith(("  ", "\t")):
                return _short(other)
        return ""
    if turn := _SPEAKER.match(same_line):
        return turn.group().strip()
    nearest = next((other for other in reversed(above) if other.strip()), "")
    return _short(nearest) if nearest.rstrip().endswith(":") else ""


def _after(text: str, quote: str) -> str:
    end = text.find(quote) + len(quote)
    if not quote.rstrip().endswith(":"):
        return ""
    following = next((line for line in text[end:].split("\n") if line.strip()), "")
    return _short(following)


def _short(line: str) -> str:
    plain = normalise(line).strip(" #*")
    return plain if len(plain) <= min(MAX_CONTEXT, MAX_SENTENCE) else ""
