"""The report as Markdown: what a researcher reads in an editor, and what `ask` saves. Plain: no HTML, no
figures; the numbers of the figures are in its text and tables."""

from collections.abc import Iterable, Sequence

from activities.report.formats.analysis import analysis_markdown
from activities.report.formats.model import (
    CHECK_HEAD,
    REFUSED_HEAD,
    REFUSED_NOTE,
    REFUSED_TITLE,
    SEARCH_HEAD,
    CandidateView,
    ClaimView,
    LineView,
    Paragraph,
    PassageView,
    ReferenceView,
    SectionView,
    View,
    WorksTable,
    quotes_once,
)
from activities.report.formats.text import cited, escape_markdown
from activities.report.formats.view import view_of
from activities.report.schema import Report


def markdown(report: Report) -> str:
    """The whole report, in the order of `View`."""
    view = view_of(report)
    blocks = [
        f"# {escape_markdown(view.title)}",
        f"**Question:** {escape_markdown(view.question)}" if view.question else "",
        f"*{escape_markdown(view.continues, inline=True)}*" if view.continues else "",
        *_opening(view),
    ]
    if view.mechanism:
        blocks += ["## Mechanism", *_paragraph(view.mechanism)]
    for section in view.sections:
        blocks += _section(section)
    if view.candidates:
        rows = [[*map(escape_markdown, c.cells[:-1]), c.cells[-1]] for c in view.candidates]
        blocks += ["## Candidates", _table(view.candidate_head, rows), f"*{view.candidate_note}*"]
        for candidate in view.candidates:
            blocks += _candidate_page(candidate)
    blocks += analysis_markdown(report.analysis)
    for table in view.tables:
        blocks += _works(table)
    if view.contradictions:
        blocks += ["## Contradictions", "\n".join(map(_contradiction, view.contradictions))]
    if view.gaps:
        blocks += ["## Gaps", _list(view.gaps)]
    if view.limitations:
        blocks += ["## Limitations", _list(view.limitations)]
    blocks += ["## Method", *_method(view)]
    if view.refused:
        rows = [[*map(escape_markdown, row)] for row in view.refused]
        blocks += [f"## {REFUSED_TITLE}", f"*{REFUSED_NOTE}*", _table(REFUSED_HEAD, rows)]
    if view.references:
        blocks += ["## References", "\n".join(map(_reference, view.references))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _opening(view: View) -> list[str]:
    """The answer, what each side has, the summary, reservations and how sure it is."""
    blocks = [f"**{view.notice}**" if view.notice else ""]
    if view.answer:
        blocks += ["## Answer", *_paragraph(view.answer)]
    if view.balance:
        blocks.append(escape_markdown(view.balance))
    if view.summary or view.points or view.summary_text:
        blocks.append("## Summary")
        blocks += _paragraph(view.summary)
        blocks.append("\n".join(f"- {_claim(claim)}" for claim in view.points))
        blocks += map(escape_markdown, view.summary_text)
    if view.reservations:
        blocks += ["## Reservations", _list(view.reservations)]
    if view.verified:
        reasons = escape_markdown(" ".join(view.confidence_reasons))
        blocks.append(f"**Confidence: {view.confidence}.** {reasons}".strip())
        blocks.append(escape_markdown(view.verified))
    return blocks


def _paragraph(claims: Paragraph) -> list[str]:
    """Claims as prose, then the quotes whose words differ from theirs."""
    if not claims:
        return []
    quotes = [f"> {escape_markdown(quote.text)} [{quote.number}]" for quote in quotes_once(claims)]
    return [" ".join(map(_claim, claims)), *quotes]


def _claim(claim: ClaimView) -> str:
    """A claim with its citation and its support."""
    text = cited(escape_markdown(claim.text), claim.mark)
    return f"{text} *({claim.short_basis})*" if claim.short_basis else text


def _section(section: SectionView) -> list[str]:
    blocks = [f"## {escape_markdown(section.title)}"]
    if section.question:
        blocks.append(f"*{escape_markdown(section.question)}*")
    blocks += [escape_markdown(section.lead), *_paragraph(section.answer)]
    for paragraph in section.paragraphs:
        blocks += _paragraph(paragraph)
    for passage in section.passages:
        blocks += _passage(passage)
    for related in section.related:
        blocks.append(f"### {escape_markdown(related.title)}")
        for passage in related.passages:
            blocks += _passage(passage)
    return blocks


def _passage(passage: PassageView) -> list[str]:
    """A passage with its work; what stands around it is in brackets."""
    about = f" ({escape_markdown(passage.about, inline=True)})" if passage.about else ""
    around = [
        f"({escape_markdown(text, inline=True)})" if text else "" for text in (passage.before, passage.after)
    ]
    said = " ".join(filter(None, (around[0], escape_markdown(passage.text), around[1])))
    named = [
        f"mentions {escape_markdown(passage.mentions, inline=True)}" if passage.mentions else "",
        f"does not mention {escape_markdown(passage.lacks, inline=True)}" if passage.lacks else "",
    ]
    note = "; ".join(filter(None, named))
    return [
        f"[{passage.number}] {_link(passage.title, passage.url)}{about}",
        f"> {said}",
        f"*{note}*" if note else "",
    ]


def _works(table: WorksTable) -> list[str]:
    rows = [[_work_name(texts[0]), *map(escape_markdown, texts[1:])] for texts in table.texts]
    return [f"## {table.title}", _table(list(map(escape_markdown, table.head)), rows)]


def _work_name(text: str) -> str:
    """The number and the name of a work, escaped but for the brackets of the number."""
    number, bracket, name = text.partition("] ")
    if bracket and number.startswith("[") and number[1:].isdigit():
        return f"{number}] {escape_markdown(name, inline=True)}"
    return escape_markdown(text)


def _candidate_page(candidate: CandidateView) -> list[str]:
    """A candidate's fields, each statement with its source."""
    if not candidate.fields:
        return []
    lines = []
    for field in candidate.fields:
        if field.missing:
            lines.append(f"- **{field.label}:** {escape_markdown(field.missing, inline=True)}")
        elif len(field.lines) == 1:
            lines.append(f"- **{field.label}:** {_candidate_line(field.lines[0])}")
        else:
            lines.append(f"- **{field.label}:**")
            lines += [f"  - {_candidate_line(line)}" for line in field.lines]
    if candidate.quality:
        grade, *reasons = candidate.quality
        why = escape_markdown(" ".join(reasons), inline=True)
        lines.append(f"- **Quality of the evidence:** {' '.join(filter(None, (f'{grade}.', why)))}")
    return [f"### {escape_markdown(candidate.title)}", "\n".join(lines)]


def _candidate_line(line: LineView) -> str:
    text = escape_markdown(line.text, inline=True)
    said = f' "{escape_markdown(line.quote, inline=True)}"' if line.quote else ""
    where = line.where if line.number else f"({_link(line.source, line.url)})"
    return f"{text}{said} {where}"


def _contradiction(pair: tuple[ClaimView, ClaimView]) -> str:
    one, other = pair
    return f"- {_claim(one)} **Against it:** {_claim(other)}"


def _method(view: View) -> list[str]:
    blocks = [escape_markdown(view.flow_text), escape_markdown(view.spent)]
    if view.strengths:
        counts = ", ".join(f"{bar.count} {bar.label}" for bar in view.strengths)
        blocks.append(f"Claims by strength of evidence: {counts}.")
    if view.searches:
        blocks += ["### Searches", _table(SEARCH_HEAD, [[*map(escape_markdown, r)] for r in view.searches])]
    if view.verified:
        blocks += ["### Verification", escape_markdown(view.verified)]
        blocks.append(_table(CHECK_HEAD, [[*map(escape_markdown, row)] for row in view.checks]))
    if view.decisions:
        blocks += ["### Decisions", _list(view.decisions)]
    return [*blocks, escape_markdown(view.run_line)]


def _reference(reference: ReferenceView) -> str:
    parts = [
        f"{reference.number}.",
        escape_markdown(reference.authors, inline=True),
        _link(reference.title, reference.url),
        escape_markdown(reference.place, inline=True),
    ]
    links = [_link(link.text, link.url) for link in reference.links]
    if links:
        parts.append(f"{', '.join(links)}.")
    if reference.same_study:
        parts.append(f"Also published as {', '.join(f'[{n}]' for n in reference.same_study)}.")
    return " ".join(filter(None, [*parts, f"*{escape_markdown(reference.notes)}*"]))


def _link(text: str, url: str | None) -> str:
    return (
        f"[{escape_markdown(text, linked=True, inline=True)}]({url})"
        if url
        else escape_markdown(text, inline=True)
    )


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A GitHub table; the cells are escaped already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
