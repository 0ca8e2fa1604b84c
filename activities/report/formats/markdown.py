"""The report as Markdown: what a researcher reads in an editor, and what `ask` saves."""

from collections.abc import Iterable, Mapping, Sequence

from activities.report.formats import words
from activities.report.formats.text import (
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
from activities.report.schema import Reference, Report, ReportSection


def markdown(report: Report) -> str:
    """Title, question, summary, sections, candidates, limitations, references, method, quotes and what was
    left out."""
    numbers = words.numbers_by_id(report)
    verified = words.verified(report)
    blocks = [
        f"# {escape_markdown(report.title)}",
        *(f"**Question:** {escape_markdown(asked)}" for asked in words.questions(report)),
        "## Summary",
        report.executive_summary,
        escape_markdown(words.balance(report)).replace(r"\[", "[").replace(r"\]", "]"),
        f"*{escape_markdown(verified)}*" if verified else "",
    ]
    for section in words.told(report):
        blocks += _section(report, section, numbers)
    if words.untold(report):
        blocks += [f"## {words.EMPTY}", _list(words.untold(report))]
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
            f"[{number}]{_bearing(bearers)}:\n\n> {escape_markdown(quote)}"
            for number, quote, bearers in words.quotes_by_number(report, numbers)
        ]
    if report.verification.dropped:
        blocks += ["## Left out", words.LEFT_OUT, _list(words.left_out(report))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)


def _bearing(bearers: Sequence[str]) -> str:
    said = "; ".join(f'"{bearer}"' for bearer in bearers)
    return f", for {escape_markdown(said)}" if said else ""


def _section(report: Report, section: ReportSection, numbers: Mapping[str, int]) -> list[str]:
    blocks = [f"## {escape_markdown(words.heading(section))}"]
    asked = words.key_question(report, section)
    if asked:
        blocks.append(f"*{escape_markdown(asked)}*")
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
        rows = [[*map(escape_markdown, row)] for row in words.search_rows(method.searches)]
        blocks.append(_table(words.SEARCH_HEAD, rows))
    if method.approvals:
        blocks.append(_list(words.decision(d) for d in method.approvals))
    return [*blocks, escape_markdown(words.run_line(report))]
