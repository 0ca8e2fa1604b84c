"""The report as Markdown: what a researcher reads in an editor, and what `ask` saves. Plain: no HTML, no
figures; the numbers of the figures are in its text and tables."""

from collections.abc import Iterable, Sequence

from activities.report.formats.model import (
    CERTAINTY_HEAD,
    CERTAINTY_NOTE,
    CHECK_HEAD,
    LEFT_OUT,
    NEAR_HEAD,
    NEAR_NOTE,
    SEARCH_HEAD,
    WORK_HEAD,
    BriefView,
    CandidateView,
    ClaimView,
    LineView,
    Quote,
    ReferenceView,
    SectionView,
    View,
    WorkClaims,
    lines,
    used_columns,
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
        "## Summary",
        *_summary(view, report),
        *_near(view),
    ]
    if view.brief:
        blocks += _works(view)
    for section in view.sections:
        blocks += _section(section)
    if view.candidates:
        rows = [[*map(escape_markdown, c.cells[:-1]), c.cells[-1]] for c in view.candidates]
        blocks += ["## Candidates", _table(view.candidate_head, rows), f"*{view.candidate_note}*"]
        for candidate in view.candidates:
            blocks += _candidate_page(candidate)
    if not view.brief:
        blocks += _works(view)
    if view.contradictions:
        blocks += ["## Contradictions", "\n".join(map(_contradiction, view.contradictions))]
    if view.gaps:
        blocks += ["## Gaps", _list(view.gaps)]
    if view.limitations:
        blocks += ["## Limitations", _list(view.limitations)]
    blocks += ["## Method", *_method(view)]
    if view.references:
        blocks += ["## References", "\n".join(map(_reference, view.references))]
    quotes = _quotes(view)
    if quotes:
        blocks += ["## Quotes", "A claim that is its quote word for word is not printed here again.", *quotes]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _summary(view: View, report: Report) -> list[str]:
    points = "\n".join(f"- {_claim(claim)}" for claim in view.summary)
    reasons = " ".join(view.confidence_reasons)
    sure = f"**Confidence: {view.confidence}.** {escape_markdown(reasons)}".strip() if view.verified else ""
    answer = "\n\n".join(" ".join(map(_answer, line)) for line in lines(view.answer))
    said = [answer, points] if answer else [points or report.executive_summary]
    return [*said, _brackets(view.balance), sure, escape_markdown(view.verified)]


def _near(view: View) -> list[str]:
    """The passages that come nearest, each with its work."""
    if not view.near:
        return []
    blocks = [f"## {NEAR_HEAD}", f"*{NEAR_NOTE}*"]
    for near in view.near:
        about = f" ({escape_markdown(near.about, inline=True)})" if near.about else ""
        blocks.append(f"{_link(near.title, near.url)}{about}:\n\n> {escape_markdown(near.quote.text)}")
    return blocks


def _answer(sentence: BriefView) -> str:
    text = _brackets(sentence.text)
    basis = sentence.claim.short_basis if sentence.claim is not None else ""
    return f"{text} *({basis})*" if basis else text


def _claim(claim: ClaimView) -> str:
    """A claim with its citation and its support."""
    text = cited(escape_markdown(claim.text), claim.mark)
    return f"{text} *({claim.short_basis})*" if claim.short_basis else text


def _brackets(text: str) -> str:
    """Escaped, with citation marks as they are; only for text that this program wrote."""
    return escape_markdown(text).replace(r"\[", "[").replace(r"\]", "]")


def _section(section: SectionView) -> list[str]:
    blocks = [f"## {escape_markdown(section.title)}"]
    if section.question:
        blocks.append(f"*{escape_markdown(section.question)}*")
    if section.by_work:
        blocks.append("\n".join(line for work in section.by_work for line in _work_claims(work)))
    else:
        blocks += (" ".join(map(_claim, paragraph)) for paragraph in section.paragraphs)
    return [*blocks, f"*{section.note}*"] if section.note else blocks


