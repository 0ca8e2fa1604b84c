"""From drafts to checked claims: which are kept, their ids, and which contradict each other.

A claim's id is its place in the draft of its section, so that a dropped claim shifts no other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from rapidfuzz import fuzz

from activities.drafts import SectionDraft
from activities.publication import PlannedSection
from activities.report.formats.text import clean
from activities.report.schema import DroppedClaim
from activities.text.entities import of_kind
from activities.text.tokens import fold
from activities.types import Claim, Statement
from activities.verification.quote_check import Checked, QuoteChecker, normalise

_NUMERIC_MARK = re.compile(r"\s*\[\s*\^?\d{1,3}(?:\s*[-\u2010-\u2015,;]\s*\d{1,3})*\s*\]")
_NAMED_MARK = re.compile(
    r"\s*(?:\[(?:pmid|pmcid|doi|nct|arxiv|openalex|s2|fda|url|doc|evidence|ref|source)\b[^\]]*\]"
    r"|\((?:pmid|pmcid|doi|nct|arxiv|openalex|s2|url|doc)\s*:[^)]*\)|\[\w+c\d+\]|[\[(]E\d{1,3}\b[^\])]{0,40}[\])])",
    re.IGNORECASE,
)
_PART = re.compile(r"^[A-Z][A-Z /&]{3,40}:\s+(?=\w)")
"""The label of a structured abstract that a writer copied with its sentence."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_INTERVAL = re.compile(r"\b(?:CI|CrI|IQR|intervals?|range)\W*$", re.IGNORECASE)
_SAME_CLAIM = 90.0
"""Percent of likeness at which a contradiction given in words names a claim. A wrong match costs no more than
a cross-reference, and writers paraphrase claims loosely."""


def claim_id(section_id: str, position: int) -> str:
    """The id of the claim at a place of a section's draft, counted from 1."""
    return f"{section_id}c{position}"


def draft_claims(section_id: str, draft: SectionDraft) -> tuple[Claim, ...]:
    """The claims of a draft under the ids they will have in the report, for the writers of later sections."""
    return tuple(
        Claim(
            id=claim_id(section_id, position),
            text=d.text,
            support=d.support,
            contradicts=d.contradicts,
            added_by_code=d.added_by_code,
        )
        for position, d in enumerate((d for p in draft.paragraphs for d in p.claims), start=1)
    )


_BEFORE = re.compile(r"^(?:[,;:!?\s]|\.(?!\d))+(?=\w)")
"""What is left of the sentence before one that was cut."""


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

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for paragraph in self.paragraphs for claim in paragraph)

    @property
    def status(self) -> Literal["complete", "partial", "failed", "cancelled"]:
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
        if any(paragraph.claims for paragraph in self.planned.draft.paragraphs):
            return Statement(code="section_claims_refused")
        if (self.planned.draft.unused or {}).get("repeats"):
            return Statement(code="section_said_elsewhere")
        return Statement(code="section_without_claims")


@dataclass(slots=True)
class CheckedDrafts:
    """All sections of a report with the results of their claims."""

    sections: list[CheckedSection] = field(default_factory=list)
    checked: list[Checked] = field(default_factory=list)
    dropped: list[DroppedClaim] = field(default_factory=list)

    @property
    def claims(self) -> list[Claim]:
        return [claim for section in self.sections for claim in section.claims]

    @property
    def kept(self) -> list[Checked]:
        return [item for item in self.checked if item.kept]

    def of_question(self, question: str) -> list[Claim] | None:
        """The claims of the section that is asked the question itself, beside others; None without one."""
        itself = fold(question).split()
        asked = [s for s in self.sections if fold(s.planned.section.key_question).split() == itself]
        if len(self.sections) == 1 or not asked:
            return None
        return [claim for section in asked for claim in section.claims]


def check_drafts(sections: Sequence[PlannedSection], checker: QuoteChecker) -> CheckedDrafts:
    """Check every claim of every draft, give the ids, and resolve what contradicts what."""
    done = CheckedDrafts()
    seen: dict[str, str] = {}
    used: set[str] = set()
    for index, planned in enumerate(sections, start=1):
        section_id = planned.section.id or f"s{index}"
        while section_id in used:
            section_id += "x"
        used.add(section_id)
        paragraphs = _paragraphs(planned, section_id, checker, done, seen)
        title = clean(planned.section.title) or clean(planned.draft.title)
        title = title or clean(planned.section.key_question) or f"Section {index}"
        done.sections.append(CheckedSection(planned, section_id, title, paragraphs))
    done.sections = _with_contradictions(done.sections)
    return done


def _paragraphs(
    planned: PlannedSection,
    section_id: str,
    checker: QuoteChecker,
    done: CheckedDrafts,
    seen: dict[str, str],
) -> tuple[tuple[Claim, ...], ...]:
    position = 0
    paragraphs: list[tuple[Claim, ...]] = []
    for paragraph in planned.draft.paragraphs:
        claims: list[Claim] = []
        for draft in paragraph.claims:
            position += 1
            text = plain_claim(draft.text)
            key = normalise(text).casefold()
            if known := seen.get(key):
                repeats = Statement(code="repeats_claim", values={"claim": known})
                done.dropped.append(
                    DroppedClaim(text=text, reason=f"it repeats claim {known}", reasons=(repeats,))
                )
                continue
            result = checker.check(draft.model_copy(update={"text": text}))
            done.checked.append(result)
            if not result.kept:
                done.dropped.append(DroppedClaim(text=text, reason=result.reason, reasons=result.reasons))
                continue
            seen[key] = claim_id(section_id, position)
            claims.append(
                Claim(
                    id=seen[key],
                    text=text,
                    support=result.support,
                    contradicts=draft.contradicts,
                    added_by_code=draft.added_by_code,
                )
            )
        if claims:
            paragraphs.append(tuple(claims))
    return tuple(paragraphs)


def _with_contradictions(sections: Sequence[CheckedSection]) -> list[CheckedSection]:
    """Contradictions as claim ids, on both sides; those to dropped claims are removed."""
    claims = [claim for section in sections for claim in section.claims]
    by_id = {claim.id: claim for claim in claims}
    pairs: dict[str, set[str]] = {claim.id: set() for claim in claims}
    for claim in claims:
        for named in claim.contradicts:
            other = _named_claim(named, claim, claims)
            if other and _may_disagree(claim, by_id[other]):
                pairs[claim.id].add(other)
                pairs[other].add(claim.id)
    place = {claim.id: number for number, claim in enumerate(claims)}

    def resolved(claim: Claim) -> Claim:
        return claim.model_copy(update={"contradicts": tuple(sorted(pairs[claim.id], key=place.__getitem__))})

    return [
        CheckedSection(
            section.planned,
            section.section_id,
            section.title,
            tuple(tuple(resolved(claim) for claim in paragraph) for paragraph in section.paragraphs),
        )
        for section in sections
    ]


def _may_disagree(one: Claim, other: Claim) -> bool:
    """Whether two claims rest on different works, have a word in common and do not name different drugs: a
    writer may call claims contradictory that are not."""
    drugs = [{entity.id for entity in of_kind(claim.text, ["drug"])} for claim in (one, other)]
    if drugs[0] and drugs[1] and not drugs[0] & drugs[1]:
        return False
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
