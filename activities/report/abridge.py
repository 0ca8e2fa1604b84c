"""Cut a report that is too large for the workflow's history.

Left out in this order: quotes' surroundings, what was not used, judgements and the reader's table,
candidates' pages, sections' Markdown, what was refused, the search ledger, quotes, references' details,
claims, and at last everything but the outline. The blob keeps the whole report.
"""

from collections.abc import Callable, Mapping

from activities.contracts.candidates import Candidate
from activities.contracts.evidence import Claim, Support
from activities.contracts.judge import Table
from activities.report.schema import Published, Report

Changes = Mapping[str, object]
MAX_BYTES = 200 * 1024
"""Under the guard of 256 KiB, with room for what wraps it."""


def slim(published: Published, limit: int = MAX_BYTES) -> Published:
    """The same answer in at most `limit` bytes of JSON; `complete` is False when anything was left out."""
    for cut in (None, *_CUTS):
        if cut is not None:
            published = published.replace(
                report=published.report.replace(**cut(published.report)), complete=False
            )
        if len(published.model_dump_json().encode()) <= limit:
            break
    return published


def _bare(supports: tuple[Support, ...]) -> tuple[Support, ...]:
    return tuple(support.replace(quote="") for support in supports)


def _without_quotes(report: Report) -> Changes:
    def claim(item: Claim) -> Claim:
        return item.replace(support=_bare(item.support))

    def candidate(item: Candidate) -> Candidate:
        return item.replace(
            **{name: _bare(getattr(item, name)) for name in ("support", "against", "records")}
        )

    sections = tuple(
        section.replace(
            claims=tuple(map(claim, section.claims)),
            answer=tuple(map(claim, section.answer)),
            passages=(),
            related=(),
        )
        for section in report.sections
    )
    stated = {name: tuple(map(claim, getattr(report, name))) for name in ("answer", "summary", "mechanism")}
    return {"sections": sections, "candidates": tuple(map(candidate, report.candidates)), **stated}


def _outline(report: Report) -> Changes:
    method = report.methodology
    return {
        "question": report.question[:1000],
        "title": report.title[:300],
        "executive_summary": report.executive_summary[:8000],
        "sections": tuple(
            section.replace(title=section.title[:200], key_question=section.key_question[:300])
            for section in report.sections[:50]
        ),
        **dict.fromkeys(("answer", "reservations", "candidates", "references", "statements"), ()),
        "limitations": tuple(text[:300] for text in report.limitations[:40]),
        "methodology": method.replace(
            searches=(), approvals=(), models=method.models[:10], prompt_versions=(), read_in_full=()
        ),
    }


_CUTS: tuple[Callable[[Report], Changes], ...] = (
    lambda _: {"contexts": (), "unused": ()},
    lambda _: {"judgements": (), "table": Table(), "works": ()},
    lambda report: {"candidates": tuple(one.replace(fields=()) for one in report.candidates)},
    lambda report: {"sections": tuple(one.replace(markdown="") for one in report.sections)},
    lambda report: {"verification": report.verification.replace(dropped=())},
    lambda report: {"methodology": report.methodology.replace(searches=())},
    _without_quotes,
    lambda report: {
        "references": tuple(
            one.replace(authors=one.authors[:1], venue=None, title=one.title[:120])
            for one in report.references
        )
    },
    lambda report: {
        "sections": tuple(one.replace(claims=(), paragraphs=(), answer=()) for one in report.sections),
        "summary": (),
        "mechanism": (),
    },
    _outline,
)
