"""From drafts to checked claims: which are kept, their ids, and which contradict each other.

Invariants:

- A claim's id is its place in the draft of its section, so that a dropped claim shifts no other.
- A sentence on several works is kept only when the quote of each work stands in that very work.
- A wording that is refused is replaced by the sentence that its quote is from, where there is one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz

from activities.drafts import DraftClaim, Passage, Refused, RefusedKind, SectionDraft
from activities.publication import PlannedSection
from activities.report.formats.statements import sentence
from activities.report.formats.text import clean
from activities.report.schema import Dropped, SectionStatus
from activities.text.sentences import sentences
from activities.types import Claim, Evidence, Statement, Support
from activities.verification.quote_check import QuoteChecker, normalise

_NUMERIC_MARK = re.compile(r"(?:(?<!\s)\s+)?\[\s*\^?\d{1,3}(?:\s*[-\u2010-\u2015,;]\s*\d{1,3})*\s*\]")
_NAMED_MARK = re.compile(
    r"(?:(?<!\s)\s+)?(?:\[(?:pmid|pmcid|doi|nct|arxiv|openalex|s2|fda|url|doc|evidence|ref|source)\b[^\]]{0,300}\]"
    r"|\((?:pmid|pmcid|doi|nct|arxiv|openalex|s2|url|doc)\s*:[^)]{0,300}\)|\[\w+c\d+\]|[\[(]E\d{1,3}\b[^\])]{0,40}[\])])",
    re.IGNORECASE,
)
_PART = re.compile(r"^[A-Z][A-Z /&]{3,40}:\s+(?=\w)")
"""The label of a structured abstract that a writer copied with its sentence."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_INTERVAL = re.compile(r"\b(?:CI|CrI|IQR|intervals?|range)\W*$", re.IGNORECASE)
_BEFORE = re.compile(r"^(?:[,;:!?\s]|\.(?!\d))+(?=\w)")
"""What is left of the sentence before one that was cut."""
_SAME_CLAIM = 90.0
"""Percent of likeness at which a contradiction given in words names a claim. A wrong match costs no more than
a cross-reference, and writers paraphrase claims loosely."""
CLAIM_KINDS: frozenset[RefusedKind] = frozenset({"claim", "wording"})
"""Kinds of what is refused of a draft's own sentences."""


def claim_id(section_id: str, position: int) -> str:
    """The id of the claim at a place of a section's draft, counted from 1."""
    return f"{section_id}c{position}"


def draft_claims(section_id: str, draft: SectionDraft) -> tuple[Claim, ...]:
    """The claims of a draft under the ids they will have in the report, for the editor."""
    return tuple(
        Claim(id=claim_id(section_id, position), text=d.text, support=d.support, contradicts=d.contradicts)
        for position, d in enumerate((d for p in draft.paragraphs for d in p.claims), start=1)
    )


def answer_id(section_id: str, position: int) -> str:
    """The id of the sentence at a place of the answer of a section, counted from 1."""
    return f"{section_id}a{position}"


def draft_answer(section_id: str, draft: SectionDraft) -> tuple[Claim, ...]:
    """The sentences of a draft's answer under the ids they will have in the report."""
    return tuple(
        Claim(id=answer_id(section_id, position), text=d.text, support=d.support)
        for position, d in enumerate(draft.answer, start=1)
    )


def plain_claim(text: str) -> str:
    """A claim's text on one line without the citation marks a writer put in: code numbers citations. Years in
    brackets and intervals (`95% CI [2, 14]`) stay."""

    def mark(match: re.Match[str]) -> str:
        return match.group() if _INTERVAL.search(text[: match.start()]) else ""

    text = clean(text)
    text = _PART.sub("", _NAMED_MARK.sub("", text))
    text = _NUMERIC_MARK.sub(mark, text).strip()
    return _BEFORE.sub("", re.sub(r" {2,}", " ", text))