def _work_claims(work: WorkClaims) -> list[str]:
    """A work with what is quoted from it; its number, PMID and strength stand once."""
    title, about = (escape_markdown(text, inline=True) for text in (work.title, work.about))
    lines = [f"- **[{work.number}] {title}** ({about})"]
    for claim in work.claims:
        basis = claim.basis_beside(work.strength)
        text = cited(escape_markdown(claim.text), claim.numbers)
        lines.append(f"  - {text} *({basis})*" if basis else f"  - {text}")
    return lines


def _works(view: View) -> list[str]:
    """The table of works, a table a group."""
    blocks = ["## Works"] if view.works else []
    used = used_columns(view.works)
    for group in view.work_groups:
        rows = [
            [
                f"[{w.number}] {escape_markdown(w.label, inline=True)}",
                *(escape_markdown(w.cells[place]) for place in used if place),
            ]
            for w in group.works
        ]
        if group.name:
            blocks.append(f"### {escape_markdown(group.name)}")
        blocks.append(_table([WORK_HEAD[place] for place in used], rows))
    if view.certainty:
        rows = [
            [escape_markdown(outcome), level, works, escape_markdown(why)]
            for outcome, level, works, why in view.certainty
        ]
        blocks += ["## Certainty", _table(CERTAINTY_HEAD, rows), f"*{CERTAINTY_NOTE}*"]
    return blocks


def _candidate_page(candidate: CandidateView) -> list[str]:
    """A candidate's fields, each statement with its source."""
    if not candidate.fields:
        return []
    grade, *reasons = candidate.quality
    lines = []
    for field in candidate.fields:
        if field.missing:
            lines.append(f"- **{field.label}:** {escape_markdown(field.missing, inline=True)}")
        elif len(field.lines) == 1:
            lines.append(f"- **{field.label}:** {_candidate_line(field.lines[0])}")
        else:
            lines.append(f"- **{field.label}:**")
            lines += [f"  - {_candidate_line(line)}" for line in field.lines]
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
    blocks = [escape_markdown(view.read_as), escape_markdown(view.flow_text), escape_markdown(view.spent)]
    if view.strengths:
        counts = ", ".join(f"{bar.count} {bar.label}" for bar in view.strengths)
        blocks.append(f"Claims by strength of evidence: {counts}.")
    if view.searches:
        blocks += ["### Searches", _table(SEARCH_HEAD, [[*map(escape_markdown, r)] for r in view.searches])]
    if view.verified:
        blocks += ["### Verification", escape_markdown(view.verified)]
        blocks.append(_table(CHECK_HEAD, [[*map(escape_markdown, row)] for row in view.checks]))
    if view.left_out:
        blocks += [LEFT_OUT, _list(view.left_out)]
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
        parts.append(f"Same study as {', '.join(f'[{n}]' for n in reference.same_study)}.")
    return " ".join(filter(None, [*parts, f"*{escape_markdown(reference.notes)}*"]))


def _link(text: str, url: str | None) -> str:
    return (
        f"[{escape_markdown(text, linked=True, inline=True)}]({url})"
        if url
        else escape_markdown(text, inline=True)
    )


def _quotes(view: View) -> list[str]:
    """Each quote once with the claims that put it into words of their own."""
    bearers: dict[tuple[int, str], list[str]] = {}
    for section in view.sections:
        for claim in section.claims:
            _collect(bearers, claim.new_quotes, claim.text)
    for candidate in view.candidates:
        _collect(bearers, candidate.quotes, candidate.cells[0])
    return [
        f"[{number}], for {escape_markdown('; '.join(names))}:\n\n> {escape_markdown(text)}"
        for (number, text), names in sorted(bearers.items(), key=lambda item: item[0][0])
    ]


def _collect(bearers: dict[tuple[int, str], list[str]], quotes: Iterable[Quote], bearer: str) -> None:
    for quote in quotes:
        names = bearers.setdefault((quote.number, quote.text), [])
        if f'"{bearer}"' not in names:
            names.append(f'"{bearer}"')


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A GitHub table; the cells are escaped already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
