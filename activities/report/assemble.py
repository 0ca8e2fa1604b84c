"""Assembling the report: pure code over what was written and what is stored.

Models write claims; everything else is decided here: which claims stand
(`activities.verification.quote_check`), what they are called, how references are numbered, what comes first
in the summary, and which limitations the report states.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from activities.report.formats.text import citation, cited, clean, escape_markdown
from activities.report.limitations import limitations, why_unanswered
from activities.report.schema import (
    DroppedClaim,
    Methodology,
    Reference,
    Report,
    ReportSection,
    Verification,
)
from activities.report.summary import quality, summary_claims
from activities.steps import PlannedSection, PublishInput, SectionDraft
from activities.types import Candidate, Claim, Evidence, Support
from activities.verification.quote_check import Checked, QuoteChecker, normalise

_NUMERIC_MARK = re.compile(r"\s*\[\s*\^?\d{1,3}(?:\s*[-\u2010-\u2015,;]\s*\d{1,3})*\s*\]")
_NAMED_MARK = re.compile(
    r"\s*(?:\[(?:pmid|pmcid|doi|nct|arxiv|openalex|s2|fda|url|doc|evidence|ref|source)\b[^\]]*\]"
    r"|\((?:pmid|pmcid|doi|nct|arxiv|openalex|s2|url|doc)\s*:[^)]*\)|\[\w+c\d+\]|[\[(]E\d{1,3}\b[^\])]{0,40}[\])])",
    re.IGNORECASE,
)
_PART = re.compile(r"^[A-Z][A-Z /&]{3,40}:\s+(?=\w)")
"""The label of a structured abstract that a writer took over with its sentence."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_INTERVAL = re.compile(r"\b(?:CI|CrI|IQR|intervals?|range)\W*$", re.IGNORECASE)
_NO_CANDIDATE = "No candidate drug is named: no quote that was found speaks for one."
_SAME_CLAIM = 90.0
"""Percent of likeness at which a contradiction given in words names a claim; there is no risk in being
wrong here beyond a cross-reference, and writers retell claims loosely."""


def claim_id(section_id: str, position: int) -> str:
    """The id of the claim at a place of a section's draft, counted from 1. A claim that is dropped keeps its
    number, so that ids never shift."""
    return f"{section_id}c{position}"


def draft_claims(section_id: str, draft: SectionDraft) -> tuple[Claim, ...]:
    """The claims of a draft under the ids they will have in the report, for the writers of later sections."""
    return tuple(
        Claim(id=claim_id(section_id, position), text=d.text, support=d.support, contradicts=d.contradicts)
        for position, d in enumerate((d for p in draft.paragraphs for d in p.claims), start=1)
    )


def plain_claim(text: str) -> str:
    """A claim's text on one line without the citation marks a writer put in: numbering is ours. Years in
    brackets and intervals (`95% CI [2, 14]`) stay."""

    def mark(match: re.Match[str]) -> str:
        return match.group() if _INTERVAL.search(text[: match.start()]) else ""

    text = clean(text)
    text = _PART.sub("", _NAMED_MARK.sub("", text))
    return _NUMERIC_MARK.sub(mark, text).strip()


@dataclass(frozen=True, slots=True)
class _Paragraphs:
    """A section whose claims were checked."""

    planned: PlannedSection
    section_id: str
    title: str
    paragraphs: tuple[tuple[Claim, ...], ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for paragraph in self.paragraphs for claim in paragraph)