@dataclass(frozen=True, slots=True)
class CheckedSection:
    """A section whose claims were checked."""

    planned: PlannedSection
    section_id: str
    title: str
    paragraphs: tuple[tuple[Claim, ...], ...]
    answer: tuple[Claim, ...] = ()
    passages: tuple[Passage, ...] = ()
    related: tuple[Passage, ...] = ()
    drafted: int = 0
    """Sentences that were written, those that roles refused before included."""
    lost: int = 0
    """Those of them that were refused, also where a quote stands in their place."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for paragraph in self.paragraphs for claim in paragraph)

    @property
    def status(self) -> SectionStatus:
        """How far the section is; without a claim it is not complete, however its research ended."""
        if self.planned.status == "complete" and not self.claims:
            return "partial"
        return self.planned.status

    @property
    def empty_because(self) -> Statement | None:
        """Why the section has no claim; None when it has one. The note of a section that was researched only
        states how its search ended."""
        if self.paragraphs:
            return None
        if self.planned.status in ("failed", "cancelled"):
            return Statement(code="section_not_researched", values={"note": clean(self.planned.note)})
        if self.drafted > self.lost:
            return Statement(code="section_stands_elsewhere")
        if self.lost:
            return Statement(code="section_claims_refused")
        return Statement(code="section_without_claims")


@dataclass(slots=True)
class CheckedDrafts:
    """All sections of a report with the results of their claims."""

    sections: list[CheckedSection] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    retracted: dict[str, None] = field(default_factory=dict)
    """Ids of retracted works that were cited, in order."""
    repaired: int = 0
    replaced: int = 0
    quotes_refused: int = 0
    """Quotes that were refused beside others that stand."""
    repeats: dict[str, str] = field(default_factory=dict)
    """Id of a claim that was left out -> id of the claim that says the same."""

    @property
    def claims(self) -> list[Claim]:
        return [claim for section in self.sections for claim in section.claims]

    @property
    def standing(self) -> list[Claim]:
        """Every sentence of the writers that stands, the answers of sections included."""
        return [claim for section in self.sections for claim in (*section.answer, *section.claims)]

    def drop(
        self, text: str, reasons: Sequence[Statement], kind: RefusedKind, section: str, ids: Iterable[str]
    ) -> None:
        """Record what was refused."""
        self.dropped.append(
            Dropped(
                text=text,
                reason=reasons_text(reasons),
                kind=kind,
                section=section,
                evidence_ids=tuple(dict.fromkeys(ids)),
                statement=reasons[0],
            )
        )


def reasons_text(reasons: Iterable[Statement]) -> str:
    """Reasons in words, as the end of a sentence."""
    return "; ".join(dict.fromkeys(map(sentence, reasons)))


def of_role(refused: Refused, section: str = "") -> Dropped:
    """What a role's own check refused, as the report lists it."""
    return Dropped(
        text=clean(refused.text),
        reason=reasons_text([refused.reason]),
        kind=refused.kind,
        section=section,
        evidence_ids=refused.evidence_ids,
        statement=refused.reason,
    )


def check_drafts(
    planned: Sequence[PlannedSection], checker: QuoteChecker, documents: Mapping[str, Evidence]
) -> CheckedDrafts:
    """Check every claim of every draft, give the ids, and resolve what contradicts what."""
    done = CheckedDrafts()
    sections = _Drafts(checker, documents, done)
    used: set[str] = set()
    for index, one in enumerate(planned, start=1):
        section_id = one.section.id or f"s{index}"
        while section_id in used:
            section_id += "x"
        used.add(section_id)
        done.sections.append(sections.section(one, section_id, index))
    return done


