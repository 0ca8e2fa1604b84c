"""The passages nearest to a question, quoted and not judged."""

from collections.abc import Sequence
from dataclasses import replace

from activities.contracts.evidence import Evidence
from activities.contracts.judge import JudgeBatch, JudgeInput
from activities.contracts.profile import Profile
from activities.contracts.write import Passage, SectionDraft, WriteInput
from activities.extractive.planning import aspect_of, searched
from activities.text.coverage import Coverage, coverage, with_meaning
from activities.text.embeddings import embedder
from activities.text.normal_form import normalise
from activities.text.ranking import Item, Ranked, best_first, rank, relevant
from activities.text.sentences import MAX_SENTENCE, OF_THE_USER

MAX_PASSAGES = 12
"""Works whose passage is shown."""
MAX_RELATED = 3
"""Works shown below, which are near and lack something that the question names."""
MAX_COMPARED = 20
"""Works, best first, whose words are compared with the names that they lack."""
MAX_OF_ONE = 3
"""Passages of one document where it is clearly nearer than the next."""
MAX_NEAREST = 6
"""Sentences of one document of which these passages are made; of rows there are as many as passages."""
CLEARLY_NEARER = 1.0
"""Difference of two documents' scores (`ranking.Item`) from which the first is clearly nearer."""
MAX_BEHIND = 12.0
"""Score (`ranking.Ranked`) by which a statement of the user's own may be behind the best one: in a folder of
a few pages nothing is further behind; of ten thousand rows all but those with what the question names."""
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
CALL, MIN_CALL = "Further studies are needed to confirm these findings.", 0.5
"""A call for more research, and the cosine from which a sentence is one: of 2,600 sentences of conclusions in
the bundled sample some fifteen are that near, all of them calls."""
MIN_PASSAGE_WORDS = 15
"""Words of a passage of the user's own below which the sentence after it stands with it."""
MAX_CONTEXT = 300
"""Characters of the sentence before or after."""


def judge(step: JudgeInput, documents: Sequence[Evidence]) -> JudgeBatch:
    """Which works have a passage that is near enough, and no judgement: nothing has read them."""
    ids = near_enough(step.question, step.profile, documents)
    count = f"{len(ids)} of {len(documents)} items have a passage near the question"
    text = f"{count}; no language model has read them."
    return JudgeBatch(
        relevant=ids,
        recommendation="synthesize" if ids else "continue",
        gaps=() if documents else (step.question[:300],),
        reasoning=text,
        model="extractive",
    )


def write(step: WriteInput, documents: Sequence[Evidence]) -> SectionDraft:
    """The nearest passages, best first; those of works that lack a name of the question, or are not near
    enough, as `related`."""
    shared = frozenset(step.shared)
    documents = [document for document in documents if document.evidence_id not in shared]
    nearest, related, covered = _nearest(step.question, step.profile, documents)
    nearest = [
        item
        for item in nearest
        if item.document.evidence_type not in OF_THE_USER or not _is_far(item.ranked[0], nearest[0])
    ]
    passages = [passage(item, covered[item.document.evidence_id]) for item in nearest[:MAX_PASSAGES]]
    is_first = len(nearest) == 1 or (nearest and nearest[0].score - nearest[1].score >= CLEARLY_NEARER)
    if is_first and nearest[0].document.evidence_type in OF_THE_USER:
        passages[:1] = _several(nearest[0], covered[nearest[0].document.evidence_id])
    return SectionDraft(
        title=step.title,
        passages=tuple(passages[:MAX_PASSAGES]),
        related=tuple(passage(i, covered[i.document.evidence_id]) for i in related[:MAX_RELATED]),
    )


def _is_far(one: Ranked, best: Item) -> bool:
    """Whether a statement of the user's own is far behind the best one of a text."""
    return best.document.evidence_type in OF_THE_USER and best.ranked[0].score - one.score > MAX_BEHIND


def _several(item: Item, covered: Coverage) -> list[Passage]:
    """The best passages of a text of the user's own, the nearest first: its nearest sentences, each with the
    next one, those that follow each other together, and none that is far behind."""
    chosen: list[list[Ranked]] = []
    most = MAX_OF_ONE if item.ranked[0].sentence.is_row else MAX_NEAREST
    for count in range(1, most + 1):
        best = [one for one in item.ranked[:count] if not _is_far(one, item)]
        runs = _runs(item, best)
        if len(runs) > MAX_OF_ONE:
            break
        chosen = runs
    chosen.sort(key=lambda run: min(item.ranked.index(one) for one in run))
    return [_quoted(item, run, covered) for run in chosen]


def _runs(item: Item, best: Sequence[Ranked]) -> list[list[Ranked]]:
    """The best sentences of a text in its order, each with the next one of its paragraph. A row of a table
    stands alone."""
    ordered = sorted(item.ranked, key=lambda one: one.sentence.place)
    runs: list[list[Ranked]] = []
    for before, one in zip([None, *ordered], ordered, strict=False):
        beside = before is not None and bool(runs) and before is runs[-1][-1] and _adjoin(item, before, one)
        alone = before is None or _same_columns(before, one)
        needed = beside and (_is_short(runs[-1]) or (before in best and not _is_far(one, item)))
        if beside and not alone and (one in best or needed):
            runs[-1].append(one)
        elif one in best:
            runs.append([one])
    return runs


