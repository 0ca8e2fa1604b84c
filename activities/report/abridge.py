"""Cut a report that is too large for the workflow's history.

Left out in this order: quotes' surroundings, what was not used, judgements and the reader's table,
candidates' pages, sections' Markdown, what was refused, the search ledger, quotes, references' details,
claims, and at last everything but the outline. The blob keeps the whole report.
"""

from collections.abc import Callable

from activities.contracts.evidence import Support
from activities.contracts.judge import Table
from activities.report.schema import Published, Report, ReportSection

MAX_BYTES = 200 * 1024
"""Under the guard of 256 KiB, with room for what wraps it."""


def slim(published: Published, limit: int = MAX_BYTES) -> Published:
    """The same answer in at most `limit` bytes of JSON; `complete` is False when anything was left out."""
    for cut in _CUTS:
        if len(published.model_dump_json().encode()) <= limit:
            break
        published = published.replace(report=cut(published.report), complete=False)
    return published


def _sections(report: Report, change: Callable[[ReportSection], ReportSection]) -> Report:
    return report.replace(sections=tuple(map(change, report.sections)))


def _bare(supports: tuple[Support, ...]) -> tuple[Support, ...]:
    return tuple(support.replace(quote="") for support in supports)


def _without_quotes(report: Report) -> Report:
    report = _sections(report, lambda section: section.replace(passages=(), related=()))
    report = report.changed(lambda claim: claim.replace(support=_bare(claim.support)))
    quotes = ("support", "against", "records")
    return report.replace(
        candidates=tuple(
            one.replace(**{name: _bare(getattr(one, name)) for name in quotes}) for one in report.candidates
        )
    )


def _outline(report: Report) -> Report:
    method = report.methodology
    return report.replace(
        question=report.question[:1000],
        title=report.title[:300],
        executive_summary=report.executive_summary[:8000],
        sections=tuple(
            section.replace(title=section.title[:200], key_question=section.key_question[:300])
            for section in report.sections[:50]
        ),
        **dict.fromkeys(("answer", "reservations", "candidates", "references", "statements"), ()),
        limitations=tuple(text[:300] for text in report.limitations[:40]),
        methodology=method.replace(
            searches=(), approvals=(), models=method.models[:10], prompt_versions=(), read_in_full=()
        ),
    )


_CUTS: tuple[Callable[[Report], Report], ...] = (
    lambda report: report.replace(contexts=(), unused=()),
    lambda report: report.replace(judgements=(), table=Table(), works=()),
    lambda report: report.replace(candidates=tuple(one.replace(fields=()) for one in report.candidates)),
    lambda report: _sections(report, lambda section: section.replace(markdown="")),
    lambda report: report.replace(verification=report.verification.replace(dropped=())),
    lambda report: report.replace(methodology=report.methodology.replace(searches=())),
    _without_quotes,
    lambda report: report.replace(
        references=tuple(
            one.replace(authors=one.authors[:1], venue=None, title=one.title[:120])
            for one in report.references
        )
    ),
    lambda report: _sections(
        report, lambda section: section.replace(claims=(), paragraphs=(), answer=())
    ).replace(summary=(), mechanism=()),
    _outline,
)