def build_report(step: PublishInput, documents: Mapping[str, Evidence], notes: Sequence[str] = ()) -> Report:
    """Check, number and render. `documents` are the cited items by evidence id, with the standing they have
    now; `notes` are further limitations. Whatever a model wrote, a report comes out."""
    checker = QuoteChecker(documents)
    checked: list[Checked] = []
    dropped: list[DroppedClaim] = []
    sections = _sections(step, checker, checked, dropped)
    sections = _with_contradictions(sections)
    claims = [claim for section in sections for claim in section.claims]
    candidates, candidates_dropped, candidates_checked = _candidates(step.candidates, checker, documents)

    summary = summary_claims(step.question, claims, documents)
    numbers = _number([*summary, *claims], candidates)
    references = _references(numbers, documents)
    kept = [item for item in checked if item.kept]
    by_id = {claim.id: claim for claim in claims}
    if step.profile == "drug_repurposing" and kept and not candidates:
        notes = [*notes, _NO_CANDIDATE]
    return Report(
        run_id=step.run_id,
        question=step.question,
        mode=step.mode,
        profile=step.profile,
        title=clean(step.title) or clean(step.question)[:200] or "Research report",
        executive_summary=_summary(step, summary, numbers, dropped),
        sections=tuple(
            ReportSection(
                id=section.section_id,
                title=section.title,
                key_question=clean(section.planned.section.key_question),
                markdown=_section_markdown(section, numbers, by_id),
                status=section.planned.status,
                claims=section.claims,
            )
            for section in sections
        ),
        candidates=candidates,
        references=references,
        methodology=_methodology(step, len(references)),
        verification=Verification(
            claims=len(kept) + len(dropped),
            verified=len(kept),
            repaired=sum(item.repaired for item in kept),
            dropped=tuple(dropped),
        ),
        limitations=limitations(
            step,
            references=references,
            dropped=dropped,
            verified=len(kept),
            quotes_refused=sum(len(item.refused) for item in kept),
            retracted=_retracted([*checked, *candidates_checked], documents),
            candidates_dropped=candidates_dropped,
            notes=notes,
        ),
        confidence=_confidence(step.confidence, len(kept), [d for d in checked if not d.kept]),
        stop_reason=step.stop_reason,
        generated_at=step.generated_at,
    )


def _sections(
    step: PublishInput, checker: QuoteChecker, checked: list[Checked], dropped: list[DroppedClaim]
) -> list[_Paragraphs]:
    sections: list[_Paragraphs] = []
    seen: dict[str, str] = {}
    used: set[str] = set()
    for index, planned in enumerate(step.sections, start=1):
        section_id = planned.section.id or f"s{index}"
        while section_id in used:
            section_id += "x"
        used.add(section_id)
        position = 0
        paragraphs: list[tuple[Claim, ...]] = []
        for paragraph in planned.draft.paragraphs:
            claims: list[Claim] = []
            for draft in paragraph.claims:
                position += 1
                text = plain_claim(draft.text)
                known = seen.get(normalise(text).casefold())
                if known:
                    dropped.append(DroppedClaim(text=text, reason=f"it repeats claim {known}"))
                    continue
                result = checker.check(draft.model_copy(update={"text": text}))
                checked.append(result)
                if result.kept:
                    identity = claim_id(section_id, position)
                    seen[normalise(text).casefold()] = identity
                    claims.append(
                        Claim(id=identity, text=text, support=result.support, contradicts=draft.contradicts)
                    )
                else:
                    dropped.append(DroppedClaim(text=text, reason=result.reason))
            if claims:
                paragraphs.append(tuple(claims))
        title = clean(planned.section.title) or clean(planned.draft.title)
        title = title or clean(planned.section.key_question) or f"Section {index}"
        sections.append(_Paragraphs(planned, section_id, title, tuple(paragraphs)))
    return sections


def _with_contradictions(sections: Sequence[_Paragraphs]) -> list[_Paragraphs]:
    """Contradictions as claim ids, told on both sides; those to claims that did not stand are gone."""
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
        _Paragraphs(
            section.planned,
            section.section_id,
            section.title,
            tuple(tuple(resolved(claim) for claim in paragraph) for paragraph in section.paragraphs),
        )
        for section in sections
    ]


def _may_disagree(one: Claim, other: Claim) -> bool:
    """Whether two claims rest on different works and have a word in common: what a writer calls a dispute may
    be none."""
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


def _candidates(
    candidates: Iterable[Candidate], checker: QuoteChecker, documents: Mapping[str, Evidence]
) -> tuple[tuple[Candidate, ...], list[DroppedClaim], list[Checked]]:
    """The candidates that a verified quote from an item naming them supports."""
    kept: list[Candidate] = []
    dropped: list[DroppedClaim] = []
    checked: list[Checked] = []
    for candidate in candidates:
        result = checker.supports(candidate.support)
        checked.append(result)
        names = [normalise(n).casefold() for n in (candidate.name, candidate.generic_name) if clean(n)]
        support = tuple(s for s in result.support if _names_any(documents[s.evidence_id], names))
        name = clean(candidate.name) or clean(candidate.generic_name)
        if support and name:
            grade = quality(documents[s.evidence_id] for s in support)
            kept.append(
                candidate.model_copy(update={"name": name, "support": support, "evidence_quality": grade})
            )
            continue
        reasons = list(dict.fromkeys(result.refused))
        if result.support:
            reasons.append("the items it cites never name it")
        dropped.append(
            DroppedClaim(text=name or "without a name", reason="; ".join(reasons) or "it cites nothing")
        )
    return tuple(kept), dropped, checked


