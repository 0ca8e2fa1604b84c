"""Cut a report that is too large for the workflow's history.

Left out in this order: quotes' surroundings, what was not used, judgements and the reader's table,
candidates' pages, sections' Markdown, what was refused, the search ledger, quotes, references' details,
claims, and at last everything but the outline. The blob keeps the whole report.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from activities.contracts.candidates import Candidate
from activities.contracts.evidence import Claim, Frozen, Support
from activities.contracts.judge import Table
from activities.report.schema import Published, Report

M = TypeVar("M", bound=Frozen)
Changes = Mapping[str, object]
MAX_BYTES = 200 * 1024
"""Under the guard of 256 KiB, with room for what wraps it."""


def slim(published: Published, limit: int = MAX_BYTES) -> Published:
    """The same answer in at most `limit` bytes of JSON; `complete` is False when anything was left out."""
    for cut in (None, *_CUTS):
        if cut is not None:
            published = _with(
                published, report=_with(published.report, **cut(published.report)), complete=False
            )
        if len(published.model_dump_json().encode()) <= limit:
            break
    return published


def _with(model: M, **changes: object) -> M:
    return model.model_copy(update=changes)


def _bare(supports: tuple[Support, ...]) -> tuple[Support, ...]:
    return tuple(_with(support, quote="") for support in supports)


def _without_quotes(report: Report) -> Changes:
    def claim(item: Claim) -> Claim:
        return _with(item, support=_bare(item.support))

    def candidate(item: Candidate) -> Candidate:
        return _with(item, **{name: _bare(getattr(item, name)) for name in ("support", "against", "records")})

    sections = tuple(
        _with(
            section,
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
            _with(section, title=section.title[:200], key_question=section.key_question[:300])
            for section in report.sections[:50]
        ),
        **dict.fromkeys(("answer", "reservations", "candidates", "references", "statements"), ()),
        "limitations": tuple(text[:300] for text in report.limitations[:40]),
        "methodology": _with(
            method, searches=(), approvals=(), models=method.models[:10], prompt_versions=(), read_in_full=()
        ),
    }


_CUTS: tuple[Callable[[Report], Changes], ...] = (
    lambda _: {"contexts": (), "unused": ()},
    lambda _: {"judgements": (), "table": Table(), "works": ()},
    lambda report: {"candidates": tuple(_with(one, fields=()) for one in report.candidates)},
    lambda report: {"sections": tuple(_with(one, markdown="") for one in report.sections)},
    lambda report: {"verification": _with(report.verification, dropped=())},
    lambda report: {"methodology": _with(report.methodology, searches=())},
    _without_quotes,
    lambda report: {
        "references": tuple(
            _with(one, authors=one.authors[:1], venue=None, title=one.title[:120])
            for one in report.references
        )
    },
    lambda report: {
        "sections": tuple(_with(one, claims=(), paragraphs=(), answer=()) for one in report.sections),
        "summary": (),
        "mechanism": (),
    },
    _outline,
)
