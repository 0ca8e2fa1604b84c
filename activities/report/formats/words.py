"""The sentences and table rows in which a report describes itself, as plain text."""

import calendar
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from activities.contracts.evidence import Grade, SearchRecord, Statement, Vigilance
from activities.contracts.judge import MIN_ANSWERS, Direction
from activities.contracts.prepare import PART as CONTINUES
from activities.contracts.publish import Decision, Dispute, IterationUse
from activities.contracts.stop_reasons import STOPS
from activities.contracts.write import RefusedKind
from activities.plural import counted
from activities.report.formats.iterations import scored
from activities.report.formats.statements import sentence, sentences
from activities.report.formats.text import clean, listed
from activities.report.parts import concludes
from activities.report.schema import Reference, Report, ReportSection, UnusedReason
from activities.report.strength import grade_of

DIRECTIONS: Mapping[Direction, str] = {"yes": "yes", "no": "no", "mixed": "mixed", "not_asked": ""}
KINDS: Mapping[RefusedKind, str] = {
    "claim": "claim",
    "wording": "wording, its quote stands",
    "reworded": "wording, written once more",
    "reservation": "reservation",
    "summary": "sentence of the editor",
    "cell": "field of the table",
    "judgement": "field of a judgement",
    "hypothesis": "candidate or hypothesis",
    "effect": "effect of a work",
}
READERS: Mapping[str, str] = {
    "": "a second reader",
    "same_model": "a second reading of the same model",
    "other_model": "another model as second reader",
}
SAID_ELSEWHERE = frozenset({"claims_refused", "wordings_replaced", "price_unknown"})
"""Codes of statements that the count of sentences and the method have."""
_YES_OR_NO = re.compile(
    r"(?:^|[.:;?!]\s)\s*(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|had|may|must)\b",
    re.IGNORECASE,
)


def asks_yes_or_no(question: str) -> bool:
    """Whether a question begins as one which is answered by yes or no."""
    return _YES_OR_NO.search(question) is not None


def verified(report: Report) -> str:
    """How many sentences stand, and by what: their quote, a second reader, code; empty when nothing was
    claimed."""
    check = report.verification
    if not check.claims:
        return ""
    if report.written_by == "extractive":
        quotes = counted(check.verified, "quote")
        return f"{quotes} {'is' if check.verified == 1 else 'are'} word for word in the {report.words.many}."
    ways = (
        (check.by_quote - check.replaced, "in the words of their quotes"),
        (check.by_reader, f"confirmed by {READERS[check.reader]}"),
        (check.computed, "computed by code from quoted numbers"),
        (check.replaced, "by the quote in the place of another wording"),
    )
    how = listed(f"{number} {way}" for number, way in ways if number > 0)
    stand = f"{counted(check.verified, 'sentence')} {'stands' if check.verified == 1 else 'stand'}"
    fell = check.fell - check.unread
    refused = f"; {counted(fell, 'sentence')} {'was' if fell == 1 else 'were'} refused" if fell else ""
    unread = f"; {counted(check.unread, 'sentence')} no second reader has read" if check.unread else ""
    again = repeated(report)
    left = f"; {counted(again, 'repetition')} {'was' if again == 1 else 'were'} left out" if again else ""
    read = vigilance(check.vigilance)
    return (
        f"{stand}{f': {how}' if how else ''}{refused}{unread}{left}. Every quote is word for word in the "
        f"item it cites.{f' {read}' if read else ''}"
    )


def vigilance(read: Vigilance) -> str:
    """How well the second reader read: `It found 11 of 12 planted errors and refused none of 8 true
    sentences.`; empty where nothing was planted."""
    if not read.planted:
        return ""
    refused = f"{read.refused or 'none'} of {counted(read.true, 'true sentence')}"
    planted = counted(read.planted, "planted error")
    return f"The second reader found {read.noticed} of {planted} and refused {refused}."


