"""The sentences and table rows in which a report describes itself, as plain text."""

import calendar
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from activities.publication import Decision
from activities.report.formats.grammar import counted, listed
from activities.report.formats.model import WorkView
from activities.report.formats.names import STOPPED
from activities.report.formats.statements import sentence, sentences
from activities.report.formats.text import clean
from activities.report.schema import (
    CertaintyReason,
    DroppedClaim,
    Methodology,
    QuestionParts,
    Report,
    ReportSection,
)
from activities.text.evidence_strength import MOST_SURE
from activities.types import ArmResult, ComputedEffect, SearchRecord, Statement, WorkDirection

DIRECTIONS: Mapping[WorkDirection, str] = {
    "affirms": "affirms",
    "denies": "denies",
    "mixed": "affirms and denies",
    "unclear": "leaves open",
}
_CHECKS: tuple[tuple[str, frozenset[str]], ...] = (
    (
        "The quote is word for word in the item it cites",
        frozenset({"quote_not_in_text", "quote_too_short", "cites_unknown_item", "cites_nothing"}),
    ),
    (
        "The quote is a statement, not a title or a citation line",
        frozenset({"quote_is_title", "quote_is_copyright", "quote_is_citation", "quote_is_reference"}),
    ),
    ("Every number of the claim is in its quote", frozenset({"number_missing"})),
    ("The claim keeps the direction and the negation of its quote", frozenset({"meaning_turned"})),
    ("The cited work is not retracted", frozenset({"rests_on_retracted"})),
    ("The claim is not empty and not a repetition", frozenset({"claim_empty", "repeats_claim"})),
)
_UNREACHED = re.compile(r"cannot be reached from here\b")
_ANSWERS = 12
"""Answers that the line of the report names at most."""
_SHARED = 6
"""Words at the end of a claim and of its quote that make them the same sentence."""
_CONNECTIVE = 5
"""Words of the longest beginning that is left out of a quote (`it can be concluded that`)."""
_OTHER_CHECK = "Another reason"


def verified(report: Report) -> str:
    """How many claims passed; empty when nothing was claimed."""
    check = report.verification
    if not check.claims:
        return ""
    if check.claims == 1:
        stands = f"The only claim {'is' if check.verified else 'is not'} supported by a quote"
    elif check.verified == check.claims:
        all_claims = "Both claims" if check.claims == 2 else f"All {check.claims} claims"
        stands = f"{all_claims} are supported by quotes"
    else:
        stands = f"{check.verified} of {check.claims} claims are supported by quotes"
    return f"{stands} found word for word in the cited items."


def heading(section: ReportSection) -> str:
    """A section's title, with its status when it was not researched to its end."""
    status = f" ({section.status})" if section.status in ("failed", "cancelled") else ""
    return clean(section.title) + status


def gaps(report: Report) -> tuple[str, ...]:
    """What the report does not answer: each section without a claim. A report of one section states it in its
    summary."""
    if len(report.sections) < 2:
        return ()
    empty = [section for section in report.sections if not section.claims]
    return tuple(f"{heading(section)}: {_why_empty(section)}" for section in empty)


def _why_empty(section: ReportSection) -> str:
    if section.empty_because is not None:
        return sentence(section.empty_because)
    return re.sub(r"\\([^\w\s])", r"\1", clean(section.markdown)) or "No claim is made here."


def limitations(report: Report) -> tuple[str, ...]:
    """The limitations in words."""
    said_above = "unanswered" if report.unanswered is not None else ""
    shown = [statement for statement in report.statements if statement.code != said_above]
    unreached = [s for s in shown if s.code == "source_not_searched" and _UNREACHED.match(s.text("reason"))]
    if len(unreached) > 1:
        names = tuple(s.text("source") for s in unreached)
        together = Statement(code="sources_not_reached", values={"sources": names})
        shown = [together if s is unreached[0] else s for s in shown if s not in unreached[1:]]
    return sentences(shown) or tuple(clean(text) for text in report.limitations)


def balance(report: Report) -> str:
    """What the quotes name in answer to a question for a fact or a list; else which way the cited works
    point, where the direction of at least one is certain; else empty."""
    if report.answers:
        return _answers(report)
    numbers = {r.evidence_id: r.number for r in report.references}
    sides = {
        way: sorted(
            numbers[w.evidence_id] for w in report.works if w.direction == way and w.evidence_id in numbers
        )
        for way in DIRECTIONS
    }
    if not any(sides[way] for way in ("affirms", "denies", "mixed")):
        return ""
    words: Mapping[WorkDirection, str] = {
        "affirms": "affirmed by",
        "denies": "denied by",
        "mixed": "both affirmed and denied by",
        "unclear": "left open by",
    }
    ways = [f"{words[way]} {listed(f'[{n}]' for n in found)}" for way, found in sides.items() if found]
    alike = _one_study(report, [number for found in sides.values() for number in found])
    return f"What is asked is {'; '.join(ways)}{alike}."


