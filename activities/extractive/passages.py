"""The passages nearest to a question, quoted and not judged, and the words that occur nowhere."""

from collections.abc import Iterator, Sequence

from activities.contracts.evidence import Evidence
from activities.contracts.judge import JudgeBatch, JudgeInput
from activities.contracts.write import Passage, SectionDraft, WriteInput
from activities.extractive.planning import searched
from activities.text.absence import TermsOf, absent
from activities.text.normal_form import normalise
from activities.text.ranking import Item, Ranked, best_first, rank, relevant
from activities.text.sentences import OF_THE_USER, language_in

MAX_PASSAGES = 16
"""Passages of one list."""
MAX_OF_ONE = 3
"""Passages of one document."""
MAX_BEHIND = 12.0
"""Score (`ranking.Ranked`) by which a passage of the user's own may be behind the nearest one: in a folder of
a few pages nothing is further behind; of ten thousand rows all but those with what the question names."""
MIN_FINDING = 0.5
"""Likeness of a finding at least, as a share of that of the best sentence, to be quoted in its place. Of 90
abstracts of the bundled sample the best sentence of seven stood under aim, background or methods; in six the
finding was near enough, and each answered the question of the title."""
MIN_PASSAGE_WORDS = 15
"""Words of a passage of the user's own below which the sentence after it stands with it."""
MAX_CONTEXT = 300
"""Characters of the sentence before or after."""


def judge(step: JudgeInput, documents: Sequence[Evidence]) -> JudgeBatch:
    """Which works have a passage that is near enough, and no judgement: nothing has read them."""
    items = nearest(searched(step, step.question), documents)
    ids = tuple(item.document.evidence_id for item in items)
    count = f"{len(ids)} of {len(documents)} items have a passage near the question"
    return JudgeBatch(
        relevant=ids,
        recommendation="synthesize" if ids else "continue",
        gaps=() if documents else (step.question[:300],),
        reasoning=f"{count}; no language model has read them.",
        model="extractive",
    )


def write(step: WriteInput, documents: Sequence[Evidence]) -> SectionDraft:
    """Return the nearest passages, and the words of the question that none of these documents has.

    Of a folder's documents its search tells them."""
    others = [document for document in documents if document.source != "library"]
    languages = tuple(dict.fromkeys(map(language_in, others)))
    index, shared = TermsOf(others), frozenset(step.shared)
    items = nearest(searched(step, step.question), [d for d in documents if d.evidence_id not in shared])
    return SectionDraft(
        title=step.title,
        passages=_chosen(items),
        absent=absent(step.question, languages, index.holds, index.has) if others else (),
        documents=len(others),
    )


def nearest(text: str, documents: Sequence[Evidence]) -> list[Item]:
    """Return the works that may be quoted and have a passage near a text, best first."""
    stand = [document for document in documents if document.standing != "retracted"]
    return relevant(best_first(rank(text, stand)))


def _chosen(items: Sequence[Item]) -> tuple[Passage, ...]:
    """Return the passages to show with their neighbours, the nearest first, whatever document they are of."""
    every = [(score, item, passage) for item in items for score, passage in _near(item)]
    every.sort(key=lambda row: row[0], reverse=True)
    best = max((score for score, _, _ in every), default=0.0)
    return tuple(
        passage
        for score, item, passage in every
        if item.document.evidence_type not in OF_THE_USER or best - score <= MAX_BEHIND
    )[:MAX_PASSAGES]


def _near(item: Item) -> Iterator[tuple[float, Passage]]:
    """Return the passages of one document with their scores, the nearest first.

    `MAX_OF_ONE` at most, and one of an abstract. Over each stands its heading; in a user's own text without
    one the sentence before it."""
    is_of_user = item.document.evidence_type in OF_THE_USER
    ordered = sorted(item.ranked, key=lambda ranked: ranked.sentence.place)
    most = MAX_OF_ONE if is_of_user or item.document.full_text else 1
    done: set[Ranked] = set()
    for finding in _findings(item):
        if finding in done or not most:
            continue
        most -= 1
        neighbours = _followed(item, finding, ordered) if is_of_user else [finding]
        run = tuple(other for other in neighbours if other not in done)
        head, at = run[0].sentence.head, ordered.index(run[0])
        done.update(run)
        alone = is_of_user and not head and not run[0].sentence.is_row
        if alone and at and _adjoin(item, ordered[at - 1], run[0]):
            head = ordered[at - 1].sentence.quote
            done.add(ordered[at - 1])
        plain = normalise(head).strip(" #*")
        yield (
            finding.score,
            Passage(
                evidence_id=item.document.evidence_id,
                quotes=tuple(ranked.sentence.quote for ranked in run),
                before=plain if len(plain) <= MAX_CONTEXT else "",
            ),
        )


def _findings(item: Item) -> Sequence[Ranked]:
    """Return the sentences of a work that state findings, by its own headings, where one is near as well.

    What was studied is no answer beside what was found."""
    findings = [ranked for ranked in item.ranked if not ranked.sentence.before_findings]
    best = item.ranked[0].likeness or 0.0
    if not findings or (findings[0].likeness or 0.0) < MIN_FINDING * best:
        return item.ranked
    return findings


def _followed(item: Item, ranked: Ranked, ordered: Sequence[Ranked]) -> Sequence[Ranked]:
    """Return a sentence of a user's own text with the next one of its paragraph; a row stands alone.

    Cause and cure stand in two. A further one follows where both are short."""
    at, run = ordered.index(ranked), [ranked]
    for after in ordered[at + 1 : at + 3]:
        short = len(run) == 1 or sum(len(each.sentence.quote.split()) for each in run) < MIN_PASSAGE_WORDS
        if ranked.sentence.is_row or after.sentence.is_row or not short or not _adjoin(item, run[-1], after):
            break
        run.append(after)
    return run


def _adjoin(item: Item, ranked: Ranked, other: Ranked) -> bool:
    """Tell whether a sentence follows another in the same paragraph."""
    text = item.document.text
    begin = text.find(ranked.sentence.quote) + len(ranked.sentence.quote)
    end = text.find(other.sentence.quote, begin)
    return 0 <= end < begin + MAX_CONTEXT and "\n\n" not in text[begin:end]
