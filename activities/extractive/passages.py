"""The passages nearest to a question, quoted and not judged, and the words that occur nowhere."""

from collections.abc import Iterator, Sequence

from activities.contracts.evidence import Evidence
from activities.contracts.judge import JudgeBatch, JudgeInput
from activities.contracts.write import Passage, SectionDraft, WriteInput
from activities.extractive.planning import search_text
from activities.text.absence import TermsOf, absent_words
from activities.text.normal_form import normalise
from activities.text.ranking import Item, RankedSentence, best_first, rank, relevant_items
from activities.text.sentences import OF_THE_USER, language_in

MAX_PASSAGES = 16
"""Passages of one list."""
MAX_OF_ONE = 3
"""Passages of one document."""
MAX_BEHIND = 12.0
"""Score (`ranking.RankedSentence`) by which a passage of the user's own may be behind the nearest one: in a
folder of a few pages nothing is further behind; of ten thousand rows all but those with what the question
names."""
MIN_FINDING = 0.5
"""Likeness of a finding at least, as a share of that of the best sentence, to be quoted in its place. Of 90
abstracts of the bundled sample the best sentence of seven stood under aim, background or methods; in six the
finding was near enough, and each answered the question of the title."""
MAX_HEAD = 300
"""Characters of a heading that is shown."""


def judge(step: JudgeInput, documents: Sequence[Evidence]) -> JudgeBatch:
    """List the works that have a passage near enough, without a judgement: nothing has read them."""
    items = nearest(search_text(step, step.question), documents)
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
    remote_documents = [document for document in documents if document.source != "library"]
    languages = tuple(dict.fromkeys(map(language_in, remote_documents)))
    index, shared = TermsOf(remote_documents), frozenset(step.shared)
    text = search_text(step, step.question)
    passages = _best_passages(nearest(text, [d for d in documents if d.evidence_id not in shared]))
    return SectionDraft(
        title=step.title,
        passages=passages,
        elsewhere=not passages and bool(nearest(text, [d for d in documents if d.evidence_id in shared])),
        absent=absent_words(step.question, languages, index.holds, index.has) if remote_documents else (),
        documents=len(remote_documents),
    )


def nearest(text: str, documents: Sequence[Evidence]) -> list[Item]:
    """Return the works that may be quoted and have a passage near a text, best first."""
    citable = [document for document in documents if document.standing != "retracted"]
    return relevant_items(best_first(rank(text, citable)))


def _best_passages(items: Sequence[Item]) -> tuple[Passage, ...]:
    """Return the passages to show with their neighbours, the nearest first, whatever document they are of."""
    rows = [(score, item, passage) for item in items for score, passage in _passages_of(item)]
    rows.sort(key=lambda row: row[0], reverse=True)
    best = max((score for score, _, _ in rows), default=0.0)
    return tuple(
        passage
        for score, item, passage in rows
        if item.document.evidence_type not in OF_THE_USER or best - score <= MAX_BEHIND
    )[:MAX_PASSAGES]


def _passages_of(item: Item) -> Iterator[tuple[float, Passage]]:
    """Return the passages of one document with their scores, the nearest first.

    `MAX_OF_ONE` at most, and one of an abstract. Over each stands its heading, and in a user's own text the
    next sentence of its paragraph follows: cause and cure stand in two."""
    is_of_user = item.document.evidence_type in OF_THE_USER
    by_place = sorted(item.sentences, key=lambda entry: entry.sentence.place)
    remaining = MAX_OF_ONE if is_of_user or item.document.full_text else 1
    sentences: set[RankedSentence] = set()
    for finding in _findings(item):
        if finding in sentences or not remaining:
            continue
        remaining -= 1
        first, run = finding.sentence, [finding]
        if is_of_user and first.paragraph:
            followers = [r for r in by_place if r.sentence.place > first.place][:1]
            run += [r for r in followers if r not in sentences and r.sentence.paragraph == first.paragraph]
        sentences.update(run)
        head = normalise(first.head).strip(" #*")
        yield (
            finding.score,
            Passage(
                evidence_id=item.document.evidence_id,
                quotes=tuple(entry.sentence.quote for entry in run),
                before=head if len(head) <= MAX_HEAD else "",
            ),
        )


def _findings(item: Item) -> Sequence[RankedSentence]:
    """Return the sentences of a work that state findings, by its own headings, where one is near as well.

    What was studied is no answer beside what was found."""
    findings = [entry for entry in item.sentences if not entry.sentence.before_findings]
    best = item.sentences[0].likeness or 0.0
    if not findings or (findings[0].likeness or 0.0) < MIN_FINDING * best:
        return item.sentences
    return findings