def _one_study(report: Report, counted_works: Sequence[int]) -> str:
    """Which of the works that point one way are reports of one study."""
    studies: dict[int, list[int]] = {}
    for reference in report.references:
        if reference.study and reference.number in counted_works:
            studies.setdefault(reference.study, []).append(reference.number)
    groups = [listed(f"[{n}]" for n in numbers) for numbers in studies.values() if len(numbers) > 1]
    return f" ({'; '.join(f'{group} report one study' for group in groups)})" if groups else ""


def _answers(report: Report) -> str:
    numbers = {r.evidence_id: r.number for r in report.references}
    by_id = {claim.id: claim for section in report.sections for claim in section.claims}
    shown = []
    for answer in report.answers[:_ANSWERS]:
        cited = {
            numbers[support.evidence_id]
            for name in answer.claims
            if name in by_id
            for support in by_id[name].support
            if support.evidence_id in numbers
        }
        shown.append(f"{clean(answer.text)} {' '.join(f'[{n}]' for n in sorted(cited))}".strip())
    return f"Named by the quotes in answer: {'; '.join(shown)}."


def read_as(parts: QuestionParts) -> str:
    """How the question was read; empty where no part of it was."""
    named = (
        ("population or condition", parts.population),
        ("intervention or exposure", parts.intervention),
        ("compared with", parts.comparison),
        ("outcome", parts.outcome),
    )
    said = [f"{name}: {clean(text)}" for name, text in named if clean(text)]
    return f"The question was read as: {'; '.join(said)}." if said else ""


def computed(effect: ComputedEffect) -> str:
    """A computed difference of risks, beside the numbers it was computed from."""
    counts = f"{effect.events}/{effect.total} against {effect.other_events}/{effect.other_total}"
    return f"{counts}: {difference(effect)}"


def difference(effect: ComputedEffect) -> str:
    """A computed difference of risks by itself."""
    points, low, high = (
        f"{value:+.1f}".replace("-", "\u2212") for value in (effect.difference, effect.low, effect.high)
    )
    return f"risk difference {points} points (95% CI {low} to {high}), computed"


_COMPARATIVE = re.compile(
    r"^(?:(?:had|received|required|showed)\s+)?(?:more|less|fewer|(?:low|high|short|long|great|few)er|increased|reduced"
    r"|decreased|better|worse)\s+(?:(?:rates?|levels?|numbers?) of\s+)?",
    re.IGNORECASE,
)
"""What a sentence says of the first group's value, and not what was measured: `lower rates of`."""


def by_arm(result: ArmResult) -> str:
    """`Mortality: 12% (early surgery) against 20% (watchful waiting)`."""
    one, other = (
        f"{clean(value)} ({clean(arm)})" if clean(arm) else clean(value)
        for value, arm in ((result.value, result.arm), (result.other_value, result.other_arm))
    )
    measure = _COMPARATIVE.sub("", clean(result.measure))
    return (
        f"{measure[:1].upper()}{measure[1:]}: {one} against {other}" if measure else f"{one} against {other}"
    )


def certainty_rows(report: Report) -> tuple[tuple[str, ...], ...]:
    """The rows under `CERTAINTY_HEAD`."""
    numbers = {reference.evidence_id: reference.number for reference in report.references}
    return tuple(
        (
            clean(line.outcome),
            line.level,
            f"[{', '.join(str(n) for n in sorted(numbers[name] for name in line.works if name in numbers))}]",
            "; ".join(_certainty_reason(reason) for reason in line.reasons),
        )
        for line in report.certainty
    )


def _certainty_reason(reason: CertaintyReason) -> str:
    steps = f" (\u2212{-reason.steps})" if reason.steps else ""
    return f"{reason.domain.replace('_', ' ')}: {clean(reason.text)}{steps}"


def left_out(report: Report) -> tuple[str, ...]:
    """Dropped claims with their reasons."""
    return tuple(f"{clean(d.text) or '(empty)'} ({clean(d.reason)})" for d in report.verification.dropped)


def checks(dropped: Sequence[DroppedClaim]) -> tuple[tuple[str, str], ...]:
    """Each kind of check with the number of claims it refused."""
    counts = dict.fromkeys((name for name, _ in _CHECKS), 0)
    other = 0
    for claim in dropped:
        codes = {reason.code for reason in claim.reasons}
        failed = [name for name, kinds in _CHECKS if codes & kinds]
        for name in failed:
            counts[name] += 1
        other += not failed
    rows = [(name, str(count)) for name, count in counts.items()]
    return tuple([*rows, (_OTHER_CHECK, str(other))] if other else rows)


