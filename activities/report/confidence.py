"""How sure a report is of its answer, and why: what the judging step gave, and what the kept claims show."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from activities.publication import PublishInput
from activities.text import thesaurus
from activities.text.answer_confidence import (
    WEAK_CLAIMS,
    confidence_in,
    most_allowed_by,
    reasons,
    why_limited,
    within,
)
from activities.text.entities import Kind, of_kind
from activities.text.evidence_strength import MOST_SURE
from activities.text.facets import framed
from activities.text.question import asked
from activities.text.ranking import Item, rank, relevant
from activities.types import Claim, Evidence, Statement

UNNAMED = 0.3
"""Confidence at most in an answer that does not name what is asked for, or to another question."""
_SUBSTANCES = frozenset({"06", "27"})
"""WordNet's files of artefacts (`drug`, `medication`) and substances; a treatment is an act."""
_NAMES: tuple[Kind, ...] = ("drug", "drug_class", "chemical", "protein")
_OWN_REASONS = frozenset(
    {
        "confidence_unnamed",
        "confidence_indirect",
        "confidence_not_computed",
        "confidence_strength",
        "confidence_one_study",
        "confidence_contradictions",
        "confidence_few_claims_stand",
        "confidence_stopped",
    }
)
"""Reasons that are found here, from the claims that are kept."""


class Judged(NamedTuple):
    """A confidence and what it was computed from."""

    confidence: float
    reasons: tuple[Statement, ...]


def asked_and_not_named(question: str, claims: Sequence[Claim], *, candidates: bool = False) -> str:
    """What a question asks for in its own words (`approved drugs`), where it asks for drugs and has claims
    whose quotes name no substance; empty otherwise. `candidates`: drugs against a disease were looked for and
    none was found, so that a substance that a quote mentions is none."""
    want = asked(question)
    files = thesaurus.files(want.focus.rpartition(" ")[2])
    if not claims or "drug" not in want.things or _SUBSTANCES.isdisjoint(files):
        return ""
    if candidates:
        return want.focus
    quotes = (support.quote for claim in claims for support in claim.support)
    return "" if any(of_kind(quote, _NAMES) for quote in quotes) else want.focus


def short_of(
    question: str, direct: Sequence[Claim] | None, claims: Sequence[Claim], *, named: bool, candidates: bool
) -> Statement | None:
    """What the claims leave open of the question: a name of what it asks for, or an answer at all. `direct`:
    those of the section that is asked the question itself; None where the sections divide it between them.
    `named`: whether an answer is named already. `candidates`: see `asked_and_not_named`."""
    if direct is not None and claims and not direct:
        return Statement(code="confidence_indirect")
    unnamed = "" if named else asked_and_not_named(question, direct or claims, candidates=candidates)
    return Statement(code="confidence_unnamed", values={"asked": unnamed}) if unnamed else None


def confidence(judged: float, kept: int, refused: int, short: Statement | None) -> float:
    """The judge's confidence, 0 where there is no answer; it falls with the share of claims that are kept
    once that is under half, since the evidence does not say what was made of it, and is low where the claims
    are `short` of the question. Rounded, so that it does not depend on the order in which sections end."""
    share = kept / (kept + refused) if kept else 0.0
    return round(min(judged * min(1.0, 2 * share), UNNAMED if short else 1.0), 4)


def most_allowed(claims: Sequence[Claim], documents: Mapping[str, Evidence]) -> float:
    """The highest confidence that what the kept claims quote allows, whichever mode and judge found it."""
    if not claims:
        return MOST_SURE
    weak = all(claim.strength == "weak" for claim in claims)
    return min(WEAK_CLAIMS if weak else MOST_SURE, most_allowed_by(_quoted(claims, documents)))


def limited_to(judged: Judged, most: float) -> float:
    """The judging step's confidence, limited to what the claims allow (`most_allowed`)."""
    limits = [reason.number("percent") for reason in judged.reasons if reason.code == "confidence_limited"]
    return within(judged.confidence, min(limits, default=100) / 100, most)


def _quoted(claims: Sequence[Claim], documents: Mapping[str, Evidence]) -> list[Evidence]:
    names = dict.fromkeys(support.evidence_id for claim in claims for support in claim.support)
    return [documents[name] for name in names if name in documents]