def repeated(report: Report) -> int:
    """Sentences that were left out since another one says the same."""
    return sum(item.statement.code == "repeats_claim" for item in report.verification.dropped)


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
    return tuple(
        f"{heading(section)}: "
        + (sentence(section.empty_because) if section.empty_because else "No claim is made here.")
        for section in empty
    )


def unreached(report: Report) -> list[Statement]:
    """A statement for each source that was left out, since no connection from here reaches it."""
    return [statement for statement in report.statements if statement.code == "source_unreachable"]


def limitations(report: Report) -> tuple[str, ...]:
    """What limits the evidence; what the page says in its count of sentences and under "Method" is left
    out."""
    elsewhere = {*SAID_ELSEWHERE, *(["unanswered"] if report.unanswered is not None else [])}
    shown = [statement for statement in report.statements if statement.code not in elsewhere]
    silent = unreached(report)
    if len(silent) > 1:
        names = tuple(s.text("source") for s in silent)
        together = Statement.of("sources_not_reached", sources=names)
        shown = [together if s is silent[0] else s for s in shown if s not in silent[1:]]
    return sentences(shown) if report.statements else tuple(map(clean, report.limitations))


def balance(report: Report) -> str:
    """How many of the works that answer are on each side of a yes-or-no question; empty
    where a conclusion says what they found or no work has a side, and for a person's own documents, of which
    who says what is told instead. Works that report one study count once."""
    if not report.words.counted or concludes(report):
        return ""
    sides: dict[Direction, list[Grade]] = {"yes": [], "no": [], "mixed": []}
    studies: set[tuple[Direction, int]] = set()
    cited = {reference.evidence_id: reference for reference in report.references}
    grades = {work.evidence_id: work.strength for work in report.works}
    alike = answering = 0
    for work in report.judgements:
        reference = cited.get(work.evidence_id)
        if work.answers < MIN_ANSWERS or (reference is not None and reference.standing == "retracted"):
            continue
        if reference is not None and reference.study:
            if (work.direction, reference.study) in studies:
                alike += 1
                continue
            studies.add((work.direction, reference.study))
        answering += 1
        if work.direction in sides and work.evidence_type is not None:
            grade = grades.get(work.evidence_id) or grade_of(work.evidence_type)
            sides[work.direction].append(grade)
    yes_or_no = asks_yes_or_no(report.question) and any(sides.values())
    parts = [
        f"{len(grades)} {way}{_by_strength(grades) if report.words.graded else ''}"
        for way, grades in sides.items()
        if grades and yes_or_no
    ]
    again = f"; {counted(alike, 'further report')} of the same {report.words.many}" if alike else ""
    total = counted(answering, report.words.one, report.words.many)
    verb = "answers" if answering == 1 else "answer"
    counts = [f"{total} {verb}: {', '.join(parts)}{again}."] if parts else []
    return " ".join(counts)


def _by_strength(grades: Sequence[Grade]) -> str:
    order: tuple[Grade, ...] = ("strong", "moderate", "weak")
    return f" ({', '.join(f'{grades.count(g)} {g}' for g in order if g in grades)})"


def continues(report: Report) -> str:
    """What a follow-up continues, and how its question was typed; empty for any other report."""
    if (before := CONTINUES.shown(report)) is None:
        return ""
    earlier = clean(before.question) or "an earlier question"
    typed = f' Asked as: "{clean(report.asked)}".' if clean(report.asked) else ""
    return f'Continues "{earlier}" (run {clean(before.run_id)}).{typed}'


def refused_rows(report: Report) -> tuple[tuple[str, ...], ...]:
    """The rows of the list of refusals: everything that was refused, with its reason."""
    titles = {section.id: clean(section.title) for section in report.sections}
    return tuple(
        (
            KINDS[item.kind],
            clean(item.text) or "(empty)",
            clean(item.reason) or sentence(item.statement),
            titles.get(item.section, ""),
        )
        for item in report.verification.dropped
    )