def flow_text(report: Report) -> str:
    """The PRISMA counts and why the search ended."""
    method, counts = report.methodology, report.methodology.counts
    records = f"{counted(counts.identified, 'record')} identified, {counted(counts.duplicates, 'duplicate')}"
    ended = f"{STOPPED[report.stop_reason]} ({report.stop_reason.replace('_', ' ')})"
    return (
        f"{records} removed, {counts.screened:,} screened, {counts.included} included (cited). "
        f"The search ended because {ended}, after {counted(method.iterations, 'iteration')}."
    )


def percent(confidence: float) -> str:
    """A confidence as it is printed."""
    return f"{min(confidence, MOST_SURE):.0%}"


def sureness(report: Report) -> str:
    """The confidence of a report as it is printed, also where no step has judged its evidence."""
    unjudged = any(reason.code == "confidence_not_computed" for reason in report.confidence_reasons)
    return "not computed" if unjudged else percent(report.confidence)


def spent(method: Methodology) -> str:
    """Models, calls, tokens and money."""
    if set(method.models) == {"extractive"}:
        return "Language models: none."
    cost = "at a cost not known" if method.cost_usd is None else f"for ${method.cost_usd:.4f}"
    models = clean(", ".join(method.models)) or "none"
    return f"Models: {models}. {method.model_calls} model calls, {method.tokens:,} tokens, {cost}."


def kicker(report: Report) -> str:
    """`Research report, 21 November 2026`; the time as it is where it is no ISO time."""
    try:
        made = datetime.fromisoformat(report.generated_at)
    except ValueError:
        return f"Research report, {clean(report.generated_at)}"
    return f"Research report, {made.day} {calendar.month_name[made.month]} {made.year}"


def run_line(report: Report) -> str:
    """Which run this is."""
    plan = f", plan {clean(report.methodology.plan_hash)}" if report.methodology.plan_hash else ""
    return (
        f"Run {clean(report.run_id)} (mode {clean(report.mode)}, profile {clean(report.profile)}{plan}), "
        f"generated {clean(report.generated_at)}."
    )


def decision(made: Decision) -> str:
    """Who decided what, and when."""
    by = f" by {clean(made.by)}" if made.by else ""
    at = f" at {clean(made.at)}" if made.at else ""
    note = f": {clean(made.note)}" if made.note else ""
    return f"{made.gate}: {made.action.replace('_', ' ')}{by}{at}{note}"


def search_rows(searches: Iterable[SearchRecord]) -> tuple[tuple[str, ...], ...]:
    """The cells under `SEARCH_HEAD`: one row for searches that several sections made and that ended alike,
    with their seconds and attempts added up."""
    alike: dict[tuple[str, ...], list[SearchRecord]] = {}
    for record in searches:
        key = (record.source, record.query, record.status, record.detail, str(record.hits), str(record.kept))
        alike.setdefault(key, []).append(record)
    return tuple(_search_row(records) for records in alike.values())


def _search_row(records: Sequence[SearchRecord]) -> tuple[str, ...]:
    record = records[0]
    return (
        clean(record.source),
        clean(record.query),
        record.status + (f": {clean(record.detail)}" if record.detail else ""),
        str(record.hits),
        str(record.kept),
        str(len(records)),
        f"{sum(r.seconds for r in records):.1f}",
        str(sum(r.attempts for r in records)),
    )


def same_words(claim: str, quote: str) -> bool:
    """Whether a claim is its quote, word for word but for a connective at the beginning of the quote and a
    word on its source at that of the claim."""
    said, quoted = (re.findall(r"\w+", text.casefold()) for text in (claim, quote))
    if not said or not quoted:
        return False
    shared = 0
    while shared < min(len(said), len(quoted)) and said[-1 - shared] == quoted[-1 - shared]:
        shared += 1
    if shared in (len(said), len(quoted)):
        return True
    return shared >= _SHARED and len(quoted) - shared <= _CONNECTIVE and said[:-shared][-1] == "reports"


def in_summary(claims: int, more: bool) -> str:
    """Where a section's claims are that are not printed in it."""
    further = "further " if more else ""
    return (
        f"{claims} {further}finding{'s' if claims > 1 else ''} of this section "
        f"{'are' if claims > 1 else 'is'} in the summary."
    )


def about_work(work: WorkView) -> str:
    """`Doe 2020, cohort study, n = 88, moderate evidence, PMID 1`."""
    authored = not work.title.startswith(work.label.rstrip(" \u2026"))
    parts = (
        work.label if authored else str(work.year or ""),
        work.design.text,
        f"n = {work.n:,}" if work.n else "",
        f"{work.strength} evidence",
        f"PMID {work.pmid}" if work.pmid else "",
    )
    return ", ".join(filter(None, parts))
