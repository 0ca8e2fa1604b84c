"""From drafts to the claims of a report: what of each draft is printed, once its quotes were looked for.

Invariants:

- Whether words of a model stand was decided before (`activities.verification.gate`); here only quotes and
  standings decide. A sentence falls with any of its quotes; what is left of these is printed in its place.
- A sentence keeps the id that it was written under.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from activities.contracts.evidence import Claim, Evidence, Statement, Support
from activities.contracts.publish import PlannedSection
from activities.contracts.write import (
    DraftClaim,
    Passage,
    Refused,
    RefusedKind,
    SectionDraft,
    SentenceKind,
    named,
)
from activities.report.formats.statements import sentence
from activities.report.formats.text import clean
from activities.report.schema import Dropped, SectionStatus
from activities.text.normal_form import normalise
from activities.verification.quote_check import QuoteChecker
from activities.verification.verdicts import printed

_NUMERIC_MARK = re.compile(r"(?:(?<!\s)\s+)?\[\s*\^?\d{1,3}(?:\s*[-\u2010-\u2015,;]\s*\d{1,3})*\s*\]")
_NAMED_MARK = re.compile(
    r"(?:(?<!\s)\s+)?(?:\[(?:pmid|pmcid|doi|nct|arxiv|openalex|s2|fda|url|doc|evidence|ref|source)\b[^\]]{0,300}\]"
    r"|\((?:pmid|pmcid|doi|nct|arxiv|openalex|s2|url|doc)\s*:[^)]{0,300}\)|\[s\d+\.[ar]?\d+\]|[\[(]E\d{1,3}\b[^\])]{0,40}[\])])",
    re.IGNORECASE,
)
_PART = re.compile(r"^[A-Z][A-Z /&]{3,40}:\s+(?=\w)")
"""The label of a structured abstract that a writer copied with its sentence."""
_INTERVAL = re.compile(r"\b(?:CI|CrI|IQR|intervals?|range)\W*$", re.IGNORECASE)
_BEFORE = re.compile(r"^(?:[,;:!?\s]|\.(?!\d))+(?=\w)")
"""What is left of the sentence before one that was cut."""
CLAIM_KINDS: frozenset[RefusedKind] = frozenset({"claim", "wording"})
"""Kinds of what is refused of a draft's own sentences."""
WITHOUT_QUOTES: frozenset[SentenceKind] = frozenset({"missing", "reservation"})


def draft_claims(draft: SectionDraft) -> tuple[tuple[Claim, ...], tuple[Claim, ...]]:
    """The answer and the claims of a draft as a report has them now, for the editor."""
    shown = printed(draft)
    rest = (one for paragraph in shown.paragraphs for one in paragraph.claims)
    return tuple(map(as_claim, shown.answer)), tuple(map(as_claim, rest))


