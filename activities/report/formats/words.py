"""The sentences and table rows in which a report describes itself, as plain text."""

import calendar
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from activities.drafts import RefusedKind
from activities.judgements import Direction, EvidenceRole
from activities.publication import Decision
from activities.report.formats.statements import sentence, sentences
from activities.report.formats.text import clean, counted
from activities.report.schema import Dropped, JudgedWork, Reference, Report, ReportSection
from activities.report.works import MIN_ANSWERS, grade_of
from activities.stop_reasons import STOPS
from activities.types import Grade, SearchRecord, Statement

ANSWERS = ("another subject", "related", "in part", "directly")
"""A judgement's `answers` in words."""
DIRECTIONS: Mapping[Direction, str] = {"yes": "yes", "no": "no", "mixed": "mixed", "not_asked": ""}
ROLES: Mapping[EvidenceRole, str] = {
    "mechanism": "mechanism",
    "candidate": "candidate",
    "clinical": "clinical",
    "safety": "safety",
    "background": "background",
}
KINDS: Mapping[RefusedKind, str] = {
    "claim": "claim",
    "wording": "wording, its quote stands",
    "reworded": "wording, written once more",
    "reservation": "reservation",
    "summary": "sentence of the editor",
    "cell": "field of the table",
    "judgement": "field of a judgement",
    "hypothesis": "candidate or hypothesis",
}
MAX_SURE = 0.99
"""The highest confidence that is printed: quotes of a few works make nothing certain."""
_CHECKS: tuple[tuple[str, frozenset[str]], ...] = (
    (
        "The quote is word for word in the item it cites",
        frozenset(
            {
                *("quote_not_in_text", "quote_too_short", "cites_unknown_item", "cites_nothing"),
                *("quote_of_another_work", "label_unknown", "other_work"),
            }
        ),
    ),
    (
        "The quote is a statement, not a title or a citation line",
        frozenset({"quote_is_title", "quote_is_copyright", "quote_is_citation", "quote_is_reference"}),
    ),
    (
        "Every number is in the quote",
        frozenset({"number_missing", "summary_adds", "number_not_shown"}),
    ),
    ("The words are those of the work", frozenset({"words_not_in_work", "not_in_work", "name_missing"})),
    (
        "The text says it, as code or a second reader finds",
        frozenset({"adds_to_claims", "not_supported", "not_verified"}),
    ),
    ("The claim keeps the direction and the negation of its quote", frozenset({"meaning_turned"})),
    ("The cited work is not retracted", frozenset({"rests_on_retracted"})),
    (
        "It is not empty, no repetition, and rests on claims that stand",
        frozenset({"claim_empty", "repeats_claim", "rests_on_dropped"}),
    ),
)
_UNREACHED = re.compile(r"cannot be reached from here\b")
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
    if report.written_by == "extractive":
        quotes = counted(check.verified, "quote")
        return f"{quotes} {'is' if check.verified == 1 else 'are'} word for word in the works."
    if check.claims == 1:
        stands = f"The only claim {'is' if check.verified else 'is not'} supported by a quote"
    elif check.verified == check.claims:
        all_claims = "Both claims" if check.claims == 2 else f"All {check.claims} claims"
        stands = f"{all_claims} are supported by quotes"
    else:
        claims = counted(check.verified, "claim")
        stands = f"{claims} {'is' if check.verified == 1 else 'are'} supported by quotes"
        lost = counted(check.claims - check.verified, "sentence")
        return f"{stands} found word for word in the cited items; {lost} more did not stand."
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
    return sentence(section.empty_because) if section.empty_because else "No claim is made here."


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
    """How many of the works that answer are on each side of a yes-or-no question, by the strength of their
    kind; empty where no work has a side. Works that report one study count once."""
    sides: dict[Direction, list[Grade]] = {"yes": [], "no": [], "mixed": []}
    studies: set[tuple[Direction, int]] = set()
    cited = {reference.evidence_id: reference for reference in report.references}
    alike = 0
    for work in report.judgements:
        if work.answers < MIN_ANSWERS or work.direction not in sides or work.evidence_type is None:
            continue
        reference = cited.get(work.evidence_id)
        if reference is not None and reference.standing == "retracted":
            continue
        if reference is not None and reference.study:
            if (work.direction, reference.study) in studies:
                alike += 1
                continue
            studies.add((work.direction, reference.study))
        sides[work.direction].append(grade_of(work.evidence_type))
    total = sum(map(len, sides.values()))
    if not total:
        return ""
    said = [f"{len(grades)} {way}{_by_strength(grades)}" for way, grades in sides.items() if grades]
    again = f"; {counted(alike, 'further report')} of the same studies" if alike else ""
    return f"Of {counted(total, 'work')} that answer: {', '.join(said)}{again}."