UNUSED: Mapping[UnusedReason, str] = {
    "retracted": "it is retracted",
    "refused": "what cites it was refused",
    "not_relevant": "judged not to answer",
    "not_chosen": "the model did not use it",
    "not_read": "ranked too low to be read",
}
"""Why a work is not cited, as tables show it."""


def left_out(report: Report) -> tuple[str, ...]:
    return tuple(f"{kind}: {text} ({why})" for kind, text, why, _ in refused_rows(report))


def flow_text(report: Report) -> str:
    """What was found, read and cited, and why the search ended."""
    method, counts = report.methodology, report.methodology.counts
    why = STOPS[report.stop_reason].because
    ended = f"The search ended because {why}, after {counted(method.iterations, 'iteration')}."
    one, many = report.words.one, report.words.many
    if not report.words.graded:
        return f"{counted(counts.screened, one, many)} read, {counts.included} cited. {ended}"
    whole = [str(reference.number) for reference in report.references if reference.full_text]
    read = f" Read in full: {counted(len(whole), 'reference')} ({', '.join(whole)})." if whole else ""
    searches = counted(len(method.searches), "search", "searches")
    hits = counted(sum(search.hits for search in method.searches), "hit")
    kept = counted(counts.identified - counts.duplicates, f"different {one}", f"different {many}")
    return (
        f"{searches} gave {hits}; {kept} kept: {counts.screened:,} screened, {counts.not_screened:,} not "
        f"screened. Of those screened {counts.included} are cited. "
        f"{ended}{read}"
    )


def refused_count(report: Report) -> str:
    """How much was refused or left out, in the counts that the answer gives; empty where nothing was."""
    check, again = report.verification, repeated(report)
    other = len(check.dropped) - check.fell - again
    parts = (
        counted(check.fell - check.unread, "sentence") if check.fell > check.unread else "",
        f"{counted(check.unread, 'sentence')} that nobody read" if check.unread else "",
        counted(again, "repetition") if again else "",
        counted(other, "field or other text", "fields and other texts") if other > 0 else "",
    )
    if not any(parts):
        return ""
    command = f"determinator report {clean(report.run_id)} --length full"
    return f'Refused or left out: {listed(filter(None, parts))}; "{command}" lists each with its reason.'


def sureness(report: Report) -> str:
    """What the confidence in an answer rests on, in counts; empty where no model judged."""
    reasons = sentences(report.confidence_reasons)
    return f"Confidence rests on: {' '.join(reasons)}" if reasons else ""


def dispute_line(dispute: Dispute) -> str:
    """`s2.3 "...": ada disputes it: the group was 43. The second reader: its works do not say it (...).`"""
    who = clean(dispute.by) or "somebody"
    parts = [
        f'{dispute.sentence} "{clean(dispute.text)}": {who} disputes it: {clean(dispute.reason).rstrip(".")}.'
    ]
    if dispute.reader == "stands":
        parts.append("A second reader read its works again: it stands.")
    elif dispute.problem is not None:
        parts.append(f"A second reader read its works again: {sentence(dispute.problem).rstrip('.')}.")
    else:
        parts.append("No second reader has read its works again.")
    if dispute.decision:
        note = f" ({clean(dispute.note)})" if dispute.note else ""
        parts.append(f"{dispute.decision.capitalize()} by {clean(dispute.decided_by) or 'somebody'}{note}.")
    else:
        parts.append("Nobody has decided.")
    return " ".join(parts)


def spent(report: Report) -> str:
    method = report.methodology
    if report.written_by == "extractive" and not method.model_calls:
        return "Language models: none."
    cost = "at a cost not known" if method.cost_usd is None else f"for ${method.cost_usd:.4f}"
    models = clean(", ".join(method.models)) or "none"
    used = f"Models: {models}. {method.model_calls} model calls, {method.tokens:,} tokens, {cost}"
    if method.estimate is None:
        return f"{used}."
    return f"{used}, {method.seconds:.0f} s of work. Expected were {method.estimate.replace(models=()).text}."