def is_unjudged(step: PublishInput) -> bool:
    """Whether no step has judged the evidence: a judgement has reasons, also one of 0; that of a run with
    several sections is each section's own, and lost where the run says that no judge was available."""
    if step.confidence or step.confidence_reasons:
        return False
    return len(step.sections) == 1 or step.stop_reason == "judge_unavailable"


def of_sections(step: PublishInput, documents: Sequence[Evidence], filled: int, *, divided: bool) -> Judged:
    """How sure the cited works of all sections together make of the answer, which no step has judged; at most
    what the surest section gives where a model judged. `filled`: sections that have claims. `divided`: the
    sections divide the question between them, and none is asked the question itself."""
    texts = [step.question]
    for planned in step.sections if divided else ():
        frame = framed(planned.section.key_question)
        texts.append(frame[1] if frame else planned.section.key_question)
    best: dict[str, Item] = {}
    for text in dict.fromkeys(texts):
        for item in relevant(rank(text, documents)):
            name = item.document.evidence_id
            if name not in best or item.direct > best[name].direct:
                best[name] = item
    items = sorted(best.values(), key=lambda item: (-item.direct, item.document.evidence_id))
    share = filled / len(step.sections) if divided else 1.0
    value = confidence_in(step.question, step.question, items, share)
    if set(step.models) != {"extractive"}:
        value = min(value, step.confidence)
    why = list(reasons(items, 1.0))
    if items and share < 1:
        values = {"filled": filled, "sections": len(step.sections)}
        why.append(Statement(code="confidence_sections", values=values))
    return Judged(value, tuple(why))


def confidence_reasons(
    step: PublishInput,
    judged: Sequence[Statement],
    claims: Sequence[Claim],
    kept: int,
    refused: int,
    short: Statement | None,
    most: float,
) -> tuple[Statement, ...]:
    """What the judging step gave, and what this step has found itself. `most`: what the claims allow
    (`most_allowed`)."""
    if not claims:
        return ()
    unjudged = is_unjudged(step)
    found = [] if unjudged else _with_limit(judged, most)
    if unjudged:
        found.append(Statement(code="confidence_not_computed", values={"stop_reason": step.stop_reason}))
    if short:
        found.insert(0, short)
    strengths = {claim.strength for claim in claims}
    best = next(grade for grade in ("strong", "moderate", "weak") if grade in strengths)
    standing = sum(claim.strength == best for claim in claims)
    alone = sum(claim.independent_works <= 1 for claim in claims)
    each_alone = standing == alone == len(claims)
    strength = {"strength": best, "claims": standing, "of": len(claims), "alone": int(each_alone)}
    found.append(Statement(code="confidence_strength", values=strength))
    if alone and not each_alone:
        found.append(Statement(code="confidence_one_study", values={"claims": alone, "of": len(claims)}))
    disputed = sum(bool(claim.contradicts) for claim in claims)
    if disputed:
        found.append(Statement(code="confidence_contradictions", values={"claims": disputed}))
    if kept < refused:
        found.append(
            Statement(code="confidence_few_claims_stand", values={"verified": kept, "claims": kept + refused})
        )
    if not unjudged and step.stop_reason not in ("sufficient_evidence", "no_new_evidence"):
        found.append(Statement(code="confidence_stopped", values={"stop_reason": step.stop_reason}))
    return tuple(found)


def _with_limit(judged: Sequence[Statement], most: float) -> list[Statement]:
    """The judging step's reasons, with the limit that the claims set where it is the lower one. That a single
    work helps is not said beside a limit that says so."""
    found = [reason for reason in judged if reason.code not in _OWN_REASONS]
    limited = why_limited(most)
    if limited is not None:
        before = [r for r in found if r.code == "confidence_limited" and r.number("percent") <= 100 * most]
        if not before:
            found = [*(r for r in found if r.code != "confidence_limited"), limited]
    said = {str(r.values.get("why")) for r in found if r.code == "confidence_limited"}
    if said & {"single", "small"}:
        found = [r for r in found if r.code != "confidence_works" or r.number("works") > 1]
    return found