def _same_columns(one: Ranked, other: Ranked) -> bool:
    """Tell whether two rows begin with the same heading, as those of one table do."""
    first, second = one.sentence, other.sentence
    heading, mark, _ = first.quote.partition(": ")
    return first.is_row and second.is_row and bool(mark) and second.quote.startswith(f"{heading}: ")


def _is_short(run: Sequence[Ranked]) -> bool:
    """Tell whether a passage needs the sentence after it, as a symptom needs its cure."""
    words = sum(len(one.sentence.quote.split()) for one in run)
    return words < MIN_PASSAGE_WORDS and not any(one.sentence.is_row for one in run)


def near_enough(question: str, profile: Profile, documents: Sequence[Evidence]) -> tuple[str, ...]:
    """Ids of the works with a passage near a question that lack nothing it names, the nearest first."""
    items, _, _ = _nearest(question, profile, documents)
    return tuple(item.document.evidence_id for item in items)


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
    absent = set[str]()
    for place, item in enumerate(items):
        name = item.document.evidence_id
        if place < MAX_COMPARED:
            quotes = [one.sentence.quote for one in item.ranked]
            covered[name] = with_meaning(covered[name], whole, item.document, quotes, absent)
            absent.update(covered[name].lacks)
    nearest = [one for one in items if not covered[one.document.evidence_id].lacks]
    return nearest, [] if aspect else [one for one in items if one not in nearest], covered


def passage(item: Item, covered: Coverage) -> Passage:
    """The best sentence of a work, with a second one that is nearly as near, and what stands before where
    they cannot be understood without it. They stand in the order of the work: of 300 abstracts of PubMedQA
    figures stand first in 35 % (best first in 18 %), a recommendation or a call in 6 % (in 11 %)."""
    item = _findings(item)
    chosen = [item.ranked[0], *_second(item)]
    chosen.sort(key=lambda one: one.sentence.place)
    return _quoted(item, chosen, covered)


def _quoted(item: Item, chosen: Sequence[Ranked], covered: Coverage) -> Passage:
    """Sentences of a work with what stands over them; of a user's own text else the sentence before."""
    first = chosen[0].sentence
    before = _short(first.head)
    if not before and not first.is_row and item.document.evidence_type in OF_THE_USER:
        before = next((_short(one.sentence.quote) for one in _beside(item, chosen[0], -1)), "")
    return Passage(
        evidence_id=item.document.evidence_id,
        quotes=tuple(one.sentence.quote for one in chosen),
        before=before,
        mentions=covered.mentions,
        lacks=covered.lacks,
        uses=tuple(f"{word} for {name}" for name, word in covered.uses),
    )


def _findings(item: Item) -> Item:
    """A work with its findings alone, by its own headings, where one of them is near the question too: what
    was studied is no answer beside what was found, nor is a call for more research."""
    best = item.ranked[0].likeness or 0.0
    findings = [one for one in item.ranked if one.sentence.part not in BEFORE_FINDINGS]
    calls = _calls([one.sentence.quote for one in findings])
    findings = [one for one in findings if one.sentence.quote not in calls]
    if not findings or (findings[0].likeness or 0.0) < MIN_FINDING * best:
        return item
    return replace(item, ranked=tuple(findings))


def _calls(quotes: Sequence[str]) -> frozenset[str]:
    """Those of some sentences that call for more research, by the encoder."""
    model = embedder()
    vectors = model.known(quotes) if model is not None else {}
    if model is None or not vectors:
        return frozenset()
    call = model.encode([CALL])[0]
    return frozenset(quote for quote, vector in vectors.items() if float(vector @ call) >= MIN_CALL)


def _second(item: Item) -> list[Ranked]:
    """The second sentence of a passage: of a user's own text the one that follows the best one, since its
    facts stand in short sentences that continue each other; of an abstract one that is nearly as near."""
    best, *others = item.ranked
    if item.document.evidence_type in OF_THE_USER:
        after = [one for one in _beside(item, best, 1) if not _is_far(one, item) or _is_short([best])]
        return [*after, *(_beside(item, after[0], 1) if after and _is_short([best, *after]) else [])]
    first = best.likeness
    rivals = [one for one in others if first and one.likeness and one.likeness >= MIN_SECOND * first]
    return rivals[: MAX_QUOTES - 1]


def _beside(item: Item, one: Ranked, step: int) -> list[Ranked]:
    """The sentence so many places after another in the same paragraph; none where there is none."""
    ordered = sorted(item.ranked, key=lambda other: other.sentence.place)
    at = ordered.index(one) + step
    if not 0 <= at < len(ordered):
        return []
    return [ordered[at]] if _adjoin(item, *sorted((one, ordered[at]), key=lambda r: r.sentence.place)) else []


def _adjoin(item: Item, one: Ranked, other: Ranked) -> bool:
    """Whether a sentence follows another in the same paragraph."""
    text = item.document.text
    begin = text.find(one.sentence.quote) + len(one.sentence.quote)
    end = text.find(other.sentence.quote, begin)
    return 0 <= end < begin + MAX_CONTEXT and "\n\n" not in text[begin:end]


def _short(line: str) -> str:
    plain = normalise(line).strip(" #*")
    return plain if len(plain) <= min(MAX_CONTEXT, MAX_SENTENCE) else ""
