"""Typed inputs and outputs of the steps that write: a writer produces claims with quotes.

Markdown, numbering and references are code.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import count
from typing import Literal, cast

from pydantic import (
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core import to_json

from activities.contracts.evidence import (
    AbsentWord,
    Claim,
    ClaimKind,
    EvidenceRef,
    Frozen,
    ReportPlanSection,
    Sentence,
    Statement,
    StopReason,
    Support,
    Vigilance,
)
from activities.contracts.judge import MechanismHypothesis, Table, WorkJudgement
from activities.contracts.judge import Refused as Refused
from activities.contracts.judge import RefusedKind as RefusedKind
from activities.contracts.step import StepContext


class Passage(Frozen):
    """Sentences of one work, in its order, quoted and not judged (without a model)."""

    evidence_id: str
    quotes: tuple[str, ...]
    """Word for word, in the order of the work."""
    before: str = ""
    """The sentence before, where it is needed to understand: the head of a list, a header row, a speaker."""
    after: str = ""


SentenceState = Literal["stands", "ask", "refused", "out"]
"""`ask`: a second reader is asked, and until one has said yes it does not stand. `refused`: it does not, and
its quote is printed in its place. `out`: its writer left it out."""
SentenceKind = ClaimKind | Literal["transition", "translation"]
"""`transition`: a heading, which states nothing. `translation`: its one quote in the language of
the report."""


def section_of(name: str) -> str:
    """Return the section of a sentence by its id, `s1` of `s1.2`."""
    return name.partition(".")[0]


class DraftClaim(Sentence):
    """One sentence of a model, with what the gate decided of it (`activities.verification.gate`)."""

    kind: SentenceKind = "finding"
    cites: tuple[str, ...] = ()
    """Ids of the works that its writer cites; those that its quotes are of carry it."""
    state: SentenceState = "stands"
    problem: Statement | None = None
    """Why it does not stand; of a row that does, why it lost fields."""
    proposed: tuple[str, ...] = ()
    """Figures of a sentence that cites nothing which its writer sets itself: a deadline, a threshold."""
    disputed: str = ""
    """Why somebody who read the report says that it is wrong; the second reader is asked about that."""
    reworded: bool = False
    after: str = ""
    """The sentences of its paragraph before it, for a second reader."""


class DraftParagraph(Frozen):
    """Sentences that belong together, the items of a list or the rows of a table."""

    claims: tuple[DraftClaim, ...]
    heading: DraftClaim | None = None
    """Words above it that state nothing."""
    section: str = ""
    """Id of its section, where all sections are written in one call."""


def with_sentences(paragraphs: Iterable[DraftParagraph]) -> tuple[DraftParagraph, ...]:
    """Leave out paragraphs without sentences, whose headings go to what follows them under these."""
    kept: list[DraftParagraph] = []
    heading, section = None, ""
    for paragraph in paragraphs:
        heading = paragraph.heading or (heading if paragraph.section == section else None)
        section = paragraph.section
        if paragraph.claims:
            kept.append(paragraph.replace(heading=heading))
            heading = None
    return tuple(kept)


class SectionDraft(Frozen):
    """Draft of one section; every sentence is a claim.

    As JSON it holds each quote and each computation once, however many sentences rest on it: those of an
    account share most of theirs.
    """

    title: str = ""
    heading: DraftClaim | None = None
    """Its title in words of its writer, which the second reader reads as a heading."""
    paragraphs: tuple[DraftParagraph, ...] = ()
    limitations: tuple[str, ...] = ()
    answer: tuple[DraftClaim, ...] = ()
    """The direct answer to the question of the section, or of the report where its sections were written in
    one call, in the model's order."""
    refused: tuple[Refused, ...] = ()
    """What was refused and has no place in the draft: sentences that cite nothing, first wordings."""
    settled: tuple[str, ...] = ()
    """The entries of `WriteInput.left_open` that it gives or says to be missing."""
    works_room: int = 0
    """Tokens that the works had in the writer's prompt, so that the second reader is shown the same ones."""
    vigilance: Vigilance = Vigilance()
    """How well the second reader read it, in all calls."""
    untranslated: tuple[Support, ...] = ()
    """See `Verdicts.untranslated`."""
    plain_answer: str = ""
    """An answer in Markdown, without labels and computations, of which a draft is made."""
    former: tuple[DraftClaim, ...] = ()
    """Sentences that stood until a second wording took their place; they stand again where that falls."""
    translations: tuple[DraftClaim, ...] = ()
    """Quotes in the language of the report, by the writer; printed beside them where the second reader
    confirmed it."""
    near_misses: tuple[DraftClaim, ...] = ()
    """Errors that the writer planted in sentences of its own on request, by which the second reader is
    measured; never printed."""
    passages: tuple[Passage, ...] = ()
    """Without a model: the passages nearest to the question, best first."""
    absent: tuple[AbsentWord, ...] = ()
    """Without a model: words of the question that occur in none of the works at hand but those of a folder,
    whose search tells it."""
    documents: int = 0
    """How many works these are."""
    elsewhere: bool = False
    """Without a model: all works that are near to the question are quoted by other sections."""

    @model_serializer(mode="wrap")
    def _dump(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, object]:
        data: dict[str, object] = handler(self)
        if info.mode != "json":
            return data
        places = {name: dict[str, int]() for name in SHARED}
        values: dict[str, list[object]] = {name: [] for name in SHARED}
        for row in _sentences_in(data):
            for name in SHARED:
                numbers = []
                for value in cast("list[object]", row.get(name, ())):
                    key = to_json(value).decode()
                    if key not in places[name]:
                        places[name][key] = len(values[name])
                        values[name].append(value)
                    numbers.append(places[name][key])
                if numbers:
                    row[name] = numbers
        return data | ({"shared": values} if any(values.values()) else {})

    @model_validator(mode="before")
    @classmethod
    def _validate(cls, value: object) -> object:
        if not isinstance(value, dict) or not isinstance(shared_values := value.get("shared"), dict):
            return value
        data = deepcopy(value)
        for row in _sentences_in(data):
            for name in SHARED:
                row[name] = [
                    shared_values[name][entry] if isinstance(entry, int) else entry
                    for entry in cast("list[object]", row.get(name, ()))
                ]
        return data

    @property
    def cited(self) -> tuple[str, ...]:
        """Ids of the works that its claims and passages quote, each once."""
        quote_ids = (support.evidence_id for claim in self.claims for support in claim.support)
        passages = (passage.evidence_id for passage in self.passages)
        return tuple(dict.fromkeys((*quote_ids, *passages)))

    @property
    def claims(self) -> tuple[DraftClaim, ...]:
        """The sentences of the answer, then those of the paragraphs."""
        return (*self.answer, *(claim for paragraph in self.paragraphs for claim in paragraph.claims))

    @property
    def sentences(self) -> tuple[DraftClaim, ...]:
        return (*self.claims, *self.translations)

    @property
    def headings(self) -> Iterator[DraftClaim]:
        headings = (self.heading, *(paragraph.heading for paragraph in self.paragraphs))
        return (heading for heading in headings if heading is not None)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return each paragraph as text; items, rows and broken lines on lines of their own."""
        texts = (
            "".join(("\n" if c.is_row or c.begins or c.line else " ") + c.text for c in paragraph.claims)
            for paragraph in self.paragraphs
        )
        return tuple(text.strip() for text in texts)

    def changed(self, change: Callable[[DraftClaim], Sequence[DraftClaim]]) -> "SectionDraft":
        """Return the draft with what `change` makes of each sentence, without empty paragraphs."""

        def map_claims(claims: Iterable[DraftClaim]) -> tuple[DraftClaim, ...]:
            return tuple(result for claim in claims for result in change(claim))

        def map_heading(heading: DraftClaim | None) -> DraftClaim | None:
            return next(iter(change(heading)), None) if heading else None

        paragraphs = (
            paragraph.replace(claims=map_claims(paragraph.claims), heading=map_heading(paragraph.heading))
            for paragraph in self.paragraphs
        )
        return self.replace(
            heading=map_heading(self.heading),
            answer=map_claims(self.answer),
            paragraphs=with_sentences(paragraphs),
            translations=map_claims(self.translations),
        )


SHARED = ("support", "computed")
"""Fields of sentences that a draft sends once for all of them."""


def _sentences_in(value: object) -> Iterator[dict[str, object]]:
    """Yield the sentences within a draft as it is sent."""
    if isinstance(value, dict):
        if "support" in value and "text" in value:
            yield value
        for item in value.values():
            yield from _sentences_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _sentences_in(item)


def with_ids(section_id: str, draft: SectionDraft) -> SectionDraft:
    """Return the draft with the ids of its sentences.

    `s1.a1` of the answer, `s1.2` of the paragraphs, `s1.h1` of a heading, `s1.t1` of a translation. One
    that has an id keeps it.
    """
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(1))

    def headed(paragraph: DraftParagraph) -> DraftParagraph:
        section = paragraph.section or section_id
        heading = next(iter(give([paragraph.heading] if paragraph.heading else [], "h", section)), None)
        return paragraph.replace(claims=give(paragraph.claims, "", section), heading=heading)

    def give(claims: Iterable[DraftClaim], mark: str, section: str = section_id) -> tuple[DraftClaim, ...]:
        prefix = f"{section}.{mark}"
        ids = ((claim, f"{prefix}{next(numbers[prefix])}") for claim in claims)
        return tuple(claim if claim.id else claim.replace(id=name) for claim, name in ids)

    return draft.replace(
        heading=next(iter(give([draft.heading] if draft.heading else [], "h")), None),
        answer=give(draft.answer, "a"),
        paragraphs=tuple(map(headed, draft.paragraphs)),
        translations=give(draft.translations, "t"),
    )


def drafts_by_section(draft: SectionDraft, sections: Sequence[str]) -> dict[str, SectionDraft]:
    """Return the drafts of sections that were written in one call; all but paragraphs is with the first."""
    first = sections[0]
    return {
        name: (draft if name == first else SectionDraft()).replace(
            paragraphs=tuple(part for part in draft.paragraphs if (part.section or first) == name)
        )
        for name in sections
    }


class WriteInput(StepContext):
    """What the writer (of a whole short report) and the long writer (of one section of a long one) read."""

    section_id: str = "s1"
    title: str = ""
    evidence: tuple[EvidenceRef, ...] = ()
    """Best first; retracted work is already left out."""
    judged: tuple[str, ...] | None = None
    """Ids of the items that code judged to help with the question, among all that were found; None where a
    model judged, or where items were found since."""
    written: tuple[Claim, ...] = ()
    """Claims of sections that are written, not to be repeated; contradictions to them are to be kept."""
    shared: tuple[str, ...] = ()
    """Ids of items that another section quotes where no model writes; a writer is not told of them."""
    other_sections: tuple[str, ...] = ()
    """Key questions that other sections answer."""
    outline: tuple[ReportPlanSection, ...] = ()
    """The sections, where all of them are written in one call."""
    stop_reason: StopReason = "sufficient_evidence"
    hypotheses: tuple[MechanismHypothesis, ...] = ()
    judgements: tuple[WorkJudgement, ...] = ()
    """Judgements of the items of `evidence` that were judged."""
    left_open: tuple[str, ...] = ()
    """What the judge, else the gap evaluator, left open when the search ended."""
    failed: tuple[DraftParagraph, ...] = ()
    """Paragraphs with sentences that were refused: these, and those that lean on them, are to be written once
    more, under their ids, and nothing else. The answer has them in one paragraph; refused ones that the
    writer leaves out are `out`."""
    untranslated: tuple[Support, ...] = ()
    """Quotes in another language than the report, which are translated in the same call."""
    is_plain: bool = False
    """Whether a plain answer is asked for, of which a whole report is made."""
    plain_answer: str = ""
    """The plain answer of which a whole report is to be made."""
    computed: tuple[str, ...] = ()
    """The computations of the other sentences of a text with refused ones."""


class VerifyInput(StepContext):
    """What the verifier, the second reader, is asked. One call for all that is open."""

    section_id: str = "s1"
    sentences: tuple[DraftClaim, ...]
    evidence: tuple[EvidenceRef, ...] = ()
    """What the writer of a draft was given, in the same order. Else the works that the sentences cite."""
    judgements: tuple[WorkJudgement, ...] = ()
    """As the writer was given them."""
    works_room: int = 0
    """See `SectionDraft.works_room`; 0: as many works as fit."""
    near_misses: tuple[DraftClaim, ...] = ()
    """See `SectionDraft.near_misses`."""


class SentenceVerdict(Frozen):
    """What the second reader says of a sentence, as far as code could bear it out."""

    id: str
    problem: Statement | None = None
    """Why the sentence does not stand; None where it does."""
    support: tuple[Support, ...] = ()
    """The quotes that carry a sentence which stands; empty where its own do."""
    leans: bool = False
    """See `Sentence.leans`."""


class Verdicts(Frozen):
    verdicts: tuple[SentenceVerdict, ...] = ()
    untranslated: tuple[Support, ...] = ()
    """The quotes of sentences that stand which are in another language than the report."""
    vigilance: Vigilance = Vigilance()
    """How well the reader read, by the control sentences of this call."""


class EditedSentence(DraftClaim):
    """A sentence of the editor, with an id that names its place.

    `a1` is of the answer, `m1` of the mechanism.
    """

    claims: tuple[str, ...] = ()
    """Ids of the sentences it rests on."""


class EditInput(StepContext):
    """What the editor reads, once the sections are drafted and checked: it adds no fact."""

    title: str = ""
    outline: dict[str, str] = Field(default_factory=dict)
    """Section id -> title, in the order of the report."""
    claims: dict[str, tuple[Claim, ...]] = Field(default_factory=dict)
    """Section id -> claims, in order."""
    answers: dict[str, tuple[Claim, ...]] = Field(default_factory=dict)
    """Section id -> the sentences of its answer, in order."""
    judgements: tuple[WorkJudgement, ...] = ()
    asks_mechanism: bool = False
    """Whether the profile asks for the mechanism of the disease."""

    @property
    def wants_answer(self) -> bool:
        """True where the report has several sections and none of them alone holds its answer."""
        return len(self.claims) > 1 and sum(map(bool, self.answers.values())) != 1

    @property
    def asks_nothing(self) -> bool:
        """True where there is nothing to edit: no claim, or a report that was written as a whole."""
        return not any(self.claims.values()) or not (self.wants_answer or self.asks_mechanism)


class Edited(Frozen):
    title: str = ""
    answer: tuple[EditedSentence, ...] = ()
    """The direct answer to the run's question, of a report whose sections were written apart."""
    mechanism: tuple[EditedSentence, ...] = ()
    repeated: tuple[tuple[str, str], ...] = ()
    """(id of a sentence, id of another one that says it already): the first is removed."""
    refused: tuple[Refused, ...] = ()

    @property
    def sentences(self) -> tuple[EditedSentence, ...]:
        return (*self.answer, *self.mechanism)

    def changed(self, change: Callable[[EditedSentence], EditedSentence | None]) -> "Edited":
        """Return what the editor wrote with what `change` makes of each sentence; None leaves it out."""

        def map_sentences(sentences: Sequence[EditedSentence]) -> tuple[EditedSentence, ...]:
            return tuple(result for sentence in sentences if (result := change(sentence)) is not None)

        return self.replace(answer=map_sentences(self.answer), mechanism=map_sentences(self.mechanism))


class ExtractInput(StepContext):
    """What the extractor is asked: the reader's columns, for the works that are cited."""

    columns: tuple[str, ...]
    evidence: tuple[EvidenceRef, ...] = ()


class Extracted(Frozen):
    table: Table = Table()
    refused: tuple[Refused, ...] = ()