def _by_strength(grades: Sequence[Grade]) -> str:
    order: tuple[Grade, ...] = ("strong", "moderate", "weak")
    return f" ({', '.join(f'{grades.count(g)} {g}' for g in order if g in grades)})"


def continues(report: Report) -> str:
    """What a follow-up continues, and how its question was typed; empty for any other report."""
    if report.continues is None:
        return ""
    earlier = clean(report.continues.question) or "an earlier question"
    typed = f' Asked as: "{clean(report.asked)}".' if clean(report.asked) else ""
    return f'Continues "{earlier}" (run {clean(report.continues.run_id)}).{typed}'


def judgement_cells(work: JudgedWork) -> tuple[str, ...]:
    """What was judged of a work, under `JUDGEMENT_HEAD` after the work itself."""
    return (
        ANSWERS[work.answers],
        DIRECTIONS[work.direction],
        ROLES[work.role],
        clean(work.finding),
        clean(work.comparator),
        f"{work.participants:,}" if work.participants else "",
        clean(work.design),
        clean(work.reason),
    )


def refused_rows(report: Report) -> tuple[tuple[str, ...], ...]:
    """The rows under `REFUSED_HEAD`: everything that was refused, with its reason."""
    titles = {section.id: clean(section.title) for section in report.sections}
    return tuple(
        (KINDS[item.kind], clean(item.text) or "(empty)", _why(item), titles.get(item.section, ""))
        for item in report.verification.dropped
    )


def _why(item: Dropped) -> str:
    return clean(item.reason) or sentence(item.statement)


def left_out(report: Report) -> tuple[str, ...]:
    """What was refused, one line each."""
    return tuple(f"{kind}: {text} ({why})" for kind, text, why, _ in refused_rows(report))


def checks(dropped: Sequence[Dropped]) -> tuple[tuple[str, str], ...]:
    """Each kind of check with how much it refused."""
    counts = dict.fromkeys((name for name, _ in _CHECKS), 0)
    other = 0
    for item in dropped:
        failed = next((name for name, kinds in _CHECKS if item.statement.code in kinds), None)
        if failed is None:
            other += 1
        else:
            counts[failed] += 1
    rows = [(name, str(count)) for name, count in counts.items()]
    return tuple([*rows, (_OTHER_CHECK, str(other))] if other else rows)


def flow_text(report: Report) -> str:
    """The PRISMA counts, why the search ended, and what was read in full."""
    method, counts = report.methodology, report.methodology.counts
    records = f"{counted(counts.identified, 'record')} identified, {counted(counts.duplicates, 'duplicate')}"
    ended = f"{STOPS[report.stop_reason].because} ({report.stop_reason.replace('_', ' ')})"
    whole = [str(reference.number) for reference in report.references if reference.full_text]
    read = f" Read in full: {counted(len(whole), 'reference')} ({', '.join(whole)})." if whole else ""
    return (
        f"{records} removed, {counts.screened:,} screened, {counts.included} included (cited). "
        f"The search ended because {ended}, after {counted(method.iterations, 'iteration')}.{read}"
    )


def percent(confidence: float) -> str:
    """A confidence as it is printed."""
    return f"{min(confidence, MAX_SURE):.0%}"


def sureness(report: Report) -> str:
    """The confidence of a report as it is printed."""
    return "not judged" if report.confidence is None else percent(report.confidence)


def spent(report: Report) -> str:
    """Models, calls, tokens and money."""
    method = report.methodology
    if report.written_by == "extractive" and not method.model_calls:
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


def about_work(reference: Reference, label: str, design: str) -> str:
    """`Doe 2020, cohort study, PMID 1`."""
    authored = not clean(reference.title).startswith(label.rstrip(" \u2026"))
    pmid = reference.identifiers.pmid
    parts = (label if authored else str(reference.year or ""), design, f"PMID {pmid}" if pmid else "")
    return ", ".join(filter(None, parts))