class _Drafts:
    """The checks of one report; a claim that another section has made already is dropped."""

    def __init__(self, checker: QuoteChecker, documents: Mapping[str, Evidence], done: CheckedDrafts) -> None:
        self.checker = checker
        self.documents = documents
        self.done = done
        self.seen: dict[str, str] = {}
        self.shown: set[tuple[str, str]] = set()
        """Work and normalised quote of what stands."""

    def section(self, planned: PlannedSection, section_id: str, index: int) -> CheckedSection:
        draft = planned.draft
        title = clean(planned.section.title) or clean(draft.title)
        title = title or clean(planned.section.key_question) or f"Section {index}"
        before = [of_role(refused, section_id) for refused in draft.refused]
        self.done.dropped += before
        start = len(self.done.dropped)
        passages = tuple(filter(None, (self.passage(p, section_id) for p in draft.passages)))
        quoted = self.quotes(passages, section_id)
        paragraphs = quoted or self.paragraphs(draft, section_id)
        answer = tuple(
            claim
            for place, one in enumerate(draft.answer, start=1)
            if (claim := self.claim(one, answer_id(section_id, place), section_id)) is not None
        )
        related = tuple(filter(None, (self.passage(p, section_id) for p in draft.related)))
        lost = [*before, *self.done.dropped[start:]]
        refused_before = sum(item.kind == "claim" for item in before)
        return CheckedSection(
            planned,
            section_id,
            title,
            paragraphs,
            answer,
            passages,
            related,
            drafted=refused_before + sum(len(p.claims) for p in draft.paragraphs) + len(draft.answer),
            lost=sum(item.kind in CLAIM_KINDS and item.statement.code != "repeats_claim" for item in lost),
        )

    def paragraphs(self, draft: SectionDraft, section_id: str) -> tuple[tuple[Claim, ...], ...]:
        position = 0
        paragraphs: list[tuple[Claim, ...]] = []
        for paragraph in draft.paragraphs:
            claims: list[Claim] = []
            for one in paragraph.claims:
                position += 1
                key = normalise(plain_claim(one.text)).casefold()
                if known := self.seen.get(key):
                    self.done.repeats[claim_id(section_id, position)] = known
                    repeats = Statement(code="repeats_claim", values={"claim": known})
                    ids = (support.evidence_id for support in one.support)
                    self.done.drop(plain_claim(one.text), [repeats], "claim", section_id, ids)
                    continue
                claim = self.claim(one, claim_id(section_id, position), section_id)
                if claim is not None:
                    self.seen[key] = claim.id
                    claims.append(claim)
            if claims:
                paragraphs.append(tuple(claims))
        return tuple(paragraphs)

    def claim(self, draft: DraftClaim, name: str, section_id: str) -> Claim | None:
        """The claim under its id, or the sentence that its quote is from in place of a refused wording."""
        text = plain_claim(draft.text)
        checked = self.checker.check(draft.model_copy(update={"text": text}))
        self.done.retracted |= dict.fromkeys(checked.retracted)
        if checked.kept and draft.state != "stands":
            reason = draft.problem or Statement(code="not_verified")
            checked = replace(checked, support=(), reasons=(reason,))
        if checked.kept:
            self.done.repaired += checked.repaired
            self.done.quotes_refused += len(checked.refused)
            self.shown |= {(s.evidence_id, normalise(s.quote)) for s in checked.support}
            quoted = any(normalise(text) == normalise(support.quote) for support in checked.support)
            return Claim(
                id=name, text=text, support=checked.support, contradicts=draft.contradicts, quoted=quoted
            )
        ids = [support.evidence_id for support in draft.support]
        quote = self.sentence_of(draft) if text else None
        self.done.drop(text, checked.reasons, "wording" if quote else "claim", section_id, ids)
        if quote is None:
            return None
        self.done.replaced += 1
        return Claim(id=name, text=quote.quote, support=(quote,), quoted=True)

    def sentence_of(self, draft: DraftClaim) -> Support | None:
        """The whole sentence that the first of a claim's quotes is from: a part of one might say the
        opposite. None where a claim shows it already."""
        for support in self.checker.supports(draft.support).support:
            quote = normalise(support.quote)
            for one in sentences(self.documents[support.evidence_id]):
                whole = Support(evidence_id=support.evidence_id, quote=one.quote)
                sentence_text = normalise(one.quote)
                if quote not in sentence_text or self.is_shown(support.evidence_id, sentence_text):
                    continue
                if self.checker.supports([whole]).support:
                    self.shown.add((support.evidence_id, sentence_text))
                    return whole
        return None

    def is_shown(self, evidence_id: str, text: str) -> bool:
        """Whether a quote of this sentence, or one that contains it, stands already."""
        quotes = (quote for name, quote in self.shown if name == evidence_id)
        return any(quote in text or text in quote for quote in quotes)

    def passage(self, passage: Passage, section_id: str) -> Passage | None:
        """A passage with those of its quotes that stand in its work; None where none does. What stands around
        them is left out where it does not."""
        quotes = [Support(evidence_id=passage.evidence_id, quote=quote) for quote in passage.quotes]
        checked = self.checker.supports(quotes)
        self.done.retracted |= dict.fromkeys(checked.retracted)
        if checked.refused:
            text = " ".join(map(clean, passage.quotes))
            kept = bool(checked.support)
            self.done.quotes_refused += len(checked.refused) * kept
            if not kept:
                self.done.drop(text, checked.refused, "claim", section_id, [passage.evidence_id])
                return None
        text = normalise(self.documents[passage.evidence_id].text)
        around = {
            name: value if normalise(value) in text else ""
            for name, value in (("before", clean(passage.before)), ("after", clean(passage.after)))
        }
        return passage.model_copy(update={"quotes": tuple(s.quote for s in checked.support), **around})

    def quotes(self, passages: Iterable[Passage], section_id: str) -> tuple[tuple[Claim, ...], ...]:
        """Each passage as a paragraph of claims whose text is their quote."""
        place = 0
        paragraphs = []
        for passage in passages:
            claims = []
            for quote in passage.quotes:
                place += 1
                support = Support(evidence_id=passage.evidence_id, quote=quote)
                claims.append(
                    Claim(id=claim_id(section_id, place), text=clean(quote), support=(support,), quoted=True)
                )
            paragraphs.append(tuple(claims))
        return tuple(paragraphs)