def kicker(report: Report) -> str:
    """`Research report, 21 November 2026`; the time as it is where it is no ISO time."""
    try:
        made = datetime.fromisoformat(report.generated_at)
    except ValueError:
        return f"Research report, {clean(report.generated_at)}"
    return f"Research report, {made.day} {calendar.month_name[made.month]} {made.year}"


def run_line(report: Report) -> str:
    plan = f", plan {clean(report.methodology.plan_hash)}" if report.methodology.plan_hash else ""
    return (
        f"Run {clean(report.run_id)} (mode {clean(report.mode)}, profile {clean(report.profile)}{plan}), "
        f"generated {clean(report.generated_at)}."
    )


def decision(made: Decision) -> str:
    by = f" by {clean(made.by)}" if made.by else ""
    at = f" at {clean(made.at)}" if made.at else ""
    note = f": {clean(made.note)}" if made.note else ""
    return f"{made.gate}: {made.action.replace('_', ' ')}{by}{at}{note}"


def used_rows(report: Report) -> tuple[tuple[str, ...], ...]:
    """The cells under `USED_HEAD`: a row for each iteration of each loop, and one for all else."""
    method, titles = report.methodology, {section.id: section.title for section in report.sections}
    rest = IterationUse(
        iteration=0,
        calls=method.model_calls - sum(one.calls for one in method.spent_by),
        tokens=method.tokens - sum(one.tokens for one in method.spent_by),
        cost_usd=None
        if method.cost_usd is None or any(one.cost_usd is None for one in method.spent_by)
        else method.cost_usd - sum(one.cost_usd or 0.0 for one in method.spent_by),
    )
    return tuple(
        (
            clean(titles.get(one.section, one.section)),
            str(one.iteration or "reading, planning, writing"),
            str(one.calls),
            f"{one.tokens:,}",
            "not known" if one.cost_usd is None else f"${one.cost_usd:.4f}",
            clean(scored(one.scores, one.score_reasons)),
            one.stopped.replace("_", " ") if one.stopped else "",
        )
        for one in (*method.spent_by, rest)
    )


def sources_line(report: Report) -> str:
    """`Cited: 3 from pubmed, 1 from europepmc; 3 peer reviewed, 1 preprints.`"""
    if not report.sources_used or not report.words.graded:
        return ""
    by_source = ", ".join(f"{count} from {clean(name)}" for name, count in report.sources_used.items())
    by_kind = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in report.kinds_used.items())
    return f"Cited: {by_source}; {by_kind}."


def search_rows(searches: Iterable[SearchRecord]) -> tuple[tuple[str, ...], ...]:
    """The cells under `SEARCH_HEAD`: one row for searches that several sections made and that ended alike,
    with their seconds and attempts added up."""
    alike: dict[tuple[str, ...], list[SearchRecord]] = {}
    for record in searches:
        counts = (str(record.hits), str(record.kept), str(record.listed))
        key = (record.source, record.query, record.status, record.detail, *counts)
        alike.setdefault(key, []).append(record)
    return tuple(_search_row(records) for records in alike.values())


def _search_row(records: Sequence[SearchRecord]) -> tuple[str, ...]:
    record = records[0]
    unread = f"{record.listed} listed, not read" if record.listed else ""
    return (
        clean(record.source),
        clean(record.query),
        ": ".join(filter(None, (record.status, "; ".join(filter(None, (clean(record.detail), unread)))))),
        str(record.hits),
        str(record.kept),
        str(len(records)),
        f"{sum(r.seconds for r in records):.1f}",
        str(sum(r.attempts for r in records)),
    )


def about_work(reference: Reference, label: str, design: str) -> str:
    """`Doe 2020, cohort study, PMID 1`."""
    authored = not clean(reference.title).startswith(label.rstrip(" \u2026"))
    pmid = reference.identifiers.pmid
    parts = (label if authored else str(reference.year or ""), design, f"PMID {pmid}" if pmid else "")
    return ", ".join(filter(None, parts))