def as_claim(draft: DraftClaim) -> Claim:
    """A sentence that stands, as a report has it."""
    text = plain_claim(draft.text)
    return Claim(
        id=draft.id,
        text=text,
        support=draft.support,
        quoted=any(normalise(text) == normalise(support.quote) for support in draft.support),
        kind=draft.kind if draft.kind != "transition" else "finding",
        stands_by=draft.stands_by,
        computed=draft.computed,
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
    reservations: tuple[Claim, ...] = ()
    drafted: int = 0
    """Sentences that were written."""
    lost: int = 0
    """Those of them that do not stand, also where a quote is printed in their place."""

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
            return Statement.of("section_not_researched", note=clean(self.planned.note))
        if self.drafted > self.lost:
            return Statement.of("section_stands_elsewhere")
        if self.lost:
            return Statement.of("section_claims_refused")
        return Statement.of("section_without_claims")


@dataclass(slots=True)
class CheckedDrafts:
    """All sections of a report with the results of their claims."""

    sections: list[CheckedSection] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    retracted: dict[str, None] = field(default_factory=dict)
    """Ids of retracted works that were cited, in order."""
    repaired: int = 0
    """Sentences that stand in a second wording."""
    replaced: int = 0
    """Quotes that are printed in the place of refused sentences."""
    quotes_refused: int = 0
    """Quotes that no longer stand beside others that do."""
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
        self.dropped.append(dropped(text, reasons, kind, section, ids))


def reasons_text(reasons: Iterable[Statement]) -> str:
    """Reasons in words, as the end of a sentence."""
    return "; ".join(dict.fromkeys(map(sentence, reasons)))


def dropped(
    text: str, reasons: Sequence[Statement], kind: RefusedKind, section: str, ids: Iterable[str]
) -> Dropped:
    """What was refused, as the report lists it."""
    return Dropped(
        text=text,
        reason=reasons_text(reasons),
        kind=kind,
        section=section,
        evidence_ids=tuple(dict.fromkeys(ids)),
        statement=reasons[0],
    )


def of_role(refused: Refused, section: str = "") -> Dropped:
    """What a role's own check refused, as the report lists it."""
    return dropped(clean(refused.text), [refused.reason], refused.kind, section, refused.evidence_ids)


def check_drafts(
    planned: Sequence[PlannedSection], checker: QuoteChecker, documents: Mapping[str, Evidence]
) -> CheckedDrafts:
    """Look for every quote of every draft, and print what stands."""
    done = CheckedDrafts()
    sections = _Drafts(checker, documents, done)
    for index, one in enumerate(planned, start=1):
        done.sections.append(sections.section(one, one.section.id or f"s{index}", index))
    return done


class _Drafts:
    """The sections of one report; a claim that another section has made already is left out."""

    def __init__(self, checker: QuoteChecker, documents: Mapping[str, Evidence], done: CheckedDrafts) -> None:
        self.checker = checker
        self.documents = documents
        self.done = done
        self.seen: dict[str, str] = {}

    def section(self, planned: PlannedSection, section_id: str, index: int) -> CheckedSection:
        title = clean(planned.section.title) or clean(planned.draft.title)
        title = title or clean(planned.section.key_question) or f"Section {index}"
        draft = named(section_id, planned.draft).changed(lambda one: (self.with_quotes(one),))
        shown = printed(draft)
        start = len(self.done.dropped)
        self.done.dropped += [of_role(refused, section_id) for refused in shown.refused]
        passages = tuple(filter(None, (self.passage(p, section_id) for p in draft.passages)))
        paragraphs = self.quotes(passages, section_id) or self.paragraphs(shown, section_id)
        related = tuple(filter(None, (self.passage(p, section_id) for p in draft.related)))
        lost = [item for item in self.done.dropped[start:] if item.statement.code != "repeats_claim"]
        self.done.repaired += sum(one.reworded and one.state == "stands" for one in shown.claims)
        written = {one.id: one.text for one in draft.claims}
        self.done.replaced += sum(written.get(one.id) != one.text for one in shown.claims)
        return CheckedSection(
            planned,
            section_id,
            title,
            paragraphs,
            tuple(map(as_claim, shown.answer)),
            passages,
            related,
            tuple(map(as_claim, shown.reservations)),
            drafted=sum(one.kind == "claim" for one in planned.draft.refused) + len(draft.claims),
            lost=sum(item.kind in CLAIM_KINDS for item in lost),
        )

    def with_quotes(self, draft: DraftClaim) -> DraftClaim:
        """A sentence with those of its quotes that stand; without one of them it falls."""
        checked = self.checker.supports(draft.support)
        self.done.retracted |= dict.fromkeys(checked.retracted)
        reasons = checked.refused
        if not draft.support and draft.kind not in WITHOUT_QUOTES:
            reasons = (Statement.of("cites_nothing"),)
        if not plain_claim(draft.text):
            reasons = (Statement.of("claim_empty"),)
        if draft.state != "stands" or not reasons:
            return draft.replace(support=checked.support)
        self.done.quotes_refused += len(checked.refused) if checked.support else 0
        return draft.replace(support=checked.support, state="refused", problem=reasons[0])

    def paragraphs(self, draft: SectionDraft, section_id: str) -> tuple[tuple[Claim, ...], ...]:
        paragraphs: list[tuple[Claim, ...]] = []
        for paragraph in draft.paragraphs:
            claims: list[Claim] = []
            for claim in map(as_claim, paragraph.claims):
                key = normalise(claim.text).casefold()
                if known := self.seen.get(key):
                    self.done.repeats[claim.id] = known
                    repeats = Statement.of("repeats_claim", claim=known)
                    ids = (support.evidence_id for support in claim.support)
                    self.done.drop(claim.text, [repeats], "claim", section_id, ids)
                else:
                    self.seen[key] = claim.id
                    claims.append(claim)
            if claims:
                paragraphs.append(tuple(claims))
        return tuple(paragraphs)

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
        return passage.replace(quotes=tuple(s.quote for s in checked.support), **around)

    def quotes(self, passages: Iterable[Passage], section_id: str) -> tuple[tuple[Claim, ...], ...]:
        """Each passage as a paragraph of claims whose text is their quote."""
        places = count(1)

        def claim(passage: Passage, quote: str) -> Claim:
            support = Support(evidence_id=passage.evidence_id, quote=quote)
            name = f"{section_id}.{next(places)}"
            return Claim(id=name, text=clean(quote), support=(support,), quoted=True)

        return tuple(tuple(claim(one, quote) for quote in one.quotes) for one in passages)


def with_contradictions(
    sections: Sequence[CheckedSection], pairs: Iterable[tuple[str, str]]
) -> list[CheckedSection]:
    """The sections with the pairs of sentences that the editor called contradictory, on both sides, as far as
    both stand."""
    every = (claim for section in sections for claim in (*section.answer, *section.claims))
    place = {claim.id: number for number, claim in enumerate(every)}
    others: dict[str, set[str]] = {}
    for one, other in pairs:
        if one in place and other in place:
            others.setdefault(one, set()).add(other)
            others.setdefault(other, set()).add(one)

    def resolved(claims: Iterable[Claim]) -> tuple[Claim, ...]:
        return tuple(
            claim.replace(contradicts=tuple(sorted(others.get(claim.id, ()), key=place.__getitem__)))
            for claim in claims
        )

    return [
        replace(section, answer=resolved(section.answer), paragraphs=tuple(map(resolved, section.paragraphs)))
        for section in sections
    ]
