"""The sentences and rows that every format of the report shares, as plain text: each format escapes them in
its own way."""

import re
from collections.abc import Iterable, Mapping, Sequence

from activities.report.formats.text import STOPPED, citation, cited, clean, escape_markdown
from activities.report.schema import Methodology, Report, ReportSection
from activities.steps import Decision
from activities.text.evidence_strength import Direction, direction
from activities.types import Candidate, Claim, SearchRecord, Support

SEARCH_HEAD = ("Source", "Query as sent", "Status", "Hits", "Kept", "Times", "Seconds", "Attempts")
CANDIDATE_HEAD = ("Candidate", "Mechanism or effect", "Indications now", "Approval", "Trials", "Evidence")
UNCHECKED = (
    "Names, sources and the grade of the evidence are checked by code; mechanism, indications and status are "
    "as the writer put them: read the quotes."
)
LEFT_OUT = "Claims that did not pass the quote check:"
EMPTY = "Without findings"
"""Heading over the sections that have no claim."""
_YES_OR_NO = re.compile(
    r"(?:^|[:.;,\u2013\u2014-]\s*)(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|may|might|must)\b"
    r"[^?]*\?",
    re.IGNORECASE,
)
"""A question that begins with an auxiliary, also after a colon: `Statins: do they help?`"""
_WAYS: Mapping[Direction, str] = {
    "yes": "an effect, an association or a benefit is affirmed by",
    "no": "denied by",
    "mixed": "affirmed and denied by",
    "none": "left open by",
}


def points(report: Report) -> list[Claim]:
    """The claims that the executive summary repeats."""
    numbers = numbers_by_id(report)
    lines = set(report.executive_summary.splitlines())
    return [
        claim
        for section in report.sections
        for claim in section.claims
        if f"- {cited(escape_markdown(claim.text), citation(claim.support, numbers))}" in lines
    ]


def numbers_by_id(report: Report) -> dict[str, int]:
    """Evidence id -> number of its reference."""
    return {reference.evidence_id: reference.number for reference in report.references}


def verified(report: Report) -> str:
    """How many claims stand, and the judge's confidence; empty when nothing was claimed."""
    check = report.verification
    if not check.claims:
        return ""
    if check.claims == 1:
        stands = f"The only claim {'stands' if check.verified else 'does not stand'} on a quote"
    elif check.verified == check.claims:
        stands = f"All {check.claims} claims stand on quotes"
    else:
        stands = f"{check.verified} of {check.claims} claims stand on quotes"
    sure = f"confidence in the evidence {report.confidence:.0%}"
    return f"{stands} found word for word in the cited items; {sure}."


def questions(report: Report) -> list[str]:
    """The question, where the title does not say it already."""
    asked = clean(report.question)
    return [] if asked.casefold() == clean(report.title).casefold() else [asked]


def key_question(report: Report, section: ReportSection) -> str:
    """A section's own question; empty where it is the report's or the section's title."""
    asked = clean(section.key_question)
    known = {clean(text).casefold() for text in (report.question, report.title, section.title)}
    return "" if asked.casefold() in known else asked


def told(report: Report) -> list[ReportSection]:
    """The sections that have claims."""
    return [section for section in report.sections if section.claims]


def untold(report: Report) -> list[str]:
    """One line for each section without a claim; none where there is only one, since the summary says it."""
    if len(report.sections) < 2:
        return []
    empty = [section for section in report.sections if not section.claims]
    reasons = [re.sub(r"\\(.)", r"\1", clean(section.markdown)) for section in empty]
    return [f"{heading(s)}: {why or 'No claim is made here.'}" for s, why in zip(empty, reasons, strict=True)]


def heading(section: ReportSection) -> str:
    """A section's title, with what became of it when it was not researched to its end."""
    status = f" ({section.status})" if section.status in ("failed", "cancelled") else ""
    return clean(section.title) + status


def balance(report: Report) -> str:
    """Which way the cited works point on a question that can be answered yes or no, each by its first claim;
    empty for other questions. By the wording alone: a reader must look at both sides."""
    if not _YES_OR_NO.search(report.question):
        return ""
    numbers = numbers_by_id(report)
    ways: dict[int, Direction] = {}
    for section in report.sections:
        for claim in section.claims:
            for support in claim.support:
                if support.evidence_id in numbers:
                    ways.setdefault(numbers[support.evidence_id], direction(claim.text))
    if not ways:
        return ""
    sides = [
        f"{words} {', '.join(f'[{n}]' for n in found)}"
        for way, words in _WAYS.items()
        if (found := sorted(n for n, w in ways.items() if w == way))
    ]
    told = "; ".join(sides)
    first = "" if told.startswith("an effect") else "an effect, an association or a benefit is "
    text = f"Which way it points, by the wording of the first claim from each work: {first}{told}."
    disputed = sum(bool(claim.contradicts) for section in report.sections for claim in section.claims)
    return f"{text} {disputed} claims contradict one another." if disputed else text