def with_contradictions(
    sections: Sequence[CheckedSection], named: Iterable[tuple[str, str]] = ()
) -> list[CheckedSection]:
    """Contradictions as claim ids, on both sides; those to dropped claims are removed. `named`: pairs of ids
    that the editor marked."""
    claims = [claim for section in sections for claim in section.claims]
    by_id = {claim.id: claim for claim in claims}
    pairs: dict[str, set[str]] = {claim.id: set() for claim in claims}
    found = [
        (c.id, other) for c in claims for one in c.contradicts if (other := _named_claim(one, c, claims))
    ]
    for one, other in (*found, *named):
        if one in by_id and other is not None and other in by_id and _may_disagree(by_id[one], by_id[other]):
            pairs[one].add(other)
            pairs[other].add(one)
    place = {claim.id: number for number, claim in enumerate(claims)}

    def resolved(claim: Claim) -> Claim:
        return claim.model_copy(update={"contradicts": tuple(sorted(pairs[claim.id], key=place.__getitem__))})

    return [
        replace(
            section, paragraphs=tuple(tuple(map(resolved, paragraph)) for paragraph in section.paragraphs)
        )
        for section in sections
    ]


def _may_disagree(one: Claim, other: Claim) -> bool:
    """Whether two claims rest on different works and have a word in common: a writer may call claims
    contradictory that are not."""
    words = [{word.casefold()[:6] for word in _WORD.findall(claim.text)} for claim in (one, other)]
    works = [{support.evidence_id for support in claim.support} for claim in (one, other)]
    return bool(words[0] & words[1]) and works[0] != works[1]


def _named_claim(named: str, claim: Claim, claims: Sequence[Claim]) -> str | None:
    """The id of the claim that an id or a text means."""
    others = [other for other in claims if other.id != claim.id]
    name = named.strip().strip("[]")
    if any(other.id == name for other in others):
        return name
    text = normalise(plain_claim(named)).casefold()
    likeness = [(fuzz.ratio(text, normalise(other.text).casefold()), other.id) for other in others]
    best = max(likeness, key=lambda pair: pair[0], default=(0.0, ""))
    return best[1] if best[0] >= _SAME_CLAIM else None
