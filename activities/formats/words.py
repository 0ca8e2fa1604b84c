"""The sentences and rows that every format of the report shares, as plain text: each format escapes them in
its own way."""

from collections.abc import Mapping, Sequence

from activities.formats.text import citation, cited, clean, escape_markdown
from activities.limitations import STOPPED
from activities.report_types import Methodology, Report
from activities.steps import Decision
from activities.types import Candidate, Claim, SearchRecord, Support

SEARCH_HEAD = ("Source", "Query as sent", "Status", "Hits", "Kept", "Seconds", "Attempts")
CANDIDATE_HEAD = ("Candidate", "Mechanism", "Indications now", "Approval", "Trials", "Evidence")
UNCHECKED = (
    "Names, sources and the grade of the evidence are checked by code; mechanism, indications and status are "
    "as the writer put them: read the quotes."
)
LEFT_OUT = "Claims that did not pass the quote check:"
NOTHING_SUPPORTED = "No claim in this section could be supported."


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
    return (
        f"{check.verified} of {check.claims} claims stand on quotes found word for word in the cited items; "
        f"confidence in the evidence {report.confidence:.0%}."
    )


def left_out(report: Report) -> list[str]:
    """Dropped claims with their reasons."""
    return [f"{clean(d.text) or '(empty)'} ({clean(d.reason)})" for d in report.verification.dropped]


def candidate_row(candidate: Candidate) -> list[str]:
    """The cells under `CANDIDATE_HEAD`; the sources are the format's own."""
    generic = clean(candidate.generic_name)
    other = generic and generic.casefold() != clean(candidate.name).casefold()
    return [
        f"{clean(candidate.name)} ({generic})" if other else clean(candidate.name),
        clean(candidate.proposed_mechanism or candidate.mechanism),
        clean("; ".join(candidate.current_indications)),
        clean(candidate.regulatory_status),
        clean(candidate.trial_status),
        candidate.evidence_quality,
    ]


def search_row(record: SearchRecord) -> list[str]:
    """The cells under `SEARCH_HEAD`."""
    return [
        clean(record.source),
        clean(record.query),
        record.status + (f": {clean(record.detail)}" if record.detail else ""),
        str(record.hits),
        str(record.kept),
        f"{record.seconds:.1f}",
        str(record.attempts),
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
    """Each cited item's quotes with what they bear out: number, quote, claim ids and candidates."""
    told: dict[int, dict[str, list[str]]] = {r.number: {} for r in report.references}
    bearers: list[tuple[str, Sequence[Support]]] = [
        (claim.id, claim.support) for section in report.sections for claim in section.claims
    ]
    bearers += [(clean(candidate.name), candidate.support) for candidate in report.candidates]
    for bearer, supports in bearers:
        for support in supports:
            number = numbers.get(support.evidence_id)
            if number is not None and support.quote:
                told[number].setdefault(support.quote, []).append(bearer)
    return [
        (number, quote, list(dict.fromkeys(names)))
        for number, quotes in told.items()
        for quote, names in quotes.items()
    ]
