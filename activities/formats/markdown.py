"""The report as Markdown: what a researcher reads in an editor, and what `ask` saves."""

from collections.abc import Iterable, Mapping, Sequence

from activities.formats.text import (
    authors_line,
    badges,
    best_url,
    citation,
    cited,
    clean,
    escape_markdown,
    identifier_links,
)
from activities.limitations import STOPPED
from activities.report_types import Methodology, Reference, Report, ReportSection
from activities.types import Candidate, SearchRecord, Support

_UNCHECKED = (
    "*Names, sources and the grade of the evidence are checked by code; mechanism, indications and status "
    "are as the writer put them: read the quotes.*"
)


def markdown(report: Report) -> str:
    """Title, question, summary, sections, candidates, limitations, references, quotes and method."""
    numbers = {r.evidence_id: r.number for r in report.references}
    blocks = [
        f"# {escape_markdown(report.title)}",
        f"**Question:** {escape_markdown(report.question)}",
        "## Summary",
        report.executive_summary,
        _verified(report),
    ]
    for section in report.sections:
        blocks += _section(section, numbers)
    if report.candidates:
        blocks += ["## Candidates", *_candidates(report.candidates, numbers)]
    if report.limitations:
        blocks += ["## Limitations", "\n".join(f"- {escape_markdown(text)}" for text in report.limitations)]
    if report.references:
        blocks += ["## References", "\n".join(_reference(r) for r in report.references)]
    blocks += ["## Method", *_method(report)]
    if report.references:
        blocks += ["## Quotes", *_quotes(report, numbers)]
    if report.verification.dropped:
        blocks += [
            "## Left out",
            "Claims that did not pass the quote check:",
            "\n".join(
                f"- {escape_markdown(item.text) or '(empty)'} *({escape_markdown(item.reason)})*"
                for item in report.verification.dropped
            ),
        ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _verified(report: Report) -> str:
    check = report.verification
    if not check.claims:
        return ""
    return (
        f"*{check.verified} of {check.claims} claims stand on quotes found word for word in the cited items; "
        f"confidence in the evidence {report.confidence:.0%}.*"
    )


def _section(section: ReportSection, numbers: Mapping[str, int]) -> list[str]:
    status = "" if section.status == "complete" else f" ({section.status})"
    blocks = [f"## {escape_markdown(section.title)}{status}"]
    if section.key_question and section.key_question != section.title:
        blocks.append(f"*{escape_markdown(section.key_question)}*")
    text = section.markdown or " ".join(
        cited(escape_markdown(claim.text), citation(claim.support, numbers)) for claim in section.claims
    )
    return [*blocks, text]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A GitHub table; the cells are escaped already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _candidates(candidates: Sequence[Candidate], numbers: Mapping[str, int]) -> list[str]:
    rows = [
        [
            escape_markdown(f"{c.name} ({c.generic_name})" if _differs(c) else c.name),
            escape_markdown(c.proposed_mechanism or c.mechanism),
            escape_markdown("; ".join(c.current_indications)),
            escape_markdown(c.regulatory_status),
            escape_markdown(c.trial_status),
            c.evidence_quality,
            citation(c.support, numbers),
        ]
        for c in candidates
    ]
    head = ["Candidate", "Mechanism", "Indications now", "Approval", "Trials", "Evidence", "Sources"]
    return [_table(head, rows), _UNCHECKED]


def _differs(candidate: Candidate) -> bool:
    return bool(candidate.generic_name) and candidate.generic_name.casefold() != candidate.name.casefold()


def _reference(reference: Reference) -> str:
    url = best_url(reference)
    title = escape_markdown(reference.title).rstrip(".")
    line = f"{reference.number}. "
    authors = escape_markdown(authors_line(reference.authors)).rstrip(".")
    if authors:
        line += f"{authors}. "
    line += f"[{title}]({url})." if url else f"{title}."
    where = ", ".join(x for x in (escape_markdown(reference.venue or ""), str(reference.year or "")) if x)
    if where:
        line += f" {where}."
    links = [
        f"[{label} {escape_markdown(value)}]({link})" if link else f"{label} {escape_markdown(value)}"
        for label, value, link in identifier_links(reference.identifiers)
    ]
    if links:
        line += f" {', '.join(links)}."
    notes = "; ".join(badges(reference))
    return f"{line} *{notes}; found in {escape_markdown(reference.source)}*"


def _quotes(report: Report, numbers: Mapping[str, int]) -> list[str]:
    """Each cited item's quotes, with the claim that each bears out."""
    told: dict[int, dict[str, list[str]]] = {r.number: {} for r in report.references}
    bearers: list[tuple[str, Sequence[Support]]] = [
        (c.id, c.support) for section in report.sections for c in section.claims
    ]
    bearers += [(clean(c.name), c.support) for c in report.candidates]
    for bearer, supports in bearers:
        for support in supports:
            number = numbers.get(support.evidence_id)
            if number is not None and support.quote:
                told[number].setdefault(support.quote, []).append(bearer)
    return [
        f"[{number}] for {escape_markdown(', '.join(dict.fromkeys(bearers)))}:\n\n> {escape_markdown(quote)}"
        for number, quotes in told.items()
        for quote, bearers in quotes.items()
    ]


def _method(report: Report) -> list[str]:
    method = report.methodology
    counts = method.counts
    iterations = f"{method.iterations} iteration{'' if method.iterations == 1 else 's'}"
    flow = (
        f"{counts.identified} records identified, {counts.duplicates} duplicates removed, {counts.screened} "
        f"screened, {counts.included} included (cited). The search ended because "
        f"{STOPPED[report.stop_reason]} (`{report.stop_reason}`), after {iterations}."
    )
    blocks = [flow, _spent(method)]
    if method.searches:
        head = ["Source", "Query as sent", "Status", "Hits", "Kept", "Seconds", "Attempts"]
        blocks.append(_table(head, [_search(s) for s in method.searches]))
    if method.approvals:
        blocks.append(
            "\n".join(
                f"- {d.gate}: {d.action.replace('_', ' ')}"
                + (f" by {escape_markdown(d.by)}" if d.by else "")
                + (f" at {escape_markdown(d.at)}" if d.at else "")
                + (f": {escape_markdown(d.note)}" if d.note else "")
                for d in method.approvals
            )
        )
    plan = f", plan {escape_markdown(method.plan_hash)}" if method.plan_hash else ""
    blocks.append(
        f"Run {escape_markdown(report.run_id)} (mode {escape_markdown(report.mode)}, profile "
        f"{escape_markdown(report.profile)}{plan}), generated {escape_markdown(report.generated_at)}. Every "
        "quote was found word for word in the stored text of the item it cites."
    )
    return blocks


def _spent(method: Methodology) -> str:
    models = escape_markdown(", ".join(method.models)) or "none"
    if set(method.models) == {"extractive"}:
        return "No language model was used: sentences were ranked and quoted."
    cost = "at a cost not known" if method.cost_usd is None else f"for ${method.cost_usd:.4f}"
    return f"Models: {models}. {method.model_calls} model calls, {method.tokens:,} tokens, {cost}."


def _search(record: SearchRecord) -> list[str]:
    return [
        escape_markdown(record.source),
        escape_markdown(record.query),
        record.status + (f": {escape_markdown(record.detail)}" if record.detail else ""),
        str(record.hits),
        str(record.kept),
        f"{record.seconds:.1f}",
        str(record.attempts),
    ]