def _names_any(document: Evidence, names: Sequence[str]) -> bool:
    text = normalise(f"{document.title} {document.text}").casefold()
    return any(re.search(rf"(?<!\w){re.escape(name)}", text) for name in names)


def _number(claims: Iterable[Claim], candidates: Iterable[Candidate]) -> dict[str, int]:
    """Evidence id -> number, by first appearance over the whole report."""
    numbers: dict[str, int] = {}
    supports: list[tuple[Support, ...]] = [item.support for item in claims]
    supports += [candidate.support for candidate in candidates]
    for support in supports:
        for item in support:
            numbers.setdefault(item.evidence_id, len(numbers) + 1)
    return numbers


def _references(numbers: Mapping[str, int], documents: Mapping[str, Evidence]) -> tuple[Reference, ...]:
    return tuple(
        Reference(
            number=number,
            evidence_id=evidence_id,
            source=item.source,
            title=clean(item.title) or evidence_id,
            authors=tuple(clean(a) for a in item.authors if clean(a)),
            year=item.year,
            venue=clean(item.venue) or None if item.venue else None,
            identifiers=item.identifiers,
            url=item.url,
            evidence_type=item.evidence_type,
            standing=item.standing,
            full_text=item.full_text,
        )
        for evidence_id, number in numbers.items()
        for item in (documents[evidence_id],)
    )


def _summary(
    step: PublishInput, claims: Sequence[Claim], numbers: Mapping[str, int], dropped: Sequence[DroppedClaim]
) -> str:
    """Markdown: one point a claim, or why there is none."""
    if not claims:
        return (
            f"No claim could be supported, so the question is not answered: {why_unanswered(step, dropped)}."
        )
    return "\n".join(f"- {_sentence(claim, numbers)}" for claim in claims)


def _sentence(claim: Claim, numbers: Mapping[str, int]) -> str:
    return cited(escape_markdown(claim.text), citation(claim.support, numbers))


def _section_markdown(section: _Paragraphs, numbers: Mapping[str, int], by_id: Mapping[str, Claim]) -> str:
    blocks = [" ".join(_sentence(c, numbers) for c in paragraph) for paragraph in section.paragraphs]
    disputes = [
        f"- {_sentence(claim, numbers)} **On the other hand:** {_sentence(by_id[other], numbers)}"
        for claim in section.claims
        for other in claim.contradicts
        if _told_here(claim.id, other, section)
    ]
    if disputes:
        blocks.append("**The sources disagree:**\n\n" + "\n".join(disputes))
    if not blocks:
        blocks.append(_empty(section.planned))
    return "\n\n".join(blocks)


def _empty(planned: PlannedSection) -> str:
    """Why a section has no claim. The note of one that was researched only names how its search ended."""
    note = clean(planned.note).rstrip(".")
    if planned.status in ("failed", "cancelled"):
        return f"No claim is made here{f': {escape_markdown(note)}' if note else ''}."
    if any(paragraph.claims for paragraph in planned.draft.paragraphs):
        return "No claim written for this section passed the checks."
    return "No claim is made here: nothing that was found bears on it."


def _told_here(claim: str, other: str, section: _Paragraphs) -> bool:
    """A pair within one section is told once; a pair across sections in both."""
    ids = [c.id for c in section.claims if c.id in (claim, other)]
    return ids[0] == claim


def _confidence(judged: float, kept: int, refused: Sequence[Checked]) -> float:
    """The judge's confidence, 0 where there is no answer; it falls with the share of claims that stand once
    that is under half, since the evidence does not say what was made of it."""
    share = kept / (kept + len(refused)) if kept else 0.0
    return judged * min(1.0, 2 * share)


def _methodology(step: PublishInput, included: int) -> Methodology:
    cost = step.usage.cost_microusd
    return Methodology(
        searches=step.searches,
        counts=step.counts.model_copy(update={"included": included}),
        iterations=step.iterations,
        tokens=step.usage.tokens,
        model_calls=step.usage.calls,
        cost_usd=None if cost is None else cost / 1_000_000,
        models=step.models,
        # steps that run at once end in any order; two runs that did the same must say the same
        prompt_versions=tuple(sorted(step.prompt_versions)),
        plan_hash=step.plan_hash,
        approvals=step.approvals,
    )


def _retracted(checked: Iterable[Checked], documents: Mapping[str, Evidence]) -> list[Evidence]:
    ids = dict.fromkeys(identity for item in checked for identity in item.retracted)
    return [documents[identity] for identity in ids]