def left_out(report: Report) -> list[str]:
    """Dropped claims with their reasons."""
    return [f"{clean(d.text) or '(empty)'} ({clean(d.reason)})" for d in report.verification.dropped]


def candidate_row(candidate: Candidate) -> list[str]:
    """The cells under `CANDIDATE_HEAD`; the sources are the format's own."""
    generic = clean(candidate.generic_name)
    other = generic and generic.casefold() != clean(candidate.name).casefold()
    told = (
        candidate.proposed_mechanism or candidate.mechanism,
        "; ".join(candidate.current_indications),
        candidate.regulatory_status,
        candidate.trial_status,
    )
    return [
        f"{clean(candidate.name)} ({generic})" if other else clean(candidate.name),
        *(clean(text) or "not found" for text in told),
        candidate.evidence_quality,
    ]


def search_rows(searches: Iterable[SearchRecord]) -> list[list[str]]:
    """The cells under `SEARCH_HEAD`: one row for searches that several sections made and that ended alike,
    with their seconds and attempts added up."""
    alike: dict[tuple[str, ...], list[SearchRecord]] = {}
    for record in searches:
        key = (record.source, record.query, record.status, record.detail, str(record.hits), str(record.kept))
        alike.setdefault(key, []).append(record)
    return [_search_row(records) for records in alike.values()]


def _search_row(records: Sequence[SearchRecord]) -> list[str]:
    record = records[0]
    return [
        clean(record.source),
        clean(record.query),
        record.status + (f": {clean(record.detail)}" if record.detail else ""),
        str(record.hits),
        str(record.kept),
        str(len(records)),
        f"{sum(r.seconds for r in records):.1f}",
        str(sum(r.attempts for r in records)),
    ]


def flow(report: Report) -> str:
    """The PRISMA counts and why the search ended."""
    method, counts = report.methodology, report.methodology.counts
    return (
        f"{counts.identified} records identified, {counts.duplicates} duplicates removed, {counts.screened} "
        f"screened, {counts.included} included (cited). The search ended because "
        f"{STOPPED[report.stop_reason]} ({report.stop_reason.replace('_', ' ')}), after {method.iterations} "
        f"iteration{'' if method.iterations == 1 else 's'}."
    )


def spent(method: Methodology) -> str:
    """Models, calls, tokens and money."""
    if set(method.models) == {"extractive"}:
        return "No language model was used: sentences were ranked and quoted."
    cost = "at a cost not known" if method.cost_usd is None else f"for ${method.cost_usd:.4f}"
    models = clean(", ".join(method.models)) or "none"
    return f"Models: {models}. {method.model_calls} model calls, {method.tokens:,} tokens, {cost}."


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


def quotes_by_number(report: Report, numbers: Mapping[str, int]) -> list[tuple[int, str, list[str]]]:
    """Each cited item's quotes with what they bear out: number, quote, claims that put it in words of their
    own, and candidates."""
    told: dict[int, dict[str, list[str]]] = {r.number: {} for r in report.references}
    bearers: list[tuple[str, Sequence[Support]]] = [
        (clean(claim.text), claim.support) for section in report.sections for claim in section.claims
    ]
    bearers += [(clean(candidate.name), candidate.support) for candidate in report.candidates]
    for bearer, supports in bearers:
        for support in supports:
            number = numbers.get(support.evidence_id)
            if number is not None and support.quote:
                bearers_of = told[number].setdefault(support.quote, [])
                if not _says(bearer, support.quote):
                    bearers_of.append(bearer)
    return [
        (number, quote, list(dict.fromkeys(names)))
        for number, quotes in told.items()
        for quote, names in quotes.items()
    ]


def _says(claim: str, quote: str) -> bool:
    """Whether a claim is its quote, word for word but for its beginning and its end."""
    said, quoted = (" ".join(re.findall(r"\w+", text.casefold())) for text in (claim, quote))
    return said.endswith(quoted) or quoted.endswith(said)
