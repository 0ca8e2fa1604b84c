"""The report as Markdown: what a researcher reads in an editor, and what `ask` saves."""

from collections.abc import Iterable, Mapping, Sequence

from activities.formats import words
from activities.formats.text import (
    authors_line,
    badges,
    best_url,
    citation,
    cited,
    clean,
    ended,
    escape_markdown,
    identifier_links,
)
from activities.report_types import Reference, Report, ReportSection


def markdown(report: Report) -> str:
    """Title, question, summary, sections, candidates, limitations, references, method, quotes and what was
    left out."""
    numbers = words.numbers_by_id(report)
    verified = words.verified(report)
    blocks = [
        f"# {escape_markdown(report.title)}",
        f"**Question:** {escape_markdown(report.question)}",
        "## Summary",
        report.executive_summary,
        f"*{escape_markdown(verified)}*" if verified else "",
    ]
    for section in report.sections:
        blocks += _section(section, numbers)
    if report.candidates:
        rows = [
            [*map(escape_markdown, words.candidate_row(c)), citation(c.support, numbers)]
            for c in report.candidates
        ]
        table = _table([*words.CANDIDATE_HEAD, "Sources"], rows)
        blocks += ["## Candidates", table, f"*{words.UNCHECKED}*"]
    if report.limitations:
        blocks += ["## Limitations", _list(report.limitations)]
    if report.references:
        blocks += ["## References", "\n".join(_reference(r) for r in report.references)]
    blocks += ["## Method", *_method(report)]
    if report.references:
        blocks.append("## Quotes")
        blocks += [
            f"[{number}] for {escape_markdown(', '.join(bearers))}:\n\n> {escape_markdown(quote)}"
            for number, quote, bearers in words.quotes_by_number(report, numbers)
        ]
    if report.verification.dropped:
        blocks += ["## Left out", words.LEFT_OUT, _list(words.left_out(report))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)


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


def _reference(reference: Reference) -> str:
    url = best_url(reference)
    title = escape_markdown(ended(clean(reference.title)))
    line = f"{reference.number}. "
    authors = escape_markdown(ended(authors_line(reference.authors)))
    if authors:
        line += f"{authors} "
    line += f"[{title}]({url})" if url else title
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


def _method(report: Report) -> list[str]:
    method = report.methodology
    blocks = [escape_markdown(words.flow(report)), escape_markdown(words.spent(method))]
    if method.searches:
        rows = [[*map(escape_markdown, words.search_row(s))] for s in method.searches]
        blocks.append(_table(words.SEARCH_HEAD, rows))
    if method.approvals:
        blocks.append(_list(words.decision(d) for d in method.approvals))
    return [*blocks, escape_markdown(words.run_line(report))]
